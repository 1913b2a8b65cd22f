"""The JSON of model files."""

import json
from typing import Any

from surefoot._exceptions import ModelFileError
from surefoot._strict_json import UnreadableJsonError
from surefoot._strict_json import read_json as read_strict_json

MAX_CONTAINERS, MAX_VALUES = 1 << 20, 1 << 22


def write_json(value: Any) -> bytes:
    """The JSON of a value, with sorted keys: equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, allow_nan=False).encode("ascii")


def read_json(text: bytes) -> Any:
    """Parse standard JSON; anything else is refused as a damaged model file.

    An empty list takes three bytes of a file and thirty times as many of memory, so parts are counted before.
    """
    n_containers = text.count(b"[") + text.count(b"{")
    require(n_containers <= MAX_CONTAINERS and text.count(b",") <= MAX_VALUES, "its JSON has more parts than any model")
    try:
        return read_strict_json(text)
    except UnreadableJsonError as error:
        raise ModelFileError(str(error)) from error


def require(condition: Any, message: str) -> None:
    """Refuse a file unless ``condition`` is true; ``message`` says what is wrong with the file or a part of it."""
    if not condition:
        raise ModelFileError(message)
