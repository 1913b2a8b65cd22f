"""The best split of one node, for any number of classes.

Weights are whole numbers, so that class sums do not depend on the order of the rows.
"""

import numpy as np

from surefoot._jit import kernel

GINI, ERROR = 0, 1
TIE = 1e-12  # gains this close, relative to the node, are one gain: the first feature and the lowest threshold win


@kernel
def class_weights(rows, classes, weights, first_row, out):
    """Add up the weights of ``rows`` by class."""
    for i in rows:
        out[classes[i]] += weights[i - first_row]


@kernel
def side_score(side, weight, criterion):
    """How pure a side is: the sum of squared class weights over the weight (Gini), or the heaviest class (error)."""
    squares = 0.0
    most = 0.0
    for c in range(side.shape[0]):
        squares += float(side[c]) * float(side[c])
        most = max(most, float(side[c]))
    return squares / weight if criterion == GINI else most


@kernel
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


@kernel
def fill_histogram(column, rows, classes, weights, first_row, histogram):
    """Add up the weights of ``rows`` by code and class."""
    for i in rows:
        histogram[column[i], classes[i]] += weights[i - first_row]


@kernel
def scan_numbers(histogram, missing, total, criterion, left, right):
    """Best split of ordered codes: (score, last code on the left, missing values right?)."""
    best, best_code, best_right = -1.0, 0, True
    has_missing = histogram[missing].sum() > 0
    for way in range(2 if has_missing else 1):
        left[:] = 0
        if way == 1:
            left[:] = histogram[missing]
        for code in range(missing):
            for c in range(left.shape[0]):
                left[c] += histogram[code, c]
            score = split_score(left, total, right, criterion)
            if score > best * (1.0 + TIE) or (best < 0.0 and score >= 0.0):
                best, best_code, best_right = score, code, way == 0
    return best, best_code, best_right


@kernel
def order_categories(histogram, missing, target, order):
    """Write the codes that occur, by rising share of the class ``target``; return how many there are."""
    n = 0
    for code in range(missing + 1):
        weight = float(histogram[code].sum())
        if weight > 0.0:
            share = float(histogram[code, target]) / weight
            place = n
            while place > 0:
                other = order[place - 1]
                if float(histogram[other, target]) / float(histogram[other].sum()) <= share * (1.0 + TIE):
                    break
                order[place] = other
                place -= 1
            order[place] = code
            n += 1
    return n


@kernel
def scan_categories(histogram, missing, total, criterion, order, left, right):
    """Best first part of the categories in their order: (score, how many go left, how many there are).

    Two classes: sorted by the share of one of them, the best set is a first part (Breiman et al. 1984). Several
    classes: sorted by the share of the heaviest, a rule of thumb.
    """
    target = 1 if total.shape[0] == 2 else np.argmax(total)
    n = order_categories(histogram, missing, target, order)
    best, n_left = -1.0, 0
    left[:] = 0
    for k in range(n - 1):
        for c in range(left.shape[0]):
            left[c] += histogram[order[k], c]
        score = split_score(left, total, right, criterion)
        if score > best * (1.0 + TIE) or (best < 0.0 and score >= 0.0):
            best, n_left = score, k + 1
    return best, n_left, n


@kernel
def try_features(
    codes,
    missing,
    is_categorical,
    features,
    rows,
    classes,
    weights,
    first_row,
    total,
    criterion,
    histogram,
    scores,
    places,
    rights,
):
    """Write each feature's best split of ``rows``: its score, the last code (or how many categories) on the left, and
    whether missing values go right."""
    left = np.zeros(total.shape[0], np.int64)
    right = np.zeros(total.shape[0], np.int64)
    order = np.empty(256, np.int64)
    for j in features:
        used = histogram[: missing[j] + 1]
        used[:] = 0
        fill_histogram(codes[j], rows, classes, weights, first_row, used)
        if is_categorical[j]:
            scores[j], places[j], _ = scan_categories(used, missing[j], total, criterion, order, left, right)
        else:
            scores[j], places[j], rights[j] = scan_numbers(used, missing[j], total, criterion, left, right)


@kernel
def mark_number_split(histogram, missing, code, missing_right, goes_right):
    """Write which codes go right; return the last occupied code on the left and the first on the right."""
    left = np.int64(0)
    right = np.int64(0)
    for k in range(missing):
        goes_right[k] = k > code
        if k > code:
            right += histogram[k].sum()
        else:
            left += histogram[k].sum()
    goes_right[missing] = missing_right if histogram[missing].sum() > 0 else left < right * (1.0 - TIE)
    below, above = code, code + 1
    while below > 0 and histogram[below].sum() == 0:
        below -= 1
    while above < missing and histogram[above].sum() == 0:
        above += 1
    return below, above


@kernel
def mark_category_split(histogram, missing, total, criterion, goes_right):
    """Write which codes go right; those that no row has follow the missing values, or else the heavier side."""
    order = np.empty(256, np.int64)
    left = np.zeros(total.shape[0], np.int64)
    _, n_left, n = scan_categories(histogram, missing, total, criterion, order, left, left.copy())
    left_weight = np.int64(0)
    for k in range(n_left):
        left_weight += histogram[order[k]].sum()
    unseen_right = 2.0 * left_weight < float(total.sum()) * (1.0 - TIE)
    for k in range(n):
        if order[k] == missing:
            unseen_right = k >= n_left
    goes_right[: missing + 1] = unseen_right
    for k in range(n):
        goes_right[order[k]] = k >= n_left


@kernel
def part_rows(column, goes_right, rows, scratch):
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
    rows[n_left:] = scratch[:n_right]
    return n_left
