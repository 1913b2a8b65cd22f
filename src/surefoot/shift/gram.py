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
MOST_DENSE = 20_000  # rows of a matrix that is written out: 3.2 GB


@dataclass(frozen=True)
class Search:
    """The rows of a leaf, put in an order by each column."""

    codes: np.ndarray  # uint8, (columns, rows of the table)
    ranks: np.ndarray  # uint16, (columns, 256): the rank of each code
    rows: np.ndarray  # int64: those of the leaf
    weights: np.ndarray  # of all rows of the table
    starts: np.ndarray  # int64, (columns + 1,): where the ranks of each column begin, laid end to end


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
        energies_of_piece(
            piece, search.codes, features, search.ranks, search.rows, search.weights, search.starts, out
        )  # fmt: skip


@kernel
def energies_of_piece(piece, codes, features, ranks, rows, weights, starts, energies):
    """Read a matrix among the rows of a leaf; write the energy of the rows up to each rank, column by column."""
    n = rows.shape[0]
    order = np.empty(n, np.int64)
    shared = np.empty(n)  # of each row with all that have come so far
    for f in features:
        n_ranks = starts[f + 1] - starts[f]
        ends = np.zeros(n_ranks + 1, np.int64)
        for i in range(n):
            ends[ranks[f, codes[f, rows[i]]] + 1] += 1
        for r in range(n_ranks):
            ends[r + 1] += ends[r]
        place = ends.copy()
        for i in range(n):
            r = ranks[f, codes[f, rows[i]]]
            order[place[r]] = i
            place[r] += 1
        energy = 0.0
        shared[:] = 0.0
        for r in range(n_ranks):
            for k in range(ends[r], ends[r + 1]):
                i = order[k]
                row, weight = piece[i], weights[rows[i]]
                energy += weight * (2.0 * shared[i] + weight * row[i])
                for j in range(n):
                    shared[j] += weight * row[j]
            energies[starts[f] + r] = energy
