"""The loss that trees are grown on: a V-matrix blended with plain squares.

With residuals r and weights w the loss is ``blend`` times ``sum over i, j of w_i w_j r_i r_j V_ij``, and the rest times
``sum of w_i r_i**2``. The V-matrix is scaled so that both are the same for residuals that are all 1: neither more rows
nor larger weights change how much each has to say. The whole is then scaled to one on average on its diagonal, as plain
squares are, so that l2 means the same whatever the blend. A row of weight k is k rows.
"""

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.shift.gram import ALONE, Gram

BLIND_TO_CONSTANTS = 1e-12  # by weight: a loss that grows less with a constant does not see it, up to rounding


class Objective:
    """The blended loss over some rows; without a matrix, or with ``blend`` 0, that of plain squares."""

    def __init__(self, gram: Gram | None, blend: float, weights: np.ndarray, threads: RowThreads = ALONE) -> None:
        self.threads = threads
        self.gram = gram if blend > 0 else None
        self.weights = weights
        self.total = float(weights.sum())
        self.share, self.rest = (0.0, 1.0) if self.gram is None else self._shares(self.gram, blend)

    def _shares(self, gram: Gram, blend: float) -> tuple[float, float]:
        """What the V-matrix and the plain squares are multiplied by; 0 and 0 if they see no row.

        A matrix of the user's may not see constants. There its diagonal counts, as if the rows had nothing in common.
        """
        diagonal = gram.diagonal()
        together = float((self.weights * gram.times(self.weights, self.threads)).sum())
        alone = float((self.weights**2 * diagonal).sum())
        share = blend * self.total / max(together, alone) if max(together, alone) > 0 else 0.0
        trace = float((self.weights * (share * diagonal + (1.0 - blend))).sum())
        scale = self.total / trace if trace > 0 else 0.0
        return share * scale, (1.0 - blend) * scale

    @property
    def is_plain(self) -> bool:
        return self.gram is None

    @property
    def is_blind(self) -> bool:
        """Whether it sees none of the rows: nothing dominates them, and plain squares have no part in it."""
        return self.share == 0 and self.rest == 0

    def times(self, values: np.ndarray) -> np.ndarray:
        """The matrix of the loss times ``values``, one for each row."""
        plain = self.rest * values
        return plain if self.gram is None else plain + self.share * self.gram.times(self.weights * values, self.threads)

    def loss(self, residuals: np.ndarray) -> float:
        """The loss by weight of the rows."""
        return float((self.weights * residuals * self.times(residuals)).sum()) / self.total

    def best_constant(self, y: np.ndarray) -> float:
        """The constant of least loss."""
        pull = self.weights * self.times(np.ones(len(y)))
        middle = float((self.weights * y).sum()) / self.total  # first, so that large targets lose no digits
        if pull.sum() <= BLIND_TO_CONSTANTS * self.total:
            return middle
        return middle + float((pull * (y - middle)).sum()) / float(pull.sum())
