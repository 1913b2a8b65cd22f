"""Grow trees on gradients: Python drives the levels, kernels make the passes over rows and bins."""

from collections.abc import Callable
from functools import cache
from math import ceil, log2, pi, sqrt
from typing import Any

import numpy as np

from surefoot._jit import address_of_yield
from surefoot._parallel import RowThreads
from surefoot._random import random_bits, random_normals, stream_key
from surefoot.trees.grown_tree import GrownGradientTree
from surefoot.trees.growth_rules import GrowthRules
from surefoot.trees.level_kernels import (
    N_STEPS,
    NOISE_LENGTH,
    ColumnSplits,
    GrowthBuffers,
    LeafInputs,
    LeafSums,
    NodeSums,
    PackedTable,
    RowScores,
    SearchBuffers,
    SharedWork,
    SplitNoise,
    SplitRules,
    SumFormat,
    TreeInputs,
    fill_rows,
    grow_levels,
    grow_together,
    make_search_buffers,
    sum_leaves,
    write_leaves_of_part,
)
from surefoot.trees.node_limits import NodeLimits
from surefoot.trees.packed_codes import PackedCodes
from surefoot.trees.packed_gradients import MIN_SUM, GradientFormat, SumScales, absolute_sums
from surefoot.trees.row_blocks import BlockRows, even_ranges

CELLS_AT_ONCE = 20_000_000  # for larger tables a call grows one level, because Ctrl-C waits for the end of a call
MAX_PARTS_WORDS = 1 << 25  # of the histograms that threads sum: those of deep trees of many classes are large
ROOT_HALF_PI = sqrt(pi / 2)  # root mean square of normal numbers, over their mean absolute value
BINS_PER_ROW = 2.0  # bins of a node that take as long to read as one row of a column
NO_NOISE = NO_WEIGHTS = np.empty(0)
NO_OUTPUTS = np.empty((0, 0))
NO_LEAVES = LeafInputs(
    steps=NO_OUTPUTS,
    information=NO_OUTPUTS,
    weights=NO_WEIGHTS,
    rows=np.empty(0, dtype=np.uint32),
    starts=np.zeros(1, dtype=np.int64),
    sums=LeafSums.empty(0, 0, 0),
)
MIN_L2 = 1e-9  # so that the worth of an empty side is 0, and not 0/0


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
        self._limits = NodeLimits.of(self.rules, n_columns)
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
        self._searches: list[SearchBuffers] = []  # of each thread, if there are several

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
        has_conditions = rules.constraints is not None or rules.min_samples_leaf > 1 or bool(table.has_missing.any())
        has_conditions = has_conditions or bool(table.is_categorical.any())
        has_conditions = has_conditions or self._limits is not None  # not needed, but less is compiled
        self._split_rules = SplitRules(
            symmetric=rules.symmetric,
            l2=float(max(rules.l2, MIN_L2)),
            min_rows=rules.min_samples_leaf,
            constraints=self.constraints if has_conditions or not self.format.packed else None,
            allowed=None if self._limits is None else self._limits.allowed,
        )

    def begin_tree(self, column_key: np.uint64) -> None:
        """Draw the columns of the next tree, if not all are used."""
        if self._limits is not None:
            self._limits.begin_tree(column_key)

    def _begin_level(self, level: int) -> None:
        """Find out which columns the nodes of a level may be split at."""
        if self._limits is not None and level < self.rules.depth:
            self._limits.begin_level(self.tree, level)

    def grow(
        self,
        scores: np.ndarray,
        rows: BlockRows,
        key: np.uint64,
        noise: float = 0.0,
        absolute: np.ndarray | None = None,
        leaves: LeafInputs = NO_LEAVES,
    ) -> GrownGradientTree:
        """A tree on ``rows`` for ``scores`` of shape (n_scores, n_rows).

        Splits are chosen by their gain plus ``noise`` standard errors times a random normal number. ``absolute`` is
        what ``absolute_sums`` returns, if that is known. The sums of ``leaves`` are written. ``begin_tree`` comes
        first, if not all columns are used.
        """
        self.divide(rows)
        if absolute is None:
            absolute = self.absolute_sums(scores, rows)
        *sums, total = (absolute[0] if len(absolute) == 1 else absolute.sum(axis=0)).tolist()
        self.use_noise(noise, sums, total, key)
        own_scores = self._row_scores(scores, rows, self.format.scales(sums, total, len(rows)), key)
        all_are_kept = self.rules.max_leaf_nodes is None
        inputs = TreeInputs(
            table=self._packed_table,
            rules=self._split_rules,
            form=self._form,
            noise=self._noise,
            scores=own_scores,
            leaves=leaves if all_are_kept else NO_LEAVES,
        )
        if self.threads.n_threads > 1:
            self._grow_together(inputs, self._levels_at_once(rows))
        else:
            self._grow_alone(inputs, self._levels_at_once(rows))
        if not all_are_kept:
            self._keep_best_splits(rows, leaves)
        return self.tree

    def _levels_at_once(self, rows: BlockRows) -> int:
        """How many levels are grown in one call."""
        is_small = len(rows) * self.table.n_columns / self.threads.n_threads <= CELLS_AT_ONCE
        return self.rules.depth if is_small and (self._limits is None or self._limits.is_fixed) else 1

    def _keep_best_splits(self, rows: BlockRows, leaves: LeafInputs) -> None:
        """Undo all splits but the best; move the rows to the leaves that are left, and write the sums of these."""
        assert self.rules.max_leaf_nodes is not None
        self.tree.move_rows(self.tree.keep_best_splits(self.rules.max_leaf_nodes))
        if len(leaves.steps):
            ranges = rows.block_ranges(self.threads.n_threads)
            self.threads.run(lambda blocks: sum_leaves(leaves, blocks, self.tree.leaves), ranges)

    def divide(self, rows: BlockRows) -> None:
        """Divide the rows among threads: each part has its own partition and its own sums.

        Sums of whole numbers do not depend on where the rows are cut, so that parts need not consist of whole blocks.
        """
        if self._divided is not None and self._divided[0] is rows and self._divided[1] is self.threads:
            return
        self._divided = rows, self.threads
        buffers, n_threads, depth = self._buffers, self.threads.n_threads, self.rules.depth
        n_slots, n_words = max(len(buffers.histograms) // 2, 1), self.table.n_groups * 2048 * self.format.n_words
        self._ranges = even_ranges(len(rows), min(n_threads, MAX_PARTS_WORDS // (n_slots * n_words)))
        n_parts = len(self._ranges)
        if len(buffers.bounds) != n_parts:
            buffers = buffers._replace(bounds=np.zeros((n_parts, *buffers.bounds.shape[1:]), dtype=np.int64))
        if n_threads > 1 and len(buffers.parts) != n_parts:
            buffers = buffers._replace(parts=np.empty((n_parts, n_slots, n_words), dtype=np.int64))
        self._buffers = buffers
        buffers.bounds[:, 0, :2] = self._ranges
        if n_threads > 1 and len(self._searches) != n_threads:
            self._work = SharedWork.of(depth, n_threads, address_of_yield())
            self._searches = [make_search_buffers(self._form, len(buffers.smaller)) for _ in range(n_threads)]

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
        fill_rows(self._row_scores(scores, rows, scales, key), self._form, self._buffers)

    def _row_scores(self, scores: np.ndarray, rows: BlockRows, scales: SumScales, key: np.uint64) -> RowScores:
        """The scores of some rows, for kernels; sums are read in the units of these scales from now on."""
        self._form.units[:] = scales.units
        return RowScores(
            scores=scores,
            weights=self._weights,
            rows=rows.rows,
            scales=scales.scores,
            weight_scale=scales.weight,
            rounds_randomly=scales.rounds_randomly,
            key=key,
            counts_weights=self.format.whole,
        )

    def find_leaves(self) -> None:
        """Write the leaf of each row, by the splits of the last level; the rows are one part."""
        write_leaves_of_part(self._packed_table, self._split_rules, self._buffers, self._splits)

    def _grow_alone(self, inputs: TreeInputs, levels_at_once: int) -> None:
        """Grow a tree in one thread, some levels in a call: a call takes longer than a level of a small table."""
        depth = self.rules.depth
        for level in range(0, depth, levels_at_once):
            last = min(level + levels_at_once, depth)
            sorted_level = None if self._sorted_level is None else min(self._sorted_level, depth)
            self._begin_level(level)
            grow_levels(inputs, self._buffers, self._splits, level, last, sorted_level)

    def _grow_together(self, inputs: TreeInputs, levels_at_once: int) -> None:
        """Grow a tree in several threads, some levels in a call."""
        work, splits = self._work, self._splits
        for counters in (work.claims, work.done, work.stopped):
            counters[:] = 0
        buffers, n_steps = [self._buffers._replace(search=own) for own in self._searches], len(work.done)
        steps_at_once = n_steps if levels_at_once > 1 else N_STEPS

        def grow(member: int, first: int, last: int) -> None:
            try:
                grow_together(inputs, buffers[member], splits, work, member, first, last)
            except BaseException:
                work.stopped[:] = 1  # nobody may wait for tasks that this thread has taken
                raise

        for first in range(0, n_steps, steps_at_once):
            last = min(first + steps_at_once, n_steps)
            self._begin_level(first // N_STEPS)
            self.threads.run(lambda member: grow(member, first, last), range(self.threads.n_threads))  # noqa: B023

    def _first_sorted_level(self) -> int | None:
        """The first level where reading the rows of all columns takes less time than reading the bins of all nodes."""
        table, rules = self.table, self.rules
        is_plain = rules.symmetric and rules.min_samples_leaf <= 1 and rules.constraints is None
        if not (is_plain and self.format.packed and table.is_sorted):
            return None
        n_cells = max(table.n_rows * table.n_columns, 1)
        return max(ceil(log2(BINS_PER_ROW * n_cells / table.n_bins)), 1)


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
