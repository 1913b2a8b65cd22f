"""The passes over rows and bins that grow the levels of a tree.

*Histograms*: sums of gradients, bin by bin, for the nodes of one level. The statistics of a row are whole numbers, so
sums depend neither on the order of the rows nor on the number of threads. They are one 64-bit word where they fit (see
``packed_gradients.py``), else several words side by side. The rows of a node are divided between its children: only the
smaller child is summed, the larger is the difference from the parent.

*Splits*: a side with the score sums S_k and the weight n has the worth ``sum of S_k**2 / (n + l2)``; the gain of a
split is the worth of its two sides less that of the node. A symmetric tree has one split for all nodes of a level,
chosen by the sum of their gains; a depthwise tree has one for each node.

Small tables have more bins than rows, once there are a few nodes. At these levels the rows themselves are read, column
by column in the order of their codes, and no histograms are made: see ``search_sorted_rows``.

*Partition*: the rows of each node are reordered, left ones first. Indices are unsigned in every loop over rows: a
signed index would be checked for wrapping around.

*Parts*: several threads divide the rows among them. Each part has its own partition and its own histograms; these are
added up and searched. Only these sums and the splits pass between the parts, and sums of whole numbers do not depend on
how the rows are divided.

*Steps*: these threads stay in one call for a whole tree, because a call from Python costs as much as a level of a
table of middle size, and Python starts the threads one after the other. A tree is a list of steps, and each step is cut
into tasks. A thread takes one task after the other, first from its own queue, so that it finds in its cache what it
wrote before, then from the queues of others. Once all tasks of a step are taken, it waits until they are done. No
thread has work that only it may do: threads that start late, or not at all, leave their tasks to the others.

*What is not needed is not compiled.* Where an argument is None, the code for the other case is not compiled: that of
categories, of conditions, of limited columns, of sorted rows. The argument must be one of the function, not a field of
a record.

Kernels that call each other must be in the same file: this is the only reason why this file is long.
"""

from typing import NamedTuple

import numpy as np

from surefoot._jit import add_at, call_at, inner_kernel, kernel, read_at

TIE = 1e-12  # gains this close, relative to the worth of the node, tie: the first column wins
MAX_ORDERS = 8  # categories are sorted by each score in turn, but by no more than this many
SPARSE = 4  # nodes with fewer rows than codes of a column, by this factor, are searched only at codes with rows
NOISE_LENGTH = 4096  # number of places at which reading the noise may start
NEXT_WINDOW = 257  # distance between the places at which two nodes start to read
RARE = 10.0  # mean scores of categories are shrunk to zero, as by this many additional rows
COUNT, WEIGHT, SCORES = 0, 1, 2  # rows of the array of sums
START = FREE = np.int64(0)  # first place, no constraint; a literal 0 would compile the kernels once more
BYTE, BITS, ONE = np.uint64(255), np.uint64(8), np.uint64(1)
LARGE = 2.0**52  # the floats from here to twice as much are the whole numbers
DIGITS = np.float64(LARGE).view(np.uint64)  # its bits: the last of them are those of a whole number added to it
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
HALF_WORD = np.uint64(32)
DIVIDE, SUM, SEARCH = 0, 1, 2  # the steps of a level; in the last, one thread chooses the splits
N_STEPS = 4
N_PIECES = 4  # of each part whose rows are filled in: threads that start late leave some to others
LINE = 8  # whole numbers in a line of the cache: threads that write to the same line wait for each other
MAX_LOOKS = 5000  # about 5 microseconds: a thread that waits longer lets others use its processor


# These are not in a file of their own, because the compile cache would not notice a change of their fields there.


class PackedTable(NamedTuple):
    """The table that a tree is grown on; ``packed_codes.py`` describes its arrays."""

    words: np.ndarray  # (groups, rows): the codes of eight columns
    offsets: np.ndarray  # (columns + 1,): where each column's bins start in a histogram
    n_codes: np.ndarray  # (columns,)
    has_missing: np.ndarray
    is_categorical: np.ndarray | None  # None: no column is
    sorted_rows: np.ndarray  # (columns, rows): rows by their code; empty for large tables
    sorted_codes: np.ndarray


class SplitRules(NamedTuple):
    """Which splits are allowed, and how their gain is computed."""

    symmetric: bool  # one split for all nodes of a level
    l2: float
    min_rows: int  # rows of a side, unless it is empty
    constraints: np.ndarray | None  # (columns,): -1, 0 or 1; None: all searches are plain, see ``search_plain_numbers``
    allowed: np.ndarray | None = None  # (nodes of a level or 1, columns): 0 for columns not to split at; None: all are


class SumFormat(NamedTuple):
    """The layout of sums in words."""

    n_words: int  # 1: packed
    n_scores: int
    count_bits: int  # of a packed word
    units: np.ndarray  # the value of 1 in each of the sums


class RowScores(NamedTuple):
    """The rows that a tree is grown on, and how their scores become whole numbers."""

    scores: np.ndarray  # (scores, rows of the table)
    weights: np.ndarray
    rows: np.ndarray
    scales: np.ndarray
    weight_scale: float
    rounds_randomly: bool
    key: np.uint64  # of the random numbers for rounding
    counts_weights: bool  # a row of weight k counts as k rows


class SplitNoise(NamedTuple):
    """Random numbers that are added to gains, and the place at which each column starts to read them."""

    numbers: np.ndarray  # empty: no noise
    windows: np.ndarray  # (levels, columns), or (columns,) of one level


class LevelRows(NamedTuple):
    """The rows of one level: those of node n are ``rows[bounds[n]:bounds[n + 1]]``; ``values`` are their words."""

    rows: np.ndarray
    values: np.ndarray
    bounds: np.ndarray


class ColumnSplits(NamedTuple):
    """The best split of each column, in one row for all nodes of a symmetric tree, else in one row per node."""

    values: np.ndarray  # what the column is chosen by: the gain plus noise
    gains: np.ndarray
    places: np.ndarray  # the last code on the left; for categories, the last place in their order
    sides: np.ndarray  # 1: missing values go left; for categories, the score that they are sorted by
    orders: np.ndarray  # (..., 256): of the codes of a categorical column; empty if no column is categorical


class NodeSums(NamedTuple):
    """Buffers for searching sorted rows: the node and statistics of each row, and the sums of each node."""

    nodes: np.ndarray
    parts: np.ndarray  # (rows, 3): two scores and the weight
    totals: np.ndarray  # (nodes + 1, 4): their sums and the worth of the node; the last is for rows of no node
    left: np.ndarray  # (nodes + 1, 4): the same for the left side, and the worth of both sides


class SearchBuffers(NamedTuple):
    """Buffers for the sums of one thread, and for its search of one column."""

    running: np.ndarray
    sums: np.ndarray  # (sums, codes): count, weight and scores of all codes up to one
    total: np.ndarray
    work: np.ndarray
    gains: np.ndarray  # (3, codes)
    means: np.ndarray  # of categories
    orders: np.ndarray  # (2, codes): of categories; the second is for sorting
    words: np.ndarray  # (2, words): of the bins of a column
    group: np.ndarray  # words of the bins of eight columns
    counts: np.ndarray  # rows of each node


def make_search_buffers(form: SumFormat, n_nodes: int) -> SearchBuffers:
    """Allocate the buffers of one thread, for levels of at most ``n_nodes`` nodes."""
    n_sums = SCORES + form.n_scores
    return SearchBuffers(
        running=np.empty(256, dtype=np.int64),
        sums=np.empty((n_sums, 256)),
        total=np.empty(n_sums),
        work=np.empty((2, 256)),
        gains=np.empty((3, 256)),
        means=np.empty(256),
        orders=np.empty((2, 256), dtype=np.int64),
        words=np.empty((2, 256 * form.n_words), dtype=np.int64),
        group=np.empty(8 * 256 * form.n_words, dtype=np.int64),
        counts=np.empty(n_nodes, dtype=np.int64),
    )


class LeafSums(NamedTuple):
    """Sums over the rows of each leaf, block by block."""

    steps: np.ndarray  # (blocks, leaves, outputs)
    information: np.ndarray  # (blocks, leaves, outputs)
    counts: np.ndarray  # (blocks, leaves): their weight
    squares: np.ndarray  # (blocks,): of the first of two steps, over all leaves; 0 for other numbers of outputs

    @classmethod
    def empty(cls, n_blocks: int, n_leaves: int, n_outputs: int) -> "LeafSums":
        """Arrays for the sums of some blocks."""
        return cls(
            steps=np.empty((n_blocks, n_leaves, n_outputs)),
            information=np.empty((n_blocks, n_leaves, n_outputs)),
            counts=np.empty((n_blocks, n_leaves)),
            squares=np.empty(n_blocks),
        )


class LeafInputs(NamedTuple):
    """What is summed over the rows of each leaf; the rows of block b are ``rows[starts[b]:starts[b + 1]]``."""

    steps: np.ndarray  # (outputs, rows of the table); no outputs: nothing is summed
    information: np.ndarray  # (outputs, rows of the table); no outputs: it is 1
    weights: np.ndarray
    rows: np.ndarray
    starts: np.ndarray
    sums: LeafSums


class GrowthBuffers(NamedTuple):
    """The buffers of a grower: each level reads one of the two buffers of rows and writes the other."""

    rows: np.ndarray  # (2, rows)
    values: np.ndarray  # (2, rows, words)
    bounds: np.ndarray  # (parts, levels + 1, nodes + 1)
    histograms: np.ndarray  # (nodes, words of all bins)
    parts: np.ndarray  # (parts, nodes to sum, groups * 8 * 256 words): the sums of each part
    smaller: np.ndarray  # for each parent, which of its children has fewer rows, and is summed: 0 left, 1 right
    leaves: np.ndarray  # of every row of the table
    best: ColumnSplits
    search: SearchBuffers
    sums: NodeSums


class TreeSplits(NamedTuple):
    """The splits of a tree (or of one level): one per level if symmetric, else one per node in heap order."""

    features: np.ndarray  # -1: none, all rows go left
    codes: np.ndarray  # the last code on the left
    missing_left: np.ndarray
    gains: np.ndarray
    tables: np.ndarray  # (splits, 256): 1 for codes that go right
    kept: np.ndarray  # one per node in heap order: whether all rows stay on the left


class TreeInputs(NamedTuple):
    """What a tree is grown from."""

    table: PackedTable
    rules: SplitRules
    form: SumFormat
    noise: SplitNoise
    scores: RowScores
    leaves: LeafInputs


class SharedWork(NamedTuple):
    """What threads that grow a tree together know of each other; all numbers are 0 before the first step.

    Each number has a line of the cache of its own.
    """

    claims: np.ndarray  # (steps, queues, LINE): how many tasks of each queue are taken, or more
    done: np.ndarray  # (steps, LINE): how many tasks are done
    stopped: np.ndarray  # (LINE,): not 0 if a thread has failed, so that nobody may wait for it
    yield_address: int  # of the function by which a waiting thread lets others use its processor

    @classmethod
    def of(cls, depth: int, n_queues: int, yield_address: int) -> "SharedWork":
        """Work on trees of this depth; as many queues as threads."""
        n_steps = N_STEPS * depth + 2
        return cls(
            claims=np.zeros((n_steps, n_queues, LINE), dtype=np.int64),
            done=np.zeros((n_steps, LINE), dtype=np.int64),
            stopped=np.zeros(LINE, dtype=np.int64),
            yield_address=yield_address,
        )


@inner_kernel
def rows_of_level(buffers, part, level):
    """The rows of one level's nodes in one part, as views of the buffers."""
    n_rows = buffers.bounds[buffers.bounds.shape[0] - 1, 0, 1]
    side = level % 2
    return LevelRows(
        rows=buffers.rows[side, :n_rows],
        values=buffers.values[side, :n_rows],
        bounds=buffers.bounds[part, level, : (1 << level) + 1],
    )


@inner_kernel
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


@inner_kernel
def pack_rows(scores, weights, rows, scales, rounds_randomly, key, count_bits, values):
    """Write the word of each row: its whole weight times (first score, second score, 1), scaled and rounded."""
    n_scores = scores.shape[0]
    first = scores[0]
    second = scores[n_scores - 1]
    scale_1 = scales[0]
    scale_2 = scales[1] if n_scores == 2 else 0.0
    bits = (64 - count_bits) // 2
    dither_1, dither_2 = 0.5, 0.5
    for place in range(rows.shape[0]):
        i = rows[place]
        if rounds_randomly:
            z = np.uint64(key) + np.uint64(i + 1) * GOLDEN
            z = (z ^ (z >> np.uint64(30))) * MIX_1
            z = (z ^ (z >> np.uint64(27))) * MIX_2
            z = z ^ (z >> np.uint64(31))
            dither_1 = float(z >> HALF_WORD) * 2.0**-32
            dither_2 = float(z & np.uint64(0xFFFFFFFF)) * 2.0**-32
        g1 = np.int64(np.floor(first[i] * scale_1 + dither_1))
        g2 = np.int64(np.floor(second[i] * scale_2 + dither_2))
        word = (((g1 << bits) + g2) << count_bits) + 1
        values[place, 0] = word * np.int64(weights[i])


@inner_kernel
def widen_rows(scores, weights, rows, scales, weight_scale, values):
    """Write the count, weight and weighted scores of each row as whole numbers, one word each."""
    for place in range(rows.shape[0]):
        i = rows[place]
        values[place, 0] = 1 if weights[i] > 0.0 else 0
        values[place, 1] = np.int64(np.rint(weights[i] * weight_scale))
        for k in range(scores.shape[0]):
            values[place, 2 + k] = np.int64(np.rint(scores[k, i] * weights[i] * scales[k]))


@inner_kernel
def fill_places(scores, form, first, last, rows, values):
    """Write some rows of a tree, from place ``first`` to ``last``, and their scores as whole numbers."""
    own, values = scores.rows[first:last], values[first:last]
    for i in range(own.shape[0]):
        rows[first + i] = own[i]
    if form.n_words == 1:
        rounds_randomly, key = scores.rounds_randomly, scores.key
        pack_rows(scores.scores, scores.weights, own, scores.scales, rounds_randomly, key, form.count_bits, values)
        return
    widen_rows(scores.scores, scores.weights, own, scores.scales, scores.weight_scale, values)
    if scores.counts_weights:
        for i in range(own.shape[0]):
            values[i, COUNT] = np.int64(scores.weights[own[i]])


@kernel
def fill_rows(scores, form, buffers):
    """Write all rows of a tree, and their scores as whole numbers."""
    fill_places(scores, form, START, scores.rows.shape[0], buffers.rows[0], buffers.values[0])


@inner_kernel
def add_packed_rows(words, rows, values, start, stop, width, sums):
    """Add ``values[i]`` to one of the 256 bins of each column of the group, for the rows ``start`` to ``stop``.

    With the bins of each column at a fixed distance, finding them needs no arithmetic. Eight columns are summed at
    once, or two: where a group has fewer, the columns that it lacks are summed too, which is faster than a check.
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


@inner_kernel
def add_wide_rows(words, rows, values, start, stop, width, sums):
    """As ``add_packed_rows``, for statistics of several words per row."""
    n_words = np.uint64(values.shape[1])
    for i in range(start, stop):
        word = words[rows[i]]
        for k in range(np.uint64(width)):
            first = (np.uint64(256) * k + (word & BYTE)) * n_words
            for f in range(n_words):
                sums[first + f] += values[i, f]
            word >>= BITS


@inner_kernel
def add_rows(words, rows, values, start, stop, width, sums):
    """Add the words of some rows to 256 bins for each of ``width`` columns."""
    if values.shape[1] == 1:
        add_packed_rows(words, rows, values, start, stop, width, sums)
    else:
        add_wide_rows(words, rows, values, start, stop, width, sums)


@inner_kernel
def sum_rows(words, rows, values, start, stop, bins, sums):
    """Write the histogram of the rows ``start`` to ``stop``: 256 bins for each column, of which it uses ``bins[k]``."""
    width, n_words = bins.shape[0], values.shape[1]
    for k in range(width):
        sums[256 * k * n_words : (256 * k + bins[k]) * n_words] = 0
    add_rows(words, rows, values, start, stop, width, sums)


@inner_kernel
def build_level(table, first_group, last_group, level, sums, histograms):
    """Replace the histograms of the nodes of a level (slot p) by those of their children (slots 2p and 2p + 1).

    ``level`` has the rows of the children; ``sums`` is a buffer. Parents are visited from the last to the first, so
    that no slot of a child is written before the parent in that slot has been read. The root has no parent: all of its
    rows are summed.
    """
    bounds, n_words, is_root = level.bounds, level.values.shape[1], level.bounds.shape[0] == 2
    for group in range(first_group, last_group):
        bins, offsets = table.n_codes[8 * group : 8 * group + 8], table.offsets[8 * group :]
        for parent in range(bounds.shape[0] // 2 - 1, -1, -1):
            small, large = np.int64(0), np.int64(0)
            if not is_root:
                n_left = bounds[2 * parent + 1] - bounds[2 * parent]
                n_right = bounds[2 * parent + 2] - bounds[2 * parent + 1]
                small = 2 * parent + (0 if n_left < n_right else 1)
                large = 4 * parent + 1 - small
            sum_rows(table.words[group], level.rows, level.values, bounds[small], bounds[small + 1], bins, sums)
            for k in range(bins.shape[0]):
                begin, n_bins = np.int64(offsets[k]) * n_words, bins[k] * n_words
                smaller, whole = sums[256 * k * n_words :], histograms[parent, begin : begin + n_bins]
                smaller_slot = histograms[small, begin : begin + n_bins]
                larger_slot = histograms[large, begin : begin + n_bins]
                for b in range(n_bins):
                    rest = smaller[b] if is_root else whole[b] - smaller[b]
                    smaller_slot[b] = smaller[b]  # the slot of the parent may be one of the two: it has been read
                    larger_slot[b] = rest


@inner_kernel
def packed_parts(word, count_bits, unit_1, unit_2):
    """Return the number of rows and the two scores of a packed sum.

    Half of its range is added to each field, so that none is negative, and fields become the last digits of a float
    between 2**52 and 2**53: many processors convert and shift signed words only one at a time.
    """
    bits, count_bits = np.uint64((64 - count_bits) // 2), np.uint64(count_bits)
    half_2 = ONE << (bits - ONE)
    half_1 = ONE << (np.uint64(63) - count_bits - bits)
    word = np.uint64(word) + (half_2 << count_bits) + (half_1 << (count_bits + bits))
    n = np.uint64((word & ((ONE << count_bits) - ONE)) | DIGITS).view(np.float64) - LARGE
    score_1 = np.uint64((word >> (count_bits + bits)) | DIGITS).view(np.float64) - (LARGE + float(half_1))
    score_2 = np.uint64(((word >> count_bits) & ((ONE << bits) - ONE)) | DIGITS).view(np.float64)
    return n, score_1 * unit_1, (score_2 - (LARGE + float(half_2))) * unit_2


@inner_kernel
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


@inner_kernel
def add_gains(sums, total, n_places, l2, min_rows, constraint, work, gains):
    """Add the gain of sending codes up to b left to ``gains[b]``; return the worth of the node.

    ``sums`` are those of the codes, ``total`` is that of the node. The gain is 0 if a side has rows, but fewer than
    ``min_rows``, or if the means are in the wrong order for a monotone ``constraint``.
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
    if min_rows > 1.0:
        count, all_rows = sums[COUNT], total[COUNT]
        for b in range(n_places):
            few_left = (count[b] > 0.0) & (count[b] < min_rows)
            rest = all_rows - count[b]
            few_right = (rest > 0.0) & (rest < min_rows)
            left[b] = 0.0 if few_left | few_right else left[b]
    if constraint != 0:
        score, whole = sums[SCORES], total[SCORES]
        for b in range(n_places):
            rise = (whole - score[b]) * (weight[b] + l2) - score[b] * (all_weight - weight[b] + l2)
            left[b] = 0.0 if rise * constraint < 0.0 else left[b]
    for b in range(n_places):
        gains[b] += left[b]
    return worth


@inner_kernel
def packed_worth(word, count_bits, unit_1, unit_2, l2):
    """Return the worth of the rows of a packed sum as one node."""
    n, score_1, score_2 = packed_parts(word, count_bits, unit_1, unit_2)
    return (score_1 * score_1 + score_2 * score_2) / (n + l2)


@inner_kernel
def packed_gain(left, whole, count_bits, unit_1, unit_2, l2):
    """Return the gain of splitting the rows of the sum ``whole`` into those of ``left`` and the rest."""
    all_rows, all_1, all_2 = packed_parts(whole, count_bits, unit_1, unit_2)
    n, g_1, g_2 = packed_parts(left, count_bits, unit_1, unit_2)
    r_1, r_2 = all_1 - g_1, all_2 - g_2
    on_left, on_right = n + l2, all_rows - n + l2
    worth_left, worth_right = g_1 * g_1 + g_2 * g_2, r_1 * r_1 + r_2 * r_2
    worth = packed_worth(whole, count_bits, unit_1, unit_2, l2)
    return (worth_left * on_right + worth_right * on_left) / (on_left * on_right) - worth


@inner_kernel
def add_packed_gains(histogram, count_bits, units, n_places, l2, running, gains):
    """As ``sum_codes`` and ``add_gains`` in one pass, for packed sums without conditions."""
    unit_1, unit_2 = units[SCORES], units[SCORES + 1]
    whole = np.int64(0)
    for b in range(histogram.shape[0]):
        whole += histogram[b]
        running[b] = whole
    for b in range(n_places):
        gains[b] += packed_gain(running[b], whole, count_bits, unit_1, unit_2, l2)
    return packed_worth(whole, count_bits, unit_1, unit_2, l2)


@inner_kernel
def add_sparse_gains(histogram, count_bits, units, n_places, l2, jumps):
    """As ``add_packed_gains``, for a node with few rows: gains change only at codes with rows.

    Adds the change of the gain at code b to ``jumps[b]``. Returns the worth of the node.
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


@inner_kernel
def highest(values, n_places):
    """Return the highest value, or -inf; four at a time, so that a comparison need not wait for the one before."""
    a0, a1, a2, a3 = -np.inf, -np.inf, -np.inf, -np.inf
    fours = n_places // 4 * 4
    for b in range(0, fours, 4):
        a0, a1 = max(a0, values[b]), max(a1, values[b + 1])
        a2, a3 = max(a2, values[b + 2]), max(a3, values[b + 3])
    for b in range(fours, n_places):
        a0 = max(a0, values[b])
    return max(max(a0, a1), max(a2, a3))


@inner_kernel
def middle_place(gains, n_places, min_gain):
    """Return the middle of the first run of gains of at least ``min_gain``."""
    first = 0
    while first < n_places - 1 and gains[first] < min_gain:
        first += 1
    last = first
    while last < n_places - 1 and gains[last + 1] >= min_gain:
        last += 1
    return first + (last - first + 1) // 2


@inner_kernel
def noisy_place(gains, n_places, tie, scale, noise, values):
    """Return the place with the highest sum of gain and noise, among places with a gain."""
    for b in range(n_places):
        values[b] = gains[b] + scale * noise[b] if gains[b] > tie else -np.inf
    best, place = highest(values, n_places), 0
    while values[place] < best:
        place += 1
    return place


@inner_kernel
def choose_place(gains, n_places, worth, noise, values):
    """Return the place to split at: (gain plus noise, gain, place).

    Noise of size s moves the root of the worth of the nodes after the split by s / 2. Each place of a column has its
    own noise. In the comparison with other columns, the column has the last number of its window instead: with the
    noise of its best place, the highest of many, columns with many places would win. ``values`` is a buffer. A place
    with no rows on one side has a gain from rounding alone, of sums as large as the best gain: noise must not choose
    it.
    """
    tie = TIE * worth
    best = highest(gains, n_places)
    if best <= tie:  # nothing but rounding
        return -np.inf, 0.0, 0
    if noise.shape[0] == 0:
        return best, best, middle_place(gains, n_places, best - tie)
    scale = np.sqrt(worth + best)
    place = noisy_place(gains, n_places, TIE * (worth + best), scale, noise, values)
    return gains[place] + scale * noise[noise.shape[0] - 1], gains[place], place


@inner_kernel
def bins_of_column(column, table, form):
    """Return where the words of the bins of a column begin and end in a histogram."""
    return np.int64(table.offsets[column]) * form.n_words, np.int64(table.offsets[column + 1]) * form.n_words


@inner_kernel
def sort_codes(means, orders):
    """Write the codes by rising mean to ``orders[0]``; codes that tie keep their order.

    ``np.argsort`` takes a second to compile. ``orders[1]`` is a buffer.
    """
    n = means.shape[0]
    order, other = orders[0], orders[1]
    for b in range(n):
        order[b] = b
    width = 1
    while width < n:  # merge sorted runs of this length
        for start in range(0, n, 2 * width):
            left, middle = start, start + width if start + width < n else n
            right, end = middle, middle + width if middle + width < n else n
            for place in range(start, end):
                if left < middle and (right >= end or means[order[left]] <= means[order[right]]):
                    other[place] = order[left]
                    left += 1
                else:
                    other[place] = order[right]
                    right += 1
        for b in range(n):
            order[b] = other[b]
        width *= 2


@inner_kernel
def order_categories(histograms, column, table, form, score, noise, buffers):
    """Write the codes of a categorical column to ``buffers.orders[0]``, sorted by mean score over all nodes plus noise.

    The noise has the size of the standard error: a category with few rows may go to either side, because its effect is
    not known. Returns the number of codes.
    """
    begin, end = bins_of_column(column, table, form)
    sums, n_codes, all_nodes = buffers.sums, (end - begin) // form.n_words, buffers.words[0, : end - begin]
    all_nodes[:] = 0
    for node in range(histograms.shape[0]):
        for b in range(end - begin):
            all_nodes[b] += histograms[node, begin + b]
    means = buffers.means[:n_codes]
    sum_codes(all_nodes, form.n_words, form.count_bits, form.units, buffers.running, sums)
    for b in range(n_codes):
        above = sums[SCORES + score, b]
        weight = sums[WEIGHT, b]
        if b > 0:
            above -= sums[SCORES + score, b - 1]
            weight -= sums[WEIGHT, b - 1]
        means[b] = above / (weight + RARE)
        if noise.shape[0] > 0:
            means[b] += noise[noise.shape[0] - 2 - b] / np.sqrt(weight + RARE)
    sort_codes(means, buffers.orders)
    return n_codes


@inner_kernel
def reorder_codes(histogram, order, n_words, out):
    """Copy the histogram of a categorical column with its codes in another order."""
    for b in range(order.shape[0]):
        for f in range(n_words):
            out[b * n_words + f] = histogram[order[b] * n_words + f]


@inner_kernel
def sum_plain_gains(histograms, counts, begin, end, rules, form, buffers):
    """As ``sum_gains``, for packed sums without missing values and conditions: words ``begin`` to ``end``."""
    count_bits, units, l2, running, gains = form.count_bits, form.units, rules.l2, buffers.running, buffers.gains
    n_codes = end - begin
    n_places = n_codes - 2
    gains[:, :n_codes] = 0.0
    worth = 0.0
    jumps = gains[2]
    for node in range(histograms.shape[0]):
        histogram = histograms[node, begin:end]
        if counts[node] * SPARSE >= n_codes:
            worth += add_packed_gains(histogram, count_bits, units, n_places, l2, running, gains[0])
        elif counts[node] > 0:
            worth += add_sparse_gains(histogram, count_bits, units, n_places, l2, jumps)
    gain = 0.0
    for b in range(n_places):
        gain += jumps[b]
        gains[0, b] += gain
    return worth


@inner_kernel
def sum_gains(constraint, is_reordered, n_ways, n_places, histograms, begin, end, rules, form, buffers):
    """Write the gain of each place of one column, over all nodes, to ``buffers.gains``; return the worth of the nodes.

    The second row is for missing values on the left, if there are two ways. Codes are in the order of
    ``buffers.orders`` if they are ``is_reordered``.
    """
    n_words, count_bits, units, l2, min_rows = form.n_words, form.count_bits, form.units, rules.l2, rules.min_rows
    running, sums, total, work, gains = buffers.running, buffers.sums, buffers.total, buffers.work, buffers.gains
    n_codes, own = (end - begin) // n_words, buffers.words[1, : end - begin]
    gains[:, :n_codes] = 0.0
    worth = 0.0
    for node in range(histograms.shape[0]):
        if is_reordered:
            reorder_codes(histograms[node, begin:end], buffers.orders[0, :n_codes], n_words, own)
        else:
            own = histograms[node, begin:end]
        sum_codes(own, n_words, count_bits, units, running, sums)
        if sums[COUNT, n_codes - 1] == 0.0:
            continue
        for k in range(sums.shape[0]):
            total[k] = sums[k, n_codes - 1]
        for way in range(n_ways):
            if way == 1:
                for k in range(sums.shape[0]):
                    lacking = total[k] - sums[k, n_codes - 2]
                    for b in range(n_places):
                        sums[k, b] += lacking
            of_node = add_gains(sums, total, n_places - way, l2, min_rows, constraint, work, gains[way])
            if way == 0:
                worth += of_node
    return worth


@inner_kernel
def noise_place(noise, column, row):
    """Return where the noise of one column and node begins; an array without noise is empty there, too."""
    return (noise.windows[column] + row * NEXT_WINDOW) % NOISE_LENGTH


@inner_kernel
def is_plain(constraints, column, table, rules, form):
    """Return whether a numeric column has packed sums, no missing values, and no condition for its splits."""
    if constraints is None:
        return True
    has_conditions = rules.min_rows > 1 or constraints[column] != 0
    return form.n_words == 1 and not table.has_missing[column] and not has_conditions


@inner_kernel
def is_allowed(allowed, row, column):
    """Return whether a node, or all nodes of a level, may be split at a column; see ``SplitRules``."""
    if allowed is None:
        return True
    return allowed[row % allowed.shape[0], column] != 0


@inner_kernel
def search_columns(is_categorical, constraints, histograms, columns, table, rules, form, noise, buffers, best):
    """Write the best split of some columns to ``best``: for all nodes together if symmetric, else for each node.

    ``buffers.counts`` are the rows of each node. ``is_categorical`` and ``constraints`` are those of the table and the
    rules: as arguments, so that what is not needed is not compiled. Categories are sorted by each score in turn.
    """
    n_nodes, counts = histograms.shape[0], buffers.counts
    for column in range(columns[0], columns[1]):
        begin, end = bins_of_column(column, table, form)
        n_codes, by_category, constraint = (end - begin) // form.n_words, False, FREE
        if is_categorical is not None:
            by_category = is_categorical[column]
        plain = is_plain(constraints, column, table, rules, form) and not by_category
        n_ways = 2 if table.has_missing[column] and not by_category else 1
        n_places = n_codes - 1 if n_ways == 2 or by_category else n_codes - 2
        n_orders = min(buffers.sums.shape[0] - SCORES, MAX_ORDERS) if by_category else (1 if n_places > 0 else 0)
        for row in range(1 if rules.symmetric else n_nodes):
            first, last = (0, n_nodes) if rules.symmetric else (row, row + 1)
            own, place = histograms[first:last], noise_place(noise, column, row)
            own_noise = noise.numbers[place : place + 256]
            best.values[row, column], best.gains[row, column] = -np.inf, 0.0
            best.places[row, column], best.sides[row, column] = 0, 0
            if not is_allowed(rules.allowed, row, column):
                continue
            for score in range(n_orders):
                worth = 0.0
                if is_categorical is not None and by_category:
                    order_categories(own, column, table, form, score, own_noise, buffers)
                if plain:
                    worth = sum_plain_gains(own, counts[first:last], begin, end, rules, form, buffers)
                elif constraints is not None:
                    if not by_category:
                        constraint = constraints[column]
                    worth = sum_gains(constraint, by_category, n_ways, n_places, own, begin, end, rules, form, buffers)
                for way in range(n_ways):
                    gains = buffers.gains
                    value, gain, place = choose_place(gains[way], n_places - way, worth, own_noise, gains[2])
                    if value > best.values[row, column] + TIE * worth:
                        best.values[row, column], best.gains[row, column] = value, gain
                        best.places[row, column] = place
                        best.sides[row, column] = score if by_category else way
                        if is_categorical is not None and by_category:
                            for b in range(n_codes):
                                best.orders[row, column, b] = buffers.orders[0, b]


@kernel
def search_histograms(histograms, columns, table, rules, form, noise, buffers, best):
    """As ``search_columns``, from Python."""
    is_categorical, constraints = table.is_categorical, rules.constraints
    search_columns(is_categorical, constraints, histograms, columns, table, rules, form, noise, buffers, best)


@inner_kernel
def sum_nodes(rows, bounds, parts, l2, totals):
    """Write the sums of ``parts`` of each node, and its worth; return the worth of all nodes."""
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


@inner_kernel
def move_left(row, node, parts, totals, l2, left):
    """Move a row to the left side of its node; return the change of the worth of both sides.

    ``left[node]`` has the sums of the left side, and the worth of both sides.
    """
    s_1, s_2, n = left[node, 0] + parts[row, 0], left[node, 1] + parts[row, 1], left[node, 2] + parts[row, 2]
    r_1, r_2 = totals[node, 0] - s_1, totals[node, 1] - s_2
    on_left, on_right = n + l2, totals[node, 2] - n + l2
    worth = ((s_1 * s_1 + s_2 * s_2) * on_right + (r_1 * r_1 + r_2 * r_2) * on_left) / (on_left * on_right)
    more = worth - left[node, 3]
    left[node, 0], left[node, 1], left[node, 2], left[node, 3] = s_1, s_2, n, worth
    return more


@inner_kernel
def sorted_gains(order, codes, n_present, n_places, sums, l2, gain, gains):
    """Write the gain, over all nodes, of sending codes up to b left to ``gains[b]``.

    ``order`` has the rows sorted by code. The rows from ``n_present`` on have missing values and are not moved: they
    are on the right, unless the caller has moved them to ``sums.left``; ``gain`` is the gain of that move.
    """
    nodes, parts, totals, left = sums.nodes, sums.parts, sums.totals, sums.left
    gains[: n_places + 1] = np.nan  # codes without rows have the gain of the code before
    before = gain
    for i in range(np.uint64(n_present)):
        row = np.uint64(order[i])
        gain += move_left(row, np.uint64(nodes[row]), parts, totals, l2, left)
        gains[np.uint64(codes[i])] = gain
    for b in range(n_places):
        before = before if np.isnan(gains[b]) else gains[b]
        gains[b] = before


@inner_kernel
def search_sorted_rows(table, level, rules, noise, buffers, sums, best):
    """As ``search_columns`` of a symmetric tree, for numeric columns of packed tables without conditions.

    Instead of the bins of every node, it reads the rows of every column, sorted by code: each moves to the left side of
    its node in turn. Rows of no node are assigned to an additional one, the last of ``sums.totals``, where they count
    nothing.
    """
    l2, nodes, parts, totals, left = rules.l2, sums.nodes, sums.parts, sums.totals, sums.left
    worth = sum_nodes(level.rows, level.bounds, parts, l2, totals)
    gains, buffer = buffers.gains[0], buffers.gains[1]
    for column in range(table.n_codes.shape[0]):
        order, codes = table.sorted_rows[column], table.sorted_codes[column]
        n_codes, has_missing = table.n_codes[column], table.has_missing[column]
        n_places = n_codes - 1 if has_missing else n_codes - 2
        best.values[0, column], best.gains[0, column] = -np.inf, 0.0
        best.places[0, column], best.sides[0, column] = 0, 0
        if n_places < 1 or not is_allowed(rules.allowed, 0, column):
            continue
        n_present = np.int64(order.shape[0])
        while n_present > 0 and codes[n_present - 1] == n_codes - 1:
            n_present -= 1
        begin = noise_place(noise, column, 0)
        own_noise = noise.numbers[begin : begin + 256]
        for side in range(2 if has_missing else 1):
            left[:, :3] = 0.0
            for node in range(left.shape[0]):
                left[node, 3] = totals[node, 3]
            gain = 0.0
            for i in range(n_present if side == 1 else order.shape[0], order.shape[0]):
                row = np.uint64(order[i])
                gain += move_left(row, np.uint64(nodes[row]), parts, totals, l2, left)
            sorted_gains(order, codes, n_present, n_places, sums, l2, gain, gains)
            value, gain, place = choose_place(gains, n_places - side, worth, own_noise, buffer)
            if side == 0 or value > best.values[0, column] + TIE * worth:
                best.values[0, column], best.gains[0, column] = value, gain
                best.places[0, column], best.sides[0, column] = place, side


@inner_kernel
def count_mask(form):
    """Return the bits that hold the count in the first word of a row or of a sum."""
    return (np.int64(1) << form.count_bits) - 1 if form.n_words == 1 else np.int64(-1)


@inner_kernel
def send_absent_codes(histograms, begin, n_codes, form, table):
    """Send codes without rows to the larger side."""
    mask, on_left, on_right = count_mask(form), np.int64(0), np.int64(0)
    for send in range(2):
        for code in range(n_codes):
            word = np.int64(0)
            for node in range(histograms.shape[0]):
                word += histograms[node, begin + code * form.n_words]
            if send == 0 and table[code] == 0:
                on_left += word & mask
            elif send == 0:
                on_right += word & mask
            elif word & mask == 0:
                table[code] = 0 if on_left >= on_right else 1


@inner_kernel
def best_column(best, row):
    """Return the column with the highest value; the first if columns tie."""
    column = 0
    for j in range(1, best.gains.shape[1]):
        value, highest_value = best.values[row, j], best.values[row, column]
        if highest_value == -np.inf or value > highest_value + TIE * abs(highest_value):
            column = j
    return column


@inner_kernel
def send_numbers(histograms, column, table, form, place, missing_left, goes_right):
    """Write which codes of a numeric column go right; return whether missing values go left.

    If no row of the nodes has a missing value, missing values go to the larger side.
    """
    begin, end = bins_of_column(column, table, form)
    mask, last = count_mask(form), (end - begin) // form.n_words - 1
    on_left, on_right, lacking = np.int64(0), np.int64(0), np.int64(0)
    for node in range(histograms.shape[0]):
        left, right = np.int64(0), np.int64(0)
        for code in range(last):
            word = histograms[node, begin + code * form.n_words]
            if code <= place:
                left += word
            else:
                right += word
        on_left, on_right = on_left + (left & mask), on_right + (right & mask)
        lacking += histograms[node, begin + last * form.n_words] & mask
    goes_right[place + 1 :] = 1
    if lacking == 0:
        missing_left = on_left >= on_right
    goes_right[last] = 0 if missing_left else 1
    return missing_left


@inner_kernel
def send_categories(histograms, column, table, form, place, order, goes_right):
    """Write which codes of a categorical column go right; return whether missing values go left."""
    begin, end = bins_of_column(column, table, form)
    n_codes = (end - begin) // form.n_words
    for b in range(place + 1, n_codes):
        goes_right[order[b]] = 1
    send_absent_codes(histograms, begin, n_codes, form, goes_right)
    return goes_right[n_codes - 1] == 0


@inner_kernel
def choose_splits(is_categorical, histograms, table, rules, form, best, splits):
    """Choose the best column of each row of ``best``; write the splits of the level.

    If no column has a gain, the feature is -1: everything goes left. Missing values and categories without rows in the
    node go to the larger side.
    """
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
        if is_categorical is not None and is_categorical[column]:
            order = best.orders[row, column]
            splits.missing_left[row] = send_categories(own, column, table, form, place, order, goes_right)
        else:
            splits.missing_left[row] = send_numbers(own, column, table, form, place, side == 1, goes_right)


@inner_kernel
def partition_node(column, shift, table, rows, values, start, stop, new_rows, new_values):
    """Write the rows of a node, left ones from the start, right ones from the end backwards; return where they meet."""
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


@inner_kernel
def mark_children(histograms, table, rules, form, splits, smaller):
    """Write which nodes are not split to ``splits.kept``, and to ``smaller`` which child of each has fewer rows.

    If a child would have rows, but fewer than ``rules.min_rows``, its parent keeps all rows on the left.
    """
    n_words, mask = form.n_words, count_mask(form)
    for node in range(splits.kept.shape[0]):
        split = 0 if rules.symmetric else node
        feature, goes_right = splits.features[split], splits.tables[split]
        splits.kept[node], smaller[node] = feature < 0, 1
        if feature < 0:
            continue
        begin, end = bins_of_column(feature, table, form)
        on_left, on_right = np.int64(0), np.int64(0)
        for code in range((end - begin) // n_words):
            word = histograms[node, begin + code * n_words]
            if goes_right[code]:
                on_right += word
            else:
                on_left += word
        on_left, on_right = on_left & mask, on_right & mask
        splits.kept[node] = (0 < on_left < rules.min_rows) or (0 < on_right < rules.min_rows)
        smaller[node] = 0 if on_left < on_right and not splits.kept[node] else 1


@inner_kernel
def keep_nodes(constraints, histograms, table, rules, form, splits, smaller):
    """Write which nodes keep their rows; without ``constraints``, ``mark_children`` is not needed and not compiled."""
    for node in range(splits.kept.shape[0]):
        splits.kept[node] = splits.features[0 if rules.symmetric else node] < 0
    if constraints is not None and rules.min_rows > 1:
        mark_children(histograms, table, rules, form, splits, smaller)


@inner_kernel
def partition_level(table, rules, level, splits, children):
    """Write the rows of the children of each node to ``children``; nodes in ``splits.kept`` keep them on the left."""
    rows, values, bounds = level.rows, level.values, level.bounds
    new_rows, new_values, new_bounds = children.rows, children.values, children.bounds
    n_nodes = bounds.shape[0] - 1
    for node in range(n_nodes):
        start, stop = bounds[node], bounds[node + 1]
        split = 0 if rules.symmetric else node
        feature, goes_right = splits.features[split], splits.tables[split]
        if splits.kept[node]:
            for i in range(np.uint64(start), np.uint64(stop)):
                new_rows[i] = rows[i]
                for f in range(values.shape[1]):
                    new_values[i, f] = values[i, f]
            left = stop
        else:
            column, shift = table.words[feature // 8], np.uint64(8 * (feature % 8))
            left = partition_node(column, shift, goes_right, rows, values, start, stop, new_rows, new_values)
        new_bounds[2 * node] = start
        new_bounds[2 * node + 1] = left
    new_bounds[2 * n_nodes] = bounds[n_nodes]


@kernel
def write_leaves(rows, bounds, leaves):
    """Write the leaf of each row: the rows of leaf l are ``rows[bounds[l]:bounds[l + 1]]``."""
    for leaf in range(bounds.shape[0] - 1):
        for i in range(np.uint64(bounds[leaf]), np.uint64(bounds[leaf + 1])):
            leaves[rows[i]] = leaf


@kernel
def find_leaves(words, rows, depth, shared, features, tables, leaves):
    """Write the leaves of ``rows`` in a tree with a split for each node, or for each level if ``shared``."""
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


@inner_kernel
def split_leaves(table, rules, level, splits, leaves):
    """Write the leaf of each row of the last level, by its splits: these rows need not be divided any more."""
    for node in range(splits.kept.shape[0]):
        split = 0 if rules.symmetric else node
        start, stop = np.uint64(level.bounds[node]), np.uint64(level.bounds[node + 1])
        if splits.kept[node]:
            for i in range(start, stop):
                leaves[level.rows[i]] = 2 * node
            continue
        feature, goes_right = splits.features[split], splits.tables[split]
        words, shift = table.words[feature // 8], np.uint64(8 * (feature % 8))
        for i in range(start, stop):
            row = level.rows[i]
            leaves[row] = 2 * node + goes_right[(words[row] >> shift) & BYTE]


@inner_kernel
def sum_leaf_block(given, block, leaves):
    """Write the sums of each leaf over the rows of one block: weighted steps and information, and the weight."""
    rows, sums = given.rows[given.starts[block] : given.starts[block + 1]], given.sums
    steps, totals, counts = sums.steps[block], sums.information[block], sums.counts[block]
    squares = sum_leaf_rows(given.steps, given.information, given.weights, rows, leaves, steps, totals, counts)
    sums.squares[block] = squares


@kernel
def sum_leaves(given, blocks, leaves):
    """Write the sums of each leaf in some blocks; ``leaves`` has the leaf of every row of the table."""
    for block in range(blocks[0], blocks[1]):
        sum_leaf_block(given, block, leaves)


@inner_kernel
def sum_leaf_rows(steps, information, weights, rows, leaves, sums, totals, counts):
    """Write the sums of each leaf over some rows; return that of the squares of the first of two steps."""
    squares = 0.0
    if information.shape[0] == 0 and steps.shape[0] == 2:
        squares = sum_pairs(steps[0], steps[1], weights, rows, leaves, sums, counts)
    else:
        counts[:] = 0.0
        for i in rows:
            counts[np.uint64(leaves[i])] += weights[i]
        for k in range(steps.shape[0]):
            sum_one(steps[k], weights, rows, leaves, sums[:, k])
    for k in range(steps.shape[0]):
        if information.shape[0] == 0:
            for leaf in range(counts.shape[0]):
                totals[leaf, k] = counts[leaf]
        else:
            sum_one(information[k], weights, rows, leaves, totals[:, k])
    return squares


@inner_kernel
def sum_one(values, weights, rows, leaves, sums):
    """Write the weighted sum of the values of each leaf."""
    sums[:] = 0.0
    for i in rows:
        sums[np.uint64(leaves[i])] += values[i] * weights[i]


@inner_kernel
def sum_pairs(first, second, weights, rows, leaves, sums, counts):
    """Write the weighted sums of two steps (such as location and scale) of each leaf, and its weight, in one pass.

    Returns the weighted sum of the squares of the first step.
    """
    squares = 0.0
    total = np.zeros((counts.shape[0], 3))
    for i in rows:
        leaf, weight = np.uint64(leaves[i]), weights[i]
        total[leaf, 0] += weight
        step = first[i] * weight
        total[leaf, 1] += step
        squares += step * first[i]
        total[leaf, 2] += second[i] * weight
    for leaf in range(counts.shape[0]):
        counts[leaf], sums[leaf, 0], sums[leaf, 1] = total[leaf, 0], total[leaf, 1], total[leaf, 2]
    return squares


@inner_kernel
def start_sorted_rows(level, form, sums):
    """Write the two scores and the weight of each row, for searches of sorted rows; rows of no node have none."""
    rows, values, units, parts, totals = level.rows, level.values, form.units, sums.parts, sums.totals
    for k in range(4):
        totals[totals.shape[0] - 1, k] = 0.0
    for row in range(parts.shape[0]):
        sums.nodes[row] = totals.shape[0] - 1
        for k in range(3):
            parts[row, k] = 0.0
    for i in range(rows.shape[0]):
        n, score_1, score_2 = packed_parts(values[i, 0], form.count_bits, units[SCORES], units[SCORES + 1])
        row = rows[i]
        parts[row, 0], parts[row, 1], parts[row, 2] = score_1, score_2, n


@inner_kernel
def noise_of_level(noise, depth):
    """The noise of one level, as a view."""
    return SplitNoise(numbers=noise.numbers, windows=noise.windows[depth])


@inner_kernel
def count_node_rows(bounds, depth, counts):
    """Write the number of rows of each node of a level, over all parts."""
    for node in range(1 << depth):
        counts[node] = 0
        for part in range(bounds.shape[0]):
            counts[node] += bounds[part, depth, node + 1] - bounds[part, depth, node]


@kernel
def grow_levels(inputs, buffers, tree, first_level, last_level, sorted_level):
    """Grow some levels of a tree in one call, on one thread: histograms, splits and partition of each.

    From ``sorted_level`` on (None: never), sorted rows are read instead of histograms; the first histogram, that of all
    nodes together, is then kept in the last slot. Before the first level, the numbers of the rows are filled in. After
    the last level of the tree, the leaf of each row is written, and leaves are summed.
    """
    table, rules, form, noise = inputs.table, inputs.rules, inputs.form, inputs.noise
    n_levels, given = noise.windows.shape[0], inputs.leaves
    if first_level == 0:
        scores = inputs.scores
        fill_places(scores, form, START, scores.rows.shape[0], buffers.rows[0], buffers.values[0])
    n_groups, columns = table.words.shape[0], (START, table.n_codes.shape[0])
    is_categorical, constraints = table.is_categorical, rules.constraints
    last_slot, search, best = buffers.histograms.shape[0] - 1, buffers.search, buffers.best
    for depth in range(first_level, last_level):
        level, splits = rows_of_level(buffers, 0, depth), splits_of_level(tree, depth, rules.symmetric)
        own_noise, histograms = noise_of_level(noise, depth), buffers.histograms[: 1 << depth]
        if sorted_level is not None and depth >= sorted_level:
            if depth == sorted_level:
                start_sorted_rows(level, form, buffers.sums)
            write_leaves(level.rows, level.bounds, buffers.sums.nodes)
            search_sorted_rows(table, level, rules, own_noise, search, buffers.sums, best)
            histograms = buffers.histograms[last_slot:]
        else:
            build_level(table, START, n_groups, level, search.group, histograms)
            if sorted_level is not None and depth == 0 and sorted_level < n_levels:
                for b in range(histograms.shape[1]):
                    buffers.histograms[last_slot, b] = histograms[0, b]
            count_node_rows(buffers.bounds, depth, search.counts)
            search_columns(
                is_categorical, constraints, histograms, columns, table, rules, form, own_noise, search, best
            )
        choose_splits(is_categorical, histograms, table, rules, form, best, splits)
        keep_nodes(constraints, histograms, table, rules, form, splits, buffers.smaller)
        if depth + 1 < n_levels:
            partition_level(table, rules, level, splits, rows_of_level(buffers, 0, depth + 1))
        else:
            split_leaves(table, rules, level, splits, buffers.leaves)
    if last_level == n_levels and given.steps.shape[0] > 0:
        for block in range(given.starts.shape[0] - 1):
            sum_leaf_block(given, block, buffers.leaves)


@inner_kernel
def sum_part(table, buffers, depth, part, group, adds):
    """Write the sums of the columns of one group, in one part of the rows.

    These are the sums of the root, or of the smaller child of each node above. If it ``adds``, they are added to what
    is there.
    """
    n_columns, n_slots, size = table.n_codes.shape[0], max(1 << depth >> 1, 1), 2048 * buffers.values.shape[2]
    level, words, width = rows_of_level(buffers, part, depth), table.words[group], min(8, n_columns - 8 * group)
    for slot in range(n_slots):
        node = 2 * slot + buffers.smaller[slot] if depth > 0 else 0
        sums = buffers.parts[part, slot, group * size : (group + 1) * size]
        if not adds:
            sums[:] = 0
        add_rows(words, level.rows, level.values, level.bounds[node], level.bounds[node + 1], width, sums)


@inner_kernel
def divide_part(table, rules, buffers, tree, depth, part):
    """Divide the rows of one part by the splits of the level above; those of the last level go to leaves."""
    above, splits = rows_of_level(buffers, part, depth - 1), splits_of_level(tree, depth - 1, rules.symmetric)
    if depth + 1 < buffers.bounds.shape[1]:
        partition_level(table, rules, above, splits, rows_of_level(buffers, part, depth))
    else:
        split_leaves(table, rules, above, splits, buffers.leaves)


@kernel
def grow_part(table, rules, buffers, tree, depth, adds):
    """Divide rows that are one part by the splits of the level above; sum the histograms of this level.

    ``buffers.parts[0, slot]`` gets the sums of the root, or of the smaller child of each node above. If it ``adds``,
    they are added to what is there.
    """
    if depth > 0:
        divide_part(table, rules, buffers, tree, depth, START)
    for group in range(table.words.shape[0]):
        sum_part(table, buffers, depth, START, group, adds)


@kernel
def write_leaves_of_part(table, rules, buffers, tree):
    """Write the leaf of each of the rows that are one part, by the splits of the last level."""
    divide_part(table, rules, buffers, tree, buffers.bounds.shape[1] - 1, START)


@inner_kernel
def add_parts(parts, column, slot, n_bins, n_words, out):
    """Write the sums of one column in one slot, over all parts."""
    begin = column * 256 * n_words
    for b in range(n_bins):
        out[b] = parts[0, slot, begin + b]
    for t in range(1, parts.shape[0]):
        for b in range(n_bins):
            out[b] += parts[t, slot, begin + b]


@inner_kernel
def join_parts(parts, table, form, smaller, depth, columns, sums, histograms):
    """Write the histograms of all nodes of a level, for some columns, from those of the parts and of the level above.

    Parents are visited from the last to the first, so that no slot of a child is written before the parent in that slot
    has been read. ``sums`` is a buffer.
    """
    for column in range(columns[0], columns[1]):
        begin, end = bins_of_column(column, table, form)
        if depth == 0:
            add_parts(parts, column, 0, end - begin, form.n_words, histograms[0, begin:end])
            continue
        for parent in range((1 << depth >> 1) - 1, -1, -1):
            add_parts(parts, column, parent, end - begin, form.n_words, sums)
            small = 2 * parent + smaller[parent]
            whole, smaller_slot = histograms[parent, begin:end], histograms[small, begin:end]
            larger_slot = histograms[4 * parent + 1 - small, begin:end]
            for b in range(end - begin):
                rest = whole[b] - sums[b]
                smaller_slot[b] = sums[b]  # the slot of the parent may be one of the two: it has been read
                larger_slot[b] = rest


@inner_kernel
def split_nodes(table, rules, form, buffers, tree, depth):
    """Choose the splits of a level whose columns have been searched, and the smaller child of each node."""
    histograms, splits = buffers.histograms[: 1 << depth], splits_of_level(tree, depth, rules.symmetric)
    choose_splits(table.is_categorical, histograms, table, rules, form, buffers.best, splits)
    mark_children(histograms, table, rules, form, splits, buffers.smaller)


@kernel
def split_level(table, rules, form, buffers, tree, depth):
    """As ``split_nodes``, from Python."""
    split_nodes(table, rules, form, buffers, tree, depth)


@inner_kernel
def search_column(inputs, buffers, depth, column):
    """Join the parts of the histograms of one column of a level, and find its best split."""
    table, rules, form, search, columns = inputs.table, inputs.rules, inputs.form, buffers.search, (column, column + 1)
    histograms, noise = buffers.histograms[: 1 << depth], noise_of_level(inputs.noise, depth)
    join_parts(buffers.parts, table, form, buffers.smaller, depth, columns, search.words[0], histograms)
    count_node_rows(buffers.bounds, depth, search.counts)
    is_categorical, constraints = table.is_categorical, rules.constraints
    search_columns(is_categorical, constraints, histograms, columns, table, rules, form, noise, search, buffers.best)


@inner_kernel
def count_tasks(inputs, buffers, kind, depth):
    """Return the number of tasks of a step."""
    n_parts, is_end = buffers.bounds.shape[0], depth + 1 == buffers.bounds.shape[1]
    if kind == DIVIDE:
        return n_parts * N_PIECES if depth == 0 else n_parts
    if kind == SUM:
        return inputs.leaves.starts.shape[0] - 1 if is_end else n_parts * inputs.table.words.shape[0]
    return inputs.table.n_codes.shape[0] if kind == SEARCH else 1


@inner_kernel
def do_task(inputs, buffers, tree, kind, depth, task):
    """Do one task of a step: that of some rows, of a column, or of all columns."""
    table, rules, n_parts = inputs.table, inputs.rules, np.int64(buffers.bounds.shape[0])
    if kind == DIVIDE and depth == 0:
        n_rows, n_tasks = inputs.scores.rows.shape[0], n_parts * N_PIECES
        first, last = task * n_rows // n_tasks, (task + 1) * n_rows // n_tasks
        fill_places(inputs.scores, inputs.form, first, last, buffers.rows[0], buffers.values[0])
    elif kind == DIVIDE:
        divide_part(table, rules, buffers, tree, depth, task)
    elif kind == SUM and depth + 1 == buffers.bounds.shape[1]:
        sum_leaf_block(inputs.leaves, task, buffers.leaves)
    elif kind == SUM:
        n_groups = np.int64(table.words.shape[0])
        sum_part(table, buffers, depth, task // n_groups, task % n_groups, False)
    elif kind == SEARCH:
        search_column(inputs, buffers, depth, task)
    else:
        split_nodes(table, rules, inputs.form, buffers, tree, depth)


@inner_kernel
def take_task(claims, own, n_tasks):
    """Return the number of a task that nobody has taken, from the own queue if it has one; -1 if there is none.

    The tasks of a step are cut into queues of about the same length.
    """
    n_queues, address = np.int64(claims.shape[0]), claims.ctypes.data
    for k in range(n_queues):
        queue = (own + k) % n_queues
        first, last = queue * n_tasks // n_queues, (queue + 1) * n_tasks // n_queues
        counter = address + 8 * LINE * queue
        if first + read_at(counter) < last:
            task = first + add_at(counter, 1)
            if task < last:
                return task
    return np.int64(-1)


@inner_kernel
def wait_for_tasks(work, step, n_tasks):
    """Wait until all tasks of a step are done; return whether they are, and not given up."""
    counter, stopped = work.done.ctypes.data + 8 * LINE * step, work.stopped.ctypes.data
    n_looks = 0
    while read_at(counter) < n_tasks:
        if read_at(stopped) != 0:
            return False
        n_looks += 1
        if n_looks > MAX_LOOKS:
            call_at(work.yield_address)
    return True


@kernel
def grow_together(inputs, buffers, tree, work, member, first_step, last_step):
    """Take part in some steps of the growth of a tree; other threads in this call take part, too.

    ``buffers.search`` are those of this thread, all other arrays are shared. ``member`` is the number of the thread.
    """
    for step in range(first_step, last_step):
        kind, depth, n_done = step % N_STEPS, step // N_STEPS, 0
        n_tasks = np.int64(count_tasks(inputs, buffers, kind, depth))
        task = take_task(work.claims[step], member, n_tasks)
        while task >= 0:
            do_task(inputs, buffers, tree, kind, depth, task)
            n_done += 1
            task = take_task(work.claims[step], member, n_tasks)
        add_at(work.done.ctypes.data + 8 * LINE * step, n_done)
        if not wait_for_tasks(work, step, n_tasks):
            return
