"""Scores of rows that no model was trained on, and what follows from them for the next row.

The next row is one more row among them, with an unknown score. So it counts as a row with an infinite score: this is
what makes the guarantee exact for any number of rows, and what makes an interval infinite if there are too few.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot._parallel import row_blocks
from surefoot.conformal.row_scales import RowScales

BLOCK_CELLS = 4_000_000  # rows to predict times calibration rows, at once in memory
ROUNDING = 1e-9  # relative: 0.9 times 10 rows are 9 rows


@dataclass(frozen=True)
class CalibrationScores:
    """Scores of calibration rows: the larger, the less a row conforms to what its model predicts.

    Attributes
    ----------
    scores : array of shape (n_rows,)
    models : array of shape (n_rows,)
        For each row, the number of the model that was not trained on it.
    weights : array of shape (n_rows,) or None
        Importance weights; None: all rows have the same weight, and so has the next row.
    """

    scores: np.ndarray
    models: np.ndarray
    weights: np.ndarray | None = None

    def __getitem__(self, rows: np.ndarray) -> "CalibrationScores":
        """The calibration by some of the rows."""
        return CalibrationScores(
            self.scores[rows], self.models[rows], None if self.weights is None else self.weights[rows]
        )

    def limits(self, level: float, next_weights: np.ndarray) -> np.ndarray:
        """For a single model: the score that the next row exceeds with a probability of at most 1 minus the level.

        It is the smallest score up to which there is enough of all weight. The weight of the next row is at infinity,
        so the limit is infinite where the calibration rows are too few for the level, or their weights too small.
        """
        order = np.argsort(self.scores, kind="stable")
        reached = np.cumsum(np.ones(len(order)) if self.weights is None else self.weights[order])
        total = (reached[-1] if len(reached) else 0.0) + next_weights
        places = np.searchsorted(reached, (level - ROUNDING) * total, side="left")
        return np.asarray(np.append(self.scores[order], np.inf)[places])

    def intervals(
        self, scales: Sequence[RowScales], level: float, next_weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Both ends of the intervals of rows whose scales each model predicts (CV+ if there are several models)."""
        if len(scales) == 1:
            return scales[0].ends(self.limits(level, next_weights))
        low, high = np.empty(len(next_weights)), np.empty(len(next_weights))
        for start, stop in row_blocks(len(low), max(1, BLOCK_CELLS // max(len(self.scores), 1))):
            ends = RowScales.stacked([each[start:stop] for each in scales])[:, self.models].ends(self.scores)
            low[start:stop] = -self._end(-ends[0], level, next_weights[start:stop])
            high[start:stop] = self._end(ends[1], level, next_weights[start:stop])
        return low, high

    def _end(self, ends: np.ndarray, level: float, next_weights: np.ndarray) -> np.ndarray:
        """For every row, the smallest of its ends that those of enough calibration rows do not exceed."""
        if self.weights is not None:
            order = np.argsort(ends, axis=1, kind="stable")
            reached = np.cumsum(self.weights[order], axis=1)
            needed = (level - ROUNDING) * (reached[:, -1:] + next_weights[:, np.newaxis])
            places = np.sum(reached < needed, axis=1)[:, np.newaxis]
            padded = np.column_stack([np.take_along_axis(ends, order, axis=1), np.full(len(ends), np.inf)])
            return np.asarray(np.take_along_axis(padded, places, axis=1)[:, 0])
        rank = conformal_rank(ends.shape[1], level)
        if rank > ends.shape[1]:
            return np.full(len(ends), np.inf)
        return np.asarray(np.partition(ends, rank - 1, axis=1)[:, rank - 1])

    def conforms(self, scores: Sequence[np.ndarray], level: float, next_weights: np.ndarray) -> np.ndarray:
        """Which labels of which rows conform, from their scores (n_rows, n_labels) by each model.

        A label conforms unless the calibration rows with at least its score, and the next row, have too little weight.
        """
        weights = np.ones(len(self.scores)) if self.weights is None else self.weights
        beyond = np.tile(next_weights[:, np.newaxis], (1, scores[0].shape[1]))
        for k, of_labels in enumerate(scores):
            rows = np.flatnonzero(self.models == k)
            rows = rows[np.argsort(self.scores[rows], kind="stable")]
            remaining = np.append(np.cumsum(weights[rows][::-1])[::-1], 0.0)
            beyond += remaining[np.searchsorted(self.scores[rows], of_labels, side="left")]
        total = weights.sum() + next_weights[:, np.newaxis]
        return np.asarray(beyond > (1 - level) * total + ROUNDING * total)

    def supports(self, level: float) -> bool:
        """Whether rows of equal weight are enough for a finite limit."""
        return conformal_rank(len(self.scores), level) <= len(self.scores)


def conformal_rank(n_rows: int, level: float) -> int:
    """The rank of the limit among the scores of ``n_rows`` rows: ceil((n_rows + 1) * level)."""
    return max(1, int(np.ceil((n_rows + 1) * (level - ROUNDING))))


def rows_for_level(level: float) -> int:
    """The smallest number of calibration rows with a finite limit."""
    n_rows = max(1, int(level / (1 - level)) - 1)
    while conformal_rank(n_rows, level) > n_rows:
        n_rows += 1
    return n_rows
