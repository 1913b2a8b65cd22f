"""The LASSO of a bag in plain NumPy: its rows centred by their own means, and cyclic coordinate descent until rest."""

import numpy as np


def centred(X, y, standardize=False):
    """A bag's own rows, less their means; standardized, over their standard deviations (a constant column stays 0)."""
    X, y = X - X.mean(axis=0), y - y.mean()
    if standardize:
        deviations = X.std(axis=0)
        X = X / np.where(deviations > 0, deviations, 1.0)
    return X, y


def coordinate_descent(X, y, penalty, standardize=False, tolerance=1e-12, most_sweeps=100_000):
    """Coefficients (of the scaled columns, if standardized) of the least ``|y - Xb|^2 / 2n + penalty * |b|``."""
    X, y = centred(X, y, standardize)
    n_rows, n_columns = X.shape
    squares = (X**2).sum(axis=0) / n_rows
    coefficients, residuals = np.zeros(n_columns), y.copy()
    for _ in range(most_sweeps):
        for j in range(n_columns):
            if squares[j] == 0:
                continue
            old = coefficients[j]
            slope = X[:, j] @ residuals / n_rows + squares[j] * old
            coefficients[j] = np.sign(slope) * max(abs(slope) - penalty, 0.0) / squares[j]
            residuals -= (coefficients[j] - old) * X[:, j]
        if violation(X, y, penalty, coefficients) < tolerance:
            return coefficients
    raise AssertionError("the naive twin did not converge")


def violation(X, y, penalty, coefficients, standardize=False):
    """By how much the conditions of the optimum are missed, as a share of the penalty.

    Where a coefficient is not 0, the correlation of its column with what is left of the target is the penalty, with
    the coefficient's sign; elsewhere it is at most the penalty.
    """
    X, y = centred(X, y, standardize)
    slopes = X.T @ (y - X @ coefficients) / len(y) / penalty
    off = np.where(coefficients != 0, np.abs(slopes - np.sign(coefficients)), np.maximum(np.abs(slopes) - 1, 0))
    return float(off.max())


def objective(X, y, penalty, coefficients, standardize=False):
    """What the LASSO makes as small as it can."""
    X, y = centred(X, y, standardize)
    return ((y - X @ coefficients) ** 2).mean() / 2 + penalty * np.abs(coefficients).sum()


def universal_penalty(X, y):
    """The target's standard deviation times sqrt(2 log(2 p) / rows), for the p columns that vary in these rows."""
    n_varying = sum(len(set(column)) > 1 for column in X.T)
    return float(np.std(y) * np.sqrt(2 * np.log(2 * n_varying) / len(y)))
