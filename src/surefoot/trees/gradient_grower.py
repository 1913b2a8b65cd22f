"""Grow trees on gradients: Python drives the levels, kernels make the passes over rows and bins."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import chain
from math import ceil, log2, pi, sqrt
from typing import Any

import numpy as np

from surefoot._parallel import RowThreads
from surefoot._random import random_bits, random_normals, stream_key
from surefoot.trees.grown_tree import GrownGradientTree
from surefoot.trees.level_kernels import (
    NOISE_LENGTH,
    ColumnSplits,
    GrowthBuffers,
    NodeSums,
    PackedTable,
    SplitNoise,
    SplitRules,
    SumFormat,
    grow_levels,
    grow_part,
    make_search_buffers,
    search_parts,
    split_level,
    write_leaves_of_part,
)
from surefoot.trees.packed_codes import PackedCodes
from surefoot.trees.packed_gradients import (
    MIN_SUM,
    GradientFormat,
    SumScales,
    absolute_sums,
    pack_rows,
    widen_rows,
)
from surefoot.trees.row_blocks import BlockRows, even_ranges

CELLS_AT_ONCE = 20_000_000  # for larger tables a call grows one level, because Ctrl-C waits for the end of a call
MAX_PARTS_WORDS = 1 << 25  # of the histograms that threads sum: those of deep trees of many classes are large
SEARCHED_BINS = 200_000  # of all nodes of a level, by each thread: about 0.3 ms
ROOT_HALF_PI = sqrt(pi / 2)  # root mean square of normal numbers, over their mean absolute value
BINS_PER_ROW = 2.0  # bins of a node that take as long to read as one row of a column
NO_NOISE = NO_WEIGHTS = np.empty(0)
MIN_L2 = 1e-9  # so that the worth of an empty side is 0, and not 0/0


@dataclass(frozen=True)
class GrowthRules:
    """The parameters that decide where a tree is split."""

    depth: int = 6
    symmetric: bool = True
    min_samples_leaf: int = 1
    l2: float = 3.0
    constraints: tuple[int, ...] | None = None  # per column -1, 0, 1: the first output falls, is free, or rises


class GradientTreeGrower:
    """Grows trees on one table; all trees use the same buffers, so only one thread may use a grower at a time.

    ``weights`` (None: all 1) are the same for all trees. If they are whole numbers, a row of weight k counts as exactly
    k rows.
    """

    def __init__(
        self,
        table: PackedCodes,
        n_scores: int,
        rules: GrowthRules,
        weights: np.ndarray | None,
        threads: RowThreads,
        sum_format: GradientFormat | None = None,
    ) -> None:
        """``sum_format`` is that of the whole table if ``table`` is a shard of it."""
        self.table, self.rules, self.threads, self.weights = table, rules, threads, weights
        self.format = sum_format or GradientFormat.of(n_scores, weights, table.n_rows)
        self.constraints = np.array(rules.constraints or [0] * table.n_columns, dtype=np.int64)
        self._make_buffers()

    def __getstate__(self) -> dict[str, Any]:
        """The state without the buffers: no tree needs those of the last, and some are views of others."""
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_") and name != "tree"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_buffers()

    def _make_buffers(self) -> None:
        n_rows, n_columns, depth = self.table.n_rows, self.table.n_columns, self.rules.depth
        shape = (1 if self.rules.symmetric else 1 << (depth - 1), n_columns)
        n_sorted = n_rows if self.table.is_sorted else 0
        n_nodes = 1 << (depth - 1)
        self.read(self.table)
        form = self.format
        self._form = SumFormat(
            n_words=form.n_words,
            n_scores=form.n_scores,
            count_bits=form.count_bits,
            units=np.ones(max(4, 2 + form.n_scores)),
        )
        self._weights = np.ones(n_rows) if self.weights is None else self.weights
        self.tree = GrownGradientTree.empty(depth, self.rules.symmetric, n_rows)
        self._splits = self.tree.splits()
        self._noise = SplitNoise(numbers=NO_NOISE, windows=np.zeros((depth, n_columns), dtype=np.int64))
        self._buffers = GrowthBuffers(
            rows=np.empty((2, n_rows), dtype=np.uint32),
            values=np.empty((2, n_rows, form.n_words), dtype=np.int64),
            bounds=np.zeros((1, depth + 1, 2 * n_nodes + 1), dtype=np.int64),
            histograms=np.empty((n_nodes, self.table.n_bins * form.n_words), dtype=np.int64),
            parts=np.empty((0, 0, 0), dtype=np.int64),
            smaller=np.zeros(n_nodes, dtype=np.uint8),
            leaves=self.tree.leaves,
            best=ColumnSplits(
                values=np.empty(shape),
                gains=np.empty(shape),
                places=np.empty(shape, dtype=np.int64),
                sides=np.empty(shape, dtype=np.int64),
                orders=np.empty((*shape, 256 if self.table.is_categorical.any() else 0), dtype=np.uint8),
            ),
            search=make_search_buffers(self._form, n_nodes),
            sums=NodeSums(
                nodes=np.zeros(n_sorted, dtype=np.uint16),
                parts=np.zeros((n_sorted, 3)),
                totals=np.zeros((n_nodes + 1, 4)),
                left=np.zeros((n_nodes + 1, 4)),
            ),
        )
        self._sorted_level = self._first_sorted_level()
        self._divided: tuple[BlockRows, RowThreads] | None = None  # rows that are divided now, and the threads

    def move_arrays(self, move: Callable[[np.ndarray], np.ndarray]) -> None:
        """Replace every array with a number for each row by its copy elsewhere."""
        buffers = self._buffers
        self.tree.leaves, self._weights = move(self.tree.leaves), move(self._weights)
        rows, values = move(buffers.rows), move(buffers.values)
        self._buffers = buffers._replace(rows=rows, values=values, leaves=self.tree.leaves)

    def read(self, table: PackedCodes) -> None:
        """Grow the next trees on another table of the same shape."""
        self.table, rules = table, self.rules
        self._packed_table = packed_table(table)
        has_conditions = rules.constraints is not None or rules.min_samples_leaf > 1 or table.has_missing.any()
        has_conditions = has_conditions or table.is_categorical.any()
        self._split_rules = SplitRules(
            symmetric=rules.symmetric,
            l2=float(max(rules.l2, MIN_L2)),
            min_rows=rules.min_samples_leaf,
            constraints=self.constraints if has_conditions or not self.format.packed else None,
        )

    def grow(
        self,
        scores: np.ndarray,
        rows: BlockRows,
        key: np.uint64,
        noise: float = 0.0,
        absolute: np.ndarray | None = None,
        use_leaves: Callable[[tuple[int, int]], None] | None = None,
    ) -> GrownGradientTree:
        """A tree on ``rows`` for ``scores`` of shape (n_scores, n_rows).

        Splits are chosen by their gain plus ``noise`` standard errors times a random normal number. ``absolute`` is
        what ``absolute_sums`` returns, if that is known. ``use_leaves`` is called for ranges of blocks whose rows have
        their leaves, once for each block.
        """
        depth = self.rules.depth
        self.divide(rows)
        if absolute is None:
            absolute = self.absolute_sums(scores, rows)
        *sums, total = (absolute[0] if len(absolute) == 1 else absolute.sum(axis=0)).tolist()
        self.use_noise(noise, sums, total, key)
        fill_part = self._filling(scores, rows, self.format.scales(sums, total, len(rows)), key)
        if self.threads.n_threads > 1:
            for level in range(depth):
                self._grow_in_parts(level, fill_part)
            self.find_leaves(rows, use_leaves)
        else:
            fill_part(0)
            at_once = depth if len(rows) * self.table.n_columns <= CELLS_AT_ONCE else 1
            for level in range(0, depth, at_once):
                self._grow(level, min(level + at_once, depth))
            if use_leaves is not None:
                use_leaves((0, rows.n_blocks))
        return self.tree

    def divide(self, rows: BlockRows) -> None:
        """Divide the rows among threads: each part has its own partition and its own sums.

        Sums of whole numbers do not depend on where the rows are cut, so that parts need not consist of whole blocks.
        """
        if self._divided is not None and self._divided[0] is rows and self._divided[1] is self.threads:
            return
        self._divided = rows, self.threads
        buffers, n_threads = self._buffers, self.threads.n_threads
        n_slots, n_words = max(len(buffers.histograms) // 2, 1), self.table.n_groups * 2048 * self.format.n_words
        self._ranges = even_ranges(len(rows), min(n_threads, MAX_PARTS_WORDS // (n_slots * n_words)))
        n_parts = len(self._ranges)
        if len(buffers.bounds) != n_parts:
            buffers = buffers._replace(bounds=np.zeros((n_parts, *buffers.bounds.shape[1:]), dtype=np.int64))
        if n_threads > 1 and len(buffers.parts) != n_parts:
            buffers = buffers._replace(parts=np.empty((n_parts, n_slots, n_words), dtype=np.int64))
        self._buffers = buffers
        buffers.bounds[:, 0, :2] = self._ranges

    def absolute_sums(self, scores: np.ndarray, rows: BlockRows) -> np.ndarray:
        """For each block, the weighted sum of the absolute values of each score, and the sum of the weights."""
        out = self.empty_sums(rows)
        self.threads.run(self.adding_up(scores, rows, out), rows.block_ranges(self.threads.n_threads))
        return out

    def empty_sums(self, rows: BlockRows) -> np.ndarray:
        """An array for ``absolute_sums``."""
        return np.empty((rows.n_blocks, self.format.n_scores + 1))

    def adding_up(self, scores: np.ndarray, rows: BlockRows, out: np.ndarray) -> Callable[[tuple[int, int]], None]:
        """A function that writes the ``absolute_sums`` of some blocks to ``out``."""
        weights = NO_WEIGHTS if self.weights is None else self.weights
        return lambda blocks: absolute_sums(scores, weights, rows.rows, rows.starts, blocks, out)

    def use_noise(self, noise: float, sums: list[float], total: float, key: np.uint64) -> None:
        """Draw the noise of the next tree; ``sums`` are those of ``absolute_sums`` over all blocks."""
        numbers = NO_NOISE
        if noise > 0.0:  # the spread of scores is estimated from their mean absolute value: it is robust to extremes
            spread = ROOT_HALF_PI * sqrt(sum([(part / max(total, MIN_SUM)) ** 2 for part in sums]))
            numbers = normal_numbers() * (noise * spread)
            windows = random_bits(key, self._noise.windows.size) % np.uint64(NOISE_LENGTH)
            self._noise.windows[:] = windows.reshape(self._noise.windows.shape)
        self._noise = SplitNoise(numbers=numbers, windows=self._noise.windows)

    def fill(self, scores: np.ndarray, rows: BlockRows, scales: SumScales, key: np.uint64) -> None:
        """Write whole numbers for the scores of the rows."""
        self.threads.run(self._filling(scores, rows, scales, key), range(len(self._ranges)))

    def _filling(self, scores: np.ndarray, rows: BlockRows, scales: SumScales, key: np.uint64) -> Callable[[int], None]:
        """A function that writes whole numbers for the scores of one part of the rows."""
        form, weights, buffers = self.format, self._weights, self._buffers
        self._form.units[:] = scales.units

        def fill_part(part: int) -> None:
            places = slice(*self._ranges[part])
            own, values = rows.rows[places], buffers.values[0, places]
            buffers.rows[0, places] = own
            if form.packed:
                pack_rows(scores, weights, own, scales.scores, scales.rounds_randomly, key, form.count_bits, values)
                return
            widen_rows(scores, weights, own, scales.scores, scales.weight, values)
            if form.whole:
                values[:, 0] = weights[own]

        return fill_part

    def find_leaves(self, rows: BlockRows, use_leaves: Callable[[tuple[int, int]], None] | None = None) -> None:
        """Write the leaf of each row, by the splits of the last level; use them as ``grow`` does."""
        given = self._packed_table, self._split_rules, self._buffers, self._splits, self.rules.depth
        whole = [rows.whole_blocks(own) for own in self._ranges]

        def find(part: int) -> None:
            write_leaves_of_part(*given, part)
            if use_leaves is not None and whole[part][0] < whole[part][1]:
                use_leaves(whole[part])

        self.threads.run(find, range(len(whole)))
        if use_leaves is not None:
            ends = [0, *chain.from_iterable(whole), rows.n_blocks]
            cut = [(first, last) for first, last in zip(ends[::2], ends[1::2], strict=True) if first < last]
            self.threads.run(use_leaves, cut)

    def _grow(self, first_level: int, last_level: int) -> None:
        """Grow some levels in one call: a call of a kernel takes longer than a level of a small table."""
        kinds = self._packed_table, self._split_rules, self._form, self._noise, self._buffers, self._splits
        sorted_level = None if self._sorted_level is None else min(self._sorted_level, last_level)
        grow_levels(*kinds, first_level, last_level, sorted_level)

    def _first_sorted_level(self) -> int | None:
        """The first level where reading the rows of all columns takes less time than reading the bins of all nodes."""
        table, rules = self.table, self.rules
        is_plain = rules.symmetric and rules.min_samples_leaf <= 1 and rules.constraints is None
        if not (is_plain and self.format.packed and table.is_sorted):
            return None
        n_cells = max(table.n_rows * table.n_columns, 1)
        return max(ceil(log2(BINS_PER_ROW * n_cells / table.n_bins)), 1)

    def _grow_in_parts(self, depth: int, fill_part: Callable[[int], None]) -> None:
        """Grow one level in several threads; at the root, each fills in the numbers of its rows first."""
        given = self._packed_table, self._split_rules, self._form, self._noise
        self._sum_parts(depth, fill_part)
        ranges = self._search_ranges(depth)
        self.threads.run(lambda own: search_parts(*given, self._buffers_for(own), self._splits, depth, own), ranges)
        if len(ranges) > 1:
            split_level(*given[:-1], self._buffers, self._splits, depth)

    def _buffers_for(self, columns: tuple[int, int]) -> GrowthBuffers:
        """The buffers, with others for a thread that searches some of the columns."""
        if columns == (0, self.table.n_columns):
            return self._buffers
        return self._buffers._replace(search=make_search_buffers(self._form, len(self._buffers.smaller)))

    def _search_ranges(self, depth: int) -> list[tuple[int, int]]:
        """The columns that each thread searches at a level: for few bins, starting the threads takes longer."""
        n_threads = min(self.threads.n_threads, (self.table.n_bins << depth) // SEARCHED_BINS)
        return even_ranges(self.table.n_columns, n_threads)

    def _sum_parts(self, depth: int, fill_part: Callable[[int], None]) -> None:
        """Divide the rows by the splits of the level above, and sum the histograms: each thread for one part.

        If there are fewer parts than threads, each part is summed by several threads, which share its columns.
        """
        given = self._packed_table, self._split_rules, self._buffers, self._splits, depth
        parts = range(len(self._ranges))
        groups = even_ranges(self.table.n_groups, self.threads.n_threads // len(parts))

        def begin_part(part: int) -> None:
            if depth == 0:
                fill_part(part)
            else:
                grow_part(*given, part, (0, 0), True, False)

        def sum_part(task: tuple[int, tuple[int, int]]) -> None:
            part, own = task
            if len(groups) == 1 and depth == 0:
                fill_part(part)
            grow_part(*given, part, own, len(groups) == 1, False)

        if len(groups) > 1:
            self.threads.run(begin_part, parts)
        self.threads.run(sum_part, [(part, own) for part in parts for own in groups])


def packed_table(table: PackedCodes) -> PackedTable:
    """The arrays of a table that kernels read."""
    return PackedTable(
        words=table.words,
        offsets=table.offsets,
        n_codes=table.n_codes,
        has_missing=table.has_missing,
        is_categorical=table.is_categorical if table.is_categorical.any() else None,
        sorted_rows=table.sorted_rows,
        sorted_codes=table.sorted_codes,
    )


@cache
def normal_numbers() -> np.ndarray:
    """Noise for all trees, each of which reads it from random places: new numbers would cost more than the splits."""
    return random_normals(stream_key(0, 0, 0), NOISE_LENGTH + 256)
