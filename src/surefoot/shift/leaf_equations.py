"""The inverse of the matrix of the leaves' equations, by sums in a fixed order.

LAPACK adds up in as many parts as it has threads, and in other parts on other processors. With it, a model would depend
on the machine. The matrices are small: there is a row for each leaf.
"""

import numpy as np

from surefoot._jit import kernel

SMALLEST = 1e-10  # eigenvalues below this, relative to the largest one, are 0
MAX_SWEEPS = 60  # of rotations; about ten are enough
ROUNDING = 1e-32  # of squares: entries outside the diagonal that are this small, relative to all, are 0


def invert(D: np.ndarray) -> np.ndarray:
    """The inverse of a symmetric matrix whose eigenvalues are all well above 0."""
    inverse = np.array(D, order="C")
    invert_in_place(inverse)
    return inverse


def pseudo_invert(D: np.ndarray) -> np.ndarray:
    """The inverse of a symmetric matrix where its eigenvalues are not 0, and 0 where they are."""
    diagonal, vectors = np.array(D, order="C"), np.eye(len(D))
    rotate_to_diagonal(diagonal, vectors)
    values = diagonal.diagonal()
    kept = np.abs(values) > SMALLEST * np.abs(values).max()
    inverse = np.zeros(D.shape)
    for value, vector in zip(values[kept], vectors.T[kept], strict=True):
        inverse += vector[:, np.newaxis] * (vector / value)
    return inverse


@kernel
def invert_in_place(matrix):
    """Replace a positive definite matrix by its inverse: Gauss-Jordan elimination, which then needs no pivots."""
    n = matrix.shape[0]
    for k in range(n):
        pivot = 1.0 / matrix[k, k]
        matrix[k, k] = 1.0
        row = matrix[k]
        for j in range(n):
            row[j] *= pivot
        for i in range(n):
            if i != k:
                factor = matrix[i, k]
                matrix[i, k] = 0.0
                other = matrix[i]
                for j in range(n):
                    other[j] -= factor * row[j]


@kernel
def rotate_to_diagonal(matrix, vectors):
    """Bring a symmetric matrix to its diagonal by Jacobi's rotations; multiply the columns of ``vectors`` by them."""
    n = matrix.shape[0]
    total = (matrix * matrix).sum()
    for _ in range(MAX_SWEEPS):
        outside = 0.0
        for p in range(n):
            for q in range(p):
                outside += matrix[p, q] * matrix[p, q]
        if outside <= ROUNDING * total:
            return
        for p in range(n - 1):
            for q in range(p + 1, n):
                if matrix[p, q] == 0.0:
                    continue
                half = (matrix[q, q] - matrix[p, p]) / (2.0 * matrix[p, q])
                tangent = 1.0 / (abs(half) + np.sqrt(half * half + 1.0))
                if half < 0.0:
                    tangent = -tangent
                cosine = 1.0 / np.sqrt(tangent * tangent + 1.0)
                sine = tangent * cosine
                for k in range(n):
                    x, y = matrix[k, p], matrix[k, q]
                    matrix[k, p], matrix[k, q] = cosine * x - sine * y, sine * x + cosine * y
                for k in range(n):
                    x, y = matrix[p, k], matrix[q, k]
                    matrix[p, k], matrix[q, k] = cosine * x - sine * y, sine * x + cosine * y
                for k in range(n):
                    x, y = vectors[k, p], vectors[k, q]
                    vectors[k, p], vectors[k, q] = cosine * x - sine * y, sine * x + cosine * y
