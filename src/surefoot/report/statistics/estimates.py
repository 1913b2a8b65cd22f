"""Estimates without an interval, with one open end, or with limits."""

from dataclasses import dataclass
from math import inf, isfinite, sqrt


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


def within(estimate: Estimate, least: float, most: float) -> Estimate:
    """The same, its interval cut off where no value can be; a withheld one stays withheld."""
    if is_withheld(estimate):
        return estimate
    return Estimate(estimate.value, max(estimate.low, least), min(estimate.high, most))


def root_of(mean: Estimate) -> Estimate:
    """Root of a mean of squares; its interval is the root of the mean's."""
    if is_withheld(mean):
        return withheld(sqrt(mean.value))
    return Estimate(sqrt(mean.value), sqrt(max(mean.low, 0.0)), sqrt(mean.high))


def unpaired_difference(first: Estimate, second: Estimate) -> Estimate:
    """First less second, measured on different rows: the distances to the ends add up in squares (MOVER)."""
    value = first.value - second.value
    below = sqrt((first.value - first.low) ** 2 + (second.high - second.value) ** 2)
    above = sqrt((first.high - first.value) ** 2 + (second.value - second.low) ** 2)
    return Estimate(value, value - below, value + above)


def unpaired_ratio(first: Estimate, second: Estimate) -> Estimate:
    """First by second, both positive and measured on different rows (MOVER for ratios, Donner and Zou 2012).

    Where the second may be 0, the upper end is open.
    """
    value = first.value / second.value if second.value > 0 else inf if first.value > 0 else float("nan")
    return Estimate(value, _low_ratio(first, second), _high_ratio(first, second))


def _low_ratio(first: Estimate, second: Estimate) -> float:
    low, high = max(first.low, 0.0), second.high
    if low <= 0 or not isfinite(high):
        return 0.0
    product, above = first.value * second.value, low * (2 * first.value - low)
    return above / (product + sqrt(max(product**2 - above * high * (2 * second.value - high), 0.0)))


def _high_ratio(first: Estimate, second: Estimate) -> float:
    high, low = first.high, max(second.low, 0.0)
    if low <= 0 or not isfinite(high):
        return inf
    product, below = first.value * second.value, low * (2 * second.value - low)
    return (product + sqrt(max(product**2 - below * high * (2 * first.value - high), 0.0))) / below
