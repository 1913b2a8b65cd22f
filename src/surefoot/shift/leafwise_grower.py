"""Grow a tree leaf by leaf, each split the best by the score that all leaves have together.

Leaves are not independent: rows of different leaves meet in the V-matrix, so the best values solve one system ``D w =
U`` for all leaves, and a split in one changes what a split in another would gain. Every leaf keeps, for each place
where it could be split, what the place has in common with each leaf there is; a new leaf adds one number to each.
"""

from dataclasses import dataclass

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.shift.candidates import COUNT, CROSS, WEIGHT, best_place, part_leaf, sweep_columns
from surefoot.shift.gram import Search
from surefoot.shift.leafwise_tree import LeafwiseTree, Split, level_of
from surefoot.shift.objective import Objective

MOST_DEPTH = 10
RARE = 10.0  # a category's mean slope is drawn to zero as if it had so many rows more


@dataclass(frozen=True)
class LeafRules:
    """What decides where a tree is split, and where growing ends."""

    max_leaves: int
    l2: float
    min_gain: float
    least_rows: int


@dataclass(frozen=True)
class CodedTable:
    """The codes of the rows to train on, (columns, rows), and of those held out."""

    codes: np.ndarray
    held_out: np.ndarray
    missing: np.ndarray  # the code of missing values in each column
    is_categorical: np.ndarray


class Leaf:
    """Rows, and sums for every place where they could be split."""

    def __init__(self, node: int, rows: np.ndarray, held_out: np.ndarray) -> None:
        self.node, self.rows, self.held_out = node, rows, held_out
        self.ranks, self.sums, self.energies = np.empty(0), np.empty(0), np.empty(0)
        self.best = np.empty(4)

    @property
    def can_split(self) -> bool:
        return len(self.rows) > 1 and level_of(self.node) < MOST_DEPTH


class LeafwiseGrower:
    """Grows one tree after the other on one table and one objective."""

    def __init__(self, table: CodedTable, objective: Objective, rules: LeafRules, threads: RowThreads) -> None:
        self.table, self.objective, self.rules, self.threads = table, objective, rules, threads
        n_columns = len(table.codes)
        self.starts = np.concatenate([[0], np.cumsum(table.missing + 1)]).astype(np.int64)
        self._with_missing = np.array([j for j in range(n_columns) if (table.codes[j] == table.missing[j]).any()])
        self._parts = [part for part in np.array_split(np.arange(n_columns), threads.n_threads) if len(part)]
        self._order = np.arange(256, dtype=np.uint16)

    def grow(self, residuals: np.ndarray) -> tuple[LeafwiseTree, np.ndarray, np.ndarray]:
        """A tree, and what it says of the rows to train on and of those held out."""
        growth = Growth(self, residuals)
        while len(growth.leaves) < self.rules.max_leaves and growth.split_best():
            pass
        values = growth.values
        fitted, held_out = np.empty(self.table.codes.shape[1]), np.empty(self.table.held_out.shape[1])
        for leaf, value in zip(growth.leaves, values, strict=True):
            fitted[leaf.rows] = value
            held_out[leaf.held_out] = value
        return growth.tree(), fitted, held_out


class Growth:
    """One tree while it grows."""

    def __init__(self, grower: LeafwiseGrower, residuals: np.ndarray) -> None:
        self.grower, self.objective, self.rules = grower, grower.objective, grower.rules
        table, most = grower.table, grower.rules.max_leaves
        self.weights = grower.objective.weights
        n_rows = len(self.weights)
        self.slopes = 2.0 * grower.objective.times(residuals)
        self.crosses = np.zeros((most, n_rows))  # 2 V 1_leaf of every leaf
        self.D, self.U = np.zeros((most, most)), np.zeros(most)
        self.splits: dict[int, Split] = {}
        root = Leaf(0, np.arange(n_rows), np.arange(table.held_out.shape[1]))
        self.leaves = [root]
        self.crosses[0] = 2.0 * grower.objective.times(np.ones(n_rows))
        self._weigh(0)
        self._solve()
        self._look_at(0)

    def _weigh(self, new: int) -> None:
        """Fill in D and U of a leaf whose cross has been computed."""
        for m, leaf in enumerate(self.leaves):
            shared = float((self.weights[leaf.rows] * self.crosses[new][leaf.rows]).sum())
            self.D[m, new] = self.D[new, m] = shared
        self.D[new, new] += self.rules.l2
        rows = self.leaves[new].rows
        self.U[new] = float((self.weights[rows] * self.slopes[rows]).sum())

    def _solve(self) -> None:
        """Invert D; leaves that the loss does not see (possible without l2 and with ``blend`` 1) get the value 0."""
        n = len(self.leaves)
        D = self.D[:n, :n]
        if self.rules.l2 > 0 or self.objective.rest > 0:
            self.inverse = np.linalg.inv(D)
        else:
            self.inverse = np.linalg.pinv(D, rcond=1e-10, hermitian=True)
        self.values = (self.inverse * self.U[:n]).sum(axis=1)

    def _look_at(self, number: int) -> None:
        """Add up a new leaf's rows along all columns."""
        leaf, grower, table = self.leaves[number], self.grower, self.grower.table
        if not leaf.can_split:
            return
        n_places, sweeps = int(grower.starts[-1]), 2 if len(grower._with_missing) else 1
        leaf.sums = np.zeros((sweeps, n_places, CROSS + self.rules.max_leaves))
        leaf.energies = np.zeros((sweeps, n_places))
        weights, rows = self.weights[leaf.rows], leaf.rows
        told = self.slopes[rows] - (self.crosses[: len(self.leaves), rows] * self.values[:, np.newaxis]).sum(axis=0)
        leaf.ranks = self._ranks(rows, weights, weights * told)
        columns = [np.ones(len(rows)), weights, weights * self.slopes[rows]]
        columns += [weights * cross[rows] for cross in self.crosses[: len(self.leaves)]]
        values = np.ascontiguousarray(np.stack(columns, axis=1))
        piece = self.objective.piece_of_leaf(rows, len(table.codes))
        search = Search(table.codes, leaf.ranks, rows, self.weights, grower.starts)

        def add_up(features: np.ndarray) -> None:
            sweep_columns(table.codes, features, leaf.ranks, rows, values, grower.starts, 0, leaf.sums)
            self.objective.prefix_energies(piece, search, features, leaf.energies[0])

        grower.threads.run(add_up, grower._parts)
        if sweeps == 2:
            self._missing_first(leaf, piece)

    def _ranks(self, rows: np.ndarray, weights: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """The rank of each code: numbers in their order, categories by mean slope, missing values last."""
        table = self.grower.table
        ranks = np.repeat(self.grower._order[np.newaxis], len(table.codes), axis=0)
        for j in np.flatnonzero(table.is_categorical):
            n_codes = int(table.missing[j])
            codes = table.codes[j][rows]
            mass = np.bincount(codes, weights, minlength=n_codes + 1)[:n_codes]
            pull = np.bincount(codes, slopes, minlength=n_codes + 1)[:n_codes]
            ranks[j, np.argsort(pull / (mass + RARE), kind="stable")] = np.arange(n_codes)
        return ranks

    def _missing_first(self, leaf: Leaf, piece: np.ndarray | None) -> None:
        """Energies of the second sweep, where missing values are left of every place."""
        table, starts = self.grower.table, self.grower.starts
        features = self.grower._with_missing
        leaf.energies[1] = leaf.energies[0]
        ranks = leaf.ranks.copy()
        for j in features:
            ranks[j, : table.missing[j]] += 1
            ranks[j, table.missing[j]] = 0
        energies = np.zeros(int(starts[-1]))
        search = Search(table.codes, ranks, leaf.rows, self.weights, starts)
        self.objective.prefix_energies(piece, search, features, energies)
        for j in features:
            leaf.energies[1, starts[j] : starts[j + 1] - 1] = energies[starts[j] + 1 : starts[j + 1]]

    def split_best(self) -> bool:
        """Split the leaf where that gains most; return whether there was one."""
        n = len(self.leaves)

        def search(number: int) -> None:
            leaf = self.leaves[number]
            leaf.best[0] = 0.0
            if leaf.can_split:
                best_place(
                    leaf.sums, leaf.energies, self.objective.share, self.objective.rest, n, number, self.inverse,
                    self.values, self.rules.l2, self.grower.starts, self.rules.least_rows, leaf.best,
                )  # fmt: skip

        self.grower.threads.each(search, range(n))
        gains = np.array([leaf.best[0] for leaf in self.leaves])
        number = int(np.flatnonzero(gains >= gains.max() * (1 - 1e-10))[0])
        if (
            gains[number] <= self.rules.min_gain
            or not np.isfinite(gains[number])
            or gains[number] <= self._least_gain()
        ):
            return False
        self._part(number)
        return True

    def _least_gain(self) -> float:
        """Below it, a gain is rounding."""
        return 1e-12 * abs(float((self.U[: len(self.leaves)] * self.values).sum()))

    def _part(self, number: int) -> None:
        leaf, table = self.leaves[number], self.grower.table
        split = self._split_of(leaf)
        self.splits[leaf.node] = split
        left, right = (
            Leaf(2 * leaf.node + 1 + side, *parts)
            for side, parts in enumerate(
                zip(
                    _parted(table.codes[split.feature], split.goes_right, leaf.rows),
                    _parted(table.held_out[split.feature], split.goes_right, leaf.held_out),
                    strict=True,
                )
            )
        )
        new, before = len(self.leaves), self.crosses[number].copy()
        self.leaves[number] = left
        self.leaves.append(right)
        inside = np.zeros(len(self.weights))
        inside[left.rows] = 1.0
        self.crosses[number] = 2.0 * self.objective.times(inside)
        self.crosses[new] = before - self.crosses[number]
        self._weigh(number)
        self._weigh(new)
        self._solve()
        for m in range(len(self.leaves)):
            if m in (number, new):
                self._look_at(m)
            else:
                self._tell(self.leaves[m], number, new)

    def _tell(self, leaf: Leaf, number: int, new: int) -> None:
        """Tell a leaf's places what they have in common with the two parts of another leaf."""
        if not leaf.can_split:
            return
        if self.objective.is_plain:
            return  # leaves have nothing in common
        whole = leaf.sums[:, :, CROSS + number].copy()
        values = (self.weights[leaf.rows] * self.crosses[number][leaf.rows])[:, np.newaxis]
        codes, starts = self.grower.table.codes, self.grower.starts

        def add_up(features: np.ndarray) -> None:
            sweep_columns(codes, features, leaf.ranks, leaf.rows, values, starts, CROSS + number, leaf.sums)

        self.grower.threads.run(add_up, self.grower._parts)
        leaf.sums[:, :, CROSS + new] = whole - leaf.sums[:, :, CROSS + number]

    def _split_of(self, leaf: Leaf) -> Split:
        gain, sweep, feature, rank = leaf.best[0], *leaf.best[1:].astype(np.int64)
        table, starts = self.grower.table, self.grower.starts
        missing = int(table.missing[feature])
        goes_right = (leaf.ranks[feature] > rank).astype(np.uint8)
        sums = leaf.sums[sweep, starts[feature] : starts[feature + 1]]
        has_missing = leaf.sums[0, starts[feature + 1] - 1, COUNT] > leaf.sums[0, starts[feature + 1] - 2, COUNT]
        heavier_left = 2 * sums[rank, WEIGHT] >= leaf.sums[0, starts[feature + 1] - 1, WEIGHT]
        missing_left = bool(sweep == 1 if has_missing else heavier_left)
        goes_right[missing:] = not missing_left
        return Split(int(feature), int(rank), missing_left, goes_right, float(gain))

    def tree(self) -> LeafwiseTree:
        values = dict(zip((leaf.node for leaf in self.leaves), self.values.tolist(), strict=True))
        covers = {leaf.node: float(self.weights[leaf.rows].sum()) for leaf in self.leaves}
        return LeafwiseTree(self.splits, values, covers)


def _parted(column: np.ndarray, goes_right: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that go left, and those that go right."""
    left, right = np.empty_like(rows), np.empty_like(rows)
    n_left = part_leaf(column, goes_right, rows, left, right)
    return left[:n_left].copy(), right[: len(rows) - n_left].copy()
