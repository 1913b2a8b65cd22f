"""SINDy in a few lines of NumPy: second-order differences and sequentially thresholded ridge regression."""

import numpy as np

TERMS = ("1", "u1", "u2", "u1^2", "u1 u2", "u2^2")


def library(states: np.ndarray) -> np.ndarray:
    a, b = np.asarray(states, dtype=float).T
    return np.column_stack([np.ones_like(a), a, b, a * a, a * b, b * b])


def coefficients(states: np.ndarray, times: np.ndarray, penalty: float, threshold: float) -> np.ndarray:
    """Coefficients (terms, equations), by least squares on the remaining terms."""
    X, slopes = library(states), np.gradient(states, times, axis=0, edge_order=2)
    fitted = np.zeros((6, 2))
    for j in range(2):
        kept = np.ones(6, dtype=bool)
        for _ in range(20):
            part = X[:, kept]
            ridge = np.linalg.solve(part.T @ part + penalty * np.eye(kept.sum()), part.T @ slopes[:, j])
            large = np.zeros(6, dtype=bool)
            large[np.flatnonzero(kept)[np.abs(ridge) >= threshold]] = True
            if (large == kept).all() or not large.any():
                kept = large
                break
            kept = large
        if kept.any():
            fitted[kept, j] = np.linalg.lstsq(X[:, kept], slopes[:, j], rcond=None)[0]
    return fitted
