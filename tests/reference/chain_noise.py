"""Slow versions of the kernels of chain noise, one row at a time, and a slow way to fit leaves."""

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


def sums_of_row(codes, forest, values):
    """The values (trees, leaves, outputs) of the leaves of all trees, added up for one row."""
    return sum((values[t, leaf_of(codes, forest, t)] for t in range(len(values))), start=np.zeros(values.shape[2]))


def leaves_fitted_in_turn(codes, forest, target, weights, passes, rate):
    """A start, and values of leaves, each moved in turn towards the mean residual of its rows and one more, of 0."""
    start = np.average(target, weights=weights)
    predicted, values = np.full(len(target), start), np.zeros((forest.n_trees, 2**forest.depth))
    for _ in range(passes):
        for t in range(forest.n_trees):
            leaves = np.array([leaf_of(codes[:, i], forest, t) for i in range(len(target))])
            steps = np.zeros(2**forest.depth)
            for leaf in np.unique(leaves):
                own = leaves == leaf
                residual = weights[own] @ (target[own] - predicted[own])
                steps[leaf] = rate * residual / (weights[own].sum() + 1.0)
            values[t] += steps
            predicted += steps[leaves]
    return start, values


def copies_of_rows(codes, forest, traced, signs, rate, l2, n_train):
    """Deviations (rows, copies) of the copies of a chain of regression, tree by tree; the first rows correct them."""
    n_rows = codes.shape[1]
    deviations = np.zeros((n_rows, signs.shape[1]))
    first = None
    for number, t in enumerate(traced):
        leaves = np.array([leaf_of(codes[:, i], forest, t) for i in range(n_rows)])
        corrected = deviations.copy()
        for leaf in np.unique(leaves):
            own = leaves == leaf
            train = own & (np.arange(n_rows) < n_train)
            corrected[own] -= rate * deviations[train].sum(axis=0) / (train.sum() + l2)
        deviations = corrected
        values = forest.leaves[t, leaves, 0]
        if number % 2:
            deviations += (first - values)[:, np.newaxis] * signs[number // 2]
        first = values
    return deviations
