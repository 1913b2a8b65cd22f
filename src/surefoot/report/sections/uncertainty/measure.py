"""Question 2: does it know what it does not know?"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.inputs.target import Target
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.models.predictions import ModelPredictions
from surefoot.report.models.scoring import measure_of
from surefoot.report.sections.uncertainty.calibration import calibration_of_intervals, calibration_of_probabilities
from surefoot.report.sections.uncertainty.findings import Calibration, Rejection, UncertaintyFindings
from surefoot.report.sections.uncertainty.most_uncertain import columns_behind, most_uncertain
from surefoot.report.sections.uncertainty.rejection import claimed_ratio, rejection_of
from surefoot.report.statistics.repeats import mean_record

CLAIM_DRAWS = 100
MAX_CLAIM_ROWS = 20_000
NATS, SQUARED = "nats", "target squared"
WIDTH_ROWS = 2000  # whose intervals are measured


def measure_uncertainty(
    table: AuditTable, audited: CrossFitted, ensemble: CrossFitted | None, seed: int
) -> UncertaintyFindings:
    """All numbers about question 2: of the audited model itself, and of the ensemble for what it does not know."""
    target, predictions, splits = table.target, audited.predictions, audited.splits
    losses, units, is_classes = audited.outcome.losses.astype(np.float64), splits.judged_units, target.is_classes
    own = predictions.has_distribution
    beside = None if ensemble is None else ensemble.predictions
    total = predictions.total if own else None if beside is None else beside.total
    by_total = None if total is None else rejection_of(losses, total, is_classes, units)
    if by_total is not None and own and total is not None:
        claimed = claimed_ratio(*_imagined(predictions, target, total, seed), is_classes)
        by_total = replace(by_total, claimed=claimed)
    by_knowledge: Rejection | None = None
    if beside is not None and beside.knowledge is not None:
        by_knowledge = rejection_of(losses, beside.knowledge, is_classes, units)
    return UncertaintyFindings(
        model=audited.name,
        own=own,
        unit=NATS if is_classes else SQUARED,
        n_rows=len(splits.judged),
        loss=audited.loss(measure_of(target)),
        by_total=by_total,
        by_knowledge=by_knowledge,
        calibration=_calibration(table, splits, audited),
        columns_behind=() if ensemble is None else columns_behind(ensemble),
        rows=() if ensemble is None else most_uncertain(ensemble),
        by_groups=units is not None,
    )


def mean_uncertainty(records: Sequence[UncertaintyFindings]) -> UncertaintyFindings:
    """The same numbers from several draws of the folds; the rows that are least known are those of the first."""
    first = records[0]
    mean = mean_record([replace(record, rows=(), columns_behind=()) for record in records])
    return replace(mean, rows=first.rows, columns_behind=first.columns_behind)


def _calibration(table: AuditTable, splits: Splits, audited: CrossFitted) -> Calibration | None:
    """That of its probabilities or intervals; None for labels alone."""
    target, predictions, units = table.target, audited.predictions, splits.judged_units
    if target.is_classes:
        if predictions.probabilities is None:
            return None
        return calibration_of_probabilities(predictions.probabilities, predictions.values, target, splits.judged, units)
    levels = predictions if predictions.below is not None else residual_intervals(audited)
    return calibration_of_intervals(levels, units, _widths(audited))


def residual_intervals(audited: CrossFitted) -> ModelPredictions:
    """Intervals as wide for every row, from the errors of a model on the rows of the other folds.

    A model that predicts numbers alone says nothing about how sure it is. Its errors do, on the whole.
    """
    splits, errors = audited.splits, -np.asarray(audited.outcome.errors)  # truth less prediction
    below, up_to = np.empty(len(errors)), np.empty(len(errors))
    for _, judge in splits.folds:
        inside = np.isin(splits.judged, judge)
        others = np.sort(errors[~inside])
        below[inside] = np.searchsorted(others, errors[inside], side="left") / max(len(others), 1)
        up_to[inside] = np.searchsorted(others, errors[inside], side="right") / max(len(others), 1)
    std = np.full(len(errors), float(np.std(errors)))
    return replace(audited.predictions, below=below, up_to=up_to, std=std)


def _widths(audited: CrossFitted) -> "dict[float, float]":
    """Mean widths of the intervals of one fold's model, by level; empty if it predicts no distribution."""
    from surefoot.report.sections.uncertainty.calibration import TABLE_LEVELS

    if not audited.fold_models or not hasattr(audited.fold_models[0], "predict_distribution"):
        return {}
    rows = audited.splits.folds[0][1][:WIDTH_ROWS]
    X = audited.table.frame.iloc[rows]
    distribution = audited.fold_models[0].predict_distribution(X)
    widths = {}
    for level in TABLE_LEVELS:
        low, high = distribution.interval(level)
        widths[level] = float(np.mean(high - low))
    return widths


def _imagined(
    predictions: ModelPredictions, target: Target, total: np.ndarray, seed: int
) -> tuple[Iterator[np.ndarray], np.ndarray]:
    """Losses of the same predictions, were each target drawn from what is predicted of it; and the uncertainty."""
    generator = np.random.default_rng(seed)
    n_rows = len(predictions.values)
    rows = np.sort(generator.permutation(n_rows)[:MAX_CLAIM_ROWS])
    chosen = predictions[rows]

    def draws() -> Iterator[np.ndarray]:
        for _ in range(CLAIM_DRAWS):
            if chosen.probabilities is not None:
                beyond = chosen.probabilities.cumsum(axis=1) < generator.random((len(rows), 1))
                drawn = target.classes[np.minimum(beyond.sum(axis=1), len(target.classes) - 1)]
                yield (chosen.values != drawn).astype(np.float64)
            else:
                assert chosen.std is not None
                yield np.square(chosen.std * _unit_errors(generator, chosen.freedom, len(rows)))

    return draws(), total[rows]


def _unit_errors(generator: np.random.Generator, freedom: np.ndarray | None, n_rows: int) -> np.ndarray:
    """Errors with a standard deviation of 1: Normal, or those of a Student t with some degrees of freedom."""
    errors = generator.standard_normal(n_rows)
    if freedom is not None:
        heavy = np.isfinite(freedom) & (freedom > 2)  # with fewer there is no standard deviation
        errors[heavy] *= np.sqrt((freedom[heavy] - 2) / generator.chisquare(freedom[heavy]))
    return errors
