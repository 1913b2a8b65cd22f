"""The leaves of a tree: corrections of their values, and values added to the rows."""

from typing import NamedTuple

import numpy as np

from surefoot._jit import inner_kernel, kernel


class RowOutputs(NamedTuple):
    """What the rows of a table keep from round to round."""

    raw: np.ndarray  # (outputs, rows)
    leverage: np.ndarray
    max_leverage: np.ndarray


class RowsInBlocks(NamedTuple):
    """The arrays of ``BlockRows``: the rows of block b are ``rows[starts[b]:starts[b + 1]]``."""

    rows: np.ndarray
    starts: np.ndarray


@kernel
def add_tree(leaves, values, gains, drawn, train, fractions, block_rows, blocks, outputs, sums):
    """Add a tree to the outputs of the rows of some blocks: the values of its leaves.

    If the family has a scale (the last output), the ``gains`` of the leaves are added to the leverage of the ``drawn``
    rows, and ``sums`` gets, for each block, the sum of the scales of the ``train`` rows times their ``fractions``. One
    block after the other: its rows stay in the cache.
    """
    raw = outputs.raw
    for block in range(blocks[0], blocks[1]):
        first, last = block * block_rows, min((block + 1) * block_rows, raw.shape[1])
        for k in range(raw.shape[0]):
            add_values(leaves[first:last], values[:, k], raw[k, first:last])
        if gains is not None:
            own = drawn.rows[drawn.starts[block] : drawn.starts[block + 1]]
            add_leverage(own, leaves, gains, outputs.max_leverage, outputs.leverage)
            start, stop = train.starts[block], train.starts[block + 1]
            sums[block] = weighted_sum(raw[raw.shape[0] - 1], fractions[start:stop], train.rows[start:stop])


@inner_kernel
def add_values(leaves, values, raw):
    """Add the values of their leaves to an output of some rows."""
    value = values.copy()
    for i in range(np.uint64(leaves.shape[0])):
        raw[i] += value[np.uint64(leaves[i])]


@inner_kernel
def weighted_sum(values, fractions, rows):
    """Return the sum of the values of some rows times their fractions."""
    t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0  # an addition need not wait for the one before
    fours = rows.shape[0] // 4 * 4
    for place in range(0, fours, 4):
        t0 += values[rows[place]] * fractions[place]
        t1 += values[rows[place + 1]] * fractions[place + 1]
        t2 += values[rows[place + 2]] * fractions[place + 2]
        t3 += values[rows[place + 3]] * fractions[place + 3]
    for place in range(fours, rows.shape[0]):
        t0 += values[rows[place]] * fractions[place]
    return (t0 + t1) + (t2 + t3)


@kernel
def weighted_sums(values, fractions, rows, starts, sums):
    """Write, for each block, the sum of the values of its rows times their fractions."""
    for block in range(sums.shape[0]):
        start, stop = starts[block], starts[block + 1]
        sums[block] = weighted_sum(values, fractions[start:stop], rows[start:stop])


@inner_kernel
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


@kernel
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
