"""Encodings of the members of a gradient booster: shared bins, and category statistics of each member."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple, overload

import numpy as np

from surefoot.data import Binner
from surefoot.data.category_combinations import MAX_KEYS
from surefoot.data.category_statistics import CategoryStatistics, Statistic
from surefoot.model_io.binner import BINNER, are_categorical
from surefoot.model_io.columns import POSITION
from surefoot.model_io.fields import Array, Many, Maybe, Record, Scalar
from surefoot.model_io.model_json import require
from surefoot.uncertainty.training_table import Encoding

MAX_COMBINED = 8  # columns in a combination
MAX_READ = 1 << 24  # columns that all members read together


class BinnedStatistics(NamedTuple):
    """Statistics and the bins of their values."""

    statistics: CategoryStatistics
    binner: Binner


def _make_statistic(
    columns: list[int], factors: list[int], keys: np.ndarray, means: np.ndarray, counts: np.ndarray
) -> Statistic:
    require(1 <= len(columns) == len(factors) <= MAX_COMBINED, "columns and factors differ in number")
    require(prod(factors) <= MAX_KEYS, "there are more combinations than a key can represent")
    require(len(keys) >= 1 and (keys[:-1] < keys[1:]).all(), "keys do not increase")
    require(means.shape[1:] == counts.shape == keys.shape, "means, counts and keys differ in number")
    return Statistic(tuple(columns), tuple(factors), keys, means, counts)


def _make_binned(statistics: list[Statistic], prior: np.ndarray, binner: Binner) -> BinnedStatistics:
    require(len(statistics) >= 1 and len(prior) >= 1, "there are no statistics")
    require(all(len(one.means) == len(prior) for one in statistics), "means and prior differ in number")
    fitted = CategoryStatistics(tuple(statistics), prior)
    require(len(fitted.sources) == len(binner.edges), "bins and values differ in number")
    require(not are_categorical(binner).any(), "the bins of a value are those of categories")
    return BinnedStatistics(fitted, binner)


class OwnColumns(Sequence[tuple[int, ...]]):
    """The sources of a table that trees read directly: ``(j,)`` for column j."""

    def __init__(self, n_columns: int) -> None:
        self._columns = range(n_columns)

    def __len__(self) -> int:
        return len(self._columns)

    @overload
    def __getitem__(self, place: int) -> tuple[int, ...]: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[tuple[int, ...]]: ...

    def __getitem__(self, place: int | slice) -> tuple[int, ...] | Sequence[tuple[int, ...]]:
        if isinstance(place, slice):
            return [(j,) for j in self._columns[place]]
        return (self._columns[place],)


def _take(encodings: Sequence[Encoding]) -> dict[str, Any]:
    first = encodings[0]
    has_same_bins = all(one.binner is first.binner or _same_bins(one.binner, first.binner) for one in encodings)
    require(has_same_bins, "its members have different bins")
    shared = first.combinations, first.combinations_binner
    return {
        "many": first.many,
        "binner": first.binner,
        "combinations": None if first.combinations is None else BinnedStatistics(*shared),  # type: ignore[arg-type]
        "own": [
            BinnedStatistics(one.statistics, one.statistics_binner)  # type: ignore[arg-type]
            for one in encodings
            if one.statistics is not None
        ],
    }


def _same_bins(one: Binner, other: Binner) -> bool:
    return np.array_equal(one.missing, other.missing) and np.array_equal(one._thresholds, other._thresholds)


def _make(
    many: list[int], binner: Binner, combinations: BinnedStatistics | None, own: list[BinnedStatistics]
) -> list[Encoding]:
    """One encoding for each member; a single one for all members if there are no statistics."""
    n_columns = len(binner.edges) + len(many)
    in_order = many == sorted(set(many)) and all(j < n_columns for j in many)
    require(in_order, "columns with many categories are not in order")
    require(n_columns * len(own) <= MAX_READ, "there are more members and columns than any model has")
    require(bool(many) == bool(own), "statistics and columns with many categories do not match")
    require(many or combinations is None, "there are combinations without columns")
    if not many:
        return [Encoding(range(n_columns), (), binner, OwnColumns(n_columns))]
    of_many = set(many)
    plain = tuple(j for j in range(n_columns) if j not in of_many)
    few = tuple(np.array(plain, dtype=np.int64)[are_categorical(binner)].tolist())
    shared = Encoding(plain, tuple(many), binner, tuple((j,) for j in plain), few)
    if combinations is not None:
        sources = (*shared.sources, *_sources(combinations, tuple(many) + few))
        shared = replace(
            shared, sources=sources, combinations=combinations.statistics, combinations_binner=combinations.binner
        )
    return [
        replace(
            shared,
            sources=(*shared.sources, *_sources(one, tuple(many) + few)),
            statistics=one.statistics,
            statistics_binner=one.binner,
        )
        for one in own
    ]


def _sources(statistics: BinnedStatistics, columns: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The columns of each value, as positions in the table; statistics use ``columns`` only."""
    sources = statistics.statistics.sources
    require(max(map(max, sources)) < len(columns), "there are statistics of a column that has no categories")
    return tuple(tuple(columns[place] for place in source) for source in sources)


STATISTIC = Record(
    {
        "columns": Many(POSITION),
        "factors": Many(Scalar(int, 1, MAX_KEYS)),
        "keys": Array(np.int64, 1),
        "means": Array(np.float64, 2, finite=True),
        "counts": Array(np.float64, 1, finite=True),
    },
    make=_make_statistic,
)
BINNED_STATISTICS = Record(
    {"statistics": Many(STATISTIC), "prior": Array(np.float64, 1, finite=True), "binner": BINNER},
    make=_make_binned,
    take=lambda binned: {
        "statistics": binned.statistics.statistics,
        "prior": binned.statistics.prior,
        "binner": binned.binner,
    },
)
ENCODINGS = Record(
    {
        "many": Many(POSITION),
        "binner": BINNER,
        "combinations": Maybe(BINNED_STATISTICS),
        "own": Many(BINNED_STATISTICS),
    },
    make=_make,
    take=_take,
)
