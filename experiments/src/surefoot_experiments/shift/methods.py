"""The methods that are compared, and how each is fitted to a biased sample."""

import time
from typing import Any

import numpy as np

from surefoot import DataError, VMatrixBoostingRegressor
from surefoot_experiments.shift.biased_sample import BiasedSample, Rows
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
    UNBIASED: "plain boosting on as many unbiased rows (for comparison: they are not available)",
}


def default_method() -> str:
    """Return the method that has the booster's own defaults: one of the kinds, or else ``"default"``."""
    defaults = make_model(DEFAULT).get_params()
    return next((kind for kind in KINDS if make_model(kind).get_params() == defaults), DEFAULT)


def methods() -> list[str]:
    """Return the methods of a run; the default has no lines of its own if it is one of the kinds."""
    return [name for name in OPTIONS if name != DEFAULT or default_method() == DEFAULT]


def make_model(method: str, budget: Budget | None = None, seed: int | None = None) -> VMatrixBoostingRegressor:
    """Return the booster of a method, not fitted; the protocol fixes the number of trees, so nothing stops early."""
    size: dict[str, Any] = {} if budget is None else {**budget.options, "early_stopping": False}
    return VMatrixBoostingRegressor(**size, **OPTIONS[method], random_state=seed)


def fit_method(sample: BiasedSample, budget: Budget, method: str) -> ResultLine:
    """Fit a method to one biased sample, and score it."""
    model, uses_target = make_model(method, budget, sample.split), method not in (PLAIN, WEIGHTED, UNBIASED)
    rows = sample.unbiased if method == UNBIASED else sample.train
    weights = importance_weights(rows.X, sample.X_target) if method == WEIGHTED else np.ones(len(rows.y))
    errors, refusal, started = (float("nan"), float("nan")), "", time.perf_counter()
    try:
        options = {"X_target": sample.X_target} if uses_target else {}
        model.fit(rows.X, rows.y, weights if method == WEIGHTED else None, **options)
        seconds = time.perf_counter() - started
        errors = rmse(model, sample.test), rmse(model, sample.source)
    except DataError as error:  # such as a target that dominates no row
        seconds, refusal = time.perf_counter() - started, str(error)
    return ResultLine(
        sample.dataset, sample.split, sample.selection, budget.name, method, *errors,
        getattr(model, "coverage_", float("nan")), effective_size(weights), sample.shift,
        len(rows.y), len(sample.X_target), len(sample.test.y), seconds, refusal,
    )  # fmt: skip


def rmse(model: Any, rows: Rows) -> float:
    """Return the root mean squared error for these rows."""
    return float(np.sqrt(np.mean(np.square(model.predict(rows.X) - rows.y))))


def importance_weights(X: np.ndarray, X_target: np.ndarray) -> np.ndarray:
    """Return the odds of the target by logistic regression on standardised columns, divided by their mean."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    both = StandardScaler().fit_transform(np.concatenate([X, X_target]))
    is_target = np.repeat([0, 1], [len(X), len(X_target)])
    log_odds = LogisticRegression(max_iter=1000).fit(both, is_target).decision_function(both[: len(X)])
    weights = np.exp(log_odds - log_odds.max())
    return weights / weights.mean()


def effective_size(weights: np.ndarray) -> float:
    """Return the number of equally weighted rows with the same precision of a mean (Kish)."""
    return float(weights.sum() ** 2 / np.square(weights).sum())
