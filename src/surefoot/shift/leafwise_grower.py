"""Grow a tree leaf by leaf, each split the best by the score that all leaves have together.

Leaves are not independent: rows of different leaves meet in the V-matrix, so the best values solve one system ``D w =
U`` for all leaves, and a split in one changes what a split in another would gain. Every leaf keeps, for each place
where it could be split, what the place has in common with each leaf there is; a new leaf adds one number to each.
"""

from dataclasses import dataclass

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.shift.candidates import (
    COUNT,
    CROSS,
    WEIGHT,
    LeafPlaces,
    LeafSystem,
    best_place,
    part_leaf,
    rank_codes,
    sweep_columns,
)
from surefoot.shift.gram import Gram, Search
from surefoot.shift.leafwise_tree import LeafwiseTree, Split, level_of
from surefoot.shift.objective import Objective

MAX_DEPTH = 10
CELLS_AT_ONCE = 500_000  # of larger tables a call searches fewer columns: Ctrl-C waits for a call to end
SINGULAR = 1e-14  # of the largest entry on the diagonal: a system with smaller eigenvalues has no inverse to trust


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
        self.ranks, self.starts, self.sums, self.energies = np.empty(0), np.empty(0), np.empty(0), np.empty(0)
        self.best = np.zeros(4)  # gain, sweep, column and rank of its best split

    @property
    def can_split(self) -> bool:
        return len(self.rows) > 1 and level_of(self.node) < MAX_DEPTH


class LeafwiseGrower:
    """Grows one tree after the other on one table and one objective."""

    def __init__(self, table: CodedTable, objective: Objective, rules: LeafRules, threads: RowThreads) -> None:
        self.table, self.objective, self.rules, self.threads = table, objective, rules, threads
        n_columns = len(table.codes)
        self.with_missing = np.array([j for j in range(n_columns) if (table.codes[j] == table.missing[j]).any()])
        self.whole = 2.0 * objective.times(np.ones(table.codes.shape[1]))  # the cross of the root
        n_parts = max(threads.n_threads, -(-table.codes.size // CELLS_AT_ONCE))
        self.parts = [part for part in np.array_split(np.arange(n_columns), n_parts) if len(part)]

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
        self._least_eigenvalue = self.rules.l2 + 2.0 * self.objective.rest * float(self.weights.min())  # at least that
        self.slopes = 2.0 * grower.objective.times(residuals)
        self.crosses = np.zeros((most, n_rows))  # 2 V 1_leaf of every leaf
        self.D, self.U = np.zeros((most, most)), np.zeros(most)
        self.splits: dict[int, Split] = {}
        root = Leaf(0, np.arange(n_rows), np.arange(table.held_out.shape[1]))
        self.leaves, self._new = [root], [0]
        self.crosses[0] = grower.whole
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
        """Invert D; leaves that the loss does not see (with ``blend`` 1 and hardly any l2) get the value 0."""
        n = len(self.leaves)
        D = self.D[:n, :n]
        if self._least_eigenvalue > SINGULAR * D.diagonal().max():
            self.inverse = np.linalg.inv(D)
        else:
            self.inverse = np.linalg.pinv(D, rcond=1e-10, hermitian=True)
        self.values = (self.inverse * self.U[:n]).sum(axis=1)

    def _look_at(self, number: int) -> None:
        """Rank the codes of a new leaf, and add up its rows along all columns."""
        leaf, grower, table = self.leaves[number], self.grower, self.grower.table
        if not leaf.can_split:
            return
        rows, n = leaf.rows, len(self.leaves)
        weights, crosses = self.weights[rows], self.crosses[:n, rows]
        slopes = weights * self.slopes[rows]
        told = slopes - weights * (crosses * self.values[:, np.newaxis]).sum(axis=0)
        leaf.ranks = np.zeros((len(table.codes), 256), dtype=np.uint16)
        leaf.starts = np.zeros(len(table.codes) + 1, dtype=np.int64)
        rank_codes(table.codes, table.missing, table.is_categorical, rows, weights, told, leaf.ranks, leaf.starts)
        shape = (2 if len(grower.with_missing) else 1, int(leaf.starts[-1]))
        leaf.sums, leaf.energies = np.zeros((*shape, CROSS + self.rules.max_leaves)), np.zeros(shape)
        values = np.empty((len(rows), CROSS + n))
        values[:, 0], values[:, 1], values[:, 2], values[:, 3:] = 1.0, weights, slopes, (weights * crosses).T
        self._add_up(leaf, values, 0)
        if self.objective.gram is not None:
            self._fill_energies(leaf, self.objective.gram)

    def _add_up(self, leaf: Leaf, values: np.ndarray, column: int) -> None:
        """Add up ``values`` of a leaf's rows along all columns of the table."""
        codes = self.grower.table.codes
        self.grower.threads.each(
            lambda features: sweep_columns(
                codes, features, leaf.ranks, leaf.rows, values, leaf.starts, column, leaf.sums
            ),
            self.grower.parts,
        )

    def _fill_energies(self, leaf: Leaf, gram: Gram) -> None:
        """The V-part of the energies of all places; the plain part is the weight of the rows."""
        codes = self.grower.table.codes
        piece = gram.piece_of_leaf(leaf.rows, len(codes))
        search = Search.by(codes, leaf.ranks, leaf.rows, self.weights, leaf.starts)
        self.grower.threads.each(
            lambda features: gram.prefix_energies(piece, search, features, leaf.energies[0]),
            self.grower.parts,
        )
        if len(leaf.energies) == 2:
            self._missing_first(leaf, gram, piece)

    def _missing_first(self, leaf: Leaf, gram: Gram, piece: np.ndarray | None) -> None:
        """Energies of the second sweep, where missing values are left of every place."""
        table, starts = self.grower.table, leaf.starts
        features = self.grower.with_missing
        leaf.energies[1] = leaf.energies[0]
        ranks = leaf.ranks.copy()
        for j in features:
            ranks[j, : table.missing[j]] += 1
            ranks[j, table.missing[j]] = 0
        energies = np.zeros(int(starts[-1]))
        search = Search.by(table.codes, ranks, leaf.rows, self.weights, starts)
        gram.prefix_energies(piece, search, features, energies)
        for j in features:
            leaf.energies[1, starts[j] : starts[j + 1] - 1] = energies[starts[j] + 1 : starts[j + 1]]

    def split_best(self) -> bool:
        """Split the leaf where that gains most; return whether there was one."""
        n = len(self.leaves)
        system = LeafSystem(
            n_leaves=n,
            inverse=self.inverse,
            values=self.values,
            share=float(self.objective.share),
            rest=float(self.objective.rest),
            l2=float(self.rules.l2),
        )

        def search(number: int) -> None:
            leaf = self.leaves[number]
            if leaf.can_split:
                places = LeafPlaces(starts=leaf.starts, sums=leaf.sums, energies=leaf.energies)
                best_place(places, system, number, self.rules.least_rows, leaf.best)

        # of plain squares, leaves have nothing in common: only new ones have something to find
        changed = self._new if self.objective.is_plain else range(n)
        self.grower.threads.each(search, changed)
        gains = np.array([leaf.best[0] for leaf in self.leaves])
        number = int(np.flatnonzero(gains >= gains.max() * (1 - 1e-10))[0])
        if not gains[number] > max(self.rules.min_gain, self._least_gain()):
            return False
        self._part(number)
        return True

    def _least_gain(self) -> float:
        """Below it, a gain is rounding."""
        return 1e-12 * abs(float((self.U[: len(self.leaves)] * self.values).sum()))

    def _part(self, number: int) -> None:
        """Split a leaf: its left part keeps its number, the right one is the last."""
        new, before = len(self.leaves), self.crosses[number].copy()
        left, right = self._children(self.leaves[number])
        self.leaves[number] = left
        self.leaves.append(right)
        smaller, larger = (number, new) if len(left.rows) <= len(right.rows) else (new, number)
        inside = np.zeros(len(self.weights))
        inside[self.leaves[smaller].rows] = 1.0
        self.crosses[smaller] = 2.0 * self.objective.times(inside)
        self.crosses[larger] = before - self.crosses[smaller]
        self._weigh(number)
        self._weigh(new)
        self._solve()
        self._new = [number, new]
        for m in self._new:
            self._look_at(m)
        if not self.objective.is_plain:
            for m in set(range(new)) - {number}:
                self._tell(self.leaves[m], number, new)

    def _children(self, leaf: Leaf) -> tuple[Leaf, Leaf]:
        """The two parts of a leaf by its best split, which is noted."""
        split, table = self._split_of(leaf), self.grower.table
        self.splits[leaf.node] = split
        rows = _parted(table.codes[split.feature], split.goes_right, leaf.rows)
        held_out = _parted(table.held_out[split.feature], split.goes_right, leaf.held_out)
        left, right = (Leaf(2 * leaf.node + 1 + side, rows[side], held_out[side]) for side in (0, 1))
        return left, right

    def _tell(self, leaf: Leaf, number: int, new: int) -> None:
        """Tell a leaf's places what they have in common with the two parts of another leaf."""
        if not leaf.can_split:
            return
        whole = leaf.sums[:, :, CROSS + number].copy()
        values = (self.weights[leaf.rows] * self.crosses[number][leaf.rows])[:, np.newaxis]
        self._add_up(leaf, values, CROSS + number)
        leaf.sums[:, :, CROSS + new] = whole - leaf.sums[:, :, CROSS + number]

    def _split_of(self, leaf: Leaf) -> Split:
        gain, sweep, feature, rank = leaf.best[0], *leaf.best[1:].astype(np.int64)
        missing = int(self.grower.table.missing[feature])
        first, last = leaf.starts[feature], leaf.starts[feature + 1] - 1
        has_missing = leaf.sums[0, last, COUNT] > leaf.sums[0, last - 1, COUNT]
        heavier_left = 2 * leaf.sums[sweep, first + rank, WEIGHT] >= leaf.sums[0, last, WEIGHT]
        missing_left = bool(sweep == 1 if has_missing else heavier_left)
        goes_right = (leaf.ranks[feature] > rank).astype(np.uint8)
        goes_right[missing:] = not missing_left
        code = missing - int(goes_right[:missing].sum()) - 1
        return Split(int(feature), code, missing_left, goes_right, float(gain))

    def tree(self) -> LeafwiseTree:
        values = dict(zip((leaf.node for leaf in self.leaves), self.values.tolist(), strict=True))
        covers = {leaf.node: float(self.weights[leaf.rows].sum()) for leaf in self.leaves}
        return LeafwiseTree(self.splits, values, covers)


def _parted(column: np.ndarray, goes_right: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that go left, and those that go right."""
    left, right = np.empty_like(rows), np.empty_like(rows)
    n_left = part_leaf(column, goes_right, rows, left, right)
    return left[:n_left].copy(), right[: len(rows) - n_left].copy()
