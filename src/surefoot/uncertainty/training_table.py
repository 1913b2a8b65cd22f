"""The table as trees read it: how a row becomes codes, and which codes all members share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from surefoot._parallel import RowThreads, threads_for
from surefoot._random import random_permutation, stream_key
from surefoot.data import BinEdges, Binner, Columns
from surefoot.data.category_combinations import STRENGTH, informative_combinations
from surefoot.data.category_statistics import CategoryStatistics, informative_pairs
from surefoot.trees.packed_codes import PackedCodes
from surefoot.uncertainty.fit_spec import FitSpec

SET_CATEGORIES = 50  # columns with more categories are read through statistics of the target
MAX_TRIED = 30  # of more categorical columns than this, the most important are tried in combinations


@dataclass(frozen=True)
class Encoding:
    """Bins for the columns that trees read as they are, and statistics for those with many categories.

    ``sources`` says for each column that trees read which columns of the table it comes from.
    """

    plain: tuple[int, ...]  # positions of the columns read as they are
    many: tuple[int, ...]  # positions of those with many categories
    binner: Binner
    sources: tuple[tuple[int, ...], ...]
    few: tuple[int, ...] = ()  # positions of other categorical columns, which those with many are combined with
    combinations: CategoryStatistics | None = None
    combinations_binner: Binner | None = None
    statistics: CategoryStatistics | None = None
    statistics_binner: Binner | None = None

    @classmethod
    def fit(cls, columns: Columns, max_bins: int, weights: np.ndarray | None, threads: RowThreads) -> "Encoding":
        """Bins from the training rows; statistics, where needed, are each member's own (``with_statistics``)."""
        categories = columns.schema.categories
        many = tuple(j for j in sorted(categories) if len(categories[j]) > SET_CATEGORIES)
        plain = tuple(j for j in range(columns.n_columns) if j not in many)
        binner = Binner.from_columns(columns.select(plain), max_bins, weights, threads)
        few = tuple(j for j in sorted(categories) if j not in many) if many else ()
        return cls(plain, many, binner, tuple((j,) for j in plain), few)

    def pairs(self, importances: np.ndarray) -> list[tuple[int, int]]:
        """Pairs of a column with many categories and one with few, as places among ``category_codes``.

        Pairs of the former are among ``statistics``; the latter are combined by the trees themselves.
        """
        columns = np.array(self.many + self.few)
        tried = np.sort(np.argsort(-importances[columns], kind="stable")[:MAX_TRIED]).tolist()
        return [(a, b) for a, b in combinations(tried, 2) if a < len(self.many) <= b]

    def with_combinations(
        self,
        codes: np.ndarray,
        pairs: list[tuple[int, int]],
        left: np.ndarray,
        weights: np.ndarray,
        order: np.ndarray,
        max_bins: int,
    ) -> tuple["Encoding", np.ndarray]:
        """An encoding with statistics of combinations that tell what is ``left`` of the targets; and their codes.

        ``codes`` are those of ``category_codes``, (columns, rows); rows see one another in ``order``.
        """
        telling = informative_combinations(codes[:, order], pairs, left[:, order], weights[order])
        if not telling:
            return self, np.empty((0, codes.shape[1]), dtype=np.uint8)
        found, values = CategoryStatistics.of_combinations(telling, codes, left, weights, order, STRENGTH)
        binner, sources = self._binned(found, values, weights, order, max_bins)
        whole = replace(self, sources=self.sources + sources, combinations=found, combinations_binner=binner)
        return whole, binner.codes_of(values)

    def with_statistics(
        self,
        codes: np.ndarray,
        pairs: Sequence[tuple[int, int]],
        targets: np.ndarray,
        weights: np.ndarray,
        train: np.ndarray,
        keys: Sequence[np.uint64],
        max_bins: int,
        strength: float,
    ) -> tuple["Encoding", list[np.ndarray]]:
        """An encoding with statistics of columns with many categories and of ``pairs``, from the rows ``train``.

        Also returned are their codes. ``codes`` are those of ``category_codes``, (columns, rows), and pairs are places
        among them. Each of ``keys`` puts the rows in an order of its own; new rows read the same in all of them.
        """
        rows = (codes, targets, weights, train)
        combinations = [*((place,) for place in range(len(self.many))), *pairs]
        statistics, values = CategoryStatistics.fit(combinations, *rows, keys[0], strength)
        binner, sources = self._binned(statistics, values, weights, train, max_bins)
        whole = replace(self, sources=self.sources + sources, statistics=statistics, statistics_binner=binner)
        others = (statistics.in_another_order(*rows, key, strength) for key in keys[1:])
        return whole, [binner.codes_of(values), *map(binner.codes_of, others)]

    def _binned(
        self, statistics: CategoryStatistics, values: np.ndarray, weights: np.ndarray, train: np.ndarray, max_bins: int
    ) -> tuple[Binner, tuple[tuple[int, ...], ...]]:
        """Bins for the values of statistics, and the table's columns that each value comes from."""
        edges = [BinEdges.from_values(value[train], max_bins, weights[train]) for value in values]
        binner = Binner(list(edges), np.array([len(edge) for edge in edges], dtype=np.int64))
        return binner, tuple(tuple((self.many + self.few)[j] for j in source) for source in statistics.sources)

    def reads_like(self, other: "Encoding") -> bool:
        """Whether every value has the same code in both."""
        mine = [edges for binner in self._binners for edges in binner.edges]
        theirs = [edges for binner in other._binners for edges in binner.edges]
        return len(mine) == len(theirs) and all(
            (a is None) == (b is None) and (a is None or b is None or np.array_equal(a.thresholds, b.thresholds))
            for a, b in zip(mine, theirs, strict=True)
        )

    @property
    def missing(self) -> np.ndarray:
        """The code of missing values, of every column that trees read."""
        return np.concatenate([binner.missing for binner in self._binners])

    @property
    def is_categorical(self) -> np.ndarray:
        return np.array([edges is None for binner in self._binners for edges in binner.edges], dtype=np.bool_)

    @property
    def _binners(self) -> list[Binner]:
        all_kinds = (self.binner, self.combinations_binner, self.statistics_binner)
        return [binner for binner in all_kinds if binner is not None]

    def plain_codes(self, columns: Columns, threads: RowThreads) -> np.ndarray:
        """Codes of the columns read as they are, for a whole table."""
        return self.binner.codes(columns.select(self.plain), threads)

    def category_codes(self, columns: Columns, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Codes of the columns with many categories, then of those with few."""
        return np.stack([columns.category_codes(j, start, stop) for j in self.many + self.few])

    def codes(self, columns: Columns, start: int, stop: int) -> np.ndarray:
        """Codes (columns that trees read, rows) of the rows ``start`` to ``stop``."""
        values = columns.block(start, stop)
        if self.statistics is None:
            return self.binner.codes_of(values)
        categories = self.category_codes(columns, start, stop)
        parts = [values[list(self.plain)]]
        parts += [found.transform(categories) for found in (self.combinations, self.statistics) if found is not None]
        return np.concatenate([binner.codes_of(part) for binner, part in zip(self._binners, parts, strict=True)])

    def constraints(self, by_column: tuple[int, ...] | None) -> tuple[int, ...] | None:
        """The monotone constraint of every column that trees read, from those of the table's columns."""
        return None if by_column is None else tuple(by_column[source[0]] for source in self.sources)

    def split_importances(self, importances: np.ndarray, n_columns: int) -> np.ndarray:
        """Importances of the table's columns; a column made from several shares out its own."""
        out = np.zeros(n_columns)
        for share, source in zip(importances, self.sources, strict=True):
            for j in source:
                out[j] += share / len(source)
        return out


# Labels of streams: the order of the rows in a member's statistics (further orders follow), and in the choice of pairs;
# the pairs of small columns that a member reads.
STATISTICS, PAIRS, DRAWN_PAIRS = 1_000_033, 1_000_039, 1_000_081


@dataclass(frozen=True)
class Reading:
    """How a model reads its statistics of categories."""

    bins: int
    orders: int  # of the rows, read in turn, tree by tree
    strength: float  # a category's mean is drawn to that of all rows as if so many more rows had been there
    drawn_pairs: int  # pairs of columns with few categories, drawn at random, that have statistics too


# A model that is alone gains by all that statistics tell. Members of an ensemble shall differ by what is unknown. Fine
# bins and a single order show them what chance made of the order, about which they would disagree near the training
# rows. Rare categories that are hardly drawn to the mean, and pairs that training has not seen together, tell them of
# rows that are like none of these.
ONE_MODEL, MEMBER = Reading(255, 1, 5.0, 0), Reading(15, 2, 2.0, 10)


@dataclass(frozen=True)
class SharedTable:
    """What all members read: codes of the plain columns (and of combinations, if any), and all categories.

    Categories are kept only if a column has many, and so needs statistics. The rows are the training rows, then the
    validation rows that the user gave.
    """

    encoding: Encoding
    codes: np.ndarray
    categories: np.ndarray | None
    words: PackedCodes | None  # None: each member has columns of its own besides
    pairs: tuple[tuple[int, int], ...] = ()  # that have statistics, as places among the categories

    @classmethod
    def of(cls, spec: FitSpec) -> "SharedTable":
        own = None if spec.weights is None else spec.weights[: spec.n_training_rows]
        with RowThreads(threads_for(spec.n_jobs, len(spec.y) * spec.columns.n_columns)) as threads:
            encoding = Encoding.fit(spec.columns, spec.max_bins, own, threads)
            parts = [spec.columns] if spec.validation is None else [spec.columns, spec.validation]
            codes = np.concatenate([encoding.plain_codes(part, threads) for part in parts], axis=1)
        if encoding.many:
            return cls(encoding, codes, np.concatenate([encoding.category_codes(part) for part in parts], axis=1), None)
        return cls(encoding, codes, None, PackedCodes(codes, encoding.missing, encoding.is_categorical))

    def with_pairs(self, spec: FitSpec, train: np.ndarray) -> "SharedTable":
        """The table with those pairs of large columns that tell enough of the rows ``train``, for all members alike."""
        if self.categories is None:
            return self
        large, key = self.categories[: len(self.encoding.many)], stream_key(spec.seed, PAIRS)
        return replace(self, pairs=tuple(informative_pairs(large, spec.targets(), _weights(spec), train, key)))

    def _pairs_of(self, spec: FitSpec, member: int, reading: Reading) -> list[tuple[int, int]]:
        """Those of all members, and a member's own."""
        first, n_few = len(self.encoding.many), len(self.encoding.few)
        if n_few < 2:
            return list(self.pairs)
        keys = (stream_key(spec.seed, member, DRAWN_PAIRS + k) for k in range(reading.drawn_pairs))
        drawn = {tuple(sorted(first + random_permutation(key, n_few)[:2].astype(int))) for key in keys}
        return [*self.pairs, *sorted((int(a), int(b)) for a, b in drawn)]

    def for_member(self, spec: FitSpec, member: int, train: np.ndarray) -> tuple[tuple[PackedCodes, ...], Encoding]:
        """The table as one member reads it, as often as it has orders of the rows for statistics."""
        if self.words is not None or self.categories is None:
            assert self.words is not None
            return (self.words,), self.encoding
        reading = reading_of(spec)
        keys = [stream_key(spec.seed, member, STATISTICS + k) for k in range(reading.orders)]
        encoding, all_codes = self.encoding.with_statistics(
            self.categories,
            self._pairs_of(spec, member, reading),
            spec.targets(),
            _weights(spec),
            train,
            keys,
            reading.bins,
            reading.strength,
        )
        return tuple(
            PackedCodes(np.concatenate([self.codes, codes]), encoding.missing, encoding.is_categorical)
            for codes in all_codes
        ), encoding


def reading_of(spec: FitSpec) -> Reading:
    """That of a model alone, or of one of several that shall differ."""
    return MEMBER if spec.config.differs_by_seed else ONE_MODEL


def _weights(spec: FitSpec) -> np.ndarray:
    return np.ones(len(spec.y)) if spec.weights is None else spec.weights
