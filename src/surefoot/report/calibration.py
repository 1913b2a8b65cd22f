"""Do probabilities and intervals mean what they say, on held-out rows?"""

from dataclasses import replace
from typing import Any

import numpy as np

from surefoot.metrics.calibration import CalibrationCurve, interval_calibration, probability_calibration
from surefoot.report.answers import Calibration, Coverage, Estimate
from surefoot.report.intervals import mean_interval, share_interval
from surefoot.report.recalibration import recalibration
from surefoot.report.target import Target

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
    probabilities: np.ndarray, target: Target, rows: np.ndarray, groups: np.ndarray | None
) -> Calibration:
    """Confidence beside the share of right predictions; one column of probabilities for each class.

    They are those of the predicted class; or of the rare one, if there is one: it is hardly ever predicted."""
    if target.rare is None:
        promised, came_true = probabilities.max(axis=1), probabilities.argmax(axis=1) == target.y[rows]
        labels = ("predicted probability of the predicted class", "share of right predictions")
    else:
        promised, came_true = probabilities[:, target.rare], target.y[rows] == target.rare
        labels = ("predicted probability of the rare class", "share of rows that are of it")
    curve = probability_calibration(came_true, promised, BINS, "quantile")
    found = _record(mean_interval(promised - came_true, groups), (), curve, labels)
    right = recalibration(promised, came_true, groups)
    if right is not None:
        found = replace(found, slope=right.slope, change=right.change)
    if target.rare is None:
        return found
    return replace(found, rare=str(target.classes[target.rare]), share=float(came_true.mean()))


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
