"""The columns of the training data: their names, categories, ranges and dates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from surefoot.data import Binner, Schema
from surefoot.data.category_codes import MAX_CATEGORIES
from surefoot.model_io.binner import are_categorical
from surefoot.model_io.fields import Array, Many, Maybe, Record, Scalar
from surefoot.model_io.labels import Label
from surefoot.model_io.model_json import require

MAX_COLUMNS = 1 << 24


class Categories(NamedTuple):
    """The categories of one column."""

    position: int
    labels: Sequence[Any]


@dataclass(frozen=True)
class FittedColumns:
    """The schema, and the names of the columns if they have names."""

    schema: Schema
    names: np.ndarray | None

    @classmethod
    def of(cls, model: Any) -> "FittedColumns":
        return cls(model._schema, getattr(model, "feature_names_in_", None))

    @property
    def n_columns(self) -> int:
        return self.schema.n_columns

    def set_on(self, model: Any, classes: np.ndarray | None) -> None:
        """Set the columns and the classes on a model, as after a fit."""
        model.n_features_in_, model._schema = self.n_columns, self.schema
        if self.names is not None:
            model.feature_names_in_ = self.names
        if classes is not None:
            model.classes_ = classes

    def check_bins(self, binner: Binner, positions: Sequence[int]) -> None:
        """Refuse bins that do not match the columns at ``positions``."""
        require(len(binner.edges) == len(positions), "bins and columns differ in number")
        labels = self.schema.categories
        known = np.zeros(self.n_columns, dtype=np.bool_)
        known[list(labels)] = True
        if isinstance(positions, range):  # NumPy would make a list of it
            is_categorical = known[positions.start : positions.stop]
        else:
            is_categorical = known[np.array(positions, dtype=np.int64)]
        is_wrong = are_categorical(binner) != is_categorical
        require(not is_wrong.any(), f"column {positions[is_wrong.argmax()]} is both numeric and categorical")
        for k in np.flatnonzero(is_categorical).tolist():
            j = positions[k]
            is_valid = binner.missing[k] == min(len(labels[j]), MAX_CATEGORIES)
            require(is_valid, f"the codes of column {j} are not those of its categories")


def _make(
    n_columns: int,
    names: list[str] | None,
    categories: list[Categories],
    listed: list[int],
    ranges: np.ndarray | None,
    dates: list[int] | None,
) -> FittedColumns:
    require(names is None or len(names) == n_columns, "names and columns differ in number")
    positions = [one.position for one in categories]
    require(positions == sorted(set(positions)), "categories are not in order")
    require(not positions or positions[-1] < n_columns, "there are categories of a column that does not exist")
    require(set(listed) <= set(positions), "a listed column has no categories")
    is_valid = set(dates or ()).isdisjoint(positions) and max(dates or (), default=0) < n_columns
    require(is_valid, "a column of dates does not exist, or has categories")
    schema = Schema(
        n_columns,
        {one.position: tuple(one.labels) for one in categories},
        frozenset(listed),
        {} if ranges is None else _read_ranges(ranges, n_columns, positions),
        None if dates is None else frozenset(dates),
    )
    return FittedColumns(schema, None if names is None else np.array(names, dtype=object))


class StoredRanges(Mapping[int, tuple[float, float]]):
    """Ranges by position, in an array of one row per column: NaN for columns without a range."""

    def __init__(self, stored: np.ndarray) -> None:
        self.stored = stored
        self._is_known = ~np.isnan(stored[:, 0])

    def __getitem__(self, position: int) -> tuple[float, float]:
        if not (0 <= position < len(self.stored) and self._is_known[position]):
            raise KeyError(position)
        return float(self.stored[position, 0]), float(self.stored[position, 1])

    def __iter__(self) -> Iterator[int]:
        return iter(np.flatnonzero(self._is_known).tolist())

    def __len__(self) -> int:
        return int(self._is_known.sum())


def _read_ranges(stored: np.ndarray, n_columns: int, categorical: list[int]) -> StoredRanges:
    require(stored.shape == (n_columns, 2), "ranges and columns differ in number")
    has_none = np.isnan(stored).all(axis=1)
    require(has_none[categorical].all(), "there is a range of a categorical column")
    is_valid = (np.isfinite(stored).all(axis=1) & (stored[:, 0] <= stored[:, 1])) | has_none
    require(is_valid.all(), "there are ranges that are not finite, or end before they begin")
    return StoredRanges(stored)


def _write_ranges(schema: Schema) -> np.ndarray | None:
    if not schema.ranges:
        return None
    if isinstance(schema.ranges, StoredRanges):
        return schema.ranges.stored
    stored = np.full((schema.n_columns, 2), np.nan)
    for position, limits in schema.ranges.items():
        stored[position] = limits
    return stored


def _take(columns: FittedColumns) -> dict[str, Any]:
    schema = columns.schema
    return {
        "n_columns": schema.n_columns,
        "names": columns.names,
        "categories": [Categories(*one) for one in sorted(schema.categories.items())],
        "listed": sorted(schema.listed),
        "ranges": _write_ranges(schema),
        "dates": None if schema.dates is None else sorted(schema.dates),
    }


POSITION = Scalar(int, 0, MAX_COLUMNS - 1)
CATEGORIES = Record({"position": POSITION, "labels": Many(Label())}, make=Categories)
COLUMNS = Record(
    {
        "n_columns": Scalar(int, 1, MAX_COLUMNS),
        "names": Maybe(Many(Scalar(str))),
        "categories": Many(CATEGORIES),
        "listed": Many(POSITION),
        "ranges": Maybe(Array(np.float64, 2)),
        "dates": Maybe(Many(POSITION)),
    },
    make=_make,
    take=_take,
    added=frozenset({"ranges", "dates"}),
)
