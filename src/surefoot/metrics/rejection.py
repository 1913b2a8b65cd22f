"""How much error remains if the most uncertain predictions are rejected, that is, replaced by the truth."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot._parameters import check_choice
from surefoot.metrics.checks import check_numbers, check_row_labels, check_row_weights

LOSSES = ("squared_error", "zero_one")


@dataclass(frozen=True)
class RejectionCurve:
    """The error that remains as more and more rows are rejected; the curves are linear between their points.

    Parameters
    ----------
    rejected : array
        Fractions of the rows (of their weight) that are rejected, from 0 to 1.
    error : array
        Mean loss over all rows if the most uncertain are rejected first; a rejected row has no loss.
    random, oracle : arrays
        The same if rows are rejected in random order, and if the worst predictions are rejected first.
    loss : str
        ``"squared_error"`` or ``"zero_one"``.
    ratio : float or None
        The prediction-rejection ratio; None if every row has the same loss, so that no order is better than another.
    """

    rejected: np.ndarray
    error: np.ndarray
    random: np.ndarray
    oracle: np.ndarray
    loss: str
    ratio: float | None

    def __repr__(self) -> str:
        ratio = "undefined" if self.ratio is None else f"{self.ratio:.3f}"
        return f"RejectionCurve({self.loss}: {self.error[0]:.4g} before rejection, ratio {ratio})"


def rejection_curve(
    y_true: Any, y_pred: Any, uncertainty: Any, *, loss: str = "squared_error", sample_weight: Any = None
) -> RejectionCurve:
    """Compute the error that remains if the most uncertain rows are rejected, for a random order, and for the best one.

    A rejected prediction is replaced by the truth, so the curve falls from the model's error to 0, where all rows are
    rejected. Rows of equal uncertainty are rejected in proportion, which is the mean over all their orders.

    Parameters
    ----------
    y_true, y_pred : arrays of shape (n_rows,)
        Numbers for the squared error, labels for the zero-one loss.
    uncertainty : array of shape (n_rows,)
        Rows with a higher uncertainty are rejected earlier. Only the order counts, so values may be infinite.
    loss : {"squared_error", "zero_one"}, default="squared_error"
        The loss of a prediction.
    sample_weight : array of shape (n_rows,), default=None
        A weight of k is as good as k copies of the row.

    Returns
    -------
    RejectionCurve
        The curves and their ratio.

    Examples
    --------
    >>> from surefoot.metrics import rejection_curve
    >>> curve = rejection_curve([1, 0, 1, 1], [0, 0, 1, 1], [0.6, 0.7, 0.2, 0.1], loss="zero_one")
    >>> curve
    RejectionCurve(zero_one: 0.25 before rejection, ratio 0.333)
    >>> curve.rejected.tolist(), curve.error.tolist()
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.25, 0.25, 0.0, 0.0, 0.0])
    """
    check_choice("loss", loss, LOSSES)
    losses = _squared_errors(y_true, y_pred) if loss == "squared_error" else _zero_one_losses(y_true, y_pred)
    ranks = check_numbers("uncertainty", uncertainty, len(losses), infinite_allowed=True)
    weights = check_row_weights(sample_weight, len(losses))
    counted = weights > 0
    losses, ranks, weights = losses[counted], ranks[counted], weights[counted]

    own_fractions, own_error = _curve(losses, weights, ranks)
    best_fractions, best_error = _curve(losses, weights, losses)
    rejected = np.union1d(own_fractions, best_fractions)
    error = np.interp(rejected, own_fractions, own_error)
    oracle = np.interp(rejected, best_fractions, best_error)
    random = own_error[0] * (1 - rejected)
    best_area = _area(rejected, random - oracle) if losses.min() < losses.max() else 0.0
    ratio = _area(rejected, random - error) / best_area if best_area > 0 else None  # 0: one row has all the weight
    return RejectionCurve(rejected=rejected, error=error, random=random, oracle=oracle, loss=loss, ratio=ratio)


def prediction_rejection_ratio(
    y_true: Any, y_pred: Any, uncertainty: Any, *, loss: str = "squared_error", sample_weight: Any = None
) -> float:
    """How well an uncertainty orders the rows by error: 1 is the best order, 0 a random one, below 0 is worse.

    It is the area between the random line and the rejection curve, divided by the same area for the oracle, which
    rejects the worst predictions first (Malinin et al. 2021, in percent).

    Parameters
    ----------
    y_true, y_pred : arrays of shape (n_rows,)
        Numbers for the squared error, labels for the zero-one loss.
    uncertainty : array of shape (n_rows,)
        Rows with a higher uncertainty are rejected earlier. Only the order counts, so values may be infinite.
    loss : {"squared_error", "zero_one"}, default="squared_error"
        The loss of a prediction.
    sample_weight : array of shape (n_rows,), default=None
        A weight of k is as good as k copies of the row.

    Returns
    -------
    float
        At most 1. A DataError is raised if every row has the same loss: then no order is better than another.

    Examples
    --------
    >>> from surefoot.metrics import prediction_rejection_ratio
    >>> prediction_rejection_ratio([0.0, 0.0, 0.0], [0.1, 1.0, 3.0], [1, 2, 3])
    1.0
    >>> round(prediction_rejection_ratio([1, 0, 1, 1], [0, 0, 1, 1], [0.6, 0.7, 0.2, 0.1], loss="zero_one"), 3)
    0.333
    """
    curve = rejection_curve(y_true, y_pred, uncertainty, loss=loss, sample_weight=sample_weight)
    if curve.ratio is None:
        raise DataError(
            f"y_pred has the same {loss.replace('_', ' ')}, {curve.error[0]:.4g}, in every row: no order of rejection "
            "is better than another, and the ratio is undefined. Use rows with different losses."
        )
    return curve.ratio


def _squared_errors(y_true: Any, y_pred: Any) -> np.ndarray:
    truth = check_numbers("y_true", y_true)
    prediction = check_numbers("y_pred", y_pred, len(truth))
    with np.errstate(over="ignore", under="ignore"):
        losses = np.square(truth - prediction)
        if not np.isfinite(losses.sum()):
            raise DataError("y_true and y_pred differ too much to square: divide both by a constant.")
    return losses


def _zero_one_losses(y_true: Any, y_pred: Any) -> np.ndarray:
    truth = check_row_labels("y_true", y_true)
    prediction = check_row_labels("y_pred", y_pred, len(truth))
    if _is_text(truth) != _is_text(prediction):
        raise DataError(
            f"y_true has labels of dtype {truth.dtype}, y_pred of {prediction.dtype}, so no prediction can be right: "
            "pass both as the same kind of label."
        )
    return (truth != prediction).astype(np.float64)


def _is_text(labels: np.ndarray) -> bool:
    return labels.dtype.kind in "UST" or isinstance(labels[0], str)


def _curve(losses: np.ndarray, weights: np.ndarray, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rejected fractions and remaining mean loss after each group of equal rank, from the highest rank down."""
    levels, group = np.unique(ranks, return_inverse=True)
    # Summed from the end: the rest is never a small difference of large sums, and the last point is exactly 0.
    kept_weight = np.cumsum(np.bincount(group, weights, len(levels)))
    kept_loss = np.cumsum(np.bincount(group, weights * losses, len(levels)))
    total = kept_weight[-1]
    rejected = np.append((total - kept_weight[::-1]) / total, 1.0)
    return rejected, np.append(kept_loss[::-1] / total, 0.0)


def _area(x: np.ndarray, height: np.ndarray) -> float:
    return float(np.diff(x) @ (height[1:] + height[:-1]) / 2)
