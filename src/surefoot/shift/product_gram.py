"""Products over features: ``V(i, j)`` is the probability that independent features dominate both rows."""

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot._jit import kernel
from surefoot._parallel import RowThreads, row_blocks
from surefoot.shift.gram import CELLS_AT_ONCE, ONE_THREAD, DenseGram, Gram

MAX_BOOSTED_ROWS = 10_000  # a product is written out to grow trees on it: 0.8 GB, and 2 GB in all with a trial model


class ProductGram(Gram):
    """``V(i, j) = prod over k of min(p[k, i], p[k, j])``, averaged over the views.

    ``p[k, i]`` is the probability that feature k of the target reaches that of row i, so the smaller of two is the
    probability of reaching both. Features without an order have ``groups`` that must be equal in both rows; the groups
    of ordered features are 0. A view is a pair (probabilities, groups) of arrays (features, rows).
    """

    def __init__(self, views: list[tuple[np.ndarray, np.ndarray]]) -> None:
        self.views = views
        self.n_rows = views[0][0].shape[1]

    def subset(self, rows: np.ndarray) -> "ProductGram":
        return ProductGram([(p[:, rows].copy(), groups[:, rows].copy()) for p, groups in self.views])

    def diagonal(self) -> np.ndarray:
        return np.mean([np.prod(p, axis=0) for p, _ in self.views], axis=0)

    def times(self, values: np.ndarray, threads: RowThreads = ONE_THREAD) -> np.ndarray:
        out = np.zeros(self.n_rows)
        for p, groups in self.views:

            def multiply(block: tuple[int, int], p: np.ndarray = p, groups: np.ndarray = groups) -> None:
                multiply_rows(p, groups, values, *block, 1.0 / len(self.views), out)

            threads.each(multiply, self._row_blocks())
        return out

    def submatrix(self, rows: np.ndarray) -> np.ndarray:
        out = np.zeros((len(rows), len(rows)))
        chosen = self.subset(rows)
        for p, groups in chosen.views:
            for start, stop in chosen._row_blocks():
                add_pair_products(p, groups, 1.0 / len(self.views), start, stop, out)
        return out

    def for_boosting(self, argument: str) -> DenseGram:
        """Write the matrix out: the energies of a leaf need all pairs of its rows, for every tree."""
        if self.n_rows > MAX_BOOSTED_ROWS:
            raise ParameterError(
                f"A product over features (kind='product') is written out for boosting and takes at most "
                f"{MAX_BOOSTED_ROWS:,} rows, but X has {self.n_rows:,}: use kind='mean' or 'joint', or fewer rows.",
                argument=argument,
            )
        matrix = self.submatrix(np.arange(self.n_rows))
        # the scale does not matter for boosting, and products of many features are small: keep their sums normal
        exponent = np.frexp(matrix.max())[1]
        return DenseGram(np.ldexp(matrix, -exponent, out=matrix), is_symmetric=True)

    def _row_blocks(self) -> list[tuple[int, int]]:
        n_features = len(self.views[0][0])
        return row_blocks(self.n_rows, max(1, CELLS_AT_ONCE // (self.n_rows * n_features)))


@kernel
def multiply_rows(p, groups, values, start, stop, factor, out):
    """Add ``factor`` times the products of the rows ``start`` to ``stop`` of the matrix with ``values`` to ``out``."""
    for i in range(start, stop):
        total = 0.0
        for j in range(values.shape[0]):
            entry = values[j]
            for k in range(p.shape[0]):
                if groups[k, i] != groups[k, j]:
                    entry = 0.0
                    break
                entry *= min(p[k, i], p[k, j])
            total += entry
        out[i] += factor * total


@kernel
def add_pair_products(p, groups, factor, start, stop, out):
    """Add ``factor`` times the pairs of the rows ``start`` to ``stop`` with themselves and all before to ``out``."""
    for i in range(start, stop):
        for j in range(i + 1):
            entry = factor
            for k in range(p.shape[0]):
                if groups[k, i] != groups[k, j]:
                    entry = 0.0
                    break
                entry *= min(p[k, i], p[k, j])
            out[i, j] += entry
            if j < i:
                out[j, i] += entry
