"""Conformal intervals or label sets from the held-out predictions: calibrated on some parts, observed on the others."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.stats import norm

from surefoot.conformal.calibration import CalibrationScores, rows_for_level
from surefoot.conformal.guarantee import guaranteed_coverage
from surefoot.conformal.label_scores import LAC, label_scores
from surefoot.conformal.row_scales import RowScales
from surefoot.metrics.intervals import CONFIDENCE, wilson_interval
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.target import Target
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.models.predictions import ModelPredictions
from surefoot.report.sections.guarantee.findings import (
    COPIES,
    GROUPS,
    LEVEL,
    PREDICTIONS,
    ROWS,
    TIME,
    UNSEEN,
    WEIGHTED,
    CoverageOfPart,
    GuaranteeFindings,
)
from surefoot.report.sections.uncertainty.measure import WIDTH_ROWS, interval_widths
from surefoot.report.statistics import Estimate, mean_of, rate_interval, size_of

MIN_PART_ROWS = 20  # of a group or a class, for its coverage to be shown
MAX_PARTS = 40  # the largest groups: with more of them, every interval would be wide


@dataclass(frozen=True)
class HeldOutScores:
    """The score of every held-out row, and what is needed to calibrate with it.

    Attributes
    ----------
    scores : array
    scales : RowScales or None
        For numbers: the prediction, and the unit of the score.
    is_top : array or None
        For classes: whether the most probable label is the true one; it is in every set.
    folds : array
        The part of each row; another model, or the same one, was not trained on it.
    weights : array or None
        The weights of the rows, if they have some, divided by the number of rows of the group, so that every group
        counts as one.
    """

    scores: np.ndarray
    scales: RowScales | None
    is_top: np.ndarray | None
    folds: np.ndarray
    weights: np.ndarray | None

    @classmethod
    def of(cls, audited: CrossFitted) -> Self | None:
        """The scores of the audited model; None if it predicts labels without probabilities."""
        target, splits, predictions = audited.table.target, audited.splits, audited.predictions
        y = target.y[splits.held_out]
        folds = np.empty(len(y), dtype=np.int64)
        for k, part in enumerate(splits.parts):
            folds[np.isin(splits.held_out, part)] = k
        weights = None if splits.by_time else weights_of_units(splits.held_out_units)
        of_rows = audited.outcome.weights
        if of_rows is not None:
            weights = of_rows if weights is None else weights * of_rows
        if not target.is_classes:
            scales = row_scales(predictions)
            return cls(scales.scores(y.astype(np.float64)), scales, None, folds, weights)
        if predictions.probabilities is None:
            return None
        rows = np.arange(len(y))
        scores = label_scores(predictions.probabilities, LAC)[rows, y]
        return cls(scores, None, predictions.probabilities.argmax(axis=1) == y, folds, weights)

    def calibration(self, rows: np.ndarray, *, single_model: bool) -> CalibrationScores:
        """A calibration by some of the rows."""
        models = np.zeros(len(self.scores), dtype=np.int64) if single_model else self.folds
        return CalibrationScores(self.scores, models, self.weights)[rows]

    def cross_fitted_limits(self, by_time: bool) -> np.ndarray:
        """For every row, the limit from the other parts; by time from earlier parts, NaN where there are none."""
        limits = np.full(len(self.scores), np.nan)
        for k in np.unique(self.folds):
            others = self.folds < k if by_time else self.folds != k
            if others.any():
                calibration = self.calibration(others, single_model=True)
                limits[self.folds == k] = calibration.limits(LEVEL, np.ones(1))[0]
        return limits

    def hits(self, limits: np.ndarray) -> np.ndarray:
        """Whether each row is covered, given its limit."""
        covered = self.scores <= limits
        return covered if self.is_top is None else covered | self.is_top


def weights_of_units(units: np.ndarray | None) -> np.ndarray | None:
    """1 divided by the number of rows of each row's unit."""
    if units is None:
        return None
    _, codes, counts = np.unique(units, return_inverse=True, return_counts=True)
    return np.asarray(1.0 / counts[codes.ravel()])


def row_scales(predictions: ModelPredictions) -> RowScales:
    """Predicted numbers, in units of the model's own standard deviations where it has them."""
    unit = np.ones(len(predictions.values)) if predictions.std is None else predictions.std
    return RowScales(predictions.values.astype(np.float64), unit, unit)


def measure_guarantee(
    audited: CrossFitted, groups: np.ndarray | None, is_unseen_unknown: bool
) -> GuaranteeFindings | None:
    """All numbers that need no deployment data; None if the model predicts labels without probabilities."""
    held = HeldOutScores.of(audited)
    if held is None:
        return None
    target, splits, predictions = audited.table.target, audited.splits, audited.predictions
    limits = held.cross_fitted_limits(splits.by_time)
    known = ~np.isnan(limits)
    hits = held.hits(limits)
    units, weights = splits.held_out_units, audited.outcome.weights
    unit = TIME if splits.by_time else ROWS if units is None else GROUPS if groups is not None else COPIES
    n_units = len(hits) if units is None else len(np.unique(units))
    doubt = UNSEEN if is_unseen_unknown else PREDICTIONS if not audited.fold_models else ""
    doubt = WEIGHTED if weights is not None else doubt
    size, single = mean_size(held, predictions, limits, widths_rows(splits) & known, weights)
    own_observed, own_size = own_coverage(audited)
    return GuaranteeFindings(
        model=audited.name,
        of_labels=target.is_classes,
        level=LEVEL,
        guaranteed=None if splits.by_time or doubt else guaranteed_level(audited, n_units),
        doubt=doubt,
        unit=unit,
        is_chosen=not audited.candidate.raw,
        is_adaptive=held.scales is not None and predictions.std is not None,
        n_rows=len(hits),
        n_units=n_units,
        needed_units=rows_for_level(LEVEL),
        observed=_observed(hits, known, splits, weights),
        size=size,
        single=single,
        own_observed=own_observed,
        own_size=own_size,
        parts=coverage_of_parts(hits, known, target, splits, groups, weights),
        deployment=None,
    )


def guaranteed_level(audited: CrossFitted, n_units: int) -> float:
    """What is guaranteed: the level for one model that was trained on none of the rows, less for models of folds."""
    is_one_model = audited.candidate.prefit or audited.splits.is_fixed
    return guaranteed_coverage(LEVEL, n_units, 1 if is_one_model else len(audited.splits.folds))


def _observed(hits: np.ndarray, known: np.ndarray, splits: Splits, weights: np.ndarray | None) -> Estimate | None:
    """The fraction of covered rows; of groups, the mean of their fractions, as the guarantee is about new groups."""
    if not known.any():
        return None
    units = None if splits.held_out_units is None else splits.held_out_units[known]
    weights, hits = None if weights is None else weights[known], hits[known]
    if units is None or splits.by_time:
        return rate_interval(hits, units, weights=weights)
    codes = np.unique(units, return_inverse=True)[1].ravel()
    weighted = hits if weights is None else hits * weights
    return rate_interval(np.bincount(codes, weighted) / np.bincount(codes, weights))


def widths_rows(splits: Splits) -> np.ndarray:
    """Which held-out rows the mean width is about: those of a fold with earlier rows, if rows are split by time."""
    test = splits.folds[-1 if splits.by_time else 0][1]
    return np.isin(splits.held_out, test[:WIDTH_ROWS])


def mean_size(
    held: HeldOutScores,
    predictions: ModelPredictions,
    limits: np.ndarray,
    rows: np.ndarray,
    weights: np.ndarray | None,
) -> tuple[float | None, float | None]:
    """The mean width or number of labels of some rows, and the fraction of sets with one label."""
    if not rows.any() or np.isinf(limits[rows]).any():
        return None, None
    weights = None if weights is None else weights[rows]
    if held.scales is not None:
        low, high = held.scales[rows].ends(limits[rows])
        return mean_of(high - low, weights), None
    assert predictions.probabilities is not None
    sizes = set_sizes(predictions.probabilities[rows], limits[rows])
    return mean_of(sizes, weights), mean_of(sizes == 1, weights)


def set_sizes(probabilities: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """The numbers of labels up to a limit, at least one."""
    return np.maximum((label_scores(probabilities, LAC) <= limits[:, np.newaxis]).sum(axis=1), 1)


def own_coverage(audited: CrossFitted) -> tuple[Estimate | None, float | None]:
    """Coverage and mean size of the model's own intervals, or of labels up to this total probability."""
    predictions, splits, weights = audited.predictions, audited.splits, audited.outcome.weights
    units, y = splits.held_out_units, audited.table.target.y[splits.held_out]
    wide = widths_rows(splits)
    of_wide = None if weights is None else weights[wide]
    if predictions.probabilities is not None:
        order = np.argsort(-predictions.probabilities, axis=1, kind="stable")
        descending = np.take_along_axis(predictions.probabilities, order, axis=1)
        members = descending.cumsum(axis=1) - descending < LEVEL  # labels before which the probability is too small
        hits = (members & (order == y[:, np.newaxis])).any(axis=1)
        return rate_interval(hits, units, weights=weights), mean_of(members.sum(axis=1)[wide], of_wide)
    if predictions.below is None or predictions.up_to is None or predictions.std is None:
        return None, None
    middle = (predictions.below + predictions.up_to) / 2
    hits = np.abs(2 * middle - 1) <= LEVEL
    width = interval_widths(audited, -1 if splits.by_time else 0).get(LEVEL)
    if width is None:
        width = float(2 * norm.ppf((1 + LEVEL) / 2) * mean_of(predictions.std[wide], of_wide))
    return rate_interval(hits, units, weights=weights), width


def coverage_of_parts(
    hits: np.ndarray,
    known: np.ndarray,
    target: Target,
    splits: Splits,
    groups: np.ndarray | None,
    weights: np.ndarray | None,
) -> tuple[CoverageOfPart, ...]:
    """Coverage of the groups and the classes with enough rows, with intervals that are corrected for their number."""
    rows = splits.held_out
    kinds: list[tuple[str, Any, np.ndarray]] = []
    if groups is not None:
        names, codes = np.unique(groups[rows].astype(str), return_inverse=True)
        kinds += [("group", name, codes.ravel() == k) for k, name in enumerate(names)]
    if target.is_classes:
        kinds += [("class", str(name), target.y[rows] == k) for k, name in enumerate(target.classes)]
    chosen = [(kind, name, inside & known) for kind, name, inside in kinds if (inside & known).sum() >= MIN_PART_ROWS]
    chosen = sorted(chosen, key=lambda part: -part[2].sum())[:MAX_PARTS]
    quantile = float(norm.ppf(1 - (1 - CONFIDENCE) / 2 / max(len(chosen), 1)))
    parts = []
    for kind, name, inside in chosen:
        of_rows = None if weights is None else weights[inside]
        rate = mean_of(hits[inside], of_rows)
        low, high = wilson_interval(rate, size_of(hits[inside], of_rows), quantile)
        parts.append(CoverageOfPart(str(name), kind, int(inside.sum()), Estimate(rate, float(low), float(high))))
    return tuple(sorted(parts, key=lambda part: part.observed.value))
