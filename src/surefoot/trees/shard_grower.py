"""Trees of a table in several shards: each adds up its own rows, and the sums of all are searched in one place.

Between them travel, for each level, the histograms of the smaller children as whole numbers, and the splits.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from surefoot.trees.gradient_grower import GradientTreeGrower
from surefoot.trees.level_kernels import (
    SplitNoise,
    TreeSplits,
    grow_part,
    make_search_buffers,
    search_histograms,
    split_level,
)
from surefoot.trees.packed_gradients import SumScales
from surefoot.trees.row_blocks import even_ranges


class LevelSums(NamedTuple):
    """What shards add up for one level."""

    sums: np.ndarray  # (nodes above, words of all bins): the histograms of the smaller children, or that of the root
    counts: np.ndarray  # rows of each node


class LevelSplits(NamedTuple):
    """The splits of one level, and which child of each node has fewer rows: 0 left, 1 right."""

    splits: TreeSplits
    smaller: np.ndarray


class ShardGrower(GradientTreeGrower):
    """The rows of one shard: sums of levels, and the leaves of rows. A shard is worked on by one thread at a time."""

    @property
    def sums_shape(self) -> tuple[int, int, int]:
        """The shape of an array for the sums of any level: (1, nodes above, words), with 256 bins for each column."""
        n_slots = max(len(self._buffers.histograms) // 2, 1)
        return 1, n_slots, len(self.table.words) * 2048 * self.format.n_words

    @cached_property
    def used_words(self) -> np.ndarray:
        """Which of these words a histogram has: for each column, only as many bins as it has codes."""
        n_words, n_codes = self.format.n_words, self.table.n_codes
        return np.concatenate([256 * n_words * j + np.arange(n_words * n) for j, n in enumerate(n_codes)])

    def sum_level(self, depth: int, sums: np.ndarray, adds: bool) -> np.ndarray:
        """Divide the rows by the splits of the level above; add up the histograms of the smaller children.

        They are written, or added, to an array of ``sums_shape``. Returns the number of rows of each node.
        """
        self._buffers = self._buffers._replace(parts=sums)
        grow_part(self._packed_table, self._split_rules, self._buffers, self._splits, depth, adds)
        return np.diff(self._buffers.bounds[0, depth, : (1 << depth) + 1])

    def use_splits(self, level: int, above: LevelSplits) -> None:
        """Take over the splits of a level."""
        for own, new in zip(self.tree.level(level), above.splits, strict=True):
            own[:] = new
        self._buffers.smaller[: len(above.smaller)] = above.smaller


class SplitSearch(GradientTreeGrower):
    """The splits of a tree, from the sums of all shards; its table has no rows."""

    def use_scales(self, sums: list[float], total: float, n_rows: int) -> SumScales:
        """The scales of the next tree; see ``GradientFormat.scales``."""
        scales = self.format.scales(sums, total, n_rows)
        self._form.units[:] = scales.units
        return scales

    def split(self, depth: int, level: LevelSums) -> LevelSplits:
        """Find the splits of a level from its sums over all shards."""
        buffers, n_nodes = self._buffers, 1 << depth
        self._begin_level(depth)
        self._join(depth, level.sums)
        given = self._packed_table, self._split_rules, self._form
        noise = SplitNoise(numbers=self._noise.numbers, windows=self._noise.windows[depth])
        histograms, best = buffers.histograms[:n_nodes], buffers.best

        def search(columns: tuple[int, int]) -> None:
            own = make_search_buffers(self._form, n_nodes)
            own.counts[:] = level.counts
            search_histograms(histograms, columns, *given, noise, own, best)

        self.threads.run(search, even_ranges(self.table.n_columns, self.threads.n_threads))
        split_level(*given, buffers, self._splits, depth)
        return LevelSplits(splits=self.tree.level(depth), smaller=buffers.smaller[:n_nodes])

    def keep_best_splits(self) -> np.ndarray | None:
        """Undo all splits of a whole tree but the best: the new leaf of each leaf, or None if all splits are kept."""
        n_leaves = self.rules.max_leaf_nodes
        return None if n_leaves is None else self.tree.keep_best_splits(n_leaves)

    def _join(self, depth: int, sums: np.ndarray) -> None:
        """Write the histograms of all nodes of a level, from the sums of smaller children and the level above.

        Parents are visited from the last to the first, so that no slot of a child is written before the parent in that
        slot has been read.
        """
        histograms, smaller = self._buffers.histograms, self._buffers.smaller
        if depth == 0:
            histograms[0] = sums[0]
            return
        for parent in range(len(sums) - 1, -1, -1):
            small = 2 * parent + int(smaller[parent])
            rest = histograms[parent] - sums[parent]
            histograms[small], histograms[4 * parent + 1 - small] = sums[parent], rest
