"""One of several shards of a model in training: it does what messages ask, level by level."""

import numpy as np

from surefoot._random import skip_numbers
from surefoot.trees.level_kernels import LeafSums
from surefoot.trees.packed_gradients import SumScales
from surefoot.trees.shard_grower import LevelSplits, ShardGrower
from surefoot.uncertainty.model_rows import ModelShard, Round


class ShardModel(ModelShard):
    """One of several shards: trees are grown level by level, with the splits of another place."""

    grower: ShardGrower

    def begin_tree(self, start: Round) -> tuple[int, np.ndarray]:
        """Begin a round; return how many rows are drawn and, for each block, the sums that decide the scales."""
        return self.begin(start), self.absolute_sums()

    def draw_row(self, row: int) -> np.ndarray:
        """Draw nothing but one row of the whole table; return the sums that decide the scales."""
        self.draw_only(row)
        self._absolute = None
        return self.absolute_sums()

    def absolute_sums(self) -> np.ndarray:
        """For each block, the sums that decide the scales of a tree."""
        self.grower.divide(self.drawn)
        if self._absolute is not None:
            return self._absolute
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

    def finish_tree(self, last: LevelSplits, new_leaves: np.ndarray | None) -> LeafSums:
        """Find the leaves of all rows by the splits of the last level; return the sums of the leaves.

        If splits have been undone since, ``new_leaves`` has the new leaf of each leaf.
        """
        self.grower.use_splits(self.grower.rules.depth - 1, last)
        self.grower.find_leaves()
        self.assign_others(self.grower.tree)
        if new_leaves is not None:
            self.grower.tree.move_rows(new_leaves)
        return self.sum_leaves()
