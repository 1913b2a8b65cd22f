"""Do probabilities and intervals mean what they say, on held-out rows?"""

from dataclasses import replace

import numpy as np

from surefoot.metrics.calibration import CalibrationCurve, probability_calibration
from surefoot.report.inputs.target import BINARY, Target
from surefoot.report.models.predictions import ModelPredictions
from surefoot.report.models.scoring import enough
from surefoot.report.sections.uncertainty.findings import WELL_CALIBRATED, Calibration, Coverage
from surefoot.report.sections.uncertainty.recalibration import recalibration
from surefoot.report.statistics import mean_interval, share_interval
from surefoot.report.statistics.estimates import Estimate

LEVELS = tuple(k / 20 for k in range(1, 20))
TABLE_LEVELS = (0.5, 0.8, 0.9, 0.95)
BINS = 10


def calibration_of_intervals(
    predictions: ModelPredictions, units: np.ndarray | None, widths: dict[float, float]
) -> Calibration:
    """Levels of central intervals beside the fraction of targets that they hold, and those below and above them."""
    place = _place_in_distribution(predictions)
    coverage = tuple(_coverage(place, level, units, widths.get(level)) for level in TABLE_LEVELS)
    shares = [share_interval(np.abs(2 * place - 1) <= level, units) for level in LEVELS]
    columns = ([share.value for share in shares], [share.low for share in shares], [share.high for share in shares])
    observed, low, high = (np.array(column) for column in columns)
    curve = CalibrationCurve(np.array(LEVELS), observed, low, high, np.full(len(LEVELS), len(place)))
    return _record(None, coverage, curve, ("level of the central interval", "fraction of targets inside it"))


def _place_in_distribution(predictions: ModelPredictions) -> np.ndarray:
    """Where each target lies in its predicted distribution, from 0 to 1.

    Uniform if the distributions are right. A count has many places, of which one is drawn (always the same).
    """
    assert predictions.below is not None
    assert predictions.up_to is not None
    drawn = np.random.default_rng(0).random(len(predictions.below))
    return predictions.below + drawn * (predictions.up_to - predictions.below)


def calibration_of_probabilities(
    probabilities: np.ndarray, predicted: np.ndarray, target: Target, rows: np.ndarray, groups: np.ndarray | None
) -> Calibration:
    """Promised beside observed shares; one column of probabilities for each class.

    For two classes they are those of the second, or of the rare one: for the predicted class, too much for one class
    and too little for the other would make up for one another. For several classes, they are of the ``predicted``.
    """
    if target.task == BINARY:
        one = 1 if target.rare is None else target.rare
        promised, came_true = probabilities[:, one], target.y[rows] == one
        name, share = str(target.classes[one]), float(np.mean(target.y == one))
        labels = (f"predicted probability of {name}", "fraction of rows that are of it")
        room = WELL_CALIBRATED * 4 * share * (1 - share)  # as many standard deviations as for classes of equal size
        found = _record(gap_interval(promised, came_true, groups), (), _curve(came_true, promised), labels)
        found = replace(found, of_class=name, share=float(came_true.mean()), room=room)
    else:
        codes = np.searchsorted(target.classes, predicted)
        promised, came_true = probabilities[np.arange(len(rows)), codes], codes == target.y[rows]
        labels = ("predicted probability of the predicted class", "fraction of right predictions")
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


def _coverage(place: np.ndarray, level: float, units: np.ndarray | None, width: float | None) -> Coverage:
    below, above = place < (1 - level) / 2, place > (1 + level) / 2
    inside, low, high = (share_interval(each, units) for each in (~below & ~above, below, above))
    return Coverage(level=level, observed=inside, below=low, above=high, width=width)


def _record(
    gap: Estimate | None, coverage: tuple[Coverage, ...], curve: CalibrationCurve, labels: tuple[str, str]
) -> Calibration:
    expected, observed, low, high = (
        tuple(line.tolist()) for line in (curve.expected, curve.observed, curve.low, curve.high)
    )
    counts = tuple(int(count) for count in curve.counts)
    return Calibration(gap, coverage, expected, observed, low, high, counts, *labels)
