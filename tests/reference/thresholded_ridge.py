"""Sequentially thresholded ridge regression and its parts with NumPy's own solvers, one equation at a time."""

import numpy as np


def least_norm_ridge(A, y, alpha):
    """Ridge from the singular values that are not rounding errors; without a penalty, the solution of least norm."""
    left, values, right = np.linalg.svd(A, full_matrices=False)
    real = values > np.finfo(float).eps * max(A.shape) * values.max(initial=0.0)
    return right[real].T @ (values[real] / (values[real] ** 2 + alpha) * (left.T @ y)[real])


def thresholded_ridge(A, y, threshold, alpha, solve=least_norm_ridge):
    """Coefficients of all terms after at most 20 rounds of fitting and dropping."""
    kept = np.ones(A.shape[1], dtype=bool)
    coefficients = np.zeros(A.shape[1])
    for _ in range(20):
        coefficients = np.zeros(A.shape[1])
        if not kept.any():
            break
        coefficients[kept] = solve(A[:, kept], y, alpha)
        still = np.abs(coefficients) >= threshold
        coefficients[~still] = 0.0
        if (still == kept).all():
            break
        kept = still
    return coefficients


def refitted(A, y, coefficients):
    """Least squares of the terms whose coefficient is not zero."""
    kept = coefficients != 0
    out = np.zeros(A.shape[1])
    if kept.any():
        out[kept] = least_norm_ridge(A[:, kept], y, 0.0)
    return out


def bag_coefficients(library, derivatives, bags, threshold, alpha, refit, solve=least_norm_ridge):
    """Coefficients (bags, equations, terms), one bag and one equation after the other."""
    out = np.zeros((len(bags), derivatives.shape[1], library.shape[1]))
    for b, rows in enumerate(bags):
        for equation in range(derivatives.shape[1]):
            A, y = library[rows], derivatives[rows, equation]
            fitted = thresholded_ridge(A, y, threshold, alpha, solve)
            out[b, equation] = refitted(A, y, fitted) if refit else fitted
    return out
