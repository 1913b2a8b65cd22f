"""Training data and deployment data with the same columns, column by column, for a shift report."""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from surefoot._exceptions import DataError, DataTypeError
from surefoot._parameters import check_choice
from surefoot.data import Columns
from surefoot.data.checked_table import check_table
from surefoot.data.columns import Schema, is_frame

MAX_NAMED = 5  # columns that an error lists


@dataclass(frozen=True)
class ColumnPair:
    """One column of both tables, as numbers; NaN where a value is missing.

    Categories are codes in the order of their labels, the same codes in both tables.
    """

    name: str
    is_category: bool
    values: np.ndarray
    target: np.ndarray


class ComparedTables:
    """The training data and the target, column by column; a column is copied when it is used.

    Categories are coded by both tables together: if one table decided the codes, categories that only the other table
    has would share a code, and a classifier would recognise the table by that code where nothing has shifted.
    """

    def __init__(self, own: Columns, target: Columns, names: Sequence[str], places: Sequence[int]) -> None:
        self._own, self._target = own, target
        self.names = tuple(names)
        self._places = places  # the position of each column in the target
        for name, position, place in zip(names, range(own.n_columns), places, strict=True):
            if (position in own.schema.categories) != (place in target.schema.categories):
                known, other = ("X", "X_target") if position in own.schema.categories else ("X_target", "X")
                raise DataError(f"Column {name!r} is categorical in {known} but not in {other}: make it so in both.")

    @classmethod
    def read(cls, X: Any, X_target: Any, categorical_features: Any) -> "ComparedTables":
        """Check both tables; columns of two frames are matched by name, others by position."""
        if isinstance(categorical_features, str):
            check_choice("categorical_features", categorical_features, ("from_dtype",))
            categorical_features = None
        with _called("X"):
            names, n_columns = _names_and_number("X", X)
            own = check_table(BaseEstimator(), X, categorical=categorical_features)
        with _called("X_target"):
            target_names, n_target_columns = _names_and_number("X_target", X_target)
        places = _places(names, target_names, n_columns)
        if n_target_columns != n_columns:
            raise DataError(f"X has {n_columns} columns and X_target {n_target_columns}: give both the same.")
        with _called("X_target"):
            listed = [places[position] for position in sorted(own.schema.listed)]
            target = check_table(BaseEstimator(), X_target, categorical=listed or None)
        known = names or target_names or [f"x{position}" for position in range(own.n_columns)]
        return cls(own, target, list(map(str, known)), places)

    @property
    def n_rows(self) -> int:
        return self._own.n_rows

    @property
    def n_target(self) -> int:
        return self._target.n_rows

    def __len__(self) -> int:
        return len(self.names)

    def pair(self, position: int) -> ColumnPair:
        """Return one column of both tables."""
        place = self._places[position]
        is_category = position in self._own.schema.categories
        if not is_category:
            return ColumnPair(self.names[position], False, self._own.column(position), self._target.column(place))
        own, target = self._own.schema.categories[position], self._target.schema.categories[place]
        code_of = {label: code for code, label in enumerate(sorted({*own, *target}, key=_by_label))}
        values = _shared_codes(self._own.category_codes(position), own, code_of)
        return ColumnPair(
            self.names[position], True, values, _shared_codes(self._target.category_codes(place), target, code_of)
        )

    @property
    def schema(self) -> Schema:
        """The columns of X, with the categories of both tables in the order of their codes."""
        target = self._target.schema.categories
        categories = {
            position: tuple(sorted({*labels, *target[self._places[position]]}, key=_by_label))
            for position, labels in self._own.schema.categories.items()
        }
        return Schema(self._own.n_columns, categories, self._own.schema.listed)

    def matrix(self, *, deployment: bool) -> np.ndarray:
        """All columns of one of the tables as numbers."""
        return np.column_stack([pair.target if deployment else pair.values for pair in self])

    def __iter__(self) -> Iterator[ColumnPair]:
        return (self.pair(position) for position in range(len(self)))


def _shared_codes(codes: np.ndarray, labels: tuple[Hashable, ...], code_of: dict[Hashable, int]) -> np.ndarray:
    lookup = np.array([*(code_of[label] for label in labels), np.nan])
    return lookup[codes]  # a missing value has code -1: the last entry


def _by_label(label: Any) -> tuple[bool, float, str]:
    """Sort numbers first, then texts."""
    is_number = isinstance(label, int | float)
    return not is_number, label if is_number else 0.0, str(label)


def _names_and_number(argument: str, table: Any) -> tuple[list[Any] | None, int]:
    """Return the names of a frame's columns (None for an array) and their number; refuse anything that is no table."""
    if is_frame(table):
        names = list(nw.from_native(table, eager_only=True).columns)
        return names, len(names)
    if issparse(table):
        message = f"Sparse data was passed for {argument}: pass a dense table, for example {argument}.toarray()."
        raise DataTypeError(message, argument=argument)
    shape = () if table is None or isinstance(table, Mapping) else _shape(argument, table)
    if len(shape) != 2:
        got = _kind(table, shape)
        raise DataError(f"{argument} must be a table, a frame or a 2-dimensional array of numbers, got {got}.")
    if 0 in shape:
        raise DataError(f"{argument} has {shape[0]} rows and {shape[1]} columns: pass at least one of each.")
    return None, shape[1]


def _shape(argument: str, table: Any) -> tuple[int, ...]:
    if hasattr(table, "shape"):
        return tuple(table.shape)
    try:
        return np.shape(table)
    except ValueError as error:
        raise DataError(f"{argument} has rows of different lengths: give all the same number of values.") from error


def _kind(table: Any, shape: tuple[int, ...]) -> str:
    """Describe what was passed instead of a table, and how to turn it into one."""
    kind = type(table).__name__
    if table is None:
        return "None"
    if isinstance(table, Mapping):
        return f"{kind}: make a frame of it, for example pandas.DataFrame(...)"
    if len(shape) != 1:
        return f"{kind}" if len(shape) == 0 else f"{kind} of {len(shape)} dimensions"
    if hasattr(table, "to_frame"):
        return f"{kind}: a column is made a table by .to_frame(), a pandas row by .to_frame().T"
    return f"{kind} of 1 dimension: put one row into a list, [row], and of one column make lists of one value each"


def _places(names: list[Any] | None, target_names: list[Any] | None, n_columns: int) -> list[int]:
    """Return the position in the target of each column of X."""
    if names is None or target_names is None:
        return list(range(n_columns))
    lacking = [name for name in names if name not in target_names]
    further = [name for name in target_names if name not in names]
    if lacking or further:
        parts = [f"lacks {_some(lacking)}"] if lacking else []
        parts += [f"has {_some(further)}, which X has not"] if further else []
        raise DataError(f"X_target {' and '.join(parts)}: give both tables the same columns.")
    return [target_names.index(name) for name in names]


def _some(names: list[Any]) -> str:
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return f"the column{'s' if len(names) > 1 else ''} {', '.join(map(repr, names[:MAX_NAMED]))}{more}"


@contextmanager
def _called(argument: str) -> Iterator[None]:
    """Make errors about a table name the right argument: the readers of tables call each of them X."""
    try:
        yield
    except (TypeError, ValueError) as error:
        text, n_named = re.subn(r"(?<!['\"\w])X(?!['\"\w])", argument, str(error))
        if argument not in text:
            advice = "pass a frame whose columns are numbers or of categorical dtype, or an array of numbers"
            message = f"{argument} cannot be read ({' '.join(text.split())}): {advice}."
            raise DataError(message, argument=argument) from error
        if argument == "X" or not n_named:
            raise
        raise (DataTypeError if isinstance(error, TypeError) else DataError)(text, argument=argument) from error
