"""The values by which an exported model recognises categories."""

from collections.abc import Hashable, Sequence

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot.data.category_matching import spellings
from surefoot.data.columns import Schema
from surefoot.model_io.labels import is_plain
from surefoot.uncertainty.training_table import Encoding

MISSING_TEXTS = ("", "nan", "NaN", "None", "<NA>")  # what str() and files make of a missing value


def is_text(labels: Sequence[Hashable]) -> bool:
    """Whether the categories of a column are passed as text."""
    return any(isinstance(label, str) for label in labels)


def text_codes(labels: Sequence[Hashable]) -> dict[str, int]:
    """The code of each text that means a category: its label, or a spelling of a number or a truth value."""
    codes: dict[str, int] = {}
    for code, label in enumerate(labels):
        for text in spellings(label):
            codes.setdefault(text, code)
    return codes | {label: code for code, label in enumerate(labels) if isinstance(label, str)}


def missing_texts(labels: Sequence[Hashable]) -> list[str]:
    """The texts that stand for a missing value: those that mean no category."""
    known = text_codes(labels)
    return [text for text in MISSING_TEXTS if text not in known]


def number_codes(labels: Sequence[Hashable], dtype: type, column: str) -> np.ndarray:
    """The categories as numbers of a type; they must stay different numbers."""
    exact = np.array(labels, dtype=np.float64)
    numbers: np.ndarray = exact.astype(dtype)
    if (numbers != exact).any() or len(np.unique(numbers)) < len(numbers):
        advice = "pass dtype='float64'" if dtype is np.float32 else "make them text before fit"
        message = f"the categories of column {column!r} are not different numbers in {dtype.__name__}: {advice}."
        raise ParameterError(message, argument="dtype")
    return exact


def check_labels(schema: Schema, names: Sequence[str], user: str) -> None:
    """Refuse categories that are neither text nor numbers nor truth values."""
    for j, labels in schema.categories.items():
        for label in labels:
            if not is_plain(label):
                message = f"{user} cannot write the category {label!r} of column {names[j]!r}: make it text before fit."
                raise ParameterError(message, argument="model")


def statistic_columns(encoding: Encoding, places: Sequence[int]) -> list[int]:
    """The columns of the table that a statistic reads, from their places in its codes."""
    return [(encoding.many + encoding.few)[place] for place in places]
