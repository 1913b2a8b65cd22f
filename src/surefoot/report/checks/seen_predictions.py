"""Predictions that look as if their model had seen the targets of the rows that it predicts."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

MIN_ROWS = 50
MAX_RATIO = 0.8  # loss of the predictions, as a fraction of the best model's: above it, nothing is asked
MAX_LABEL_RATIO = 0.25  # the same for labels, of which only the number of errors can be compared
MIN_FOLLOWED = 1.2  # how far the reference's residuals exceed those of the predictions where these are large
MAX_EXACT = 0.9  # fraction of rows predicted exactly that is asked about


@dataclass(frozen=True)
class SeenPredictions:
    """Predictions that someone made, beside those of the best model that has not seen the rows (cross-fitted).

    ``ratio`` is the loss (squared error, Brier score, or the error rate if labels were given) of the predictions over
    that of the reference. ``followed`` is the slope of the reference's residuals on those of the predictions: about 1
    if the predictions are better because they know more, well above 1 if their residuals are shrunken copies.
    """

    ratio: float
    ratio_high: float  # upper end of its 95% interval
    followed: float
    followed_low: float
    exact: float  # fraction of the rows predicted exactly
    questioned: bool
    sentence: str


def question_predictions(target: Any, given: np.ndarray, reference: np.ndarray) -> SeenPredictions | None:
    """Compare predictions with cross-fitted ones of the best model; None if there are too few rows.

    Parameters
    ----------
    target : Target
        Its ``y`` has the truth of the same rows.
    given : ndarray of shape (n,) or (n, n_classes)
        Numbers; probabilities of each class; of two classes, of the second; or codes of classes (whole numbers).
    reference : ndarray of shape (n,) or (n, n_classes)
        Numbers, or probabilities of each class, by a model that has not seen the row.
    """
    y = target.y
    if len(y) < MIN_ROWS:
        return None
    if not target.is_classes:
        own, best = (np.asarray(each, dtype=np.float64) - y for each in (given, reference))
        exact = float((np.abs(own) <= 1e-9 * max(float(y.std()), 1e-300)).mean())
        return _of_residuals(own[:, np.newaxis], best[:, np.newaxis], exact)
    given, truth = np.asarray(given), np.eye(len(target.classes))[y]
    best = np.asarray(reference, dtype=np.float64) - truth
    if given.ndim == 1 and given.dtype.kind in "iu":
        return _of_labels(given != y, reference.argmax(axis=1) != y)
    if given.ndim == 1:
        given = np.column_stack([1 - given, given])
    own = given - truth
    return _of_residuals(own, best, float((np.abs(own).max(axis=1) < 1e-6).mean()))


def _of_residuals(own: np.ndarray, best: np.ndarray, exact: float) -> SeenPredictions:
    """By squared errors.

    If predictions have not seen the noise in a row's target, it is in the residual of both, and once in each: the
    slope of the reference's residuals on the predictions' is about 1. A model that has seen the row keeps a part of
    the noise in its residual, so the slope is the inverse of that part.
    """
    losses, reference = (own**2).sum(axis=1), (best**2).sum(axis=1)
    ratio, ratio_high = _ratio(losses, reference)
    followed, followed_low = 1.0, 0.0
    if losses.sum() > 0:
        followed, error = _slope((own * best).sum(axis=1), losses)
        followed_low = followed - float(norm.ppf(0.975)) * error
    is_shrunken = ratio_high < MAX_RATIO and followed_low > MIN_FOLLOWED
    is_exact = ratio_high < MAX_RATIO and exact >= MAX_EXACT
    return SeenPredictions(
        ratio,
        ratio_high,
        followed,
        followed_low,
        exact,
        bool(is_shrunken or is_exact),
        _sentence(ratio, exact, bool(is_shrunken or is_exact), "squared error"),
    )


def _of_labels(wrong: np.ndarray, reference: np.ndarray) -> SeenPredictions:
    ratio, ratio_high = _ratio(wrong.astype(float), reference.astype(float))
    exact, nan = float(1 - wrong.mean()), float("nan")
    questioned = bool(ratio_high < MAX_LABEL_RATIO)
    return SeenPredictions(
        ratio, ratio_high, nan, nan, exact, questioned, _sentence(ratio, exact, questioned, "error rate")
    )


def _slope(products: np.ndarray, squares: np.ndarray) -> tuple[float, float]:
    """A ratio of two means and its standard error, by the delta method."""
    slope = float(products.sum() / squares.sum())
    rest = products - slope * squares
    return slope, float(rest.std(ddof=1) / squares.mean() / np.sqrt(len(rest)))


def _ratio(losses: np.ndarray, reference: np.ndarray) -> tuple[float, float]:
    """The ratio of two mean losses on the same rows, and the upper end of its interval."""
    if reference.sum() == 0:
        return 1.0, 1.0
    ratio, error = _slope(losses, reference)
    return ratio, ratio + float(norm.ppf(0.975)) * max(error, 1 / len(losses))


def _sentence(ratio: float, exact: float, questioned: bool, loss: str) -> str:
    if not questioned:
        return "Nothing suggests that the model of the predictions has seen the rows."
    how = f"{ratio:.0%} of the {loss} of the best model here"
    if exact >= MAX_EXACT:
        how += f", and {exact:.1%} of them are exact"
    return (
        f"The predictions have {how}. Were they made by a model that had seen these rows? If so, they say nothing "
        "about new rows: make them by cross-validation. If not, the model knows something that these columns do not "
        "tell."
    )
