"""The columns of a table as numbers; the table is an array, or a pandas, polars or Arrow frame."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from surefoot._exceptions import DataError
from surefoot._parallel import row_blocks
from surefoot.data.category_matching import UNKNOWN, match_labels, plain_label, warn_if_all_unknown

# With more categories, codes are sorted by frequency; if codes must fit in a byte, the rarest share the last one.
MAX_CATEGORIES = 255
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
    ranges: dict[int, tuple[float, float]] = field(default_factory=dict)
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
            parts[position], categories[position] = _value_codes(values, labels, weights)
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
            if _is_categorical(series) or position in listed:
                if schema is not None and known is None:
                    raise DataError(f"Column {name!r} of X is categorical, but was numeric when the model was fitted.")
                codes, labels = _category_codes(series, known, weights, name)
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
        return _few_codes(part) if position in self.schema.categories else part

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

    def block(self, start: int, stop: int) -> np.ndarray:
        """Rows ``start`` to ``stop`` as a contiguous (columns, rows) array of float64."""
        if not isinstance(self._parts, list):
            return np.ascontiguousarray(self._parts[start:stop].T, dtype=np.float64)
        out = np.empty((len(self._parts), stop - start))
        for position, part in enumerate(self._parts):
            out[position] = part[start:stop]
        for position in self.schema.categories:
            out[position] = _few_codes(out[position])
        return out


def _few_codes(codes: np.ndarray) -> np.ndarray:
    """Codes that fit in a byte, NaN where the category is missing or unknown."""
    return np.minimum(np.where(codes == UNKNOWN, np.nan, codes), MAX_CATEGORIES - 1)


def is_frame(table: Any) -> bool:
    """Whether ``table`` is a frame that narwhals supports (an array is not); lazy and invalid frames are refused."""
    try:
        known = nw.from_native(table, pass_through=True)
    except DuplicateError as error:
        raise DataError(f"X has duplicate column names: rename them. {' '.join(str(error).split())}") from error
    if isinstance(known, nw.LazyFrame):
        raise DataError("X is a lazy frame: collect it first, for example with X.collect().")
    return isinstance(known, nw.DataFrame)


def _is_categorical(series: nw.Series) -> bool:
    return isinstance(series.dtype, nw.Categorical | nw.Enum)


def _value_codes(
    values: np.ndarray, known: tuple[Hashable, ...] | None, weights: np.ndarray | None = None
) -> tuple[np.ndarray, tuple[Hashable, ...]]:
    """Codes of numbers that are categories: NaN where missing, ``UNKNOWN`` where not in ``known``."""
    values = values.astype(np.float64)
    if known is None:
        used = ~np.isnan(values) if weights is None else ~np.isnan(values) & (weights > 0)
        labels, places = np.unique(values[used], return_inverse=True)
        if len(labels) > MAX_CATEGORIES:
            mass = np.bincount(places, None if weights is None else weights[used])
            labels = labels[np.argsort(-mass, kind="stable")]
        known = tuple(plain_label(label) for label in labels)
    unknown = np.where(np.isnan(values), np.nan, UNKNOWN).astype(np.float32)
    if not known:
        return unknown, known
    labels = np.array(known, dtype=np.float64)
    order = np.argsort(labels)
    place = order[np.minimum(np.searchsorted(labels, values, sorter=order), len(labels) - 1)]
    return np.where(labels[place] == values, place, unknown).astype(np.float32), known


def _numbers(series: nw.Series, name: str) -> np.ndarray:
    if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        raise not_a_number(name, series.dtype)
    numbers = np.asarray(series.to_numpy())
    if numbers.dtype == object:  # nullable or decimal columns
        numbers = np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if numbers.dtype.kind == "f" and np.isinf(numbers).any():
        raise infinite(name)
    return numbers


def not_a_number(name: str, dtype: Any) -> DataError:
    """The error for a column of a dtype that is neither numeric nor categorical."""
    return DataError(
        f"Column {name!r} of X has dtype {dtype}: "
        "make it a number (for a date, days since a fixed day), or a categorical dtype if its values are groups."
    )


def infinite(name: str) -> DataError:
    """The error for a column with infinite values."""
    return DataError(f"Column {name!r} of X contains infinity: replace it by a number or by a missing value.")


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


def _category_codes(
    series: nw.Series, known: tuple[Hashable, ...] | None, weights: np.ndarray | None, name: str
) -> tuple[np.ndarray, tuple[Hashable, ...]]:
    """Codes as float32: NaN where missing, ``UNKNOWN`` where not in ``known`` (None: all categories are known)."""
    labels, codes = _dictionary(series)
    is_fitting = known is None
    if known is None:
        present = codes >= 0
        mass = np.bincount(codes[present], None if weights is None else weights[present], minlength=len(labels))
        known = ordered_categories(labels, mass)
    lookup = np.append(match_labels(labels, known), np.float32(np.nan))
    result = lookup[codes]  # a missing value has code -1: the last entry
    if not is_fitting:
        warn_if_all_unknown(f"Column {name!r}", result, known, [labels[code] for code in np.unique(codes[codes >= 0])])
    return result, known


def ordered_categories(labels: Sequence[Hashable], mass: np.ndarray) -> tuple[Hashable, ...]:
    """The labels with weight, in the order of their codes; ``mass`` is the weight of each label."""
    order = np.arange(len(labels)) if (mass > 0).sum() <= MAX_CATEGORIES else np.argsort(-mass, kind="stable")
    return tuple(labels[code] for code in order if mass[code] > 0)


def _dictionary(series: nw.Series) -> tuple[list[Hashable], np.ndarray]:
    """The categories, and the index of each row's category (-1: missing)."""
    if series.implementation.is_pandas_like() and _is_categorical(series):
        native = series.to_native()
        return [plain_label(label) for label in native.cat.categories], native.cat.codes.to_numpy()
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        codes, known = _value_codes(np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64), None)
        return list(known), np.where(np.isnan(codes), -1, codes).astype(np.int64)
    text = series.cast(nw.String)
    labels = sorted(text.drop_nulls().unique().to_list())
    if not labels:
        return [], np.full(len(series), -1)
    places = text.replace_strict(labels, list(range(len(labels))), default=None, return_dtype=nw.Float64).to_numpy()
    return labels, np.where(np.isnan(places), -1, places).astype(np.int64)
