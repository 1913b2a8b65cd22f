"""Sums of the rows' gradients, bin by bin, for the nodes of one level of a tree.

A row's statistics are whole numbers, so sums do not depend on the order of the rows, nor on the number of threads. They
are one 64-bit word where they fit (``packed.py`` says how), else several words side by side. The children of a node
share its rows: the smaller one is added up, the larger is what remains of the parent.
"""

import numpy as np

from surefoot._jit import kernel

BYTE = np.uint64(255)
BITS = np.uint64(8)


@kernel
def add_packed_rows(words, rows, values, start, stop, offsets, histogram):
    """Add ``values[i]`` to one bin per column of the group for the rows ``start`` to ``stop``.

    ``offsets`` are unsigned, as are the codes: a signed index would be checked for wrapping around at every cell.
    """
    width = offsets.shape[0]
    if width == 8:
        o0, o1, o2, o3 = offsets[0], offsets[1], offsets[2], offsets[3]
        o4, o5, o6, o7 = offsets[4], offsets[5], offsets[6], offsets[7]
        for i in range(start, stop):
            word = words[rows[i]]
            value = values[i, 0]
            histogram[o0 + (word & BYTE)] += value
            histogram[o1 + ((word >> np.uint64(8)) & BYTE)] += value
            histogram[o2 + ((word >> np.uint64(16)) & BYTE)] += value
            histogram[o3 + ((word >> np.uint64(24)) & BYTE)] += value
            histogram[o4 + ((word >> np.uint64(32)) & BYTE)] += value
            histogram[o5 + ((word >> np.uint64(40)) & BYTE)] += value
            histogram[o6 + ((word >> np.uint64(48)) & BYTE)] += value
            histogram[o7 + (word >> np.uint64(56))] += value
    else:
        for i in range(start, stop):
            word = words[rows[i]]
            value = values[i, 0]
            for k in range(width):
                histogram[offsets[k] + (word & BYTE)] += value
                word >>= BITS


@kernel
def add_wide_rows(words, rows, values, start, stop, offsets, histogram):
    """As ``add_packed_rows``, for statistics of several words a row."""
    n_words = np.uint64(values.shape[1])
    for i in range(start, stop):
        word = words[rows[i]]
        for k in range(offsets.shape[0]):
            first = (offsets[k] + (word & BYTE)) * n_words
            for f in range(n_words):
                histogram[first + np.uint64(f)] += values[i, f]
            word >>= BITS


@kernel
def build_root(words, first_group, last_group, rows, values, offsets, histograms):
    """Write the histogram of all ``rows`` to slot 0, for the columns of some groups."""
    n_words = values.shape[1]
    for group in range(first_group, last_group):
        columns = offsets[8 * group : min(8 * group + 9, offsets.shape[0])]
        bins = columns - columns[0]
        out = histograms[0, columns[0] * np.uint64(n_words) : columns[-1] * np.uint64(n_words)]
        out[:] = 0
        if n_words == 1:
            add_packed_rows(words[group], rows, values, 0, rows.shape[0], bins[:-1], out)
        else:
            add_wide_rows(words[group], rows, values, 0, rows.shape[0], bins[:-1], out)


@kernel
def build_level(words, first_group, last_group, rows, values, bounds, offsets, histograms):
    """Replace the histograms of a level's nodes (slot p) by those of their children (slots 2p and 2p + 1).

    ``bounds`` are those of the children: child c has the rows ``bounds[c]`` to ``bounds[c + 1]``. Parents are visited
    from the last to the first, so that no child's slot is written before the parent that lies there has been read.
    """
    n_words = values.shape[1]
    for group in range(first_group, last_group):
        columns = offsets[8 * group : min(8 * group + 9, offsets.shape[0])]
        bins = columns - columns[0]
        begin, end = columns[0] * np.uint64(n_words), columns[-1] * np.uint64(n_words)
        smaller = np.empty(end - begin, np.int64)
        for parent in range(bounds.shape[0] // 2 - 1, -1, -1):
            left = 2 * parent
            n_left = bounds[left + 1] - bounds[left]
            n_right = bounds[left + 2] - bounds[left + 1]
            small = left if n_left < n_right else left + 1
            smaller[:] = 0
            if n_words == 1:
                add_packed_rows(words[group], rows, values, bounds[small], bounds[small + 1], bins[:-1], smaller)
            else:
                add_wide_rows(words[group], rows, values, bounds[small], bounds[small + 1], bins[:-1], smaller)
            whole = histograms[parent, begin:end]
            larger_slot = histograms[2 * left + 1 - small, begin:end]
            smaller_slot = histograms[small, begin:end]
            for b in range(smaller.shape[0]):
                rest = whole[b] - smaller[b]
                smaller_slot[b] = smaller[b]  # the parent's own slot may be one of the two: it has been read
                larger_slot[b] = rest
