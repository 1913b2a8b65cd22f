"""The target of an audit: classes or numbers, and the loss of a prediction."""

from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from surefoot._exceptions import DataError
from surefoot._numbers import array_of
from surefoot._parameters import check_choice
from surefoot.report.checks.count_target import looks_like_counts

BINARY, CLASSES, REGRESSION = "binary", "classes", "regression"
TASKS = (BINARY, CLASSES, REGRESSION)
MAX_WHOLE_CLASSES = 10  # whole numbers with at most so many distinct values are treated as classes
MAX_CLASSES = 200
RARE = 0.1  # of two classes, one with a smaller fraction of the rows is rare
LARGEST, SMALLEST = 1e70, 1e-70  # fourth powers of numbers in between are finite, and not 0
LARGEST_WHOLE = 2.0**53
NUMBER_TYPES = "iuf"  # kinds of arrays
WIDEST = {"i": np.int64, "f": np.float64}


@dataclass(frozen=True)
class Target:
    """``y`` as floats (regression) or as codes into the sorted ``classes``."""

    name: str
    task: str
    y: np.ndarray
    classes: np.ndarray
    sentence: str  # how the task was detected
    original: np.ndarray  # the values as they were passed, for a user's own model
    weights: np.ndarray | None = None  # how much each row counts, with a mean of 1; None: every row the same

    @classmethod
    def read(cls, y: Any, n_rows: int, task: str | None = None) -> tuple["Target", np.ndarray]:
        """The target without its missing values, and which rows have a value."""
        if task is not None:
            check_choice("task", task, TASKS)
        known = cls.has_value(y, n_rows)
        name, values = _values(y)
        values = values[known]
        if not len(values):
            raise DataError("y has no value in any row: choose another target.", argument="y")
        numbers = _as_numbers(values)
        detected, sentence = _detect(numbers) if task is None else (task, f"the task {task} was requested")
        if detected == REGRESSION:
            return cls._of_numbers(name, values, numbers, sentence), known
        return cls._of_labels(name, values, task, sentence), known

    @staticmethod
    def has_value(y: Any, n_rows: int) -> np.ndarray:
        """Which rows of a target have a value."""
        values = _values(y)[1]
        if len(values) != n_rows:
            raise DataError(f"y has {len(values)} rows, but X has {n_rows}.", argument="y")
        return has_value(values)

    @classmethod
    def _of_numbers(cls, name: str, values: np.ndarray, numbers: np.ndarray | None, sentence: str) -> "Target":
        if numbers is None:
            raise DataError("y has values that are not numbers: it cannot be the target of a regression.", argument="y")
        if not np.isfinite(numbers).all():
            raise DataError("y has infinite values: leave these rows out.", argument="y")
        if np.abs(numbers).max() > LARGEST:
            message = f"y has numbers beyond {LARGEST:g}, too large for squared errors: change its unit."
            raise DataError(message, argument="y")
        if np.ptp(numbers) == 0:
            raise DataError(f"y is {numbers[0]:g} in every row: there is nothing to predict.", argument="y")
        if np.ptp(numbers) < SMALLEST:
            message = f"y has numbers that differ by less than {SMALLEST:g}, too little for squared errors"
            raise DataError(f"{message}: change its unit.", argument="y")
        return cls(name, REGRESSION, numbers, np.empty(0, dtype=object), sentence, _original(values))

    @classmethod
    def _of_labels(cls, name: str, values: np.ndarray, task: str | None, sentence: str) -> "Target":
        labels = np.array(_plain_labels(values))
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise DataError(
                f"y is {str(classes[0])!r} in every row that has a value (NA and similar words count as missing): with "
                "one class there is nothing to predict.",
                argument="y",
            )
        if len(classes) > MAX_CLASSES:
            raise DataError(
                f"y has {len(classes):,} distinct values, and not all are numbers: too many classes for an audit (at "
                f"most {MAX_CLASSES}). Is it the right column?",
                argument="y",
            )
        if task == BINARY and len(classes) > 2:
            raise DataError(f"task='binary', but y has {len(classes)} classes.", argument="task")
        return cls(name, BINARY if len(classes) == 2 else CLASSES, codes, classes, sentence, _original(values))

    @property
    def is_classes(self) -> bool:
        return self.task != REGRESSION

    @property
    def rare(self) -> int | None:
        """The code of the rarer of two classes, if few rows belong to it."""
        if self.task != BINARY:
            return None
        counts = np.bincount(self.y, self.weights, minlength=2)
        return int(counts.argmin()) if counts.min() < RARE * counts.sum() else None

    def class_fractions(self) -> np.ndarray:
        """The fraction of each class; none for numbers."""
        if not self.is_classes:
            return np.empty(0)
        counts = np.bincount(self.y, self.weights, minlength=len(self.classes))
        return np.asarray(counts / counts.sum())

    def spread(self, rows: np.ndarray) -> float:
        """The standard deviation of numbers, or of the indicator of the second class."""
        values = self.y[rows] == 1 if self.is_classes else self.y[rows]
        if self.weights is None:
            return float(np.std(values))
        mean = np.average(values, weights=self.weights[rows])
        return float(np.sqrt(np.average((values - mean) ** 2, weights=self.weights[rows])))

    @property
    def labels(self) -> np.ndarray:
        """Labels, or numbers, as models are fitted to them."""
        return self.classes[self.y] if self.is_classes else self.y

    def of_rows(self, rows: np.ndarray) -> "Target":
        """The target of some rows, with all its classes."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, y=self.y[rows], original=self.original[rows], weights=weights)

    def read_predictions(self, predicted: Any, n_rows: int, name: str) -> np.ndarray:
        """A user's predictions as labels or numbers; for two classes, probabilities of the second are accepted."""
        values = _values(predicted)[1]
        if len(values) != n_rows:
            message = f"{name} has {len(values)} rows, but there are {n_rows} to predict."
            raise DataError(message, argument="predictions")
        numbers = _as_numbers(values)
        if not self.is_classes:
            if numbers is None or not np.isfinite(numbers).all():
                message = f"{name} has values that are not finite numbers, but the target is a number."
                raise DataError(message, argument="predictions")
            return numbers
        labels = np.array(_plain_labels(values))
        if labels.dtype.kind == self.classes.dtype.kind and np.isin(labels, self.classes).all():
            return labels
        if self.task == BINARY and numbers is not None and ((numbers >= 0) & (numbers <= 1)).all():
            return self.classes[(numbers >= 0.5).astype(int)]
        unknown = sorted({str(label) for label in labels} - {str(label) for label in self.classes})[:3]
        message = f"{name} has values that are not a class of the target: {', '.join(unknown)}."
        raise DataError(message, argument="predictions")

    def read_scores(self, predicted: Any) -> np.ndarray | None:
        """Predictions for two classes as numbers that rank rows, if they are probabilities rather than labels."""
        values = _values(predicted)[1]
        numbers = _as_numbers(values) if self.task == BINARY else None
        if numbers is None or (numbers == np.floor(numbers)).all() or self._are_classes(values):
            return None
        return numbers

    def _are_classes(self, values: np.ndarray) -> bool:
        return bool(np.isin(self.text_of(values), self.classes.astype(str)).all())

    def has_any(self, values: np.ndarray) -> bool:
        """Whether any of the labels is a class of this target."""
        return bool(np.isin(self.text_of(values), self.classes.astype(str)).any())

    @staticmethod
    def text_of(labels: Any) -> np.ndarray:
        """Labels of any type as text, so that they can be compared."""
        return np.array(_plain_labels(as_objects(labels))).astype(str)

    def is_second(self, values: np.ndarray) -> np.ndarray:
        """Which of the labels are the second class."""
        return self.text_of(values) == str(self.classes[1])

    def losses(self, predicted: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """Loss of each row: whether the label is wrong, or the squared error.

        ``truth`` may have classes that the table does not have.
        """
        if self.is_classes:
            return np.asarray(predicted.astype(str) != self.text_of(truth))
        return np.square(predicted.astype(np.float64) - truth.astype(np.float64))


def _values(y: Any) -> tuple[str, np.ndarray]:
    """The name of the target and its values as objects; an array of numbers stays one, because it may be large."""
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in NUMBER_TYPES:
        return "y", y
    name = getattr(y, "name", None)
    shape = array_of("y", y).shape
    if len(shape) == 2 and shape[1] == 1:
        y = np.asarray(y)[:, 0]
    elif len(shape) != 1:
        raise DataError(f"y must have one dimension, got {len(shape)}.", argument="y")
    return str(name) if isinstance(name, str) and name else "y", as_objects(y)


def as_objects(values: Any) -> np.ndarray:
    """A list, an array or a series as an array of Python objects; missing values are kept."""
    series = nw.from_native(values, allow_series=True, pass_through=True)
    listed = series.to_list() if isinstance(series, nw.Series) else list(values)
    objects = np.empty(len(listed), dtype=object)
    objects[:] = listed
    return objects


def has_value(values: np.ndarray) -> np.ndarray:
    """Which of the objects are not missing."""
    import pandas as pd

    return np.asarray(~pd.isna(values))


def _original(values: np.ndarray) -> np.ndarray:
    """The values in the widest type of their kind."""
    return (
        values.astype(WIDEST[values.dtype.kind], copy=False)
        if values.dtype.kind in WIDEST
        else np.array(values.tolist())
    )


def _as_numbers(values: np.ndarray) -> np.ndarray | None:
    if values.dtype.kind in NUMBER_TYPES:
        return values.astype(np.float64, copy=False)
    if any(isinstance(value, bool | np.bool_ | str) for value in values):
        return None
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        return None


def _detect(numbers: np.ndarray | None) -> tuple[str, str]:
    """The task, and how it was detected."""
    if numbers is None:
        return CLASSES, "the target is not a number, so its values are treated as classes"
    n_values = len(np.unique(numbers))
    are_whole = bool(np.isfinite(numbers).all() and np.all(numbers == np.floor(numbers)))
    if n_values == 2:
        return CLASSES, "the target has two values, so they are treated as classes"
    if are_whole and n_values <= MAX_WHOLE_CLASSES:
        if looks_like_counts(numbers):
            counts = f"the target has {n_values} distinct whole numbers from 0, distributed like counts"
            return REGRESSION, f"{counts}, so they are treated as numbers (as classes with the task classes)"
        labels = f"the target has {n_values} distinct whole numbers, so they are treated as classes"
        return CLASSES, f"{labels} (as numbers with the task regression)"
    return REGRESSION, "the target is a number with many distinct values"


def _plain_labels(values: np.ndarray) -> np.ndarray | list[Any]:
    """Labels as whole numbers if all of them are, else as text."""
    numbers = _as_numbers(values)
    if values.dtype.kind in NUMBER_TYPES and numbers is not None and (np.abs(numbers) < LARGEST_WHOLE).all():
        whole = numbers.astype(np.int64)
        if (whole == numbers).all():
            return whole
    if numbers is not None and np.isfinite(numbers).all() and np.all(numbers == np.floor(numbers)):
        return [int(value) for value in numbers]
    return [str(value) for value in values]
