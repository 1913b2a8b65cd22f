"""The table that selectors read: numbers, and the names of its variables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length

from surefoot._exceptions import DataError
from surefoot.data import Columns
from surefoot.data.columns import is_frame
from surefoot.data.problem import check_labels, check_numbers, check_table, encode_labels
from surefoot.selection.guarantee import refuse_few_rows

NO_TARGET, NUMBERS, CLASSES, ANY_TARGET = "none", "numbers", "classes", "any"  # what a selector asks of y
MAX_NAMED = 5
HOW_TO_FILL = (
    "take missing='bag_median' of LassoSelector, LogisticLassoSelector or TreeSelector, or leave out these rows "
    "(values filled by means of all rows would void the guarantee)"
)


@dataclass(frozen=True)
class SelectionTable:
    """A table of numbers; the columns of a category (one for each of its values) are one variable.

    A column with missing values, NaN, and the column of 0 and 1 that says where they are, are one variable too. Only
    selectors that fill gaps get such a table. ``y`` are numbers, codes of ``classes``, or None.
    """

    X: np.ndarray  # float64, C-contiguous, (rows, columns)
    names: tuple[str, ...]  # of the variables
    groups: np.ndarray  # int32: the variable of each column
    y: np.ndarray | None = None
    classes: np.ndarray | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)  # other arguments of fit, such as times
    given: tuple[Any, Any] = (None, None)  # X and y as the user has them

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    @property
    def n_variables(self) -> int:
        return len(self.names)

    def without(self, row: int) -> "SelectionTable":
        """The same table less one row; arguments of fit that have an entry for each row lose theirs."""
        rows = np.delete(np.arange(self.n_rows), row)
        extras = {
            name: np.asarray(value)[rows] if np.ndim(value) and len(value) == self.n_rows else value
            for name, value in self.extras.items()
        }
        y = None if self.y is None else self.y[rows]
        given = (take_rows(self.given[0], rows), take_rows(self.given[1], rows))
        X = np.ascontiguousarray(self.X[rows])
        return SelectionTable(X, self.names, self.groups, y, self.classes, extras, given)


def take_rows(table: Any, rows: np.ndarray) -> Any:
    """Some rows of an array, a frame or a series, as the same kind of thing."""
    if table is None:
        return None
    native = nw.from_native(table, pass_through=True, allow_series=True)
    return native[rows].to_native() if isinstance(native, nw.DataFrame | nw.Series) else np.asarray(table)[rows]


def take_columns(table: Any, positions: np.ndarray) -> Any:
    """Some columns of an array or a frame, in their order, as the same kind of thing."""
    native = nw.from_native(table, pass_through=True)
    if isinstance(native, nw.DataFrame):
        kept = {native.columns[j] for j in positions}
        return native.drop([name for name in native.columns if name not in kept]).to_native()  # of no columns: the rows
    return table[:, positions]


def read_table(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    target: str,
    extras: Mapping[str, Any],
    *,
    may_be_constant: bool,
    may_have_gaps: bool = False,
) -> SelectionTable:
    """Check the arguments of ``fit``; remember names and number of columns on the estimator."""
    columns = check_table(estimator, X)
    names = tuple(map(str, getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(columns.n_columns)])))
    parts, groups = _numbers(columns, names, may_have_gaps)
    values = np.ascontiguousarray(np.stack(parts, axis=1))
    refuse_few_rows(len(values))
    if not may_have_gaps:
        _refuse_missing(values, groups, names)
    if not may_be_constant:
        _refuse_constant(values, groups, names)
    codes, classes = _target(estimator, y, target)
    if codes is not None:
        check_consistent_length(values, codes)
    every = np.arange(len(values))  # copies: the user may change X and y before leave-one-out reads them again
    given = (take_rows(X, every) if is_frame(X) else values, take_rows(y, every))
    return SelectionTable(values, names, np.array(groups, dtype=np.int32), codes, classes, dict(extras), given)


def _numbers(columns: Columns, names: tuple[str, ...], with_gaps: bool) -> tuple[list[np.ndarray], list[int]]:
    """The columns as numbers, a column of 0 and 1 for each value of a category; and the variable of each.

    With gaps, a missing category is a value of its own, and a column of 0 and 1 says where a number is missing.
    """
    parts, groups = [], []
    for j in range(columns.n_columns):
        if j not in columns.schema.categories:
            values = columns.column(j)
            own, missing = [values], np.isnan(values)
        else:
            codes = columns.category_codes(j)
            own, missing = [codes == code for code in range(len(columns.schema.categories[j]))], codes < 0
            if missing.any() and not with_gaps:
                raise DataError(f"Column {names[j]!r} of X has missing categories: {HOW_TO_FILL}.")
        own += [missing] if missing.any() and with_gaps else []
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
            f"X has the same value in every row of {_named(constant, names)}: it tells nothing, leave it out."
        )


def _named(positions: list[int], names: tuple[str, ...]) -> str:
    shown = ", ".join(repr(names[j]) for j in positions[:MAX_NAMED])
    more = f" and {len(positions) - MAX_NAMED} more" if len(positions) > MAX_NAMED else ""
    return f"column{'s' if len(positions) > 1 else ''} {shown}{more}"


def _target(estimator: BaseEstimator, y: Any, target: str) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The target as numbers, or as codes of classes."""
    if target == NO_TARGET:
        if y is not None:
            raise DataError(f"y must be None: {type(estimator).__name__} with this selector looks at X alone.")
        return None, None
    if y is None:
        if target == ANY_TARGET:
            return None, None
        raise DataError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    if target == NUMBERS:
        return check_numbers(y), None
    if target == ANY_TARGET:
        return np.array(y), None
    classes, codes = encode_labels(check_labels(y), None)
    if len(classes) < 2:
        raise DataError(f"y has only one class, {classes.tolist()}: choosing variables needs at least two.")
    return codes.astype(np.int64), classes
