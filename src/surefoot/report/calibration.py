"""Do probabilities and intervals mean what they say, on held-out rows?"""

from dataclasses import replace
from typing import Any

import numpy as np

from surefoot.metrics.calibration import CalibrationCurve, interval_calibration, probability_calibration
from surefoot.report.answers import WELL_CALIBRATED, Calibration, Coverage, Estimate
from surefoot.report.intervals import mean_interval, share_interval
from surefoot.report.recalibration import recalibration
from surefoot.report.scoring import enough
from surefoot.report.target import BINARY, Target

LEVELS = tuple(k / 20 for k in range(1, 20))
TABLE_LEVELS = (0.5, 0.8, 0.9, 0.95)
BINS = 10


def calibration_of_intervals(
    distribution: Any, target: Target, rows: np.ndarray, groups: np.ndarray | None
) -> Calibration:
    """Levels of intervals beside their coverage."""
    truth = target.y[rows]
    curve = interval_calibration(truth, distribution, LEVELS)
    coverage = tuple(_coverage(distribution, truth, level, groups) for level in TABLE_LEVELS)
    return _record(None, coverage, curve, ("level of the central interval", "share of targets inside it"))


def calibration_of_probabilities(
    probabilities: np.ndarray, predicted: np.ndarray, target: Target, rows: np.ndarray, groups: np.ndarray | None
) -> Calibration:
    """Promised beside observed shares; one column of probabilities for each class.

    Of two classes they are those of the second, or of the rare one: of the predicted class, too much for one class and
    too little for the other would make up for one another. Of several classes, they are those of the ``predicted``.
    """
    if target.task == BINARY:
        one = 1 if target.rare is None else target.rare
        promised, came_true = probabilities[:, one], target.y[rows] == one
        name, share = str(target.classes[one]), float(np.mean(target.y == one))
        labels = (f"predicted probability of {name}", "share of rows that are of it")
        room = WELL_CALIBRATED * 4 * share * (1 - share)  # as many standard deviations as for classes of equal size
        found = _record(gap_interval(promised, came_true, groups), (), _curve(came_true, promised), labels)
        found = replace(found, of_class=name, share=float(came_true.mean()), room=room)
    else:
        codes = np.searchsorted(target.classes, predicted)
        promised, came_true = probabilities[np.arange(len(rows)), codes], codes == target.y[rows]
        labels = ("predicted probability of the predicted class", "share of right predictions")
        found = _record(gap_interval(promised, came_true, groups), (), _curve(came_true, promised), labels)
    right = recalibration(promised, came_true, groups)
    return found if right is None else replace(found, slope=right.slope, change=right.change)


def gap_interval(promised: np.ndarray, came_true: np.ndarray, groups: np.ndarray | None) -> Estimate:
    """Mean probability less the share that came true.

    Where few did, or did not, their own spread tells little of the chance in their number: Wilson's interval does.
    """
    gap = mean_interval(promised - came_true, groups)
    if groups is not None or enough(came_true):
        return gap
    mean, share = float(np.mean(promised)), share_interval(came_true)
    return Estimate(gap.value, min(gap.low, mean - share.high), max(gap.high, mean - share.low))


def _curve(came_true: np.ndarray, promised: np.ndarray) -> CalibrationCurve:
    return probability_calibration(came_true, promised, BINS, "quantile")


def _coverage(distribution: Any, truth: np.ndarray, level: float, groups: np.ndarray | None) -> Coverage:
    low, high = distribution.interval(level)
    inside = share_interval((low <= truth) & (truth <= high), groups)
    return Coverage(level, inside, float(np.mean(high - low)))


def _record(
    gap: Estimate | None, coverage: tuple[Coverage, ...], curve: CalibrationCurve, labels: tuple[str, str]
) -> Calibration:
    expected, observed, low, high = (
        tuple(line.tolist()) for line in (curve.expected, curve.observed, curve.low, curve.high)
    )
    counts = tuple(int(count) for count in curve.counts)
    return Calibration(gap, coverage, expected, observed, low, high, counts, *labels)
