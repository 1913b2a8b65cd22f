"""Losses of predictions, as the numbers that an audit reports."""

from typing import Any

import numpy as np

from surefoot.report.answers import Estimate, ModelScore
from surefoot.report.intervals import (
    auc_interval,
    bootstrap_interval,
    mean_interval,
    paired_share_difference,
    root_interval,
    share_interval,
)
from surefoot.report.target import BINARY, Target

ERROR_RATE, RMSE = "error rate", "RMSE"


def measure_of(target: Target) -> str:
    """What the loss of the target is called."""
    return ERROR_RATE if target.is_classes else RMSE


def loss_of(losses: np.ndarray, target: Target) -> Estimate:
    """Share of errors, or root mean squared error, from the losses of rows."""
    return share_interval(losses) if target.is_classes else root_interval(losses)


def gain_over(losses: np.ndarray, base: np.ndarray, target: Target, seed: int) -> Estimate:
    """How much less the losses are than those of a ``base`` on the same rows: points of error, or share of variance."""
    if target.is_classes:
        return paired_share_difference(base.astype(bool), losses.astype(bool))
    if base.sum() == 0:
        return Estimate(0.0, 0.0, 0.0)

    def explained(rows: np.ndarray) -> float:
        below = base[rows].sum()
        return 1 - losses[rows].sum() / below if below > 0 else float("nan")

    return bootstrap_interval(explained, len(losses), seed)


def difference_of(first: np.ndarray, second: np.ndarray, target: Target) -> Estimate:
    """Loss of the first less that of the second on the same rows: points of error, or difference of RMSEs.

    That of RMSEs has the interval of the difference of mean squares, divided by the sum of the RMSEs.
    """
    if target.is_classes:
        return paired_share_difference(first.astype(bool), second.astype(bool))
    both = float(np.sqrt(first.mean()) + np.sqrt(second.mean())) or 1.0
    squares = mean_interval(first - second)
    return Estimate(squares.value / both, squares.low / both, squares.high / both)


def auc_of(model: Any, X: Any, target: Target, rows: np.ndarray) -> Estimate | None:
    """How well a classifier of two classes ranks rows; None if it gives no scores."""
    if target.task != BINARY:
        return None
    if hasattr(model, "predict_proba"):
        probabilities = np.asarray(model.predict_proba(X))
        if probabilities.shape[1] < 2:
            return None
        scores = probabilities[:, 1]
    elif hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X))
    else:
        return None
    return auc_interval(scores, target.y[rows] == 1)


def score(
    name: str, what: str, losses: np.ndarray, base: np.ndarray, target: Target, seed: int, **others: Any
) -> ModelScore:
    """A line of the table of models; ``others`` are fields that differ from the usual."""
    fields = {"cv_loss": float("nan"), "auc": None, "seconds": float("nan"), "chosen": False, "yours": False, **others}
    gain = gain_over(losses, base, target, seed)
    return ModelScore(name=name, what=what, loss=loss_of(losses, target), gain=gain, **fields)
