"""Send the rows of a level's nodes left and right, and find the leaves of other rows."""

import numpy as np

from surefoot._jit import kernel

BYTE = np.uint64(255)


@kernel
def part_level(
    words, rows, values, bounds, shared, features, tables, least, count_mask, new_rows, new_values, new_bounds, kept
):
    """Write the rows of each node, its left ones first, and the bounds of the children; ``kept`` marks nodes not split.

    Right ones are written from the node's end backwards. A node that would get a child with rows, but fewer than
    ``least``, keeps all its rows on the left.
    """
    n_words = values.shape[1]
    for node in range(bounds.shape[0] - 1):
        start, stop = bounds[node], bounds[node + 1]
        split = 0 if shared else node
        feature = features[split]
        kept[node] = feature < 0
        left, right = start, stop - 1
        rows_left, rows_right = 0, 0
        if feature >= 0:
            column = words[feature // 8]
            shift = np.uint64(8 * (feature % 8))
            table = tables[split]
            for i in range(start, stop):
                row = rows[i]
                goes_right = np.int64(table[(column[row] >> shift) & BYTE])
                place = right if goes_right == 1 else left
                new_rows[place] = row
                for f in range(n_words):
                    new_values[place, f] = values[i, f]
                left += 1 - goes_right
                right -= goes_right
            if least > 1:
                for i in range(start, left):
                    rows_left += new_values[i, 0] & count_mask
                for i in range(left, stop):
                    rows_right += new_values[i, 0] & count_mask
                kept[node] = (0 < rows_left < least) or (0 < rows_right < least)
        if kept[node]:
            new_rows[start:stop] = rows[start:stop]
            new_values[start:stop] = values[start:stop]
            left = stop
        new_bounds[2 * node] = start
        new_bounds[2 * node + 1] = left
    new_bounds[2 * (bounds.shape[0] - 1)] = bounds[bounds.shape[0] - 1]


@kernel
def find_leaves(words, rows, depth, shared, features, tables, leaves):
    """Walk ``rows`` down a tree whose nodes (levels, if shared) have the splits ``features`` and ``tables``."""
    for place in range(rows.shape[0]):
        row = rows[place]
        node = 0
        for level in range(depth):
            split = level if shared else node
            feature = features[split]
            goes_right = 0
            if feature >= 0:
                word = words[feature // 8, row]
                goes_right = np.int64(tables[split, (word >> np.uint64(8 * (feature % 8))) & BYTE])
            node = 2 * node + 1 + goes_right
        leaves[place] = node + 1 - (1 << depth)
