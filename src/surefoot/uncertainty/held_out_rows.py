"""The rows that a model in training holds out: their outputs and losses, round by round."""

import numpy as np

from surefoot.trees.row_blocks import even_ranges
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.families.base import weighted_sum
from surefoot.uncertainty.row_state import RowState

MIN_TOTAL = 1e-300  # of weights: no division by 0 where there are no rows


class HeldOutRows:
    """Outputs and losses of the held-out rows after the last round that was measured.

    Attributes
    ----------
    raw : array of shape (n_outputs, n_held_out)
        Their outputs.
    y, weights : arrays of shape (n_held_out,)
        Their internal targets and weights.
    """

    def __init__(self, family: RegressionFamily | ClassificationFamily, state: RowState, start: np.ndarray) -> None:
        self.family, self.places, self._scale = family, state.held_out, float(start[-1])
        self.y, self.weights = state.y[self.places], state.weights[self.places]
        self.raw = np.ascontiguousarray(state.raw[:, self.places])
        self._fractions = self.weights / max(self.weights.sum(), MIN_TOTAL)
        self._losses, self._losses_at_one_scale, self._steps = np.zeros((3, len(self.y)))
        self._min_loss = weighted_sum(self._at_one_scale(self.y, self.y), self._fractions) if family.has_scale else 0.0

    def measure(self, state: RowState, scale_bounds: tuple[float, float]) -> tuple[float, float, float]:
        """Mean losses after a round: of the distribution, and of the mean; and the mean step of the scale.

        The loss of the mean is its deviance, at one scale for all rows. Without a scale, it is the first loss, and the
        step is 0.
        """
        family, has_scale = self.family, self.family.has_scale

        def measure_part(part: tuple[int, int]) -> None:
            own = slice(*part)
            places, y = self.places[own], self.y[own]
            for k in range(family.n_outputs):
                self.raw[k, own] = state.raw[k, places]
            raw = self.raw[:, own].copy()
            if has_scale:
                self._losses_at_one_scale[own] = self._at_one_scale(raw[0], y)
                self._steps[own] = state.steps[-1, places]
            np.clip(raw[-1], *scale_bounds, out=raw[-1])
            self._losses[own] = family.nll(raw, y)

        state.threads.run(measure_part, even_ranges(len(self.y), state.threads.n_threads))
        loss = weighted_sum(self._losses, self._fractions)
        if not has_scale:
            return loss, loss, 0.0
        loss_of_mean = weighted_sum(self._losses_at_one_scale, self._fractions) - self._min_loss
        return loss, loss_of_mean, weighted_sum(self._steps, self._fractions)

    def _at_one_scale(self, first: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Losses with these first outputs, which every family with a scale has in the target's units."""
        return self.family.nll(np.stack([first, np.full(len(first), self._scale)]), y)
