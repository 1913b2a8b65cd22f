"""Grow trees on gradients: Python drives the levels, kernels make the passes over rows and bins."""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import ceil, floor, log2, pi, sqrt
from typing import Any

import numpy as np

from surefoot._parallel import RowThreads
from surefoot._random import random_bits, random_normals, stream_key
from surefoot.trees.levels import (
    NOISE_LENGTH,
    build_level,
    build_root,
    choose_splits,
    find_leaves,
    grow_levels,
    note_leaves,
    part_level,
    search_columns,
)
from surefoot.trees.packed import FINE_STEPS, WIDE_BITS, absolute_sums, field_bits, pack_rows, widen_rows
from surefoot.trees.row_words import GROUP, RowWords

MOST_PACKED = 1 << 20  # rows (by weight) of which the sums of two scores and the count fit one word with steps to spare
MOST_WEIGHT = 1 << 16  # the same for weighted rows: few steps would be left for one that weighs much
CELLS_AT_ONCE = 20_000_000  # of larger tables a call grows one level: Ctrl-C waits for a call to end
LEAST_SUM = 1e-200  # scores that add up to less are nothing
MOST_EXPONENT = 200  # of a scale
ROOT_HALF_PI = sqrt(pi / 2)  # root of the mean square of Normal numbers, over their mean absolute value
BINS_PER_ROW = 2.0  # so many bins of a node take as long to read as one row of a column
NO_NOISE = np.empty(0)
LEAST_L2 = 1e-9  # so that an empty side is worth 0, not 0/0


@dataclass(frozen=True)
class GrowthRules:
    """What decides where a tree is split."""

    depth: int = 6
    symmetric: bool = True
    min_samples_leaf: int = 1
    l2: float = 3.0
    constraints: tuple[int, ...] | None = (
        None  # -1, 0 or 1 for each column: falling, free or rising in the first output
    )


@dataclass
class GrownGradientTree:
    """Splits and leaves; ``features``, ``codes`` ... have an entry per level or per node (heap order).

    ``leaves`` has the leaf of every row of the table that the tree was grown on, or that has been walked down it since.
    ``kept`` marks nodes of a symmetric tree, in heap order, that did not take part in their level's split: their leaves
    on the right repeat those on the left. The arrays are the grower's own: the next tree overwrites them.
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
        """A tree to be filled."""
        n_nodes = (1 << depth) - 1
        n = depth if symmetric else n_nodes
        return cls(
            depth, symmetric, np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_),
            np.zeros(n), np.zeros((n, 256), dtype=np.uint8), np.zeros(n_nodes, dtype=np.bool_),
            np.zeros(n_rows, dtype=np.uint16),
        )  # fmt: skip

    def splits_of_level(self, level: int) -> slice:
        return slice(level, level + 1) if self.symmetric else slice((1 << level) - 1, (2 << level) - 1)

    def node_features(self) -> np.ndarray:
        """The feature of every node in heap order."""
        if not self.symmetric:
            return self.features
        return np.repeat(self.features, 1 << np.arange(self.depth))

    def repeat_kept(self, values: np.ndarray) -> None:
        """Below a node that kept its rows on the left, say on the right what is said on the left.

        A symmetric tree sends new rows by its levels' splits, whichever node they are in.
        """
        if self.symmetric and self.kept.any():
            for node in np.flatnonzero(self.kept)[::-1]:
                level = int(node + 1).bit_length() - 1
                half = 1 << (self.depth - level - 1)
                first = 2 * half * (node + 1 - (1 << level))
                values[first + half : first + 2 * half] = values[first : first + half]

    def walk(self, words: np.ndarray, rows: np.ndarray) -> None:
        """Note the leaves of further rows of the table."""
        find_leaves(words, rows, self.depth, self.symmetric, self.features, self.tables, self.leaves)


class GradientTreeGrower:
    """Grows trees on one table; its buffers serve one tree after the other, so it belongs to one thread at a time.

    ``weights`` (None: all 1) are fixed for the grower's life: where they are whole numbers, a row of weight k is
    exactly k rows.
    """

    def __init__(
        self, table: RowWords, n_scores: int, rules: GrowthRules, weights: np.ndarray | None, threads: RowThreads
    ) -> None:
        self.table, self.rules, self.threads, self.n_scores = table, rules, threads, n_scores
        self.weighted = weights is not None
        self.weights = np.ones(table.n_rows) if weights is None else weights
        total = float(self.weights.sum())
        self.whole = weights is None or bool((np.rint(weights) == weights).all())
        self.packed = self.whole and n_scores <= 2 and total < (MOST_PACKED if weights is None else MOST_WEIGHT)
        self.n_words = 1 if self.packed else 2 + n_scores
        self.count_bits = max(1, int(total).bit_length())
        self.count_mask = (1 << self.count_bits) - 1 if self.packed else (1 << 62) - 1
        self.constraints = np.array(rules.constraints or [0] * table.n_columns, dtype=np.int64)
        self._make_buffers()

    def __getstate__(self) -> dict[str, Any]:
        """Without the buffers: they hold nothing from one tree to the next, and parts of them are views of others."""
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_buffers()

    def _make_buffers(self) -> None:
        n_rows, depth = self.table.n_rows, self.rules.depth
        self._rows = np.empty((2, n_rows), dtype=np.uint32)
        self._values = np.empty((2, n_rows, self.n_words), dtype=np.int64)
        self._bounds = np.zeros((depth + 1, (1 << depth) + 1), dtype=np.int64)
        self._histograms = np.empty((1 << (depth - 1), self.table.n_bins * self.n_words), dtype=np.int64)
        shape = (1 if self.rules.symmetric else 1 << (depth - 1), self.table.n_columns)
        self._found = tuple(np.empty(shape, dtype=kind) for kind in (float, float, np.int64, np.int64))
        n_sorted = n_rows if self.table.is_sorted else 0
        nodes, parts = np.zeros(n_sorted, dtype=np.uint16), np.zeros((n_sorted, 3))
        self._sorted = nodes, parts, *np.zeros((2, (1 << (depth - 1)) + 1, 4))
        self._units = np.ones(4 if self.packed else 2 + self.n_scores)
        self._noise, self._windows = NO_NOISE, np.zeros((depth, self.table.n_columns), dtype=np.int64)
        self._tree = GrownGradientTree.empty(depth, self.rules.symmetric, n_rows)

    def grow(self, scores: np.ndarray, rows: np.ndarray, key: np.uint64, noise: float = 0.0) -> GrownGradientTree:
        """A tree on ``rows`` (uint32) for ``scores`` of shape (n_scores, n_rows).

        Splits are chosen by their gain plus ``noise`` standard errors times a random Normal number.
        """
        n = len(rows)
        self._rows[0, :n] = rows
        sums, total = self._fill_values(scores, rows, key, self._values[0, :n])
        self._bounds[0, 1] = n
        self._noise = NO_NOISE
        if noise > 0.0:  # mean absolute scores tell their spread as if they were Normal, extremes notwithstanding
            spread = ROOT_HALF_PI * sqrt(sum((part / max(total, LEAST_SUM)) ** 2 for part in sums))
            self._noise = normal_numbers() * (noise * spread)
            windows = random_bits(key, self._windows.size) % np.uint64(NOISE_LENGTH)
            self._windows[:] = windows.reshape(self._windows.shape)
        depth = self.rules.depth
        at_once = depth if n * self.table.n_columns <= CELLS_AT_ONCE else 1
        for level in range(0, depth, at_once):
            if self.threads.n_threads > 1:
                for each in range(level, min(level + at_once, depth)):
                    self._grow_side_by_side(each, n)
            else:
                self._grow(level, min(level + at_once, depth))
        note_leaves(self._rows[depth % 2, :n], self._bounds[depth], self._tree.leaves)
        return self._tree

    def _grow(self, first_level: int, last_level: int) -> None:
        """Some levels in one call: each call of a kernel costs more than a small table's level."""
        table, rules, tree = self.table, self.rules, self._tree
        grow_levels(
            table.words, table.offsets, table.has_missing, table.is_categorical, self.constraints, rules.symmetric,
            max(rules.l2, LEAST_L2), rules.min_samples_leaf, self.n_words, self.n_scores, self.count_bits,
            self.count_mask, self._units, self._noise, self._windows, self._rows, self._values, self._bounds,
            self._histograms, *self._found, tree.features, tree.codes, tree.missing_left, tree.gains, tree.tables,
            tree.kept, first_level, last_level, self._sorted_level(last_level), table.sorted_rows, table.sorted_codes,
            table.n_codes, *self._sorted,
        )  # fmt: skip

    def _sorted_level(self, last_level: int) -> int:
        """The level from which on it takes less time to read the rows of all columns than the bins of all nodes."""
        table, rules = self.table, self.rules
        is_plain = rules.symmetric and rules.min_samples_leaf <= 1 and rules.constraints is None
        if not (is_plain and self.packed and table.is_sorted):
            return last_level
        n_cells = max(table.n_rows * table.n_columns, 1)
        return min(max(ceil(log2(BINS_PER_ROW * n_cells / table.n_bins)), 1), last_level)

    def _grow_side_by_side(self, level: int, n: int) -> None:
        """One level, the columns dealt out to threads."""
        table, rules, tree = self.table, self.rules, self._tree
        n_nodes, here, there = 1 << level, level % 2, 1 - level % 2
        splits, limits = tree.splits_of_level(level), self._bounds[level, : n_nodes + 1]
        self._search_side_by_side(n_nodes, self._rows[here, :n], self._values[here, :n], limits, self._windows[level])
        choose_splits(
            self._histograms, n_nodes, rules.symmetric, table.offsets, table.has_missing, table.is_categorical,
            self.n_words, self.n_scores, self.count_bits, self._units, self._noise, self._windows[level], *self._found,
            tree.features[splits], tree.codes[splits], tree.missing_left[splits], tree.gains[splits],
            tree.tables[splits],
        )  # fmt: skip
        part_level(
            table.words, self._rows[here, :n], self._values[here, :n], limits, rules.symmetric, tree.features[splits],
            tree.tables[splits], rules.min_samples_leaf, self.count_mask, self._rows[there, :n],
            self._values[there, :n], self._bounds[level + 1, : 2 * n_nodes + 1],
            tree.kept[n_nodes - 1 : 2 * n_nodes - 1],
        )  # fmt: skip

    def _search_side_by_side(
        self, n_nodes: int, rows: np.ndarray, values: np.ndarray, bounds: np.ndarray, windows: np.ndarray
    ) -> None:
        table, rules = self.table, self.rules
        counts = np.diff(bounds)

        def search(part: tuple[int, int]) -> None:
            first, last = part
            if n_nodes == 1:
                build_root(table.words, first, last, rows, values, table.offsets, self._histograms)
            else:
                build_level(table.words, first, last, rows, values, bounds, table.offsets, self._histograms)
            search_columns(
                self._histograms, n_nodes, rules.symmetric, first * GROUP, min(last * GROUP, table.n_columns),
                table.offsets, table.has_missing, table.is_categorical, self.constraints, self.n_words, self.n_scores,
                self.count_bits, self._units, max(rules.l2, LEAST_L2), rules.min_samples_leaf, counts,
                self._noise, windows, *self._found,
            )  # fmt: skip

        n_parts = min(self.threads.n_threads, table.n_groups)
        cuts = [k * table.n_groups // n_parts for k in range(n_parts + 1)]
        self.threads.run(search, list(pairwise(cuts)))

    def _fill_values(
        self, scores: np.ndarray, rows: np.ndarray, key: np.uint64, values: np.ndarray
    ) -> tuple[list[float], float]:
        """Write whole numbers for the rows' scores, and the units that turn their sums back.

        Returns the weighted sum of each score's absolute values, and the sum of the weights.
        """
        absolute = np.empty(self.n_scores)
        absolute_sums(scores, self.weights, rows, absolute)
        sums, total = absolute.tolist(), float(self.weights[rows].sum()) if self.weighted else float(len(rows))
        n_bits = field_bits(self.count_bits) if self.packed else WIDE_BITS
        weight = max(total if self.packed else len(rows), 1.0)
        room = 2.0 ** (n_bits - 1) - 1 - weight
        scales = [2.0 ** min(floor(log2(room / max(part, LEAST_SUM))), MOST_EXPONENT) for part in sums]
        self._units[2 : 2 + self.n_scores] = [1.0 / scale for scale in scales]
        if self.packed:
            steps = min(part * scale for part, scale in zip(sums, scales, strict=True)) / weight
            both = np.array([*scales, 0.0])
            pack_rows(scores, self.weights, rows, both, steps < FINE_STEPS, key, self.count_bits, values)
        else:
            weight_scale = 2.0 ** floor(log2(2.0**WIDE_BITS / max(float(self.weights.sum()), LEAST_SUM)))
            self._units[1] = 1.0 / weight_scale
            widen_rows(scores, self.weights, rows, np.array(scales), weight_scale, values)
            if self.whole:
                values[:, 0] = self.weights[rows]
        return sums, total


@cache
def normal_numbers() -> np.ndarray:
    """Noise for all trees, read from random places on: to draw it anew would cost more than the splits."""
    return random_normals(stream_key(0, 0, 0), NOISE_LENGTH + 256)
