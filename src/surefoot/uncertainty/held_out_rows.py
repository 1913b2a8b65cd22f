"""The rows that a model in training holds out: their outputs and losses, round by round."""

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.trees.row_blocks import BlockRows
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.fit_spec import TrainingRows

MIN_TOTAL = 1e-300  # of weights: no division by 0 where there are no rows


class HeldOutRows:
    """Outputs and losses of the held-out rows after the last round that was measured.

    Attributes
    ----------
    rows : BlockRows
        Their places in the table, or in the shard.
    raw, saved : arrays of shape (n_outputs, n_held_out)
        Their outputs in the last round that was measured, and in the last one that was saved.
    """

    def __init__(
        self,
        family: RegressionFamily | ClassificationFamily,
        rows: TrainingRows,
        weights: np.ndarray,
        total_weight: float,
        start: np.ndarray,
    ) -> None:
        self.family, self._scale = family, float(start[-1])
        self.rows = BlockRows.of(rows.held_out, len(rows.y))
        self.y = rows.y[rows.held_out]
        self.raw = np.repeat(start[:, np.newaxis], len(self.y), axis=1)
        self.saved = self.raw.copy()
        self._fractions = weights[rows.held_out] / max(total_weight, MIN_TOTAL)
        self._sums = np.zeros((self.rows.n_blocks, 3))
        self._min_losses = self._at_one_scale(self.y, self.y) if family.has_scale and len(self.y) else np.empty(0)

    def measure(
        self, raw: np.ndarray, steps: np.ndarray, scale_bounds: tuple[float, float], threads: RowThreads
    ) -> np.ndarray:
        """For each block, its part of the mean losses: of the distribution, and of the mean; and of the scale's step.

        The loss of the mean is its deviance, at one scale for all rows. Without a scale, it is the first loss, and the
        step is 0. ``raw`` and ``steps`` are those of all rows.
        """

        def measure_blocks(blocks: tuple[int, int]) -> None:
            own = self.rows.in_blocks(blocks)
            places, fractions = self.rows.rows[own], self._fractions[own]
            for k in range(self.family.n_outputs):
                self.raw[k, own] = raw[k, places]
            losses = self._losses(own, scale_bounds) * fractions
            kinds = [losses, losses, np.zeros(0)]
            if self.family.has_scale:
                above = self._at_one_scale(self.raw[0, own], self.y[own]) - self._min_losses[own]
                kinds[1:] = [above * fractions, steps[-1, places] * fractions]
            starts = self.rows.starts - own.start
            for block in range(*blocks):
                part = slice(starts[block], starts[block + 1])
                self._sums[block] = [kind[part].sum() for kind in kinds]

        if len(self.y):
            threads.run(measure_blocks, self.rows.block_ranges(threads.n_threads))
        return self._sums

    def _losses(self, own: slice, scale_bounds: tuple[float, float]) -> np.ndarray:
        raw = self.raw[:, own].copy()
        np.clip(raw[-1], *scale_bounds, out=raw[-1])
        return self.family.nll(raw, self.y[own])

    def _at_one_scale(self, first: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Losses with these first outputs, which every family with a scale has in the target's units."""
        return self.family.nll(np.stack([first, np.full(len(first), self._scale)]), y)

    def save(self) -> None:
        """Keep the outputs of the last round that was measured."""
        np.copyto(self.saved, self.raw)
