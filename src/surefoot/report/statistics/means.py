"""Intervals of means over rows or groups."""

import numpy as np

from surefoot.report.statistics.estimates import Estimate, withheld
from surefoot.report.statistics.spread import spread_of
from surefoot.report.statistics.tails import MIN_PAIRED_ROWS, MIN_ROWS, is_dominated


def mean_interval(values: np.ndarray, groups: np.ndarray | None = None) -> Estimate:
    """Mean with Student's interval, over rows or over groups that were drawn; withheld where it cannot be measured.

    For values that are neither skewed nor heavy-tailed; for losses there is ``mean_loss_interval``.
    """
    values = np.asarray(values, dtype=np.float64)
    value, spread = float(np.mean(values)), spread_of(values, groups)
    return withheld(value) if spread is None else Estimate(value, *spread.ends(value))


def mean_loss_interval(losses: np.ndarray, groups: np.ndarray | None = None) -> Estimate:
    """Mean of losses that are 0 or more and may be skewed (log-losses, squared errors).

    The interval is corrected for skewness, and its upper end is wider the more of the spread is in one row. It is open
    under 300 rows, and where one row has most of the spread: how large the rare losses are is then unknown, and they
    can only raise the mean.
    """
    losses = np.asarray(losses, dtype=np.float64)
    value, spread = float(np.mean(losses)), spread_of(losses, groups)
    if spread is None:
        return withheld(value)
    low, high = spread.skewed_ends(value)[0], spread.widened.skewed_ends(value)[1]
    seen = len(losses) >= MIN_ROWS and not is_dominated(spread.dominance)
    if low <= 0 and not seen:
        return withheld(value)
    return Estimate(value, min(max(low, 0.0), value), max(high, value) if seen else np.inf)


def paired_mean_difference(first: np.ndarray, second: np.ndarray, groups: np.ndarray | None = None) -> Estimate:
    """Mean of the first losses less that of the second, on the same rows, for skewed and heavy-tailed differences.

    Withheld under 20 rows, or where a single row has most of the spread. For losses between 0 and 1 that are often 0,
    ``paired_share_difference`` is better.
    """
    apart = np.asarray(first, dtype=np.float64) - second
    value, spread = float(apart.mean()), spread_of(apart, groups)
    if spread is None or len(apart) < MIN_PAIRED_ROWS or is_dominated(spread.dominance):
        return withheld(value)
    low, high = spread.widened.skewed_ends(value)
    return Estimate(value, min(low, value), max(high, value))
