"""Intervals of root mean squared errors, and of how two of them compare."""

import numpy as np

from surefoot.report.statistics.estimates import Estimate, is_withheld, root_of, unpaired_ratio, withheld
from surefoot.report.statistics.means import mean_loss_interval
from surefoot.report.statistics.spread import Spread, spread_of
from surefoot.report.statistics.tails import MIN_PAIRED_ROWS, MIN_ROWS, is_dominated


def root_mean_square_interval(squared_errors: np.ndarray, groups: np.ndarray | None = None) -> Estimate:
    """RMSE; the upper end is open where the rows cannot tell how large the rare errors are."""
    return root_of(mean_loss_interval(squared_errors, groups))


def paired_rms_ratio(
    squared_first: np.ndarray, squared_second: np.ndarray, groups: np.ndarray | None = None
) -> Estimate:
    """RMSE of the first by that of the second, on the same rows.

    Rare errors that are common to both bring the ratio closer to 1. Under 300 rows they may not have been seen, and the
    interval reaches to 1: it tells which is better, not by how much. Withheld under 20 rows, or where a single row has
    most of the spread.
    """
    return root_of(_paired_mean_ratio(squared_first, squared_second, groups))


def explained_variance(
    squared_errors: np.ndarray, squared_deviations: np.ndarray, groups: np.ndarray | None = None
) -> Estimate:
    """One less the ratio of the mean squares of a model and of a constant, on the same rows (R2)."""
    ratio = _paired_mean_ratio(squared_errors, squared_deviations, groups)
    return Estimate(1 - ratio.value, 1 - ratio.high, 1 - ratio.low)


def rms_ratio(
    squared_there: np.ndarray,
    squared_here: np.ndarray,
    groups_there: np.ndarray | None = None,
    groups_here: np.ndarray | None = None,
) -> Estimate:
    """RMSE there by that here, of different rows; ends are open where those of the RMSEs are."""
    there, here = mean_loss_interval(squared_there, groups_there), mean_loss_interval(squared_here, groups_here)
    if is_withheld(there) or is_withheld(here):
        value = there.value / here.value if here.value > 0 else float("nan")
        return withheld(value**0.5)
    return root_of(unpaired_ratio(there, here))


def paired_rms_difference(
    squared_first: np.ndarray, squared_second: np.ndarray, groups: np.ndarray | None = None
) -> Estimate:
    """RMSE of the first less that of the second on the same rows, from their ratio."""
    second = float(np.sqrt(np.mean(squared_second)))
    ratio = paired_rms_ratio(squared_first, squared_second, groups)
    if second == 0:
        return withheld(float(np.sqrt(np.mean(squared_first))))
    return Estimate(*(float((part - 1) * second) for part in (ratio.value, ratio.low, ratio.high)))


def _paired_mean_ratio(first: np.ndarray, second: np.ndarray, groups: np.ndarray | None) -> Estimate:
    first, second = (np.asarray(each, dtype=np.float64) for each in (first, second))
    above, below = float(first.mean()), float(second.mean())
    if below == 0 or above == 0:
        return withheld(1.0 if above == below else np.inf if above else 0.0)
    ratio = above / below
    if np.array_equal(first, second):
        return Estimate(1.0, 1.0, 1.0)
    spread = spread_of(first / above - second / below, groups)
    if spread is None or len(first) < MIN_PAIRED_ROWS or is_dominated(spread.dominance):
        return withheld(ratio)
    low, high = _log_ends(ratio, spread.widened)
    return Estimate(ratio, low, high) if len(first) >= MIN_ROWS else Estimate(ratio, min(low, 1.0), max(high, 1.0))


def _log_ends(ratio: float, spread: Spread) -> tuple[float, float]:
    """Ends on the scale of logarithms, corrected for skewness."""
    low, high = np.exp(np.array(spread.skewed_ends(0.0)))
    return ratio * min(float(low), 1.0), ratio * max(float(high), 1.0)
