"""Labels of classes and of categories: text, numbers and booleans."""

from math import isfinite
from typing import Any

import numpy as np

from surefoot.model_io.archive import Archive
from surefoot.model_io.fields import IN_A_MEMBER, Many
from surefoot.model_io.model_json import require

LABEL_KINDS = {np.dtype(name).newbyteorder("<").str for name in ("?", *np.typecodes["AllInteger"], "e", "f", "d")}
MAX_CODE_POINT = 0x10FFFF
MAX_WIDTH = 4000  # bytes of the longest label in an array of text: every predicted row would have as many


def is_plain(value: Any) -> bool:
    """Whether the value is a scalar that JSON can represent."""
    return isinstance(value, str | bool | int) or (isinstance(value, float) and isfinite(value))


class Label:
    """One label."""

    kinds = (str, bool, int, float)  # that JSON has: all of them are labels

    def write(self, value: Any, path: str, arrays: dict[str, np.ndarray]) -> Any:
        value = value.item() if isinstance(value, np.generic) else value
        require(
            is_plain(value),
            f"its class or category {value!r} is neither text nor a number nor a boolean: convert it before fit",
        )
        return value

    def read(self, stored: Any, path: str, archive: Archive) -> str | bool | int | float:
        require(is_plain(stored), f"{path} must be text, a number or a boolean")
        return stored


class Classes:
    """The classes of a model, sorted: an array of any type that labels may have."""

    def write(self, value: np.ndarray, path: str, arrays: dict[str, np.ndarray]) -> Any:
        if not _is_label_kind(value.dtype):
            return Many(Label()).write(value.tolist(), path, arrays)
        arrays[path] = value
        return IN_A_MEMBER

    def read(self, stored: Any, path: str, archive: Archive) -> np.ndarray:
        if stored == IN_A_MEMBER:
            classes = archive.array(path, 1, _is_label_kind)
            is_text = classes.dtype.kind == "U"
            require(not is_text or classes.view(np.uint32).max(initial=0) <= MAX_CODE_POINT, f"{path} has invalid text")
            if is_text and classes.dtype.itemsize > MAX_WIDTH:
                classes = classes.astype(object)
        else:
            classes = np.array(Many(Label()).read(stored, path, archive), dtype=object)
            require(classes.ndim == 1, f"{path} must be a list")
        require(len(classes) >= 2 and _increase(classes), f"{path} must be at least two labels, in increasing order")
        return classes


def _is_label_kind(kind: np.dtype) -> bool:
    return kind.newbyteorder("<").str in LABEL_KINDS or (kind.kind == "U" and kind.itemsize > 0)


def _increase(labels: np.ndarray) -> bool:
    try:
        return bool((labels[:-1] < labels[1:]).all())
    except TypeError:  # text and numbers
        return False
