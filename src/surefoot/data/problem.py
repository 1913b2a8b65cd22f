"""Checked training data: columns, target and weights."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from surefoot._exceptions import DataError, ParameterError
from surefoot._numbers import array_of, finite_numbers, naming, real_numbers
from surefoot._parameters import is_one_of
from surefoot._row_values import has_missing_labels, refuse_impossible_weights, scale_weights
from surefoot.data.checked_table import (
    categorical_positions,
    check_table,
    check_table_array,
    columns_of_array,
)
from surefoot.data.columns import Columns, is_frame

MAX_ROWS = 2.0**53  # by weight: above it, a float cannot count every row


@dataclass(frozen=True)
class Problem:
    """A table with its labels as codes, and weights (None: all rows have the same weight)."""

    columns: Columns
    classes: np.ndarray
    codes: np.ndarray  # int32: the class of each row
    weights: np.ndarray | None
    feature_names: np.ndarray | None

    @property
    def n_rows(self) -> int:
        return self.columns.n_rows

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    def weighted_rows(self) -> np.ndarray:
        """The rows with weight: a row of weight 0 is equivalent to a removed row."""
        return np.arange(self.n_rows) if self.weights is None else np.flatnonzero(self.weights > 0)

    def restrict(self, rows: np.ndarray) -> "Problem":
        """The same problem on some of its rows: the others get weight 0."""
        weights = np.zeros(self.n_rows)
        weights[rows] = 1.0 if self.weights is None else self.weights[rows]
        return replace(self, weights=weights)


@dataclass(frozen=True)
class NumberProblem:
    """A table with a number to predict for each row, and weights (None: all rows have the same weight)."""

    columns: Columns
    y: np.ndarray
    weights: np.ndarray | None
    feature_names: np.ndarray | None


@dataclass(frozen=True)
class PreparedTable:
    """A table that has been read already and is not in memory; estimators take it as X.

    Attributes
    ----------
    columns : object
        Takes the place of ``Columns``.
    feature_names : array of str or None
    """

    columns: Any
    feature_names: np.ndarray | None

    def __len__(self) -> int:
        return int(self.columns.n_rows)


def check_problem(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sample_weight: Any,
    class_weight: Any,
    *,
    categorical: Any = None,
    relative_weights: bool = True,
) -> Problem:
    """Check the arguments of ``fit``; store the names and the number of columns on the estimator.

    ``relative_weights`` scales the largest weight to about 1; otherwise a weight of k remains k. ``categorical`` lists
    further categorical columns.
    """
    require_target(estimator, y)
    columns, weights = _check_rows(estimator, X, sample_weight, categorical, relative_weights)
    labels = check_labels(y)
    check_length(labels, columns.n_rows)
    classes, codes = encode_labels(labels, weights)
    if class_weight is not None:
        weights = with_class_weights(weights, class_weight, classes, codes, relative=relative_weights)
    used = codes if weights is None else codes[weights > 0]
    if len(np.unique(used)) < 2:
        raise DataError(
            f"y has only one class with weight, {classes[used[:1]].tolist()}: a classifier needs at least two classes."
        )
    return Problem(columns, classes, codes, weights, getattr(estimator, "feature_names_in_", None))


def with_class_weights(
    weights: np.ndarray | None, class_weight: Any, classes: np.ndarray, codes: np.ndarray, *, relative: bool = False
) -> np.ndarray:
    """The weights of the rows times those of their classes."""
    by_class = class_weights(class_weight, classes, classes[codes], relative)[codes]
    if not relative:
        _check_total_weight(by_class, "class_weight")
    product = by_class if weights is None else weights * by_class
    if not relative:
        _check_total_weight(product, "sample_weight times class_weight")
    return product


def check_number_problem(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any, *, categorical: Any = None
) -> NumberProblem:
    """As ``check_problem``, for a target of numbers; a weight of k stays k."""
    require_target(estimator, y)
    columns, weights = _check_rows(estimator, X, sample_weight, categorical, relative=False)
    target = check_numbers(y)
    check_length(target, columns.n_rows)
    return NumberProblem(columns, target, weights, getattr(estimator, "feature_names_in_", None))


def check_length(y: np.ndarray, n_rows: int) -> None:
    """Raise an error if the target has not one value for each row."""
    if len(y) != n_rows:
        message = f"y has {len(y)} values for {n_rows} rows of X: give one for each (inconsistent numbers of samples)."
        raise DataError(message, argument="y")


def one_column(y: Any, name: str) -> np.ndarray:
    """``y`` as an array of one dimension; a single column is one too, with scikit-learn's warning."""
    array = array_of(name, y)
    if array.ndim == 2 and array.shape[1] == 1:
        with naming(name):
            return np.asarray(column_or_1d(array, warn=True))
    if array.ndim != 1:
        raise DataError(f"{name} should be a 1d array, one value for each row; got shape {array.shape}.", argument=name)
    return array


def check_numbers(y: Any, name: str = "y") -> np.ndarray:
    """A target of finite numbers, as float64."""
    target = one_column(y, name)
    if target.dtype.kind in "OUST":
        try:
            target = real_numbers(name, target)
        except DataError as error:
            message = f"{name} must be numbers, got {target.dtype}: for classes, use a classifier."
            raise DataError(message, argument=name) from error
    if target.dtype.kind in "mM":
        message = f"{name} must be real numbers, got {target.dtype}: convert dates to days since a fixed day."
        raise DataError(message, argument=name)
    target = real_numbers(name, target)
    if np.isnan(target).any():
        message = f"Input {name} contains NaN: every row needs a target; leave out the rows that have none."
        raise DataError(message, argument=name)
    if np.isinf(target).any():
        message = f"Input {name} contains infinity or a value too large for dtype('float64')."
        raise DataError(message, argument=name)
    return target


def require_target(estimator: BaseEstimator, y: Any) -> None:
    """Raise an error if there is no target."""
    if y is None:
        raise DataError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")


def _check_rows(
    estimator: BaseEstimator, X: Any, sample_weight: Any, categorical: Any, relative: bool
) -> tuple[Columns, np.ndarray | None]:
    """The columns and the weights of the rows; weights come first, because they determine the categories."""
    if isinstance(X, PreparedTable):
        estimator.n_features_in_ = X.columns.n_columns
        if X.feature_names is not None:
            estimator.feature_names_in_ = X.feature_names
        return X.columns, check_weights(sample_weight, len(X), relative)
    if is_frame(X):
        weights = check_weights(sample_weight, len(X), relative)
        return check_table(estimator, X, weights=weights, categorical=categorical), weights
    array = check_table_array(estimator, X, reset=True)
    weights = check_weights(sample_weight, array.shape[0], relative)
    return columns_of_array(array, None, categorical_positions(estimator, categorical), weights), weights


def check_labels(y: Any, name: str = "y") -> np.ndarray:
    """Labels as an array; missing labels, infinities and continuous numbers are refused."""
    labels = one_column(_without_nulls(y), name)
    kind = labels.dtype.kind
    if kind not in "biufOUT":
        what = "Complex data not supported: labels" if kind == "c" else f"{name} has labels of dtype {labels.dtype}"
        raise DataError(f"{what}: make {name} numbers or text (Unknown label type).", argument=name)
    if kind == "f" and np.isinf(labels).any():
        message = f"Input {name} contains infinity or a value too large for dtype('float64')."
        raise DataError(message, argument=name)
    if has_missing_labels(labels):
        message = f"Input {name} contains NaN: every row needs a label; leave out the rows that have none."
        raise DataError(message, argument=name)
    with naming(name), np.errstate(invalid="ignore"):  # scikit-learn casts huge numbers
        if kind == "O":
            _check_objects(labels, name)
        check_classification_targets(labels)
    return labels


def _check_objects(labels: np.ndarray, name: str) -> None:
    """Refuse labels that cannot be sorted, and those that are neither numbers nor text."""
    try:
        np.unique(labels)
    except (TypeError, ValueError) as error:
        message = f"{name} mixes labels that cannot be compared ({error}): make them all of one type."
        raise DataError(message, argument=name) from error
    if type_of_target(labels) == "unknown":
        kind = type(labels[0]).__name__
        message = f"{name} has labels of the type {kind}: make them numbers or text (Unknown label type)."
        raise DataError(message, argument=name)


def _without_nulls(y: Any) -> Any:
    """A nullable column of pandas as whole numbers or booleans, if nothing is missing: as floats otherwise.

    Labels that are predicted are of the type of the labels in training.
    """
    dtype = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if dtype is None or dtype.kind not in "biu" or y.isna().any():
        return y
    return y.to_numpy(dtype=dtype)


def encode_labels(labels: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The distinct labels of rows with weight, sorted, and the index of each row's label.

    A row without weight may have a label that no other row has; its code is then meaningless and not used.
    """
    classes = np.unique(labels if weights is None else labels[weights > 0])
    return classes, np.minimum(np.searchsorted(classes, labels), len(classes) - 1).astype(np.int32)


def check_weights(
    sample_weight: Any, n_rows: int, relative: bool = True, name: str = "sample_weight"
) -> np.ndarray | None:
    """Weights as float64, or None if there are none; negative and all-zero weights are refused.

    With ``relative``, weights are scaled so that the largest is about 1. Otherwise they are numbers of rows, at most
    ``MAX_ROWS`` in total.
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, str):
        message = f"{name} must be numbers, got {sample_weight!r}: weights of classes go in class_weight."
        raise DataError(message, argument=name)
    if np.isscalar(sample_weight):
        sample_weight = np.full(n_rows, sample_weight)
    weights = finite_numbers(name, sample_weight)
    if weights.shape != (n_rows,):
        message = f"{name}.shape == {weights.shape}, expected {(n_rows,)}: one weight per row."
        raise DataError(message, argument=name)
    refuse_impossible_weights(weights, name)
    if not relative:
        _check_total_weight(weights, name)
        return np.array(weights)  # a copy: kernels would be compiled again for a read-only or strided array
    return scale_weights(weights)


def _check_total_weight(weights: np.ndarray, name: str) -> None:
    """Raise an error if weights that are numbers of rows cannot be summed exactly."""
    if weights.max() > MAX_ROWS or weights.sum() > MAX_ROWS:
        raise DataError(
            f"{name} must add up to at most 2**53, because a weight of k counts as k rows, got a largest weight of "
            f"{weights.max():.3g}: divide the weights by a constant."
        )


def class_weights(class_weight: Any, classes: np.ndarray, labels: np.ndarray, relative: bool) -> np.ndarray:
    """The weight of each class; labels that are not in y are refused."""
    if isinstance(class_weight, dict):
        unknown = set(class_weight) - set(classes.tolist())
        if unknown:
            raise ParameterError(f"class_weight names classes that y does not have: {sorted(map(str, unknown))}.")
    elif not is_one_of(class_weight, ("balanced",)):
        message = f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}."
        raise ParameterError(message, argument="class_weight")
    weights = np.empty(len(classes))
    weights[np.searchsorted(classes, labels)] = compute_sample_weight(class_weight, labels)
    if not (np.isfinite(weights).all() and (weights >= 0).all() and (weights > 0).any()):
        raise ParameterError(f"class_weight must have finite weights of 0 or more, not all 0; got {class_weight!r}.")
    return scale_weights(weights) if relative else weights
