"""The choice of depth, rate and number of trees, by the likelihood of validation rows inside the training rows."""

import time
from collections.abc import Iterable
from itertools import product

import joblib
import numpy as np

from surefoot import GradientBoostingClassifier, GradientBoostingRegressor
from surefoot_experiments.uncertainty.lines import TuningLine
from surefoot_experiments.uncertainty.methods import SGLB, UncertaintySettings
from surefoot_experiments.uncertainty.problem import Problem

SUBSAMPLE = 0.5  # of SGB
L2 = {True: 3.0, False: 0.1}  # of regressors (CatBoost's default, as in the paper) and of classifiers


def tune(problem: Problem, method: str, settings: UncertaintySettings, n_jobs: int | None) -> list[TuningLine]:
    """One line for each pair of depth and rate."""
    train, validation = problem.split_for_validation()
    X, X_val = problem.X.iloc[train], problem.X.iloc[validation]
    y, y_val = problem.y[train], problem.y[validation]

    def try_setting(depth: int, rate: float) -> TuningLine:
        started = time.perf_counter()
        model = _make_model(problem, method, settings, depth, rate)
        model.fit(X, y, X_val=X_val, y_val=y_val)
        trees = count_best_trees(model.validation_loss_, method)
        return TuningLine(
            dataset=problem.name,
            split=problem.split,
            method=method,
            depth=depth,
            rate=rate,
            trees=trees,
            validation_nll=float(model.validation_loss_[trees - 1]),
            seconds=time.perf_counter() - started,
        )

    pairs = product(settings.depths, settings.rates)
    return joblib.Parallel(n_jobs, prefer="threads")(joblib.delayed(try_setting)(*pair) for pair in pairs)


def count_best_trees(validation_nll: np.ndarray, method: str) -> int:
    """The number of trees with the best likelihood; all trees for SGLB, because its chain must run its full length."""
    return len(validation_nll) if method == SGLB else int(np.argmin(validation_nll)) + 1


def best_line(lines: Iterable[TuningLine]) -> TuningLine:
    """The settings with the best likelihood; NaN is never the best."""
    return min(lines, key=lambda line: np.inf if np.isnan(line.validation_nll) else line.validation_nll)


def _make_model(
    problem: Problem, method: str, settings: UncertaintySettings, depth: int, rate: float
) -> GradientBoostingRegressor | GradientBoostingClassifier:
    kind = GradientBoostingRegressor if problem.is_regression else GradientBoostingClassifier
    return kind(
        n_estimators=settings.trees,
        max_depth=depth,
        learning_rate=rate,
        langevin=method == SGLB,
        subsample=1.0 if method == SGLB else SUBSAMPLE,
        early_stopping=True,
        n_iter_no_change=settings.trees,
        l2_regularization=L2[problem.is_regression],
        random_state=problem.split,
    )
