"""Predicted against observed fractions: intervals and their coverage, probabilities and frequencies."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot._parameters import check_number
from surefoot.metrics.checks import check_numbers, check_row_weights, weighted_mean
from surefoot.metrics.intervals import wilson_interval
from surefoot.metrics.predicted import Predicted, check_distribution


@dataclass(frozen=True)
class CalibrationCurve:
    """Points of a calibration curve.

    Parameters
    ----------
    expected : array of shape (n_points,)
        The predictions: the level of central intervals, or the mean predicted probability of the rows of a bin.
    observed : array of shape (n_points,)
        The observations: the fraction of targets inside the interval, or the frequency of the event in the bin.
    low, high : arrays of shape (n_points,)
        95% confidence interval (Wilson 1927) of the observed fraction.
    counts : array of shape (n_points,)
        The number of rows of each point.
    edges : array of shape (n_points, 2) or None
        The ends of each bin; None for intervals.
    """

    expected: np.ndarray
    observed: np.ndarray
    low: np.ndarray
    high: np.ndarray
    counts: np.ndarray
    edges: np.ndarray | None = None


def interval_calibration(
    y_true: Any, distribution: Any, levels: Sequence[float], *, sample_weight: Any = None
) -> CalibrationCurve:
    """Compute the fraction of targets inside the central intervals of each of ``levels``.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from surefoot.metrics.calibration import interval_calibration
    >>> interval_calibration([-2.0, -0.5, 0.0, 1.0], norm(0.0, 1.0), [0.5, 0.8]).observed.tolist()
    [0.5, 0.75]
    """
    target = check_numbers("y_true", y_true)
    predicted = check_distribution(distribution, len(target))
    nominal = np.array([check_number("levels", level, 0.0, 1.0, include_boundaries="neither") for level in levels])
    if len(nominal) == 0:
        raise DataError("levels is empty: give at least one level between 0 and 1.")
    weights = check_row_weights(sample_weight, len(target))
    observed = np.array([weighted_mean(inside, weights) for inside in _inside(target, predicted, nominal)])
    effective = weights.sum() ** 2 / (weights @ weights)
    low, high = wilson_interval(observed, np.full(len(nominal), effective))
    counts = np.full(len(nominal), np.count_nonzero(weights))
    return CalibrationCurve(expected=nominal, observed=observed, low=low, high=high, counts=counts)


def _inside(target: np.ndarray, predicted: Predicted, levels: np.ndarray) -> list[np.ndarray]:
    """For each level, 1.0 for rows with the target in the central interval, and 0.0 for the others."""
    if predicted.is_discrete:  # its intervals necessarily hold more than their level
        intervals = [predicted.interval(float(level)) for level in levels]
        return [((low <= target) & (target <= high)).astype(np.float64) for low, high in intervals]
    smallest_level = np.abs(2 * predicted.cdf(target) - 1)  # of the central intervals that hold the target
    return [(smallest_level <= level).astype(np.float64) for level in levels]


def probability_calibration(
    happened: np.ndarray, probability: np.ndarray, n_bins: int, strategy: str, *, sample_weight: Any = None
) -> CalibrationCurve:
    """Compute the frequency of an event in bins of its predicted probability; bins without rows are left out.

    ``strategy`` is ``"uniform"``, bins of equal width, or ``"quantile"``, bins of about equal weight.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.metrics.calibration import probability_calibration
    >>> probability = np.array([0.1, 0.2, 0.7, 0.9])
    >>> curve = probability_calibration(np.array([False, False, False, True]), probability, 2, "uniform")
    >>> curve.observed.tolist(), curve.counts.tolist()
    ([0.0, 0.5], [2, 2])
    """
    weights = check_row_weights(sample_weight, len(probability))
    rows = weights > 0
    happened, probability, weights = happened[rows], probability[rows], weights[rows]
    bins = _uniform_bins(probability, n_bins) if strategy == "uniform" else _equal_bins(probability, weights, n_bins)
    used, group, counts = np.unique(bins, return_inverse=True, return_counts=True)
    mass = np.bincount(group, weights)
    expected = np.bincount(group, weights * probability) / mass
    observed = np.bincount(group, weights * happened) / mass
    low, high = wilson_interval(observed, mass**2 / np.bincount(group, weights**2))
    if strategy == "uniform":
        edges = np.stack([used, used + 1], axis=1) / n_bins
    else:
        members = [probability[group == k] for k in range(len(used))]
        edges = np.array([[member.min(), member.max()] for member in members])
    return CalibrationCurve(expected=expected, observed=observed, low=low, high=high, counts=counts, edges=edges)


def _uniform_bins(probability: np.ndarray, n_bins: int) -> np.ndarray:
    return np.searchsorted(np.linspace(0, 1, n_bins + 1)[1:-1], probability)


def _equal_bins(probability: np.ndarray, weights: np.ndarray, n_bins: int) -> np.ndarray:
    """Bins of about equal weight; equal probabilities are in the same bin, by the middle of their weight."""
    values, group = np.unique(probability, return_inverse=True)
    mass = np.bincount(group, weights, len(values))
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    return np.minimum((middle * n_bins).astype(np.int64), n_bins - 1)[group]
