"""Grow classification trees, level by level."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.data import BinnedTable
from surefoot.trees.splits import (
    TIE,
    class_weights,
    fill_histogram,
    mark_category_split,
    mark_number_split,
    part_rows,
    side_score,
    try_features,
)


class GrownTree(NamedTuple):
    """The nodes and leaves of one tree, in heap order, and where its rows ended up."""

    features: np.ndarray
    below: np.ndarray
    above: np.ndarray
    missing_right: np.ndarray
    sets: np.ndarray
    gains: np.ndarray
    labels: np.ndarray
    rows: np.ndarray  # the rows, leaf after leaf
    leaf_ends: np.ndarray  # where each leaf's rows end


class TreeGrower:
    """Grows trees of one depth on a stretch of the table that starts at row ``first_row``.

    ``classes`` holds the class of every row of the table; weights are whole numbers, from ``first_row`` on.
    """

    def __init__(
        self,
        table: BinnedTable,
        classes: np.ndarray,
        n_classes: int,
        first_row: int,
        depth: int,
        criterion: int,
        threads: RowThreads,
    ) -> None:
        self.table, self.classes, self.n_classes, self.first_row = table, classes, n_classes, first_row
        self.depth, self.criterion, self.threads = depth, criterion, threads

    def grow(self, rows: np.ndarray, weights: np.ndarray) -> GrownTree:
        """A perfect tree on ``rows``; a node that cannot be split sends all its rows left."""
        rows = rows.copy()
        tree = _empty_tree(self.depth, rows)
        scratch = np.empty_like(rows)
        bounds = np.array([0, len(rows)])
        for level in range(self.depth):
            first_node = (1 << level) - 1
            middles = [
                start + self._split_node(tree, first_node + k, rows[start:end], weights, scratch)
                for k, (start, end) in enumerate(pairwise(bounds))
            ]
            bounds = np.append(0, np.stack([middles, bounds[1:]], axis=1).ravel())
        tree.leaf_ends[:] = bounds[1:]
        for leaf, (start, end) in enumerate(pairwise(bounds)):
            total = self._class_weights(rows[start:end], weights)
            tree.labels[leaf] = np.argmax(total >= total.max() * (1 - TIE))  # of classes that tie, the first
        return tree

    def _class_weights(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        total = np.zeros(self.n_classes, dtype=np.int64)
        class_weights(rows, self.classes, weights, self.first_row, total)
        return total

    def _split_node(
        self, tree: GrownTree, node: int, rows: np.ndarray, weights: np.ndarray, scratch: np.ndarray
    ) -> int:
        """Choose and write the split of one node and reorder its rows; return how many go left."""
        total = self._class_weights(rows, weights)
        if np.count_nonzero(total) < 2:
            return len(rows)
        score, feature, place, missing_right = self._best_split(rows, weights, total)
        if feature < 0:
            return len(rows)
        missing = int(self.table.missing[feature])
        histogram = np.zeros((missing + 1, self.n_classes), dtype=np.int64)
        fill_histogram(self.table.codes[feature], rows, self.classes, weights, self.first_row, histogram)
        goes_right = np.zeros(missing + 1, dtype=np.uint8)
        if self.table.is_categorical[feature]:
            mark_category_split(histogram, missing, total, self.criterion, goes_right)
            bits = np.packbits(np.pad(goes_right[:missing], (0, 256 - missing)), bitorder="little")
            tree.sets[node] = bits.view("<u8")
        else:
            tree.below[node], tree.above[node] = mark_number_split(histogram, missing, place, missing_right, goes_right)
        tree.features[node] = feature
        tree.missing_right[node] = goes_right[missing]
        tree.gains[node] = max(0.0, score - side_score(total, float(total.sum()), self.criterion))
        return part_rows(self.table.codes[feature], goes_right, rows, scratch)

    def _best_split(self, rows: np.ndarray, weights: np.ndarray, total: np.ndarray) -> tuple[float, int, int, bool]:
        """(score, feature or -1, place of the split, missing values right?): of all features that tie, the first."""
        table = self.table
        scores = np.full(table.n_columns, -1.0)
        places = np.zeros(table.n_columns, dtype=np.int64)
        rights = np.ones(table.n_columns, dtype=np.bool_)

        def search(features: np.ndarray) -> None:
            histogram = np.empty((int(table.missing.max()) + 1, self.n_classes), dtype=np.int64)
            try_features(
                table.codes, table.missing, table.is_categorical, features, rows, self.classes, weights, self.first_row,
                total, self.criterion, histogram, scores, places, rights,
            )  # fmt: skip

        parts = np.array_split(np.arange(table.n_columns), self.threads.n_threads)
        self.threads.run(search, [part for part in parts if len(part)])
        best = scores.max()
        if best < 0:
            return best, -1, 0, False
        feature = int(np.flatnonzero(scores >= best * (1 - TIE))[0])
        return float(scores[feature]), feature, int(places[feature]), bool(rights[feature])


def _empty_tree(depth: int, rows: np.ndarray) -> GrownTree:
    n_nodes, n_leaves = (1 << depth) - 1, 1 << depth
    return GrownTree(
        np.full(n_nodes, -1, dtype=np.int32),
        np.zeros(n_nodes, dtype=np.int32),
        np.zeros(n_nodes, dtype=np.int32),
        np.zeros(n_nodes, dtype=np.bool_),
        np.zeros((n_nodes, 4), dtype=np.uint64),
        np.zeros(n_nodes),
        np.zeros(n_leaves, dtype=np.int32),
        rows,
        np.zeros(n_leaves, dtype=np.int64),
    )
