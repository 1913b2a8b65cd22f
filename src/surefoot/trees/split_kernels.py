"""The best split of one node, for any number of classes.

Weights are whole numbers, so that class sums do not depend on the order of the rows.
"""

from typing import NamedTuple

import numpy as np

from surefoot._jit import inner_kernel, kernel

GINI, ERROR = 0, 1
BYTE = np.uint64(255)
TIE = 1e-12  # gains this close, relative to the node, tie: the first feature and the lowest threshold win


class ClassificationTable(NamedTuple):
    """Codes (columns, rows), the code of missing values of each column, and which columns are categorical.

    If none is, ``is_categorical`` is None, and the code for categories is not compiled. Kernels have it as an argument
    of their own: a field of a record would not do.
    """

    codes: np.ndarray
    missing: np.ndarray
    is_categorical: np.ndarray | None


class WeightedClasses(NamedTuple):
    """The class of every row of the table, and whole weights of the rows from ``first_row`` on."""

    classes: np.ndarray
    weights: np.ndarray
    first_row: int
    n_classes: int
    criterion: int


class GrownTree(NamedTuple):
    """The nodes and leaves of one tree, in heap order, and the rows of each leaf."""

    features: np.ndarray
    below: np.ndarray
    above: np.ndarray
    missing_right: np.ndarray
    sets: np.ndarray
    gains: np.ndarray
    labels: np.ndarray
    rows: np.ndarray  # the rows, leaf after leaf
    leaf_ends: np.ndarray  # where the rows of each leaf end


class FeatureSplits(NamedTuple):
    """The best split of each feature for one node."""

    scores: np.ndarray  # -1: the feature cannot split the node
    places: np.ndarray  # the last code on the left; for categories, how many go left
    missing_right: np.ndarray
    orders: np.ndarray  # (columns, 256): the categories in their order; empty if no feature is categorical


class NodeSplit(NamedTuple):
    """The split of one node: an entry of ``FeatureSplits``."""

    feature: int
    score: float
    place: int
    missing_right: bool
    order: np.ndarray


class NodeBuffers(NamedTuple):
    """Buffers for the split of one node."""

    rows: np.ndarray
    histogram: np.ndarray  # (codes, classes)
    sums: np.ndarray  # (3, classes): of the node, of its left side and of its right side
    goes_right: np.ndarray  # per code
    splits: FeatureSplits


def make_buffers(table: ClassificationTable, rows: np.ndarray, n_classes: int) -> NodeBuffers:
    """Allocate the buffers of one thread, for nodes with some of the ``rows``."""
    n_columns, n_codes = len(table.codes), int(table.missing.max()) + 1
    return NodeBuffers(
        rows=np.empty_like(rows),
        histogram=np.empty((n_codes, n_classes), dtype=np.int64),
        sums=np.empty((3, n_classes), dtype=np.int64),
        goes_right=np.empty(n_codes, dtype=np.uint8),
        splits=FeatureSplits(
            scores=np.full(n_columns, -1.0),
            places=np.zeros(n_columns, dtype=np.int64),
            missing_right=np.ones(n_columns, dtype=np.bool_),
            orders=np.empty((n_columns, 0 if table.is_categorical is None else 256), dtype=np.int64),
        ),
    )


@inner_kernel
def add_up(values):
    """Return the sum of whole numbers: the methods of arrays take much longer to compile."""
    total = np.int64(0)
    for i in range(values.shape[0]):
        total += values[i]
    return total


@inner_kernel
def largest_place(values):
    """Return the place of the largest value; the first if values tie."""
    place = 0
    for i in range(1, values.shape[0]):
        if values[i] > values[place]:
            place = i
    return place


@inner_kernel
def class_weights(rows, classes, weights, first_row, out):
    """Write the weights of ``rows`` by class."""
    for c in range(out.shape[0]):
        out[c] = 0
    for i in rows:
        out[classes[i]] += weights[i - first_row]


@inner_kernel
def side_score(side, weight, criterion):
    """Purity of a side: sum of squared class weights over the weight (Gini), or the largest class weight (error)."""
    squares = 0.0
    largest = 0.0
    for c in range(side.shape[0]):
        squares += float(side[c]) * float(side[c])
        largest = max(largest, float(side[c]))
    return squares / weight if criterion == GINI else largest


@inner_kernel
def split_score(left, total, right, criterion):
    """Score of a split by the class weights on its left, higher is better; -1 if a side is empty. Writes ``right``."""
    left_weight = 0.0
    right_weight = 0.0
    for c in range(left.shape[0]):
        right[c] = total[c] - left[c]
        left_weight += float(left[c])
        right_weight += float(right[c])
    if left_weight <= 0.0 or right_weight <= 0.0:
        return -1.0
    return side_score(left, left_weight, criterion) + side_score(right, right_weight, criterion)


@inner_kernel
def fill_histogram(column, rows, classes, weights, first_row, histogram):
    """Write the weights of ``rows`` by code and class."""
    histogram[:] = 0
    for i in rows:
        histogram[column[i], classes[i]] += weights[i - first_row]


@inner_kernel
def scan_numbers(histogram, missing, total, criterion, left, right):
    """Best split of ordered codes: (score, last code on the left, missing values right?)."""
    best, best_code, best_right = -1.0, 0, True
    has_missing = add_up(histogram[missing]) > 0
    for way in range(2 if has_missing else 1):
        left[:] = 0
        if way == 1:
            for c in range(left.shape[0]):
                left[c] = histogram[missing, c]
        for code in range(missing):
            for c in range(left.shape[0]):
                left[c] += histogram[code, c]
            score = split_score(left, total, right, criterion)
            if score > best * (1.0 + TIE) or (best < 0.0 and score >= 0.0):
                best, best_code, best_right = score, code, way == 0
    return best, best_code, best_right


@inner_kernel
def order_categories(histogram, missing, target, order):
    """Write the codes that occur, by rising fraction of the class ``target``; return how many there are."""
    n = 0
    for code in range(missing + 1):
        weight = float(add_up(histogram[code]))
        if weight > 0.0:
            fraction = float(histogram[code, target]) / weight
            place = n
            while place > 0:
                other = order[place - 1]
                if float(histogram[other, target]) / float(add_up(histogram[other])) <= fraction * (1.0 + TIE):
                    break
                order[place] = other
                place -= 1
            order[place] = code
            n += 1
    return n


@inner_kernel
def scan_categories(histogram, missing, total, criterion, order, left, right):
    """Best split of the categories in their order: (score, number that go left).

    Two classes: categories are sorted by the fraction of one class, and the best set is a prefix of that order (Breiman
    et al. 1984). Several classes: sorted by the fraction of the class with the largest weight, a heuristic.
    """
    target = 1 if total.shape[0] == 2 else largest_place(total)
    n = order_categories(histogram, missing, target, order)
    best, n_left = -1.0, 0
    left[:] = 0
    for k in range(n - 1):
        for c in range(left.shape[0]):
            left[c] += histogram[order[k], c]
        score = split_score(left, total, right, criterion)
        if score > best * (1.0 + TIE) or (best < 0.0 and score >= 0.0):
            best, n_left = score, k + 1
    return best, n_left


@inner_kernel
def scan_feature(is_categorical, table, target, j, histogram, sums, splits):
    """Write the best split by feature ``j`` to ``splits``, given its histogram and the class weights ``sums[0]``."""
    scores, places, criterion, missing = splits.scores, splits.places, target.criterion, table.missing[j]
    total, left, right = sums[0], sums[1], sums[2]
    if is_categorical is not None and is_categorical[j]:
        scores[j], places[j] = scan_categories(histogram, missing, total, criterion, splits.orders[j], left, right)
    else:
        found = scan_numbers(histogram, missing, total, criterion, left, right)
        scores[j], places[j], splits.missing_right[j] = found


@kernel
def sum_words(words, target, rows, sums):
    """Write the weights of ``rows`` by class and code, eight columns at a time, to ``sums``: (groups, classes * 2048).

    ``words`` has the codes of the rows from ``target.first_row`` on.
    """
    classes, weights, first_row = target.classes, target.weights, np.uint64(target.first_row)
    for group in range(words.shape[0]):
        own_words, own = words[group], sums[group]
        own[:] = 0
        for i in range(np.uint64(rows.shape[0])):
            row = np.uint64(rows[i])
            word, weight = own_words[row - first_row], weights[row - first_row]
            bins = np.uint64(classes[row]) * np.uint64(2048)
            own[bins + (word & BYTE)] += weight
            own[bins + np.uint64(256) + ((word >> np.uint64(8)) & BYTE)] += weight
            own[bins + np.uint64(512) + ((word >> np.uint64(16)) & BYTE)] += weight
            own[bins + np.uint64(768) + ((word >> np.uint64(24)) & BYTE)] += weight
            own[bins + np.uint64(1024) + ((word >> np.uint64(32)) & BYTE)] += weight
            own[bins + np.uint64(1280) + ((word >> np.uint64(40)) & BYTE)] += weight
            own[bins + np.uint64(1536) + ((word >> np.uint64(48)) & BYTE)] += weight
            own[bins + np.uint64(1792) + (word >> np.uint64(56))] += weight


@kernel
def try_summed_features(table, target, features, parts, buffers, splits):
    """As ``search_features``, from the sums of ``sum_words`` over several parts of the rows."""
    for j in features:
        used, first = buffers.histogram[: table.missing[j] + 1], 256 * (j % 8)
        used[:] = 0
        for part in range(parts.shape[0]):
            for c in range(used.shape[1]):
                for code in range(used.shape[0]):
                    used[code, c] += parts[part, j // 8, 2048 * c + first + code]
        scan_feature(table.is_categorical, table, target, j, used, buffers.sums, splits)


@inner_kernel
def mark_number_split(histogram, missing, code, missing_right, goes_right):
    """Write which codes go right; return the last occupied code on the left and the first on the right."""
    left = np.int64(0)
    right = np.int64(0)
    for k in range(missing):
        goes_right[k] = k > code
        if k > code:
            right += add_up(histogram[k])
        else:
            left += add_up(histogram[k])
    goes_right[missing] = missing_right if add_up(histogram[missing]) > 0 else left < right * (1.0 - TIE)
    below, above = code, code + 1
    while below > 0 and add_up(histogram[below]) == 0:
        below -= 1
    while above < missing and add_up(histogram[above]) == 0:
        above += 1
    return below, above


@inner_kernel
def mark_category_split(histogram, missing, n_left, order, goes_right):
    """Write which codes go right; codes without rows go with the missing values, or else with the heavier side."""
    n = 0
    left_weight, weight = np.int64(0), np.int64(0)
    for code in range(missing + 1):
        n += add_up(histogram[code]) > 0
    for k in range(n):
        of_code = add_up(histogram[order[k]])
        weight += of_code
        left_weight += of_code if k < n_left else 0
    unseen_right = 2.0 * left_weight < float(weight) * (1.0 - TIE)
    for k in range(n):
        if order[k] == missing:
            unseen_right = k >= n_left
    for code in range(missing + 1):
        goes_right[code] = unseen_right
    for k in range(n):
        goes_right[order[k]] = k >= n_left


@inner_kernel
def partition_rows(column, goes_right, rows, scratch):
    """Reorder ``rows``: those that go left first, then the others, each in their order; return how many go left."""
    n_left = 0
    n_right = 0
    for i in rows:
        if goes_right[column[i]]:
            scratch[n_right] = i
            n_right += 1
        else:
            rows[n_left] = i
            n_left += 1
    for i in range(n_right):
        rows[n_left + i] = scratch[i]
    return n_left


@inner_kernel
def write_split(is_categorical, table, target, split, node, rows, buffers, tree):
    """Write a node's split to ``tree`` and reorder the node's rows by it; return how many go left.

    ``buffers.sums[0]`` are the class weights of the node.
    """
    column, missing, total = table.codes[split.feature], table.missing[split.feature], buffers.sums[0]
    histogram, goes_right = buffers.histogram[: missing + 1], buffers.goes_right
    fill_histogram(column, rows, target.classes, target.weights, target.first_row, histogram)
    if is_categorical is not None and is_categorical[split.feature]:
        mark_category_split(histogram, missing, split.place, split.order, goes_right)
        for code in range(missing):
            if goes_right[code]:
                tree.sets[node, code >> 6] |= np.uint64(1) << np.uint64(code & 63)
    else:
        ends = mark_number_split(histogram, missing, split.place, split.missing_right, goes_right)
        tree.below[node], tree.above[node] = ends
    tree.features[node] = split.feature
    tree.missing_right[node] = goes_right[missing] != 0
    tree.gains[node] = max(0.0, split.score - side_score(total, float(add_up(total)), target.criterion))
    return partition_rows(column, goes_right, rows, buffers.rows)


@inner_kernel
def label_leaves(target, total, tree):
    """Write the class with the largest weight of every leaf; if classes tie, the first. ``total`` is a buffer."""
    start = 0
    for leaf in range(tree.leaf_ends.shape[0]):
        end = tree.leaf_ends[leaf]
        class_weights(tree.rows[start:end], target.classes, target.weights, target.first_row, total)
        threshold, label = float(total[largest_place(total)]) * (1.0 - TIE), 0
        while total[label] < threshold:
            label += 1
        tree.labels[leaf] = label
        start = end


@kernel
def predict_rows(tree, first_row, labels):
    """Write the label of its leaf for every row of the tree; the first of ``labels`` is that of ``first_row``."""
    start = 0
    for leaf in range(tree.leaf_ends.shape[0]):
        for i in tree.rows[start : tree.leaf_ends[leaf]]:
            labels[i - first_row] = tree.labels[leaf]
        start = tree.leaf_ends[leaf]


@inner_kernel
def count_classes(total):
    """Return the number of classes with weight."""
    n = 0
    for c in range(total.shape[0]):
        n += total[c] != 0
    return n


@inner_kernel
def choose_feature(splits):
    """Return the feature with the best split, the first if features tie; -1 if no feature can split the node."""
    best = splits.scores[largest_place(splits.scores)]
    if best < 0.0:
        return -1
    feature = 0
    while splits.scores[feature] < best * (1.0 - TIE):
        feature += 1
    return feature


@kernel
def grow_tree(table, target, depth, buffers, tree):
    """Split all nodes of a perfect tree and label its leaves; a node that cannot be split sends all its rows left.

    Reads ``tree.rows`` and writes all of ``tree``. The whole tree in one kernel: what the kernels that a kernel calls
    call in turn is compiled again for each of them.
    """
    ends, splits, total, missing = tree.leaf_ends, buffers.splits, buffers.sums[0], table.missing
    ends[0] = tree.rows.shape[0]
    for level in range(depth):
        n_nodes = 1 << level
        for k in range(n_nodes - 1, -1, -1):  # backwards: the two ends of a node overwrite those of later nodes
            start, end = ends[k - 1] if k > 0 else 0, ends[k]
            node, rows, n_left, feature = n_nodes - 1 + k, tree.rows[start:end], end - start, -1
            class_weights(rows, target.classes, target.weights, target.first_row, total)
            if count_classes(total) > 1:
                for j in range(missing.shape[0]):
                    used = buffers.histogram[: missing[j] + 1]
                    fill_histogram(table.codes[j], rows, target.classes, target.weights, target.first_row, used)
                    splits.missing_right[j] = True
                    scan_feature(table.is_categorical, table, target, j, used, buffers.sums, splits)
                feature = choose_feature(splits)
            if feature >= 0:
                split = NodeSplit(
                    feature=feature,
                    score=splits.scores[feature],
                    place=splits.places[feature],
                    missing_right=splits.missing_right[feature],
                    order=splits.orders[feature],
                )
                n_left = write_split(table.is_categorical, table, target, split, node, rows, buffers, tree)
            ends[2 * k] = start + n_left
            ends[2 * k + 1] = end
    label_leaves(target, total, tree)


# The parts of a tree, for trees of large tables whose columns or rows are divided among threads.


@kernel
def sum_classes(rows, classes, weights, first_row, out):
    """As ``class_weights``."""
    class_weights(rows, classes, weights, first_row, out)


@kernel
def search_features(table, target, features, rows, buffers, splits):
    """Write the best split of ``rows`` by each of some features to ``splits``; ``buffers`` has their class weights."""
    for j in features:
        used = buffers.histogram[: table.missing[j] + 1]
        fill_histogram(table.codes[j], rows, target.classes, target.weights, target.first_row, used)
        scan_feature(table.is_categorical, table, target, j, used, buffers.sums, splits)


@kernel
def split_rows(table, target, split, node, rows, buffers, tree):
    """As ``write_split``."""
    return write_split(table.is_categorical, table, target, split, node, rows, buffers, tree)


@kernel
def write_labels(target, total, tree):
    """As ``label_leaves``."""
    label_leaves(target, total, tree)
