"""The leaves of a tree: sums over their rows, corrections of their values, and values added to the rows."""

from typing import NamedTuple

import numpy as np

from surefoot._jit import inner_kernel, kernel


class LeafSums(NamedTuple):
    """Sums over the rows of each leaf, block by block."""

    steps: np.ndarray  # (blocks, leaves, outputs)
    information: np.ndarray  # (blocks, leaves, outputs)
    counts: np.ndarray  # (blocks, leaves): their weight


@kernel(allocates=True)
def sum_leaves(steps, information, weights, rows, starts, blocks, leaves, sums):
    """Write the sums of each leaf in some blocks: weighted steps and information (None stands for 1), and the weight.

    ``leaves`` has the leaf of every row of the table; the rows that are summed are those of ``BlockRows``.
    """
    for block in range(blocks[0], blocks[1]):
        own = rows[starts[block] : starts[block + 1]]
        totals, counts = sums.information[block], sums.counts[block]
        sum_rows(steps, information, weights, own, leaves, sums.steps[block], totals, counts)


@inner_kernel(allocates=True)
def sum_rows(steps, information, weights, rows, leaves, sums, totals, counts):
    """Write the sums of each leaf over some rows."""
    if information is None and steps.shape[0] == 2:
        sum_pairs(steps[0], steps[1], weights, rows, leaves, sums, counts)
    else:
        counts[:] = 0.0
        for i in rows:
            counts[np.uint64(leaves[i])] += weights[i]
        for k in range(steps.shape[0]):
            sum_one(steps[k], weights, rows, leaves, sums[:, k])
    for k in range(steps.shape[0]):
        if information is None:
            for leaf in range(counts.shape[0]):
                totals[leaf, k] = counts[leaf]
        else:
            sum_one(information[k], weights, rows, leaves, totals[:, k])


@inner_kernel(allocates=True)
def sum_one(values, weights, rows, leaves, sums):
    """Write the weighted sum of the values of each leaf."""
    sums[:] = 0.0
    for i in rows:
        sums[np.uint64(leaves[i])] += values[i] * weights[i]


@inner_kernel(allocates=True)
def sum_pairs(first, second, weights, rows, leaves, sums, counts):
    """Write the weighted sums of two steps (such as location and scale) of each leaf, and its weight, in one pass."""
    total = np.zeros((counts.shape[0], 3))
    for i in rows:
        leaf, weight = np.uint64(leaves[i]), weights[i]
        total[leaf, 0] += weight
        total[leaf, 1] += first[i] * weight
        total[leaf, 2] += second[i] * weight
    for leaf in range(counts.shape[0]):
        counts[leaf], sums[leaf, 0], sums[leaf, 1] = total[leaf, 0], total[leaf, 1], total[leaf, 2]


@kernel
def square_sums(values, weights, rows, starts, sums):
    """Write, for each block, the weighted sum of the squares of the values of the rows, and the sum of the weights."""
    for block in range(sums.shape[0]):
        squares, total = 0.0, 0.0
        for place in range(starts[block], starts[block + 1]):
            i = rows[place]
            squares += weights[i] * values[i] * values[i]
            total += weights[i]
        sums[block, 0], sums[block, 1] = squares, total


@kernel(allocates=True)
def add_leaves(leaves, values, rows, raw):
    """Add the values of its leaf to the raw outputs of each row from ``rows[0]`` to ``rows[1]``."""
    for k in range(raw.shape[0]):
        value = values[:, k].copy()
        out = raw[k]
        for i in range(np.uint64(rows[0]), np.uint64(rows[1])):
            out[i] += value[np.uint64(leaves[i])]


@kernel
def weighted_sums(values, fractions, rows, starts, blocks, sums):
    """Write, for some blocks, the sum of the values of the rows times their fractions."""
    for block in range(blocks[0], blocks[1]):
        total = 0.0
        for place in range(starts[block], starts[block + 1]):
            total += values[rows[place]] * fractions[place]
        sums[block] = total


@kernel
def add_leverage(rows, leaves, gains, max_leverage, leverage):
    """Add the ``gains`` of their leaves to the leverage of ``rows``, up to the ``max_leverage`` of each row."""
    for i in rows:
        leverage[i] = min(leverage[i] + gains[np.uint64(leaves[i])], max_leverage[i])


@kernel
def inherit_leaves(steps, counts, values):
    """Add the step of its sibling, if that has rows, to the values of a leaf without rows."""
    for leaf in range(values.shape[0]):
        sibling = leaf ^ 1
        if counts[leaf] == 0.0 and counts[sibling] > 0.0:
            for k in range(values.shape[1]):
                values[leaf, k] += steps[sibling, k]


@kernel(allocates=True)
def bound_leaves(features, constraints, sums, totals, l2, values):
    """Clip the first value of the leaves so that it never falls (rises) along a constrained column.

    From the root down: below a split on such a column, the leaves on the lower side stay below the middle of the means
    of both sides, those on the upper side above it. ``features`` are those of the nodes in heap order.
    """
    n_leaves = values.shape[0]
    low = np.full(2 * n_leaves - 1, -np.inf)
    high = np.full(2 * n_leaves - 1, np.inf)
    mean = np.empty(2 * n_leaves - 1)
    above = np.empty(2 * n_leaves - 1)
    below = np.empty(2 * n_leaves - 1)
    lowest = np.empty(2 * n_leaves - 1)
    highest = np.empty(2 * n_leaves - 1)
    for node in range(2 * n_leaves - 2, -1, -1):
        leaf = node - (n_leaves - 1)
        above[node] = sums[leaf] if leaf >= 0 else above[2 * node + 1] + above[2 * node + 2]
        below[node] = totals[leaf] if leaf >= 0 else below[2 * node + 1] + below[2 * node + 2]
        mean[node] = above[node] / (below[node] + l2) if below[node] > 0.0 else 0.0
        lowest[node], highest[node] = np.inf, -np.inf
        if leaf < 0:
            lowest[node] = min(lowest[2 * node + 1], lowest[2 * node + 2])
            highest[node] = max(highest[2 * node + 1], highest[2 * node + 2])
        elif below[node] > 0.0:
            lowest[node], highest[node] = values[leaf], values[leaf]
    for node in range(n_leaves - 1):
        left, right = 2 * node + 1, 2 * node + 2
        low[left] = low[right] = low[node]
        high[left] = high[right] = high[node]
        rise = constraints[features[node]] if features[node] >= 0 else 0
        if rise != 0:
            middle = (mean[left] + mean[right]) / 2.0
            if below[left] == 0.0 and below[right] > 0.0:  # a side without rows must not bound the other
                middle = lowest[right] if rise > 0 else highest[right]
            elif below[right] == 0.0 and below[left] > 0.0:
                middle = highest[left] if rise > 0 else lowest[left]
            middle = min(max(middle, low[node]), high[node])
            if rise > 0:
                high[left] = low[right] = middle
            else:
                low[left] = high[right] = middle
    for leaf in range(n_leaves):
        node = leaf + n_leaves - 1
        values[leaf] = min(max(values[leaf], low[node]), high[node])
