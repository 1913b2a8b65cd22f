"""The loss that trees are grown on: a V-matrix blended with squared loss.

With residuals r and weights w the loss is ``blend`` times ``sum over i, j of w_i w_j r_i r_j V_ij`` plus ``1 - blend``
times ``sum of w_i r_i**2``. The V-matrix is scaled so that both terms are equal for residuals that are all 1: neither
more rows nor larger weights change the balance. The sum is then scaled so that its diagonal is 1 on average, like that
of squared loss, so that l2 means the same for every blend. A row of weight k counts as k rows.
"""

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.shift.gram import ONE_THREAD, Gram

MIN_PULL = 1e-12  # by weight: a loss that changes less with a constant does not depend on it, up to rounding


class Objective:
    """The blended loss over some rows; without a matrix, or with ``blend`` 0, squared loss."""

    def __init__(self, gram: Gram | None, blend: float, weights: np.ndarray, threads: RowThreads = ONE_THREAD) -> None:
        self.threads = threads
        self.gram = gram if blend > 0 else None
        self.weights = weights
        self.total = float(weights.sum())
        self.v_factor, self.squares_factor = (0.0, 1.0) if self.gram is None else self._factors(self.gram, blend)

    def _factors(self, gram: Gram, blend: float) -> tuple[float, float]:
        """Return the factors of the V-matrix and of the squares; 0 and 0 if neither depends on any row.

        A user's matrix may not depend on constants. Its diagonal then decides, as if rows had nothing in common.
        """
        diagonal = gram.diagonal()
        together = float((self.weights * gram.times(self.weights, self.threads)).sum())
        alone = float((self.weights**2 * diagonal).sum())
        factor = blend * self.total / max(together, alone) if max(together, alone) > 0 else 0.0
        trace = float((self.weights * (factor * diagonal + (1.0 - blend))).sum())
        scale = self.total / trace if trace > 0 else 0.0
        return factor * scale, (1.0 - blend) * scale

    @property
    def is_plain(self) -> bool:
        """Whether it is squared loss."""
        return self.gram is None

    @property
    def is_constant(self) -> bool:
        """Whether it depends on no row: the target dominates none of them, and squares have no weight."""
        return self.v_factor == 0 and self.squares_factor == 0

    def times(self, values: np.ndarray) -> np.ndarray:
        """Multiply the matrix of the loss with ``values``, one for each row."""
        squares = self.squares_factor * values
        if self.gram is None:
            return squares
        return squares + self.v_factor * self.gram.times(self.weights * values, self.threads)

    def loss(self, residuals: np.ndarray) -> float:
        """Return the loss divided by the weight of the rows."""
        return float((self.weights * residuals * self.times(residuals)).sum()) / self.total

    def best_constant(self, y: np.ndarray) -> float:
        """Return the constant with the smallest loss."""
        pull = self.weights * self.times(np.ones(len(y)))
        mean = float((self.weights * y).sum()) / self.total  # subtracted first, so that large targets lose no digits
        if pull.sum() <= MIN_PULL * self.total:
            return mean
        return mean + float((pull * (y - mean)).sum()) / float(pull.sum())
