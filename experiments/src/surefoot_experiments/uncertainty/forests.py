"""Random forests of scikit-learn: one in ten parts (vRF), and an ensemble of ten.

Each forest of the authors' ensemble has as many trees as the single forest. Ours have a tenth of them, so that the
ensemble costs no more than the single forest. Trees of a forest are independent, so little accuracy is lost.
"""

from typing import Any

import numpy as np

from surefoot import VirtualEnsemble
from surefoot.uncertainty.member_predictions import ClassificationMembers, Members, RegressionMembers
from surefoot_experiments.uncertainty.leave_one_out import LeaveOneOutEncoder
from surefoot_experiments.uncertainty.measures import Predictor
from surefoot_experiments.uncertainty.methods import FOREST, FORESTS, VIRTUAL_FOREST, UncertaintySettings
from surefoot_experiments.uncertainty.problem import Problem


def train_forests(
    problem: Problem, training: str, settings: UncertaintySettings, n_jobs: int | None
) -> dict[str, Predictor]:
    """Train one forest, or ten small ones; return the predictors by method."""
    encoder = LeaveOneOutEncoder(seed=problem.split)
    target = problem.y if problem.is_regression else (problem.y == np.unique(problem.y)[-1]).astype(np.float64)
    X = encoder.fit_transform(problem.X, target)
    if training == FOREST:
        forest = _fit_forest(problem, X, settings.forest_trees, 0, settings, n_jobs)
        parts = VirtualEnsemble(forest, settings.members)
        return {
            FOREST: lambda rows: _predict_members([forest], encoder.transform(rows)),
            VIRTUAL_FOREST: lambda rows: parts.predict_members(encoder.transform(rows)),
        }
    small = settings.forest_trees // settings.members
    forests = [_fit_forest(problem, X, small, 1 + member, settings, n_jobs) for member in range(settings.members)]
    return {FORESTS: lambda rows: _predict_members(forests, encoder.transform(rows))}


def _fit_forest(
    problem: Problem, X: np.ndarray, n_trees: int, member: int, settings: UncertaintySettings, n_jobs: int | None
) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestRegressor if problem.is_regression else RandomForestClassifier
    seed = int(np.random.SeedSequence([problem.split, member]).generate_state(1)[0])
    forest = kind(n_trees, max_depth=settings.forest_depth, random_state=seed, n_jobs=n_jobs).fit(X, problem.y)
    return forest.set_params(n_jobs=1)  # several threads would add up predictions in a random order


def _predict_members(forests: list[Any], X: np.ndarray) -> Members:
    if hasattr(forests[0], "predict_proba"):
        return ClassificationMembers(np.stack([forest.predict_proba(X) for forest in forests]), forests[0].classes_)
    return RegressionMembers(np.stack([forest.predict(X) for forest in forests]), None)
