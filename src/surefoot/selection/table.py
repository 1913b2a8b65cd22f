"""The table that selectors read: numbers, the names of its variables, and its missing values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from surefoot._estimator import TableEstimator
from surefoot._exceptions import DataError
from surefoot._jit import inner_kernel, kernel
from surefoot._numbers import naming
from surefoot._parameters import check_choice
from surefoot.data import Columns
from surefoot.data.checked_table import check_table, refuse_masked_and_times
from surefoot.data.columns import check_names, is_frame
from surefoot.data.problem import check_labels, check_length, check_numbers, encode_labels, require_target
from surefoot.selection.guarantee import refuse_few_rows

NO_TARGET, NUMBERS, CLASSES, ANY_TARGET = "none", "numbers", "classes", "any"  # what a selector needs as y
ERROR, BAG_MEDIAN = "error", "bag_median"  # values of a selector's parameter ``missing``
MAX_NAMED = 5
HOW_TO_FILL = (
    "set missing='bag_median' of LassoSelector, LogisticLassoSelector or TreeSelector, or leave out these rows "
    "(values filled with means or medians of all rows would void the guarantee)"
)


@dataclass(frozen=True)
class SelectionTable:
    """A table of numbers. A category becomes one column for each of its values; together they are one variable.

    A column with missing values (NaN) and the column of 0 and 1 that marks them are one variable too. Only selectors
    that fill missing values get such a table. ``y`` holds numbers or codes of ``classes``, or is None.
    """

    X: np.ndarray  # float64, C-contiguous, (rows, columns)
    names: tuple[str, ...]  # of the variables
    groups: np.ndarray  # int32: the variable of each column
    y: np.ndarray | None = None
    classes: np.ndarray | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)  # further arguments of fit, such as times
    given: tuple[Any, Any] = (None, None)  # X and y as they were passed to fit

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    @property
    def n_variables(self) -> int:
        return len(self.names)

    def without(self, row: int) -> "SelectionTable":
        """The same table without one row; arguments of fit with an entry for each row lose that entry."""
        rows = np.delete(np.arange(self.n_rows), row)
        extras = {
            name: np.asarray(value)[rows] if np.ndim(value) and len(value) == self.n_rows else value
            for name, value in self.extras.items()
        }
        y = None if self.y is None else self.y[rows]
        given = (take_rows(self.given[0], rows), take_rows(self.given[1], rows))
        X = np.ascontiguousarray(self.X[rows])
        return replace(self, X=X, y=y, extras=extras, given=given)


def take_rows(table: Any, rows: np.ndarray) -> Any:
    """Some rows of an array, a frame or a series; a frame stays a frame, and a CSR matrix stays one."""
    if table is None:
        return None
    if issparse(table):
        return table[rows]
    native = nw.from_native(table, pass_through=True, allow_series=True)
    return native[rows].to_native() if isinstance(native, nw.DataFrame | nw.Series) else np.asarray(table)[rows]


def take_columns(table: Any, positions: np.ndarray) -> Any:
    """Some columns of an array or a frame, in their order; a frame stays a frame."""
    native = nw.from_native(table, pass_through=True)
    if isinstance(native, nw.DataFrame):
        kept = {native.columns[j] for j in positions}
        dropped = [name for name in native.columns if name not in kept]
        return native.drop(dropped).to_native()  # unlike a selection of no columns, this keeps the rows
    return table[:, positions]


def check_columns(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """A frame unchanged, anything else as an array; its columns are stored (``reset``), or compared with the fit.

    Sparse matrices become CSR matrices if the estimator's tags accept them.
    """
    if is_frame(X):
        check_names(X)
        with naming("X"):
            return validate_data(estimator, X, reset=reset, skip_check_array=True)
    refuse_masked_and_times(X)
    tags = get_tags(estimator).input_tags
    finite, formats = "allow-nan" if tags.allow_nan else True, "csr" if tags.sparse else False
    with (
        np.errstate(over="ignore", invalid="ignore"),
        naming("X"),
    ):  # scikit-learn sums it to find infinities
        return validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=finite, accept_sparse=formats)


def fills_missing(selector: Any) -> bool:
    """Whether a selector fills missing values in each bag; if not, they are an error."""
    return check_choice("missing", getattr(selector, "missing", ERROR), (ERROR, BAG_MEDIAN)) == BAG_MEDIAN


def read_table(
    estimator: TableEstimator,
    X: Any,
    y: Any,
    target: str,
    extras: Mapping[str, Any],
    *,
    may_be_constant: bool,
    may_be_missing: bool = False,
) -> SelectionTable:
    """Check the arguments of ``fit``, and store the columns on the estimator."""
    columns = check_table(estimator, X)
    estimator._schema = columns.schema
    names = tuple(map(str, getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(columns.n_columns)])))
    parts, groups = _numbers(columns, names, may_be_missing)
    values = np.ascontiguousarray(np.stack(parts, axis=1))
    refuse_few_rows(len(values))
    if not may_be_missing:
        _refuse_missing(values, groups, names)
    if not may_be_constant:
        _refuse_constant(values, groups, names)
    codes, classes = _target(estimator, y, target)
    if codes is not None:
        check_length(codes, len(values))
    # Everything is a copy, because the user may change X and y before leave-one-out reads them again.
    every = np.arange(len(values))
    given = (take_rows(X, every) if is_frame(X) else values, take_rows(y, every))
    return SelectionTable(
        X=values,
        names=names,
        groups=np.array(groups, dtype=np.int32),
        y=codes,
        classes=classes,
        extras=dict(extras),
        given=given,
    )


def _numbers(columns: Columns, names: tuple[str, ...], may_be_missing: bool) -> tuple[list[np.ndarray], list[int]]:
    """The columns as numbers, with a column of 0 and 1 for each value of a category; and the variable of each.

    If values may be missing, a missing category is a value of its own, and a column of 0 and 1 marks missing numbers.
    """
    parts, groups = [], []
    for j in range(columns.n_columns):
        if j not in columns.schema.categories:
            values = columns.column(j)
            own, missing = [values], np.isnan(values)
        else:
            codes = columns.category_codes(j)
            own, missing = [codes == code for code in range(len(columns.schema.categories[j]))], codes < 0
            if missing.any() and not may_be_missing:
                raise DataError(f"Column {names[j]!r} of X has missing categories: {HOW_TO_FILL}.")
        own += [missing] if missing.any() and may_be_missing else []
        parts += [part.astype(np.float64) for part in own]
        groups += [j] * len(own)
    return parts, groups


def _refuse_missing(values: np.ndarray, groups: list[int], names: tuple[str, ...]) -> None:
    missing = sorted({groups[j] for j in np.flatnonzero(np.isnan(values).any(axis=0))})
    if missing:
        raise DataError(f"X contains NaN in {_named(missing, names)}: {HOW_TO_FILL}.")


def _refuse_constant(values: np.ndarray, groups: list[int], names: tuple[str, ...]) -> None:
    known = np.where(np.isnan(values), np.inf, values)  # no number of a table is infinite
    varies = {groups[j] for j in np.flatnonzero((known != known[0]).any(axis=0))}
    constant = [j for j in range(len(names)) if j not in varies]
    if constant:
        raise DataError(
            f"X has the same value in every row of {_named(constant, names)}: leave it out, it has no information."
        )


def _named(positions: list[int], names: tuple[str, ...]) -> str:
    shown = ", ".join(repr(names[j]) for j in positions[:MAX_NAMED])
    more = f" and {len(positions) - MAX_NAMED} more" if len(positions) > MAX_NAMED else ""
    return f"column{'s' if len(positions) > 1 else ''} {shown}{more}"


def _target(estimator: TableEstimator, y: Any, target: str) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The target as numbers or as codes of classes, and the classes."""
    if target == NO_TARGET:
        if y is not None:
            raise DataError(f"y must be None: {type(estimator).__name__} with this selector uses X only.")
        return None, None
    if y is None and target == ANY_TARGET:
        return None, None
    require_target(estimator, y)
    if target == NUMBERS:
        return np.array(check_numbers(y)), None  # a copy
    if target == ANY_TARGET:
        return np.array(y), None
    classes, codes = encode_classes(y, "a selection of variables")
    return codes, classes


def encode_classes(y: Any, user: str) -> tuple[np.ndarray, np.ndarray]:
    """The classes of ``y``, two or more of them, and the code of each row's class."""
    classes, codes = encode_labels(check_labels(y), None)
    if len(classes) < 2:
        raise DataError(f"y has only one class, {classes.tolist()}: {user} needs at least two classes.")
    return classes, codes.astype(np.int64)


class MissingValues(NamedTuple):
    """The columns of a table that have missing values, with the rows of their known values in ascending order."""

    columns: Any  # int64
    n_known: Any  # int64: the number of known values in each column
    order: Any  # int32 (columns, rows): the rows with a known value, ascending by value; the rest of a line is unused

    @classmethod
    def find(cls, X: np.ndarray) -> "MissingValues":
        """The missing values of a table."""
        columns = np.flatnonzero(np.isnan(X).any(axis=0))
        order = np.argsort(X[:, columns], axis=0).T.astype(np.int32)  # missing values come last
        return cls(columns, np.sum(~np.isnan(X[:, columns]), axis=0), np.ascontiguousarray(order))

    def __bool__(self) -> bool:
        return len(self.columns) > 0


def known_medians(X: np.ndarray) -> np.ndarray:
    """The median of each column's known values; 0 if it has none."""
    known = [column[~np.isnan(column)] for column in X.T]
    return np.array([np.median(values) if len(values) else 0.0 for values in known])


def filled_bags(X: np.ndarray, missing: MissingValues, bags: np.ndarray) -> np.ndarray:
    """The rows of all bags, one bag below the other; missing values are medians of the bag's own rows."""
    out = np.empty((bags.size, X.shape[1]), dtype=X.dtype)
    fill_bags(X, missing, np.require(bags, np.int32, ["C", "W"]), out)
    return out


@inner_kernel
def bag_median(X, column, order, counts):
    """Read how often each row is in a bag; return the median of a column's known values there, 0 if it has none."""
    n_known, seen, below = 0, 0, 0.0
    for row in order:
        n_known += counts[row]
    for row in order:
        if counts[row]:
            if seen < n_known // 2:
                below = X[row, column]
            seen += counts[row]
            if seen > n_known // 2:
                return 0.5 * (below + X[row, column]) if n_known % 2 == 0 else 1.0 * X[row, column]
    return 0.0


@kernel
def fill_bags(X, missing, bags, out):
    """Read bags of rows; write their rows, with the bag's median (0 if it has no known value) for missing values."""
    size = bags.shape[1]
    counts = np.zeros(X.shape[0], np.int64)
    for b in range(bags.shape[0]):
        rows = out[b * size : (b + 1) * size]
        for i in range(size):
            counts[bags[b, i]] += 1
            rows[i] = X[bags[b, i]]
        for g in range(missing.columns.shape[0]):
            j = missing.columns[g]
            middle = bag_median(X, j, missing.order[g, : missing.n_known[g]], counts)
            for i in range(size):
                if np.isnan(rows[i, j]):
                    rows[i, j] = middle
        for i in range(size):
            counts[bags[b, i]] = 0
