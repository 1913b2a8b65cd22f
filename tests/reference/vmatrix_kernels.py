"""The twins of the kernels of V-matrix boosting: the same numbers by definition, in plain loops."""

import numpy as np


def cells_matrix(cell, starts, mass, ordered):
    """The matrix of rows in cells: the mass of the cells that dominate both rows, feature by feature."""
    n_features, n = cell.shape
    V = np.zeros((n, n))
    for b in range(n_features):
        own = mass[starts[b] : starts[b + 1]]
        for i in range(n):
            for j in range(n):
                x, y = cell[b, i], cell[b, j]
                V[i, j] += own[max(x, y) :].sum() if ordered[b] else (own[x] if x == y else 0.0)
    return V


def bits_of(packed):
    """Zeros and ones, (rows, targets), of packed bytes whose first target is the lowest bit."""
    return np.array([[(byte >> bit) & 1 for byte in row.tolist() for bit in range(8)] for row in packed], dtype=float)


def products_matrix(chances, kinds, share):
    """The product over features of the smaller chance, where kinds are equal."""
    n = chances.shape[1]
    V = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            same = (kinds[:, i] == kinds[:, j]).all()
            V[i, j] = share * np.minimum(chances[:, i], chances[:, j]).prod() if same else 0.0
    return V


def prefix_energies(V, codes, features, ranks, rows, weights, starts):
    """For every rank of some columns the sum of the matrix over the rows of a leaf up to it; NaN for other columns."""
    energies = np.full(starts[-1], np.nan)
    for f in features:
        for r in range(starts[f + 1] - starts[f]):
            inside = [i for i in rows if ranks[f, codes[f, i]] <= r]
            energies[starts[f] + r] = sum(weights[i] * weights[j] * V[i, j] for i in inside for j in inside)
    return energies


def rank_codes(codes, missing, is_categorical, rows, weights, slopes, drawn_to_zero):
    """Ranks of all codes, (columns, 256), and where each column's begin."""
    ranks, starts = np.zeros((len(codes), 256), dtype=np.int64), [0]
    for f, column in enumerate(codes):
        here = column[rows]
        present = sorted({int(code) for code in here if code < missing[f]})
        if is_categorical[f]:
            present.sort(key=lambda c: slopes[here == c].sum() / (weights[here == c].sum() + drawn_to_zero))
        for code in range(missing[f]):
            if code in present:
                ranks[f, code] = present.index(code)
            elif is_categorical[f]:
                ranks[f, code] = len(present)
            else:
                ranks[f, code] = min(sum(c < code for c in present), max(len(present) - 1, 0))
        ranks[f, missing[f]] = len(present)
        starts.append(starts[-1] + len(present) + 1)
    return ranks, np.array(starts)


def sweep_columns(codes, features, ranks, rows, values, starts, n_sweeps):
    """Sums of values up to each rank, (sweeps, places, values); in the second, the last rank is always there."""
    sums = np.full((n_sweeps, starts[-1], values.shape[1]), np.nan)
    for f in features:
        rank = ranks[f, codes[f, rows]]
        last = starts[f + 1] - starts[f] - 1
        for r in range(last + 1):
            sums[0, starts[f] + r] = values[rank <= r].sum(axis=0)
            if n_sweeps == 2:
                sums[1, starts[f] + r] = values[rank <= r].sum(axis=0) + values[rank == last].sum(axis=0)
    return sums


def gains_of_splits(V, rest, weights, slopes, leaves, number, l2, sides):
    """What each way to part a leaf (lists of rows that go left) lowers the score by: both systems, solved."""

    def score(parts):
        D = np.array([[_twice(V, rest, weights, a, b) for b in parts] for a in parts]) + l2 * np.eye(len(parts))
        U = np.array([(weights[a] * slopes[a]).sum() for a in parts])
        return -0.5 * U @ np.linalg.solve(D, U)

    gains = []
    for left in sides:
        right = [i for i in leaves[number] if i not in set(left)]
        gains.append(score(leaves) - score([*leaves[:number], left, *leaves[number + 1 :], right]))
    return np.array(gains)


def _twice(V, rest, weights, a, b):
    shared = sum(weights[i] * weights[j] * V[i, j] for i in a for j in b)
    return 2 * (shared + rest * sum(weights[i] for i in a if i in set(b)))
