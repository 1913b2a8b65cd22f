"""Intervals of error rates and other fractions of rows; losses between 0 and 1 are rates too."""

import numpy as np

from surefoot.report.statistics.estimates import Estimate, unpaired_difference, unpaired_ratio, withheld
from surefoot.report.statistics.spread import spread_of

Z = 1.959963984540054


def share_interval(hits: np.ndarray, groups: np.ndarray | None = None) -> Estimate:
    """Fraction of the rows that are hits, with Wilson's interval.

    Hits may lie between 0 and 1 (averages over repeats); the interval then allows for their smaller variance. With
    groups, it is that of as many independent rows as would have the same standard error.
    """
    values = np.asarray(hits, dtype=np.float64)
    rate, n_rows = float(values.mean()), len(values)
    if groups is None:
        return _wilson(rate, n_rows * _binomial_variance_ratio(values), Z)
    spread = spread_of(values, groups)
    if spread is None:
        return withheld(rate)
    counts = np.unique(groups, return_counts=True)[1]
    n_groups = n_rows**2 / float((counts.astype(np.float64) ** 2).sum())  # as many of equal size
    n_effective = min(rate * (1 - rate) / spread.error**2, n_rows) if spread.error > 0 else n_groups
    wilson = _wilson(rate, max(n_effective, 1.0), spread.quantile)
    low, high = spread.skewed_ends(rate)  # rates of groups are often skewed
    return Estimate(rate, max(min(low, wilson.low), 0.0), min(max(high, wilson.high), 1.0))


def _binomial_variance_ratio(values: np.ndarray) -> float:
    """How much more variance rows of 0 and 1 would have; one row of each is added, so that there is some."""
    n, total, squares = len(values) + 2, float(values.sum()) + 1, float(values @ values) + 1
    return (total / n * (1 - total / n)) / (squares / n - (total / n) ** 2)


def _wilson(rate: float, n: float, quantile: float) -> Estimate:
    q2 = quantile**2
    centre = (rate + q2 / (2 * n)) / (1 + q2 / n)
    half = (q2 * (rate * (1 - rate) / n + q2 / (4 * n**2))) ** 0.5 / (1 + q2 / n)
    return Estimate(rate, min(max(centre - half, 0.0), rate), max(min(centre + half, 1.0), rate))


def paired_share_difference(hits: np.ndarray, others: np.ndarray, groups: np.ndarray | None = None) -> Estimate:
    """Fraction of ``hits`` less that of ``others`` on the same rows; both may lie between 0 and 1.

    The interval is that of Bonett and Price (2012): a row that is a hit of the first alone is added, and one of the
    second alone. With groups, it is at least as wide as that of their mean.
    """
    apart = np.asarray(hits, dtype=np.float64) - np.asarray(others, dtype=np.float64)
    value, n, spread = float(apart.mean()), len(apart) + 2, spread_of(apart, groups)
    if spread is None:
        return withheld(value)
    centre = float(apart.sum()) / n
    error = (((float(apart @ apart) + 2) / n - centre**2) / n) ** 0.5
    low, high = centre - Z * error, centre + Z * error
    if groups is not None:
        skewed, reach = spread.skewed_ends(value), spread.quantile * max(spread.error, error)
        low, high = min(centre - reach, skewed[0]), max(centre + reach, skewed[1])
    return Estimate(value, max(min(low, value), -1.0), min(max(high, value), 1.0))


def rate_difference(
    there: np.ndarray, here: np.ndarray, groups_there: np.ndarray | None = None, groups_here: np.ndarray | None = None
) -> Estimate:
    """Rate there less rate here, of different rows (Newcombe 1998, from two Wilson intervals)."""
    return unpaired_difference(share_interval(there, groups_there), share_interval(here, groups_here))


def rate_ratio(
    there: np.ndarray, here: np.ndarray, groups_there: np.ndarray | None = None, groups_here: np.ndarray | None = None
) -> Estimate:
    """Rate there by rate here, of different rows; without an error here, the upper end is open."""
    return unpaired_ratio(share_interval(there, groups_there), share_interval(here, groups_here))
