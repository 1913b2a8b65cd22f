"""Each chunk against held-out training rows: a classifier, weights, and the expected loss that follows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from surefoot.report.inputs.deployment_chunks import Chunk
from surefoot.report.inputs.deployment_data import sample_of
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.scoring import Outcome
from surefoot.report.sections.over_time.chunk_units import ChunkUnits
from surefoot.report.sections.shift.expected_loss import HeldOutSample, predicted_losses, weighted_loss, why_not
from surefoot.report.sections.shift.findings import WeightedEstimate
from surefoot.report.statistics import Estimate, auc_interval
from surefoot.report.statistics.rise_test import rise_p_value
from surefoot.shift.column_shift import LEVEL, compare_columns
from surefoot.shift.density_ratio import DensityRatio, effective_rows
from surefoot.shift.shift_report_tables import ComparedTables
from surefoot.shift.two_sample_test import limited_threads

MAX_TRAINING, MAX_CHUNK = 4000, 2000  # rows of a fit
N_FOLDS, MAX_ITER = 2, 50  # with two folds, each half is tested by a classifier of the other, which is a valid test
MIN_ROWS = 40  # of a chunk, for a classifier of half of them


@dataclass(frozen=True)
class ChunkFit:
    """What the fits show about one chunk; the p-values are not corrected."""

    expected: WeightedEstimate
    loss_p_value: float
    auc: Estimate | None
    auc_p_value: float
    column: str | None
    distance: float


class ChunkFits:
    """The held-out training rows and all chunks, with losses predicted once for all of them."""

    def __init__(
        self,
        table: AuditTable,
        held_out: np.ndarray,
        outcome: Outcome,
        frame: Any,
        chunks: tuple[Chunk, ...],
        units: ChunkUnits,
        seed: int,
        n_jobs: int | None,
    ) -> None:
        self.table, self.outcome, self.frame, self.units = table, outcome, frame, units
        self.seed, self.n_jobs = seed, n_jobs
        self.places = sample_of(np.arange(len(held_out)), MAX_TRAINING, seed)
        self.rows = [sample_of(chunk.rows, MAX_CHUNK, seed) for chunk in chunks]
        self.sizes = [len(chunk.rows) for chunk in chunks]
        training, losses = table.frame.iloc[held_out[self.places]], outcome.proper[self.places]
        units_of_losses = None if units.training is None else units.training[self.places]
        with limited_threads(training.size, n_jobs):
            every = frame.iloc[np.concatenate(self.rows)]
            scores, new = predicted_losses(table, training, losses, every, units_of_losses, seed)
        self.predicted = np.split(new, np.cumsum([len(rows) for rows in self.rows])[:-1])
        self.sample = HeldOutSample(training, losses, units_of_losses, scores)

    def fit(self, k: int, measure: str, unmatched: float, outside: float) -> ChunkFit:
        """Compare one chunk; ``unmatched`` of its rows lie outside the training range beyond chance."""
        rows, training = self.rows[k], self.sample.frame
        chunk = self.frame.iloc[rows]
        if len(rows) < MIN_ROWS:
            weights, auc, auc_p_value = np.ones(len(training)), None, float("nan")
        else:
            coarse = self.units.coarse(self.places, rows)
            ratio = DensityRatio.fit(
                training, chunk, *coarse, self.seed, self.n_jobs, n_folds=N_FOLDS, max_iter=MAX_ITER
            )
            weights = ratio.weights
            auc, auc_p_value = self._separability(k, ratio.scores[:, 0], ratio.folds)
        reason = why_not(auc, unmatched, outside, effective_rows(weights))
        deployment = (chunk, self.predicted[k])
        expected = weighted_loss(self.table, self.sample, weights, deployment, self.outcome, measure, reason)
        units = self.units.pair(self.sample.predicted, self.places, rows, self.sizes[k])
        p_value = float("nan")
        if expected.loss is not None:
            p_value = rise_p_value(self.sample.predicted, self.predicted[k], *units, self.seed)
        column, distance = _furthest_column(training, chunk)
        return ChunkFit(expected, p_value, auc, auc_p_value, column, distance)

    def _separability(self, k: int, scores: np.ndarray, folds: np.ndarray) -> tuple[Estimate | None, float]:
        """The mean AUC of both halves, with the mean ends of their intervals, and the smaller p-value, doubled.

        Each half alone is a valid test. Together they are not independent: the sum of their ranks varies more.
        """
        n_training, parts, p_values = len(self.places), [], []
        for fold in range(N_FOLDS):
            tested = np.flatnonzero(folds == fold)
            is_chunk, ranks = tested >= n_training, rankdata(scores[tested]) / len(tested)
            places, rows = self.places[tested[~is_chunk]], self.rows[k][tested[is_chunk] - n_training]
            units = self.units.pair(ranks[~is_chunk], places, rows, self.sizes[k])
            groups = None if units[0] is None or units[1] is None else _apart(units[0], units[1])
            area = auc_interval(ranks, is_chunk, groups)
            if area is None:
                return None, float("nan")
            parts.append(area)
            p_values.append(rise_p_value(ranks[~is_chunk], ranks[is_chunk], *units, self.seed))
        ends = np.mean([(part.value, part.low, part.high) for part in parts], axis=0)
        return Estimate(*map(float, ends)), float(np.minimum(N_FOLDS * np.min(p_values), 1.0))


def _apart(training: np.ndarray, chunk: np.ndarray) -> np.ndarray:
    """Units of both sides as one array of codes; a unit on both sides counts as two."""
    first, second = (np.unique(each, return_inverse=True)[1].ravel() for each in (training, chunk))
    return np.concatenate([first, first.max() + 1 + second])


def _furthest_column(training: Any, chunk: Any) -> tuple[str | None, float]:
    """The column whose distributions differ most, among those that differ significantly."""
    columns = compare_columns(ComparedTables.read(training, chunk, "from_dtype"))
    clear = [each for each in columns if each.p_value < LEVEL]
    if not clear:
        return None, float("nan")
    furthest = max(clear, key=lambda each: each.size)
    return furthest.name, furthest.size
