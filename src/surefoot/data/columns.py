"""The columns of a table as numbers; the table is an array, or a pandas, polars or Arrow frame."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from surefoot._exceptions import DataError
from surefoot._parallel import row_blocks
from surefoot.data.category_codes import category_codes, few_codes, is_categorical, value_codes
from surefoot.data.category_matching import UNKNOWN, warn_if_all_unknown
from surefoot.data.refused_columns import has_no_type, infinite, refused_column

if TYPE_CHECKING:
    from surefoot.data.binner import Binner

RANGE_BLOCK = 1024  # rows: their values stay in the fastest cache while they are transposed


@dataclass(frozen=True)
class Schema:
    """The columns of the training data.

    ``categories`` maps the position of a categorical column to its categories; the position of a category in this tuple
    is its code. Columns without an entry are numeric. ``ranges`` has the smallest and the largest value of numeric
    columns in rows with weight; it is empty for models from old files.
    """

    n_columns: int
    categories: dict[int, tuple[Hashable, ...]] = field(default_factory=dict)
    listed: frozenset[int] = frozenset()  # columns that the user lists as categorical, of any dtype
    ranges: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    dates: frozenset[int] | None = None  # numeric columns that were dates in a file, as days since 1970; None: unknown

    @property
    def has_only_numbers(self) -> bool:
        """Whether an array of numbers can represent such a table."""
        return all(isinstance(label, int | float) for labels in self.categories.values() for label in labels)


class Columns:
    """A table as columns of numbers: categories as codes, missing values as NaN.

    Numeric data are not copied: ``block`` converts a few thousand rows at a time.
    """

    def __init__(self, parts: "np.ndarray | list[np.ndarray]", schema: Schema, n_rows: int) -> None:
        self._parts = parts
        self.schema = schema
        self.n_rows = n_rows

    @classmethod
    def from_array(
        cls,
        array: np.ndarray,
        schema: Schema | None = None,
        categorical: Collection[int] = (),
        weights: np.ndarray | None = None,
    ) -> "Columns":
        """Columns of a validated two-dimensional array; ``schema`` is that of the fitted model, if there is one.

        The values of the columns ``categorical`` are categories; ``weights`` determine which of them are the rarest.
        """
        known = dict.fromkeys(categorical) if schema is None else schema.categories
        if not known:
            schema = schema or Schema(array.shape[1], ranges=_array_ranges(array, weights))
            return cls(array, schema, array.shape[0])
        parts = [np.asarray(array[:, j]) for j in range(array.shape[1])]
        categories = {}
        for position, labels in known.items():
            values = parts[position]
            parts[position], categories[position] = value_codes(values, labels, weights)
            if schema is not None:
                warn_if_all_unknown(f"Column {position}", parts[position], categories[position], values[:1].tolist())
        if schema is None:
            schema = Schema(array.shape[1], categories, frozenset(known), _ranges(parts, categories, weights))
        return cls(parts, schema, array.shape[0])

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        schema: Schema | None = None,
        weights: np.ndarray | None = None,
        categorical: Collection[int] = (),
    ) -> "Columns":
        """Columns of a frame that narwhals supports; with ``schema``, its categories determine the codes.

        Columns of categorical dtype, and those at the positions ``categorical``, are categories. If there are too many,
        ``weights`` determine which of them are the rarest.
        """
        table = nw.from_native(frame, eager_only=True)
        if len(table) == 0:
            raise DataError("X has 0 sample(s) (rows) while a minimum of 1 is required.")
        if not table.columns:
            raise DataError("X has 0 feature(s) (columns) while a minimum of 1 is required.")
        parts, categories = [], {}
        listed = frozenset(categorical) if schema is None else schema.listed
        for position, name in enumerate(table.columns):
            series = table.get_column(name)
            known = None if schema is None else schema.categories.get(position)
            if schema is not None and has_no_type(series):  # all values of these rows are missing
                parts.append(np.full(len(series), np.nan, dtype=np.float32))
            elif is_categorical(series) or position in listed:
                if schema is not None and known is None:
                    raise DataError(f"Column {name!r} of X is categorical, but was numeric when the model was fitted.")
                codes, labels = category_codes(series, known, weights, name)
                parts.append(codes)
                categories[position] = labels
            elif known is not None:
                raise DataError(
                    f"Column {name!r} of X was categorical when the model was fitted; now it is {series.dtype}."
                )
            else:
                parts.append(_numbers(series, name))
        if schema is None:
            schema = Schema(len(parts), categories, listed, _ranges(parts, categories, weights))
        return cls(parts, schema, len(table))

    @classmethod
    def joined(cls, tables: "Sequence[Columns]") -> "Columns":
        """The rows of several tables with the same schema, one table below the other."""
        first = tables[0]
        if len(tables) == 1:
            return first
        n_rows = sum(table.n_rows for table in tables)
        if not isinstance(first._parts, list):
            return cls(np.concatenate([table._parts for table in tables]), first.schema, n_rows)
        parts = [np.concatenate([table._parts[j] for table in tables]) for j in range(first.n_columns)]
        return cls(parts, first.schema, n_rows)

    @classmethod
    def of_probe(cls, array: np.ndarray, schema: Schema) -> "Columns":
        """An array of one row of zeros; its categories are missing if some of them are text."""
        if schema.has_only_numbers:
            return cls.from_array(array, schema)
        parts = [np.full(1, np.nan if j in schema.categories else 0.0) for j in range(schema.n_columns)]
        return cls(parts, schema, 1)

    @property
    def nbytes(self) -> int:
        """The memory of the columns."""
        return sum(part.nbytes for part in (self._parts if isinstance(self._parts, list) else [self._parts]))

    @property
    def n_columns(self) -> int:
        return self.schema.n_columns

    def column(self, position: int, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """One column, or some of its rows, as float64; rare categories may share a code, unknown ones are NaN."""
        if not isinstance(self._parts, list):
            return self._parts[rows, position].astype(np.float64, copy=isinstance(rows, slice))
        part = self._parts[position][rows].astype(np.float64)
        return few_codes(part) if position in self.schema.categories else part

    def category_codes(self, position: int, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Codes of all categories of a column, without shared codes; -1 if missing, -2 if unknown."""
        part = self._parts[position][start:stop]
        return np.where(np.isnan(part), -1, np.where(part == UNKNOWN, -2, part)).astype(np.int32)

    def matrix(self, rows: np.ndarray) -> np.ndarray:
        """Some rows as an array (rows, columns), for scikit-learn estimators."""
        if isinstance(self._parts, list):
            return np.stack([self.column(position, rows) for position in range(self.n_columns)], axis=1)
        return self._parts[rows].astype(np.float64)

    def select(self, positions: Sequence[int]) -> "Columns":
        """Some of the columns; an array is copied only if some columns are left out."""
        if not isinstance(self._parts, list):
            is_all = list(positions) == list(range(self.n_columns))
            parts = self._parts if is_all else self._parts[:, list(positions)]
            return Columns(parts, Schema(len(positions)), self.n_rows)
        categories = {k: self.schema.categories[j] for k, j in enumerate(positions) if j in self.schema.categories}
        return Columns([self._parts[j] for j in positions], Schema(len(positions), categories), self.n_rows)

    def take(self, rows: np.ndarray) -> "Columns":
        """A copy of some rows."""
        parts = [part[rows] for part in self._parts] if isinstance(self._parts, list) else self._parts[rows]
        return Columns(parts, self.schema, len(rows))

    def parts(self, rows: np.ndarray) -> "Iterator[tuple[slice | np.ndarray, Columns]]":
        """Some rows, a part of them at a time, with the places of the part among ``rows``: here, all at once."""
        yield slice(None), self.take(rows)

    def row_blocks(self, size: int) -> list[tuple[int, int]]:
        """Blocks of at most ``size`` rows, which ``block`` takes."""
        return row_blocks(self.n_rows, size)

    def block(self, start: int, stop: int) -> np.ndarray:
        """Rows ``start`` to ``stop`` as a contiguous (columns, rows) array of float64."""
        if not isinstance(self._parts, list):
            return np.ascontiguousarray(self._parts[start:stop].T, dtype=np.float64)
        out = np.empty((len(self._parts), stop - start))
        for position, part in enumerate(self._parts):
            out[position] = part[start:stop]
        for position in self.schema.categories:
            out[position] = few_codes(out[position])
        return out

    def block_codes(self, binner: "Binner", start: int, stop: int) -> np.ndarray:
        """The codes of rows ``start`` to ``stop``, (columns, rows)."""
        return binner.codes_of(self.block(start, stop))


def is_frame(table: Any) -> bool:
    """Whether ``table`` is a frame that narwhals supports (an array is not); lazy and invalid frames are refused."""
    try:
        known = nw.from_native(table, pass_through=True)
    except DuplicateError as error:
        raise DataError(f"X has duplicate column names: rename them. {' '.join(str(error).split())}") from error
    if isinstance(known, nw.LazyFrame):
        raise DataError("X is a lazy frame: collect it first, for example with X.collect().")
    if type(table).__name__ == "RecordBatch" and type(table).__module__.startswith("pyarrow"):
        raise DataError("X is a record batch: pass a table, with pyarrow.Table.from_batches([X]).")
    return isinstance(known, nw.DataFrame)


def check_names(frame: Any) -> None:
    """Refuse column names that are partly text: others are not compared when the model predicts."""
    names = list(nw.from_native(frame, eager_only=True).columns)
    kinds = sorted({type(name).__name__ for name in names})
    if kinds == ["tuple"] and getattr(frame.columns, "nlevels", 1) > 1:
        raise DataError(
            "X has column names of several levels (MultiIndex): make one name of each, for example with "
            "X.columns = ['_'.join(map(str, name)) for name in X.columns]."
        )
    if len(kinds) > 1 and "str" in kinds:
        raise DataError(
            f"X has column names of the types {', '.join(kinds)}: make all of them text, for example with "
            "X.columns = X.columns.astype(str)."
        )


def _numbers(series: nw.Series, name: str) -> np.ndarray:
    series = _dense(series)
    if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        raise refused_column(series, name)
    if isinstance(series.dtype, nw.Int128 | nw.UInt128):  # NumPy has no such numbers
        series = series.cast(nw.Float64)
    numbers = np.asarray(series.to_numpy())
    if numbers.dtype == object:  # nullable or decimal columns
        numbers = np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if numbers.dtype.kind == "f" and np.isinf(numbers).any():
        raise infinite(name)
    return numbers


def _dense(series: nw.Series) -> nw.Series:
    """The same series; a sparse one of pandas becomes dense."""
    if series.implementation.is_pandas() and hasattr(series.to_native(), "sparse"):
        return nw.from_native(series.to_native().sparse.to_dense(), series_only=True)
    return series


def _ranges(
    parts: Iterable[np.ndarray], categories: Collection[int], weights: np.ndarray | None
) -> dict[int, tuple[float, float]]:
    """The smallest and the largest value of each numeric column that has values, in rows with weight."""
    ranges = {}
    for position, part in enumerate(parts):
        if position in categories:
            continue
        values = part if weights is None else part[weights > 0]
        low, high = float(np.fmin.reduce(values)), float(np.fmax.reduce(values))  # NaN only if all are
        if not np.isnan(low):
            ranges[position] = low, high
    return ranges


def _array_ranges(array: np.ndarray, weights: np.ndarray | None) -> dict[int, tuple[float, float]]:
    """As ``_ranges``, for an array: a block of rows is read once for all columns."""
    lows, highs = np.full((2, array.shape[1]), np.nan)
    for start, stop in row_blocks(array.shape[0], RANGE_BLOCK):
        block = array[start:stop] if weights is None else array[start:stop][weights[start:stop] > 0]
        if len(block):
            columns = np.ascontiguousarray(block.T)
            np.fmin(lows, np.fmin.reduce(columns, axis=1), out=lows)
            np.fmax(highs, np.fmax.reduce(columns, axis=1), out=highs)
    return {j: (float(lows[j]), float(highs[j])) for j in range(len(lows)) if not np.isnan(lows[j])}
