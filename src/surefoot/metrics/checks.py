"""Checks of the arguments of metrics: one valid value for each row."""

from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot._numbers import array_of, naming, real_numbers
from surefoot._row_values import has_missing_labels, refuse_impossible_weights, scale_weights

SUM_TOLERANCE = 1e-4  # for the sum of a row's probabilities


def check_numbers(name: str, values: Any, n_rows: int | None = None, *, infinite_allowed: bool = False) -> np.ndarray:
    """One number per row as float64; ``n_rows`` is the required number of rows, None if any number is allowed."""
    array = _one_per_row(name, values, n_rows)
    if array.dtype.kind not in "biufO":
        raise DataError(f"{name} must be numbers, got an array of dtype {array.dtype}.", argument=name)
    numbers = np.array(real_numbers(name, array))
    if np.isnan(numbers).any():
        raise DataError(f"{name} contains NaN: leave out the rows that have no value.")
    if not infinite_allowed and np.isinf(numbers).any():
        raise DataError(f"{name} contains infinity: all values must be finite.")
    return numbers


def check_row_labels(name: str, values: Any, n_rows: int | None = None) -> np.ndarray:
    """One label per row: strings, booleans or whole numbers; fractions are an error."""
    labels = _one_per_row(name, values, n_rows)
    if has_missing_labels(labels):
        raise DataError(f"{name} contains NaN: every row needs a label; leave out the rows that have none.")
    if labels.dtype.kind == "O":
        with naming(name):  # a list or an array is no label
            set(labels.tolist())
    if labels.dtype.kind == "f" and (labels != np.trunc(labels)).any():
        raise DataError(f"{name} contains fractions: pass labels of classes, not probabilities or measurements.")
    return labels


def check_row_weights(sample_weight: Any, n_rows: int, name: str = "sample_weight") -> np.ndarray:
    """Weights as float64, the largest about 1; all 1 if there are none."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = check_numbers(name, sample_weight, n_rows)
    refuse_impossible_weights(weights, name)
    return scale_weights(weights)


def weighted_mean(values: np.ndarray, weights: np.ndarray) -> float:
    """Weighted mean over the rows with weight: an infinite value on a row of weight 0 is ignored."""
    rows = weights > 0
    with np.errstate(over="ignore"):
        total = values[rows] @ weights[rows]
    if np.isinf(total):  # the mean may be finite though the sum is not
        return float(values[rows] @ (weights[rows] / weights[rows].sum()))
    return float(total / weights[rows].sum())


def _one_per_row(name: str, values: Any, n_rows: int | None) -> np.ndarray:
    array = array_of(name, values)
    if array.ndim != 1:
        raise DataError(f"{name} must be one-dimensional, one value per row; got shape {array.shape}.")
    if len(array) == 0:
        raise DataError(f"{name} is empty: at least one row is needed.")
    if n_rows is not None and len(array) != n_rows:
        raise DataError(f"{name} has {len(array)} values for {n_rows} rows: one value per row is needed.")
    return array


def check_probabilities(y_true: Any, prediction: Any, labels: Any) -> tuple[np.ndarray, np.ndarray, list[Any]]:
    """The column of each row's true class, the probabilities as float64, and the classes of the columns."""
    probabilities = array_of("prediction", prediction)
    if probabilities.ndim != 2 or probabilities.dtype.kind not in "biuf":
        raise DataError(
            "prediction must be a distribution or probabilities of shape (rows, classes); "
            f"got {type(prediction).__name__} of shape {probabilities.shape}."
        )
    truth = check_row_labels("y_true", y_true)
    if len(probabilities) != len(truth):
        raise DataError(f"prediction has {len(probabilities)} rows, but y_true has {len(truth)}.")
    probabilities = probabilities.astype(np.float64)
    if not (np.abs(probabilities.sum(axis=1) - 1) <= SUM_TOLERANCE).all() or (probabilities < 0).any():
        raise DataError("prediction must be probabilities: not negative, and in each row their sum is 1.")
    classes = _column_classes(truth, labels, probabilities.shape[1])
    columns = {label: column for column, label in enumerate(classes)}
    if len(columns) < len(classes):
        raise DataError("labels contains a class twice: one label per column is needed.")
    for label in set(truth.tolist()):
        if label not in columns:
            raise DataError(f"y_true contains {label!r}, which is not in labels.")
    return np.array([columns[label] for label in truth.tolist()]), probabilities, classes


def _column_classes(truth: np.ndarray, labels: Any, n_columns: int) -> list[Any]:
    if labels is not None:
        classes = check_row_labels("labels", labels).tolist()
        if len(classes) != n_columns:
            raise DataError(f"labels has {len(classes)} classes for {n_columns} columns: give one per column.")
        return classes
    try:
        classes = np.unique(truth).tolist()
    except TypeError as error:
        raise DataError(f"y_true mixes labels that cannot be compared ({error}): pass labels.") from error
    if len(classes) != n_columns:
        raise DataError(
            f"y_true has {len(classes)} classes for {n_columns} columns of prediction: "
            "pass the model's classes_ as labels."
        )
    return classes
