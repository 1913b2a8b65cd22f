"""Grow a tree leaf by leaf, each split the best by the joint score of all leaves.

Leaves are not independent: rows of different leaves meet in the V-matrix, so the best values solve one system ``D w =
U`` for all leaves, and a split in one leaf changes the gains of splits in the others. For each candidate split, a leaf
keeps what the candidate's rows have in common with every present leaf; a new leaf adds one number to each candidate.
"""

from dataclasses import dataclass

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.shift.gram import Gram, LeafOrder
from surefoot.shift.leaf_equations import invert, pseudo_invert
from surefoot.shift.leafwise_kernels import (
    COUNT,
    CROSS,
    WEIGHT,
    LeafCandidates,
    LeafSystem,
    find_best_split,
    rank_codes,
    split_rows_of_leaf,
    sweep_columns,
)
from surefoot.shift.leafwise_tree import LeafwiseTree, Split, level_of
from surefoot.shift.objective import Objective

MAX_DEPTH = 10
CELLS_AT_ONCE = 500_000  # a call searches fewer columns of larger tables: Ctrl-C waits for a call to end
PAIRS_AT_ONCE = 100_000_000  # the same for the pairs of a leaf's rows, if its matrix is written out
SINGULAR = 1e-14  # relative to the largest diagonal entry: with smaller eigenvalues the inverse cannot be trusted
MIN_RELATIVE_GAIN = 1e-12  # smaller gains are rounding


@dataclass(frozen=True)
class LeafRules:
    """The parameters that decide where a tree is split, and where growth ends."""

    max_leaves: int
    l2: float
    min_gain: float
    min_rows: int


@dataclass(frozen=True)
class CodedTable:
    """The codes of the training rows, (columns, rows), and of the held-out rows."""

    codes: np.ndarray
    held_out: np.ndarray
    missing: np.ndarray  # the code of missing values in each column
    is_categorical: np.ndarray


class Leaf:
    """The rows of a leaf, and sums for each of its candidates."""

    def __init__(self, node: int, rows: np.ndarray, held_out: np.ndarray) -> None:
        self.node, self.rows, self.held_out = node, rows, held_out
        self.ranks, self.starts, self.sums, self.energies = np.empty(0), np.empty(0), np.empty(0), np.empty(0)
        self.best = np.zeros(4)  # gain, sweep, column and rank of its best split

    @property
    def can_split(self) -> bool:
        return len(self.rows) > 1 and level_of(self.node) < MAX_DEPTH


class LeafwiseGrower:
    """Grows one tree after another on one table with one objective."""

    def __init__(self, table: CodedTable, objective: Objective, rules: LeafRules, threads: RowThreads) -> None:
        self.table, self.objective, self.rules, self.threads = table, objective, rules, threads
        n_columns = len(table.codes)
        self.columns_with_missing = np.array(
            [j for j in range(n_columns) if (table.codes[j] == table.missing[j]).any()]
        )
        self.root_cross = 2.0 * objective.times(np.ones(table.codes.shape[1]))
        self.parts = self.split_columns(-(-table.codes.size // CELLS_AT_ONCE))

    def split_columns(self, n_parts: int) -> list[np.ndarray]:
        """Split the columns into at least ``n_parts`` parts, and one for each thread, as far as there are enough."""
        parts = np.array_split(np.arange(len(self.table.codes)), max(self.threads.n_threads, n_parts))
        return [part for part in parts if len(part)]

    def grow(self, residuals: np.ndarray) -> tuple[LeafwiseTree, np.ndarray, np.ndarray]:
        """Grow a tree; return it with its values for the training rows and for the held-out rows."""
        growth = Growth(self, residuals)
        while len(growth.leaves) < self.rules.max_leaves and growth.split_best():
            pass
        fitted, held_out = np.empty(self.table.codes.shape[1]), np.empty(self.table.held_out.shape[1])
        for leaf, value in zip(growth.leaves, growth.values, strict=True):
            fitted[leaf.rows] = value
            held_out[leaf.held_out] = value
        return growth.tree(), fitted, held_out


class Growth:
    """One tree while it grows."""

    def __init__(self, grower: LeafwiseGrower, residuals: np.ndarray) -> None:
        self.grower, self.objective, self.rules = grower, grower.objective, grower.rules
        table, max_leaves = grower.table, grower.rules.max_leaves
        self.weights = grower.objective.weights
        n_rows = len(self.weights)
        # a lower bound of the smallest eigenvalue of D
        self._min_eigenvalue = self.rules.l2 + 2.0 * self.objective.squares_factor * float(self.weights.min())
        self.slopes = 2.0 * grower.objective.times(residuals)
        self.crosses = np.zeros((max_leaves, n_rows))  # 2 V 1_leaf of every leaf
        self.D, self.U = np.zeros((max_leaves, max_leaves)), np.zeros(max_leaves)
        self.splits: dict[int, Split] = {}
        root = Leaf(0, np.arange(n_rows), np.arange(table.held_out.shape[1]))
        self.leaves, self._new = [root], [0]
        self.crosses[0] = grower.root_cross
        self._fill_system(0)
        self._solve()
        self._prepare_candidates(0)

    def _fill_system(self, new: int) -> None:
        """Fill in D and U of a leaf whose cross has been computed."""
        shared = self.weights * self.crosses[new]
        for m, leaf in enumerate(self.leaves):
            self.D[m, new] = self.D[new, m] = float(shared[leaf.rows].sum())
        self.D[new, new] += self.rules.l2
        rows = self.leaves[new].rows
        self.U[new] = float((self.weights[rows] * self.slopes[rows]).sum())

    def _solve(self) -> None:
        """Invert D; leaves that the loss does not depend on (``blend`` 1 with hardly any l2) get the value 0."""
        n = len(self.leaves)
        D = self.D[:n, :n]
        if self._min_eigenvalue > SINGULAR * D.diagonal().max():
            self.inverse = invert(D)
        else:
            self.inverse = pseudo_invert(D)
        self.values = (self.inverse * self.U[:n]).sum(axis=1)

    def _prepare_candidates(self, number: int) -> None:
        """Rank the codes of a new leaf, and add up its rows along all columns."""
        leaf, grower, table = self.leaves[number], self.grower, self.grower.table
        if not leaf.can_split:
            return
        rows, n = leaf.rows, len(self.leaves)
        weights, crosses = self.weights[rows], self.crosses[:n, rows]
        slopes = weights * self.slopes[rows]
        unexplained = slopes - weights * (crosses * self.values[:, np.newaxis]).sum(axis=0)
        leaf.ranks = np.zeros((len(table.codes), 256), dtype=np.uint16)
        leaf.starts = np.zeros(len(table.codes) + 1, dtype=np.int64)
        rank_codes(
            table.codes, table.missing, table.is_categorical, rows, weights, unexplained, leaf.ranks, leaf.starts
        )
        shape = (2 if len(grower.columns_with_missing) else 1, int(leaf.starts[-1]))
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
        """Compute the energies of all candidates in the V-matrix; in the squares they are the weight of the rows."""
        codes, parts = self.grower.table.codes, self.grower.parts
        submatrix = gram.leaf_submatrix(leaf.rows, len(codes))
        if submatrix is not None and len(codes) * submatrix.size > len(parts) * PAIRS_AT_ONCE:
            parts = self.grower.split_columns(-(-len(codes) * submatrix.size // PAIRS_AT_ONCE))
        order = LeafOrder.from_ranks(codes, leaf.ranks, leaf.rows, self.weights, leaf.starts)
        self.grower.threads.each(
            lambda features: gram.prefix_energies(submatrix, order, features, leaf.energies[0]), parts
        )
        if len(leaf.energies) == 2:
            missing = self.grower.columns_with_missing
            with_missing = [part[np.isin(part, missing)] for part in parts]
            self._fill_second_sweep(leaf, gram, submatrix, [part for part in with_missing if len(part)])

    def _fill_second_sweep(self, leaf: Leaf, gram: Gram, submatrix: np.ndarray | None, parts: list[np.ndarray]) -> None:
        """Compute the energies of the second sweep, where missing values go left at every candidate."""
        table, starts = self.grower.table, leaf.starts
        leaf.energies[1] = leaf.energies[0]
        ranks = leaf.ranks.copy()
        for j in np.concatenate(parts):
            ranks[j, : table.missing[j]] += 1
            ranks[j, table.missing[j]] = 0
        energies = np.zeros(int(starts[-1]))
        order = LeafOrder.from_ranks(table.codes, ranks, leaf.rows, self.weights, starts)
        self.grower.threads.each(lambda features: gram.prefix_energies(submatrix, order, features, energies), parts)
        for j in np.concatenate(parts):
            leaf.energies[1, starts[j] : starts[j + 1] - 1] = energies[starts[j] + 1 : starts[j + 1]]

    def split_best(self) -> bool:
        """Split the leaf with the largest gain; return whether there was one."""
        n = len(self.leaves)
        system = LeafSystem(
            n_leaves=n,
            inverse=self.inverse,
            values=self.values,
            v_factor=float(self.objective.v_factor),
            squares_factor=float(self.objective.squares_factor),
            l2=float(self.rules.l2),
        )

        def search(number: int) -> None:
            leaf = self.leaves[number]
            if leaf.can_split:
                candidates = LeafCandidates(starts=leaf.starts, sums=leaf.sums, energies=leaf.energies)
                find_best_split(candidates, system, number, self.rules.min_rows, leaf.best)

        # with squared loss, leaves have nothing in common: only the gains of new leaves have changed
        changed = self._new if self.objective.is_plain else range(n)
        self.grower.threads.each(search, changed)
        gains = np.array([leaf.best[0] for leaf in self.leaves])
        number = int(np.flatnonzero(gains >= gains.max() * (1 - 1e-10))[0])
        score = abs(float((self.U[:n] * self.values).sum()))
        if not gains[number] > max(self.rules.min_gain, MIN_RELATIVE_GAIN * score):
            return False
        self._split(number)
        return True

    def _split(self, number: int) -> None:
        """Split a leaf: its left part keeps its number, its right part is the last leaf."""
        new, before = len(self.leaves), self.crosses[number].copy()
        left, right = self._children(self.leaves[number])
        self.leaves[number] = left
        self.leaves.append(right)
        smaller, larger = (number, new) if len(left.rows) <= len(right.rows) else (new, number)
        inside = np.zeros(len(self.weights))
        inside[self.leaves[smaller].rows] = 1.0
        self.crosses[smaller] = 2.0 * self.objective.times(inside)
        self.crosses[larger] = before - self.crosses[smaller]
        self._fill_system(number)
        self._fill_system(new)
        self._solve()
        self._new = [number, new]
        for m in self._new:
            self._prepare_candidates(m)
        if not self.objective.is_plain:
            for m in set(range(new)) - {number}:
                self._update_crosses(self.leaves[m], number, new)

    def _children(self, leaf: Leaf) -> tuple[Leaf, Leaf]:
        """Return the two parts of a leaf by its best split, and record the split."""
        split, table = self._best_split(leaf), self.grower.table
        self.splits[leaf.node] = split
        rows = _split_rows(table.codes[split.feature], split.goes_right, leaf.rows)
        held_out = _split_rows(table.held_out[split.feature], split.goes_right, leaf.held_out)
        left, right = (Leaf(2 * leaf.node + 1 + side, rows[side], held_out[side]) for side in (0, 1))
        return left, right

    def _update_crosses(self, leaf: Leaf, number: int, new: int) -> None:
        """Update what a leaf's candidates have in common with the two parts of another leaf."""
        if not leaf.can_split:
            return
        whole = leaf.sums[:, :, CROSS + number].copy()
        values = (self.weights[leaf.rows] * self.crosses[number][leaf.rows])[:, np.newaxis]
        self._add_up(leaf, values, CROSS + number)
        leaf.sums[:, :, CROSS + new] = whole - leaf.sums[:, :, CROSS + number]

    def _best_split(self, leaf: Leaf) -> Split:
        gain, sweep, feature, rank = leaf.best[0], *leaf.best[1:].astype(np.int64)
        missing = int(self.grower.table.missing[feature])
        first, last = leaf.starts[feature], leaf.starts[feature + 1] - 1
        has_missing = leaf.sums[0, last, COUNT] > leaf.sums[0, last - 1, COUNT]
        heavier_left = 2 * leaf.sums[sweep, first + rank, WEIGHT] >= leaf.sums[0, last, WEIGHT]
        missing_left = bool(sweep == 1 if has_missing else heavier_left)
        goes_right = (leaf.ranks[feature] > rank).astype(np.uint8)
        goes_right[missing:] = not missing_left
        code = missing - int(goes_right[:missing].sum()) - 1
        return Split(
            feature=int(feature), code=code, missing_left=missing_left, goes_right=goes_right, gain=float(gain)
        )

    def tree(self) -> LeafwiseTree:
        """Return the tree as it has grown so far."""
        values = dict(zip((leaf.node for leaf in self.leaves), self.values.tolist(), strict=True))
        covers = {leaf.node: float(self.weights[leaf.rows].sum()) for leaf in self.leaves}
        return LeafwiseTree(splits=self.splits, values=values, covers=covers)


def _split_rows(column: np.ndarray, goes_right: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that go left, and the rows that go right."""
    left, right = np.empty_like(rows), np.empty_like(rows)
    n_left = split_rows_of_leaf(column, goes_right, rows, left, right)
    return left[:n_left].copy(), right[: len(rows) - n_left].copy()
