"""Bags of rows, the models that a selector chooses on them, and the weights of those models without a row."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._jit import kernel
from surefoot._parallel import Cancellation, TaskRunner, row_blocks, run_tasks
from surefoot._progress import BagProgress
from surefoot._random import random_bits, stream_key
from surefoot.selection.chosen_models import ModelCounts
from surefoot.selection.leave_one_out import LeftOutWeights
from surefoot.selection.selector import BagError, PreparedSelector, Selector
from surefoot.selection.table import SelectionTable

BAGS = 3_000_017  # label of a stream of random numbers
REFIT = 5_000_011  # label of a stream of random numbers: bags without a row
SCAN_RATIO = 16  # if fewer than one row in 16 is drawn, sorting them costs less than a scan of all rows
MAX_CELLS = 1 << 22  # row numbers in the bags of one call
CALLS_AT_ONCE = 256  # their models are counted before further calls begin
MAX_WEIGHTS = 1 << 24  # weights without a row that are in memory at once
MIN_LEFT_OUT = 1e-4  # fraction of the bags that must lack a given row for method="pool"
NAME = "StableSelector"  # in progress messages


@dataclass(frozen=True)
class BagPool:
    """All bags of ``size`` rows that a seed generates.

    A bag is a pure function of the seed and the bag's number, so that no bag has to be stored.
    """

    n_rows: int
    size: int
    replace: bool
    seed: int

    @property
    def inclusion_probability(self) -> float:
        """The probability that a bag holds a given row."""
        return 1.0 - (1.0 - 1.0 / self.n_rows) ** self.size if self.replace else self.size / self.n_rows

    def bags(self, first: int, stop: int) -> np.ndarray:
        """Bags number ``first`` to ``stop - 1``: int32 (bags, size), rows in ascending order, repeated if drawn so."""
        leaves_out = not self.replace and 2 * self.size > self.n_rows  # fewer draws: the rows that the bag lacks
        draws = self.n_rows - self.size if leaves_out else self.size
        bits = random_bits(stream_key(self.seed, BAGS), (stop - first) * draws, first * draws).reshape(-1, draws)
        out = np.empty((stop - first, self.size), dtype=np.int32)
        draw_bags(bits, self.n_rows, self.replace, leaves_out, out)
        return out


def draw_bags(bits: np.ndarray, n_rows: int, replace: bool, leaves_out: bool, out: np.ndarray) -> None:
    """Write the rows of each bag in ascending order: those that random bits draw, or those that they leave out."""
    is_sparse = bits.shape[1] * SCAN_RATIO < n_rows and not leaves_out
    counts = np.zeros(n_rows, dtype=np.int32)
    if replace:
        draw_with_replacement(bits, is_sparse, counts, out)
    else:
        draw_without_replacement(bits, is_sparse, leaves_out, np.arange(n_rows, dtype=np.int32), counts, out)
    if is_sparse:
        out.sort(axis=1)  # in kernels, sorting takes a second to compile


@kernel
def draw_with_replacement(bits, is_sparse, counts, out):
    """Read random bits (bags, draws) and counts that are 0; write the rows of each bag.

    They are in ascending order, but for sparse bags: these have few of the rows.
    """
    n_rows, size = counts.shape[0], out.shape[1]
    for b in range(out.shape[0]):
        for i in range(size):
            out[b, i] = min(np.int64((bits[b, i] >> np.uint64(11)) * 2.0**-53 * n_rows), n_rows - 1)
        if is_sparse:
            continue
        for i in range(size):
            counts[out[b, i]] += 1
        place = 0
        for row in range(n_rows):
            for _ in range(counts[row]):
                out[b, place] = row
                place += 1
            counts[row] = 0


@kernel(allocates=True)
def draw_without_replacement(bits, is_sparse, leaves_out, places, counts, out):
    """Read random bits, all rows as places, and counts that are 0; write the rows of each bag.

    They are in ascending order, but for sparse bags: these have few of the rows.

    The drawn rows are the beginning of a shuffle. The swaps are then undone, which restores the order of the places for
    the next bag.
    """
    n_rows, draws = places.shape[0], bits.shape[1]
    swaps = np.empty(draws, dtype=np.int64)
    for b in range(out.shape[0]):
        for i in range(draws):
            left = n_rows - i
            other = i + min(np.int64((bits[b, i] >> np.uint64(11)) * 2.0**-53 * left), left - 1)
            swaps[i] = other
            places[i], places[other] = places[other], places[i]
        if is_sparse:
            for i in range(draws):
                out[b, i] = places[i]
        else:
            for i in range(draws):
                counts[places[i]] = 1
            place = 0
            for row in range(n_rows):
                if (counts[row] == 0) == leaves_out:
                    out[b, place] = row
                    place += 1
                counts[row] = 0
        for i in range(draws - 1, -1, -1):
            other = swaps[i]
            places[i], places[other] = places[other], places[i]


@dataclass
class BaggedSelection:
    """The models that a selector chose on the first ``n_bags`` bags of a pool; leave-one-out may draw more bags."""

    selector: Selector
    table: SelectionTable
    prepared: PreparedSelector
    pool: BagPool
    n_bags: int
    counts: ModelCounts
    weights: np.ndarray  # of the models that the first bags chose

    @classmethod
    def run(
        cls,
        selector: Selector,
        table: SelectionTable,
        prepared: PreparedSelector,
        pool: BagPool,
        n_bags: int,
        n_jobs: int | None,
        verbose: int,
        runner: TaskRunner = run_tasks,
    ) -> "BaggedSelection":
        """Let the selector choose a model on every bag."""
        counts = ModelCounts()
        choose_on_bags(prepared, pool, 0, n_bags, counts, n_jobs, BagProgress(NAME, verbose, n_bags), runner)
        return cls(
            selector=selector,
            table=table,
            prepared=prepared,
            pool=pool,
            n_bags=n_bags,
            counts=counts,
            weights=counts.model_weights(),
        )

    @property
    def models(self) -> list:
        """The models that the first bags chose."""
        return self.counts.models[: len(self.weights)]

    @property
    def members(self) -> np.ndarray | None:
        """Which items these models have, if models are sets."""
        every = self.counts.member_array()
        return None if every is None else every[: len(self.weights)]

    def left_out_by_pool(
        self, n_jobs: int | None, verbose: int, runner: TaskRunner = run_tasks
    ) -> Iterator[LeftOutWeights]:
        """Weights over the bags that lack a row, for blocks of rows."""
        self._refuse_pool()
        n_all = ceil(self.n_bags / (1.0 - self.pool.inclusion_probability))
        if self.counts.n_bags < n_all:
            counts = self.counts.copy()  # another thread may be reading
            progress = BagProgress(NAME, verbose, n_all)
            choose_on_bags(self.prepared, self.pool, counts.n_bags, n_all, counts, n_jobs, progress, runner)
            self.counts = counts
        counts = self.counts
        full, members = _padded(self.weights, len(counts.models)), counts.member_array()
        for start, stop in row_blocks(self.table.n_rows, max(1, MAX_WEIGHTS // len(full))):
            yield LeftOutWeights(full, left_out_weights(counts, self.pool, range(start, stop)), members)

    def _refuse_pool(self) -> None:
        """Raise an error if bags that lack a row are not the same as bags of the other rows."""
        if not self.selector.pool_is_exact:
            raise ParameterError(
                f"method='pool' would not be exact for {type(self.selector).__name__}, because its model of a bag "
                "depends on rows outside the bag: use method='refit'."
            )
        if 1.0 - self.pool.inclusion_probability < MIN_LEFT_OUT:
            raise ParameterError(
                f"Hardly any bag lacks a given row (bag_size is {self.pool.size} of {self.table.n_rows} rows): use "
                "smaller bags, or method='refit'."
            )

    def left_out_by_refits(
        self, n_jobs: int | None, verbose: int, runner: TaskRunner = run_tasks
    ) -> Iterator[LeftOutWeights]:
        """Weights over new bags of the other rows, row by row."""
        table, pool = self.table, self.pool
        if pool.size >= table.n_rows - 1 and not pool.replace:
            raise ParameterError(
                f"bag_size is {pool.size} of {table.n_rows} rows: without a row, a bag would hold all other rows. "
                "Use smaller bags."
            )
        progress = BagProgress(NAME, verbose, self.n_bags * table.n_rows)
        for row in range(table.n_rows):
            seed = int(stream_key(pool.seed, REFIT, row) >> np.uint64(1))
            counts, others = ModelCounts(), BagPool(table.n_rows - 1, pool.size, pool.replace, seed)
            prepared = self.selector.prepare(table.without(row))
            choose_on_bags(prepared, others, 0, self.n_bags, counts, n_jobs, progress, runner)
            yield self._beside(counts)

    def _beside(self, other: ModelCounts) -> LeftOutWeights:
        """The weights of these bags next to those of other bags, for the models of both."""
        place_of = {model: place for place, model in enumerate(dict.fromkeys([*self.models, *other.models]))}
        places = [place_of[model] for model in other.models]
        left_out = np.zeros((1, len(place_of)))
        left_out[0, places] = other.model_weights()
        members, others = self.members, other.member_array()
        if members is not None and others is not None:
            both = np.empty((len(place_of), members.shape[1]), dtype=np.bool_)
            both[places], both[: len(members)] = others, members
            members = both
        return LeftOutWeights(_padded(self.weights, len(place_of)), left_out, members)


def _padded(weights: np.ndarray, n_models: int) -> np.ndarray:
    """The same weights, and 0 for further models."""
    return np.concatenate([weights, np.zeros(n_models - len(weights))])


def choose_on_bags(
    prepared: PreparedSelector,
    pool: BagPool,
    first: int,
    stop: int,
    counts: ModelCounts,
    n_jobs: int | None,
    progress: Any,
    runner: TaskRunner = run_tasks,
) -> None:
    """Count the models of bags number ``first`` to ``stop - 1``; the result does not depend on ``n_jobs``."""
    size = max(1, min(prepared.bags_per_call, MAX_CELLS // pool.size))
    starts = range(first, stop, size)  # blocks depend on the table only
    choose = BlockChoice(prepared=prepared, pool=pool, size=size, stop=stop, progress=progress)
    for at in range(0, len(starts), CALLS_AT_ONCE):
        for chosen in runner(choose, starts[at : at + CALLS_AT_ONCE], n_jobs):
            counts.add(chosen, prepared.items)


@dataclass(frozen=True)
class BlockChoice:
    """Chooses the models of a block of bags, given the number of the first one."""

    prepared: PreparedSelector
    pool: BagPool
    size: int
    stop: int
    progress: Any

    def __call__(self, start: int, cancellation: Cancellation) -> "np.ndarray | list":
        cancellation.check()
        try:
            chosen = self.prepared.select(self.pool.bags(start, min(start + self.size, self.stop)))
        except BagError as error:
            raise DataError(f"The selector failed on bag {start + error.index}: {error.reason}") from error
        self.progress(start)
        return chosen


@kernel
def add_left_out(ids, weights, entry_bags, bags, first_bag, first_row, totals, counts):
    """Read bags of ascending rows and the models of their entries; add up models and bags by the rows they lack.

    ``totals`` (models, rows) and ``counts`` (rows) are for rows from ``first_row`` on.
    """
    n_rows, size, entry = counts.shape[0], bags.shape[1], 0
    while entry < ids.shape[0] and entry_bags[entry] < first_bag:
        entry += 1
    for b in range(bags.shape[0]):
        stop = entry
        while stop < ids.shape[0] and entry_bags[stop] == first_bag + b:
            stop += 1
        place = 0
        for r in range(n_rows):
            while place < size and bags[b, place] < first_row + r:
                place += 1
            if place == size or bags[b, place] != first_row + r:
                counts[r] += 1
                for e in range(entry, stop):
                    totals[ids[e], r] += weights[e]
        entry = stop


def left_out_weights(chosen: ModelCounts, pool: BagPool, rows: Sequence[int]) -> np.ndarray:
    """The weights of models over the bags that lack a row, for consecutive rows: (rows, models)."""
    ids, weights, entry_bags = (np.concatenate(part) for part in (chosen.ids, chosen.weights, chosen.bags))
    totals, counts = np.zeros((len(chosen.models), len(rows))), np.zeros(len(rows))
    size = max(1, MAX_CELLS // pool.size)
    for start in range(0, chosen.n_bags, size):
        stop = min(start + size, chosen.n_bags)
        low, high = np.searchsorted(entry_bags, [start, stop])
        part = slice(low, high)
        add_left_out(ids[part], weights[part], entry_bags[part], pool.bags(start, stop), start, rows[0], totals, counts)
    if (counts == 0).any():
        row = rows[int(np.flatnonzero(counts == 0)[0])]
        raise ParameterError(f"Every bag holds row {row}: use more bags (n_bags) or smaller bags (bag_size).")
    return (totals / counts).T
