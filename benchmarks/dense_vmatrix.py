"""V-matrix boosting in dense NumPy, with which `benchmarks/shift.py` compares surefoot.

The matrix of all pairs of rows is computed; trees are grown by the same score, and are the same.
"""

from collections.abc import Callable, Sequence

import numpy as np

TIE = 1e-10  # relative difference of gains below which they are equal, and the first threshold is chosen
SMALL = 600  # number of rows of a leaf below which one call for all bins is faster than a call for each
LEAVES, RATE, BLEND, L2, MIN_ROWS = 16, 0.1, 0.3, 1.0, 5

Energies = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def dense_matrix(kind: str, X: np.ndarray, X_target: np.ndarray) -> np.ndarray:
    """Compute the V-matrix by its definition."""
    if kind == "joint":
        reached = np.all(X_target[np.newaxis] >= X[:, np.newaxis], axis=2).astype(np.float64)
        return reached @ reached.T / len(X_target)
    V = np.zeros((len(X), len(X)))
    for values, targets in zip(X.T, X_target.T, strict=True):
        fraction = 1 - np.searchsorted(np.sort(targets), values, side="left") / len(targets)
        V += np.minimum.outer(fraction, fraction)
    return V / X.shape[1]


def careful_energies(piece: np.ndarray, order: np.ndarray, firsts: np.ndarray) -> np.ndarray:
    """For each bin, the sum of ``piece`` over all pairs of rows up to it: first bins by rows, then bins by bins."""
    if len(piece) < SMALL:
        by_bin = np.add.reduceat(piece[order], firsts, axis=0)
    else:
        by_bin = np.array([piece[rows].sum(axis=0) for rows in np.split(order, firsts[1:])])
    pairs = np.add.reduceat(by_bin[:, order], firsts, axis=1)
    return np.cumsum(2 * np.tril(pairs, -1).sum(axis=1) + pairs.diagonal())


def plain_energies(piece: np.ndarray, order: np.ndarray, firsts: np.ndarray) -> np.ndarray:
    """The same by cumulative sums along both axes of the sorted piece."""
    running = piece[np.ix_(order, order)].cumsum(axis=0).cumsum(axis=1).diagonal()
    return running[np.append(firsts[1:], len(order)) - 1]


class DenseLeaf:
    """The rows of a leaf and, for every threshold (of all columns in turn), the sums over the rows to its left."""

    def __init__(self, rows: np.ndarray, codes: np.ndarray, matrix: np.ndarray, energies: Energies) -> None:
        self.rows = rows
        own = codes[:, rows]
        self.orders = np.argsort(own, axis=1, kind="stable")
        in_order = np.take_along_axis(own, self.orders, axis=1)
        is_last = np.append(in_order[:, 1:] != in_order[:, :-1], np.ones((len(codes), 1), dtype=bool), axis=1)
        self.columns, self.lasts = np.nonzero(is_last)
        self.codes, self.counts = in_order[self.columns, self.lasts], self.lasts + 1
        piece = matrix[np.ix_(rows, rows)]
        firsts = [np.append(0, np.flatnonzero(last)[:-1] + 1) for last in is_last]
        self.energies = np.concatenate(
            [energies(piece, order, first) for order, first in zip(self.orders, firsts, strict=True)]
        )
        self.sums: dict[int, np.ndarray] = {}  # of the cross terms with each leaf

    def add_up(self, values: np.ndarray) -> np.ndarray:
        """For every threshold, the sum of ``values`` (one for each row of the table) to its left."""
        return values[self.rows][self.orders].cumsum(axis=1)[self.columns, self.lasts]


class DenseTree:
    """A tree grown greedily by the score on a dense matrix; the values of all leaves are solved together."""

    def __init__(self, codes: np.ndarray, matrix: np.ndarray, residuals: np.ndarray, energies: Energies) -> None:
        self.codes, self.matrix, self.energies = codes, matrix, energies
        self.slopes = 2 * (matrix @ residuals)
        self.crosses = [2 * matrix.sum(axis=1)]
        self.leaves = [self._leaf(np.arange(len(residuals)))]
        self._update(range(1))

    def _leaf(self, rows: np.ndarray) -> DenseLeaf:
        leaf = DenseLeaf(rows, self.codes, self.matrix, self.energies)
        leaf.pull = leaf.add_up(self.slopes)
        return leaf

    def _update(self, changed: Sequence[int]) -> None:
        """Update the sums of every leaf for the leaves that changed, and solve for the values."""
        for number, leaf in enumerate(self.leaves):
            for m in range(len(self.leaves)) if number in changed else changed:
                leaf.sums[m] = leaf.add_up(self.crosses[m])
        D = np.array([[cross[leaf.rows].sum() for leaf in self.leaves] for cross in self.crosses])
        self.inverse = np.linalg.inv(D + L2 * np.eye(len(D)))
        self.values = self.inverse @ np.array([self.slopes[leaf.rows].sum() for leaf in self.leaves])

    def gains(self, number: int) -> np.ndarray:
        """The decrease of the score -1/2 U^T D^-1 U for each threshold of a leaf, by a bordered inverse."""
        leaf = self.leaves[number]
        cross = np.stack([leaf.sums[m] for m in range(len(self.leaves))], axis=1)
        cross[:, number] += L2
        project = cross @ self.inverse
        along, value = project[:, number], self.values[number]
        damp = L2 / (1 + L2 * self.inverse[number, number])
        slope = leaf.pull - cross @ self.values + damp * along * value
        stiffness = 2 * leaf.energies + L2 - (cross * project).sum(axis=1) + damp * along**2
        allowed = (leaf.counts >= MIN_ROWS) & (len(leaf.rows) - leaf.counts >= MIN_ROWS)
        gains = 0.5 * slope**2 / np.where(allowed, stiffness, 1.0) - 0.5 * damp * value**2
        return np.where(allowed, gains, -np.inf)

    def grow(self) -> np.ndarray:
        """Split until there are enough leaves; return the prediction of the tree for each row."""
        while len(self.leaves) < LEAVES:
            gains = [self.gains(number) for number in range(len(self.leaves))]
            best = np.array([gain.max() for gain in gains])
            if best.max() <= 0:
                break
            number = int(np.flatnonzero(best >= best.max() * (1 - TIE))[0])
            self._split(number, int(np.flatnonzero(gains[number] >= best[number] * (1 - TIE))[0]))
        fitted = np.empty(len(self.slopes))
        for leaf, value in zip(self.leaves, self.values, strict=True):
            fitted[leaf.rows] = value
        return fitted

    def _split(self, number: int, place: int) -> None:
        leaf = self.leaves[number]
        goes_left = self.codes[leaf.columns[place], leaf.rows] <= leaf.codes[place]
        left, right = leaf.rows[goes_left], leaf.rows[~goes_left]
        cross = 2 * self.matrix[:, left].sum(axis=1)
        self.crosses.append(self.crosses[number] - cross)
        self.crosses[number] = cross
        self.leaves[number] = self._leaf(left)
        self.leaves.append(self._leaf(right))
        self._update((number, len(self.leaves) - 1))


def dense_loss(kind: str, X: np.ndarray, X_target: np.ndarray) -> np.ndarray:
    """The matrix of the blended loss: V is scaled to the sum n_rows, the blend to the trace n_rows."""
    V = dense_matrix(kind, X, X_target)
    matrix = V * (BLEND * len(X) / V.sum())
    matrix[np.diag_indices(len(X))] += 1 - BLEND
    return matrix * (len(X) / matrix.trace())


def dense_fit(codes: np.ndarray, matrix: np.ndarray, y: np.ndarray, n_trees: int, energies: Energies) -> np.ndarray:
    """Boost on a dense matrix; return the predictions for the training rows."""
    pull = matrix.sum(axis=1)
    fitted = np.full(len(y), pull @ y / pull.sum())
    for _ in range(n_trees):
        fitted += RATE * DenseTree(codes, matrix, y - fitted, energies).grow()
    return fitted
