"""The best split of a level's nodes, from their histograms.

A side with the score sums S_k and the weight n is worth ``sum of S_k**2 / (n + l2)``; a split gains what its two sides
are worth more than the node. A symmetric tree has one split for all nodes of a level, chosen by the sum of their gains;
a depthwise tree one for each node.
"""

import numpy as np

from surefoot._jit import kernel

TIE = 1e-12  # gains this close, relative to what the node is worth, are one gain: the first column wins
MOST_ORDERS = 8  # categories are sorted by each score in turn, but by no more than these
SPARSE = 4  # a node with fewer rows than a column has codes, by this factor, is searched code by code that has rows
RARE = 10.0  # a category's mean score is drawn to zero as if it had so many rows more
COUNT, WEIGHT, SCORES = 0, 1, 2  # rows of the array of sums


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
    bits = (64 - count_bits) // 2
    spare = 64 - bits
    mask = (np.int64(1) << count_bits) - 1
    count, weight, first = sums[COUNT], sums[WEIGHT], sums[SCORES]
    second = sums[sums.shape[0] - 1]
    unit_1, unit_2 = units[SCORES], units[SCORES + 1]
    for b in range(n_codes):
        n = float(running[b] & mask)
        count[b] = n
        weight[b] = n
        fields = running[b] >> count_bits
        low = (fields << spare) >> spare
        second[b] = float(low) * unit_2  # with one score it is the first, written after it
        first[b] = float((fields - low) >> bits) * unit_1


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
def add_sparse_gains(histogram, count_bits, units, n_places, l2, jumps):
    """As ``add_gains``, for packed sums of a node with few rows: gains change only at codes that have rows.

    Adds to ``jumps[b]`` by how much the gain changes there. Returns what the node is worth.
    """
    bits = (64 - count_bits) // 2
    spare = 64 - bits
    mask = (np.int64(1) << count_bits) - 1
    unit_1, unit_2 = units[SCORES], units[SCORES + 1]
    whole = np.int64(0)
    for b in range(histogram.shape[0]):
        whole += histogram[b]
    fields = whole >> count_bits
    low = (fields << spare) >> spare
    all_rows, all_1, all_2 = float(whole & mask), float((fields - low) >> bits) * unit_1, float(low) * unit_2
    worth = (all_1 * all_1 + all_2 * all_2) / (all_rows + l2)
    before = 0.0
    sums = np.int64(0)
    for b in range(n_places):
        if histogram[b] != 0:
            sums += histogram[b]
            fields = sums >> count_bits
            low = (fields << spare) >> spare
            n = float(sums & mask)
            g_1, g_2 = float((fields - low) >> bits) * unit_1, float(low) * unit_2
            r_1, r_2 = all_1 - g_1, all_2 - g_2
            on_left, on_right = n + l2, all_rows - n + l2
            worth_left, worth_right = g_1 * g_1 + g_2 * g_2, r_1 * r_1 + r_2 * r_2
            gain = (worth_left * on_right + worth_right * on_left) / (on_left * on_right) - worth
            jumps[b] += gain - before
            before = gain
    return worth


@kernel
def highest_place(gains, n_places, tie, within):
    """The highest gain and where it is; of a run of equal ones the place ``within`` it (0 to 1): 0.5 is mid-gap."""
    best = -1.0
    for b in range(n_places):
        best = max(best, gains[b])
    first = 0
    while first < n_places - 1 and gains[first] < best - tie:
        first += 1
    last = first
    while last < n_places - 1 and gains[last + 1] >= best - tie:
        last += 1
    return best, first + int(within * (last - first + 1))


@kernel
def order_categories(histograms, first_node, last_node, begin, end, n_words, count_bits, units, score, running, sums):
    """Codes of a categorical column sorted by their mean score over some nodes."""
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
    counts, within, running, sums, total, work, gains,
):  # fmt: skip
    """Best split of one numeric column for the sum of some nodes: (gain, last code on the left, missing left?)."""
    n_codes = (end - begin) // n_words
    n_places = n_codes - 1 if has_missing else n_codes - 2
    gains[:, :n_codes] = 0.0
    worth = 0.0
    jumps = gains[2]
    can_skip = n_words == 1 and not has_missing and least <= 1.0 and constraint == 0
    for node in range(first_node, last_node):
        if can_skip and counts[node] * SPARSE < n_codes:
            if counts[node] > 0:
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
    if can_skip:
        gain = 0.0
        for b in range(n_places):
            gain += jumps[b]
            gains[0, b] += gain
    tie = TIE * worth
    best, place = highest_place(gains[0], n_places, tie, within)
    side = 0
    if has_missing:
        other, other_place = highest_place(gains[1], n_places - 1, tie, within)
        if other > best + tie:
            best, place, side = other, other_place, 1
    if best <= tie:  # what rounding has left of nothing
        return -1.0, 0, 0
    return best, place, side


@kernel
def search_categories(
    histograms, first_node, last_node, begin, end, n_words, count_bits, units, l2, least, running, sums, total, work,
    gains,
):  # fmt: skip
    """Best split of one categorical column: (gain, place in the order of codes, score that the order is by)."""
    n_codes = (end - begin) // n_words
    laid = np.empty(end - begin, np.int64)
    best, best_place, best_score = -1.0, 0, 0
    for score in range(min(sums.shape[0] - SCORES, MOST_ORDERS)):
        order = order_categories(
            histograms, first_node, last_node, begin, end, n_words, count_bits, units, score, running, sums
        )
        gains[0, :n_codes] = 0.0
        worth = 0.0
        for node in range(first_node, last_node):
            lay_in_order(histograms[node, begin:end], order, n_words, laid)
            sum_codes(laid, n_words, count_bits, units, running, sums)
            if sums[COUNT, n_codes - 1] > 0.0:
                total[:] = sums[:, n_codes - 1]
                worth += add_gains(sums, total, n_codes - 1, l2, least, 0, work, gains[0])
        gain, place = highest_place(gains[0], n_codes - 1, TIE * worth, 0.0)
        if gain > max(best, 0.0) + TIE * worth:
            best, best_place, best_score = gain, place, score
    return best, best_place, best_score


@kernel
def search_columns(
    histograms, n_nodes, shared, first_column, last_column, offsets, has_missing, is_categorical, constraints,
    n_words, n_scores, count_bits, units, l2, least, counts, chances, gains, places, sides,
):  # fmt: skip
    """Write each column's best split: for all nodes together (row 0 of the outputs) or for each node (one row each).

    ``chances[1]`` says where in a run of equal gains each column's threshold goes.
    ``places`` is the last code on the left (categories: the last place in their order); ``sides`` says whether missing
    values go left (categories: by which score they are ordered).
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
            if is_categorical[column]:
                found = search_categories(
                    histograms, first, last, begin, end, n_words, count_bits, units, l2, least, running, sums, total,
                    work, scratch,
                )  # fmt: skip
            elif end - begin < (2 if has_missing[column] else 3) * n_words:
                found = (-1.0, 0, 0)
            else:
                found = search_numbers(
                    histograms, first, last, begin, end, n_words, count_bits, units, has_missing[column], l2, least,
                    constraints[column], counts, chances[1, column], running, sums, total, work, scratch,
                )  # fmt: skip
            gains[row, column], places[row, column], sides[row, column] = found


@kernel
def count_rows(histograms, first_node, last_node, begin, n_codes, n_words, count_bits):
    """Rows of some nodes with one of a column's first codes, by weight where weights are packed."""
    mask = (np.int64(1) << count_bits) - 1 if n_words == 1 else np.int64(-1)
    total = np.int64(0)
    for node in range(first_node, last_node):
        histogram = histograms[node, begin : begin + n_codes * n_words]
        words = np.int64(0)
        for b in range(n_codes):
            words += histogram[b * n_words]
        total += words & mask
    return total


@kernel
def choose_splits(
    histograms, n_nodes, shared, offsets, has_missing, is_categorical, n_words, n_scores, count_bits, units, chances,
    gains, places, sides, features, codes, missing_left, split_gains, tables,
):  # fmt: skip
    """Take the best column of each row of ``gains``, times ``chances[0]``; write the splits, and in ``tables`` the
    codes that go right.

    Rows without a column that gains anything keep feature -1: everything goes left. Where no training row lacked the
    column's value, missing values go with the larger side.
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
            if gains[row, j] * chances[0, j] > gains[row, column] * chances[0, column] * (1.0 + TIE):
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
                histograms, first, last, begin, end, n_words, count_bits, units, sides[row, column], running, sums
            )
            table[n_codes:] = 0
            for b in range(places[row, column] + 1, n_codes):
                table[order[b]] = 1
            missing_left[row] = table[n_codes - 1] == 0
            continue
        table[places[row, column] + 1 :] = 1
        missing_left[row] = sides[row, column] == 1
        on_both = count_rows(histograms, first, last, begin, n_codes, n_words, count_bits)
        if on_both == count_rows(histograms, first, last, begin, n_codes - 1, n_words, count_bits):
            on_left = count_rows(histograms, first, last, begin, places[row, column] + 1, n_words, count_bits)
            missing_left[row] = 2 * on_left >= on_both
        table[n_codes - 1] = 0 if missing_left[row] else 1
