"""Rounds of AdaBoost with stumps for two classes; each round changes the weights of as few rows as possible.

Two ideas make a round cheap.

*Whole-number weights.* A row's weight is an integer; its true weight is that integer times the scale of its class.
Sums of integers are exact and do not depend on their order, so histograms can be updated in every round without
rounding errors, and any number of threads gives the same model to the byte.

*Only the smaller side changes.* Within one class, a stump is wrong on one side of its split only. Either the weights on
that side grow, or those on the other side shrink and the scale of the class grows: the true weights are the same. The
side with fewer rows is changed; if a stump gives both sides the same label, no row is changed.
"""

from typing import NamedTuple

import numpy as np

from surefoot._jit import inner_kernel, kernel

GINI, ERROR = 0, 1
GOING_ON, PERFECT, CHANCE = 0, 1, 2
BEGINS, CHANGES, ENDS = 1, 2, 4  # the parts of a round

BLOCK = 8192  # rows reweighted at a time: their indices and changes stay in the first-level cache
START_TOTAL = 2.0**58  # a class's weights add up to about this number ...
MAX_TOTAL = 2**62  # ... they are scaled down above this sum
MIN_TOTAL = 2**54  # ... and up below this sum
TIE = 1e-12  # gains this close are a tie: the first feature and the lowest threshold are chosen
CHANCE_ERROR = 0.5 - 1e-12
MAX_GROWTH = 500.0  # log of the largest factor of weights in one round: no float overflows


# These records are in this file because the compile cache does not notice a change of their fields in another file.


class Rule(NamedTuple):
    """How stumps are chosen and their votes are weighted."""

    criterion: int  # GINI or ERROR
    star: bool  # AdaBoost*_v instead of AdaBoost
    learning_rate: float
    precision: float  # v


class MemberState(NamedTuple):
    """One member's rows and sums of their weights; class c is [segments[0, c, 0], segments[-1, c, 1])."""

    codes: np.ndarray
    offsets: np.ndarray
    missing: np.ndarray
    is_categorical: np.ndarray | None  # None: no feature is, and what is only for categories is not compiled
    first_row: int
    segments: np.ndarray  # (threads, 2 classes, 2): table rows of each thread and class
    weights: np.ndarray  # whole numbers, one per row from first_row on
    histograms: np.ndarray  # (threads, 2 classes, bins): summed weights
    row_counts: np.ndarray  # (2 classes, bins): rows with a weight
    totals: np.ndarray  # (2,): summed weights of each class
    scales: np.ndarray  # (2,): true weight = scale * whole number


class StumpRounds(NamedTuple):
    """The result of the rounds: one stump each."""

    features: np.ndarray  # -1: no split, every row goes left
    below: np.ndarray  # the last bin on the left that has rows ...
    above: np.ndarray  # ... and the first on the right
    missing_right: np.ndarray
    sets: np.ndarray  # (rounds, 4): a bit per category code, 1 goes right
    gains: np.ndarray
    labels: np.ndarray  # (rounds, 2): left, right
    errors: np.ndarray
    vote_weights: np.ndarray


class Scratch(NamedTuple):
    """Work space of one member."""

    sums: np.ndarray  # (2, bins): histograms of all threads together
    stale: np.ndarray  # (1,): whether the histograms have changed since ``sums`` and ``left`` were made
    left: np.ndarray  # (2, bins): class weights in a bin and all bins before it
    gains: np.ndarray  # (2, bins): gain of a split after a bin; missing values right, left
    best: np.ndarray  # (2, features): the largest of these
    goes_right: np.ndarray  # per code of the chosen feature
    category_orders: np.ndarray  # (2, codes): of the best categorical feature so far, and of another
    weights_right: np.ndarray  # (2,): per class, the weight that goes right ...
    rows_right: np.ndarray  # ... and the number of rows
    side: np.ndarray  # per class: the side on which weights change (-1: none)
    factor: np.ndarray  # per class: the factor of these weights
    edge: np.ndarray  # (1,): the smallest edge so far
    changed: np.ndarray  # (threads, block): rows of a block with changed weights ...
    change: np.ndarray  # ... and the changes
    growth: np.ndarray  # (threads, 2): the sum of all changes of each class


@inner_kernel
def split_gain(left_0, left_1, total_0, total_1, criterion):
    """Return the gain (up to a constant) of a split with these true class weights on the left; -1 for an empty side."""
    right_0 = total_0 - left_0
    right_1 = total_1 - left_1
    both = (left_0 + left_1) * (right_0 + right_1)
    cross = left_1 * right_0 - left_0 * right_1
    gain = cross * cross / both if criterion == GINI else max(left_0, left_1) + max(right_0, right_1)
    return gain if both > 0.0 else -1.0


@inner_kernel
def add_up(sums, offsets, left):
    """Write, for every bin of every feature, the class weights in it and in all bins before it."""
    for j in range(offsets.shape[0] - 1):
        first, last = offsets[j], offsets[j + 1]
        sums_0, sums_1 = sums[0, first:last], sums[1, first:last]
        out_0, out_1 = left[0, first:last], left[1, first:last]
        left_0 = np.int64(0)
        left_1 = np.int64(0)
        for b in range(last - first):
            left_0 += sums_0[b]
            left_1 += sums_1[b]
            out_0[b] = left_0
            out_1[b] = left_1


@inner_kernel
def try_splits(whole_0, whole_1, missing_0, missing_1, totals, scales, criterion, gains):
    """Write the gain of splitting after each bin; ``missing_0`` and ``missing_1`` are further weights on the left."""
    scale_0, scale_1 = scales[0], scales[1]
    total_0, total_1 = totals[0] * scale_0, totals[1] * scale_1
    if criterion == GINI:  # one loop per criterion: the compiler vectorises only such loops
        for b in range(gains.shape[0]):
            left_0, left_1 = (whole_0[b] + missing_0) * scale_0, (whole_1[b] + missing_1) * scale_1
            gains[b] = split_gain(left_0, left_1, total_0, total_1, GINI)
    else:
        for b in range(gains.shape[0]):
            left_0, left_1 = (whole_0[b] + missing_0) * scale_0, (whole_1[b] + missing_1) * scale_1
            gains[b] = split_gain(left_0, left_1, total_0, total_1, ERROR)


@inner_kernel
def write_largest(gains, out):
    """Write the largest gain to ``out[0]``. Floats of 0 or more keep their order as integers, which compare faster."""
    whole = gains.view(np.int64)
    best = whole[0]
    for b in range(whole.shape[0]):
        best = max(best, whole[b])
    out.view(np.int64)[0] = best


@inner_kernel
def best_numeric_split(is_categorical, member, sums, criterion, scratch):
    """Return the best numeric split: (gain, feature, bin, whether missing values go right), gain -1 for none."""
    offsets, gains = member.offsets, scratch.gains
    if scratch.stale[0]:
        add_up(sums, offsets, scratch.left)
        scratch.stale[0] = False
    left_0, left_1 = scratch.left[0], scratch.left[1]
    try_splits(left_0, left_1, 0, 0, member.totals, member.scales, criterion, gains[0])
    best = -1.0
    for j in range(offsets.shape[0] - 1):
        first, missing = offsets[j], offsets[j] + member.missing[j]
        scratch.best[0, j] = -1.0
        scratch.best[1, j] = -1.0
        if missing == first:
            continue
        if is_categorical is not None and is_categorical[j]:
            continue
        for way in range(2 if sums[0, missing] + sums[1, missing] > 0 else 1):
            feature_gains = gains[way, first:missing]
            if way == 1:
                missing_0, missing_1 = sums[0, missing], sums[1, missing]
                try_splits(
                    left_0[first:missing],
                    left_1[first:missing],
                    missing_0,
                    missing_1,
                    member.totals,
                    member.scales,
                    criterion,
                    feature_gains,
                )
            write_largest(feature_gains, scratch.best[way, j : j + 1])
            best = max(best, scratch.best[way, j])
    for j in range(offsets.shape[0] - 1):  # the first of all splits that tie
        for way in range(2):
            if scratch.best[way, j] >= 0.0 and scratch.best[way, j] >= best * (1.0 - TIE):
                b = offsets[j]
                while gains[way, b] < best * (1.0 - TIE):
                    b += 1
                return best, j, b - offsets[j], way == 0
    return -1.0, -1, 0, False


@inner_kernel
def best_category_set(member, sums, criterion, feature, order):
    """Return the best set of categories: (gain, number of categories in ``order`` that go left, number of categories).

    Missing values are another category. If categories are sorted by their fraction of class 1, the best set is the
    beginning of the order (Breiman et al. 1984).
    """
    first = member.offsets[feature]
    scale_0, scale_1 = member.scales[0], member.scales[1]
    n = 0
    for code in range(member.missing[feature] + 1):
        zero, one = sums[0, first + code] * scale_0, sums[1, first + code] * scale_1
        if zero + one > 0.0:
            place = n
            while place > 0:
                other = first + order[place - 1]
                if one * (sums[0, other] * scale_0) * (1.0 + TIE) >= zero * (sums[1, other] * scale_1):
                    break
                order[place] = order[place - 1]
                place -= 1
            order[place] = code
            n += 1
    best = -1.0
    n_left = 0
    left_0 = np.int64(0)
    left_1 = np.int64(0)
    for k in range(n - 1):
        left_0 += sums[0, first + order[k]]
        left_1 += sums[1, first + order[k]]
        gain = split_gain(
            left_0 * scale_0, left_1 * scale_1, member.totals[0] * scale_0, member.totals[1] * scale_1, criterion
        )
        if gain > best * (1.0 + TIE) or best < 0.0:
            best = gain
            n_left = k + 1
    return best, n_left, n


@inner_kernel
def mark_number_split(sums, first, missing, b, missing_right, t, goes_right, rounds):
    """Write a numeric split: the codes that go right, and the nearest bins with rows on both sides of the threshold."""
    for k in range(missing):
        goes_right[k] = k > b
    goes_right[missing] = missing_right
    below = b
    while below > 0 and sums[0, first + below] + sums[1, first + below] == 0:
        below -= 1
    above = b + 1
    while above < missing and sums[0, first + above] + sums[1, first + above] == 0:
        above += 1
    rounds.below[t] = below
    rounds.above[t] = above


@inner_kernel
def mark_category_split(missing, order, n_left, n_seen, unseen_right, t, goes_right, rounds):
    """Write a split by category: codes without rows go with the missing values, or else to the heavier side."""
    for k in range(missing + 1):
        goes_right[k] = unseen_right
    for k in range(n_seen):
        if order[k] == missing:
            goes_right[:] = k >= n_left
    for k in range(n_seen):
        goes_right[order[k]] = k >= n_left
    rounds.sets[t] = np.uint64(0)
    for k in range(missing):
        if goes_right[k]:
            rounds.sets[t, k // 64] |= np.uint64(1) << np.uint64(k % 64)


@inner_kernel
def is_left_lighter(member, sums, first, order, n_left, by_order):
    """Return whether the first ``n_left`` bins (in order, or of ``order``) have less than half of the weight."""
    left = 0.0
    for k in range(n_left):
        code = first + (order[k] if by_order else k)
        left += sums[0, code] * member.scales[0] + sums[1, code] * member.scales[1]
    total = member.totals[0] * member.scales[0] + member.totals[1] * member.scales[1]
    return 2.0 * left < total * (1.0 - TIE)


@inner_kernel
def best_split(is_categorical, member, sums, criterion, scratch):
    """Return the best split: (gain, feature, bin or number of categories on the left, missing values right?).

    ``is_categorical`` is that of the member, as an argument: what a None makes superfluous is not compiled. The
    categories of the best feature are in ``scratch.category_orders[0]``; the last number returned is their number.
    """
    gain, feature, b, missing_right = best_numeric_split(is_categorical, member, sums, criterion, scratch)
    n_seen = 0
    if is_categorical is not None:
        best_order, order = scratch.category_orders[0], scratch.category_orders[1]
        for j in range(is_categorical.shape[0]):
            if is_categorical[j]:
                set_gain, n_left, n = best_category_set(member, sums, criterion, j, order)
                ties_before = set_gain >= gain * (1.0 - TIE) and j < feature
                if set_gain >= 0.0 and (gain < 0.0 or ties_before or set_gain > gain * (1.0 + TIE)):
                    gain, feature, b, n_seen = set_gain, j, n_left, n
                    for k in range(n):
                        best_order[k] = order[k]
    return gain, feature, b, missing_right, n_seen


@inner_kernel
def write_split(is_categorical, member, sums, b, missing_right, n_seen, t, scratch, rounds):
    """Write the codes of the feature of round t that go right, and its nearest bins or its set."""
    feature, order = rounds.features[t], scratch.category_orders[0]
    first, missing = member.offsets[feature], member.missing[feature]
    by_category = False
    if is_categorical is not None:
        by_category = is_categorical[feature]
    # later missing values, and categories that no row has, go to the heavier side
    is_lighter = is_left_lighter(member, sums, first, order, b if by_category else b + 1, by_category)
    if is_categorical is not None and by_category:
        mark_category_split(missing, order, b, n_seen, is_lighter, t, scratch.goes_right, rounds)
    if not by_category:
        if sums[0, first + missing] + sums[1, first + missing] == 0:
            missing_right = is_lighter
        mark_number_split(sums, first, missing, b, missing_right, t, scratch.goes_right, rounds)
    rounds.missing_right[t] = scratch.goes_right[missing]


@inner_kernel
def add_threads(histograms, sums):
    """Add the histograms of all threads into ``sums``."""
    sums[:] = 0
    for thread in range(histograms.shape[0]):
        for c in range(2):
            for b in range(sums.shape[1]):
                sums[c, b] += histograms[thread, c, b]


@kernel
def weigh_vote(error, rule, edge):
    """Return the vote weight of a stump with this error, and the factor of the weights of wrong rows."""
    odds = np.log((1.0 - error) / error)
    if not rule.star:
        weight = rule.learning_rate * odds
        return weight, np.exp(min(weight, MAX_GROWTH))
    edge[0] = min(edge[0], 1.0 - 2.0 * error)
    rho = edge[0] - rule.precision
    weight = 0.5 * odds - 0.5 * np.log((1.0 + rho) / (1.0 - rho))
    return weight, np.exp(min(2.0 * weight, MAX_GROWTH))


@inner_kernel
def sum_right(member, sums, feature, goes_right, weights_right, rows_right):
    """Write, per class, the sum of the whole-number weights and the number of rows with weight that go right."""
    for c in range(2):
        weights_right[c] = 0
        rows_right[c] = 0
        if feature >= 0:
            first = member.offsets[feature]
            for k in range(member.missing[feature] + 1):
                weights_right[c] += sums[c, first + k] * goes_right[k]
                rows_right[c] += member.row_counts[c, first + k] * goes_right[k]


@inner_kernel
def weigh_stump(member, rule, t, scratch, rounds):
    """Write the labels, error and vote of the stump of round t, and which weights change; return the status."""
    feature, right = rounds.features[t], scratch.weights_right
    right_0, right_1 = right[0] * member.scales[0], right[1] * member.scales[1]
    left_0 = (member.totals[0] - right[0]) * member.scales[0]
    left_1 = (member.totals[1] - right[1]) * member.scales[1]
    label_left = 1 if left_1 > left_0 * (1.0 + TIE) else 0
    label_right = label_left if feature < 0 else (1 if right_1 > right_0 * (1.0 + TIE) else 0)
    rounds.labels[t, 0] = label_left
    rounds.labels[t, 1] = label_right
    error = (left_0 if label_left == 1 else left_1) + (right_0 if label_right == 1 else right_1)
    rounds.errors[t] = error
    rounds.vote_weights[t] = 1.0  # remains 1 for a perfect stump, and for a first stump no better than chance
    if error <= 0.0:
        return PERFECT
    if error >= CHANCE_ERROR:
        return CHANCE
    rounds.vote_weights[t], factor = weigh_vote(error, rule, scratch.edge)
    plan_changes(member, feature, label_left, label_right, factor, scratch)
    return GOING_ON


@inner_kernel
def plan_changes(member, feature, label_left, label_right, factor, scratch):
    """Write, for each class, the side on which weights change and their factor; change the scale of the class."""
    for c in range(2):
        wrong_left = label_left != c
        wrong_right = label_right != c
        scratch.side[c] = -1
        if wrong_left and wrong_right:
            member.scales[c] *= factor
        elif wrong_left or wrong_right:
            side = 1 if wrong_right else 0
            rows = np.int64(0)
            for k in range(member.missing[0] + 1):  # any feature has every row once
                rows += member.row_counts[c, k]
            n_wrong = scratch.rows_right[c] if wrong_right else rows - scratch.rows_right[c]
            wrong = scratch.weights_right[c] if wrong_right else member.totals[c] - scratch.weights_right[c]
            if 2 * n_wrong <= rows and wrong * factor < MAX_TOTAL:
                scratch.side[c] = side
                scratch.factor[c] = factor
            else:
                scratch.side[c] = 1 - side
                scratch.factor[c] = 1.0 / factor
                member.scales[c] *= factor
            scratch.stale[0] = True


@inner_kernel
def change_weights(member, scratch, feature, thread):
    """Change the weights of one thread's rows as planned; update its histograms; write the growth of each class."""
    index, change, growth = scratch.changed[thread], scratch.change[thread], scratch.growth[thread]
    for c in range(2):
        growth[c] = 0
        side = scratch.side[c]
        factor = scratch.factor[c]
        first, last = member.segments[thread, c, 0], member.segments[thread, c, 1]
        if side < 0:
            continue
        histogram = member.histograms[thread, c]
        for start in range(first, last, BLOCK):
            stop = min(start + BLOCK, last)
            weights = member.weights[start - member.first_row : stop - member.first_row]
            column = member.codes[feature, start:stop]
            on_side = 0
            for i in range(stop - start):
                index[on_side] = i
                on_side += scratch.goes_right[column[i]] == side
            n = 0
            for k in range(on_side):
                i = index[k]
                old = weights[i]
                new = max(np.int64(old * factor + 0.5), np.int64(old > 0))
                weights[i] = new
                growth[c] += new - old
                index[n] = i
                change[n] = new - old
                n += old > 0  # rows that the member did not draw have no weight
            for j in range(member.codes.shape[0]):
                column = member.codes[j, start:stop]
                bins = histogram[member.offsets[j] : member.offsets[j + 1]]
                for k in range(n):
                    bins[column[index[k]]] += change[k]


@inner_kernel
def add_rows(member, thread, c):
    """Add all weights of one thread's rows of class c to its histograms."""
    histogram = member.histograms[thread, c]
    first, last = member.segments[thread, c, 0], member.segments[thread, c, 1]
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        weights = member.weights[start - member.first_row : stop - member.first_row]
        for j in range(member.codes.shape[0]):
            column = member.codes[j, start:stop]
            bins = histogram[member.offsets[j] : member.offsets[j + 1]]
            for i in range(stop - start):
                bins[column[i]] += weights[i]


@inner_kernel
def count_rows(member):
    """Count, per class and bin, the rows that have a weight."""
    for thread in range(member.segments.shape[0]):
        for c in range(2):
            first, last = member.segments[thread, c, 0], member.segments[thread, c, 1]
            for j in range(member.codes.shape[0]):
                bins = member.row_counts[c, member.offsets[j] : member.offsets[j + 1]]
                for i in range(first, last):
                    bins[member.codes[j, i]] += member.weights[i - member.first_row] > 0


@inner_kernel
def rescale(member, c):
    """Scale the whole-number weights of class c back to their initial total and rebuild its histograms."""
    factor = START_TOTAL / member.totals[c]
    total = np.int64(0)
    for thread in range(member.segments.shape[0]):
        for i in range(member.segments[thread, c, 0], member.segments[thread, c, 1]):
            old = member.weights[i - member.first_row]
            if old > 0:
                new = max(np.int64(old * factor + 0.5), 1)
                member.weights[i - member.first_row] = new
                total += new
        member.histograms[thread, c, :] = 0
        add_rows(member, thread, c)
    member.totals[c] = total
    member.scales[c] /= factor


@inner_kernel
def end_round(member, scratch):
    """Add the growth of the weights to the totals; rescale a class if its whole numbers leave their range."""
    for c in range(2):
        for thread in range(scratch.growth.shape[0]):
            member.totals[c] += scratch.growth[thread, c]
        if member.totals[c] > 0 and (member.totals[c] > MAX_TOTAL or member.totals[c] < MIN_TOTAL):
            rescale(member, c)
            scratch.stale[0] = True


@kernel
def run_rounds(member, rule, first, last, parts, scratch, rounds):
    """Run some parts of the rounds ``first`` to ``last - 1``; return (rounds done, status).

    A round chooses a stump, changes the weights of the first thread, and adds up the changes of all threads. If there
    are several, the changes of all are made by ``change_thread_weights``, between a call that begins and one that ends.
    """
    histograms, totals, scales = member.histograms, member.totals, member.scales
    for t in range(first, last):
        if parts & BEGINS:
            total = totals[0] * scales[0] + totals[1] * scales[1]
            scales[0] /= total
            scales[1] /= total
            sums = histograms[0]
            if histograms.shape[0] > 1:
                sums = scratch.sums
                if scratch.stale[0]:
                    add_threads(histograms, sums)
            gain, feature, b, missing_right, n_seen = best_split(
                member.is_categorical, member, sums, rule.criterion, scratch
            )
            rounds.features[t] = feature
            without_split = 0.0 if rule.criterion == GINI else max(totals[0] * scales[0], totals[1] * scales[1])
            rounds.gains[t] = max(gain - without_split, 0.0)
            if feature >= 0:
                write_split(member.is_categorical, member, sums, b, missing_right, n_seen, t, scratch, rounds)
            sum_right(member, sums, feature, scratch.goes_right, scratch.weights_right, scratch.rows_right)
            status = weigh_stump(member, rule, t, scratch, rounds)
            if status != GOING_ON:
                return t, status
        if parts & CHANGES:
            change_weights(member, scratch, rounds.features[t], 0)
        if parts & ENDS:
            end_round(member, scratch)
    return last, GOING_ON


@kernel
def sum_member(member):
    """Write the histograms of a new member, and the number of rows of each bin."""
    count_rows(member)
    for thread in range(member.segments.shape[0]):
        for c in range(2):
            add_rows(member, thread, c)


@kernel
def change_thread_weights(member, scratch, feature, thread):
    """As ``change_weights``, for rounds whose rows are divided among threads."""
    change_weights(member, scratch, feature, thread)
