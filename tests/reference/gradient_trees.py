"""Trees on gradients by plain loops: sums are whole numbers or fractions, so nothing is rounded.

Sums over some rows are a list ``[count, weight, score, score, ...]``; a node is a list of such sums, one per code of
a column. The last code is the one for missing values.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, inf

import numpy as np

from reference.split_mix import split_mix
from surefoot.trees.packed_codes import PackedCodes

COUNT, WEIGHT, SCORES = 0, 1, 2
RARE = 10


@dataclass
class CodedTable:
    """A small table of codes, whole scores and whole weights."""

    codes: np.ndarray
    n_codes: np.ndarray
    scores: np.ndarray
    is_categorical: np.ndarray
    weights: np.ndarray = field(default_factory=lambda: np.empty(0))

    def words(self):
        return PackedCodes(self.codes, self.n_codes - 1, self.is_categorical)

    def take(self, rows):
        """The table of some rows, each as often as it is named."""
        return CodedTable(
            np.ascontiguousarray(self.codes[:, rows]), self.n_codes, np.ascontiguousarray(self.scores[:, rows]),
            self.is_categorical, self.weights[rows],
        )  # fmt: skip


def draw_table(seed, n_rows, n_codes, *, n_scores=1, missing=0.0, categorical=(), largest=9, heaviest=1):
    """Codes, whole scores within ``largest`` and weights from 1 to ``heaviest``, at random; ``missing`` is a share."""
    rng = np.random.default_rng(seed)
    n_codes = np.array(n_codes, dtype=np.int64)
    codes = np.array([rng.integers(0, max(n - 1, 1), size=n_rows) for n in n_codes], dtype=np.uint8)
    lacking = rng.random(codes.shape) < missing
    codes = np.where(lacking, n_codes[:, np.newaxis] - 1, codes).astype(np.uint8)
    scores = rng.integers(-largest, largest + 1, size=(n_scores, n_rows)).astype(np.float64)
    is_categorical = np.isin(np.arange(len(n_codes)), categorical)
    weights = rng.integers(1, heaviest + 1, size=n_rows).astype(np.float64)
    return CodedTable(codes, n_codes, scores, is_categorical, weights)


# histograms.py


def histogram(codes, rows, values, n_codes):
    """The sums of the rows' ``values`` for each code of each column, end to end."""
    flat = []
    for column, n in zip(codes, n_codes, strict=True):
        sums = [[0] * len(values[0]) for _ in range(n)]
        for row, words in zip(rows, values, strict=True):
            for f, word in enumerate(words):
                sums[column[row]][f] += int(word)
        flat += [word for code in sums for word in code]
    return flat


# packed.py


def absolute_sum(score, weights, rows):
    return sum((abs(Fraction(score[i])) * Fraction(weights[i]) for i in rows), Fraction(0))


def dithers(row, key):
    """The two halves of the number that the published generator, started at ``key``, gives in the row's turn."""
    number = split_mix(key, row + 1)[-1]
    return [(number >> 32) / 2**32, (number % 2**32) / 2**32]


def pack_fields(first, second, count, count_bits):
    return (first * 2 ** ((64 - count_bits) // 2) + second) * 2**count_bits + count


def pack_row(scores, weight, scales, offsets, count_bits):
    """The word of one row with one or two scores."""
    fields = [floor(score * scale + offset) for score, scale, offset in zip(scores, scales, offsets, strict=False)]
    return pack_fields(fields[0], fields[1] if len(fields) > 1 else 0, 1, count_bits) * int(weight)


def widen_row(scores, weight, scales, weight_scale):
    exact = [Fraction(score) * Fraction(weight) * Fraction(scale) for score, scale in zip(scores, scales, strict=True)]
    return [int(weight > 0), round(Fraction(weight) * Fraction(weight_scale)), *map(round, exact)]


# gradient_splits.py


def add_sums(one, other):
    return [a + b for a, b in zip(one, other, strict=True)]


def total_of(parts, n_sums):
    total = [0] * n_sums
    for part in parts:
        total = add_sums(total, part)
    return total


def sums_by_code(column, n_codes, rows, scores, weights):
    """A node: the sums over its rows for each code, a row of weight k as k rows."""
    node = [[0] * (SCORES + len(scores)) for _ in range(n_codes)]
    for i in rows:
        weight = int(weights[i])
        row = [weight, weight, *(int(score[i]) * weight for score in scores)]
        node[column[i]] = add_sums(node[column[i]], row)
    return node


def worth(side, l2):
    return sum(Fraction(score) ** 2 for score in side[SCORES:]) / (side[WEIGHT] + Fraction(l2))


def split_gain(left, total, l2, least=1, constraint=0):
    """What two sides are worth more than their node; 0 where a side is too small or the means are out of order."""
    right = [whole - part for whole, part in zip(total, left, strict=True)]
    if any(0 < side[COUNT] < least for side in (left, right)):
        return Fraction(0)
    means = [Fraction(side[SCORES]) / (side[WEIGHT] + Fraction(l2)) for side in (left, right)]
    if (means[1] - means[0]) * constraint < 0:
        return Fraction(0)
    return worth(left, l2) + worth(right, l2) - worth(total, l2)


def set_gain(nodes, left_codes, l2, least=1, constraint=0):
    """The gains of all nodes together if these codes go left."""
    gain = Fraction(0)
    for node in nodes:
        total = total_of(node, len(node[0]))
        if total[COUNT]:
            left = total_of([node[code] for code in left_codes], len(node[0]))
            gain += split_gain(left, total, l2, least, constraint)
    return gain


def number_gains(nodes, has_missing, l2, least=1, constraint=0):
    """The gain of every split of a numeric column, by (last code on the left, missing values left?)."""
    missing = len(nodes[0]) - 1
    places = [(last, 0) for last in range(missing if has_missing else missing - 1)]
    places += [(last, 1) for last in range(missing - 1) if has_missing]
    gains = dict.fromkeys(places, Fraction(0))
    for node in nodes:
        total = total_of(node, len(node[0]))
        if total[COUNT]:
            left = {0: [0] * len(total), 1: node[missing]}
            for last, side in places:
                left[side] = add_sums(left[side], node[last])
                gains[last, side] += split_gain(left[side], total, l2, least, constraint)
    return gains


def category_means(nodes, score):
    """Each code's mean score over all nodes, drawn to zero as if it had ten rows more."""
    means = []
    for code in range(len(nodes[0])):
        sums = total_of([node[code] for node in nodes], len(nodes[0][0]))
        means.append(Fraction(sums[SCORES + score]) / (sums[WEIGHT] + RARE))
    return means


def category_sets(nodes, score):
    """The sets of codes that a split may send left: all those with a mean up to some bound."""
    means = category_means(nodes, score)
    return [[c for c, mean in enumerate(means) if mean <= bound] for bound in sorted(set(means))[:-1]]


def rows_of_code(code, nodes):
    return sum(node[code][COUNT] for node in nodes)


def is_first_part(left_codes, nodes, score):
    """Whether, of the codes with rows, none that goes right has a lower mean score than one that goes left."""
    means = {c: mean for c, mean in enumerate(category_means(nodes, score)) if rows_of_code(c, nodes)}
    left = [mean for code, mean in means.items() if code in left_codes]
    right = [mean for code, mean in means.items() if code not in left_codes]
    return not left or not right or max(left) <= min(right)


def are_absent_with_the_larger_side(left_codes, nodes):
    """Whether the codes that no row has go where most rows go; left, if there are as many on either side."""
    counts = [rows_of_code(code, nodes) for code in range(len(nodes[0]))]
    goes_left = 2 * sum(counts[code] for code in left_codes) >= sum(counts)
    return all((code in left_codes) == goes_left for code, count in enumerate(counts) if not count)


def fewest_and_most_with_rows(n_codes, nodes, score):
    """How many of the first codes in the order of their means have rows; equal means may stand in any order."""
    means = category_means(nodes, score)
    has_rows = [rows_of_code(code, nodes) > 0 for code in range(len(means))]
    orders = [sorted(range(len(means)), key=lambda c, n=n: (means[c], has_rows[c] != n)) for n in (False, True)]
    return [sum(has_rows[code] for code in order[:n_codes]) for order in orders]


def middle_place(gains, tie):
    """The highest gain and the middle of the first run of places that have it."""
    best = max(gains)
    first = next(place for place, gain in enumerate(gains) if gain >= best - tie)
    last = first
    while last + 1 < len(gains) and gains[last + 1] >= best - tie:
        last += 1
    return best, first + (last - first + 1) // 2


def noisy_place(gains, tie, scale, noise):
    """Where the first highest sum of gain and noise is, among places that gain anything."""
    sums = [gain + scale * more if gain > tie else -np.inf for gain, more in zip(gains, noise, strict=True)]
    return sums.index(max(sums))


def split_of_rows(table, rows, columns, l2, least, has_missing):
    """(gain, left rows, right rows) of the split with the highest gain, the first of those that tie; None: no gain."""
    best = (Fraction(0), [], [])
    for column in columns:
        codes, n_codes = table.codes[column], table.n_codes[column]
        node = sums_by_code(codes, n_codes, rows, table.scores, table.weights)
        if table.is_categorical[column]:
            sets = [part for k in range(len(table.scores)) for part in category_sets([node], k)]
            gains = [(set_gain([node], part, l2, least), part) for part in sets]
        else:
            missing = int(n_codes) - 1
            by_place = number_gains([node], has_missing[column], l2, least).items()
            gains = [(gain, [*range(last + 1), *[missing] * side]) for (last, side), gain in by_place]
        for gain, left_codes in gains:
            if gain > best[0]:
                left, right = (
                    [i for i in rows if codes[i] in left_codes],
                    [i for i in rows if codes[i] not in left_codes],
                )
                best = gain, left, right
    return best if best[0] > 0 else None


def best_first_leaves(table, max_leaf_nodes, depth, l2, least, has_missing):
    """The rows of each leaf, if the leaf with the highest gain is always split next."""
    columns, rows = range(len(table.codes)), list(range(table.codes.shape[1]))
    leaves = [(rows, 0, split_of_rows(table, rows, columns, l2, least, has_missing))]
    while len(leaves) < max_leaf_nodes:
        can_split = [leaf for leaf in leaves if leaf[2] is not None and leaf[1] < depth]
        if not can_split:
            break
        leaf = max(can_split, key=lambda one: one[2][0])
        leaves.remove(leaf)
        for side in leaf[2][1:]:
            leaves.append((side, leaf[1] + 1, split_of_rows(table, side, columns, l2, least, has_missing)))
    return sorted(rows for rows, _, _ in leaves)


# partition.py


def partition_rows(rows, goes_right, weights, least):
    """(left rows, right rows from the last to the first, kept?) of a node; ``goes_right`` is its split or None."""
    rows = list(rows)
    if goes_right is None:
        return rows, [], True
    left = [row for row in rows if not goes_right(row)]
    right = [row for row in reversed(rows) if goes_right(row)]
    if any(0 < sum(int(weights[row]) for row in side) < least for side in (left, right)):
        return rows, [], True
    return left, right, False


def goes_right(tree, split, codes, n_codes, is_categorical):
    """Whether a row with these codes (one per column) goes right at a split of a grown tree."""
    feature = tree.features[split]
    if feature < 0:
        return False
    code = int(codes[feature])
    if is_categorical[feature]:
        return bool(tree.tables[split, code])
    if code == n_codes[feature] - 1:
        return not tree.missing_left[split]
    return code > tree.codes[split]


def leaf_of(tree, codes, n_codes, is_categorical):
    """Walk a row down a grown tree, with no regard for nodes that were kept whole."""
    leaf = 0
    for level in range(tree.depth):
        split = level if tree.symmetric else (1 << level) - 1 + leaf
        leaf = 2 * leaf + goes_right(tree, split, codes, n_codes, is_categorical)
    return leaf


# leaves.py


def leaf_sum(amounts, weights, rows):
    return sum((Fraction(amounts[i]) * Fraction(weights[i]) for i in rows), Fraction(0))


def bound_leaf(leaf, value, features, constraints, sums, totals, l2):
    """The leaf's value, drawn between the bounds of the constrained splits on the way from the root."""
    n_leaves = len(sums)
    depth = n_leaves.bit_length() - 1
    low, high = -inf, inf
    for level in range(depth):
        half = n_leaves >> (level + 1)
        place = leaf // (2 * half)
        middle_leaf = 2 * half * place + half
        feature = features[(1 << level) - 1 + place]
        if feature < 0 or constraints[feature] == 0:
            continue
        sides = [range(middle_leaf - half, middle_leaf), range(middle_leaf, middle_leaf + half)]
        means = [
            sum(Fraction(sums[i]) for i in s) / (sum(Fraction(totals[i]) for i in s) + Fraction(l2)) for s in sides
        ]
        middle = min(max((means[0] + means[1]) / 2, low), high)
        if (leaf >= middle_leaf) == (constraints[feature] > 0):
            low = middle
        else:
            high = middle
    return min(max(Fraction(value), low), high)


# vector_forest.py


def walk_forest(forest, tree, codes):
    """The leaf of a row in one tree of a forest, node by node."""
    n_nodes = forest.features.shape[1]
    node = 0
    while node < n_nodes:
        feature = forest.features[tree, node]
        right = 0
        if feature >= 0 and forest.sets[tree, node] >= 0:
            right = int(forest.tables[forest.sets[tree, node], codes[feature]])
        elif feature >= 0:
            right = int((int(codes[feature]) - int(forest.shifts[tree, node])) % 256 > forest.limits[tree, node])
        node = 2 * node + 1 + right
    return node - n_nodes
