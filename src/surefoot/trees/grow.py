"""Grow one classification tree, level by level."""

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
    """The nodes and leaves of one tree, and where its rows ended up."""

    features: np.ndarray
    below: np.ndarray
    above: np.ndarray
    missing_right: np.ndarray
    sets: np.ndarray
    gains: np.ndarray
    labels: np.ndarray
    rows: np.ndarray  # the rows, leaf after leaf
    leaf_ends: np.ndarray  # where each leaf's rows end


def grow_tree(
    table: BinnedTable,
    rows: np.ndarray,
    classes: np.ndarray,
    weights: np.ndarray,
    first_row: int,
    n_classes: int,
    depth: int,
    criterion: int,
    threads: RowThreads,
) -> GrownTree:
    """Grow a perfect tree on ``rows`` of the table; ``weights`` are whole numbers, from ``first_row`` on."""
    rows = rows.copy()
    tree = _empty_tree(depth, rows)
    room = int(table.missing.max()) + 1
    scratch = np.empty(len(rows), dtype=rows.dtype)
    ends = np.array([len(rows)])
    for level in range(depth):
        starts = np.append(0, ends[:-1])
        middles = [
            _split_node(table, tree, (1 << level) - 1 + k, rows[start:end], classes, weights, first_row, n_classes,
                        criterion, threads, room, scratch) + start
            for k, (start, end) in enumerate(zip(starts, ends, strict=True))
        ]  # fmt: skip
        ends = np.stack([middles, ends], axis=1).ravel()
    tree.leaf_ends[:] = ends
    for leaf, (start, end) in enumerate(zip(np.append(0, ends[:-1]), ends, strict=True)):
        total = np.zeros(n_classes, dtype=np.int64)
        class_weights(rows[start:end], classes, weights, first_row, total)
        tree.labels[leaf] = np.argmax(total)
    return tree


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


def _split_node(
    table: BinnedTable,
    tree: GrownTree,
    node: int,
    rows: np.ndarray,
    classes: np.ndarray,
    weights: np.ndarray,
    first_row: int,
    n_classes: int,
    criterion: int,
    threads: RowThreads,
    room: int,
    scratch: np.ndarray,
) -> int:
    """Choose and write the split of one node and reorder its rows; return how many go left."""
    total = np.zeros(n_classes, dtype=np.int64)
    class_weights(rows, classes, weights, first_row, total)
    if np.count_nonzero(total) < 2:
        return len(rows)

    feature, place, missing_right, score = _best_split(
        table, rows, classes, weights, first_row, total, criterion, threads, room
    )
    if feature < 0:
        return len(rows)
    missing = int(table.missing[feature])
    histogram = np.zeros((missing + 1, n_classes), dtype=np.int64)
    fill_histogram(table.codes[feature], rows, classes, weights, first_row, histogram)
    goes_right = np.zeros(missing + 1, dtype=np.uint8)
    if table.is_categorical[feature]:
        mark_category_split(histogram, missing, total, criterion, goes_right)
        bits = np.packbits(np.pad(goes_right[:missing], (0, 256 - missing)), bitorder="little")
        tree.sets[node] = bits.view("<u8")
    else:
        tree.below[node], tree.above[node] = mark_number_split(histogram, missing, place, missing_right, goes_right)
    tree.features[node] = feature
    tree.missing_right[node] = goes_right[missing]
    tree.gains[node] = max(0.0, score - side_score(total, float(total.sum()), criterion))
    return part_rows(table.codes[feature], goes_right, rows, scratch)


def _best_split(
    table: BinnedTable,
    rows: np.ndarray,
    classes: np.ndarray,
    weights: np.ndarray,
    first_row: int,
    total: np.ndarray,
    criterion: int,
    threads: RowThreads,
    room: int,
) -> tuple[int, int, bool, float]:
    """(feature or -1, place of the split, missing values right?, score): of all features that tie, the first."""
    scores = np.full(table.n_columns, -1.0)
    places = np.zeros(table.n_columns, dtype=np.int64)
    rights = np.ones(table.n_columns, dtype=np.bool_)

    def search(features: np.ndarray) -> None:
        histogram = np.empty((room, len(total)), dtype=np.int64)
        try_features(
            table.codes, table.missing, table.is_categorical, features, rows, classes, weights, first_row,
            total, criterion, histogram, scores, places, rights,
        )  # fmt: skip

    parts = np.array_split(np.arange(table.n_columns), threads.n_threads)
    threads.run(search, [part for part in parts if len(part)])
    best = scores.max()
    if best < 0:
        return -1, 0, False, best
    feature = int(np.flatnonzero(scores >= best * (1 - TIE))[0])
    return feature, int(places[feature]), bool(rights[feature]), float(scores[feature])
