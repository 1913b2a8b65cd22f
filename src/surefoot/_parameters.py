"""Checks of parameters: an error names the parameter, the allowed values and the given value."""

from collections.abc import Collection
from math import inf, isfinite
from typing import Any, Literal

import numpy as np

from surefoot._exceptions import ParameterError

MAX_INTEGER = 2**63 - 1
FLOAT_LIMIT = int(np.finfo(np.float64).max)
NOT_NUMBERS = (bool, np.timedelta64, np.complexfloating)  # Python and NumPy count them among the numbers
MAX_SEED = 2**32 - 1  # of NumPy's RandomState


def check_seed(name: str, value: Any) -> int:
    """``value`` if it is a whole number that random numbers can start from."""
    return check_integer(name, value, 0, MAX_SEED)


def check_integer(name: str, value: Any, min_value: int, max_value: float | None = None) -> int:
    """``value`` if it is a whole number from ``min_value`` to ``max_value`` (None: the largest that NumPy counts)."""
    if isinstance(value, NOT_NUMBERS) or not isinstance(value, int | np.integer):
        raise ParameterError(f"{name} must be a whole number, got {value!r}.", argument=name)
    if max_value is None and abs(int(value)) > MAX_INTEGER:  # too long to be shown, and to be counted
        raise ParameterError(f"{name} must be at most 2**63 - 1 in absolute value.", argument=name)
    if value < min_value or (max_value is not None and value > max_value):
        limits = f"{min_value} or more" if max_value in (None, inf) else f"between {min_value} and {max_value}"
        raise ParameterError(f"{name} must be {limits}, got {value!r}.", argument=name)
    return int(value)


def check_number(
    name: str,
    value: Any,
    min_value: float,
    max_value: float,
    *,
    include_boundaries: Literal["left", "right", "both", "neither"],
) -> float:
    """``value`` if it is a finite number from ``min_value`` to ``max_value``, with or without these two."""
    is_number = isinstance(value, float | int | np.number) and not isinstance(value, NOT_NUMBERS)
    if is_number and isinstance(value, int) and abs(value) > FLOAT_LIMIT:
        raise ParameterError(f"{name} must be a number that is not too large for a float.", argument=name)
    if not is_number or not isfinite(value):
        raise ParameterError(f"{name} must be a finite number, got {value!r}.", argument=name)
    has_min, has_max = include_boundaries in ("left", "both"), include_boundaries in ("right", "both")
    is_inside = min_value < value < max_value or (has_min and value == min_value) or (has_max and value == max_value)
    if not is_inside:
        limits = f"{'at least' if has_min else 'above'} {min_value} and {'at most' if has_max else 'below'} {max_value}"
        raise ParameterError(f"{name} must be {limits}, got {value!r}.", argument=name)
    return float(value)


def check_boolean(name: str, value: Any) -> bool:
    """``value`` if it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be True or False, got {value!r}.", argument=name)
    return bool(value)


def check_boolean_or(name: str, value: Any, *choices: str) -> bool | str:
    """``value`` if it is True, False or one of ``choices``."""
    if isinstance(value, str) and value in choices:
        return value
    if not isinstance(value, bool | np.bool_):
        words = " or ".join(map(repr, choices))
        raise ParameterError(f"{name} must be True, False or {words}, got {value!r}.", argument=name)
    return bool(value)


def is_one_of(value: Any, options: Collection[Any]) -> bool:
    """Whether ``value`` is among ``options``; arrays and frames, which have no single answer, are not."""
    try:
        return value in options
    except (TypeError, ValueError):
        return False


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """``value`` if it is one of ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.", argument=name)
    return value
