"""Estimates and losses as a reader of the page sees them: rates in percent, intervals as "a to b"."""

from collections.abc import Callable
from math import inf, isfinite

from surefoot._formatting import (
    LARGE,
    NOT_KNOWN,
    SMALL,
    counted,
    decimals_for,
    duration,
    hundredths,
    number,
    one_line,
    p_value,
    percent,
    points,
    signed,
    whole,
)
from surefoot.report.models.scoring import RATES
from surefoot.report.statistics import Estimate

__all__ = [
    "bar_length",
    "between",
    "counted",
    "difference",
    "duration",
    "hundredths",
    "interval_of",
    "loss_writer",
    "number",
    "one_line",
    "p_value",
    "percent",
    "points",
    "points_between",
    "value_of",
    "whole",
]


def bar_length(fraction: float) -> str:
    """The length of the bar of a fraction, as a fraction of the longest bar."""
    return f"{min(max(fraction, 0.0), 1.0):.3f}" if isfinite(fraction) else "0"


def loss_writer(measure: str) -> Callable[[float], str]:
    """The format of a loss: rates in percent, others as numbers."""
    return percent if measure in RATES else number


def value_of(estimate: Estimate, measure: str) -> str:
    """The value of a loss, with as many digits as its interval justifies."""
    return _with_digits_of(estimate, measure)(estimate.value)


def interval_of(estimate: Estimate, measure: str) -> str:
    """The ends of the interval of a loss, such as "10.1% to 12.3%"."""
    return between(estimate, _with_digits_of(estimate, measure))


def between(estimate: Estimate, write: Callable[[float], str]) -> str:
    """The ends of an interval, such as "a to b", "at least a" or "no interval"."""
    if not (isfinite(estimate.low) or isfinite(estimate.high)):
        return "no interval"
    if not isfinite(estimate.high):
        return f"at least {write(estimate.low)}"
    if not isfinite(estimate.low):
        return f"at most {write(estimate.high)}"
    return f"{write(estimate.low)} to {write(estimate.high)}"


def points_between(estimate: Estimate) -> str:
    """Such as "0.4 to 2.1", after a number of points."""
    return between(estimate, lambda fraction: signed(100 * fraction, 1))


def difference(estimate: Estimate, measure: str) -> str:
    """A difference of losses with its interval, without its sign: the sentence around it names the direction."""
    if estimate.value < 0:
        estimate = Estimate(-estimate.value, -estimate.high, -estimate.low)
    if measure in RATES:
        return f"{points(estimate.value)} (95% interval {points_between(estimate)})"
    return f"{value_of(estimate, measure)} (95% interval {interval_of(estimate, measure)})"


def _with_digits_of(estimate: Estimate, measure: str) -> Callable[[float], str]:
    if measure in RATES:
        return percent
    size = abs(estimate.value)
    if not isfinite(size) or size >= LARGE or size < SMALL:
        return number
    width = estimate.high - estimate.low
    decimals = max(decimals_for(size, 3), decimals_for(width, 2) if 0 < width < inf else 0)
    return lambda value: signed(value, decimals) if isfinite(value) else NOT_KNOWN
