"""The target of an audit: classes or numbers, and how wrong a prediction of it is."""

from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from surefoot._exceptions import DataError
from surefoot._parameters import check_choice
from surefoot.report.checks.count_target import looks_like_counts

BINARY, CLASSES, REGRESSION = "binary", "classes", "regression"
TASKS = (BINARY, CLASSES, REGRESSION)
MAX_WHOLE_CLASSES = 10  # whole numbers with no more different values than this are taken for classes
MAX_CLASSES = 200
RARE = 0.1  # of two classes, one with a smaller share of the rows
LARGEST = 1e100


@dataclass(frozen=True)
class Target:
    """``y`` as floats (regression) or as codes into ``classes``, which are in order."""

    name: str
    task: str
    y: np.ndarray
    classes: np.ndarray
    sentence: str  # how the task was found
    original: np.ndarray  # the values as they came, for a user's own model

    @classmethod
    def read(cls, y: Any, n_rows: int, task: str | None = None) -> tuple["Target", np.ndarray]:
        """The target without its missing values, and which rows have one."""
        if task is not None:
            check_choice("task", task, TASKS)
        name, values = _values(y)
        if len(values) != n_rows:
            raise DataError(f"y has {len(values)} rows, but X has {n_rows}.")
        known = has_value(values)
        values = values[known]
        if not len(values):
            raise DataError("y has no value in any row: choose another target.")
        numbers = _as_numbers(values)
        found, sentence = _detect(numbers) if task is None else (task, "as you said")
        if found == REGRESSION:
            return cls._of_numbers(name, values, numbers, sentence), known
        return cls._of_labels(name, values, found, task, sentence), known

    @classmethod
    def _of_numbers(cls, name: str, values: np.ndarray, numbers: np.ndarray | None, sentence: str) -> "Target":
        if numbers is None:
            raise DataError("y has values that are not numbers: it cannot be a target of regression.")
        if not np.isfinite(numbers).all():
            raise DataError("y has infinite values: leave these rows out.")
        if np.abs(numbers).max() > LARGEST:
            raise DataError(f"y has numbers beyond {LARGEST:g}, whose squares are not numbers: change its unit.")
        if np.ptp(numbers) == 0:
            raise DataError(f"y is {numbers[0]:g} in every row: there is nothing to predict.")
        return cls(name, REGRESSION, numbers, np.empty(0, dtype=object), sentence, np.array(values.tolist()))

    @classmethod
    def _of_labels(cls, name: str, values: np.ndarray, found: str, wanted: str | None, sentence: str) -> "Target":
        labels = np.array(_plain_labels(values))
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise DataError(
                f"y is {str(classes[0])!r} in every row that has a value (words such as NA count as none): with one "
                "class there is nothing to predict."
            )
        if len(classes) > MAX_CLASSES:
            raise DataError(
                f"y has {len(classes):,} different values: too many classes to audit (at most {MAX_CLASSES}), and not "
                "all of them numbers. Is it the right column?"
            )
        if wanted == BINARY and len(classes) > 2:
            raise DataError(f"task='binary', but y has {len(classes)} classes.")
        return cls(name, BINARY if len(classes) == 2 else CLASSES, codes, classes, sentence, np.array(values.tolist()))

    @property
    def is_classes(self) -> bool:
        return self.task != REGRESSION

    @property
    def rare(self) -> int | None:
        """The code of the rarer of two classes, if few rows are of it."""
        if self.task != BINARY:
            return None
        counts = np.bincount(self.y, minlength=2)
        return int(counts.argmin()) if counts.min() < RARE * len(self.y) else None

    @property
    def labels(self) -> np.ndarray:
        """What models are fitted to: labels, or numbers."""
        return self.classes[self.y] if self.is_classes else self.y

    def of_rows(self, rows: np.ndarray) -> "Target":
        """The target of some rows, with all its classes."""
        return replace(self, y=self.y[rows], original=self.original[rows])

    def read_predictions(self, predicted: Any, n_rows: int, name: str) -> np.ndarray:
        """Predictions that someone else made, as labels or numbers; of two classes, probabilities of the second do."""
        values = _values(predicted)[1]
        if len(values) != n_rows:
            raise DataError(f"{name} has {len(values)} rows, but there are {n_rows} to predict.")
        numbers = _as_numbers(values)
        if not self.is_classes:
            if numbers is None or not np.isfinite(numbers).all():
                raise DataError(f"{name} has values that are not finite numbers, but the target is a number.")
            return numbers
        labels = np.array(_plain_labels(values))
        if labels.dtype.kind == self.classes.dtype.kind and np.isin(labels, self.classes).all():
            return labels
        if self.task == BINARY and numbers is not None and ((numbers >= 0) & (numbers <= 1)).all():
            return self.classes[(numbers >= 0.5).astype(int)]
        strangers = sorted({str(label) for label in labels} - {str(label) for label in self.classes})[:3]
        raise DataError(f"{name} has values that are no class of the target: {', '.join(strangers)}.")

    def read_scores(self, predicted: Any) -> np.ndarray | None:
        """Predictions of two classes as numbers that rank rows, if they are probabilities and no labels."""
        values = _values(predicted)[1]
        numbers = _as_numbers(values) if self.task == BINARY else None
        if numbers is None or (numbers == np.floor(numbers)).all() or self._are_classes(values):
            return None
        return numbers

    def _are_classes(self, values: np.ndarray) -> bool:
        return bool(np.isin(self.text_of(values), self.classes.astype(str)).all())

    def losses(self, predicted: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Loss of each row: whether the label is wrong, or the squared error."""
        if self.is_classes:
            return np.asarray(predicted != self.labels[rows])
        return np.square(np.asarray(predicted, dtype=np.float64) - self.y[rows])

    def knows_any(self, values: np.ndarray) -> bool:
        """Whether any of some labels is a class of this target."""
        return bool(np.isin(self.text_of(values), self.classes.astype(str)).any())

    @staticmethod
    def text_of(labels: Any) -> np.ndarray:
        """Labels, of whatever type, as text, so that they can be compared."""
        return np.array(_plain_labels(as_objects(labels))).astype(str)

    def is_second(self, values: np.ndarray) -> np.ndarray:
        """Which of some labels are the second class."""
        return self.text_of(values) == str(self.classes[1])

    def losses_there(self, predicted: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """The same for rows of another table whose target may have classes that are not known here."""
        if self.is_classes:
            return np.asarray(predicted.astype(str) != self.text_of(truth))
        return np.square(predicted.astype(np.float64) - truth.astype(np.float64))


def _values(y: Any) -> tuple[str, np.ndarray]:
    """The name of the target and its values as objects."""
    name = getattr(y, "name", None)
    if np.ndim(y) == 2 and np.shape(y)[1] == 1:
        y = np.asarray(y)[:, 0]
    if np.ndim(y) != 1:
        raise DataError(f"y must have one dimension, got {np.ndim(y)}.")
    return str(name) if isinstance(name, str) and name else "y", as_objects(y)


def as_objects(values: Any) -> np.ndarray:
    """A list, an array or a series as an array of Python objects, missing ones as they are."""
    series = nw.from_native(values, allow_series=True, pass_through=True)
    listed = series.to_list() if isinstance(series, nw.Series) else list(values)
    objects = np.empty(len(listed), dtype=object)
    objects[:] = listed
    return objects


def has_value(values: np.ndarray) -> np.ndarray:
    """Which of some objects are not missing."""
    import pandas as pd

    return np.asarray(~pd.isna(values))


def _as_numbers(values: np.ndarray) -> np.ndarray | None:
    if any(isinstance(value, bool | np.bool_ | str) for value in values):
        return None
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        return None


def _detect(numbers: np.ndarray | None) -> tuple[str, str]:
    """The task, and how it was found."""
    if numbers is None:
        return CLASSES, "the target is not a number, so its values are taken for classes"
    different = len(np.unique(numbers))
    whole = bool(np.isfinite(numbers).all() and np.all(numbers == np.floor(numbers)))
    if different == 2:
        return CLASSES, "the target has two values, so they are taken for classes"
    if whole and different <= MAX_WHOLE_CLASSES:
        if looks_like_counts(numbers):
            found = f"the target has {different} different whole numbers from 0 that are distributed as counts are"
            return REGRESSION, f"{found}, so they are taken for numbers (the task classes takes them for labels)"
        found = f"the target has {different} different whole numbers, so they are taken for classes"
        return CLASSES, f"{found} (the task regression takes them for amounts)"
    return REGRESSION, "the target is a number with many values"


def _plain_labels(values: np.ndarray) -> list[Any]:
    """Labels as whole numbers where they all are, else as text."""
    numbers = _as_numbers(values)
    if numbers is not None and np.all(numbers == np.floor(numbers)):
        return [int(value) for value in numbers]
    return [str(value) for value in values]
