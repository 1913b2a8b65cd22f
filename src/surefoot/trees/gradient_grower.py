"""Grow trees on gradients: Python drives the levels, kernels make the passes over rows and bins."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.trees.gradient_splits import choose_splits, search_columns
from surefoot.trees.histograms import build_level, build_root
from surefoot.trees.packed import FINE_STEPS, WIDE_BITS, absolute_sums, field_bits, pack_rows, widen_rows
from surefoot.trees.partition import find_leaves, part_level
from surefoot.trees.row_words import GROUP, RowWords

MOST_PACKED = 1 << 20  # rows (by weight) of which the sums of two scores and the count fit one word with steps to spare
LEAST_L2 = 1e-9  # so that an empty side is worth 0, not 0/0


@dataclass(frozen=True)
class GrowthRules:
    """What decides where a tree is split."""

    depth: int = 6
    symmetric: bool = True
    min_samples_leaf: int = 1
    l2: float = 3.0
    constraints: np.ndarray | None = None  # -1, 0 or 1 for each column: falling, free or rising in the first output


@dataclass
class GrownGradientTree:
    """Splits and the place of every row; ``features``, ``codes`` ... have an entry per level or per node (heap order).

    ``rows[bounds[l]:bounds[l + 1]]`` are the rows in leaf l. ``kept`` marks nodes of a symmetric tree, in heap order,
    that did not take part in their level's split: their leaves on the right repeat those on the left.
    """

    depth: int
    symmetric: bool
    features: np.ndarray
    codes: np.ndarray
    missing_left: np.ndarray
    gains: np.ndarray
    tables: np.ndarray
    kept: np.ndarray
    rows: np.ndarray
    bounds: np.ndarray

    def node_features(self) -> np.ndarray:
        """The feature of every node in heap order."""
        if not self.symmetric:
            return self.features
        return np.repeat(self.features, 1 << np.arange(self.depth))

    def repeat_kept(self, leaves: np.ndarray) -> None:
        """Below a node that kept its rows on the left, say on the right what is said on the left.

        A symmetric tree sends new rows by its levels' splits, whichever node they are in.
        """
        if self.symmetric:
            for node in np.flatnonzero(self.kept)[::-1]:
                level = int(node + 1).bit_length() - 1
                half = 1 << (self.depth - level - 1)
                first = 2 * half * (node + 1 - (1 << level))
                leaves[first + half : first + 2 * half] = leaves[first : first + half]

    def leaves_of(self, words: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The leaf of each of some rows of a table packed into words."""
        leaves = np.empty(len(rows), dtype=np.int64)
        find_leaves(words, rows, self.depth, self.symmetric, self.features, self.tables, leaves)
        return leaves


class GradientTreeGrower:
    """Grows trees on one table; its buffers serve one tree after the other, so it belongs to one thread at a time.

    ``weights`` (None: all 1) are fixed for the grower's life: where they are whole numbers, a row of weight k is
    exactly k rows.
    """

    def __init__(
        self, table: RowWords, n_scores: int, rules: GrowthRules, weights: np.ndarray | None, threads: RowThreads
    ) -> None:
        self.table, self.rules, self.threads, self.n_scores = table, rules, threads, n_scores
        self.weights = np.ones(table.n_rows) if weights is None else weights
        total = float(self.weights.sum())
        whole = weights is None or bool((np.rint(weights) == weights).all())
        self.packed = whole and n_scores <= 2 and total < MOST_PACKED
        self.n_words = 1 if self.packed else 2 + n_scores
        self.count_bits = max(1, int(total).bit_length())
        self.constraints = np.zeros(table.n_columns, dtype=np.int64) if rules.constraints is None else rules.constraints
        self._make_buffers()

    def _make_buffers(self) -> None:
        n_rows, depth = self.table.n_rows, self.rules.depth
        self._rows = [np.empty(n_rows, dtype=np.uint32) for _ in range(2)]
        self._values = [np.empty((n_rows, self.n_words), dtype=np.int64) for _ in range(2)]
        self._histograms = np.empty((1 << (depth - 1), self.table.n_bins * self.n_words), dtype=np.int64)
        n_searched = 1 if self.rules.symmetric else 1 << (depth - 1)
        shape = (n_searched, self.table.n_columns)
        self._found = np.empty(shape), np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)
        self._units = np.ones(4 if self.packed else 2 + self.n_scores)
        n_parts = min(self.threads.n_threads, self.table.n_groups)
        cuts = np.linspace(0, self.table.n_groups, n_parts + 1).astype(np.int64)
        self._parts = [(int(a), int(b)) for a, b in pairwise(cuts)]

    def grow(self, scores: np.ndarray, rows: np.ndarray, key: int) -> GrownGradientTree:
        """A tree on ``rows`` (uint32) for ``scores`` of shape (n_scores, n_rows)."""
        n = len(rows)
        current, other = (0, 1)
        self._rows[0][:n] = rows
        self._fill_values(scores, rows, key, self._values[0][:n])
        tree = self._empty_tree()
        bounds = np.array([0, n])
        for level in range(self.rules.depth):
            here_rows, here_values = self._rows[current][:n], self._values[current][:n]
            self._search(level, here_rows, here_values, bounds)
            here = self._choose(tree, level, bounds)
            new_bounds = np.empty(2 * len(bounds) - 1, dtype=np.int64)
            part_level(
                self.table.words, here_rows, here_values, bounds, self.rules.symmetric, tree.features[here],
                tree.tables[here], self.rules.min_samples_leaf, self._count_mask, self._rows[other][:n],
                self._values[other][:n], new_bounds, tree.kept[(1 << level) - 1 : (2 << level) - 1],
            )  # fmt: skip
            bounds = new_bounds
            current, other = other, current
        tree.rows, tree.bounds = self._rows[current][:n], bounds
        return tree

    @property
    def _count_mask(self) -> int:
        return (1 << self.count_bits) - 1 if self.packed else (1 << 62) - 1

    def _fill_values(self, scores: np.ndarray, rows: np.ndarray, key: int, values: np.ndarray) -> None:
        """Whole numbers for the rows' scores; the units that turn their sums back."""
        sums = np.empty(self.n_scores)
        absolute_sums(scores, self.weights, rows, sums)
        n_bits = field_bits(self.count_bits) if self.packed else WIDE_BITS
        room = 2.0 ** (n_bits - 1) - 1 - len(rows)
        exponents = np.floor(np.log2(room / np.maximum(sums, 1e-200)))
        scales = np.exp2(np.minimum(exponents, 200.0))
        self._units[2 : 2 + self.n_scores] = 1.0 / scales
        if self.packed:
            steps = float((sums * scales).min()) / max(len(rows), 1)
            both = np.append(scales, 0.0)
            pack_rows(scores, self.weights, rows, both, steps < FINE_STEPS, key, self.count_bits, values)
        else:
            heaviest = 2.0**WIDE_BITS / max(float(self.weights.sum()), np.finfo(float).tiny)
            weight_scale = float(np.exp2(np.floor(np.log2(heaviest))))
            self._units[1] = 1.0 / weight_scale
            widen_rows(scores, self.weights, rows, scales, weight_scale, values)

    def _search(self, level: int, rows: np.ndarray, values: np.ndarray, bounds: np.ndarray) -> None:
        table, rules = self.table, self.rules

        def search(part: tuple[int, int]) -> None:
            first, last = part
            if level == 0:
                build_root(table.words, first, last, rows, values, table.offsets, self._histograms)
            else:
                build_level(table.words, first, last, rows, values, bounds, table.offsets, self._histograms)
            search_columns(
                self._histograms, len(bounds) - 1, rules.symmetric, first * GROUP, min(last * GROUP, table.n_columns),
                table.offsets, table.has_missing, table.is_categorical, self.constraints, self.n_words, self.n_scores,
                self.count_bits, self._units, max(rules.l2, LEAST_L2), float(rules.min_samples_leaf), *self._found,
            )  # fmt: skip

        self.threads.run(search, self._parts)

    def _choose(self, tree: GrownGradientTree, level: int, bounds: np.ndarray) -> slice:
        here = slice(level, level + 1) if self.rules.symmetric else slice((1 << level) - 1, (2 << level) - 1)
        counts = bounds[-1:] - bounds[:1] if self.rules.symmetric else np.diff(bounds)
        choose_splits(
            self._histograms, len(bounds) - 1, self.rules.symmetric, self.table.offsets, self.table.has_missing,
            self.table.is_categorical, self.n_words, self.n_scores, self.count_bits, self._units,
            counts.astype(np.float64), *self._found, tree.features[here], tree.codes[here], tree.missing_left[here],
            tree.gains[here], tree.tables[here],
        )  # fmt: skip
        return here

    def _empty_tree(self) -> GrownGradientTree:
        depth = self.rules.depth
        n_splits = depth if self.rules.symmetric else (1 << depth) - 1
        return GrownGradientTree(
            depth, self.rules.symmetric, np.full(n_splits, -1, dtype=np.int64), np.zeros(n_splits, dtype=np.int64),
            np.zeros(n_splits, dtype=np.bool_), np.zeros(n_splits), np.zeros((n_splits, 256), dtype=np.uint8),
            np.zeros((1 << depth) - 1, dtype=np.bool_), np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.int64),
        )  # fmt: skip
