"""A V-matrix as the boosters use it: products, submatrices, and the energies of growing sets of rows.

The energy of a set of rows is the sum of the matrix over all pairs in the set, weighted by both rows: ``sum of w_i w_j
V_ij``. A split of a leaf is judged by the energies of its two sides. A search along a column therefore needs the
energies of all sets "rows with a code up to b". Here they are summed from the leaf's submatrix; a matrix with more
structure has a faster way.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot._jit import kernel
from surefoot._parallel import RowThreads, row_blocks

ONE_THREAD = RowThreads(1)  # the calling thread
MAX_DENSE_ROWS = 20_000  # of a matrix that a user asks to write out: 3.2 GB
CELLS_AT_ONCE = 20_000_000  # entries that are copied or computed between two checks for Ctrl-C
MAX_ROUNDING = 1e-8  # negative eigenvalues up to this size per row, relative to the largest entry, are rounding


@dataclass(frozen=True)
class LeafOrder:
    """The rows of a leaf, ordered by their ranks in each column."""

    rows: np.ndarray  # int64
    weights: np.ndarray  # of all rows of the table
    order: np.ndarray  # uint32, (columns, rows of the leaf): positions in the leaf, by rank
    starts: np.ndarray  # int64, (columns + 1,): where the ranks of each column begin, laid end to end
    ends: np.ndarray  # int64, by rank: number of rows with this rank or a lower one

    @classmethod
    def from_ranks(
        cls, codes: np.ndarray, ranks: np.ndarray, rows: np.ndarray, weights: np.ndarray, starts: np.ndarray
    ) -> "LeafOrder":
        """Order the rows by the ``ranks`` (columns, 256) of their codes."""
        order = np.empty((len(codes), len(rows)), dtype=np.uint32)
        ends = np.zeros(int(starts[-1]), dtype=np.int64)
        order_rows(codes, ranks, rows, starts, order, ends)
        return cls(rows=rows, weights=weights, order=order, starts=starts, ends=ends)


class Gram(ABC):
    """A symmetric matrix over the rows of a table; it need not be stored entry by entry."""

    n_rows: int

    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """Return ``V_ii`` of every row."""

    @abstractmethod
    def times(self, values: np.ndarray, threads: RowThreads = ONE_THREAD) -> np.ndarray:
        """Return ``V @ values``."""

    @abstractmethod
    def submatrix(self, rows: np.ndarray) -> np.ndarray:
        """Return the entries among some rows as an array."""

    @abstractmethod
    def subset(self, rows: np.ndarray) -> "Gram":
        """Return the matrix among some rows."""

    def for_boosting(self, argument: str) -> "Gram":
        """Return the matrix in the form that trees are grown on; errors name ``argument``."""
        return self

    def leaf_submatrix(self, rows: np.ndarray, n_features: int) -> np.ndarray | None:
        """Return what ``prefix_energies`` needs of a leaf, the same for all columns."""
        return self.submatrix(rows)

    def prefix_energies(
        self, submatrix: np.ndarray | None, leaf: LeafOrder, features: np.ndarray, out: np.ndarray
    ) -> None:
        """Write the energies of a leaf's rows of rank 0 to r, for every rank r of some columns."""
        assert submatrix is not None
        weights = leaf.weights[leaf.rows]
        sum_submatrix_energies(submatrix, weights, features, leaf.order, leaf.starts, leaf.ends, out)


class DenseGram(Gram):
    """The symmetric part of a square array: no quadratic form depends on the rest."""

    def __init__(self, matrix: np.ndarray, *, is_symmetric: bool = False) -> None:
        # halves first: a sum of large entries overflows
        self.matrix = matrix if is_symmetric else matrix / 2 + matrix.T / 2
        self.n_rows = len(matrix)

    def subset(self, rows: np.ndarray) -> "DenseGram":
        return DenseGram(self.submatrix(rows), is_symmetric=True)

    def diagonal(self) -> np.ndarray:
        return self.matrix.diagonal().copy()

    def times(self, values: np.ndarray, threads: RowThreads = ONE_THREAD) -> np.ndarray:
        out = np.zeros(self.n_rows)
        values = np.ascontiguousarray(values, dtype=np.float64)
        for start, stop in row_blocks(self.n_rows, max(1, CELLS_AT_ONCE // self.n_rows)):
            add_rows(self.matrix, values, start, stop, out)
        return out

    def submatrix(self, rows: np.ndarray) -> np.ndarray:
        out = np.empty((len(rows), len(rows)))
        for start, stop in row_blocks(len(rows), max(1, CELLS_AT_ONCE // len(rows))):
            copy_entries(self.matrix, rows, start, stop, out)
        return out

    def leaf_submatrix(self, rows: np.ndarray, n_features: int) -> np.ndarray:
        # the root has all rows in their order: a copy of the matrix for every tree would take as long as its energies
        return self.matrix if len(rows) == self.n_rows else self.submatrix(rows)

    def for_boosting(self, argument: str) -> "DenseGram":
        """Scale the largest entry to about 1, because sums of large entries overflow; refuse negative eigenvalues."""
        scaled = np.ldexp(self.matrix, -np.frexp(np.abs(self.matrix).max())[1])
        shifted = scaled.copy()
        np.fill_diagonal(shifted, shifted.diagonal() + MAX_ROUNDING * self.n_rows)
        try:
            np.linalg.cholesky(shifted)
        except np.linalg.LinAlgError as error:
            raise ParameterError(
                f"{argument} has negative eigenvalues, so its loss has no minimum: pass a positive semi-definite "
                f"matrix, for example {argument} plus a multiple of the identity.",
                argument=argument,
            ) from error
        return DenseGram(scaled, is_symmetric=True)


@kernel
def add_rows(matrix, values, start, stop, out):
    """Add the rows ``start`` to ``stop`` of a symmetric matrix, times their values, to ``out``, one after the other.

    BLAS adds up in parts that depend on the machine, and reads the rows of values 0 too: all rows outside a leaf.
    """
    for i in range(start, stop):
        value = values[i]
        if value == 0.0:
            continue
        row = matrix[i]
        for j in range(out.shape[0]):
            out[j] += value * row[j]


@kernel
def order_rows(codes, ranks, rows, starts, order, ends):
    """Write the positions of a leaf's rows in the order of their ranks, column by column, and where each rank ends."""
    for f in range(codes.shape[0]):
        own = ends[starts[f] : starts[f + 1]]
        for i in range(rows.shape[0]):
            own[ranks[f, codes[f, rows[i]]]] += 1
        for r in range(1, own.shape[0]):
            own[r] += own[r - 1]
        place = own.copy()
        for i in range(rows.shape[0] - 1, -1, -1):
            r = ranks[f, codes[f, rows[i]]]
            place[r] -= 1
            order[f, place[r]] = i


@kernel
def copy_entries(matrix, rows, start, stop, out):
    """Write the entries among some rows of a matrix to ``out``, its rows ``start`` to ``stop``."""
    for i in range(start, stop):
        entries, target = matrix[rows[i]], out[i]
        for j in range(rows.shape[0]):
            target[j] = entries[rows[j]]


@kernel
def sum_submatrix_energies(submatrix, weights, features, order, starts, ends, energies):
    """Read the matrix among the rows of a leaf, and their weights; write the energy of the rows up to each rank."""
    n = weights.shape[0]
    shared = np.empty(n)  # for each row, the sum over the rows that have been added so far
    for f in features:
        energy, k = 0.0, 0
        shared[:] = 0.0
        for place in range(starts[f], starts[f + 1]):
            while k < ends[place]:
                i = order[f, k]
                row, weight = submatrix[i], weights[i]
                energy += weight * (2.0 * shared[i] + weight * row[i])
                for j in range(n):
                    shared[j] += weight * row[j]
                k += 1
            energies[place] = energy
