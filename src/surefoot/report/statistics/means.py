"""Intervals of mean losses and of root mean squared errors, over rows or groups."""

import numpy as np

from surefoot.metrics.intervals import CONFIDENCE
from surefoot.report.statistics.estimates import Estimate, is_withheld, root_of, unpaired_ratio, withheld
from surefoot.report.statistics.standard_errors import (
    MIN_PAIRED_ROWS,
    MIN_ROWS,
    Spread,
    is_dominated,
    mean_of,
    size_of,
    spread_of,
)

Weights = np.ndarray | None


def mean_interval(values: np.ndarray, groups: np.ndarray | None = None, weights: Weights = None) -> Estimate:
    """Mean with Student's interval, over rows or groups; withheld where the spread cannot be measured.

    For values that are neither skewed nor heavy-tailed; for losses there is ``mean_loss_interval``.
    """
    values = np.asarray(values, dtype=np.float64)
    value, spread = mean_of(values, weights), spread_of(values, groups, weights=weights)
    return withheld(value) if spread is None else Estimate(value, *spread.ends(value))


def mean_loss_interval(
    losses: np.ndarray,
    groups: np.ndarray | None = None,
    confidence: float = CONFIDENCE,
    weights: Weights = None,
) -> Estimate:
    """Mean of losses that are 0 or more and may be skewed (log-losses, squared errors).

    The interval is corrected for skewness, and its upper end is wider the more of the spread is in one row. It is open
    below 300 rows, and where one row has most of the spread: the size of rare large losses is then unknown, and they
    can only raise the mean.
    """
    losses = np.asarray(losses, dtype=np.float64)
    value, spread = mean_of(losses, weights), spread_of(losses, groups, confidence, weights)
    if spread is None:
        return withheld(value)
    low, high = spread.skewed_ends(value)[0], spread.widened.skewed_ends(value)[1]
    is_closed = size_of(losses, weights) >= MIN_ROWS and not is_dominated(spread.dominance)
    if low <= 0 and not is_closed:
        return withheld(value)
    return Estimate(value, min(max(low, 0.0), value), max(high, value) if is_closed else np.inf)


def paired_mean_difference(
    first: np.ndarray,
    second: np.ndarray,
    groups: np.ndarray | None = None,
    confidence: float = CONFIDENCE,
    weights: Weights = None,
) -> Estimate:
    """Mean of the first losses minus that of the second, on the same rows, for skewed and heavy-tailed differences.

    Withheld below 20 rows, or where a single row has most of the spread. For losses between 0 and 1 that are often 0,
    ``paired_rate_difference`` is better.
    """
    differences = np.asarray(first, dtype=np.float64) - second
    value, spread = mean_of(differences, weights), spread_of(differences, groups, confidence, weights)
    if spread is None or size_of(differences, weights) < MIN_PAIRED_ROWS or is_dominated(spread.dominance):
        return withheld(value)
    low, high = spread.widened.skewed_ends(value)
    return Estimate(value, min(low, value), max(high, value))


def root_mean_square_interval(
    squared_errors: np.ndarray, groups: np.ndarray | None = None, weights: Weights = None
) -> Estimate:
    """RMSE; the upper end is open where the rows do not show how large rare errors are."""
    return root_of(mean_loss_interval(squared_errors, groups, weights=weights))


def paired_rms_ratio(
    squared_first: np.ndarray, squared_second: np.ndarray, groups: np.ndarray | None = None, weights: Weights = None
) -> Estimate:
    """Ratio of the first RMSE to the second, on the same rows.

    Rare large errors of both models bring the ratio closer to 1. Below 300 rows they may be missing from the sample,
    so the interval reaches to 1: it shows which model is better, not by how much. Withheld below 20 rows, or where a
    single row has most of the spread.
    """
    return root_of(_paired_mean_ratio(squared_first, squared_second, groups, weights))


def explained_variance(
    squared_errors: np.ndarray,
    squared_deviations: np.ndarray,
    groups: np.ndarray | None = None,
    weights: Weights = None,
) -> Estimate:
    """1 minus the ratio of the mean squares of a model and of a constant, on the same rows (R2)."""
    ratio = _paired_mean_ratio(squared_errors, squared_deviations, groups, weights)
    return Estimate(1 - ratio.value, 1 - ratio.high, 1 - ratio.low)


def rms_ratio(
    squared_first: np.ndarray,
    squared_second: np.ndarray,
    first_groups: np.ndarray | None = None,
    second_groups: np.ndarray | None = None,
) -> Estimate:
    """Ratio of the first RMSE to the second, on different rows; its ends are open where those of the RMSEs are."""
    first, second = mean_loss_interval(squared_first, first_groups), mean_loss_interval(squared_second, second_groups)
    if is_withheld(first) or is_withheld(second):
        value = first.value / second.value if second.value > 0 else float("nan")
        return withheld(value**0.5)
    return root_of(unpaired_ratio(first, second))


def paired_rms_difference(
    squared_first: np.ndarray, squared_second: np.ndarray, groups: np.ndarray | None = None
) -> Estimate:
    """First RMSE minus the second on the same rows, from their ratio."""
    second = float(np.sqrt(np.mean(squared_second)))
    ratio = paired_rms_ratio(squared_first, squared_second, groups)
    if second == 0:
        return withheld(float(np.sqrt(np.mean(squared_first))))
    return Estimate(*(float((part - 1) * second) for part in (ratio.value, ratio.low, ratio.high)))


def _paired_mean_ratio(
    first: np.ndarray, second: np.ndarray, groups: np.ndarray | None, weights: Weights = None
) -> Estimate:
    first, second = (np.asarray(each, dtype=np.float64) for each in (first, second))
    numerator, denominator = mean_of(first, weights), mean_of(second, weights)
    if denominator == 0 or numerator == 0:
        return withheld(1.0 if numerator == denominator else np.inf if numerator else 0.0)
    ratio = numerator / denominator
    if np.array_equal(first, second):
        return Estimate(1.0, 1.0, 1.0)
    spread, n_rows = (
        spread_of(first / numerator - second / denominator, groups, weights=weights),
        size_of(first, weights),
    )
    if spread is None or n_rows < MIN_PAIRED_ROWS or is_dominated(spread.dominance):
        return withheld(ratio)
    low, high = _log_ends(ratio, spread.widened)
    return Estimate(ratio, low, high) if n_rows >= MIN_ROWS else Estimate(ratio, min(low, 1.0), max(high, 1.0))


def _log_ends(ratio: float, spread: Spread) -> tuple[float, float]:
    """Ends on the scale of logarithms, corrected for skewness."""
    low, high = np.exp(np.array(spread.skewed_ends(0.0)))
    return ratio * min(float(low), 1.0), ratio * max(float(high), 1.0)
