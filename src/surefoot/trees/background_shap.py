"""SHAP values of trees against the rows of a background table.

A coalition of columns has the values of the row that is explained, the others those of a background row. A tree is
walked once for both rows: where they go different ways, the columns of the split are decided for one row or the other,
so that every leaf that is reached belongs to the coalitions with some columns and without some others. If a split reads
several columns, each choice of a row for each of them is a way of its own, with the code of that mixture.
"""

from math import factorial
from typing import NamedTuple, Self

import numpy as np

from surefoot._jit import inner_kernel, kernel


class MixedWork(NamedTuple):
    """Arrays that ``add_background_shap`` overwrites, with one entry for each level, and the weights of leaves."""

    gains: np.ndarray  # (own columns, background columns): what a leaf adds to each of its own columns
    losses: np.ndarray  # and takes from each of the background's
    nodes: np.ndarray
    choices: np.ndarray  # how many of the ways below a node are done
    n_decided: np.ndarray
    n_own: np.ndarray
    decided: np.ndarray  # (levels, columns): those that are decided
    is_own: np.ndarray  # (levels, columns): and whether they have the value of the row that is explained

    @classmethod
    def of(cls, depth: int, width: int) -> Self:
        max_columns = depth * width
        counts, columns = np.zeros(depth + 1, dtype=np.int64), np.zeros((depth + 1, max_columns), dtype=np.int64)
        gains, losses = leaf_weights(max_columns)
        return cls(
            gains=gains,
            losses=losses,
            nodes=counts.copy(),
            choices=counts.copy(),
            n_decided=counts.copy(),
            n_own=counts.copy(),
            decided=columns.copy(),
            is_own=columns.copy(),
        )


def leaf_weights(max_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Shapley values of a game that is 1 for coalitions with p columns and without q others: of one of each kind."""
    gains, losses = np.zeros((max_columns + 1, max_columns + 1)), np.zeros((max_columns + 1, max_columns + 1))
    for p in range(max_columns + 1):
        for q in range(max_columns + 1 - p):
            orders = factorial(p + q)
            gains[p, q] = factorial(p - 1) * factorial(q) / orders if p else 0.0
            losses[p, q] = factorial(p) * factorial(q - 1) / orders if q else 0.0
    return gains, losses


@kernel
def add_background_shap(codes, trees, start, stop, rows, work, values):
    """Read the codes of mixtures of some rows with one background row; add SHAP values of some trees to ``values``.

    ``codes[mixture, feature, row]`` is for the mixture with the row's own value of the columns of a feature whose bit
    is 1.
    """
    n_nodes = trees.features.shape[1]
    for t in range(start, stop):
        for i in range(rows[0], rows[1]):
            level = 0
            work.nodes[0], work.choices[0], work.n_decided[0], work.n_own[0] = 0, 0, 0, 0
            while level >= 0:
                node = work.nodes[level]
                if node >= n_nodes:
                    add_leaf(trees, t, node - n_nodes, i, level, work, values)
                    level -= 1
                    continue
                fixed, free, n_free = split_columns(trees, t, level, work)
                choice = work.choices[level]
                work.choices[level] += 1
                if choice == 0 and has_one_side(codes, trees, t, node, i, fixed, free, n_free):
                    work.choices[level] = 1 << n_free  # no column needs to be decided
                    copy_down(level, side_of_mixture(codes, trees, t, node, i, fixed), work)
                    level += 1
                elif choice < 1 << n_free:
                    mixture = fixed | choose(free, choice)
                    copy_down(level, side_of_mixture(codes, trees, t, node, i, mixture), work)
                    level += 1
                    decide(trees, trees.features[t, node], free, mixture, level, work)
                else:
                    level -= 1


@inner_kernel
def split_columns(trees, t, level, work):
    """Bits of the columns of a split that are decided for the row's own values, bits of those that are not decided."""
    feature = trees.features[t, work.nodes[level]]
    fixed, free, n_free = 0, 0, 0
    if feature < 0:
        return fixed, free, n_free
    for s in range(trees.players.shape[1]):
        column = trees.players[feature, s]
        if column < 0:
            continue
        p = 0
        while p < work.n_decided[level] and work.decided[level, p] != column:
            p += 1
        if p == work.n_decided[level]:
            free |= 1 << s
            n_free += 1
        else:
            fixed |= work.is_own[level, p] << s
    return fixed, free, n_free


@inner_kernel
def choose(free, choice):
    """The bits of ``free`` that a choice, numbered from 0, has."""
    mixture, s = 0, 0
    while free >> s:
        if (free >> s) & 1:
            mixture |= (choice & 1) << s
            choice >>= 1
        s += 1
    return mixture


@inner_kernel
def side_of_mixture(codes, trees, t, node, i, mixture):
    """Whether a mixture of row i and the background row goes right at a node: 0 or 1."""
    feature = trees.features[t, node]
    if feature < 0:
        return 0
    code = codes[mixture, feature, i]
    if trees.sets[t, node] >= 0:
        return np.int64(trees.tables[trees.sets[t, node], code])
    return np.int64(np.uint8(code - trees.shifts[t, node]) > trees.limits[t, node])


@inner_kernel
def has_one_side(codes, trees, t, node, i, fixed, free, n_free):
    """Whether all mixtures that are possible at a node go the same way."""
    side = side_of_mixture(codes, trees, t, node, i, fixed)
    for choice in range(1, 1 << n_free):
        if side_of_mixture(codes, trees, t, node, i, fixed | choose(free, choice)) != side:
            return False
    return True


@inner_kernel
def copy_down(level, side, work):
    """Write the child of a node, with the columns that are decided at the node."""
    below, n = level + 1, work.n_decided[level]
    work.nodes[below], work.choices[below] = 2 * work.nodes[level] + 1 + side, 0
    work.n_decided[below], work.n_own[below] = n, work.n_own[level]
    for p in range(n):
        work.decided[below, p] = work.decided[level, p]
        work.is_own[below, p] = work.is_own[level, p]


@inner_kernel
def decide(trees, feature, free, mixture, level, work):
    """Add the columns of a split that were not decided."""
    for s in range(trees.players.shape[1]):
        if (free >> s) & 1:
            p = work.n_decided[level]
            own = (mixture >> s) & 1
            work.decided[level, p], work.is_own[level, p] = trees.players[feature, s], own
            work.n_decided[level] += 1
            work.n_own[level] += own


@inner_kernel
def add_leaf(trees, t, leaf, i, level, work, values):
    """Add what a leaf is worth to the columns with the row's own values; subtract it from the others."""
    n, n_own = work.n_decided[level], work.n_own[level]
    gain, loss = work.gains[n_own, n - n_own], work.losses[n_own, n - n_own]
    for k in range(values.shape[0]):
        value = trees.leaves[t, leaf, k]
        for p in range(n):
            if work.is_own[level, p] == 1:
                values[k, work.decided[level, p], i] += gain * value
            else:
                values[k, work.decided[level, p], i] -= loss * value
