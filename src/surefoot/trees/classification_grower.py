"""Grow classification trees, level by level."""

from itertools import pairwise

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.data import BinnedTable
from surefoot.trees.row_blocks import even_ranges
from surefoot.trees.split_kernels import (
    TIE,
    ClassificationTable,
    FeatureSplits,
    GrownTree,
    NodeBuffers,
    NodeSplit,
    WeightedClasses,
    grow_tree,
    make_buffers,
    search_features,
    split_rows,
    sum_classes,
    sum_words,
    try_summed_features,
    write_labels,
)

CELLS_AT_ONCE = 1 << 22  # larger tables are grown node by node: one call for a tree would delay Ctrl-C for too long
MIN_ROWS_OF_WORDS = 1 << 13  # in nodes with fewer rows, adding up the sums of all threads takes longer than they save
MAX_CLASSES_OF_WORDS = 16  # the bins of more classes do not fit in the fastest caches


class TreeGrower:
    """Grows trees of one depth on consecutive rows of the table, which start at row ``first_row``.

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
        is_categorical = table.is_categorical if table.is_categorical.any() else None
        self._coded = ClassificationTable(codes=table.codes, missing=table.missing, is_categorical=is_categorical)
        self._words: np.ndarray | None = None  # of large tables: eight codes in a word
        self._parts = np.empty((0, 0, 0), dtype=np.int64)  # their sums, for each thread

    def grow(self, rows: np.ndarray, weights: np.ndarray) -> GrownTree:
        """A perfect tree on ``rows``; a node that cannot be split sends all its rows left."""
        tree = _empty_tree(self.depth, rows.copy())
        target = WeightedClasses(
            classes=self.classes,
            weights=weights,
            first_row=self.first_row,
            n_classes=self.n_classes,
            criterion=self.criterion,
        )
        is_small = len(rows) * self.table.n_columns * self.depth <= CELLS_AT_ONCE
        if self.threads.n_threads == 1 and is_small:
            grow_tree(self._coded, target, self.depth, make_buffers(self._coded, rows, self.n_classes), tree)
        else:
            self._grow_by_nodes(target, tree)
        return tree

    def _grow_by_nodes(self, target: WeightedClasses, tree: GrownTree) -> None:
        """The same, node by node, with the features divided among the threads."""
        if self._words is None and self.table.codes.dtype == np.uint8 and self.n_classes <= MAX_CLASSES_OF_WORDS:
            self._words = self.table.packed(self.first_row, self.first_row + len(target.weights))
            self._parts = np.empty((self.threads.n_threads, len(self._words), 2048 * self.n_classes), dtype=np.int64)
        buffers, bounds = make_buffers(self._coded, tree.rows, self.n_classes), np.array([0, len(tree.rows)])
        for level in range(self.depth):
            first_node = (1 << level) - 1
            middles = [
                start + self._split_node(target, tree, first_node + k, tree.rows[start:end], buffers)
                for k, (start, end) in enumerate(pairwise(bounds))
            ]
            bounds = np.append(0, np.stack([middles, bounds[1:]], axis=1).ravel())
        tree.leaf_ends[:] = bounds[1:]
        write_labels(target, buffers.sums[0], tree)

    def _split_node(
        self, target: WeightedClasses, tree: GrownTree, node: int, rows: np.ndarray, buffers: NodeBuffers
    ) -> int:
        """Choose and write the split of one node and reorder its rows; return how many go left."""
        total = buffers.sums[0]
        sum_classes(rows, self.classes, target.weights, self.first_row, total)
        if np.count_nonzero(total) < 2:
            return len(rows)
        split = self._best_split(target, rows, buffers)
        if split is None:
            return len(rows)
        return int(split_rows(self._coded, target, split, node, rows, buffers, tree))

    def _best_split(self, target: WeightedClasses, rows: np.ndarray, buffers: NodeBuffers) -> NodeSplit | None:
        """The split by the best feature (the first if features tie); None if no feature can split the rows."""
        splits = buffers.splits
        splits.missing_right[:] = True
        self._search(target, rows, buffers.sums[0], splits)
        best = splits.scores.max()
        if best < 0:
            return None
        feature = int(np.flatnonzero(splits.scores >= best * (1 - TIE))[0])
        return NodeSplit(
            feature=feature,
            score=float(splits.scores[feature]),
            place=int(splits.places[feature]),
            missing_right=bool(splits.missing_right[feature]),
            order=splits.orders[feature],
        )

    def _search(self, target: WeightedClasses, rows: np.ndarray, total: np.ndarray, splits: FeatureSplits) -> None:
        """Write the best split of each feature; rows or features are divided among the threads."""
        words, sums, coded = self._words, self._parts, self._coded
        parts = np.array_split(np.arange(self.table.n_columns), self.threads.n_threads)
        features = [part for part in parts if len(part)]
        if words is None or len(rows) < MIN_ROWS_OF_WORDS:
            self.threads.run(
                lambda own: search_features(coded, target, own, rows, self._own_buffers(rows, total), splits), features
            )
            return
        ranges = list(enumerate(even_ranges(len(rows), len(sums))))
        self.threads.run(lambda part: sum_words(words, target, rows[slice(*part[1])], sums[part[0]]), ranges)
        self.threads.run(
            lambda own: try_summed_features(coded, target, own, sums, self._own_buffers(rows, total), splits), features
        )

    def _own_buffers(self, rows: np.ndarray, total: np.ndarray) -> NodeBuffers:
        """The buffers of one thread, with the class weights of the node."""
        buffers = make_buffers(self._coded, rows[:0], self.n_classes)
        buffers.sums[0] = total
        return buffers


def _empty_tree(depth: int, rows: np.ndarray) -> GrownTree:
    n_nodes, n_leaves = (1 << depth) - 1, 1 << depth
    return GrownTree(
        features=np.full(n_nodes, -1, dtype=np.int32),
        below=np.zeros(n_nodes, dtype=np.int32),
        above=np.zeros(n_nodes, dtype=np.int32),
        missing_right=np.zeros(n_nodes, dtype=np.bool_),
        sets=np.zeros((n_nodes, 4), dtype=np.uint64),
        gains=np.zeros(n_nodes),
        labels=np.zeros(n_leaves, dtype=np.int32),
        rows=rows,
        leaf_ends=np.zeros(n_leaves, dtype=np.int64),
    )
