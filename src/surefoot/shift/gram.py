"""What the boosters ask of a V-matrix: products, pieces of it, and the energy of growing sets of rows.

The energy of a set of rows is the sum of the matrix over all pairs in it, weighted by both rows: ``sum of w_i w_j
V_ij``. A split of a leaf is judged by the energies of its sides, so a search along a column needs those of all the sets
"rows with a code up to b". They are summed here from the leaf's own piece of the matrix; a matrix that knows more of
itself has a faster way.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from surefoot._jit import kernel
from surefoot._parallel import RowThreads

ALONE = RowThreads(1)  # the calling thread
MAX_DENSE = 20_000  # rows of a matrix that is written out: 3.2 GB


@dataclass(frozen=True)
class Search:
    """The rows of a leaf, put in an order by each column."""

    rows: np.ndarray  # int64
    weights: np.ndarray  # of all rows of the table
    order: np.ndarray  # uint32, (columns, rows of the leaf): their numbers in the leaf, by rank
    starts: np.ndarray  # int64, (columns + 1,): where the ranks of each column begin, laid end to end
    ends: np.ndarray  # int64, by rank: how many rows have that rank or a lower one

    @classmethod
    def by(
        cls, codes: np.ndarray, ranks: np.ndarray, rows: np.ndarray, weights: np.ndarray, starts: np.ndarray
    ) -> "Search":
        """Rows in the order of the ``ranks`` (columns, 256) of their codes."""
        order = np.empty((len(codes), len(rows)), dtype=np.uint32)
        ends = np.zeros(int(starts[-1]), dtype=np.int64)
        order_rows(codes, ranks, rows, starts, order, ends)
        return cls(rows, weights, order, starts, ends)


class Gram(ABC):
    """A symmetric matrix over the rows of a table, known by what it does."""

    n_rows: int

    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """``V_ii`` of every row."""

    @abstractmethod
    def times(self, values: np.ndarray, threads: RowThreads = ALONE) -> np.ndarray:
        """``V @ values``."""

    @abstractmethod
    def piece(self, rows: np.ndarray) -> np.ndarray:
        """The matrix among some rows, written out."""

    @abstractmethod
    def only(self, rows: np.ndarray) -> "Gram":
        """The matrix among some rows."""

    def piece_of_leaf(self, rows: np.ndarray, n_features: int) -> np.ndarray | None:
        """What ``prefix_energies`` wants to be given for a leaf, whatever the column."""
        return self.piece(rows)

    def prefix_energies(self, piece: np.ndarray | None, search: Search, features: np.ndarray, out: np.ndarray) -> None:
        """Write the energies of a leaf's rows of rank 0 to r, for every rank r of some columns."""
        assert piece is not None
        weights = search.weights[search.rows]
        energies_of_piece(piece, weights, features, search.order, search.starts, search.ends, out)


@kernel
def order_rows(codes, ranks, rows, starts, order, ends):
    """Write the numbers of a leaf's rows in the order of their ranks, column by column, and where each rank ends."""
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
def energies_of_piece(piece, weights, features, order, starts, ends, energies):
    """Read a matrix among the rows of a leaf, and their weights; write the energy of the rows up to each rank."""
    n = weights.shape[0]
    shared = np.empty(n)  # of each row with all that have come so far
    for f in features:
        energy, k = 0.0, 0
        shared[:] = 0.0
        for place in range(starts[f], starts[f + 1]):
            while k < ends[place]:
                i = order[f, k]
                row, weight = piece[i], weights[i]
                energy += weight * (2.0 * shared[i] + weight * row[i])
                for j in range(n):
                    shared[j] += weight * row[j]
                k += 1
            energies[place] = energy
