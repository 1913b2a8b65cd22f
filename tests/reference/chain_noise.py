"""Slow versions of the kernels of chain noise, one row at a time, and the small numbers that a word holds."""

import numpy as np


def leaf_of(codes, forest, t):
    """The leaf of tree ``t`` for the codes of one row."""
    node = 0
    for _ in range(forest.depth):
        feature = max(int(forest.features[t, node]), 0)
        code = int(codes[feature])
        right = (code - int(forest.shifts[t, node])) % 256 > int(forest.limits[t, node])
        if forest.sets[t, node] >= 0:
            right = bool(forest.tables[forest.sets[t, node], code])
        node = 2 * node + 1 + int(right)
    return node - (2**forest.depth - 1)


def sums_of_row(codes, forest, values, numbers, words):
    """The values of the leaves of all trees, and the words of the traced ones, added up for one row."""
    added, small = np.zeros(values.shape[2]), np.zeros(words.shape[1:2] + words.shape[3:], dtype=object)
    for t in range(len(values)):
        leaf = leaf_of(codes, forest, t)
        added += values[t, leaf]
        if numbers[t] >= 0:
            small = small + words[numbers[t], :, leaf].astype(object)
    return added, small


def small_numbers(word, n=4, bits=16):
    """The signed numbers in a word, by division with the nearest remainder."""
    out = []
    for _ in range(n):
        low = (int(word) + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
        out.append(low)
        word = (int(word) - low) // 2**bits
    return out


def copies_of_rows(codes, forest, traced, signs, rate, l2):
    """Deviations (rows, copies) of the copies of a chain of regression, all rows being training rows, tree by tree."""
    n_rows = codes.shape[1]
    deviations = np.zeros((n_rows, signs.shape[1]))
    first = None
    for number, t in enumerate(traced):
        leaves = np.array([leaf_of(codes[:, i], forest, t) for i in range(n_rows)])
        corrected = deviations.copy()
        for leaf in np.unique(leaves):
            own = leaves == leaf
            corrected[own] -= rate * deviations[own].sum(axis=0) / (own.sum() + l2)
        deviations = corrected
        values = forest.leaves[t, leaves, 0]
        if number % 2:
            deviations += (first - values)[:, np.newaxis] * signs[number // 2]
        first = values
    return deviations
