"""Send the rows of a level's nodes left and right, and find the leaves of rows.

Indices are unsigned wherever a loop runs over rows: a signed one would be checked for wrapping around.
"""

import numpy as np

from surefoot._jit import kernel

BYTE = np.uint64(255)
ONE = np.uint64(1)


@kernel
def part_node(column, shift, table, rows, values, start, stop, new_rows, new_values):
    """Write the node's rows, left ones from the start on, right ones from the end backwards; return where they meet."""
    left, right = np.uint64(start), np.uint64(stop)
    n_words = values.shape[1]
    if n_words == 1:
        words, new_words = values.reshape(values.size), new_values.reshape(new_values.size)
        for i in range(np.uint64(start), np.uint64(stop)):
            row = rows[i]
            goes_right = np.uint64(table[(column[row] >> shift) & BYTE])
            right -= goes_right
            place = right if goes_right == ONE else left
            new_rows[place] = row
            new_words[place] = words[i]
            left += ONE - goes_right
    else:
        for i in range(np.uint64(start), np.uint64(stop)):
            row = rows[i]
            goes_right = np.uint64(table[(column[row] >> shift) & BYTE])
            right -= goes_right
            place = right if goes_right == ONE else left
            new_rows[place] = row
            for f in range(n_words):
                new_values[place, f] = values[i, f]
            left += ONE - goes_right
    return np.int64(left)


@kernel
def part_level(
    words, rows, values, bounds, shared, features, tables, least, count_mask, new_rows, new_values, new_bounds, kept
):
    """Part the rows of each node and write the bounds of the children; ``kept`` marks nodes that are not split.

    A node that would get a child with rows, but fewer than ``least``, keeps all its rows on the left.
    """
    n_nodes = bounds.shape[0] - 1
    for node in range(n_nodes):
        start, stop = bounds[node], bounds[node + 1]
        split = 0 if shared else node
        feature = features[split]
        kept[node] = feature < 0
        left = stop
        if feature >= 0:
            shift = np.uint64(8 * (feature % 8))
            left = part_node(words[feature // 8], shift, tables[split], rows, values, start, stop, new_rows, new_values)
            if least > 1:
                rows_left, rows_right = 0, 0
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
    new_bounds[2 * n_nodes] = bounds[n_nodes]


@kernel
def note_leaves(rows, bounds, leaves):
    """Write the leaf of each row: ``rows[bounds[l]:bounds[l + 1]]`` are those of leaf l."""
    for leaf in range(bounds.shape[0] - 1):
        for i in range(np.uint64(bounds[leaf]), np.uint64(bounds[leaf + 1])):
            leaves[rows[i]] = leaf


@kernel
def find_leaves(words, rows, depth, shared, features, tables, leaves):
    """Walk ``rows`` down a tree whose nodes (levels, if shared) have the splits ``features`` and ``tables``."""
    for i in range(np.uint64(rows.shape[0])):
        row = rows[i]
        node = 0
        for level in range(depth):
            split = level if shared else node
            feature = features[split]
            goes_right = 0
            if feature >= 0:
                word = words[feature // 8, row]
                goes_right = np.int64(tables[split, (word >> np.uint64(8 * (feature % 8))) & BYTE])
            node = 2 * node + 1 + goes_right
        leaves[row] = node + 1 - (1 << depth)
