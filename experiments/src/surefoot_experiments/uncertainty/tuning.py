"""The choice of depth, rate and number of trees, by the likelihood of validation rows inside the training rows."""

import time
from collections.abc import Iterable
from itertools import product

import numpy as np

from surefoot import GradientBoostingClassifier, GradientBoostingRegressor
from surefoot._parallel import Cancellation, run_tasks
from surefoot_experiments.uncertainty.lines import TuningLine
from surefoot_experiments.uncertainty.methods import SGLB, UncertaintySettings
from surefoot_experiments.uncertainty.problem import Problem

SUBSAMPLE = 0.5  # of SGB
L2 = {True: 3.0, False: 0.1}  # of regressors (CatBoost's default, as in the paper) and of classifiers


def tune(problem: Problem, method: str, settings: UncertaintySettings, n_jobs: int | None) -> list[TuningLine]:
    """One line for each pair of depth and rate."""
    train, validation = problem.part_for_validation()
    X, X_val = problem.X.iloc[train], problem.X.iloc[validation]
    y, y_val = problem.y[train], problem.y[validation]

    def try_out(pair: tuple[int, float], cancellation: Cancellation) -> TuningLine:
        cancellation.check()
        started = time.perf_counter()
        model = _make_model(problem, method, settings, *pair)
        model.fit(X, y, X_val=X_val, y_val=y_val)
        trees = trees_to_keep(model.validation_loss_, method)
        nll = float(model.validation_loss_[trees - 1])
        seconds = time.perf_counter() - started
        return TuningLine(problem.name, problem.split, method, *pair, trees, nll, seconds)

    return run_tasks(try_out, product(settings.depths, settings.rates), n_jobs)


def trees_to_keep(validation_nll: np.ndarray, method: str) -> int:
    """The number of trees with the best likelihood; all of them for SGLB, whose chain must run its length."""
    return len(validation_nll) if method == SGLB else int(np.argmin(validation_nll)) + 1


def best(lines: Iterable[TuningLine]) -> TuningLine:
    """The settings with the best likelihood; a NaN is never the best."""
    return min(lines, key=lambda line: np.inf if np.isnan(line.validation_nll) else line.validation_nll)


def _make_model(
    problem: Problem, method: str, settings: UncertaintySettings, depth: int, rate: float
) -> GradientBoostingRegressor | GradientBoostingClassifier:
    kind = GradientBoostingRegressor if problem.is_regression else GradientBoostingClassifier
    return kind(
        n_estimators=settings.trees, max_depth=depth, learning_rate=rate, langevin=method == SGLB,
        subsample=1.0 if method == SGLB else SUBSAMPLE, early_stopping=True, n_iter_no_change=settings.trees,
        l2_regularization=L2[problem.is_regression], random_state=problem.split,
    )  # fmt: skip
