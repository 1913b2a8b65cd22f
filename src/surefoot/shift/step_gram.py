"""The mean of one-feature matrices, none of which is ever written out.

The sorted target values of a feature cut the line into cells. A row is dominated by the targets from its own cell on,
so a product with the matrix is a running sum over cells, forwards and backwards: linear in the number of rows.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from surefoot._jit import inner_kernel, kernel
from surefoot._parallel import RowThreads
from surefoot.shift.gram import ONE_THREAD, Gram, LeafOrder

STRIPS = 32  # strips of consecutive cells are summed side by side
PAIR_COST = 2.5  # the time for a pair of rows, in that for a cell


@dataclass(frozen=True)
class Cells:
    """One feature: the cell of every row, and the mass of the target in each cell.

    If the cells are ordered, a row is dominated by its own cell and all cells after it. If not (categories, missing
    values), a row is dominated by its own cell only. The last cell has no mass: nothing dominates its rows.
    """

    cell: np.ndarray  # int32, (rows,)
    mass: np.ndarray  # float64, (cells,)
    ordered: bool


class CellArrays(NamedTuple):
    """The cells of all features in the form that kernels take; see ``StepGram``."""

    cell: np.ndarray
    starts: np.ndarray
    mass: np.ndarray
    ordered: np.ndarray


class StepGram(Gram):
    """The sum over features of the mass that dominates both rows."""

    def __init__(self, cell: np.ndarray, starts: np.ndarray, mass: np.ndarray, ordered: np.ndarray) -> None:
        """``cell`` is (features, rows); the cells of feature b start at ``starts[b]`` in ``mass``."""
        self.n_rows = cell.shape[1]
        self.cell, self.starts, self.mass, self.ordered = cell, starts, mass, ordered

    @classmethod
    def from_features(cls, features: list[Cells]) -> "StepGram":
        """Join the cells of all features."""
        starts = np.concatenate([[0], np.cumsum([len(feature.mass) for feature in features])]).astype(np.int64)
        return cls(
            np.stack([feature.cell for feature in features]),
            starts,
            np.concatenate([feature.mass for feature in features]),
            np.array([feature.ordered for feature in features]),
        )

    def subset(self, rows: np.ndarray) -> "StepGram":
        return StepGram(np.ascontiguousarray(self.cell[:, rows]), self.starts, self.mass, self.ordered)

    @cached_property
    def dominating_mass(self) -> np.ndarray:
        """The mass that dominates a row of each cell."""
        parts = np.split(self.mass, self.starts[1:-1])
        sums = [m[::-1].cumsum()[::-1] if o else m for m, o in zip(parts, self.ordered, strict=True)]
        return np.concatenate(sums)

    def diagonal(self) -> np.ndarray:
        out = np.zeros(self.n_rows)
        for start, cell in zip(self.starts, self.cell, strict=False):
            out += self.dominating_mass[start + cell]
        return out

    def times(self, values: np.ndarray, threads: RowThreads = ONE_THREAD) -> np.ndarray:
        out = np.zeros(self.n_rows)
        multiply_cells(self.cell, self.starts, self.mass, self.ordered, np.ascontiguousarray(values), out)
        return out

    def submatrix(self, rows: np.ndarray) -> np.ndarray:
        out = np.zeros((len(rows), len(rows)))
        cell = np.ascontiguousarray(self.cell[:, rows])
        add_cell_pairs(cell, self.dominating_mass[self.starts[:-1, np.newaxis] + cell], self.ordered, out)
        return out

    def leaf_submatrix(self, rows: np.ndarray, n_features: int) -> np.ndarray | None:
        """Return the submatrix if all pairs of rows cost less than every cell for every code of every column."""
        by_pairs = len(rows) ** 2 * (len(self.cell) + n_features) / 2
        by_cells = n_features * min(len(rows), 256) * len(self.mass)
        return self.submatrix(rows) if PAIR_COST * by_pairs < by_cells else None

    def prefix_energies(
        self, submatrix: np.ndarray | None, leaf: LeafOrder, features: np.ndarray, out: np.ndarray
    ) -> None:
        if submatrix is not None:
            return super().prefix_energies(submatrix, leaf, features, out)
        cells = CellArrays(cell=self.cell, starts=self.starts, mass=self.mass, ordered=self.ordered)
        return sum_cell_energies(cells, leaf.rows, leaf.weights, features, leaf.order, leaf.starts, leaf.ends, out)


@kernel(allocates=True)
def multiply_cells(cell, starts, mass, ordered, values, out):
    """Add the product of the matrix with ``values`` to ``out``, feature by feature."""
    for b in range(cell.shape[0]):
        n_cells = starts[b + 1] - starts[b]
        sums = np.zeros(n_cells)
        for i in range(values.shape[0]):
            sums[cell[b, i]] += values[i]
        if ordered[b]:
            for c in range(1, n_cells):
                sums[c] += sums[c - 1]
        for c in range(n_cells):
            sums[c] *= mass[starts[b] + c]
        if ordered[b]:
            for c in range(n_cells - 2, -1, -1):
                sums[c] += sums[c + 1]
        for i in range(values.shape[0]):
            out[i] += sums[cell[b, i]]


@kernel
def add_cell_pairs(cell, dominating, ordered, out):
    """Add the matrix among all rows to ``out``; ``dominating`` is the mass that dominates each row, by feature.

    Mass that dominates the larger of two rows dominates both: the smaller of two masses.
    """
    n_rows = cell.shape[1]
    for i in range(n_rows):
        row = out[i]
        for b in range(cell.shape[0]):
            own, mass = cell[b, i], dominating[b, i]
            if ordered[b]:
                others = dominating[b]
                for j in range(n_rows):
                    row[j] += others[j] if others[j] < mass else mass
            else:
                for j in range(n_rows):
                    row[j] += mass if cell[b, j] == own else 0.0


@inner_kernel(allocates=True)
def lay_out_cells(mass, places, laid_out):
    """Write the place of each cell in a layout (depth, STRIPS), and the mass there.

    The layout puts strips of consecutive cells side by side: running sums go down all strips at once.
    """
    depth = laid_out.shape[0]
    laid_out[:] = 0.0
    for c in range(mass.shape[0]):
        low, strip = c % depth, c // depth
        places[c] = low * STRIPS + strip
        laid_out[low, strip] = mass[c]


@inner_kernel(allocates=True)
def sum_strips(filled, totals, mass, running, squares):
    """Return the energy of ordered cells: ``filled`` with weights, which add up to ``totals`` in each strip."""
    before = 0.0
    for strip in range(STRIPS):
        running[strip] = before
        before += totals[strip]
        squares[strip] = 0.0
    for low in range(filled.shape[0]):
        added, m = filled[low], mass[low]
        for strip in range(running.shape[0]):
            running[strip] += added[strip]
            squares[strip] += m[strip] * running[strip] * running[strip]
    return squares.sum()


@inner_kernel(allocates=True)
def sum_unordered_cells(filled, mass):
    """Return the energy of cells without an order."""
    energy = 0.0
    for low in range(filled.shape[0]):
        for strip in range(STRIPS):
            energy += mass[low, strip] * filled[low, strip] * filled[low, strip]
    return energy


@kernel(allocates=True)
def sum_cell_energies(cells, rows, weights, features, order, starts, ends, energies):
    """Write the energy of a leaf's rows up to each rank, column by column: the rows fill the cells by rank."""
    cell, cell_starts = cells.cell, cells.starts
    totals, running, squares = np.empty(STRIPS), np.empty(STRIPS), np.empty(STRIPS)
    weight, own = weights[rows], np.empty(rows.shape[0], np.uint32)
    for f in features:
        energies[starts[f] : starts[f + 1]] = 0.0
    for b in range(cell.shape[0]):
        n_cells = cell_starts[b + 1] - cell_starts[b]
        depth = (n_cells + STRIPS - 1) // STRIPS
        places, masses, filled = np.empty(n_cells, np.uint32), np.empty((depth, STRIPS)), np.empty((depth, STRIPS))
        lay_out_cells(cells.mass[cell_starts[b] : cell_starts[b + 1]], places, masses)
        for i in range(rows.shape[0]):
            own[i] = places[cell[b, rows[i]]]
        flat = filled.reshape(-1)
        for f in features:
            filled[:] = 0.0
            totals[:] = 0.0
            energy, k = 0.0, 0
            for rank in range(starts[f], starts[f + 1]):
                before = k
                while k < ends[rank]:
                    i = np.uint64(order[f, k])
                    place = np.uint64(own[i])
                    flat[place] += weight[i]
                    totals[place % np.uint64(STRIPS)] += weight[i]
                    k += 1
                if k > before:
                    energy = (
                        sum_strips(filled, totals, masses, running, squares)
                        if cells.ordered[b]
                        else sum_unordered_cells(filled, masses)
                    )
                energies[rank] += energy
