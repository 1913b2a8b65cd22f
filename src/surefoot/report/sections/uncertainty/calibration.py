"""Calibration of predicted probabilities and intervals on the held-out rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, logit, stdtrit

from surefoot.metrics.calibration import CalibrationCurve, probability_calibration
from surefoot.metrics.intervals import CONFIDENCE
from surefoot.report.inputs.target import BINARY, Target
from surefoot.report.models.predictions import ModelPredictions
from surefoot.report.models.scoring import has_both_classes
from surefoot.report.sections.uncertainty.findings import WELL_CALIBRATED, Calibration, Coverage
from surefoot.report.statistics import Estimate, mean_interval, mean_of, rate_interval

LEVELS = tuple(k / 20 for k in range(1, 20))
TABLE_LEVELS = (0.5, 0.8, 0.9, 0.95)
BINS = 10
MAX_STEPS, CONVERGED = 50, 1e-10
DIVERGED = 50.0  # a steeper slope has no finite value: the probabilities separate the outcomes


def calibration_of_intervals(
    predictions: ModelPredictions,
    units: np.ndarray | None,
    widths: dict[float, float],
    weights: np.ndarray | None = None,
) -> Calibration:
    """The fractions of targets inside, below and above central intervals, by their level."""
    position = position_in_distribution(predictions)
    coverage = tuple(_coverage(position, level, units, widths.get(level), weights) for level in TABLE_LEVELS)
    rates = [rate_interval(np.abs(2 * position - 1) <= level, units, weights=weights) for level in LEVELS]
    columns = ([rate.value for rate in rates], [rate.low for rate in rates], [rate.high for rate in rates])
    observed, low, high = (np.array(column) for column in columns)
    curve = CalibrationCurve(np.array(LEVELS), observed, low, high, np.full(len(LEVELS), len(position)))
    return _record(None, coverage, curve, ("level of the central interval", "fraction of targets inside it"))


def position_in_distribution(predictions: ModelPredictions) -> np.ndarray:
    """The position of each target in its predicted distribution, from 0 to 1.

    It is uniform if the distributions are right. A count covers a range of positions, of which one is drawn (with a
    fixed seed).
    """
    assert predictions.below is not None
    assert predictions.up_to is not None
    drawn = np.random.default_rng(0).random(len(predictions.below))
    return predictions.below + drawn * (predictions.up_to - predictions.below)


def _coverage(
    position: np.ndarray, level: float, units: np.ndarray | None, width: float | None, weights: np.ndarray | None
) -> Coverage:
    below, above = position < (1 - level) / 2, position > (1 + level) / 2
    parts = (~below & ~above, below, above)
    inside, low, high = (rate_interval(each, units, weights=weights) for each in parts)
    return Coverage(level=level, observed=inside, below=low, above=high, width=width)


def calibration_of_probabilities(
    probabilities: np.ndarray,
    predicted: np.ndarray,
    target: Target,
    rows: np.ndarray,
    groups: np.ndarray | None,
    weights: np.ndarray | None = None,
) -> Calibration:
    """Predicted probabilities and observed fractions; ``probabilities`` has one column for each class.

    For two classes they are those of the second, or of the rare one: with those of the predicted class, errors for one
    class could cancel those for the other. For several classes, they are those of the ``predicted`` class.
    """
    if target.task == BINARY:
        one = 1 if target.rare is None else target.rare
        probability, outcome = probabilities[:, one], target.y[rows] == one
        name, share = str(target.classes[one]), mean_of(outcome, weights)
        fraction = float(np.mean(target.y == one)) if weights is None else share
        labels = (f"predicted probability of {name}", f"fraction of rows that are {name}")
        room = WELL_CALIBRATED * 4 * fraction * (1 - fraction)  # in proportion to the variance of the class
        of_class: dict[str, Any] = {"of_class": name, "share": share, "room": room}
    else:
        codes = np.searchsorted(target.classes, predicted)
        probability, outcome = probabilities[np.arange(len(rows)), codes], codes == target.y[rows]
        labels = ("predicted probability of the predicted class", "fraction of correct predictions")
        of_class = {}
    curve = probability_calibration(outcome, probability, BINS, "quantile", sample_weight=weights)
    record = replace(_record(gap_interval(probability, outcome, groups, weights), (), curve, labels), **of_class)
    fit = recalibration(probability, outcome, groups, weights)
    return record if fit is None else replace(record, slope=fit.slope, change=fit.change)


def gap_interval(
    probability: np.ndarray, outcome: np.ndarray, groups: np.ndarray | None, weights: np.ndarray | None = None
) -> Estimate:
    """Mean probability minus the observed fraction.

    Where only a few rows are of one outcome, their spread does not show how random their number is; Wilson's interval
    does.
    """
    gap = mean_interval(probability - outcome, groups, weights)
    if groups is not None or has_both_classes(outcome):
        return gap
    mean, observed = mean_of(probability, weights), rate_interval(outcome, weights=weights)
    return Estimate(gap.value, min(gap.low, mean - observed.high), max(gap.high, mean - observed.low))


def _record(
    gap: Estimate | None, coverage: tuple[Coverage, ...], curve: CalibrationCurve, labels: tuple[str, str]
) -> Calibration:
    expected, observed, low, high = (
        tuple(line.tolist()) for line in (curve.expected, curve.observed, curve.low, curve.high)
    )
    counts = tuple(int(count) for count in curve.counts)
    return Calibration(gap, coverage, expected, observed, low, high, counts, *labels)


@dataclass(frozen=True)
class CalibrationSlope:
    """The calibration slope, and the mean absolute change of the probabilities by recalibration."""

    slope: Estimate
    change: float


def recalibration(
    probability: np.ndarray,
    outcome: np.ndarray,
    groups: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> CalibrationSlope | None:
    """Logistic regression of the outcomes on the log-odds of the predicted probabilities (Cox 1958).

    A slope of 1 is calibrated; a smaller one means that the probabilities are too extreme, a larger one that they are
    too moderate. Its interval is that of the sandwich estimator, over rows or over groups. None where there is no
    slope: too few rows of either outcome, a single probability, or probabilities that separate the outcomes.
    Probabilities closer to 0 or 1 than half a row in all rows are moved to that value.
    """
    n_rows, truth = len(probability), outcome.astype(np.float64)
    of_rows = np.ones(n_rows) if weights is None else weights
    design = np.column_stack([np.ones(n_rows), logit(np.clip(probability, 0.5 / n_rows, 1 - 0.5 / n_rows))])
    if not has_both_classes(outcome) or np.ptp(design[:, 1]) == 0:
        return None
    coefficients = np.array([logit(mean_of(truth, weights)), 0.0])
    for _ in range(MAX_STEPS):
        fitted = expit(design @ coefficients)
        information = design.T @ (design * (of_rows * (fitted * (1 - fitted)))[:, np.newaxis])
        step = np.linalg.lstsq(information, design.T @ (of_rows * (truth - fitted)), rcond=None)[0]
        coefficients = coefficients + step
        if abs(coefficients[1]) > DIVERGED:
            return None
        if np.abs(step).max() < CONVERGED:
            scores = design * (of_rows * (truth - fitted))[:, np.newaxis]
            slope = _with_interval(coefficients[1], information, scores, groups)
            change = mean_of(np.abs(fitted - probability), weights)
            return None if slope is None else CalibrationSlope(slope, change)
    return None


def _with_interval(
    slope: float, information: np.ndarray, scores: np.ndarray, groups: np.ndarray | None
) -> Estimate | None:
    """The slope with its interval; scores of rows that were drawn together are added before they are squared."""
    if groups is not None:
        codes = np.unique(groups, return_inverse=True)[1]
        scores = np.column_stack([np.bincount(codes, weights=column) for column in scores.T])
    n_drawn, inverse = len(scores), np.linalg.pinv(information)
    if n_drawn < 3:
        return None
    variance = (inverse @ scores.T @ scores @ inverse)[1, 1] * n_drawn / (n_drawn - 1)
    reach = float(stdtrit(n_drawn - 1, (1 + CONFIDENCE) / 2)) * float(np.sqrt(variance))
    return Estimate(float(slope), float(slope) - reach, float(slope) + reach)
