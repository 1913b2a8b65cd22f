"""The rows of one model in training in several shards: in this process, in files, or on the workers of a cluster.

A round sends a few messages to all shards: begin, one for each level of the tree, and the values of its leaves. What
the shards return is whole numbers, which are added up in any order, or floats for each block of rows, which are added
up in the order of the blocks. So the model is the same, to the byte, as that of ``ModelRows``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.trees.grown_tree import GrownGradientTree
from surefoot.trees.growth_rules import GrowthRules
from surefoot.trees.level_kernels import LeafSums, TreeSplits
from surefoot.trees.packed_codes import PackedCodes, weight_of_identical_rows
from surefoot.trees.packed_gradients import GradientFormat
from surefoot.trees.shard_grower import LevelSums, ShardGrower, SplitSearch
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.model_rows import ModelRows, Round, add_blocks
from surefoot.uncertainty.row_state import RowTotals, max_leverage
from surefoot.uncertainty.shard_model import ShardModel
from surefoot.uncertainty.training_rows import TrainingRows


@dataclass(frozen=True)
class ShardSpec:
    """What a shard needs for one model: its rows, and what it must know of all others."""

    tables: tuple[PackedCodes, ...]  # the columns of the tables that trees read in turn, without rows
    family: RegressionFamily | ClassificationFamily
    rules: GrowthRules
    rows: TrainingRows  # those of the shard, numbered from 0
    totals: RowTotals
    start: np.ndarray
    max_leverage: np.ndarray
    sum_format: GradientFormat

    def build(self, words: Sequence[np.ndarray], threads: RowThreads) -> ShardModel:
        """The model before its first tree, on the rows of the shard; ``words`` are their codes in each table."""
        tables = [table.with_words(own) for table, own in zip(self.tables, words, strict=True)]
        n_scores, weights = self.family.n_outputs, self.rows.weights
        grower = ShardGrower(tables[0], n_scores, self.rules, weights, threads, self.sum_format)
        shard = ShardModel(tables, grower, self.family, self.rows, self.totals, self.start, self.max_leverage)
        shard.use(threads)
        return shard


class Shards(Protocol):
    """The shards of a table, and the models in training on them; each model has a number."""

    row_ranges: list[tuple[int, int]]  # the first row of each shard, and the first after it; from the first block on

    def create(self, model: int, specs: list[ShardSpec], codes: list[tuple[np.ndarray, ...]]) -> None:
        """Begin a model; ``codes`` has, for each shard, the codes of columns that only this model reads."""

    def call(self, model: int, method: str, *args: Any) -> list[Any]:
        """What a method of ``ShardModel`` returns, for each shard."""

    def add_up(self, model: int, method: str, *args: Any) -> LevelSums:
        """The sum of what a method of ``ShardModel`` returns, over all shards."""

    def mixed_rows(self, codes: list[np.ndarray]) -> np.ndarray:
        """A number for every row: see ``packed_codes.mixed_rows``; ``codes`` are those of columns that shards lack."""

    def all_words(self) -> list[np.ndarray]:
        """The codes of each shard, for small tables."""

    def drop(self, model: int) -> None:
        """Forget a model."""


class ShardedRows(ModelRows):
    """All rows of a model, in shards."""

    def __init__(
        self, shards: Shards, model: int, search: SplitSearch, tables: Sequence[PackedCodes], first_train: int
    ) -> None:
        self._shards, self._model, self._search = shards, model, search
        self._tables, self._first_train = tuple(tables), first_train

    @classmethod
    def begin(
        cls,
        shards: Shards,
        model: int,
        tables: Sequence[PackedCodes],
        codes: Sequence[np.ndarray],
        rules: GrowthRules,
        family: RegressionFamily | ClassificationFamily,
        rows: TrainingRows,
        start: np.ndarray,
        threads: RowThreads,
    ) -> "ShardedRows":
        """The rows before the first tree.

        ``tables`` describe the columns, without their rows. For each table, ``codes`` has those columns that the shards
        lack, (columns, rows).
        """
        leverage = np.empty(0)
        own_codes = [tuple(part[:, first:stop] for part in codes) for first, stop in shards.row_ranges]
        if family.has_scale:
            mixed = shards.mixed_rows([own[0] for own in own_codes])
            leverage = weight_of_identical_rows(mixed, rows.weights, rows.train)
            del mixed  # of large tables, this takes as much memory as the target
            leverage = max_leverage(leverage)
        sum_format = GradientFormat.of(family.n_outputs, rows.weights, len(rows.y))
        specs = [
            ShardSpec(
                tables=tuple(tables),
                family=family,
                rules=rules,
                rows=rows.shard(first, stop),
                totals=RowTotals(
                    train_weight=rows.train_weight,
                    held_out_weight=rows.held_out_weight,
                    first_row=first,
                    first_train=int(np.searchsorted(rows.train, first)),
                ),
                start=start,
                max_leverage=leverage[first:stop],
                sum_format=sum_format,
            )
            for first, stop in shards.row_ranges
        ]
        shards.create(model, specs, own_codes)
        search = SplitSearch(tables[0], family.n_outputs, rules, None, threads, sum_format)
        return cls(shards, model, search, tables, int(rows.train[0]))

    @property
    def tables(self) -> tuple[PackedCodes, ...]:
        return self._tables

    @property
    def constraints(self) -> np.ndarray:
        return self._search.constraints

    @property
    def threads(self) -> RowThreads:
        return self._search.threads

    def use(self, threads: RowThreads) -> None:
        self._search.threads = threads

    def _call(self, method: str, *args: Any) -> list[Any]:
        return self._shards.call(self._model, method, *args)

    def _blocks(self, method: str, *args: Any) -> Any:
        parts = self._call(method, *args)
        if isinstance(parts[0], tuple):
            return tuple(np.concatenate(part) for part in zip(*parts, strict=True))
        return np.concatenate(parts)

    def grow(self, start: Round) -> GrownGradientTree:
        search = self._search
        if self._tables[start.table] is not search.table:
            search.read(self._tables[start.table])
        return super().grow(start)

    @property
    def _tree(self) -> GrownGradientTree:
        return self._search.tree

    def _grow_again(self, start: Round, splits: TreeSplits) -> GrownGradientTree:
        if not sum(self._call("begin", start)):
            self._call("draw_only", self._first_train)
        self._search.tree.copy_splits(splits)
        self._add_leaf_sums(self._call("use_tree", splits))
        return self._search.tree

    def _grow(self, start: Round) -> GrownGradientTree:
        search, depth, key = self._search, self._search.rules.depth, start.dither_key
        n_drawn, absolute = self._begin(start)
        *sums, total = add_blocks(absolute).tolist()
        search.use_noise(start.split_noise, sums, total, key)
        search.begin_tree(start.column_key)
        scales = search.use_scales(sums, total, n_drawn)
        level = self._shards.add_up(self._model, "sum_root", scales, key)
        for number in range(depth - 1):
            splits = search.split(number, level)
            level = self._shards.add_up(self._model, "sum_level", number + 1, splits)
        last = search.split(depth - 1, level)
        new_leaves = search.keep_best_splits()
        self._add_leaf_sums(self._call("finish_tree", last, new_leaves))
        return search.tree

    def _add_leaf_sums(self, parts: list[LeafSums]) -> None:
        """Keep the sums of the leaves over all shards."""
        self._leaf_sums = LeafSums(*[add_blocks(np.concatenate(part)) for part in zip(*parts, strict=True)])

    def _begin(self, start: Round) -> tuple[int, np.ndarray]:
        """Begin a round: the number of rows drawn and, for each block, the sums that decide the scales."""
        begun = self._call("begin_tree", start)
        n_drawn = sum(n for n, _ in begun)
        if n_drawn:
            return n_drawn, np.concatenate([sums for _, sums in begun])
        return 1, np.concatenate(self._call("draw_row", self._first_train))

    def sum_leaves(self) -> LeafSums:
        return self._leaf_sums

    def count_leaves(self) -> np.ndarray:
        return np.sum(self._call("count_leaves"), axis=0)

    def measure_held_out(self, scale_bounds: tuple[float, float]) -> tuple[float, float, float]:
        loss, loss_of_mean, scale_step = add_blocks(self._blocks("measure_held_out", scale_bounds)).tolist()
        return loss, loss_of_mean, scale_step

    def save(self, scale: bool) -> None:
        self._call("save", scale)

    def restore_scale(self, factor: float) -> None:
        self._call("restore_scale", factor)

    def saved_held_out(self, uses_saved_scale: bool) -> np.ndarray:
        return np.concatenate(self._call("saved_held_out", uses_saved_scale), axis=1)

    def held_out_residuals(self, inflation: float | None) -> np.ndarray:
        return np.concatenate(self._call("held_out_residuals", inflation), axis=1)

    def drop(self) -> None:
        super().drop()
        self._shards.drop(self._model)
