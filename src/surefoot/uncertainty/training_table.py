"""The table as trees read it: how the cells of a row become codes, and the codes that all members share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from surefoot._parallel import RowThreads
from surefoot._random import random_permutation, stream_key
from surefoot.data import BinEdges, Binner, Columns, Schema
from surefoot.data.category_combinations import STRENGTH, informative_combinations
from surefoot.data.category_statistics import CategoryStatistics, informative_pairs
from surefoot.trees.growth_rules import GrowthRules
from surefoot.trees.packed_codes import PackedCodes
from surefoot.uncertainty.fit_spec import FitSpec
from surefoot.uncertainty.model_rows import ModelRows
from surefoot.uncertainty.training_log import TrainingLog
from surefoot.uncertainty.training_rows import TrainingRows

SET_CATEGORIES = 50  # trees read columns with more categories through statistics of the target
MAX_TRIED = 30  # combinations are tried only for this many of the most important categorical columns


def plain_columns(schema: Schema) -> tuple[int, ...]:
    """The positions of the columns that trees read directly: all but those with many categories."""
    categories = schema.categories
    return tuple(j for j in range(schema.n_columns) if len(categories.get(j, ())) <= SET_CATEGORIES)


@dataclass(frozen=True)
class Encoding:
    """Bins of the columns that trees read directly, and statistics of the columns with many categories.

    ``sources`` lists, for each column that trees read, the columns of the table that it is made from.
    """

    plain: Sequence[int]  # positions of the columns that trees read directly
    many: tuple[int, ...]  # positions of the columns with many categories
    binner: Binner
    sources: Sequence[tuple[int, ...]]
    few: tuple[int, ...] = ()  # positions of the other categorical columns, which those with many are combined with
    combinations: CategoryStatistics | None = None
    combinations_binner: Binner | None = None
    statistics: CategoryStatistics | None = None
    statistics_binner: Binner | None = None

    @classmethod
    def fit(cls, columns: Columns, max_bins: int, weights: np.ndarray | None, threads: RowThreads) -> "Encoding":
        """Bins from the training rows; each member adds its own statistics, where needed (``with_statistics``)."""
        plain = plain_columns(columns.schema)
        return cls.of(columns.schema, Binner.from_columns(columns.select(plain), max_bins, weights, threads))

    @classmethod
    def of(cls, schema: Schema, binner: Binner) -> "Encoding":
        """The encoding with these bins of the columns that trees read directly."""
        plain, categories = plain_columns(schema), sorted(schema.categories)
        many = tuple(j for j in categories if j not in plain)
        few = tuple(j for j in categories if j in plain) if many else ()
        return cls(plain=plain, many=many, binner=binner, sources=tuple((j,) for j in plain), few=few)

    def pairs(self, importances: np.ndarray) -> list[tuple[int, int]]:
        """Pairs of a column with many categories and one with few, as places in ``category_codes``.

        Pairs of columns with many categories are among ``statistics``; trees combine columns with few themselves.
        """
        columns = np.array(self.many + self.few)
        tried = np.sort(np.argsort(-importances[columns], kind="stable")[:MAX_TRIED]).tolist()
        return [(a, b) for a, b in combinations(tried, 2) if a < len(self.many) <= b]

    def with_combinations(
        self,
        codes: np.ndarray,
        pairs: list[tuple[int, int]],
        residuals: np.ndarray,
        weights: np.ndarray,
        order: np.ndarray,
        max_bins: int,
    ) -> tuple["Encoding", np.ndarray]:
        """An encoding with statistics of the combinations that explain ``residuals`` of the targets; and their codes.

        ``codes`` are those of ``category_codes``, (columns, rows). The statistics of a row are from the rows before it
        in ``order``.
        """
        telling = informative_combinations(codes[:, order], pairs, residuals[:, order], weights[order])
        if not telling:
            return self, np.empty((0, codes.shape[1]), dtype=np.uint8)
        statistics, values = CategoryStatistics.of_combinations(telling, codes, residuals, weights, order, STRENGTH)
        binner, sources = self._binned(statistics, values, weights, order, max_bins)
        encoding = replace(self, sources=(*self.sources, *sources), combinations=statistics, combinations_binner=binner)
        return encoding, binner.codes_of(values)

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

        Also returned are their codes, one array for each of ``keys``: each key puts the training rows in another order.
        New rows have the same codes in all of them. ``codes`` are those of ``category_codes``, (columns, rows), and
        pairs are places in them.
        """
        rows = (codes, targets, weights, train)
        combinations = [*((place,) for place in range(len(self.many))), *pairs]
        statistics, values = CategoryStatistics.fit(combinations, *rows, keys[0], strength)
        binner, sources = self._binned(statistics, values, weights, train, max_bins)
        encoding = replace(self, sources=(*self.sources, *sources), statistics=statistics, statistics_binner=binner)
        others = (statistics.in_another_order(*rows, key, strength) for key in keys[1:])
        return encoding, [binner.codes_of(values), *map(binner.codes_of, others)]

    def _binned(
        self, statistics: CategoryStatistics, values: np.ndarray, weights: np.ndarray, train: np.ndarray, max_bins: int
    ) -> tuple[Binner, tuple[tuple[int, ...], ...]]:
        """Bins for the values of statistics, and the columns of the table that each value comes from."""
        edges = [BinEdges.from_values(value[train], max_bins, weights[train]) for value in values]
        binner = Binner(list(edges), np.array([len(edge) for edge in edges], dtype=np.int64))
        return binner, tuple(tuple((self.many + self.few)[j] for j in source) for source in statistics.sources)

    def reads_like(self, other: "Encoding") -> bool:
        """Whether every value has the same code in both."""
        return len(self.edges) == len(other.edges) and all(
            (a is None) == (b is None) and (a is None or b is None or np.array_equal(a.thresholds, b.thresholds))
            for a, b in zip(self.edges, other.edges, strict=True)
        )

    @property
    def missing(self) -> np.ndarray:
        """The code of missing values of every column that trees read."""
        return np.concatenate([binner.missing for binner in self._binners])

    @property
    def is_categorical(self) -> np.ndarray:
        return np.array([edges is None for edges in self.edges], dtype=np.bool_)

    @property
    def edges(self) -> list[BinEdges | None]:
        """The bins of every column that trees read; None where a category is a code."""
        return [edges for binner in self._binners for edges in binner.edges]

    @property
    def _binners(self) -> list[Binner]:
        all_kinds = (self.binner, self.combinations_binner, self.statistics_binner)
        return [binner for binner in all_kinds if binner is not None]

    def plain_codes(self, columns: Columns, threads: RowThreads) -> np.ndarray:
        """Codes of the columns that trees read directly, for a whole table."""
        return self.binner.codes(columns.select(self.plain), threads)

    def category_codes(self, columns: Columns, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Codes of the columns with many categories, then of those with few."""
        return np.stack([columns.category_codes(j, start, stop) for j in self.many + self.few])

    def codes(self, columns: Columns, start: int, stop: int) -> np.ndarray:
        """Codes (columns that trees read, rows) of the rows ``start`` to ``stop``."""
        if self.statistics is None:
            return columns.block_codes(self.binner, start, stop)
        values = columns.block(start, stop)
        categories = self.category_codes(columns, start, stop)
        parts = [values[list(self.plain)]]
        for statistics in (self.combinations, self.statistics):
            if statistics is not None:
                parts.append(statistics.transform(categories))
        return np.concatenate([binner.codes_of(part) for binner, part in zip(self._binners, parts, strict=True)])

    def mixed_codes(self, categories: np.ndarray, others: np.ndarray, mixture: int) -> np.ndarray:
        """Codes of the statistics (statistics, rows) of mixtures of two rows (see ``transform_mixed``)."""
        kinds = ((self.combinations, self.combinations_binner), (self.statistics, self.statistics_binner))
        return np.concatenate(
            [
                binner.codes_of(statistics.transform_mixed(categories, others, mixture))
                for statistics, binner in kinds
                if statistics is not None and binner is not None
            ]
        )

    def rules(self, rules: GrowthRules) -> GrowthRules:
        """The same rules for the columns that trees read: their monotone constraints, and what they are made from."""
        by_column = rules.constraints
        if by_column is not None:
            rules = replace(rules, constraints=tuple(by_column[source[0]] for source in self.sources))
        return replace(rules, sources=tuple(self.sources)) if rules.limits_columns else rules

    def split_importances(self, importances: np.ndarray, n_columns: int) -> np.ndarray:
        """Importances of the columns of the table; that of a column made from several is divided among them."""
        out = np.zeros(n_columns)
        for importance, source in zip(importances, self.sources, strict=True):
            for j in source:
                out[j] += importance / len(source)
        return out


# Labels of streams of random numbers: the order of the rows in a member's statistics (further orders follow), the order
# of the rows when pairs are chosen, and the pairs of columns with few categories that a member reads.
STATISTICS, PAIRS, DRAWN_PAIRS = 1_000_033, 1_000_039, 1_000_081


@dataclass(frozen=True)
class StatisticsConfig:
    """How a model computes statistics of categories."""

    max_bins: int
    n_orders: int  # of the rows; trees read the orders in turn, one tree each
    strength: float  # the mean of a category is shrunk to that of all rows, as by this many additional rows
    n_drawn_pairs: int  # pairs of columns with few categories, drawn at random, that have statistics too


# Detailed statistics make a single model more accurate. The members of an ensemble should disagree only about what the
# data leave open. With fine bins and a single order of the rows, they would fit what is due to the order by chance, and
# disagree about it near the training rows. Rare categories that are hardly shrunk, and pairs that do not occur together
# in training, make members disagree about rows that are unlike all training rows.
SINGLE_MODEL = StatisticsConfig(max_bins=255, n_orders=1, strength=5.0, n_drawn_pairs=0)
ENSEMBLE_MEMBER = StatisticsConfig(max_bins=15, n_orders=2, strength=2.0, n_drawn_pairs=10)


@dataclass(frozen=True)
class SharedTable:
    """What all members read: codes of the plain columns (and of combinations, if any), and all categories.

    Categories are kept only if a column has many of them, and so needs statistics. The rows are the training rows, then
    the validation rows that the user passed.
    """

    encoding: Encoding
    codes: np.ndarray
    categories: np.ndarray | None
    packed: PackedCodes | None  # None: each member reads columns of its own in addition
    pairs: tuple[tuple[int, int], ...] = ()  # pairs that have statistics, as places among the categories
    log: TrainingLog | None = None  # where trees are recorded

    @classmethod
    def of(cls, spec: FitSpec) -> "SharedTable":
        weights = None if spec.likelihood_weights is None else spec.likelihood_weights[: spec.n_training_rows]
        with RowThreads(spec.n_threads) as threads:
            encoding = Encoding.fit(spec.columns, spec.max_bins, weights, threads)
            parts = [spec.columns] if spec.validation is None else [spec.columns, spec.validation]
            part_codes = [encoding.plain_codes(part, threads) for part in parts]
            codes = part_codes[0] if len(parts) == 1 else np.concatenate(part_codes, axis=1)
            if not encoding.many:
                packed = PackedCodes(codes, encoding.missing, encoding.is_categorical, threads)
                return cls(encoding=encoding, codes=codes, categories=None, packed=packed)
        categories = np.concatenate([encoding.category_codes(part) for part in parts], axis=1)
        return cls(encoding=encoding, codes=codes, categories=categories, packed=None)

    def with_pairs(self, spec: FitSpec, train: np.ndarray) -> "SharedTable":
        """The table with those pairs of columns with many categories that are informative for the rows ``train``."""
        if self.categories is None:
            return self
        large, key = self.categories[: len(self.encoding.many)], stream_key(spec.seed, PAIRS)
        return replace(self, pairs=tuple(informative_pairs(large, spec.targets(), _weights(spec), train, key)))

    def _pairs_of(self, spec: FitSpec, member: int, n_drawn_pairs: int) -> list[tuple[int, int]]:
        """The pairs of all members, and those drawn for one member."""
        first, n_few = len(self.encoding.many), len(self.encoding.few)
        if n_few < 2:
            return list(self.pairs)
        keys = (stream_key(spec.seed, member, DRAWN_PAIRS + k) for k in range(n_drawn_pairs))
        drawn = {tuple(sorted(first + random_permutation(key, n_few)[:2].astype(int))) for key in keys}
        return [*self.pairs, *sorted((int(a), int(b)) for a, b in drawn)]

    def begin(
        self, spec: FitSpec, member: int, rows: TrainingRows, start: np.ndarray, threads: RowThreads
    ) -> tuple[ModelRows, Encoding]:
        """The rows of one member before its first tree."""
        tables, encoding = self.for_member(spec, member, rows.train)
        rules = encoding.rules(spec.config.rules)
        return self.logged(ModelRows.of(tables, rules, spec.family, rows, start, threads), member), encoding

    def logged(self, begun: ModelRows, member: int) -> ModelRows:
        """The rows of a model whose trees are recorded, if there is a log."""
        if self.log is not None:
            begun.log = self.log.of_model(member)
        return begun

    def for_member(self, spec: FitSpec, member: int, train: np.ndarray) -> tuple[tuple[PackedCodes, ...], Encoding]:
        """The table as one member reads it, once for each order of the rows in its statistics."""
        if self.packed is not None:
            return (self.packed,), self.encoding
        encoding, all_codes = self.statistics_for_member(spec, member, train)
        return tuple(
            PackedCodes(np.concatenate([self.codes, codes]), encoding.missing, encoding.is_categorical)
            for codes in all_codes
        ), encoding

    def statistics_for_member(self, spec: FitSpec, member: int, train: np.ndarray) -> tuple[Encoding, list[np.ndarray]]:
        """The encoding of one member, and the codes of its statistics for each order of the rows."""
        assert self.categories is not None
        config = statistics_config(spec)
        return self.encoding.with_statistics(
            self.categories,
            self._pairs_of(spec, member, config.n_drawn_pairs),
            spec.targets(),
            _weights(spec),
            train,
            [stream_key(spec.seed, member, STATISTICS + k) for k in range(config.n_orders)],
            config.max_bins,
            config.strength,
        )


def statistics_config(spec: FitSpec) -> StatisticsConfig:
    """How the models of a fit compute statistics of categories."""
    return ENSEMBLE_MEMBER if spec.config.differs_by_seed else SINGLE_MODEL


def _weights(spec: FitSpec) -> np.ndarray:
    return np.ones(len(spec.y)) if spec.weights is None else spec.weights
