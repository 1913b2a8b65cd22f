"""What the leaves of a tree say: sums over their rows, and the sums put back onto the rows."""

import numpy as np

from surefoot._jit import kernel


@kernel
def sum_leaves(steps, information, weights, rows, bounds, sums, totals, counts):
    """Write each leaf's weighted sums of the steps and of the information (None stands for 1), and its weight."""
    for leaf in range(bounds.shape[0] - 1):
        start, stop = bounds[leaf], bounds[leaf + 1]
        weight = 0.0
        for i in range(start, stop):
            weight += weights[rows[i]]
        counts[leaf] = weight
        for k in range(steps.shape[0]):
            total = 0.0
            step = steps[k]
            for i in range(start, stop):
                total += step[rows[i]] * weights[rows[i]]
            sums[leaf, k] = total
            totals[leaf, k] = weight
            if information is not None:
                known = 0.0
                row_information = information[k]
                for i in range(start, stop):
                    known += row_information[rows[i]] * weights[rows[i]]
                totals[leaf, k] = known


@kernel
def add_leaves(rows, bounds, values, raw):
    """Add to each row's raw outputs what its leaf says."""
    for leaf in range(bounds.shape[0] - 1):
        for k in range(raw.shape[0]):
            value = values[leaf, k]
            out = raw[k]
            for i in range(bounds[leaf], bounds[leaf + 1]):
                out[rows[i]] += value


@kernel
def add_found_leaves(rows, leaves, values, raw):
    """Add to the raw outputs of ``rows`` what the leaf of each says."""
    for k in range(raw.shape[0]):
        out = raw[k]
        for place in range(rows.shape[0]):
            out[rows[place]] += values[leaves[place], k]


@kernel
def add_leverage(rows, bounds, gains, most, leverage):
    """Let the leverage of each leaf's rows grow by the leaf's ``gains``, up to ``most``."""
    for leaf in range(bounds.shape[0] - 1):
        gain = gains[leaf]
        for i in range(bounds[leaf], bounds[leaf + 1]):
            leverage[rows[i]] = min(leverage[rows[i]] + gain, most)


@kernel
def stretch_rows(leverage, exponent, stretch):
    """Write by how much each row's residual has to be stretched for what the row itself has done to it."""
    for i in range(leverage.shape[0]):
        stretch[i] = np.exp(exponent * leverage[i])


@kernel
def bound_leaves(features, constraints, sums, totals, l2, values):
    """Clip the leaves' first value so that it never falls (rises) along a constrained column.

    From the root down: below a split on such a column, the leaves on its lower side stay below the middle of the two
    sides' means, those on the upper side above it. ``features`` are those of the nodes in heap order.
    """
    n_leaves = values.shape[0]
    low = np.full(2 * n_leaves - 1, -np.inf)
    high = np.full(2 * n_leaves - 1, np.inf)
    mean = np.empty(2 * n_leaves - 1)
    above = np.empty(2 * n_leaves - 1)
    below = np.empty(2 * n_leaves - 1)
    for node in range(2 * n_leaves - 2, -1, -1):
        leaf = node - (n_leaves - 1)
        above[node] = sums[leaf] if leaf >= 0 else above[2 * node + 1] + above[2 * node + 2]
        below[node] = totals[leaf] if leaf >= 0 else below[2 * node + 1] + below[2 * node + 2]
        mean[node] = above[node] / (below[node] + l2)
    for node in range(n_leaves - 1):
        left, right = 2 * node + 1, 2 * node + 2
        low[left] = low[right] = low[node]
        high[left] = high[right] = high[node]
        rise = constraints[features[node]] if features[node] >= 0 else 0
        if rise != 0:
            middle = min(max((mean[left] + mean[right]) / 2.0, low[node]), high[node])
            if rise > 0:
                high[left] = low[right] = middle
            else:
                low[left] = high[right] = middle
    for leaf in range(n_leaves):
        node = leaf + n_leaves - 1
        values[leaf] = min(max(values[leaf], low[node]), high[node])
