"""Match values of any type with the categories of a fitted model."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from surefoot._exceptions import UnknownCategoryWarning, warn_caller

UNKNOWN = -1.0  # the code of a category that is not in the training data
SPELLINGS = {True: ("True", "true", "TRUE"), False: ("False", "false", "FALSE")}
TRUTH = {text: value for value, texts in SPELLINGS.items() for text in texts}
MAX_EXAMPLES = 3


def plain_label(label: Any) -> Hashable:
    """A category as a Python value; 1.0 becomes 1, because missing values turn whole numbers into floats."""
    label = label.item() if isinstance(label, np.generic) else label
    return int(label) if isinstance(label, float) and label.is_integer() else label


def match_labels(labels: Sequence[Hashable], known: Sequence[Hashable]) -> np.ndarray:
    """For each label its position in ``known``, or ``UNKNOWN``.

    Equal labels match. Labels of different types match if they mean the same: the number 1 and the text "1" are one
    category, also the text "1.0" if the known label is a number, and so are True and "true". Two other texts match only
    if they are equal: "001" is not "1".
    """
    codes = {label: code for code, label in enumerate(known)}
    texts: dict[str, int] = {}
    for label, code in codes.items():
        for text in spellings(label):
            texts.setdefault(text, code)
    has_numbers = any(isinstance(label, int | float) for label in known)
    matches = [_match(label, codes, texts, has_numbers) for label in labels]
    return np.array([UNKNOWN if match is None else match for match in matches], dtype=np.float32)


def _match(label: Hashable, codes: dict[Hashable, int], texts: dict[str, int], has_numbers: bool) -> int | None:
    if label in codes:
        return codes[label]
    if isinstance(label, str):
        return texts.get(label, codes.get(_number(label)) if has_numbers else None)
    return next((codes[text] for text in spellings(label) if text in codes), None)


def spellings(label: Hashable) -> tuple[str, ...]:
    """The texts for a number or a truth value; other texts have no other spelling."""
    if isinstance(label, str):
        return SPELLINGS[TRUTH[label]] if label in TRUTH else ()
    if isinstance(label, bool):
        return SPELLINGS[label]
    if isinstance(label, int):
        return (str(label), f"{label}.0")
    return (repr(label),) if isinstance(label, float) else ()


def _number(text: str) -> float | None:
    """The number that a text stands for, if any; 1_000 is not a number outside of Python."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def warn_if_all_unknown(column: str, codes: np.ndarray, known: Sequence[Hashable], labels: Sequence[Hashable]) -> None:
    """Warn if a column has values and none of them is known: in most cases its type has changed.

    ``labels`` are those of the column, for the message.
    """
    present = codes[~np.isnan(codes)]
    if not len(known) or not len(present) or not (present == UNKNOWN).all():
        return
    warn_caller(
        f"{column} of X has none of the categories that the model was fitted to: all {len(present):,} values count as "
        f"missing. It had {_examples(known)}; now it has {_examples(labels)}. Are they of the same type and spelling?",
        UnknownCategoryWarning,
    )


def _examples(labels: Sequence[Hashable]) -> str:
    return ", ".join(map(repr, labels[:MAX_EXAMPLES])) + (", ..." if len(labels) > MAX_EXAMPLES else "")
