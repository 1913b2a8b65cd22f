"""Products over features: ``V(i, j)`` is the chance that independent features dominate both rows."""

import numpy as np

from surefoot._jit import kernel
from surefoot._parallel import RowThreads, row_blocks
from surefoot.shift.gram import ALONE, Gram

BLOCK_CELLS = 20_000_000  # pairs of rows times features in one call of a kernel


class ProductGram(Gram):
    """``V(i, j) = prod over k of min(chances[k, i], chances[k, j])``, averaged over the views.

    ``chances[k, i]`` is the chance that feature k of the target reaches that of row i, so the smaller of two is that of
    reaching both. Features without an order have a ``kinds`` that must be equal in both rows; it is 0 throughout for
    the others. A view is a pair (chances, kinds) of arrays (features, rows).
    """

    def __init__(self, views: list[tuple[np.ndarray, np.ndarray]]) -> None:
        self.views = views
        self.n_rows = views[0][0].shape[1]

    def only(self, rows: np.ndarray) -> "ProductGram":
        return ProductGram([(chances[:, rows].copy(), kinds[:, rows].copy()) for chances, kinds in self.views])

    def diagonal(self) -> np.ndarray:
        return np.mean([np.prod(chances, axis=0) for chances, _ in self.views], axis=0)

    def times(self, values: np.ndarray, threads: RowThreads = ALONE) -> np.ndarray:
        out = np.zeros(self.n_rows)
        n_features = len(self.views[0][0])
        step = max(1, BLOCK_CELLS // (self.n_rows * n_features))
        for chances, kinds in self.views:

            def multiply(block: tuple[int, int], chances: np.ndarray = chances, kinds: np.ndarray = kinds) -> None:
                multiply_rows(chances, kinds, values, *block, 1.0 / len(self.views), out)

            threads.each(multiply, row_blocks(self.n_rows, step))
        return out

    def piece(self, rows: np.ndarray) -> np.ndarray:
        out = np.zeros((len(rows), len(rows)))
        for chances, kinds in self.only(rows).views:
            pair_products(chances, kinds, 1.0 / len(self.views), out)
        return out


@kernel
def multiply_rows(chances, kinds, values, start, stop, share, out):
    """Add ``share`` times the products of the rows ``start`` to ``stop`` of the matrix with ``values`` to ``out``."""
    for i in range(start, stop):
        total = 0.0
        for j in range(values.shape[0]):
            entry = values[j]
            for k in range(chances.shape[0]):
                if kinds[k, i] != kinds[k, j]:
                    entry = 0.0
                    break
                entry *= min(chances[k, i], chances[k, j])
            total += entry
        out[i] += share * total


@kernel
def pair_products(chances, kinds, share, out):
    """Add ``share`` times the matrix among all rows to ``out``."""
    n_rows = chances.shape[1]
    for i in range(n_rows):
        for j in range(i + 1):
            entry = share
            for k in range(chances.shape[0]):
                if kinds[k, i] != kinds[k, j]:
                    entry = 0.0
                    break
                entry *= min(chances[k, i], chances[k, j])
            out[i, j] += entry
            if j < i:
                out[j, i] += entry
