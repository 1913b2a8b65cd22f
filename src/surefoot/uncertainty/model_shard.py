"""One model in training, where its rows are: the state of the rows, and the trees that are grown on them.

The rows are a whole table or a shard of it, which starts with the first row of a block. What a method returns is block
by block, or a sum of whole numbers, so that the results of several shards can be put together.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from surefoot._random import skip_numbers
from surefoot.trees.gradient_grower import GradientTreeGrower
from surefoot.trees.grown_tree import GrownGradientTree
from surefoot.trees.leaves import LeafSums
from surefoot.trees.level_kernels import TreeSplits
from surefoot.trees.packed_codes import PackedCodes
from surefoot.trees.packed_gradients import SumScales
from surefoot.trees.row_blocks import even_ranges
from surefoot.trees.shard_grower import LevelSplits, ShardGrower
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.fit_spec import TrainingRows
from surefoot.uncertainty.row_state import RowState, RowTotals


class Round(NamedTuple):
    """What a round of boosting begins with."""

    shrink: float  # factor of the outputs so far
    inflation: float | None  # of residuals; None: their stretches stay as they are
    is_scale_frozen: bool
    table: int  # which of the tables is read
    subsample: float
    draw_key: np.uint64
    dither_key: np.uint64
    split_noise: float  # in standard errors


class ModelShard(RowState):
    """The state of some rows, and a grower for their tables: trees read the tables in turn."""

    def __init__(
        self,
        tables: Sequence[PackedCodes],
        grower: GradientTreeGrower,
        family: RegressionFamily | ClassificationFamily,
        rows: TrainingRows,
        totals: RowTotals,
        start: np.ndarray,
        max_leverage: np.ndarray,
    ) -> None:
        super().__init__(family, rows, totals, start, max_leverage, 1 << grower.rules.depth)
        self.tables, self.grower = tuple(tables), grower

    def move_arrays(self, move: Callable[[np.ndarray], np.ndarray]) -> None:
        super().move_arrays(move)
        self.grower.move_arrays(move)

    @property
    def leaves(self) -> np.ndarray:
        return self.grower.tree.leaves

    def begin(self, start: Round) -> int:
        """Fill in the gradients and draw the rows of a tree; return how many are drawn."""
        table = self.tables[start.table]
        if table is not self.grower.table:
            self.grower.read(table)
        self.fill_gradients(start.shrink, start.inflation, start.is_scale_frozen)
        return self.draw(start.draw_key, start.subsample)

    def grow(self, key: np.uint64, noise: float) -> GrownGradientTree:
        """A tree on the drawn rows, if these are all rows of the model."""
        self.grower.threads = self.threads
        if not len(self.drawn):
            self.draw_only(int(self.train.rows[0]))
        tree = self.grower.grow(self.score_rows, self.drawn, key, noise)
        self.assign_others(tree)
        return tree

    def assign_others(self, tree: GrownGradientTree) -> None:
        """Find the leaves of the rows that the tree was not grown on."""
        others, words = self.others, self.grower.table.words
        if len(others):
            ranges = even_ranges(len(others), self.threads.n_threads)
            self.threads.run(lambda own: tree.assign_leaves(words, others[slice(*own)]), ranges)


class ShardModel(ModelShard):
    """One of several shards: trees are grown level by level, with the splits of another place."""

    grower: ShardGrower

    def begin_tree(self, start: Round) -> tuple[int, np.ndarray]:
        """Begin a round; return how many rows are drawn and, for each block, the sums that decide the scales."""
        return self.begin(start), self.absolute_sums()

    def draw_row(self, row: int) -> np.ndarray:
        """Draw nothing but one row of the whole table; return the sums that decide the scales."""
        self.draw_only(row)
        return self.absolute_sums()

    def absolute_sums(self) -> np.ndarray:
        """For each block, the sums that decide the scales of a tree."""
        self.grower.divide(self.drawn)
        return self.grower.absolute_sums(self.score_rows, self.drawn)

    def sum_root(self, scales: SumScales, key: np.uint64, sums: np.ndarray, adds: bool) -> np.ndarray:
        """Write scores as whole numbers, and add up those of the root: see ``ShardGrower.sum_level``."""
        own_key = skip_numbers(key, self.totals.first_row)
        self.grower.fill(self.score_rows, self.drawn, scales, own_key)
        return self.grower.sum_level(0, sums, adds)

    def sum_level(self, depth: int, above: LevelSplits, sums: np.ndarray, adds: bool) -> np.ndarray:
        """Divide the rows by the splits of the level above; add up the histograms of the smaller children."""
        self.grower.use_splits(depth - 1, above)
        return self.grower.sum_level(depth, sums, adds)

    def finish_tree(self, last: LevelSplits) -> LeafSums:
        """Find the leaves of all rows by the splits of the last level; return the sums of the leaves."""
        self.grower.use_splits(self.grower.rules.depth - 1, last)
        self.grower.find_leaves()
        self.assign_others(self.grower.tree)
        return self.sum_leaves()

    def use_tree(self, splits: TreeSplits) -> LeafSums:
        """As if a tree with these splits had been grown on the drawn rows: return the sums of its leaves."""
        tree = self.grower.tree
        tree.copy_splits(splits)
        tree.assign_own_leaves(self.grower.table.words, self.drawn.rows)
        self.assign_others(tree)
        return self.sum_leaves()
