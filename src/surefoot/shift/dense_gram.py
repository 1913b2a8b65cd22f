"""A matrix that the user has written out."""

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.shift.gram import ALONE, Gram


class DenseGram(Gram):
    """The symmetric part of a square array: of an asymmetric matrix, no quadratic form sees more."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix / 2 + matrix.T / 2  # halves first: a sum of large entries overflows
        self.n_rows = len(matrix)

    def only(self, rows: np.ndarray) -> "DenseGram":
        return DenseGram(self.piece(rows))

    def diagonal(self) -> np.ndarray:
        return self.matrix.diagonal().copy()

    def times(self, values: np.ndarray, threads: RowThreads = ALONE) -> np.ndarray:
        return self.matrix @ values

    def piece(self, rows: np.ndarray) -> np.ndarray:
        return self.matrix[np.ix_(rows, rows)]
