"""A selector and the bags that it chose on; and the weights that models would have without a row."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._jit import kernel
from surefoot._parallel import Cancellation, row_blocks, run_tasks
from surefoot._progress import BagProgress
from surefoot._random import stream_key
from surefoot.selection.bag_sampler import BagPool
from surefoot.selection.leave_one_out import LeftOutWeights
from surefoot.selection.model_counts import ModelCounts
from surefoot.selection.selector import BagError, PreparedSelector, Selector
from surefoot.selection.table import SelectionTable

MAX_CELLS = 1 << 22  # row numbers of the bags of one call
CALLS_AT_ONCE = 256  # their models are counted before the next begin
MAX_WEIGHTS = 1 << 24  # weights without a row that are held at once
MIN_LEFT_OUT = 1e-4  # share of the bags that must lack a given row for the pool to tell of it
REFIT = 5_000_011  # label of a stream: bags without a row
NAME = "StableSelector"  # who says how far the bags are


@dataclass
class BaggedSelection:
    """What a selector chose on the first ``n_bags`` bags of a pool; more are drawn when leave-one-out needs them."""

    selector: Selector
    table: SelectionTable
    prepared: PreparedSelector
    pool: BagPool
    n_bags: int
    counts: ModelCounts
    shares: np.ndarray  # the weights of the models that the first bags chose

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
    ) -> "BaggedSelection":
        """Let the selector choose on every bag."""
        counts = ModelCounts()
        choose_on_bags(prepared, pool, 0, n_bags, counts, n_jobs, BagProgress(NAME, verbose, n_bags))
        return cls(selector, table, prepared, pool, n_bags, counts, counts.shares())

    @property
    def models(self) -> list:
        """The models that the first bags chose."""
        return self.counts.models[: len(self.shares)]

    @property
    def members(self) -> np.ndarray | None:
        """Which items these models have, if models are sets."""
        every = self.counts.member_array()
        return None if every is None else every[: len(self.shares)]

    def left_out_by_pool(self, n_jobs: int | None, verbose: int) -> Iterator[LeftOutWeights]:
        """Weights over the bags that lack a row, for blocks of rows."""
        self._refuse_pool()
        n_all = ceil(self.n_bags / (1.0 - self.pool.share))
        if self.counts.n_bags < n_all:
            counts = self.counts.copy()  # another thread may be reading
            progress = BagProgress(NAME, verbose, n_all)
            choose_on_bags(self.prepared, self.pool, counts.n_bags, n_all, counts, n_jobs, progress)
            self.counts = counts
        counts = self.counts
        full, members = _padded(self.shares, len(counts.models)), counts.member_array()
        for start, stop in row_blocks(self.table.n_rows, max(1, MAX_WEIGHTS // len(full))):
            yield LeftOutWeights(full, left_out_shares(counts, self.pool, range(start, stop)), members)

    def _refuse_pool(self) -> None:
        """An error where bags that lack a row do not tell what bags of the other rows would."""
        if not self.selector.pool_is_exact:
            raise ParameterError(
                f"method='pool' would not be exact for {type(self.selector).__name__}, whose models depend on rows "
                "that a bag leaves out: take method='refit'."
            )
        if 1.0 - self.pool.share < MIN_LEFT_OUT:
            raise ParameterError(
                f"Hardly a bag lacks a given row (bag_size is {self.pool.size} of {self.table.n_rows} rows): take "
                "smaller bags, or method='refit'."
            )

    def left_out_by_refits(self, n_jobs: int | None, verbose: int) -> Iterator[LeftOutWeights]:
        """Weights over new bags of the other rows, row by row."""
        table, pool = self.table, self.pool
        if pool.size >= table.n_rows - 1 and not pool.replace:
            raise ParameterError(
                f"bag_size is {pool.size} of {table.n_rows} rows: without a row there would be no bags that leave one "
                "out. Take smaller bags."
            )
        progress = BagProgress(NAME, verbose, self.n_bags * table.n_rows)
        for row in range(table.n_rows):
            seed = int(stream_key(pool.seed, REFIT, row) >> np.uint64(1))
            counts, others = ModelCounts(), BagPool(table.n_rows - 1, pool.size, pool.replace, seed)
            prepared = self.selector.prepare(table.without(row))
            choose_on_bags(prepared, others, 0, self.n_bags, counts, n_jobs, progress)
            yield self._beside(counts)

    def _beside(self, other: ModelCounts) -> LeftOutWeights:
        """The weights here and those of other bags, for the models of both."""
        place_of = {model: place for place, model in enumerate(dict.fromkeys([*self.models, *other.models]))}
        places = [place_of[model] for model in other.models]
        left_out = np.zeros((1, len(place_of)))
        left_out[0, places] = other.shares()
        members, others = self.members, other.member_array()
        if members is not None and others is not None:
            both = np.empty((len(place_of), members.shape[1]), dtype=np.bool_)
            both[places], both[: len(members)] = others, members
            members = both
        return LeftOutWeights(_padded(self.shares, len(place_of)), left_out, members)


def _padded(shares: np.ndarray, n_models: int) -> np.ndarray:
    """The same weights, and none for further models."""
    return np.concatenate([shares, np.zeros(n_models - len(shares))])


def choose_on_bags(
    prepared: PreparedSelector,
    pool: BagPool,
    first: int,
    stop: int,
    into: ModelCounts,
    n_jobs: int | None,
    progress: Any,
) -> None:
    """Let the selector choose on bags number ``first`` to ``stop - 1``; the result does not depend on ``n_jobs``."""
    size = max(1, min(prepared.bags_per_call, MAX_CELLS // pool.size))
    starts = range(first, stop, size)  # cut by the table alone

    def choose(start: int, cancellation: Cancellation) -> "np.ndarray | list":
        cancellation.check()
        try:
            chosen = prepared.select(pool.bags(start, min(start + size, stop)))
        except BagError as error:
            raise DataError(f"The selector failed on bag {start + error.index}: {error.reason}") from error
        progress(start)
        return chosen

    for at in range(0, len(starts), CALLS_AT_ONCE):
        for chosen in run_tasks(choose, starts[at : at + CALLS_AT_ONCE], n_jobs):
            into.add(chosen, prepared.items)


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


def left_out_shares(chosen: ModelCounts, pool: BagPool, rows: Sequence[int]) -> np.ndarray:
    """The models' weights over the bags that do not hold a row, for consecutive rows: (rows, models)."""
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
        raise ParameterError(f"Every bag holds row {row}: take more bags (n_bags) or smaller ones (bag_size).")
    return (totals / counts).T
