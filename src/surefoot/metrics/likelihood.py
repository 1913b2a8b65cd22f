"""How well predictive distributions and probabilities fit the targets."""

from typing import Any

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._parameters import check_number
from surefoot.metrics.checks import check_numbers, check_probabilities, check_row_weights, weighted_mean
from surefoot.metrics.predicted import check_distribution, is_distribution
from surefoot.metrics.ranked_probability import ranked_probability_scores

DEFAULT_LEVEL = 0.9


def nll(y_true: Any, prediction: Any, *, labels: Any = None, sample_weight: Any = None) -> float:
    """Mean negative log-likelihood, in nats; lower is better.

    Nothing is clipped: it is infinite if the prediction gives probability 0 to a target. For a density it depends on
    the unit of ``y_true``: with a unit c times larger it is smaller by log(c).

    Parameters
    ----------
    y_true : array of shape (n_rows,)
        Numbers for a distribution, labels for probabilities.
    prediction : distribution, or array of shape (n_rows, n_classes)
        What ``predict_distribution`` returns (or a frozen distribution of scipy.stats), or what ``predict_proba``
        returns.
    labels : array of shape (n_classes,), default=None
        The classes of the columns, ``classes_`` of the model. None: the classes of ``y_true`` in sorted order, if
        there is one for each column.
    sample_weight : array of shape (n_rows,), default=None
        Weights of the rows. None: every row counts 1.

    Returns
    -------
    float
        The mean over the rows.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from surefoot.metrics import nll
    >>> round(nll([1.0, 2.0], norm([1.0, 1.0], [0.5, 2.0])), 4)
    0.9814
    >>> round(nll(["no", "yes"], [[0.8, 0.2], [0.4, 0.6]]), 4)
    0.367
    """
    if is_distribution(prediction):
        if labels is not None:
            raise ParameterError("labels are for probabilities, but prediction is a distribution: leave them out.")
        target = check_numbers("y_true", y_true)
        surprise = -check_distribution(prediction, len(target)).logpdf(target)
    else:
        codes, probabilities, _ = check_probabilities(y_true, prediction, labels)
        with np.errstate(divide="ignore"):
            surprise = -np.log(probabilities[np.arange(len(codes)), codes])
    return weighted_mean(surprise, check_row_weights(sample_weight, len(surprise)))


def crps(y_true: Any, distribution: Any, *, sample_weight: Any = None) -> float:
    """Mean continuous ranked probability score, in the units of ``y_true``; lower is better.

    It is the integral of the squared distance between the predicted distribution function and the step at the target.
    For a prediction without spread it is the absolute error. It has a closed form for the families of surefoot and
    mixtures of them, except mixtures of Student or Poisson distributions: these, and all others, are integrated
    numerically.

    Parameters
    ----------
    y_true : array of shape (n_rows,)
        The targets, numbers.
    distribution : distribution
        What ``predict_distribution`` returns, or a frozen distribution of scipy.stats.
    sample_weight : array of shape (n_rows,), default=None
        Weights of the rows. None: every row counts 1.

    Returns
    -------
    float
        The mean over the rows.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from surefoot.metrics import crps
    >>> round(crps([1.0, 2.0], norm([1.0, 1.0], [0.5, 2.0])), 4)
    0.3898
    """
    target = check_numbers("y_true", y_true)
    scores = ranked_probability_scores(target, check_distribution(distribution, len(target)))
    if np.isnan(scores).any():
        raise DataError("distribution returns NaN for some rows: check its parameters.")
    return weighted_mean(scores, check_row_weights(sample_weight, len(target)))


def coverage(y_true: Any, prediction: Any, *, level: float | None = None, sample_weight: Any = None) -> float:
    """Fraction of targets inside their interval, ends included; it should be about the level of the intervals.

    Parameters
    ----------
    y_true : array of shape (n_rows,)
        The targets, numbers.
    prediction : distribution, or pair (low, high) of arrays of shape (n_rows,)
        What ``predict_distribution`` returns (or a frozen distribution of scipy.stats), for its central intervals; or
        the ends of any intervals, infinite if they are open.
    level : float, default=None
        Probability of the central intervals of a distribution, above 0 and below 1; None: 0.9.
    sample_weight : array of shape (n_rows,), default=None
        Weights of the rows. None: every row counts 1.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from surefoot.metrics import coverage
    >>> y = [-2.0, -0.5, 0.0, 1.0]
    >>> coverage(y, norm(0.0, 1.0), level=0.8)
    0.75
    >>> coverage(y, ([-3, -3, -3, -3], [0, 0, 0, 0]))
    0.75
    """
    target = check_numbers("y_true", y_true)
    if is_distribution(prediction):
        level = check_number("level", DEFAULT_LEVEL if level is None else level, 0.0, 1.0, include_boundaries="neither")
        low, high = check_distribution(prediction, len(target)).interval(level)
    else:
        if level is not None:
            raise ParameterError("level is for a distribution, but prediction is a pair of ends: leave it out.")
        low, high = _check_interval(prediction, len(target))
    inside = (low <= target) & (target <= high)
    return weighted_mean(inside.astype(np.float64), check_row_weights(sample_weight, len(target)))


def _check_interval(interval: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(interval, tuple | list | np.ndarray) or len(interval) != 2:
        raise DataError("prediction must be a distribution or a pair (low, high) of arrays with one value per row.")
    low = check_numbers("low", interval[0], n_rows, infinite_allowed=True)
    high = check_numbers("high", interval[1], n_rows, infinite_allowed=True)
    if (low > high).any():
        raise DataError("low is above high in some rows: pass the pair as (low, high).")
    return low, high
