"""Passes over the trees of a chain for the noise of its training: see ``uncertainty/chain_noise.py``."""

from typing import NamedTuple

import numpy as np

from surefoot._jit import inner_kernel, kernel

TOGETHER = 4  # trees


class TreeArrays(NamedTuple):
    """The arrays of a ``VectorForest``."""

    features: np.ndarray
    shifts: np.ndarray
    limits: np.ndarray
    sets: np.ndarray
    tables: np.ndarray
    leaves: np.ndarray


@kernel
def add_trees_together(codes, symmetric, trees, raw):
    """Read the codes of a block of rows; add the leaves of all trees to ``raw`` (outputs, rows).

    Trees are added four at a time, so that sums are read and written less often.
    """
    n_rows, n_trees = codes.shape[1], trees.leaves.shape[0]
    place = np.empty((TOGETHER, n_rows), np.uint16)
    small = np.empty((TOGETHER, n_rows), np.uint8)
    is_small = symmetric and trees.tables.shape[0] == 0 and trees.leaves.shape[1] <= 256
    for first in range(0, n_trees - n_trees % TOGETHER, TOGETHER):
        if is_small:
            for j in range(TOGETHER):
                find_leaves_in_bytes(codes, trees, first + j, small[j])
            add_four_trees(small, trees.leaves, first, raw)
        else:
            for j in range(TOGETHER):
                find_leaves(codes, symmetric, trees, first + j, place[j])
            add_four_trees(place, trees.leaves, first, raw)
    for t in range(n_trees - n_trees % TOGETHER, n_trees):
        find_leaves(codes, symmetric, trees, t, place[0])
        for k in range(raw.shape[0]):
            out, values = raw[k], trees.leaves[t, :, k]
            for i in range(n_rows):
                out[i] += values[np.uint64(place[0, i])]


@inner_kernel
def add_four_trees(place, leaves, first, raw):
    """Add the leaves of four trees to the outputs of each row."""
    p, q, r, s = place[0], place[1], place[2], place[3]
    for k in range(raw.shape[0]):
        out = raw[k]
        a, b, c, d = leaves[first, :, k], leaves[first + 1, :, k], leaves[first + 2, :, k], leaves[first + 3, :, k]
        for i in range(out.shape[0]):
            out[i] += (a[np.uint64(p[i])] + b[np.uint64(q[i])]) + (c[np.uint64(r[i])] + d[np.uint64(s[i])])


@inner_kernel
def find_leaves_in_bytes(codes, trees, t, place):
    """Write the leaf of a symmetric tree without categories, of at most 256 leaves, in which each row is."""
    place[:] = 0
    level = 1
    while level <= trees.features.shape[1]:
        node = level - 1
        column, shift, limit = codes[max(trees.features[t, node], 0)], trees.shifts[t, node], trees.limits[t, node]
        for i in range(place.shape[0]):
            place[i] = np.uint8(place[i] + place[i]) | np.uint8(np.uint8(column[i] - shift) > limit)
        level *= 2


@kernel
def find_leaves_of(codes, symmetric, trees, t, place):
    """Write the leaf of tree ``t`` in which each row of a block is."""
    find_leaves(codes, symmetric, trees, t, place)


@inner_kernel
def find_leaves(codes, symmetric, trees, t, place):
    """Write the leaf of tree ``t`` in which each row of a block is."""
    n_rows = codes.shape[1]
    n_nodes = trees.features.shape[1]
    feature, shift, limit, category = trees.features[t], trees.shifts[t], trees.limits[t], trees.sets[t]
    has_sets = trees.tables.shape[0] > 0
    place[:] = 0
    level = 1
    if symmetric and not has_sets:  # one comparison per level for all rows
        while level <= n_nodes:
            node = level - 1
            column, own_shift, own_limit = codes[max(feature[node], 0)], shift[node], limit[node]
            for i in range(n_rows):
                place[i] = np.uint16(place[i] + place[i]) | np.uint16(np.uint8(column[i] - own_shift) > own_limit)
            level *= 2
        return
    while level <= n_nodes:
        for i in range(n_rows):
            node = np.uint64(place[i])
            code = codes[np.uint64(max(feature[node], 0)), i]
            right = np.uint16(np.uint8(code - shift[node]) > limit[node])
            if has_sets and category[node] >= 0:
                right = np.uint16(trees.tables[np.uint64(category[node]), code])
            place[i] = np.uint16(place[i] + place[i] + np.uint16(1) + right)
        level = 2 * level + 1
    for i in range(n_rows):
        place[i] = np.uint16(place[i] - n_nodes)


@kernel
def sum_deviations(place, information, deviations, sums, totals, counts):
    """Add the rows to their leaves: information times deviations, the information, and the number of rows.

    ``information`` and ``totals`` have a column for each output, ``deviations`` and ``sums`` several copies of each.
    """
    n_copies = deviations.shape[1] // information.shape[1]
    for i in range(place.shape[0]):
        leaf = np.uint64(place[i])
        counts[leaf] += 1
        for k in range(information.shape[1]):
            own = information[i, k]
            totals[leaf, k] += own
            for m in range(k * n_copies, (k + 1) * n_copies):
                sums[leaf, m] += own * deviations[i, m]


@kernel
def add_to_deviations(place, values, deviations):
    """Add the values of its leaf to the deviations of each row."""
    for i in range(deviations.shape[0]):
        own = values[np.uint64(place[i])]
        for m in range(deviations.shape[1]):
            deviations[i, m] += own[m]


@kernel
def fit_leaves(place, weights, rate, residuals, values, sums, totals):
    """Move the values of leaves towards the weighted mean residual of their rows, at a rate; lower the residuals.

    ``residuals`` is (rows, outputs); ``values``, ``sums`` and ``totals`` are of the leaves. The last two are for work.
    """
    sums[:], totals[:] = 0.0, 0.0
    for i in range(place.shape[0]):
        leaf = np.uint64(place[i])
        totals[leaf] += weights[i]
        for k in range(residuals.shape[1]):
            sums[leaf, k] += weights[i] * residuals[i, k]
    for leaf in range(values.shape[0]):
        for k in range(residuals.shape[1]):
            sums[leaf, k] *= rate / (totals[leaf] + 1.0)
            values[leaf, k] += sums[leaf, k]
    for i in range(place.shape[0]):
        leaf = np.uint64(place[i])
        for k in range(residuals.shape[1]):
            residuals[i, k] -= sums[leaf, k]
