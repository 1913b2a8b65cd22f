"""Estimates with their 95% intervals, and what an interval decides."""

from dataclasses import dataclass
from math import ceil, floor, inf, isfinite, log10, sqrt

INSIDE, OUTSIDE, UNDECIDED = "inside", "outside", "undecided"
MAX_GROWTH = 100.0  # times as many rows: a value that needs more lies on the limit


@dataclass(frozen=True)
class Estimate:
    """A number measured on some rows, with its 95% interval."""

    value: float
    low: float
    high: float


def withheld(value: float) -> Estimate:
    """A value whose interval is withheld: the rows cannot support one."""
    return Estimate(float(value), -inf, inf)


def is_withheld(estimate: Estimate) -> bool:
    """Whether there is no interval at all."""
    return not (isfinite(estimate.low) or isfinite(estimate.high))


def is_one_sided(estimate: Estimate) -> bool:
    """Whether exactly one end is open: the rows limit the value on the other side only."""
    return isfinite(estimate.low) != isfinite(estimate.high)


def within(estimate: Estimate, minimum: float, maximum: float) -> Estimate:
    """The estimate with its interval cut off at the possible values; a withheld interval stays withheld."""
    if is_withheld(estimate):
        return estimate
    return Estimate(estimate.value, max(estimate.low, minimum), min(estimate.high, maximum))


def root_of(mean: Estimate) -> Estimate:
    """Root of a mean of squares; its interval is the root of the mean's interval."""
    if is_withheld(mean):
        return withheld(sqrt(mean.value))
    return Estimate(sqrt(mean.value), sqrt(max(mean.low, 0.0)), sqrt(mean.high))


def unpaired_difference(first: Estimate, second: Estimate) -> Estimate:
    """Difference of two estimates from different rows: distances to the ends are added in squares (MOVER)."""
    value = first.value - second.value
    below = sqrt((first.value - first.low) ** 2 + (second.high - second.value) ** 2)
    above = sqrt((first.high - first.value) ** 2 + (second.value - second.low) ** 2)
    return Estimate(value, value - below, value + above)


def unpaired_ratio(first: Estimate, second: Estimate, correlation: float = 0.0) -> Estimate:
    """Ratio of two positive estimates from different rows (MOVER for ratios, Donner and Zou 2012).

    Where the second may be 0, the upper end is open. Rows of one group may be in both: this is their ``correlation``.
    """
    value = first.value / second.value if second.value > 0 else inf if first.value > 0 else float("nan")
    return Estimate(value, _low_ratio(first, second, correlation), _high_ratio(first, second, correlation))


def _low_ratio(first: Estimate, second: Estimate, correlation: float) -> float:
    low, high = max(first.low, 0.0), second.high
    if low <= 0 or not isfinite(high):
        return 0.0
    shared = correlation * (first.value - low) * (high - second.value)
    product, above = first.value * second.value - shared, low * (2 * first.value - low)
    return above / (product + sqrt(max(product**2 - above * high * (2 * second.value - high), 0.0)))


def _high_ratio(first: Estimate, second: Estimate, correlation: float) -> float:
    high, low = first.high, max(second.low, 0.0)
    if low <= 0 or not isfinite(high):
        return inf
    shared = correlation * (high - first.value) * (second.value - low)
    product, below = first.value * second.value - shared, low * (2 * second.value - low)
    return (product + sqrt(max(product**2 - below * high * (2 * first.value - high), 0.0))) / below


def decide(estimate: Estimate, tolerance: tuple[float, float]) -> str:
    """Whether the whole interval lies "inside" the tolerance, "outside" it, or neither ("undecided").

    The limits belong to the tolerance; either may be infinite.
    """
    low, high = tolerance
    if not estimate.low <= estimate.high or is_withheld(estimate):
        return UNDECIDED
    if low <= estimate.low and estimate.high <= high:
        return INSIDE
    return OUTSIDE if estimate.high < low or estimate.low > high else UNDECIDED


def rows_needed(estimate: Estimate, n_rows: int, tolerance: tuple[float, float]) -> int | None:
    """About how many rows in all would decide, if the value stays and the interval shrinks with the root of the rows.

    Rounded up to two digits; ``n_rows`` where it is decided; None where the value is too close to a limit, or an end
    of the interval that matters is open.
    """
    if decide(estimate, tolerance) != UNDECIDED:
        return n_rows
    shrinkage = _shrinkage_needed(estimate, tolerance)
    if not shrinkage**2 * MAX_GROWTH >= 1:
        return None
    rows = n_rows / shrinkage**2
    unit = 10 ** max(floor(log10(rows)) - 1, 0)
    return int(ceil(round(rows / unit, 9)) * unit)


def _shrinkage_needed(estimate: Estimate, tolerance: tuple[float, float]) -> float:
    """The factor by which the half-width must shrink until its end touches the limit; 0 where it never does."""
    value, (low, high) = estimate.value, tolerance
    if not isfinite(value) or is_withheld(estimate):
        return 0.0
    if value < low:
        return _ratio_to_reach(low - value, estimate.high - value)
    if value > high:
        return _ratio_to_reach(value - high, value - estimate.low)
    above, below = (high - value, estimate.high - value), (value - low, value - estimate.low)
    return min(_ratio_to_reach(*above), _ratio_to_reach(*below), 1.0)


def _ratio_to_reach(distance: float, reach: float) -> float:
    if distance == inf:
        return inf
    return 0.0 if reach == inf else min(distance / reach, 1.0) if reach > 0 else 1.0
