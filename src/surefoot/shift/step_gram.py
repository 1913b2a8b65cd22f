"""The mean of one-feature matrices, without ever writing one out.

The target values of a feature, sorted, cut the line into cells. A row is dominated by the targets from its own cell on,
so a product with the matrix is a running sum over cells, there and back: linear in rows.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from surefoot._jit import kernel
from surefoot._parallel import RowThreads
from surefoot.shift.gram import ALONE, Gram, Search

LANES = 8  # ranks that share a pass over the cells
PAIR_COST = 2.5  # of a pair of rows, in cells


@dataclass(frozen=True)
class Cells:
    """One feature: the cell of every row, and the mass of the target in each cell.

    Ordered: a row is dominated by its own cell and all after it. Not ordered (categories, missing values): by its own
    alone. The last cell has no mass: nothing dominates the rows in it.
    """

    cell: np.ndarray  # int32, (rows,)
    mass: np.ndarray  # float64, (cells,)
    ordered: bool


class StepGram(Gram):
    """The sum over features of the mass that dominates both rows."""

    def __init__(self, cell: np.ndarray, starts: np.ndarray, mass: np.ndarray, ordered: np.ndarray) -> None:
        """``cell`` is (features, rows); the cells of feature b are those from ``starts[b]`` on in ``mass``."""
        self.n_rows = cell.shape[1]
        self.cell, self.starts, self.mass, self.ordered = cell, starts, mass, ordered

    @classmethod
    def of(cls, features: list[Cells]) -> "StepGram":
        starts = np.concatenate([[0], np.cumsum([len(feature.mass) for feature in features])]).astype(np.int64)
        return cls(
            np.stack([feature.cell for feature in features]), starts,
            np.concatenate([feature.mass for feature in features]), np.array([feature.ordered for feature in features]),
        )  # fmt: skip

    def only(self, rows: np.ndarray) -> "StepGram":
        return StepGram(np.ascontiguousarray(self.cell[:, rows]), self.starts, self.mass, self.ordered)

    @cached_property
    def reach(self) -> np.ndarray:
        """The mass that dominates a row of each cell."""
        parts = np.split(self.mass, self.starts[1:-1])
        reached = [m[::-1].cumsum()[::-1] if o else m for m, o in zip(parts, self.ordered, strict=True)]
        return np.concatenate(reached)

    def diagonal(self) -> np.ndarray:
        out = np.zeros(self.n_rows)
        for start, cell in zip(self.starts, self.cell, strict=False):
            out += self.reach[start + cell]
        return out

    def times(self, values: np.ndarray, threads: RowThreads = ALONE) -> np.ndarray:
        out = np.zeros(self.n_rows)
        multiply_cells(self.cell, self.starts, self.mass, self.ordered, np.ascontiguousarray(values), out)
        return out

    def piece(self, rows: np.ndarray) -> np.ndarray:
        out = np.zeros((len(rows), len(rows)))
        cell = np.ascontiguousarray(self.cell[:, rows])
        pair_cells(cell, self.reach[self.starts[:-1, np.newaxis] + cell], self.ordered, out)
        return out

    def piece_of_leaf(self, rows: np.ndarray, n_features: int) -> np.ndarray | None:
        """The piece if that is the cheaper way: pairs of rows, or every cell for every code of every column."""
        by_pairs = len(rows) ** 2 * (len(self.cell) + n_features) / 2
        by_cells = n_features * min(len(rows), 256) * len(self.mass)
        return self.piece(rows) if PAIR_COST * by_pairs < by_cells else None

    def prefix_energies(self, piece: np.ndarray | None, search: Search, features: np.ndarray, out: np.ndarray) -> None:
        if piece is not None:
            return super().prefix_energies(piece, search, features, out)
        return energies_of_cells(
            self.cell, self.starts, self.mass, self.ordered, search.rows, search.weights, features, search.order,
            search.starts, search.ends, out,
        )  # fmt: skip


@kernel
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
def pair_cells(cell, reached, ordered, out):
    """Add the matrix among all rows to ``out``; ``reached`` is the mass that dominates each row, feature by feature.

    Mass that dominates the larger of two rows dominates both: the smaller of two masses.
    """
    n_rows = cell.shape[1]
    for i in range(n_rows):
        row = out[i]
        for b in range(cell.shape[0]):
            own, mass = cell[b, i], reached[b, i]
            if ordered[b]:
                others = reached[b]
                for j in range(n_rows):
                    row[j] += others[j] if others[j] < mass else mass
            else:
                for j in range(n_rows):
                    row[j] += mass if cell[b, j] == own else 0.0


@kernel
def scan_cells(lanes, filled, mass, energy):
    """Read what each of eight ranks adds to each cell; add it to ``filled``, and write the energy after each rank.

    Eight at a time, each with a variable of its own: a loop over ranks would go through memory at every step.
    """
    r0, r1, r2, r3, r4, r5, r6, r7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    e0, e1, e2, e3, e4, e5, e6, e7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for c in range(mass.shape[0]):
        added, m = lanes[c], mass[c]
        here = filled[c] + added[0]
        r0 += here
        here += added[1]
        r1 += here
        here += added[2]
        r2 += here
        here += added[3]
        r3 += here
        here += added[4]
        r4 += here
        here += added[5]
        r5 += here
        here += added[6]
        r6 += here
        here += added[7]
        r7 += here
        filled[c] = here
        e0 += m * r0 * r0
        e1 += m * r1 * r1
        e2 += m * r2 * r2
        e3 += m * r3 * r3
        e4 += m * r4 * r4
        e5 += m * r5 * r5
        e6 += m * r6 * r6
        e7 += m * r7 * r7
    energy[0], energy[1], energy[2], energy[3] = e0, e1, e2, e3
    energy[4], energy[5], energy[6], energy[7] = e4, e5, e6, e7


@kernel
def scan_kinds(lanes, filled, mass, energy):
    """As ``scan_cells``, for cells without an order."""
    energy[:] = 0.0
    for c in range(mass.shape[0]):
        for lane in range(LANES):
            filled[c] += lanes[c, lane]
            energy[lane] += mass[c] * filled[c] * filled[c]


@kernel
def energies_of_cells(
    cell, cell_starts, mass, ordered, rows, weights, features, order, starts, ends, energies
):  # fmt: skip
    """Write the energy of a leaf's rows up to each rank, column by column: rows in order of rank fill the cells."""
    most = np.int64(0)
    for b in range(cell.shape[0]):
        most = max(most, cell_starts[b + 1] - cell_starts[b])
    lanes, filled, energy = np.empty((most, LANES)), np.empty(most), np.empty(LANES)
    for f in features:
        energies[starts[f] : starts[f + 1]] = 0.0
        for b in range(cell.shape[0]):
            n_cells = cell_starts[b + 1] - cell_starts[b]
            masses, own = mass[cell_starts[b] : cell_starts[b + 1]], cell[b]
            filled[:] = 0.0
            energy[:] = 0.0
            k = 0
            for first in range(starts[f], starts[f + 1], LANES):
                last = min(first + LANES, starts[f + 1])
                if k == ends[last - 1]:
                    energies[first:last] += energy[LANES - 1]
                    continue
                lanes[:n_cells] = 0.0
                for place in range(first, last):
                    while k < ends[place]:
                        i = rows[order[f, k]]
                        lanes[np.uint64(own[i]), np.uint64(place - first)] += weights[i]
                        k += 1
                if ordered[b]:
                    scan_cells(lanes, filled, masses, energy)
                else:
                    scan_kinds(lanes, filled, masses, energy)
                for place in range(first, last):
                    energies[place] += energy[place - first]
