"""Are probabilities too close to 0 and 1, or not close enough?"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, stdtrit

from surefoot.metrics.intervals import CONFIDENCE
from surefoot.report.models.scoring import enough
from surefoot.report.statistics.estimates import Estimate

MAX_STEPS, CLOSE_ENOUGH = 50, 1e-10
STEEPEST = 50.0  # slopes beyond this are those of outcomes that the probabilities separate: they have no end


@dataclass(frozen=True)
class CalibrationSlope:
    """What it takes to set probabilities right."""

    slope: Estimate
    change: float  # by how much they move on average


def recalibration(
    promised: np.ndarray, came_true: np.ndarray, groups: np.ndarray | None = None
) -> CalibrationSlope | None:
    """Logistic regression of what came true on the log-odds that were promised (Cox 1958).

    A slope of 1 is calibrated; less says that probabilities are too extreme, more that they are too timid. Its interval
    is that of the sandwich estimator, over rows or over groups. None where there is no slope: too few rows of either
    outcome, one probability, or outcomes that the probabilities separate. Probabilities that are closer to 0 or 1 than
    so many rows could show are taken for half a row in all of them.
    """
    n_rows, truth = len(promised), came_true.astype(np.float64)
    design = np.column_stack([np.ones(n_rows), logit(np.clip(promised, 0.5 / n_rows, 1 - 0.5 / n_rows))])
    if not enough(came_true) or np.ptp(design[:, 1]) == 0:
        return None
    found = np.array([logit(truth.mean()), 0.0])
    for _ in range(MAX_STEPS):
        expected = expit(design @ found)
        information = design.T @ (design * (expected * (1 - expected))[:, np.newaxis])
        step = np.linalg.lstsq(information, design.T @ (truth - expected), rcond=None)[0]
        found = found + step
        if abs(found[1]) > STEEPEST:
            return None
        if np.abs(step).max() < CLOSE_ENOUGH:
            slope = _with_interval(found[1], information, design * (truth - expected)[:, np.newaxis], groups)
            return None if slope is None else CalibrationSlope(slope, float(np.abs(expected - promised).mean()))
    return None


def _with_interval(
    slope: float, information: np.ndarray, scores: np.ndarray, groups: np.ndarray | None
) -> Estimate | None:
    """Scores of rows that were drawn together are added up before they are squared."""
    if groups is not None:
        codes = np.unique(groups, return_inverse=True)[1]
        scores = np.column_stack([np.bincount(codes, weights=column) for column in scores.T])
    n_drawn, inverse = len(scores), np.linalg.pinv(information)
    if n_drawn < 3:
        return None
    variance = (inverse @ scores.T @ scores @ inverse)[1, 1] * n_drawn / (n_drawn - 1)
    reach = float(stdtrit(n_drawn - 1, (1 + CONFIDENCE) / 2)) * float(np.sqrt(variance))
    return Estimate(float(slope), float(slope) - reach, float(slope) + reach)
