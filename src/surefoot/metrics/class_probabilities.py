"""Predicted probabilities of classes, checked against the labels they are for."""

from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot.metrics.checks import check_row_labels

SUM_TOLERANCE = 1e-4  # of the probabilities of a row


def check_probabilities(y_true: Any, prediction: Any, labels: Any) -> tuple[np.ndarray, np.ndarray, list[Any]]:
    """The column of each row's own class, the probabilities as float64, and the classes of the columns."""
    truth = check_row_labels("y_true", y_true)
    probabilities = np.asarray(prediction)
    if probabilities.ndim != 2 or probabilities.dtype.kind not in "biuf":
        raise DataError(
            "prediction must be a distribution or probabilities of shape (rows, classes); "
            f"got {type(prediction).__name__} of shape {probabilities.shape}."
        )
    if len(probabilities) != len(truth):
        raise DataError(f"prediction has {len(probabilities)} rows, but y_true has {len(truth)}.")
    probabilities = probabilities.astype(np.float64)
    if not (np.abs(probabilities.sum(axis=1) - 1) <= SUM_TOLERANCE).all() or (probabilities < 0).any():
        raise DataError("prediction must be probabilities: not negative, and in each row their sum is 1.")
    classes = _column_classes(truth, labels, probabilities.shape[1])
    columns = {label: column for column, label in enumerate(classes)}
    if len(columns) < len(classes):
        raise DataError("labels names a class twice: one label per column is needed.")
    for label in set(truth.tolist()):
        if label not in columns:
            raise DataError(f"y_true holds {label!r}, which is not among labels.")
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
