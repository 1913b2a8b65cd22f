"""Numbers and names as text: the one place for every sentence and table of surefoot."""

from decimal import ROUND_CEILING, Context
from math import floor, isfinite, log10

import numpy as np

MINUS = "\N{MINUS SIGN}"
NOT_KNOWN = "\N{EN DASH}"
LARGE, SMALL = 1e7, 1e-4
MIN_P_VALUE = 0.0001
MAX_NAME_LETTERS = 32


def percent(fraction: float, digits: int = 1) -> str:
    """Such as "12.3%"."""
    return f"{signed(100 * fraction, digits)}%" if isfinite(fraction) else NOT_KNOWN


def points(fraction: float) -> str:
    """A difference of fractions, such as "4.5 points"."""
    if not isfinite(fraction):
        return NOT_KNOWN
    text = signed(100 * fraction, 1)
    return f"{text} point{'' if text.lstrip(MINUS) == '1.0' else 's'}"


def number(value: float, digits: int = 3) -> str:
    """A number with at least ``digits`` significant digits, and all digits before the decimal point."""
    if not isfinite(value):
        return NOT_KNOWN
    size = abs(value)
    if size >= LARGE or 0 < size < SMALL:
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        return f"{mantissa}e{int(exponent)}".replace("-", MINUS)
    return signed(value, decimals_for(size, digits))


def hundredths(value: float) -> str:
    """A number with two decimals."""
    return signed(value, 2) if isfinite(value) else NOT_KNOWN


def whole(count: float) -> str:
    """Such as "12,345"."""
    return signed(count, 0) if isfinite(count) else NOT_KNOWN


def significant(value: object, digits: int = 4) -> str:
    """A float as briefly as ``digits`` significant digits allow; anything else as it is."""
    return f"{value:.{digits}g}" if isinstance(value, float | np.floating) else str(value)


def fixed(value: float, decimals: int) -> str:
    """A number in a column of a plain-text table."""
    return "-" if value != value else f"{value:.{decimals}f}"


def p_value(value: float) -> str:
    """Such as "0.03", or "< 0.0001" for anything smaller."""
    if not isfinite(value):
        return NOT_KNOWN
    return f"< {MIN_P_VALUE}" if value < MIN_P_VALUE else f"{value:.2g}"


def p_value_in_words(value: float) -> str:
    """Such as "p = 0.03" or "p < 0.0001"."""
    return f"p < {MIN_P_VALUE}" if value < MIN_P_VALUE else f"p = {value:.2g}"


def duration(seconds: float) -> str:
    """Such as "0.4 s", "12 s" or "2 min 5 s"."""
    if not isfinite(seconds):
        return NOT_KNOWN
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def rounded_up(fraction: float) -> str:
    """Three digits, never less than the fraction except for rounding noise: a guarantee must not be overstated."""
    noiseless = Context(prec=12).create_decimal(fraction)
    return f"{float(Context(prec=3, rounding=ROUND_CEILING).plus(noiseless)):.3g}"


def counted(count: int, noun: str) -> str:
    """Such as "1 row" or "2,000 rows"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def shortened(text: str, max_letters: int) -> str:
    """Text without its middle if it is long: names often differ at their ends."""
    if len(text) <= max_letters:
        return text
    return f"{text[: max_letters // 2]}…{text[len(text) - (max_letters - max_letters // 2 - 1) :]}"


def one_line(name: str, max_letters: int = MAX_NAME_LETTERS) -> str:
    """A name without line breaks, shortened if it is long."""
    return shortened(" ".join(str(name).split()) or "(no name)", max_letters)


def decimals_for(size: float, digits: int) -> int:
    """The decimals of a number with so many significant digits."""
    return min(8, max(0, digits - 1 - floor(log10(size)))) if size > 0 else digits - 1


def signed(value: float, decimals: int) -> str:
    """A number with a true minus sign, and without a sign if it is rounded to zero."""
    text = f"{value:,.{decimals}f}"
    if not text.strip("-0.,"):
        text = text.lstrip("-")
    return text.replace("-", MINUS)
