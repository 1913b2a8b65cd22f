"""Standard JSON with a limited depth, for files that anyone may have written."""

import json
import sys
from math import isfinite
from typing import Any

import numpy as np

MAX_DEPTH = 20
MAX_DIGITS = 320  # a whole number that a float can hold has at most 309
TOO_LARGE = "its JSON has a number that is too large"
STEPS = bytes({"[": 1, "{": 1, "]": 255, "}": 255}.get(chr(sign), 0) for sign in range(256))  # 255 is -1 in a byte


class UnreadableJsonError(ValueError):
    """JSON that is not read; the message says what is wrong with it."""


def read_json(text: bytes) -> Any:
    """Parse JSON; NaN and infinity, numbers too large for a float, repeated keys and deep nesting are refused."""
    _require(_depth(text) <= MAX_DEPTH, f"its JSON is nested more than {MAX_DEPTH} deep")
    try:
        return json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_without_repeats,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_whole,
        )
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise UnreadableJsonError(f"its JSON cannot be read: {error}") from error


def _depth(text: bytes) -> int:
    """The nesting depth of brackets outside of strings; time and memory are linear in the length of the text."""
    plain = text.replace(rb"\\", b"").replace(rb"\"", b"")  # now every quote starts or ends a string
    n_quotes = (np.frombuffer(plain, dtype=np.uint8) == ord('"')).cumsum(dtype=np.uint8)  # odd inside a string
    steps = np.frombuffer(plain.translate(STEPS), dtype=np.int8) * (n_quotes % 2 == 0)
    return int(steps.cumsum(dtype=np.int32).max(initial=0))


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    _require(len(result) == len(pairs), "its JSON repeats a key")
    return result


def _no_constant(name: str) -> Any:
    raise UnreadableJsonError(f"its JSON has the constant {name}, which is not valid JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    _require(isfinite(number), TOO_LARGE)
    return number


def _whole(digits: str) -> int:
    _require(len(digits) <= MAX_DIGITS and abs(int(digits)) <= sys.float_info.max, TOO_LARGE)
    return int(digits)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise UnreadableJsonError(message)
