"""Which category of a fitted model a value means, whatever type the value comes in."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from surefoot._exceptions import UnknownCategoryWarning, warn_caller

UNKNOWN = -1.0  # the code of a category that was not there when the model was fitted
SPELLINGS = {True: ("True", "true", "TRUE"), False: ("False", "false", "FALSE")}
TRUTH = {text: value for value, texts in SPELLINGS.items() for text in texts}
MAX_EXAMPLES = 3


def plain_label(label: Any) -> Hashable:
    """A category as a plain Python value; a missing value among whole numbers makes floats of them, so 1.0 is 1."""
    label = label.item() if isinstance(label, np.generic) else label
    return int(label) if isinstance(label, float) and label.is_integer() else label


def match_labels(labels: Sequence[Hashable], known: Sequence[Hashable]) -> np.ndarray:
    """For each label its place among ``known``, or ``UNKNOWN``.

    A label equal to a known one is that one. Otherwise types may differ and the meaning decides: the number 1, the text
    "1" and, where the known one is a number, the text "1.0" are one category, and so are True and "true". Two other
    texts are the same category only if they are equal: "001" is not "1".
    """
    codes = {label: code for code, label in enumerate(known)}
    texts: dict[str, int] = {}
    for label, code in codes.items():
        for text in _spellings(label):
            texts.setdefault(text, code)
    has_numbers = any(isinstance(label, int | float) for label in known)
    places = [_place(label, codes, texts, has_numbers) for label in labels]
    return np.array([UNKNOWN if place is None else place for place in places], dtype=np.float32)


def _place(label: Hashable, codes: dict[Hashable, int], texts: dict[str, int], has_numbers: bool) -> int | None:
    if label in codes:
        return codes[label]
    if isinstance(label, str):
        return texts.get(label, codes.get(_number(label)) if has_numbers else None)
    return next((codes[text] for text in _spellings(label) if text in codes), None)


def _spellings(label: Hashable) -> tuple[str, ...]:
    """How a number or a truth value may be written; there is one way to write any other text."""
    if isinstance(label, str):
        return SPELLINGS[TRUTH[label]] if label in TRUTH else ()
    if isinstance(label, bool):
        return SPELLINGS[label]
    if isinstance(label, int):
        return (str(label), f"{label}.0")
    return (repr(label),) if isinstance(label, float) else ()


def _number(text: str) -> float | None:
    """The number that a text is, as a file may have it; Python's own 1_000 is none."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def warn_if_all_unknown(column: str, codes: np.ndarray, known: Sequence[Hashable], labels: Sequence[Hashable]) -> None:
    """A warning if a column has values and none of them is known: nearly always its type has changed.

    ``labels`` are those of the column, for the message.
    """
    seen = codes[~np.isnan(codes)]
    if not len(known) or not len(seen) or not (seen == UNKNOWN).all():
        return
    warn_caller(
        f"{column} of X has none of the categories that the model was fitted to: all {len(seen):,} values count as "
        f"missing. It had {_examples(known)}; now it has {_examples(labels)}. Are they of the same type and spelling?",
        UnknownCategoryWarning,
    )


def _examples(labels: Sequence[Hashable]) -> str:
    return ", ".join(map(repr, labels[:MAX_EXAMPLES])) + (", ..." if len(labels) > MAX_EXAMPLES else "")
