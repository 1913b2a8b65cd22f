"""Single boosters, ensembles of ten and virtual ensembles, all from one training of ten models."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot import BoostingEnsembleClassifier, BoostingEnsembleRegressor, VirtualEnsemble
from surefoot.uncertainty.member_predictions import ClassificationMembers, Members, RegressionMembers
from surefoot_experiments.uncertainty import methods
from surefoot_experiments.uncertainty.lines import TuningLine
from surefoot_experiments.uncertainty.measures import Predictor
from surefoot_experiments.uncertainty.methods import BOOSTER_TRAININGS, SGLB, VIRTUAL_SGLB, UncertaintySettings
from surefoot_experiments.uncertainty.problem import Problem
from surefoot_experiments.uncertainty.tuning import L2


def train_boosters(
    problem: Problem, method: str, chosen: TuningLine, settings: UncertaintySettings, n_jobs: int | None
) -> dict[str, Predictor]:
    """Train an ensemble on all training rows with the tuned settings; return its predictors by method."""
    models = train_ensemble(problem, method, chosen, settings, n_jobs).estimators_
    single, several, *_ = BOOSTER_TRAININGS[method]
    predictors: dict[str, Predictor] = {
        single: lambda X: predict_members(models[:1], X),
        several: lambda X: predict_members(models, X),
    }
    if method == SGLB:
        predictors[VIRTUAL_SGLB] = VirtualEnsemble(models[0], settings.members, method="truncation").predict_members
    return predictors


def train_ensemble(
    problem: Problem, method: str, chosen: TuningLine, settings: UncertaintySettings, n_jobs: int | None
) -> BoostingEnsembleRegressor | BoostingEnsembleClassifier:
    """Train an ensemble on all training rows with the tuned settings."""
    kind = BoostingEnsembleRegressor if problem.is_regression else BoostingEnsembleClassifier
    return kind(
        method="sglb" if method == SGLB else "sgb",
        n_members=settings.members,
        n_estimators=chosen.trees,
        max_depth=chosen.depth,
        learning_rate=chosen.rate,
        random_state=problem.split,
        n_jobs=n_jobs,
        l2_regularization=L2[problem.is_regression],
        **_early_stopping(problem, method, chosen.trees),
    ).fit(problem.X, problem.y)


def _early_stopping(problem: Problem, method: str, trees: int) -> dict[str, Any]:
    """Parameters with which held-out rows only fit the scale (with SGB they may also remove the last trees).

    The number of trees is known from tuning.
    """
    if not problem.is_regression or method not in methods.HELD_OUT_FOR_SCALE:
        return {"early_stopping": False}
    return {"early_stopping": "scale"} if method == SGLB else {"early_stopping": True, "n_iter_no_change": trees}


def predict_members(models: Sequence[Any], X: Any) -> Members:
    """The predictions of each model."""
    if hasattr(models[0], "predict_proba"):
        return ClassificationMembers(np.stack([model.predict_proba(X) for model in models]), models[0].classes_)
    distributions = [model.predict_distribution(X) for model in models]
    return RegressionMembers(
        np.stack([distribution.mean for distribution in distributions]),
        np.stack([distribution.var for distribution in distributions]),
    )
