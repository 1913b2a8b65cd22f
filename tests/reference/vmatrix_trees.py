"""Trees on a written-out matrix, grown by trying everything: the twin of the leafwise grower."""

import numpy as np


def naive_v(X, T, kind, categorical=()):
    """The V-matrix by its definition: which targets reach both rows, in each feature."""
    n, m = len(X), len(T)
    V = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            reached = np.zeros((m, X.shape[1]), dtype=bool)
            for q in range(m):
                for k in range(X.shape[1]):
                    a, b, t = X[i, k], X[j, k], T[q, k]
                    if np.isnan(a) or np.isnan(b) or np.isnan(t):
                        reached[q, k] = np.isnan(a) and np.isnan(b) and np.isnan(t)
                    elif k in categorical:
                        reached[q, k] = a == b == t
                    else:
                        reached[q, k] = t >= a and t >= b
            by_feature = reached.mean(axis=0)
            V[i, j] = {"joint": reached.all(axis=1).mean(), "product": by_feature.prod(), "mean": by_feature.mean()}[
                kind
            ]
    return V


def blended(V, blend):
    """V, its entries scaled to add up to the number of rows (or its diagonal, if that is more), and I; trace N."""
    mixed = blend * V * len(V) / max(V.sum(), np.trace(V)) + (1 - blend) * np.eye(len(V))
    return mixed * len(V) / np.trace(mixed)


def system(V, residuals, leaves, l2):
    """D and U of equation 15, from sums over pairs of rows; ``V`` need not be symmetric."""
    g = -residuals
    A = np.array([sum(g[i] * V[i, j] for i in range(len(g)) for j in leaf) for leaf in leaves])
    B = np.array([sum(g[j] * V[i, j] for i in leaf for j in range(len(g))) for leaf in leaves])
    C = np.array([[V[np.ix_(a, b)].sum() for b in leaves] for a in leaves])
    return C + C.T + l2 * np.eye(len(leaves)), -(A + B), C


def score(V, residuals, leaves, l2):
    """The objective of the best leaf values (equation 18, without the constant), and these values."""
    D, U, C = system(V, residuals, leaves, l2)
    w = np.linalg.solve(D, U)
    return -w @ U + w @ C.T @ w + 0.5 * l2 * w @ w, w


def grow(X, V, residuals, max_leaves, l2, least_rows=1, min_gain=0.0):
    """Leaves (lists of rows) and values of the greedy tree: at each step the split that lowers the score most."""
    leaves = [list(range(len(X)))]
    best, values = score(V, residuals, leaves, l2)
    while len(leaves) < max_leaves:
        found = None
        for number, leaf in enumerate(leaves):
            for k in range(X.shape[1]):
                for threshold in np.unique(X[leaf, k])[:-1]:
                    left = [i for i in leaf if X[i, k] <= threshold]
                    right = [i for i in leaf if X[i, k] > threshold]
                    if min(len(left), len(right)) < least_rows:
                        continue
                    tried = [*leaves[:number], left, *leaves[number + 1 :], right]
                    value, w = score(V, residuals, tried, l2)
                    if found is None or value < found[0] - 1e-9 * abs(found[0]):
                        found = (value, tried, w)
        if found is None or best - found[0] <= min_gain:
            break
        best, leaves, values = found
    return leaves, values, best
