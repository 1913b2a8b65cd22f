"""The passes over rows and bins that grow the levels of a tree.

*Histograms*: sums of the rows' gradients, bin by bin, for the nodes of one level. A row's statistics are whole numbers,
so sums do not depend on the order of the rows, nor on the number of threads. They are one 64-bit word where they fit
(``packed.py`` says how), else several words side by side. The children of a node share its rows: the smaller one is
added up, the larger is what remains of the parent.

*Splits*: a side with the score sums S_k and the weight n is worth ``sum of S_k**2 / (n + l2)``; a split gains what its
two sides are worth more than the node. A symmetric tree has one split for all nodes of a level, chosen by the sum of
their gains; a depthwise tree one for each node.

Small tables have more bins than rows, once there are a few nodes. There the rows themselves are read, column by column
in the order of their codes, and no histograms are made: see ``search_sorted_rows``.

*Partition*: the rows of each node, left ones first. Indices are unsigned wherever a loop runs over rows: a signed one
would be checked for wrapping around.

Kernels that call each other have to share a file; this one is long for that reason alone.
"""

import numpy as np

from surefoot._jit import kernel

TIE = 1e-12  # gains this close, relative to what the node is worth, are one gain: the first column wins
MOST_ORDERS = 8  # categories are sorted by each score in turn, but by no more than these
SPARSE = 4  # a node with fewer rows than a column has codes, by this factor, is searched code by code that has rows
NOISE_LENGTH = 4096  # noise is read from one of so many places on
NEXT_WINDOW = 257  # how far apart two nodes begin to read
RARE = 10.0  # a category's mean score is drawn to zero as if it had so many rows more
COUNT, WEIGHT, SCORES = 0, 1, 2  # rows of the array of sums
START = FREE = np.int64(0)  # first place, no constraint; for a literal 0, kernels would be compiled once more
BYTE, BITS, ONE = np.uint64(255), np.uint64(8), np.uint64(1)
LARGE = 2.0**52  # floats from here to twice as much are the whole numbers
DIGITS = np.float64(LARGE).view(np.uint64)  # its bits: those of a number that is added are the last of them


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
def build_root(words, first_group, last_group, rows, values, offsets, histograms):
    """Write the histogram of all ``rows`` to slot 0, for the columns of some groups."""
    n_words = values.shape[1]
    sums = np.empty(8 * 256 * n_words, np.int64)
    for group in range(first_group, last_group):
        columns = offsets[8 * group : min(8 * group + 9, offsets.shape[0])].astype(np.int64)
        sum_rows(words[group], rows, values, START, rows.shape[0], columns[1:] - columns[:-1], sums)
        for k in range(columns.shape[0] - 1):
            begin, end = columns[k] * n_words, columns[k + 1] * n_words
            histograms[0, begin:end] = sums[256 * k * n_words : 256 * k * n_words + end - begin]


@kernel
def build_level(words, first_group, last_group, rows, values, bounds, offsets, histograms):
    """Replace the histograms of a level's nodes (slot p) by those of their children (slots 2p and 2p + 1).

    ``bounds`` are those of the children: child c has the rows ``bounds[c]`` to ``bounds[c + 1]``. Parents are visited
    from the last to the first, so that no child's slot is written before the parent that lies there has been read.
    """
    n_words = values.shape[1]
    sums = np.empty(8 * 256 * n_words, np.int64)
    for group in range(first_group, last_group):
        columns = offsets[8 * group : min(8 * group + 9, offsets.shape[0])].astype(np.int64)
        bins = columns[1:] - columns[:-1]
        for parent in range(bounds.shape[0] // 2 - 1, -1, -1):
            left = 2 * parent
            n_left = bounds[left + 1] - bounds[left]
            n_right = bounds[left + 2] - bounds[left + 1]
            small = left if n_left < n_right else left + 1
            sum_rows(words[group], rows, values, bounds[small], bounds[small + 1], bins, sums)
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
def order_categories(
    histograms, first_node, last_node, begin, end, n_words, count_bits, units, score, noise, running, sums
):
    """Codes of a categorical column sorted by their mean score over some nodes, each with noise of its standard error.

    A category of few rows then goes with one side or the other: what it does is not known.
    """
    n_codes = (end - begin) // n_words
    all_nodes = np.zeros(end - begin, np.int64)
    for node in range(first_node, last_node):
        all_nodes += histograms[node, begin:end]
    means = np.empty(n_codes)
    sum_codes(all_nodes, n_words, count_bits, units, running, sums)
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
def lay_in_order(histogram, order, n_words, out):
    """Copy the histogram of a categorical column with its codes in another order."""
    for b in range(order.shape[0]):
        for f in range(n_words):
            out[b * n_words + f] = histogram[order[b] * n_words + f]


@kernel
def search_numbers(
    histograms, first_node, last_node, begin, end, n_words, count_bits, units, has_missing, l2, least, constraint,
    counts, noise, running, sums, total, work, gains,
):  # fmt: skip
    """Best split of one numeric column for the sum of some nodes.

    Returns what it is chosen by, its gain, the last code on the left and whether missing values go left.
    """
    n_codes = (end - begin) // n_words
    n_places = n_codes - 1 if has_missing else n_codes - 2
    gains[:, :n_codes] = 0.0
    worth = 0.0
    jumps = gains[2]
    is_plain = n_words == 1 and not has_missing and least <= 1.0 and constraint == 0
    for node in range(first_node, last_node):
        if is_plain:
            if counts[node] * SPARSE >= n_codes:
                worth += add_packed_gains(
                    histograms[node, begin:end], count_bits, units, n_places, l2, running, gains[0]
                )
            elif counts[node] > 0:
                worth += add_sparse_gains(histograms[node, begin:end], count_bits, units, n_places, l2, jumps)
            continue
        sum_codes(histograms[node, begin:end], n_words, count_bits, units, running, sums)
        if sums[COUNT, n_codes - 1] == 0.0:
            continue
        total[:] = sums[:, n_codes - 1]
        worth += add_gains(sums, total, n_places, l2, least, constraint, work, gains[0])
        if has_missing:
            for k in range(sums.shape[0]):
                lacking = total[k] - sums[k, n_codes - 2]
                for b in range(n_places):
                    sums[k, b] += lacking
            add_gains(sums, total, n_places - 1, l2, least, constraint, work, gains[1])
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
def search_categories(
    histograms, first_node, last_node, begin, end, n_words, count_bits, units, l2, least, noise, running, sums, total,
    work, gains,
):  # fmt: skip
    """Best split of one categorical column.

    Returns what it is chosen by, its gain, the place in the order of codes and the score that the order is by.
    """
    n_codes = (end - begin) // n_words
    laid = np.empty(end - begin, np.int64)
    best, best_gain, best_place, best_score = -np.inf, 0.0, 0, 0
    for score in range(min(sums.shape[0] - SCORES, MOST_ORDERS)):
        order = order_categories(
            histograms, first_node, last_node, begin, end, n_words, count_bits, units, score, noise, running, sums
        )
        gains[0, :n_codes] = 0.0
        worth = 0.0
        for node in range(first_node, last_node):
            lay_in_order(histograms[node, begin:end], order, n_words, laid)
            sum_codes(laid, n_words, count_bits, units, running, sums)
            if sums[COUNT, n_codes - 1] > 0.0:
                total[:] = sums[:, n_codes - 1]
                worth += add_gains(sums, total, n_codes - 1, l2, least, FREE, work, gains[0])
        value, gain, place = choose_place(gains[0], n_codes - 1, worth, noise, gains[2])
        if value > best + TIE * worth:
            best, best_gain, best_place, best_score = value, gain, place, score
    return best, best_gain, best_place, best_score


@kernel
def noise_window(noise, first, row):
    """The noise of one column and node; there may be none."""
    begin = (first + row * NEXT_WINDOW) % NOISE_LENGTH
    return noise[begin : begin + 256]


@kernel
def search_columns(
    histograms, n_nodes, shared, first_column, last_column, offsets, has_missing, is_categorical, constraints,
    n_words, n_scores, count_bits, units, l2, least, counts, noise, windows, values, gains, places, sides,
):  # fmt: skip
    """Write each column's best split: for all nodes together (row 0 of the outputs) or for each node (one row each).

    ``values`` is what splits are to be chosen by: the gain, and noise that begins at ``windows[column]`` for a column's
    first place (none if ``noise`` is empty). ``places`` is the last code on the left (categories: the last place in
    their order); ``sides`` says whether missing values go left (categories: by which score they are ordered).
    """
    running = np.empty(256, np.int64)
    sums = np.empty((SCORES + n_scores, 256))
    total = np.empty(sums.shape[0])
    work = np.empty((2, 256))
    scratch = np.empty((3, 256))
    for column in range(first_column, last_column):
        begin, end = offsets[column] * np.uint64(n_words), offsets[column + 1] * np.uint64(n_words)
        begin, end = np.int64(begin), np.int64(end)
        for row in range(1 if shared else n_nodes):
            first, last = (0, n_nodes) if shared else (row, row + 1)
            own_noise = noise_window(noise, windows[column], row)
            if is_categorical[column]:
                found = search_categories(
                    histograms, first, last, begin, end, n_words, count_bits, units, l2, least, own_noise, running,
                    sums, total, work, scratch,
                )  # fmt: skip
            elif end - begin < (2 if has_missing[column] else 3) * n_words:
                found = (-np.inf, 0.0, 0, 0)
            else:
                found = search_numbers(
                    histograms, first, last, begin, end, n_words, count_bits, units, has_missing[column], l2, least,
                    constraints[column], counts, own_noise, running, sums, total, work, scratch,
                )  # fmt: skip
            values[row, column], gains[row, column], places[row, column], sides[row, column] = found


@kernel
def unpack_rows(rows, values, count_bits, units, parts):
    """Write the two scores and the weight of each row of packed ``values`` to ``parts[row]``."""
    for i in range(rows.shape[0]):
        n, score_1, score_2 = packed_parts(values[i, 0], count_bits, units[SCORES], units[SCORES + 1])
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
def sorted_gains(order, codes, nodes, parts, totals, l2, n_places, n_present, left, gain, gains):
    """Write to ``gains[b]`` what is gained, over all nodes, by sending codes up to b left.

    ``order`` has the rows by their code. The rows from ``n_present`` on, which lack the value, stay where they are: on
    the right, unless ``left`` has been told otherwise; ``gain`` is what that has gained.
    """
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
def search_sorted_rows(
    sorted_rows, sorted_codes, n_codes, has_missing, rows, bounds, nodes, parts, l2, noise, windows, totals, left,
    values, gains, places, sides,
):  # fmt: skip
    """As ``search_columns`` of a symmetric tree, for numeric columns of packed tables without conditions.

    Instead of the bins of every node, it reads the rows of every column, sorted by code: each moves to the left side of
    its node in turn. Rows of no node have one of their own, the last of ``totals``, where they count nothing.
    """
    worth = sum_nodes(rows, bounds, parts, l2, totals)
    found_gains, room = np.empty(256), np.empty(256)
    for column in range(n_codes.shape[0]):
        order, codes = sorted_rows[column], sorted_codes[column]
        n_places = n_codes[column] - 1 if has_missing[column] else n_codes[column] - 2
        values[0, column], gains[0, column], places[0, column], sides[0, column] = -np.inf, 0.0, 0, 0
        if n_places < 1:
            continue
        n_present = np.int64(order.shape[0])
        while n_present > 0 and codes[n_present - 1] == n_codes[column] - 1:
            n_present -= 1
        own_noise = noise_window(noise, windows[column], 0)
        for side in range(2 if has_missing[column] else 1):
            left[:, :3] = 0.0
            left[:, 3] = totals[:, 3]
            gain = 0.0
            for i in range(n_present if side == 1 else order.shape[0], order.shape[0]):
                gain += move_left(order[i], nodes[order[i]], parts, totals, l2, left)
            sorted_gains(order, codes, nodes, parts, totals, l2, n_places, n_present, left, gain, found_gains)
            found = choose_place(found_gains, n_places - side, worth, own_noise, room)
            if side == 0 or found[0] > values[0, column] + TIE * worth:
                values[0, column], gains[0, column], places[0, column] = found
                sides[0, column] = side


@kernel
def count_rows(histograms, first_node, last_node, begin, end, n_words, count_bits):
    """Rows of some nodes in the bins whose words are ``begin`` to ``end``, by weight where weights are packed."""
    mask = (np.int64(1) << count_bits) - 1 if n_words == 1 else np.int64(-1)
    total = np.int64(0)
    for node in range(first_node, last_node):
        words = np.int64(0)
        for b in range(begin, end, n_words):
            words += histograms[node, b]
        total += words & mask
    return total


@kernel
def send_absent(running, table):
    """Send codes without rows, to judge by the ``running`` counts, with the larger side."""
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
def choose_splits(
    histograms, n_nodes, shared, offsets, has_missing, is_categorical, n_words, n_scores, count_bits, units, noise,
    windows, values, gains, places, sides, features, codes, missing_left, split_gains, tables,
):  # fmt: skip
    """Take the best column of each row of ``values``; write the splits, and in ``tables`` the codes that go right.

    Rows without a column that gains anything keep feature -1: everything goes left. Missing values and categories that
    no row of the node has go with the larger side.
    """
    running = np.empty(256, np.int64)
    sums = np.empty((SCORES + n_scores, 256))
    for row in range(1 if shared else n_nodes):
        features[row] = -1
        codes[row] = 0
        missing_left[row] = False
        split_gains[row] = 0.0
        tables[row] = 0
        column = 0
        for j in range(1, gains.shape[1]):
            value, best = values[row, j], values[row, column]
            if best == -np.inf or value > best + TIE * abs(best):
                column = j
        if gains[row, column] <= 0.0:
            continue
        begin, end = np.int64(offsets[column]) * n_words, np.int64(offsets[column + 1]) * n_words
        n_codes = (end - begin) // n_words
        first, last = (0, n_nodes) if shared else (row, row + 1)
        features[row], codes[row], split_gains[row] = column, places[row, column], gains[row, column]
        table = tables[row]
        if is_categorical[column]:
            order = order_categories(
                histograms, first, last, begin, end, n_words, count_bits, units, sides[row, column],
                noise_window(noise, windows[column], row), running, sums,
            )  # fmt: skip
            table[n_codes:] = 0
            for b in range(places[row, column] + 1, n_codes):
                table[order[b]] = 1
            send_absent(sums[COUNT, :n_codes], table)
            missing_left[row] = table[n_codes - 1] == 0
            continue
        table[places[row, column] + 1 :] = 1
        missing_left[row] = sides[row, column] == 1
        after, missing = begin + (places[row, column] + 1) * n_words, end - n_words
        if count_rows(histograms, first, last, missing, end, n_words, count_bits) == 0:
            on_left = count_rows(histograms, first, last, begin, after, n_words, count_bits)
            missing_left[row] = on_left >= count_rows(histograms, first, last, after, missing, n_words, count_bits)
        table[n_codes - 1] = 0 if missing_left[row] else 1


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


@kernel
def grow_levels(
    words, offsets, has_missing, is_categorical, constraints, shared, l2, least, n_words, n_scores, count_bits,
    count_mask, units, noise, windows, rows, values, bounds, histograms, chosen_by, gains, places, sides, features,
    codes, missing_left, split_gains, tables, kept, first_level, last_level, sorted_level, sorted_rows, sorted_codes,
    n_codes, nodes, parts, totals, left,
):  # fmt: skip
    """Grow some levels of a tree in one call: histograms, splits and partition of each.

    ``rows`` and ``values`` hold two buffers each: a level reads one and writes the other. Splits are written at their
    level (``shared``) or at their node in heap order. From ``sorted_level`` on, sorted rows are read instead of
    histograms; the first histogram, of all nodes together, is then kept in the last slot.
    """
    n_groups = words.shape[0]
    n_columns = offsets.shape[0] - 1
    n_rows = bounds[0, 1]
    for level in range(first_level, last_level):
        n_nodes = 1 << level
        here, there = level % 2, 1 - level % 2
        first = level if shared else n_nodes - 1
        last = level + 1 if shared else 2 * n_nodes - 1
        limits = bounds[level, : n_nodes + 1]
        counts = limits[1:] - limits[:-1]
        now_rows, now_values = rows[here, :n_rows], values[here, :n_rows]
        n_slots, slots = n_nodes, histograms
        if level >= sorted_level:
            if level == sorted_level:
                nodes[:] = totals.shape[0] - 1
                totals[:] = 0.0
                parts[:] = 0.0
                unpack_rows(now_rows, now_values, count_bits, units, parts)
            note_leaves(now_rows, limits, nodes)
            search_sorted_rows(
                sorted_rows, sorted_codes, n_codes, has_missing, now_rows, limits, nodes, parts, l2, noise,
                windows[level], totals, left, chosen_by, gains, places, sides,
            )  # fmt: skip
            n_slots, slots = 1, histograms[histograms.shape[0] - 1 :]
        else:
            if level == 0:
                build_root(words, START, n_groups, now_rows, now_values, offsets, histograms)
                if sorted_level < last_level:
                    histograms[histograms.shape[0] - 1] = histograms[0]
            else:
                build_level(words, START, n_groups, now_rows, now_values, limits, offsets, histograms)
            search_columns(
                histograms, n_nodes, shared, START, n_columns, offsets, has_missing, is_categorical, constraints,
                n_words, n_scores, count_bits, units, l2, least, counts, noise, windows[level], chosen_by, gains,
                places, sides,
            )  # fmt: skip
        choose_splits(
            slots, n_slots, shared, offsets, has_missing, is_categorical, n_words, n_scores, count_bits, units,
            noise, windows[level], chosen_by, gains, places, sides, features[first:last], codes[first:last],
            missing_left[first:last], split_gains[first:last], tables[first:last],
        )  # fmt: skip
        part_level(
            words, now_rows, now_values, limits, shared, features[first:last],
            tables[first:last], least, count_mask, rows[there, :n_rows], values[there, :n_rows],
            bounds[level + 1, : 2 * n_nodes + 1], kept[n_nodes - 1 : 2 * n_nodes - 1],
        )  # fmt: skip
