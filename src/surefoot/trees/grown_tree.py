"""A tree as its grower leaves it: splits, and the leaf of every row."""

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from surefoot.trees.level_kernels import TreeSplits, find_leaves


@dataclass
class GrownGradientTree:
    """Splits and leaves; ``features``, ``codes`` ... have an entry per level or per node (heap order).

    ``leaves`` has the leaf of every row of the table that the tree was grown on, or that was assigned to a leaf since.
    ``kept`` marks nodes of a symmetric tree, in heap order, that keep all their rows on the left instead of taking part
    in the split of their level: their leaves on the right repeat those on the left. The arrays belong to the grower:
    the next tree overwrites them.
    """

    depth: int
    symmetric: bool
    features: np.ndarray
    codes: np.ndarray
    missing_left: np.ndarray
    gains: np.ndarray
    tables: np.ndarray
    kept: np.ndarray
    leaves: np.ndarray

    @classmethod
    def empty(cls, depth: int, symmetric: bool, n_rows: int) -> "GrownGradientTree":
        """A tree with arrays for a grower to fill."""
        n_nodes = (1 << depth) - 1
        n = depth if symmetric else n_nodes
        return cls(
            depth=depth,
            symmetric=symmetric,
            features=np.empty(n, dtype=np.int64),
            codes=np.zeros(n, dtype=np.int64),
            missing_left=np.zeros(n, dtype=np.bool_),
            gains=np.zeros(n),
            tables=np.zeros((n, 256), dtype=np.uint8),
            kept=np.zeros(n_nodes, dtype=np.bool_),
            leaves=np.zeros(n_rows, dtype=np.uint16),
        )

    def splits(self) -> TreeSplits:
        """The arrays that kernels write."""
        return TreeSplits(
            features=self.features,
            codes=self.codes,
            missing_left=self.missing_left,
            gains=self.gains,
            tables=self.tables,
            kept=self.kept,
        )

    def copy_splits(self, splits: TreeSplits) -> None:
        """Take over the splits of a whole tree."""
        for own, new in zip(self.splits(), splits, strict=True):
            own[:] = new

    def level(self, level: int) -> TreeSplits:
        """The splits of one level, as views."""
        nodes = slice((1 << level) - 1, (2 << level) - 1)
        own = slice(level, level + 1) if self.symmetric else nodes
        return TreeSplits(
            features=self.features[own],
            codes=self.codes[own],
            missing_left=self.missing_left[own],
            gains=self.gains[own],
            tables=self.tables[own],
            kept=self.kept[nodes],
        )

    def node_features(self) -> np.ndarray:
        """The feature of every node in heap order."""
        if not self.symmetric:
            return self.features
        return np.repeat(self.features, 1 << np.arange(self.depth))

    def repeat_kept(self, values: np.ndarray) -> None:
        """Copy the values of left leaves to right leaves, below nodes that keep their rows on the left.

        A symmetric tree sends new rows by the splits of its levels, in every node.
        """
        if self.symmetric and self.kept.any():
            for node in np.flatnonzero(self.kept)[::-1]:
                level = int(node + 1).bit_length() - 1
                half = 1 << (self.depth - level - 1)
                first = 2 * half * (node + 1 - (1 << level))
                values[first + half : first + 2 * half] = values[first : first + half]

    def assign_own_leaves(self, words: np.ndarray, rows: np.ndarray) -> None:
        """Find the leaves of the rows that the tree was grown on, which nodes in ``kept`` have kept on the left."""
        self.assign_leaves(words, rows)
        if self.kept.any():
            self.leaves[rows] = self._leaves_of_kept()[self.leaves[rows]]

    def _leaves_of_kept(self) -> np.ndarray:
        """For each leaf, the one where its rows are if nodes in ``kept`` keep theirs on the left."""
        places, node = np.arange(1 << self.depth), np.zeros(1 << self.depth, dtype=np.int64)
        for level in range(self.depth):
            goes_right = (places >> (self.depth - 1 - level)) & 1
            node = 2 * node + 1 + np.where(self.kept[node], 0, goes_right)
        first_leaf = (1 << self.depth) - 1
        return (node - first_leaf).astype(self.leaves.dtype)

    def keep_best_splits(self, max_leaf_nodes: int) -> np.ndarray:
        """Undo all splits but those of best-first growth; return the new leaf of each leaf.

        Best-first growth splits the leaf with the highest gain (the first if leaves tie) until there are
        ``max_leaf_nodes`` leaves. The best split of a node depends on its own rows only, so it makes no difference that
        the nodes have been split level by level. The tree must have a split for each node.
        """
        n_splits, is_split = max_leaf_nodes - 1, self.features >= 0
        best = [(-float(self.gains[0]), 0)] if is_split[0] else []
        self.kept[:] = True
        while best and n_splits > 0:
            node = heappop(best)[1]
            self.kept[node], n_splits = False, n_splits - 1
            for child in (2 * node + 1, 2 * node + 2):
                if child < len(is_split) and is_split[child]:
                    heappush(best, (-float(self.gains[child]), child))
        self.features[self.kept] = -1
        for part in (self.codes, self.missing_left, self.gains, self.tables):
            part[self.kept] = 0
        return self._leaves_of_kept()

    def move_rows(self, new_leaves: np.ndarray) -> None:
        """Move all rows of each leaf to another leaf."""
        np.take(new_leaves, self.leaves, out=self.leaves)

    def assign_leaves(self, words: np.ndarray, rows: np.ndarray) -> None:
        """Find the leaves of further rows of the table."""
        find_leaves(words, rows, self.depth, self.symmetric, self.features, self.tables, self.leaves)
