"""What all labels and weights of rows have in common: how a label is missing, and which weights are refused."""

from typing import Any

import numpy as np

from surefoot._exceptions import DataError


def has_missing_labels(labels: np.ndarray) -> bool:
    """Whether a label is None, NaN, or a value such as pandas' NA."""
    if labels.dtype.kind == "O":
        return any(map(_is_missing, labels))
    return labels.dtype.kind == "f" and bool(np.isnan(labels).any())


def _is_missing(label: Any) -> bool:
    """Whether a label is None, or cannot be compared with itself."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True


def refuse_impossible_weights(weights: np.ndarray, name: str) -> None:
    """Raise an error if a weight is negative, or if all of them are zero."""
    if (weights < 0).any():
        raise DataError(f"{name} has negative values: weights must be 0 or more.", argument=name)
    if not (weights > 0).any():
        raise DataError(f"{name} is zero for every row: at least one row must count.", argument=name)


def scale_weights(weights: np.ndarray) -> np.ndarray:
    """Weights divided by a power of two, so that the largest is about 1: it is exact, and no sum overflows."""
    return np.ldexp(weights, -np.frexp(weights.max())[1])
