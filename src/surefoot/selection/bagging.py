"""A selector and the bags that it chose on; and the weights that models would have without a row."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot._parallel import row_blocks
from surefoot._progress import BagWatch
from surefoot._random import stream_key
from surefoot.selection.bag_models import BagModels, choose_on_bags, left_out_shares
from surefoot.selection.bags import BagPool
from surefoot.selection.selector import PreparedSelector, Selector
from surefoot.selection.table import SelectionTable

MOST_WEIGHTS = 1 << 24  # weights without a row that are held at once
LEAST_LACKING = 1e-4  # share of the bags that must lack a given row for the pool to tell of it
REFIT = 5_000_011  # label of a stream: bags without a row
NAME = "StableSelector"  # who says how far the bags are


@dataclass(frozen=True)
class LeftOutWeights:
    """Weights of the same models: by all rows, and without each of some rows."""

    full: np.ndarray  # (models,)
    left_out: np.ndarray  # (rows, models)
    members: np.ndarray | None  # (models, items): which items each model has, if models are sets


@dataclass
class Bagging:
    """What a selector chose on the first ``n_bags`` bags of a pool; more are drawn when leave-one-out needs them."""

    selector: Selector
    table: SelectionTable
    prepared: PreparedSelector
    pool: BagPool
    n_bags: int
    found: BagModels
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
    ) -> "Bagging":
        """Let the selector choose on every bag."""
        found = BagModels()
        choose_on_bags(prepared, pool, 0, n_bags, found, n_jobs, BagWatch(NAME, verbose, n_bags))
        return cls(selector, table, prepared, pool, n_bags, found, found.shares())

    @property
    def models(self) -> list:
        """The models that the first bags chose."""
        return self.found.models[: len(self.shares)]

    @property
    def members(self) -> np.ndarray | None:
        """Which items these models have, if models are sets."""
        every = self.found.member_array()
        return None if every is None else every[: len(self.shares)]

    def left_out_by_pool(self, n_jobs: int | None, verbose: int) -> Iterator[LeftOutWeights]:
        """Weights over the bags that lack a row, for blocks of rows."""
        self._refuse_pool()
        n_all = ceil(self.n_bags / (1.0 - self.pool.share))
        if self.found.n_bags < n_all:
            found = self.found.copy()  # another thread may be reading
            watch = BagWatch(NAME, verbose, n_all)
            choose_on_bags(self.prepared, self.pool, found.n_bags, n_all, found, n_jobs, watch)
            self.found = found
        found = self.found
        full, members = _padded(self.shares, len(found.models)), found.member_array()
        for start, stop in row_blocks(self.table.n_rows, max(1, MOST_WEIGHTS // len(full))):
            yield LeftOutWeights(full, left_out_shares(found, self.pool, range(start, stop)), members)

    def _refuse_pool(self) -> None:
        """An error where bags that lack a row do not tell what bags of the other rows would."""
        if not self.selector.pool_is_exact:
            raise ParameterError(
                f"method='pool' would not be exact for {type(self.selector).__name__}, whose models depend on rows "
                "that a bag leaves out: take method='refit'."
            )
        if 1.0 - self.pool.share < LEAST_LACKING:
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
        watch = BagWatch(NAME, verbose, self.n_bags * table.n_rows)
        for row in range(table.n_rows):
            seed = int(stream_key(pool.seed, REFIT, row) >> np.uint64(1))
            found, others = BagModels(), BagPool(table.n_rows - 1, pool.size, pool.replace, seed)
            prepared = self.selector.prepare(table.without(row))
            choose_on_bags(prepared, others, 0, self.n_bags, found, n_jobs, watch)
            yield self._beside(found)

    def _beside(self, other: BagModels) -> LeftOutWeights:
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
