"""The models that bags chose, each counted once however many bags chose it."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._jit import kernel
from surefoot._parallel import Cancellation, run_tasks
from surefoot.selection.bags import BagPool
from surefoot.selection.selector import BagError, PreparedSelector

MOST_CELLS = 1 << 22  # row numbers of the bags of one call
CALLS_AT_ONCE = 256  # their models are counted before the next begin


@dataclass
class BagModels:
    """Grows by blocks of bags, in their order.

    An entry is a model that a bag chose, with the share of the bag that it got. Most selectors choose one: then there
    is one entry for each bag, of weight 1.
    """

    models: list[Hashable] = field(default_factory=list)  # in the order in which bags first chose them
    places: dict[Any, int] = field(default_factory=dict)
    ids: list[np.ndarray] = field(default_factory=list)
    weights: list[np.ndarray] = field(default_factory=list)
    bags: list[np.ndarray] = field(default_factory=list)
    members: list[np.ndarray] = field(default_factory=list)  # of models that are sets: which items each has
    n_bags: int = 0

    def add(self, chosen: "np.ndarray | list", items: tuple[Hashable, ...] | None) -> None:
        """Count the models of the next bags."""
        if items is not None:
            ids = self._add_sets(np.asarray(chosen, dtype=np.bool_), items)
            self._append(ids, np.ones(len(ids)), np.arange(len(ids)))
        else:
            shares = [(bag, *share) for bag, one in enumerate(chosen) for share in _shares(one, self.n_bags + bag)]
            entries = [(self._place(model, model), weight, bag) for bag, model, weight in shares]
            ids, weights, bags = (np.array(column) for column in zip(*entries, strict=True))
            self._append(ids, weights.astype(np.float64), bags)
        self.n_bags += len(chosen)

    def _add_sets(self, chosen: np.ndarray, items: tuple[Hashable, ...]) -> np.ndarray:
        packed = _packed(chosen)
        _, first, kinds = np.unique(packed, return_index=True, return_inverse=True)
        place_of = np.empty(len(first), dtype=np.int64)
        for kind in np.argsort(first):  # in the order of the bags, whatever the order of the bytes
            row = chosen[first[kind]]
            key = packed[first[kind]].tobytes()
            if key not in self.places:
                self.members.append(row)
            place_of[kind] = self._place(key, tuple(items[j] for j in np.flatnonzero(row)))
        return place_of[kinds]

    def _place(self, key: Any, model: Hashable) -> int:
        if key not in self.places:
            self.places[key] = len(self.models)
            self.models.append(model)
        return self.places[key]

    def _append(self, ids: np.ndarray, weights: np.ndarray, bags: np.ndarray) -> None:
        self.ids.append(ids.astype(np.int32))
        self.weights.append(weights)
        self.bags.append(bags + self.n_bags)

    def copy(self) -> "BagModels":
        """One that may grow while others read this one."""
        parts = (list(self.ids), list(self.weights), list(self.bags), list(self.members))
        return BagModels(list(self.models), dict(self.places), *parts, self.n_bags)

    def shares(self) -> np.ndarray:
        """The weight of each model: its mean share of the bags."""
        ids, weights = np.concatenate(self.ids), np.concatenate(self.weights)
        return np.bincount(ids, weights, len(self.models)) / self.n_bags

    def member_array(self) -> np.ndarray | None:
        """Which items each model has, (models, items), if models are sets."""
        return np.array(self.members) if self.members else None

    def heaviest_by_bag(self) -> np.ndarray:
        """The place of each bag's model; of several, that with the largest share."""
        ids, weights, bags = (np.concatenate(part) for part in (self.ids, self.weights, self.bags))
        order = np.lexsort((-weights, bags))
        return ids[order[np.unique(bags[order], return_index=True)[1]]]


def _packed(chosen: np.ndarray) -> np.ndarray:
    """One value for each row: its booleans as bits, of a whole number or of bytes."""
    n_words = max(1, -(-chosen.shape[1] // 64))
    packed = np.zeros((len(chosen), 8 * n_words), dtype=np.uint8)
    packed[:, : -(-chosen.shape[1] // 8)] = np.packbits(chosen, axis=1)
    return packed.view(np.uint64 if n_words == 1 else np.dtype((np.void, 8 * n_words))).ravel()


def _shares(one: Any, bag: int) -> list[tuple[Hashable, float]]:
    """The models of one bag and their shares, which sum to 1."""
    if not isinstance(one, dict):
        try:
            hash(one)
        except TypeError as error:
            raise DataError(
                f"The selector's model of bag {bag} cannot be told from others ({error}): return something hashable, "
                "such as a tuple or a frozenset."
            ) from error
        return [(one, 1.0)]
    total = sum(one.values())
    if not one or min(one.values()) < 0 or not 0 < total < np.inf:
        raise DataError(f"The selector's weights of bag {bag} must be 0 or more, with a finite sum above 0: {one!r}.")
    return [(model, weight / total) for model, weight in one.items()]


def choose_on_bags(
    prepared: PreparedSelector, pool: BagPool, first: int, stop: int, into: BagModels, n_jobs: int | None, watch: Any
) -> None:
    """Let the selector choose on bags number ``first`` to ``stop - 1``; the result does not depend on ``n_jobs``."""
    size = max(1, min(prepared.bags_per_call, MOST_CELLS // pool.size))
    starts = range(first, stop, size)  # cut by the table alone

    def choose(start: int, cancellation: Cancellation) -> "np.ndarray | list":
        cancellation.check()
        try:
            chosen = prepared.select(pool.bags(start, min(start + size, stop)))
        except BagError as error:
            raise DataError(f"The selector failed on bag {start + error.index}: {error.reason}") from error
        watch(start)
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


def left_out_shares(found: BagModels, pool: BagPool, rows: Sequence[int]) -> np.ndarray:
    """The models' weights over the bags that do not hold a row, for consecutive rows: (rows, models)."""
    ids, weights, entry_bags = (np.concatenate(part) for part in (found.ids, found.weights, found.bags))
    totals, counts = np.zeros((len(found.models), len(rows))), np.zeros(len(rows))
    size = max(1, MOST_CELLS // pool.size)
    for start in range(0, found.n_bags, size):
        stop = min(start + size, found.n_bags)
        low, high = np.searchsorted(entry_bags, [start, stop])
        part = slice(low, high)
        add_left_out(ids[part], weights[part], entry_bags[part], pool.bags(start, stop), start, rows[0], totals, counts)
    if (counts == 0).any():
        row = rows[int(np.flatnonzero(counts == 0)[0])]
        raise ParameterError(f"Every bag holds row {row}: take more bags (n_bags) or smaller ones (bag_size).")
    return (totals / counts).T
