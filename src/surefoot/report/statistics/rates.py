"""Intervals of error rates and other fractions of rows; losses between 0 and 1 are rates too."""

import numpy as np
from scipy.special import ndtri

from surefoot.metrics.intervals import CONFIDENCE, Z, wilson_interval
from surefoot.report.statistics.estimates import Estimate, withheld
from surefoot.report.statistics.standard_errors import mean_of, size_of, spread_of


def rate_interval(
    hits: np.ndarray,
    groups: np.ndarray | None = None,
    confidence: float = CONFIDENCE,
    weights: np.ndarray | None = None,
) -> Estimate:
    """Fraction of the rows that are hits, with Wilson's interval.

    Hits may lie between 0 and 1 (averages over repeats); the interval then allows for their smaller variance. With
    groups or weights, the interval uses the number of independent rows that would have the same standard error.
    """
    values = np.asarray(hits, dtype=np.float64)
    rate, n_rows = mean_of(values, weights), len(values)
    if groups is None and weights is None:
        quantile = float(ndtri((1 + confidence) / 2))
        low, high = wilson_interval(rate, n_rows * _binomial_variance_ratio(values), quantile)
        return Estimate(rate, float(low), float(high))
    spread = spread_of(values, groups, confidence, weights)
    if spread is None:
        return withheld(rate)
    n_groups = _equal_groups(n_rows, groups, weights)
    n_effective = min(rate * (1 - rate) / spread.error**2, n_rows) if spread.error > 0 else n_groups
    ends = wilson_interval(rate, max(n_effective, 1.0), spread.quantile)
    low, high = spread.skewed_ends(rate)  # rates of groups are often skewed
    return Estimate(rate, max(min(low, float(ends[0])), 0.0), min(max(high, float(ends[1])), 1.0))


def _equal_groups(n_rows: int, groups: np.ndarray | None, weights: np.ndarray | None) -> float:
    """The number of groups of equal size, or of rows of equal weight, with as much information."""
    codes = np.arange(n_rows) if groups is None else np.unique(groups, return_inverse=True)[1].ravel()
    sizes = np.bincount(codes, weights).astype(np.float64)
    return size_of(sizes, sizes)


def _binomial_variance_ratio(values: np.ndarray) -> float:
    """Variance of rows of 0 and 1 with this mean, divided by the variance of the values.

    One row of 0 and one row of 1 are added, so that neither variance is 0.
    """
    n, total, squares = len(values) + 2, float(values.sum()) + 1, float(values @ values) + 1
    return (total / n * (1 - total / n)) / (squares / n - (total / n) ** 2)


def paired_rate_difference(
    hits: np.ndarray, others: np.ndarray, groups: np.ndarray | None = None, weights: np.ndarray | None = None
) -> Estimate:
    """Fraction of ``hits`` minus fraction of ``others`` on the same rows; both may lie between 0 and 1.

    The interval is that of Bonett and Price (2012): it adds one row that is a hit of the first alone, and one that is
    a hit of the second alone. With groups or weights, it is at least as wide as the interval of their mean.
    """
    differences = np.asarray(hits, dtype=np.float64) - np.asarray(others, dtype=np.float64)
    value, spread = mean_of(differences, weights), spread_of(differences, groups, weights=weights)
    if spread is None:
        return withheld(value)
    of_equal = np.ones(len(differences)) if weights is None else weights * (size_of(weights, weights) / weights.sum())
    n = size_of(differences, weights) + 2
    centre = float(of_equal @ differences) / n
    error = (((float(of_equal @ differences**2) + 2) / n - centre**2) / n) ** 0.5
    low, high = centre - Z * error, centre + Z * error
    if groups is not None or weights is not None:
        skewed, reach = spread.skewed_ends(value), spread.quantile * max(spread.error, error)
        low, high = min(centre - reach, skewed[0]), max(centre + reach, skewed[1])
    return Estimate(value, max(min(low, value), -1.0), min(max(high, value), 1.0))
