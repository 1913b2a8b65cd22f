"""Checks of parameters: an error names the parameter, the allowed values and the given value."""

from math import isfinite
from typing import Any

import numpy as np

from surefoot._exceptions import ParameterError


def check_integer(name: str, value: Any, least: int, most: int | None = None) -> int:
    """``value`` if it is a whole number from ``least`` to ``most``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ParameterError(f"{name} must be a whole number, got {value!r}.", argument=name)
    if value < least or (most is not None and value > most):
        limits = f"{least} or more" if most is None else f"between {least} and {most}"
        raise ParameterError(f"{name} must be {limits}, got {value!r}.", argument=name)
    return int(value)


def check_number(
    name: str, value: Any, least: float, most: float, *, least_included: bool = False, most_included: bool
) -> float:
    """``value`` if it is a number above (or at) ``least`` and below (or at) ``most``."""
    if isinstance(value, bool) or not isinstance(value, float | int | np.number) or not isfinite(value):
        raise ParameterError(f"{name} must be a finite number, got {value!r}.", argument=name)
    inside = least < value < most or (least_included and value == least) or (most_included and value == most)
    if not inside:
        limits = (
            f"{'at least' if least_included else 'above'} {least} and {'at most' if most_included else 'below'} {most}"
        )
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


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """``value`` if it is one of ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.", argument=name)
    return value
