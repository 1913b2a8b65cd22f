"""The passes over rows and bins that grow the levels of a tree.

*Histograms*: sums of the rows' gradients, bin by bin, for the nodes of one level. A row's statistics are whole numbers,
so sums do not depend on the order of the rows, nor on the number of threads. They are one 64-bit word where they fit
(``packed_gradients.py`` shows how), else several words side by side. The children of a node share its rows: the smaller
one is added up, the larger is what remains of the parent.

*Splits*: a side with the score sums S_k and the weight n is worth ``sum of S_k**2 / (n + l2)``; the gain of a split is
the worth of its two sides less that of the node. A symmetric tree has one split for all nodes of a level, chosen by the
sum of their gains; a depthwise tree one for each node.

Small tables have more bins than rows, once there are a few nodes. There the rows themselves are read, column by column
in the order of their codes, and no histograms are made: see ``search_sorted_rows``.

*Partition*: the rows of each node, left ones first. Indices are unsigned wherever a loop runs over rows: a signed one
would be checked for wrapping around.

Kernels that call each other have to share a file; this one is long for that reason alone.
"""

from typing import NamedTuple

import numpy as np

from surefoot._jit import kernel

TIE = 1e-12  # gains this close, relative to the worth of the node, are one gain: the first column wins
MAX_ORDERS = 8  # categories are sorted by each score in turn, but by no more than these
SPARSE = 4  # a node with fewer rows than a column has codes, by this factor, is searched only at codes that have rows
NOISE_LENGTH = 4096  # noise is read from one of so many places on
NEXT_WINDOW = 257  # distance between the first places that two nodes read
RARE = 10.0  # a category's mean score is shrunk to zero as if it had so many more rows
COUNT, WEIGHT, SCORES = 0, 1, 2  # rows of the array of sums
START = FREE = np.int64(0)  # first place, no constraint; for a literal 0, kernels would be compiled once more
BYTE, BITS, ONE = np.uint64(255), np.uint64(8), np.uint64(1)
LARGE = 2.0**52  # floats from here to twice as much are the whole numbers
DIGITS = np.float64(LARGE).view(np.uint64)  # its bits: those of a number that is added are the last of them


# These stand here and not in a file of their own: the compile cache would not notice a change of their fields there.


class PackedTable(NamedTuple):
    """The table that a tree is grown on; ``packed_codes.py`` describes its arrays."""

    words: np.ndarray  # (groups, rows): the codes of eight columns
    offsets: np.ndarray  # (columns + 1,): where each column's bins start in a histogram
    n_codes: np.ndarray  # (columns,)
    has_missing: np.ndarray
    is_categorical: np.ndarray
    sorted_rows: np.ndarray  # (columns, rows): rows by their code; empty for large tables
    sorted_codes: np.ndarray


class SplitRules(NamedTuple):
    """Which splits are allowed, and how their gain is computed."""

    symmetric: bool  # one split for all nodes of a level
    l2: float
    min_rows: int  # rows of a side, unless it is empty
    constraints: np.ndarray  # (columns,): -1, 0 or 1


class SumFormat(NamedTuple):
    """How words hold the sums of rows."""

    n_words: int  # 1: packed
    n_scores: int
    count_bits: int  # of a packed word
    units: np.ndarray  # what 1 stands for, in each of the sums


class SplitNoise(NamedTuple):
    """Random numbers that are added to gains, and where each column starts to read them."""

    numbers: np.ndarray  # empty: no noise
    windows: np.ndarray  # (levels, columns), or (columns,) of one level


class LevelRows(NamedTuple):
    """The rows of one level: node n has ``rows[bounds[n]:bounds[n + 1]]``, and ``values`` their words."""

    rows: np.ndarray
    values: np.ndarray
    bounds: np.ndarray


class ColumnSplits(NamedTuple):
    """The best split of each column, in one row for all nodes of a symmetric tree, else in one row per node."""

    values: np.ndarray  # by which the column is chosen: the gain, and noise
    gains: np.ndarray
    places: np.ndarray  # the last code on the left; for categories, the last place in their order
    sides: np.ndarray  # 1: missing values go left; for categories, the score that they are ordered by


class NodeSums(NamedTuple):
    """Buffers for searching sorted rows: each row's node and statistics, and the sums of each node."""

    nodes: np.ndarray
    parts: np.ndarray  # (rows, 3): two scores and the weight
    totals: np.ndarray  # (nodes + 1, 4): their sums and the worth of the node; the last is for rows of no node
    left: np.ndarray  # (nodes + 1, 4): the same for the left side, and the worth of both sides


class GrowthBuffers(NamedTuple):
    """What the levels of a tree read and write: a level reads one of two buffers of rows and writes the other."""

    rows: np.ndarray  # (2, rows)
    values: np.ndarray  # (2, rows, words)
    bounds: np.ndarray  # (levels + 1, nodes + 1)
    histograms: np.ndarray  # (nodes, words of all bins)
    best: ColumnSplits
    sums: NodeSums


class TreeSplits(NamedTuple):
    """The splits of a tree (or of one level): one per level if symmetric, else one per node in heap order."""

    features: np.ndarray  # -1: none, all rows go left
    codes: np.ndarray  # the last code on the left
    missing_left: np.ndarray
    gains: np.ndarray
    tables: np.ndarray  # (splits, 256): 1 for codes that go right
    kept: np.ndarray  # one per node in heap order: whether all its rows stay on the left


class SearchBuffers(NamedTuple):
    """Room for the search of one column."""

    running: np.ndarray
    sums: np.ndarray  # (sums, codes): count, weight and scores of all codes up to one
    total: np.ndarray
    work: np.ndarray
    gains: np.ndarray  # (3, codes)


@kernel
def make_search_buffers(form):
    """Room for the search of one column."""
    n_sums = SCORES + form.n_scores
    return SearchBuffers(
        running=np.empty(256, np.int64),
        sums=np.empty((n_sums, 256)),
        total=np.empty(n_sums),
        work=np.empty((2, 256)),
        gains=np.empty((3, 256)),
    )


@kernel
def rows_of_level(buffers, level):
    """The rows of one level's nodes, as views of the buffers."""
    n_rows = buffers.bounds[0, 1]
    side = level % 2
    return LevelRows(
        rows=buffers.rows[side, :n_rows],
        values=buffers.values[side, :n_rows],
        bounds=buffers.bounds[level, : (1 << level) + 1],
    )


@kernel
def splits_of_level(tree, level, symmetric):
    """The splits of one level, as views of those of the tree."""
    first_node, after = (1 << level) - 1, (2 << level) - 1
    first, last = (level, level + 1) if symmetric else (first_node, after)
    return TreeSplits(
        features=tree.features[first:last],
        codes=tree.codes[first:last],
        missing_left=tree.missing_left[first:last],
        gains=tree.gains[first:last],
        tables=tree.tables[first:last],
        kept=tree.kept[first_node:after],
    )


@kernel
def add_packed_rows(words, rows, values, start, stop, width, sums):
    """Add ``values[i]`` to one of the 256 bins of each column of the group, for the rows ``start`` to ``stop``.

    Bins that are a fixed distance apart need no arithmetic to be found. Eight columns are done at once, or two: where a
    group has fewer, those that it lacks are added up too, which takes less time than to ask.
    """
    if width > 4:
        for i in range(np.uint64(start), np.uint64(stop)):
            word, value = words[rows[i]], values[i, 0]
            sums[word & BYTE] += value
            sums[np.uint64(256) + ((word >> np.uint64(8)) & BYTE)] += value
            sums[np.uint64(512) + ((word >> np.uint64(16)) & BYTE)] += value
            sums[np.uint64(768) + ((word >> np.uint64(24)) & BYTE)] += value
            sums[np.uint64(1024) + ((word >> np.uint64(32)) & BYTE)] += value
            sums[np.uint64(1280) + ((word >> np.uint64(40)) & BYTE)] += value
            sums[np.uint64(1536) + ((word >> np.uint64(48)) & BYTE)] += value
            sums[np.uint64(1792) + (word >> np.uint64(56))] += value
        return
    for first in range(0, width, 2):
        shift, pair = np.uint64(8 * first), sums[256 * first : 256 * first + 512]
        for i in range(np.uint64(start), np.uint64(stop)):
            word, value = words[rows[i]] >> shift, values[i, 0]
            pair[word & BYTE] += value
            pair[np.uint64(256) + ((word >> BITS) & BYTE)] += value


@kernel
def add_wide_rows(words, rows, values, start, stop, width, sums):
    """As ``add_packed_rows``, for statistics of several words a row."""
    n_words = np.uint64(values.shape[1])
    for i in range(start, stop):
        word = words[rows[i]]
        for k in range(np.uint64(width)):
            first = (np.uint64(256) * k + (word & BYTE)) * n_words
            for f in range(n_words):
                sums[first + f] += values[i, f]
            word >>= BITS


@kernel
def sum_rows(words, rows, values, start, stop, bins, sums):
    """Write the histogram of the rows ``start`` to ``stop``: 256 bins for each column, of which it has ``bins[k]``."""
    width, n_words = bins.shape[0], values.shape[1]
    for k in range(width):
        sums[256 * k * n_words : (256 * k + bins[k]) * n_words] = 0
    if n_words == 1:
        add_packed_rows(words, rows, values, start, stop, width, sums)
    else:
        add_wide_rows(words, rows, values, start, stop, width, sums)


@kernel
def build_root(table, first_group, last_group, level, histograms):
    """Write the histogram of all rows to slot 0, for the columns of some groups."""
    n_words = level.values.shape[1]
    sums = np.empty(8 * 256 * n_words, np.int64)
    for group in range(first_group, last_group):
        columns = table.offsets[8 * group : min(8 * group + 9, table.offsets.shape[0])].astype(np.int64)
        bins = columns[1:] - columns[:-1]
        sum_rows(table.words[group], level.rows, level.values, START, level.rows.shape[0], bins, sums)
        for k in range(columns.shape[0] - 1):
            begin, end = columns[k] * n_words, columns[k + 1] * n_words
            histograms[0, begin:end] = sums[256 * k * n_words : 256 * k * n_words + end - begin]


@kernel
def build_level(table, first_group, last_group, level, histograms):
    """Replace the histograms of a level's nodes (slot p) by those of their children (slots 2p and 2p + 1).

    ``level`` has the rows of the children. Parents are visited from the last to the first, so that no child's slot is
    written before the parent that lies there has been read.
    """
    bounds, n_words = level.bounds, level.values.shape[1]
    sums = np.empty(8 * 256 * n_words, np.int64)
    for group in range(first_group, last_group):
        columns = table.offsets[8 * group : min(8 * group + 9, table.offsets.shape[0])].astype(np.int64)
        bins = columns[1:] - columns[:-1]
        for parent in range(bounds.shape[0] // 2 - 1, -1, -1):
            left = 2 * parent
            n_left = bounds[left + 1] - bounds[left]
            n_right = bounds[left + 2] - bounds[left + 1]
            small = left if n_left < n_right else left + 1
            sum_rows(table.words[group], level.rows, level.values, bounds[small], bounds[small + 1], bins, sums)
            for k in range(bins.shape[0]):
                begin, end = columns[k] * n_words, columns[k + 1] * n_words
                smaller, whole = sums[256 * k * n_words :], histograms[parent, begin:end]
                smaller_slot, larger_slot = histograms[small, begin:end], histograms[2 * left + 1 - small, begin:end]
                for b in range(end - begin):
                    rest = whole[b] - smaller[b]
                    smaller_slot[b] = smaller[b]  # the parent's own slot may be one of the two: it has been read
                    larger_slot[b] = rest


@kernel
def packed_parts(word, count_bits, unit_1, unit_2):
    """Number of rows and the two scores of a packed sum.

    Fields are moved up by half their range, so that none is negative, and become the last digits of a float between
    2**52 and 2**53: many processors convert and shift signed words only one by one.
    """
    bits, count_bits = np.uint64((64 - count_bits) // 2), np.uint64(count_bits)
    half_2 = ONE << (bits - ONE)
    half_1 = ONE << (np.uint64(63) - count_bits - bits)
    word = np.uint64(word) + (half_2 << count_bits) + (half_1 << (count_bits + bits))
    n = np.uint64((word & ((ONE << count_bits) - ONE)) | DIGITS).view(np.float64) - LARGE
    score_1 = np.uint64((word >> (count_bits + bits)) | DIGITS).view(np.float64) - (LARGE + float(half_1))
    score_2 = np.uint64(((word >> count_bits) & ((ONE << bits) - ONE)) | DIGITS).view(np.float64)
    return n, score_1 * unit_1, (score_2 - (LARGE + float(half_2))) * unit_2


@kernel
def sum_codes(histogram, n_words, count_bits, units, running, sums):
    """Write, for each code, the sums over all codes up to it: count, weight, and each score in its own unit."""
    n_codes = histogram.shape[0] // n_words
    if n_words > 1:
        for f in range(n_words):
            total = 0
            out = sums[f]
            for b in range(n_codes):
                total += histogram[b * n_words + f]
                out[b] = float(total) * units[f]
        return
    total = 0
    for b in range(n_codes):
        total += histogram[b]
        running[b] = total
    count, weight, first = sums[COUNT], sums[WEIGHT], sums[SCORES]
    second = sums[sums.shape[0] - 1]
    unit_1, unit_2 = units[SCORES], units[SCORES + 1]
    for b in range(n_codes):
        n, score_1, score_2 = packed_parts(running[b], count_bits, unit_1, unit_2)
        count[b], weight[b] = n, n
        second[b] = score_2  # with one score it is the first, written after it
        first[b] = score_1


@kernel
def add_gains(sums, total, n_places, l2, least, constraint, work, gains):
    """Add to ``gains[b]`` what is gained by sending codes up to b left, given their sums and the node's ``total``.

    A side with rows, but fewer than ``least``, or means in the wrong order for a monotone ``constraint``: no gain.
    """
    left, right = work[0], work[1]
    left[:n_places] = 0.0
    right[:n_places] = 0.0
    worth = 0.0
    for k in range(SCORES, sums.shape[0]):
        score, whole = sums[k], total[k]
        worth += whole * whole
        for b in range(n_places):
            rest = whole - score[b]
            left[b] += score[b] * score[b]
            right[b] += rest * rest
    weight, all_weight = sums[WEIGHT], total[WEIGHT]
    worth /= all_weight + l2
    for b in range(n_places):
        on_left = weight[b] + l2
        on_right = all_weight - weight[b] + l2
        left[b] = (left[b] * on_right + right[b] * on_left) / (on_left * on_right) - worth
    if least > 1.0:
        count, all_rows = sums[COUNT], total[COUNT]
        for b in range(n_places):
            few_left = (count[b] > 0.0) & (count[b] < least)
            rest = all_rows - count[b]
            few_right = (rest > 0.0) & (rest < least)
            left[b] = 0.0 if few_left | few_right else left[b]
    if constraint != 0:
        score, whole = sums[SCORES], total[SCORES]
        for b in range(n_places):
            rise = (whole - score[b]) * (weight[b] + l2) - score[b] * (all_weight - weight[b] + l2)
            left[b] = 0.0 if rise * constraint < 0.0 else left[b]
    for b in range(n_places):
        gains[b] += left[b]
    return worth


@kernel
def packed_worth(word, count_bits, unit_1, unit_2, l2):
    """What the rows of a packed sum are worth as one node."""
    n, score_1, score_2 = packed_parts(word, count_bits, unit_1, unit_2)
    return (score_1 * score_1 + score_2 * score_2) / (n + l2)


@kernel
def packed_gain(left, whole, count_bits, unit_1, unit_2, l2):
    """What is gained by parting the rows of the sum ``whole`` into those of ``left`` and the rest."""
    all_rows, all_1, all_2 = packed_parts(whole, count_bits, unit_1, unit_2)
    n, g_1, g_2 = packed_parts(left, count_bits, unit_1, unit_2)
    r_1, r_2 = all_1 - g_1, all_2 - g_2
    on_left, on_right = n + l2, all_rows - n + l2
    worth_left, worth_right = g_1 * g_1 + g_2 * g_2, r_1 * r_1 + r_2 * r_2
    worth = packed_worth(whole, count_bits, unit_1, unit_2, l2)
    return (worth_left * on_right + worth_right * on_left) / (on_left * on_right) - worth


@kernel
def add_packed_gains(histogram, count_bits, units, n_places, l2, running, gains):
    """As ``sum_codes`` and ``add_gains``, for packed sums without conditions: in one pass."""
    unit_1, unit_2 = units[SCORES], units[SCORES + 1]
    whole = np.int64(0)
    for b in range(histogram.shape[0]):
        whole += histogram[b]
        running[b] = whole
    for b in range(n_places):
        gains[b] += packed_gain(running[b], whole, count_bits, unit_1, unit_2, l2)
    return packed_worth(whole, count_bits, unit_1, unit_2, l2)


@kernel
def add_sparse_gains(histogram, count_bits, units, n_places, l2, jumps):
    """As ``add_packed_gains``, for a node with few rows: gains change only at codes that have rows.

    Adds to ``jumps[b]`` by how much the gain changes there. Returns what the node is worth.
    """
    unit_1, unit_2 = units[SCORES], units[SCORES + 1]
    whole = np.int64(0)
    for b in range(histogram.shape[0]):
        whole += histogram[b]
    before = 0.0
    left = np.int64(0)
    for b in range(n_places):
        if histogram[b] != 0:
            left += histogram[b]
            gain = packed_gain(left, whole, count_bits, unit_1, unit_2, l2)
            jumps[b] += gain - before
            before = gain
    return packed_worth(whole, count_bits, unit_1, unit_2, l2)


@kernel
def highest(values, n_places):
    """The highest of some values, -inf of none; by fours, so that one comparison need not wait for the last."""
    a0, a1, a2, a3 = -np.inf, -np.inf, -np.inf, -np.inf
    fours = n_places // 4 * 4
    for b in range(0, fours, 4):
        a0, a1 = max(a0, values[b]), max(a1, values[b + 1])
        a2, a3 = max(a2, values[b + 2]), max(a3, values[b + 3])
    for b in range(fours, n_places):
        a0 = max(a0, values[b])
    return max(max(a0, a1), max(a2, a3))


@kernel
def middle_place(gains, n_places, least):
    """The middle of the first run of gains that are at ``least`` so high."""
    first = 0
    while first < n_places - 1 and gains[first] < least:
        first += 1
    last = first
    while last < n_places - 1 and gains[last + 1] >= least:
        last += 1
    return first + (last - first + 1) // 2


@kernel
def noisy_place(gains, n_places, tie, scale, noise, values):
    """Of the places that gain anything, the one with the highest sum of gain and noise."""
    for b in range(n_places):
        values[b] = gains[b] + scale * noise[b] if gains[b] > tie else -np.inf
    best, place = highest(values, n_places), 0
    while values[place] < best:
        place += 1
    return place


@kernel
def choose_place(gains, n_places, worth, noise, values):
    """The place to split at: (what it is chosen by, its gain, place), by the gain alone if there is no ``noise``.

    Noise of size s moves the root of what the nodes are worth after the split by s / 2. Among the column's places each
    has noise of its own; among columns, the last of the window is the column's: if it kept the noise of its best place,
    the highest of many, columns with many places would win. ``values`` is room. A place that splits nothing off gains
    what rounding has left of sums as large as the best gain: noise must not choose it.
    """
    tie = TIE * worth
    best = highest(gains, n_places)
    if best <= tie:  # what rounding has left of nothing
        return -np.inf, 0.0, 0
    if noise.shape[0] == 0:
        return best, best, middle_place(gains, n_places, best - tie)
    scale = np.sqrt(worth + best)
    place = noisy_place(gains, n_places, TIE * (worth + best), scale, noise, values)
    return gains[place] + scale * noise[noise.shape[0] - 1], gains[place], place


@kernel
def bins_of_column(column, table, form):
    """Where the words of a column's bins begin and end in a histogram."""
    return np.int64(table.offsets[column]) * form.n_words, np.int64(table.offsets[column + 1]) * form.n_words


@kernel
def order_categories(histograms, column, table, form, score, noise, room):
    """Codes of a categorical column sorted by their mean score over all nodes, plus noise of its standard error.

    A category of few rows may then go to either side: its effect is not known.
    """
    begin, end = bins_of_column(column, table, form)
    sums = room.sums
    n_codes = (end - begin) // form.n_words
    all_nodes = np.zeros(end - begin, np.int64)
    for node in range(histograms.shape[0]):
        all_nodes += histograms[node, begin:end]
    means = np.empty(n_codes)
    sum_codes(all_nodes, form.n_words, form.count_bits, form.units, room.running, sums)
    for b in range(n_codes):
        above = sums[SCORES + score, b]
        weight = sums[WEIGHT, b]
        if b > 0:
            above -= sums[SCORES + score, b - 1]
            weight -= sums[WEIGHT, b - 1]
        means[b] = above / (weight + RARE)
        if noise.shape[0] > 0:
            means[b] += noise[noise.shape[0] - 2 - b] / np.sqrt(weight + RARE)
    return np.argsort(means)


@kernel
def reorder_codes(histogram, order, n_words, out):
    """Copy the histogram of a categorical column with its codes in another order."""
    for b in range(order.shape[0]):
        for f in range(n_words):
            out[b * n_words + f] = histogram[order[b] * n_words + f]


@kernel
def search_numbers(histograms, counts, column, table, rules, form, noise, room):
    """Best split of one numeric column for the sum of all nodes, which have ``counts`` rows.

    Returns the value that it is chosen by, its gain, the last code on the left and whether missing values go left.
    """
    begin, end = bins_of_column(column, table, form)
    n_words, count_bits, units, l2 = form.n_words, form.count_bits, form.units, rules.l2
    has_missing, constraint, min_rows = table.has_missing[column], rules.constraints[column], rules.min_rows
    running, sums, total, work, gains = room.running, room.sums, room.total, room.work, room.gains
    n_codes = (end - begin) // n_words
    n_places = n_codes - 1 if has_missing else n_codes - 2
    gains[:, :n_codes] = 0.0
    worth = 0.0
    jumps = gains[2]
    is_plain = n_words == 1 and not has_missing and min_rows <= 1 and constraint == 0
    for node in range(histograms.shape[0]):
        histogram = histograms[node, begin:end]
        if is_plain:
            if counts[node] * SPARSE >= n_codes:
                worth += add_packed_gains(histogram, count_bits, units, n_places, l2, running, gains[0])
            elif counts[node] > 0:
                worth += add_sparse_gains(histogram, count_bits, units, n_places, l2, jumps)
            continue
        sum_codes(histogram, n_words, count_bits, units, running, sums)
        if sums[COUNT, n_codes - 1] == 0.0:
            continue
        total[:] = sums[:, n_codes - 1]
        worth += add_gains(sums, total, n_places, l2, min_rows, constraint, work, gains[0])
        if has_missing:
            for k in range(sums.shape[0]):
                lacking = total[k] - sums[k, n_codes - 2]
                for b in range(n_places):
                    sums[k, b] += lacking
            add_gains(sums, total, n_places - 1, l2, min_rows, constraint, work, gains[1])
    if is_plain:
        gain = 0.0
        for b in range(n_places):
            gain += jumps[b]
            gains[0, b] += gain
    value, gain, place = choose_place(gains[0], n_places, worth, noise, gains[2])
    side = 0
    if has_missing:
        other = choose_place(gains[1], n_places - 1, worth, noise, gains[2])
        if other[0] > value + TIE * worth:
            value, gain, place = other
            side = 1
    return value, gain, place, side


@kernel
def search_categories(histograms, column, table, rules, form, noise, room):
    """Best split of one categorical column for the sum of all nodes.

    Returns the value that it is chosen by, its gain, the place in the order of codes and the score that orders them.
    """
    begin, end = bins_of_column(column, table, form)
    n_words, l2, min_rows = form.n_words, rules.l2, rules.min_rows
    sums, total, gains = room.sums, room.total, room.gains
    n_codes = (end - begin) // n_words
    reordered = np.empty(end - begin, np.int64)
    best, best_gain, best_place, best_score = -np.inf, 0.0, 0, 0
    for score in range(min(sums.shape[0] - SCORES, MAX_ORDERS)):
        order = order_categories(histograms, column, table, form, score, noise, room)
        gains[0, :n_codes] = 0.0
        worth = 0.0
        for node in range(histograms.shape[0]):
            reorder_codes(histograms[node, begin:end], order, n_words, reordered)
            sum_codes(reordered, n_words, form.count_bits, form.units, room.running, sums)
            if sums[COUNT, n_codes - 1] > 0.0:
                total[:] = sums[:, n_codes - 1]
                worth += add_gains(sums, total, n_codes - 1, l2, min_rows, FREE, room.work, gains[0])
        value, gain, place = choose_place(gains[0], n_codes - 1, worth, noise, gains[2])
        if value > best + TIE * worth:
            best, best_gain, best_place, best_score = value, gain, place, score
    return best, best_gain, best_place, best_score


@kernel
def noise_window(noise, column, row):
    """The noise of one column and node; it is empty where there is none."""
    begin = (noise.windows[column] + row * NEXT_WINDOW) % NOISE_LENGTH
    return noise.numbers[begin : begin + 256]


@kernel
def search_columns(histograms, counts, first_column, last_column, table, rules, form, noise, best):
    """Write the best split of some columns to ``best``: for all nodes together if symmetric, else for each node.

    ``counts`` are the rows of each node.
    """
    n_nodes = histograms.shape[0]
    room = make_search_buffers(form)
    for column in range(first_column, last_column):
        begin, end = bins_of_column(column, table, form)
        for row in range(1 if rules.symmetric else n_nodes):
            first, last = (0, n_nodes) if rules.symmetric else (row, row + 1)
            own, own_counts = histograms[first:last], counts[first:last]
            own_noise = noise_window(noise, column, row)
            if table.is_categorical[column]:
                result = search_categories(own, column, table, rules, form, own_noise, room)
            elif end - begin < (2 if table.has_missing[column] else 3) * form.n_words:
                result = (-np.inf, 0.0, 0, 0)
            else:
                result = search_numbers(own, own_counts, column, table, rules, form, own_noise, room)
            best.values[row, column], best.gains[row, column] = result[0], result[1]
            best.places[row, column], best.sides[row, column] = result[2], result[3]


@kernel
def unpack_rows(level, form, parts):
    """Write the two scores and the weight of each row of packed values to ``parts[row]``."""
    rows, values, units = level.rows, level.values, form.units
    for i in range(rows.shape[0]):
        n, score_1, score_2 = packed_parts(values[i, 0], form.count_bits, units[SCORES], units[SCORES + 1])
        row = rows[i]
        parts[row, 0], parts[row, 1], parts[row, 2] = score_1, score_2, n


@kernel
def sum_nodes(rows, bounds, parts, l2, totals):
    """Write each node's sums of ``parts``, and what the node is worth; return what all nodes are worth."""
    worth = 0.0
    for node in range(bounds.shape[0] - 1):
        s_1, s_2, n = 0.0, 0.0, 0.0
        for i in range(bounds[node], bounds[node + 1]):
            row = rows[i]
            s_1, s_2, n = s_1 + parts[row, 0], s_2 + parts[row, 1], n + parts[row, 2]
        totals[node, 0], totals[node, 1], totals[node, 2] = s_1, s_2, n
        totals[node, 3] = (s_1 * s_1 + s_2 * s_2) / (n + l2)
        worth += totals[node, 3]
    return worth


@kernel
def move_left(row, node, parts, totals, l2, left):
    """Move a row to the left side of its node; return by how much what the two sides are worth grows.

    ``left[node]`` has the sums of the left side, and what both sides were worth before.
    """
    s_1, s_2, n = left[node, 0] + parts[row, 0], left[node, 1] + parts[row, 1], left[node, 2] + parts[row, 2]
    r_1, r_2 = totals[node, 0] - s_1, totals[node, 1] - s_2
    on_left, on_right = n + l2, totals[node, 2] - n + l2
    worth = ((s_1 * s_1 + s_2 * s_2) * on_right + (r_1 * r_1 + r_2 * r_2) * on_left) / (on_left * on_right)
    more = worth - left[node, 3]
    left[node, 0], left[node, 1], left[node, 2], left[node, 3] = s_1, s_2, n, worth
    return more


@kernel
def sorted_gains(order, codes, n_present, n_places, sums, l2, gain, gains):
    """Write to ``gains[b]`` what is gained, over all nodes, by sending codes up to b left.

    ``order`` has the rows by their code. The rows from ``n_present`` on, which lack the value, stay where they are: on
    the right, unless they have been moved to ``sums.left``; ``gain`` is the gain of that move.
    """
    nodes, parts, totals, left = sums.nodes, sums.parts, sums.totals, sums.left
    gains[: n_places + 1] = np.nan  # codes without rows gain what those before them do
    before = gain
    for i in range(np.uint64(n_present)):
        row = np.uint64(order[i])
        gain += move_left(row, np.uint64(nodes[row]), parts, totals, l2, left)
        gains[np.uint64(codes[i])] = gain
    for b in range(n_places):
        before = before if np.isnan(gains[b]) else gains[b]
        gains[b] = before


@kernel
def search_sorted_rows(table, level, rules, noise, sums, best):
    """As ``search_columns`` of a symmetric tree, for numeric columns of packed tables without conditions.

    Instead of the bins of every node, it reads the rows of every column, sorted by code: each moves to the left side of
    its node in turn. Rows of no node have one of their own, the last of ``sums.totals``, where they count nothing.
    """
    l2, nodes, parts, totals, left = rules.l2, sums.nodes, sums.parts, sums.totals, sums.left
    worth = sum_nodes(level.rows, level.bounds, parts, l2, totals)
    gains, room = np.empty(256), np.empty(256)
    for column in range(table.n_codes.shape[0]):
        order, codes = table.sorted_rows[column], table.sorted_codes[column]
        n_codes, has_missing = table.n_codes[column], table.has_missing[column]
        n_places = n_codes - 1 if has_missing else n_codes - 2
        best.values[0, column], best.gains[0, column] = -np.inf, 0.0
        best.places[0, column], best.sides[0, column] = 0, 0
        if n_places < 1:
            continue
        n_present = np.int64(order.shape[0])
        while n_present > 0 and codes[n_present - 1] == n_codes - 1:
            n_present -= 1
        own_noise = noise_window(noise, column, 0)
        for side in range(2 if has_missing else 1):
            left[:, :3] = 0.0
            left[:, 3] = totals[:, 3]
            gain = 0.0
            for i in range(n_present if side == 1 else order.shape[0], order.shape[0]):
                gain += move_left(order[i], nodes[order[i]], parts, totals, l2, left)
            sorted_gains(order, codes, n_present, n_places, sums, l2, gain, gains)
            value, gain, place = choose_place(gains, n_places - side, worth, own_noise, room)
            if side == 0 or value > best.values[0, column] + TIE * worth:
                best.values[0, column], best.gains[0, column] = value, gain
                best.places[0, column], best.sides[0, column] = place, side


@kernel
def count_mask(form):
    """The bits of a row's (or a sum's) first word that hold the count."""
    return (np.int64(1) << form.count_bits) - 1 if form.n_words == 1 else np.int64(-1)


@kernel
def count_rows(histograms, begin, end, form):
    """Rows of all nodes in the bins whose words are ``begin`` to ``end``, by weight where weights are packed."""
    mask = count_mask(form)
    total = np.int64(0)
    for node in range(histograms.shape[0]):
        words = np.int64(0)
        for b in range(begin, end, form.n_words):
            words += histograms[node, b]
        total += words & mask
    return total


@kernel
def send_absent_codes(running, table):
    """Send codes without rows, according to the ``running`` counts, with the larger side."""
    n_codes = running.shape[0]
    on_left = 0.0
    for b in range(n_codes):
        if table[b] == 0:
            on_left += running[b] - (running[b - 1] if b > 0 else 0.0)
    absent = 0 if 2.0 * on_left >= running[n_codes - 1] else 1
    for b in range(n_codes):
        if running[b] == (running[b - 1] if b > 0 else 0.0):
            table[b] = absent


@kernel
def best_column(best, row):
    """The column with the highest value; of columns that tie, the first."""
    column = 0
    for j in range(1, best.gains.shape[1]):
        value, highest_value = best.values[row, j], best.values[row, column]
        if highest_value == -np.inf or value > highest_value + TIE * abs(highest_value):
            column = j
    return column


@kernel
def send_numbers(histograms, column, table, form, place, missing_left, goes_right):
    """Write which codes of a numeric column go right; return whether missing values go left.

    Missing values that no row of the nodes has go with the larger side.
    """
    begin, end = bins_of_column(column, table, form)
    n_words = form.n_words
    goes_right[place + 1 :] = 1
    after, missing = begin + (place + 1) * n_words, end - n_words
    if count_rows(histograms, missing, end, form) == 0:
        on_left = count_rows(histograms, begin, after, form)
        missing_left = on_left >= count_rows(histograms, after, missing, form)
    goes_right[(end - begin) // n_words - 1] = 0 if missing_left else 1
    return missing_left


@kernel
def choose_splits(histograms, table, rules, form, noise, best, splits):
    """Take the best column of each row of ``best``; write the splits of the level.

    Rows without a column that gains anything keep feature -1: everything goes left. Missing values and categories that
    no row of the node has go with the larger side.
    """
    room = make_search_buffers(form)
    n_nodes = histograms.shape[0]
    for row in range(1 if rules.symmetric else n_nodes):
        splits.features[row] = -1
        splits.codes[row] = 0
        splits.missing_left[row] = False
        splits.gains[row] = 0.0
        splits.tables[row] = 0
        column = best_column(best, row)
        if best.gains[row, column] <= 0.0:
            continue
        place, side = best.places[row, column], best.sides[row, column]
        splits.features[row], splits.codes[row], splits.gains[row] = column, place, best.gains[row, column]
        goes_right = splits.tables[row]
        first, last = (0, n_nodes) if rules.symmetric else (row, row + 1)
        own = histograms[first:last]
        if table.is_categorical[column]:
            order = order_categories(own, column, table, form, side, noise_window(noise, column, row), room)
            n_codes = order.shape[0]
            for b in range(place + 1, n_codes):
                goes_right[order[b]] = 1
            send_absent_codes(room.sums[COUNT, :n_codes], goes_right)
            splits.missing_left[row] = goes_right[n_codes - 1] == 0
        else:
            splits.missing_left[row] = send_numbers(own, column, table, form, place, side == 1, goes_right)


@kernel
def partition_node(column, shift, table, rows, values, start, stop, new_rows, new_values):
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
def partition_level(table, rules, form, level, splits, children):
    """Write the rows of the children of each node to ``children``; ``splits.kept`` marks nodes that are not split.

    A node that would get a child with rows, but fewer than ``rules.min_rows``, keeps all its rows on the left.
    """
    rows, values, bounds, kept = level.rows, level.values, level.bounds, splits.kept
    new_rows, new_values, new_bounds = children.rows, children.values, children.bounds
    n_nodes, mask = bounds.shape[0] - 1, count_mask(form)
    for node in range(n_nodes):
        start, stop = bounds[node], bounds[node + 1]
        split = 0 if rules.symmetric else node
        feature, goes_right = splits.features[split], splits.tables[split]
        kept[node] = feature < 0
        left = stop
        if feature >= 0:
            column, shift = table.words[feature // 8], np.uint64(8 * (feature % 8))
            left = partition_node(column, shift, goes_right, rows, values, start, stop, new_rows, new_values)
            if rules.min_rows > 1:
                rows_left, rows_right = 0, 0
                for i in range(start, left):
                    rows_left += new_values[i, 0] & mask
                for i in range(left, stop):
                    rows_right += new_values[i, 0] & mask
                kept[node] = (0 < rows_left < rules.min_rows) or (0 < rows_right < rules.min_rows)
        if kept[node]:
            new_rows[start:stop] = rows[start:stop]
            new_values[start:stop] = values[start:stop]
            left = stop
        new_bounds[2 * node] = start
        new_bounds[2 * node + 1] = left
    new_bounds[2 * n_nodes] = bounds[n_nodes]


@kernel
def write_leaves(rows, bounds, leaves):
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


@kernel
def search_level_of_sorted_rows(is_first, table, rules, form, level, noise, buffers):
    """Find the best split of each column from sorted rows; the first such level unpacks the rows' statistics."""
    sums = buffers.sums
    if is_first:
        sums.nodes[:] = sums.totals.shape[0] - 1
        sums.totals[:] = 0.0
        sums.parts[:] = 0.0
        unpack_rows(level, form, sums.parts)
    write_leaves(level.rows, level.bounds, sums.nodes)
    search_sorted_rows(table, level, rules, noise, sums, buffers.best)


@kernel
def grow_levels(table, rules, form, noise, buffers, tree, first_level, last_level, sorted_level):
    """Grow some levels of a tree in one call: histograms, splits and partition of each.

    From ``sorted_level`` on, sorted rows are read instead of histograms; the first histogram, of all nodes together, is
    then kept in the last slot.
    """
    n_groups, n_columns = table.words.shape[0], table.offsets.shape[0] - 1
    for depth in range(first_level, last_level):
        level, splits = rows_of_level(buffers, depth), splits_of_level(tree, depth, rules.symmetric)
        own_noise = SplitNoise(numbers=noise.numbers, windows=noise.windows[depth])
        if depth >= sorted_level:
            search_level_of_sorted_rows(depth == sorted_level, table, rules, form, level, own_noise, buffers)
            histograms = buffers.histograms[buffers.histograms.shape[0] - 1 :]
        else:
            histograms = buffers.histograms[: 1 << depth]
            if depth == 0:
                build_root(table, START, n_groups, level, histograms)
                if sorted_level < last_level:
                    buffers.histograms[buffers.histograms.shape[0] - 1] = histograms[0]
            else:
                build_level(table, START, n_groups, level, histograms)
            counts = level.bounds[1:] - level.bounds[:-1]
            search_columns(histograms, counts, START, n_columns, table, rules, form, own_noise, buffers.best)
        choose_splits(histograms, table, rules, form, own_noise, buffers.best, splits)
        partition_level(table, rules, form, level, splits, rows_of_level(buffers, depth + 1))
