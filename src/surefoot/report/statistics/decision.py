"""What an interval decides: inside a tolerance, outside it, or neither, and how many rows would decide."""

from math import ceil, floor, inf, isfinite, log10

from surefoot.report.statistics.estimates import Estimate

INSIDE, OUTSIDE, UNDECIDED = "inside", "outside", "undecided"
MAX_GROWTH = 100.0  # times as many rows: a value that needs more lies on the limit


def decide(estimate: Estimate, inside: tuple[float, float]) -> str:
    """Whether the whole interval lies inside the tolerance, or outside it; else it is undecided.

    Either limit of the tolerance may be infinite; the limits belong to it.
    """
    low, high = inside
    if not estimate.low <= estimate.high or _no_interval(estimate):
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
    shrink = _shrink(estimate, tolerance)
    if not shrink**2 * MAX_GROWTH >= 1:
        return None
    rows = n_rows / shrink**2
    unit = 10 ** max(floor(log10(rows)) - 1, 0)
    return int(ceil(round(rows / unit, 9)) * unit)


def _shrink(estimate: Estimate, tolerance: tuple[float, float]) -> float:
    """What is left of the interval's half-width when its end touches the limit; 0 where it never does."""
    value, (low, high) = estimate.value, tolerance
    if not isfinite(value) or _no_interval(estimate):
        return 0.0
    if value < low:
        return _part(low - value, estimate.high - value)
    if value > high:
        return _part(value - high, value - estimate.low)
    return min(_part(high - value, estimate.high - value), _part(value - low, value - estimate.low), 1.0)


def _part(room: float, reach: float) -> float:
    if room == inf:
        return inf
    return 0.0 if reach == inf else min(room / reach, 1.0) if reach > 0 else 1.0


def _no_interval(estimate: Estimate) -> bool:
    return not (isfinite(estimate.low) or isfinite(estimate.high))
