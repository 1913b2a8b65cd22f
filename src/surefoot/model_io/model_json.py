"""The JSON of model files."""

import json
from typing import Any

from surefoot._exceptions import ModelFileError
from surefoot._strict_json import UnreadableJsonError
from surefoot._strict_json import read_json as read_strict_json


def write_json(value: Any) -> bytes:
    """The JSON of a value, with sorted keys: equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, allow_nan=False).encode("ascii")


def read_json(text: bytes) -> Any:
    """Parse standard JSON; anything else is refused as a damaged model file."""
    try:
        return read_strict_json(text)
    except UnreadableJsonError as error:
        raise ModelFileError(str(error)) from error


def require(condition: Any, message: str) -> None:
    """Refuse a file unless ``condition`` is true; ``message`` says what is wrong with the file or a part of it."""
    if not condition:
        raise ModelFileError(message)
