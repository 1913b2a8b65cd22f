"""What is compared: the methods by name, and how each is fitted to a biased sample."""

import time
from typing import Any

import numpy as np

from surefoot import DataError, VMatrixBoostingRegressor
from surefoot_experiments.shift.biased_sample import Rows, Task
from surefoot_experiments.shift.lines import ResultLine
from surefoot_experiments.shift.protocol import Budget

PLAIN, WEIGHTED, UNBIASED = "plain", "weighted", "unbiased rows"
MEAN, JOINT, PRODUCT, DEFAULT = "mean", "joint", "product", "default"
PURE_MEAN, PURE_JOINT = "pure mean", "pure joint"
KINDS = (MEAN, JOINT, PRODUCT)

OPTIONS: dict[str, dict[str, Any]] = {
    PLAIN: {"blend": 0.0},
    WEIGHTED: {"blend": 0.0},
    **{kind: {"kind": kind} for kind in KINDS},
    PURE_MEAN: {"kind": "mean", "blend": 1.0},
    PURE_JOINT: {"kind": "joint", "blend": 1.0},
    DEFAULT: {},
    UNBIASED: {"blend": 0.0},
}
IN_WORDS = {
    PLAIN: "plain boosting",
    WEIGHTED: "importance-weighted boosting",
    MEAN: 'V-matrix boosting, kind="mean"',
    JOINT: 'V-matrix boosting, kind="joint"',
    PRODUCT: 'V-matrix boosting, kind="product"',
    PURE_MEAN: 'the pure V-matrix loss (blend=1), kind="mean"',
    PURE_JOINT: 'the pure V-matrix loss (blend=1), kind="joint"',
    DEFAULT: "V-matrix boosting by default",
    UNBIASED: "plain boosting on as many unbiased rows (for comparison: nobody has them)",
}


def default_method() -> str:
    """The name of the method that has the booster's own defaults: one of the kinds, or else ``"default"``."""
    defaults = make_model(DEFAULT).get_params()
    return next((kind for kind in KINDS if make_model(kind).get_params() == defaults), DEFAULT)


def methods() -> list[str]:
    """All that are run; the default has no line of its own where it is one of the kinds."""
    return [name for name in OPTIONS if name != DEFAULT or default_method() == DEFAULT]


def make_model(method: str, budget: Budget | None = None, seed: int | None = None) -> VMatrixBoostingRegressor:
    """The booster of a method, not fitted."""
    grown: dict[str, Any] = {} if budget is None else {**budget.options, "early_stopping": False}
    return VMatrixBoostingRegressor(**grown, **OPTIONS[method], random_state=seed)


def fit_method(task: Task, budget: Budget, method: str) -> ResultLine:
    """What a method reaches on one biased sample."""
    model, uses_target = make_model(method, budget, task.split), method not in (PLAIN, WEIGHTED, UNBIASED)
    rows = task.unbiased if method == UNBIASED else task.train
    weights = importance_weights(rows.X, task.X_target) if method == WEIGHTED else np.ones(len(rows.y))
    errors, refusal, started = (float("nan"), float("nan")), "", time.perf_counter()
    try:
        options = {"X_target": task.X_target} if uses_target else {}
        model.fit(rows.X, rows.y, weights if method == WEIGHTED else None, **options)
        seconds = time.perf_counter() - started
        errors = rmse(model, task.test), rmse(model, task.source)
    except DataError as error:  # such as a target that sees no row at all
        seconds, refusal = time.perf_counter() - started, str(error)
    return ResultLine(
        task.dataset, task.split, task.selection, budget.name, method, *errors,
        getattr(model, "coverage_", float("nan")), effective_size(weights), task.shift,
        len(rows.y), len(task.X_target), len(task.test.y), seconds, refusal,
    )  # fmt: skip


def rmse(model: Any, rows: Rows) -> float:
    """Of the predictions for these rows."""
    return float(np.sqrt(np.mean(np.square(model.predict(rows.X) - rows.y))))


def importance_weights(X: np.ndarray, X_target: np.ndarray) -> np.ndarray:
    """The odds of the target by a logistic regression on standardised columns, brought to a mean of 1."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    both = StandardScaler().fit_transform(np.concatenate([X, X_target]))
    is_target = np.repeat([0, 1], [len(X), len(X_target)])
    log_odds = LogisticRegression(max_iter=1000).fit(both, is_target).decision_function(both[: len(X)])
    weights = np.exp(log_odds - log_odds.max())
    return weights / weights.mean()


def effective_size(weights: np.ndarray) -> float:
    """The number of evenly weighted rows that tell a mean as precisely (Kish)."""
    return float(weights.sum() ** 2 / np.square(weights).sum())
