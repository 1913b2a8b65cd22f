"""Conclusions drawn again from thousands of bags of rows, and the stable set of the choices."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any
from zlib import crc32

import numpy as np
from scipy.stats import beta

from surefoot._parallel import TaskRunner, row_blocks, run_tasks
from surefoot._progress import BagProgress
from surefoot.selection.bagged_selection import BagPool, choose_on_bags, left_out_weights
from surefoot.selection.chosen_models import ModelCounts
from surefoot.selection.guarantee import stability_delta, stability_epsilon
from surefoot.selection.leave_one_out import LeftOutWeights, compare_with_full
from surefoot.selection.rules import InflatedArgmax, unseen_would_enter
from surefoot.selection.selector import PreparedSelector

N_BAGS = 10_000
MAX_BAG_SIZE = 1000
MAX_LEFT_OUT = 2000  # units that are left out in turn; of more units, so many are drawn at random
MAX_WEIGHTS = 1 << 24  # weights without a unit that are kept in memory at once
BAG_SEED = 20_240_101  # the bags do not depend on the seed of the audit: one table, one answer
MAX_INSTABILITY = 0.05
MIN_LEAD = 3.0  # standard errors: another draw of the folds moves a lead by about one
MIN_EPSILON = 0.1  # a smaller lead among the bags could be by chance
N_DROPPED, MAX_DROPPED_FROM = 100, 5000  # units that are dropped one at a time, if there are at most so many units
ROW, GROUP = "row", "group"
Copies = Sequence[Sequence[int]]  # positions of items that are copies of each other


@dataclass(frozen=True)
class Units:
    """The rows or groups that are dropped, in a random order, so that the first units are a random sample.

    Attributes
    ----------
    rows : array
        The rows of the units, one unit after the other.
    starts : array of shape (n_units + 1,)
        Where the rows of each unit begin.
    name : "row" or "group"
    """

    rows: np.ndarray
    starts: np.ndarray
    name: str = ROW

    @classmethod
    def of(cls, n_rows: int, groups: np.ndarray | None = None) -> "Units":
        """Rows 0 to ``n_rows - 1``, or the groups of these rows."""
        generator = np.random.default_rng(BAG_SEED)
        if groups is None:
            return cls(generator.permutation(n_rows).astype(np.int32), np.arange(n_rows + 1))
        codes = np.unique(groups, return_inverse=True)[1].ravel()
        positions = generator.permutation(codes.max() + 1)[codes]
        order = np.argsort(positions, kind="stable").astype(np.int32)
        return cls(order, np.concatenate([[0], np.cumsum(np.bincount(positions))]), GROUP)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def bag_size(self) -> int:
        """Half of the units, so that many bags lack a given one; bounded, as large bags are slow."""
        return int(min(max(len(self) // 2, 1), MAX_BAG_SIZE))

    def sums(self, values: np.ndarray) -> np.ndarray:
        """The sums of the rows' values over each unit: (n_units, n_columns) from (n_rows, n_columns)."""
        return np.add.reduceat(values[self.rows], self.starts[:-1], axis=0)

    def rows_of(self, bag: np.ndarray) -> np.ndarray:
        """The rows of a bag of units, in ascending order."""
        if self.name == ROW:
            return np.sort(self.rows[bag])
        parts = [self.rows[self.starts[unit] : self.starts[unit + 1]] for unit in bag]
        return np.sort(np.concatenate(parts))


def choose_between_copies(chosen: np.ndarray, copies: Copies, bags: Sequence[np.ndarray] | np.ndarray) -> None:
    """Replace a chosen copy of a column by any of its copies, drawn by a hash of the bag."""
    for positions in map(list, copies):
        for bag in np.flatnonzero(chosen[:, positions].any(axis=1)).tolist():
            chosen[bag, positions] = False
            chosen[bag, positions[crc32(np.asarray(bags[bag]).tobytes()) % len(positions)]] = True


@dataclass(frozen=True)
class SmallestSum:
    """Chooses the item with the smallest sum over a bag; several, if their sums are equal.

    Between items that are copies of each other, a bag chooses at random.
    """

    items: tuple[str, ...]
    sums: np.ndarray  # (n_units, n_items)
    copies: Copies = ()
    are_variables: bool = False

    @property
    def bags_per_call(self) -> int:
        return int(max(1, 4_000_000 // (min(len(self.sums), MAX_BAG_SIZE) * len(self.items))))

    def select(self, bags: np.ndarray) -> np.ndarray:
        totals = self.sums[bags].sum(axis=1)
        chosen = totals <= totals.min(axis=1, keepdims=True)
        choose_between_copies(chosen, self.copies, bags)
        return chosen

    @property
    def lead(self) -> float:
        """By how many standard errors (over units) the smallest sum is below the next one."""
        best = int(self.sums.sum(axis=0).argmin())
        differences = np.delete(self.sums, best, axis=1) - self.sums[:, [best]]
        errors = differences.std(axis=0, ddof=1) * np.sqrt(len(differences))
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.nan_to_num(differences.sum(axis=0) / errors, nan=0.0, posinf=np.inf).min())


@dataclass(frozen=True)
class Bagged:
    """The choices from bags of units, and the choice from all of them."""

    prepared: PreparedSelector
    units: Units
    pool: BagPool
    counts: ModelCounts
    epsilon: float

    @classmethod
    def run(
        cls,
        prepared: Any,
        units: Units,
        n_bags: int,
        n_jobs: int | None,
        delta: float,
        seed: int = BAG_SEED,
        runner: TaskRunner = run_tasks,
    ) -> "Bagged":
        """Draw so many bags that ``n_bags`` of them lack a given unit.

        For at most a fraction ``delta`` of the units, removing that unit gives a set that shares no choice with this
        one, if the choice from a bag depends on the bag alone. With a fraction below 1 / n there is no such unit.
        """
        n_units, size = len(units), units.bag_size
        pool = BagPool(n_units, size, False, seed)
        n_all, counts = ceil(n_bags / (1 - size / n_units)), ModelCounts()
        choose_on_bags(prepared, pool, 0, n_all, counts, n_jobs, BagProgress("", 0, n_all), runner)
        epsilon = stability_epsilon(delta, n_samples=n_units, bag_size=size)
        return cls(prepared, units, pool, counts, max(epsilon, MIN_EPSILON))

    @property
    def n_bags(self) -> int:
        return self.counts.n_bags

    @cached_property
    def weights(self) -> np.ndarray:
        return self.counts.model_weights()

    @property
    def models(self) -> list[Any]:
        return self.counts.models

    @cached_property
    def selected(self) -> list[Any]:
        """The stable set, the choice of most bags first."""
        return [self.models[position] for position in InflatedArgmax(self.epsilon).choose(self.weights)]

    @cached_property
    def undecided(self) -> bool:
        """Whether choices that no bag made would belong to the set too."""
        return unseen_would_enter(self.weights, self.epsilon)

    @property
    def delta(self) -> float:
        return stability_delta(self.epsilon, n_samples=len(self.units), bag_size=self.units.bag_size)

    @cached_property
    def single(self) -> Hashable:
        """The choice from all units."""
        return self._model_of(self.prepared.select(np.arange(len(self.units), dtype=np.int32)[np.newaxis])[0])

    def _model_of(self, chosen: np.ndarray) -> Hashable:
        items = self.prepared.items
        assert items is not None
        return tuple(items[position] for position in np.flatnonzero(chosen))

    @cached_property
    def changes(self) -> tuple[int, int]:
        """How often the choice changes when one unit is dropped, and how many units were dropped in turn."""
        n_units = len(self.units)
        n_dropped = min(n_units, N_DROPPED) if n_units <= MAX_DROPPED_FROM else 0
        others = (np.delete(np.arange(n_units, dtype=np.int32), unit)[np.newaxis] for unit in range(n_dropped))
        return sum(self._model_of(self.prepared.select(bag)[0]) != self.single for bag in others), n_dropped

    def weight_of(self, model: Hashable) -> float:
        """The fraction of the bags that chose the model."""
        return float(self.weights[self.models.index(model)]) if model in self.models else 0.0

    @cached_property
    def n_left_out(self) -> int:
        return min(len(self.units), MAX_LEFT_OUT)

    @cached_property
    def n_disjoint(self) -> int:
        """The number of units without which the stable set would share no choice with this one.

        No bag is drawn for this: a bag that lacks a unit is a bag of the other units.
        """
        rule, n_disjoint = InflatedArgmax(self.epsilon), 0
        for start, stop in row_blocks(self.n_left_out, max(1, MAX_WEIGHTS // len(self.models))):
            left_out = left_out_weights(self.counts, self.pool, range(start, stop))
            n_disjoint += int(compare_with_full(rule, LeftOutWeights(self.weights, left_out, None))[0].sum())
        return n_disjoint


def upper_limit(n_hits: int, n: int) -> float:
    """The exact 95% upper limit of a fraction (Clopper and Pearson, one-sided)."""
    return 1.0 if n_hits >= n else float(beta.ppf(0.95, n_hits + 1, n - n_hits))
