"""Covariates of which some are nearly identical, and a response that depends on two of them (C.1 and C.3)."""

import numpy as np

BLOCKS = ((1, 2), (3, 4, 5))  # covariates, counted from 1, that vary together
CORRELATION = 0.99
RELEVANT = (1, 3)
PRODUCT = " and ".join(f"({' or '.join(f'x{j}' for j in block)})" for block in BLOCKS)  # one of each block, as text


def covariate_names(n_columns: int) -> list[str]:
    """Names of the covariates, counted from 1 as in the paper."""
    return [f"x{j}" for j in range(1, n_columns + 1)]


def covariance(n_columns: int) -> np.ndarray:
    """The matrix of figure 6: 0.99 within each block, 0 elsewhere, 1 on the diagonal."""
    matrix = np.eye(n_columns)
    for block in BLOCKS:
        places = np.array(block) - 1
        matrix[np.ix_(places, places)] = CORRELATION
    np.fill_diagonal(matrix, 1.0)
    return matrix


def draw_table(n_rows: int, n_columns: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Covariates with the above covariance, and the sum of the first and the third with normal noise.

    The covariates of a block share a common part. No matrix is factorised, because the rounding would depend on the
    machine.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns))
    for block in BLOCKS:
        places = np.array(block) - 1
        common = rng.standard_normal((n_rows, 1))
        X[:, places] = np.sqrt(CORRELATION) * common + np.sqrt(1.0 - CORRELATION) * X[:, places]
    first, second = (X[:, place - 1] for place in RELEVANT)
    return X, first + second + noise * rng.standard_normal(n_rows)
