"""Numbers as a reader of the page meets them: shares in percent, intervals as "a to b"."""

from collections.abc import Callable
from math import floor, inf, isfinite, log10

from surefoot.report.models.scoring import RATES
from surefoot.report.statistics.estimates import Estimate

MINUS = "\N{MINUS SIGN}"
NOT_KNOWN = "\N{EN DASH}"
LARGE, SMALL = 1e7, 1e-4
MIN_P_VALUE = 0.0001


def percent(share: float, digits: int = 1) -> str:
    """Such as "12.3%"."""
    return f"{_signed(100 * share, digits)}%" if isfinite(share) else NOT_KNOWN


def points(share: float) -> str:
    """A difference of shares, such as "4.5 points"."""
    if not isfinite(share):
        return NOT_KNOWN
    written = _signed(100 * share, 1)
    return f"{written} point{'' if written.lstrip(MINUS) == '1.0' else 's'}"


def number(value: float, digits: int = 3) -> str:
    """With so many significant digits, and all digits before the point."""
    if not isfinite(value):
        return NOT_KNOWN
    size = abs(value)
    if size >= LARGE or 0 < size < SMALL:
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        return f"{mantissa}e{int(exponent)}".replace("-", MINUS)
    return _signed(value, _decimals(size, digits))


def hundredths(value: float) -> str:
    """With two digits after the point."""
    return _signed(value, 2) if isfinite(value) else NOT_KNOWN


def whole(count: float) -> str:
    """Such as "12,345"."""
    return _signed(count, 0) if isfinite(count) else NOT_KNOWN


def p_value(value: float) -> str:
    """Such as "0.03", or "< 0.0001" for all that are smaller."""
    if not isfinite(value):
        return NOT_KNOWN
    return f"< {MIN_P_VALUE}" if value < MIN_P_VALUE else f"{value:.2g}"


def duration(seconds: float) -> str:
    """Such as "0.4 s", "12 s" or "2 min 5 s"."""
    if not isfinite(seconds):
        return NOT_KNOWN
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def bar_length(share: float) -> str:
    """How long the bar of a share is drawn, as a share of the longest."""
    return f"{min(max(share, 0.0), 1.0):.3f}" if isfinite(share) else "0"


def loss_writer(measure: str) -> Callable[[float], str]:
    """How a loss is written: rates in percent, others as numbers."""
    return percent if measure in RATES else number


def value_of(estimate: Estimate, measure: str) -> str:
    """The value of a loss, with as many digits as its interval deserves."""
    return _with_digits_of(estimate, measure)(estimate.value)


def interval_of(estimate: Estimate, measure: str) -> str:
    """The ends of its interval, such as "10.1% to 12.3%"."""
    return between(estimate, _with_digits_of(estimate, measure))


def between(estimate: Estimate, write: Callable[[float], str]) -> str:
    """The ends of an interval; one without ends says nothing."""
    if not (isfinite(estimate.low) or isfinite(estimate.high)):
        return "no interval"
    if not isfinite(estimate.high):
        return f"at least {write(estimate.low)}"
    if not isfinite(estimate.low):
        return f"at most {write(estimate.high)}"
    return f"{write(estimate.low)} to {write(estimate.high)}"


def points_between(estimate: Estimate) -> str:
    """Such as "0.4 to 2.1"; the word "points" stands before it."""
    return between(estimate, lambda share: _signed(100 * share, 1))


def difference(estimate: Estimate, measure: str) -> str:
    """A difference of losses with its interval, without its sign: the words around it say which way it goes."""
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
    decimals = max(_decimals(size, 3), _decimals(width, 2) if 0 < width < inf else 0)
    return lambda value: _signed(value, decimals) if isfinite(value) else NOT_KNOWN


def _decimals(size: float, digits: int) -> int:
    """Digits after the point, if so many of a number shall be significant."""
    return min(8, max(0, digits - 1 - floor(log10(size)))) if size > 0 else digits - 1


def _signed(value: float, decimals: int) -> str:
    """With a true minus sign, and none before a zero."""
    written = f"{value:,.{decimals}f}"
    if not written.strip("-0.,"):
        written = written.lstrip("-")
    return written.replace("-", MINUS)
