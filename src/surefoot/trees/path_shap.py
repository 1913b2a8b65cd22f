"""SHAP values of one tree of any shape, row by row: along its edges, or along its paths.

``trees`` are the arrays of a ``ShapForest``. If every split reads one column, the values of an edge are integrals of
products over the columns of the path (Owen's multilinear extension of the game). The products are polynomials, so a few
points are exact. If splits read several columns, which may be on the path in other splits too, the product has other
powers: all sets of splits of a path are taken one after the other.
"""

from typing import NamedTuple, Self

import numpy as np

from surefoot._jit import inner_kernel, kernel

LANES = 32  # rows that go down a tree together: quotients are computed once for each side, not for each row


class EdgeWork(NamedTuple):
    """Arrays that ``add_edge_shap`` overwrites, with one entry for each level, and the points of the integral."""

    points: np.ndarray
    weights: np.ndarray
    nodes: np.ndarray
    branches: np.ndarray  # how many of the two edges below a node are done
    columns: np.ndarray  # of the split above a node; -1: it is no split
    fractions: np.ndarray  # of the training rows that pass all splits on the path that read this column
    own: np.ndarray  # (levels, rows): 1 if the row passes them, else 0
    right: np.ndarray  # (levels, rows): 1 if the row goes right at a node, else 0
    gains: np.ndarray  # (levels, points, rows): of the edge above a node, for each unit of what is below
    products: np.ndarray  # (levels, points, rows): over the columns of the path
    sums: np.ndarray  # (levels, outputs, points, rows): over the leaves below a node

    @classmethod
    def of(cls, depth: int, n_outputs: int) -> Self:
        places, weights = np.polynomial.legendre.leggauss((depth + 1) // 2)
        counts, points = np.zeros(depth + 1, dtype=np.int64), np.zeros((depth + 1, len(places), LANES))
        sides = np.ones((depth + 1, LANES))
        return cls(
            points=0.5 * (1.0 + places),
            weights=0.5 * weights,
            nodes=counts.copy(),
            branches=counts.copy(),
            columns=counts.copy(),
            fractions=np.ones(depth + 1),
            own=sides.copy(),
            right=sides.copy(),
            gains=points.copy(),
            products=points.copy(),
            sums=np.zeros((depth + 1, n_outputs, len(places), LANES)),
        )


class PathWork(NamedTuple):
    """Arrays that ``add_path_shap`` overwrites: one entry for each level of the path to a node."""

    nodes: np.ndarray
    branches: np.ndarray  # how many of the four ways below a node are done
    factors: np.ndarray
    n_known: np.ndarray
    known: np.ndarray  # (levels, columns): those that the splits of the term read

    @classmethod
    def of(cls, depth: int, width: int) -> Self:
        return cls(
            nodes=np.zeros(depth + 1, dtype=np.int64),
            branches=np.zeros(depth + 1, dtype=np.int64),
            factors=np.zeros(depth + 1),
            n_known=np.zeros(depth + 1, dtype=np.int64),
            known=np.zeros((depth + 1, depth * width), dtype=np.int64),
        )


@kernel
def add_edge_shap(codes, trees, start, stop, rows, work, values):
    """Read codes of some rows and trees whose splits read one column each; add SHAP values to ``values``.

    What is below an edge is summed once, for all columns above it.
    """
    for t in range(start, stop):
        for first in range(rows[0], rows[1], LANES):
            walk_edges(codes, trees, t, first, min(LANES, rows[1] - first), work, values)


@inner_kernel
def walk_edges(codes, trees, t, first, n, work, values):
    """Add the values of n rows from ``first`` on and of one tree."""
    n_nodes = trees.features.shape[1]
    depth = work.nodes.shape[0] - 1
    work.nodes[0], work.branches[0], work.columns[0] = 0, 0, -1
    work.products[0] = 1.0
    level = 0
    while level >= 0:
        node, branch = work.nodes[level], work.branches[level]
        if level == depth:
            for k in range(values.shape[0]):
                leaf = trees.leaves[t, node - n_nodes, k]
                for q in range(work.points.shape[0]):
                    product, out = work.products[level, q], work.sums[level, k, q]
                    for r in range(n):
                        out[r] = leaf * product[r]
        elif branch < 2:
            if branch == 0:
                work.sums[level] = 0.0
                for r in range(n):
                    work.right[level, r] = side_of(codes, trees, t, node, first + r)
            work.branches[level] += 1
            if branch == 0 or trees.features[t, node] >= 0:
                go_down(trees, t, branch, level, n, work)
                level += 1
            continue
        if level > 0:
            add_edge(work, level, first, n, values)
        level -= 1


@inner_kernel
def go_down(trees, t, side, level, n, work):
    """Write what is known of the child of a node: the factor of its column, and the product of all factors."""
    node, below = work.nodes[level], level + 1
    work.nodes[below], work.branches[below], work.columns[below] = 2 * node + 1 + side, 0, -1
    feature = trees.features[t, node]
    if feature < 0:
        work.products[below] = work.products[level]
        return
    column = trees.players[feature, 0]
    last = level
    while last > 0 and work.columns[last] != column:
        last -= 1
    fraction = work.fractions[last]
    new_fraction = fraction * (trees.fractions[t, node] if side == 0 else 1.0 - trees.fractions[t, node])
    work.columns[below], work.fractions[below] = column, new_fraction
    own, right, was_own = work.own[below], work.right[level], work.own[last]
    for r in range(n):
        own[r] = was_own[r] * (right[r] if side == 1 else 1.0 - right[r])
    for q in range(work.points.shape[0]):
        share = 1.0 - work.points[q]
        outside, inside = fraction * share, fraction * share + work.points[q]  # the factor, for either side
        new_outside, new_inside = new_fraction * share, new_fraction * share + work.points[q]
        both, before, neither = new_inside / inside, new_outside / inside, new_outside / outside
        product, out = work.products[level, q], work.products[below, q]
        for r in range(n):
            out[r] = product[r] * (own[r] * both + (was_own[r] - own[r]) * before + (1.0 - was_own[r]) * neither)
        # Of the values of the edge, those of the edge above that reads the same column are subtracted.
        gain_inside, gain_outside = (1.0 - fraction) / inside, -fraction / outside
        both = work.weights[q] * ((1.0 - new_fraction) / new_inside - gain_inside)
        before = work.weights[q] * (-new_fraction / new_outside - gain_inside)
        neither = work.weights[q] * (-new_fraction / new_outside - gain_outside)
        gain = work.gains[below, q]
        for r in range(n):
            gain[r] = own[r] * both + (was_own[r] - own[r]) * before + (1.0 - was_own[r]) * neither


@inner_kernel
def add_edge(work, level, first, n, values):
    """Add the value of the edge above a node to that of its column, and the sums of the node to those above."""
    column = work.columns[level]
    for k in range(values.shape[0]):
        for q in range(work.points.shape[0]):
            below, above = work.sums[level, k, q], work.sums[level - 1, k, q]
            for r in range(n):
                above[r] += below[r]
            if column >= 0:
                gain, out = work.gains[level, q], values[k, column, first : first + n]
                for r in range(n):
                    out[r] += gain[r] * below[r]


@kernel
def add_path_shap(codes, trees, start, stop, rows, work, values):
    """Read codes of some rows and any trees; add SHAP values to ``values``, one path to a leaf after the other."""
    for t in range(start, stop):
        for i in range(rows[0], rows[1]):
            walk_paths(codes, trees, t, i, work, values)


@inner_kernel
def walk_paths(codes, trees, t, i, work, values):
    """Add the values of one row and one tree."""
    n_nodes = trees.features.shape[1]
    depth = work.nodes.shape[0] - 1
    level = 0
    work.nodes[0], work.branches[0], work.n_known[0], work.factors[0] = 0, 0, 0, 1.0
    while level >= 0:
        node, n_known = work.nodes[level], work.n_known[level]
        if level == depth:
            for k in range(values.shape[0] if n_known > 0 else 0):
                part = work.factors[level] * trees.leaves[t, node - n_nodes, k] / n_known
                for p in range(n_known):
                    values[k, work.known[level, p], i] += part
            level -= 1
            continue
        branch = work.branches[level]
        if branch == 4:
            level -= 1
            continue
        work.branches[level] += 1
        side, is_term = branch & 1, branch >= 2
        feature = trees.features[t, node]
        own_side = side_of(codes, trees, t, node, i)
        fraction = trees.fractions[t, node] if side == 0 else 1.0 - trees.fractions[t, node]
        if feature < 0 or reads_only(trees.players, feature, work.known[level], n_known):
            factor = 1.0 if own_side == side and not is_term else 0.0
        elif is_term:
            factor = (1.0 if own_side == side else 0.0) - fraction
        else:
            factor = fraction
        if factor == 0.0:
            continue
        below = level + 1
        work.nodes[below], work.branches[below] = 2 * node + 1 + side, 0
        work.factors[below] = work.factors[level] * factor
        work.known[below, :n_known] = work.known[level, :n_known]
        work.n_known[below] = n_known
        if is_term:
            work.n_known[below] = add_players(trees.players, feature, work.known[below], n_known)
        level = below


@inner_kernel
def side_of(codes, trees, t, node, i):
    """Whether row i goes right at a node: 0 or 1."""
    feature = trees.features[t, node]
    if feature < 0:
        return 0
    code = codes[feature, i]
    if trees.sets[t, node] >= 0:
        return np.int64(trees.tables[trees.sets[t, node], code])
    return np.int64(np.uint8(code - trees.shifts[t, node]) > trees.limits[t, node])


@inner_kernel
def reads_only(players, feature, known, n_known):
    """Whether all columns that a feature reads are known."""
    for s in range(players.shape[1]):
        column = players[feature, s]
        if column >= 0:
            p = 0
            while p < n_known and known[p] != column:
                p += 1
            if p == n_known:
                return False
    return True


@inner_kernel
def add_players(players, feature, known, n_known):
    """Add the columns that a feature reads to those that are known; return how many are."""
    for s in range(players.shape[1]):
        column = players[feature, s]
        if column >= 0:
            p = 0
            while p < n_known and known[p] != column:
                p += 1
            if p == n_known:
                known[p] = column
                n_known += 1
    return n_known
