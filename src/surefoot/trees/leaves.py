"""What the leaves of a tree say: sums over their rows, and the sums put back onto the rows."""

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
def add_leverage(rows, bounds, gains, leverage):
    """Let each row's leverage grow by its leaf's ``gains`` (a share of what is left to 1)."""
    for leaf in range(bounds.shape[0] - 1):
        gain = gains[leaf]
        for i in range(bounds[leaf], bounds[leaf + 1]):
            leverage[rows[i]] += gain * (1.0 - leverage[rows[i]])
