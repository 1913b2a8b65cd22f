"""One model in training, where its rows are: the state of the rows, and the trees that are grown on them.

The rows are a whole table or a shard of it, which starts with the first row of a block. What a method returns is block
by block, or a sum of whole numbers, so that the results of several shards can be put together.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from surefoot._parallel import RowThreads
from surefoot._random import skip_numbers
from surefoot.trees.gradient_grower import GradientTreeGrower
from surefoot.trees.grown_tree import GrownGradientTree
from surefoot.trees.leaves import LeafSums
from surefoot.trees.packed_codes import PackedCodes
from surefoot.trees.packed_gradients import SumScales
from surefoot.trees.row_blocks import even_ranges
from surefoot.trees.shard_grower import LevelSplits, LevelSums, ShardGrower
from surefoot.uncertainty.row_state import RowState


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


class ModelShard:
    """The state of some rows, and a grower for their tables: trees read the tables in turn."""

    def __init__(self, tables: Sequence[PackedCodes], grower: GradientTreeGrower, state: RowState) -> None:
        self.tables, self.grower, self.state = tuple(tables), grower, state

    @property
    def leaves(self) -> np.ndarray:
        """The leaf of every row in the last tree."""
        return self.grower.tree.leaves

    def use(self, threads: RowThreads) -> None:
        """Run the next passes in these threads."""
        self.grower.threads = threads
        self.state.use(threads)

    def begin(self, start: Round) -> int:
        """Fill in the gradients and draw the rows of a tree; return how many are drawn."""
        table = self.tables[start.table]
        if table is not self.grower.table:
            self.grower.read(table)
        self.state.fill_gradients(start.shrink, start.inflation, start.is_scale_frozen)
        return self.state.draw(start.draw_key, start.subsample)

    def grow(self, key: np.uint64, noise: float) -> GrownGradientTree:
        """A tree on the drawn rows, if these are all rows of the model."""
        if not len(self.state.drawn):
            self.state.draw_first()
        tree = self.grower.grow(self.state.score_rows, self.state.drawn, key, noise)
        self.assign_others(tree)
        return tree

    def assign_others(self, tree: GrownGradientTree) -> None:
        """Find the leaves of the rows that the tree was not grown on."""
        others, words = self.state.others, self.grower.table.words
        if len(others):
            ranges = even_ranges(len(others), self.state.threads.n_threads)
            self.state.threads.run(lambda own: tree.assign_leaves(words, others[slice(*own)]), ranges)

    def sum_leaves(self) -> LeafSums:
        """For each block, the sums of each leaf over the drawn rows."""
        return self.state.sum_leaves(self.leaves)

    def sum_inverse_information(self) -> tuple[np.ndarray, np.ndarray]:
        """For each block, the inverse Fisher information: its sum over each leaf, and its part of the weighted mean."""
        return self.state.sum_inverse_information(self.leaves)

    def sum_squares(self) -> np.ndarray:
        """For each block, the weighted sum of the squares of the first step over drawn rows, and their weight."""
        return self.state.sum_squares()

    def count_leaves(self) -> np.ndarray:
        """The number of training rows in each leaf, whether drawn for this tree or not."""
        return self.state.count_leaves(self.leaves, 1 << self.grower.rules.depth)

    def add(self, values: np.ndarray, gains: np.ndarray) -> np.ndarray:
        """Add a tree to the outputs of every row; return, for each block, its part of the mean of the last output."""
        return self.state.add(self.leaves, values, gains)


class ShardModel(ModelShard):
    """One of several shards: trees are grown level by level, with the splits of another place."""

    grower: ShardGrower

    def begin_tree(self, start: Round) -> tuple[int, np.ndarray]:
        """Begin a round; return how many rows are drawn and, for each block, the sums that decide the scales."""
        return self.begin(start), self.absolute_sums()

    def draw_first(self) -> None:
        """Draw nothing but the first training row of the shard."""
        self.state.draw_first()

    def absolute_sums(self) -> np.ndarray:
        """For each block, the sums that decide the scales of a tree."""
        self.grower.divide(self.state.drawn)
        return self.grower.absolute_sums(self.state.score_rows, self.state.drawn)

    def sum_root(self, scales: SumScales, key: np.uint64) -> LevelSums:
        """Write scores as whole numbers, and add up those of the root."""
        own_key = skip_numbers(key, self.state.totals.first_row)
        self.grower.fill(self.state.score_rows, self.state.drawn, scales, own_key)
        return self.grower.sum_level(0)

    def sum_level(self, depth: int, above: LevelSplits) -> LevelSums:
        """Divide the rows by the splits of the level above; add up the histograms of the smaller children."""
        self.grower.use_splits(depth - 1, above)
        return self.grower.sum_level(depth)

    def finish_tree(self, last: LevelSplits) -> LeafSums:
        """Find the leaves of all rows by the splits of the last level; return the sums of the leaves."""
        self.grower.use_splits(self.grower.rules.depth - 1, last)
        self.grower.find_leaves()
        self.assign_others(self.grower.tree)
        return self.sum_leaves()
