"""Predictions that look as if their model was trained on the rows that it predicts."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

MIN_ROWS = 50
MAX_RATIO = 0.8  # loss of the predictions, as a fraction of the best model's: higher ratios are not questioned
MAX_LABEL_RATIO = 0.25  # the same for labels, where only the number of errors can be compared
MIN_FOLLOWED = 1.2  # by what factor the reference's residuals exceed those of the predictions where these are large
MAX_EXACT = 0.9  # fraction of rows predicted exactly that is questioned


@dataclass(frozen=True)
class SeenPredictions:
    """A user's predictions, compared with those of the best cross-fitted model.

    ``ratio`` is the loss (squared error, Brier score, or the error rate of labels) of the predictions divided by that
    of the reference. ``followed`` is the slope of the reference's residuals on those of the predictions: about 1 if the
    predictions are better because they use more information, well above 1 if their residuals are shrunken copies.
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
        Numbers; probabilities of each class, or of the second of two classes; or codes of classes (whole numbers).
    reference : ndarray of shape (n,) or (n, n_classes)
        Numbers, or probabilities of each class, by a model that was not trained on the row.
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
    """Compare squared errors.

    If neither model was trained on the row, both residuals contain the noise of its target, and the slope of the
    reference's residuals on the predictions' is about 1. A model that was trained on the row keeps only a fraction of
    the noise in its residual, and the slope is the inverse of that fraction.
    """
    losses, reference = (own**2).sum(axis=1), (best**2).sum(axis=1)
    ratio, ratio_high = _ratio(losses, reference)
    followed, followed_low = 1.0, 0.0
    if losses.sum() > 0:
        followed, error = _slope((own * best).sum(axis=1), losses)
        followed_low = followed - float(norm.ppf(0.975)) * error
    is_shrunken = ratio_high < MAX_RATIO and followed_low > MIN_FOLLOWED
    is_exact = ratio_high < MAX_RATIO and exact >= MAX_EXACT
    questioned = bool(is_shrunken or is_exact)
    return SeenPredictions(
        ratio=ratio,
        ratio_high=ratio_high,
        followed=followed,
        followed_low=followed_low,
        exact=exact,
        questioned=questioned,
        sentence=_sentence(ratio, exact, questioned, "squared error"),
    )


def _of_labels(wrong: np.ndarray, reference: np.ndarray) -> SeenPredictions:
    ratio, ratio_high = _ratio(wrong.astype(float), reference.astype(float))
    exact, nan = float(1 - wrong.mean()), float("nan")
    questioned = bool(ratio_high < MAX_LABEL_RATIO)
    return SeenPredictions(
        ratio=ratio,
        ratio_high=ratio_high,
        followed=nan,
        followed_low=nan,
        exact=exact,
        questioned=questioned,
        sentence=_sentence(ratio, exact, questioned, "error rate"),
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
        return "Nothing suggests that the model of the predictions was trained on the rows."
    result = f"{ratio:.0%} of the {loss} of the best candidate"
    if exact >= MAX_EXACT:
        result += f", and {exact:.1%} of them are exact"
    return (
        f"The predictions have {result}. Was their model trained on these rows? If so, they say nothing about new rows:"
        " make them by cross-validation. If not, the model uses information that these columns do not have."
    )
