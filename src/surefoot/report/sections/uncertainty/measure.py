"""The numbers of question 2: does it know what it does not know?"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from surefoot.metrics import rejection_curve
from surefoot.metrics.rejection import RejectionCurve
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.inputs.target import Target
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.models.predictions import ModelPredictions
from surefoot.report.models.scoring import measure_of
from surefoot.report.sections.uncertainty.calibration import (
    TABLE_LEVELS,
    calibration_of_intervals,
    calibration_of_probabilities,
)
from surefoot.report.sections.uncertainty.findings import Calibration, Rejection, UncertaintyFindings
from surefoot.report.sections.uncertainty.most_uncertain import columns_behind, most_uncertain
from surefoot.report.statistics import Estimate, mean_of, mean_record, rejection_ratio_interval
from surefoot.selection.table import take_rows

GRID = np.linspace(0, 1, 101)  # fractions of the rows that are rejected
CLAIM_DRAWS = 100
MAX_CLAIM_ROWS = 20_000
NATS, SQUARED = "nats", "target squared"
WIDTH_ROWS = 2000  # rows for the mean width of intervals


def measure_uncertainty(
    table: AuditTable, audited: CrossFitted, ensemble: CrossFitted | None, seed: int
) -> UncertaintyFindings:
    """All numbers of question 2: of the audited model itself, and of the ensemble for knowledge uncertainty."""
    target, predictions, splits = table.target, audited.predictions, audited.splits
    losses, units, is_classes = audited.outcome.losses.astype(np.float64), splits.held_out_units, target.is_classes
    weights, own = table.weights_of(splits.held_out), predictions.has_distribution
    of_ensemble = None if ensemble is None else ensemble.predictions
    total = predictions.total if own else None if of_ensemble is None else of_ensemble.total
    by_total = None if total is None else rejection_of(losses, total, is_classes, units, weights)
    if by_total is not None and own and total is not None:
        drawn = simulated_losses(predictions, target, total, seed)
        of_rows = None if weights is None else weights[claim_rows(np.random.default_rng(seed), len(total))]
        claimed = claimed_ratio(*drawn, is_classes, of_rows)
        by_total = replace(by_total, claimed=claimed)
    by_knowledge: Rejection | None = None
    if of_ensemble is not None and of_ensemble.knowledge is not None:
        by_knowledge = rejection_of(losses, of_ensemble.knowledge, is_classes, units, weights)
    return UncertaintyFindings(
        model=audited.name,
        own=own,
        unit=NATS if is_classes else SQUARED,
        n_rows=len(splits.held_out),
        loss=audited.loss(measure_of(target)),
        by_total=by_total,
        by_knowledge=by_knowledge,
        calibration=_calibration(table, splits, audited),
        columns_behind=() if ensemble is None else columns_behind(ensemble),
        rows=() if ensemble is None else most_uncertain(ensemble),
        by_groups=units is not None,
    )


def mean_uncertainty(records: Sequence[UncertaintyFindings]) -> UncertaintyFindings:
    """Means of the numbers over several draws of the folds; the most uncertain rows are those of the first draw."""
    first = records[0]
    mean = mean_record([replace(record, rows=(), columns_behind=()) for record in records])
    return replace(mean, rows=first.rows, columns_behind=first.columns_behind)


def rejection_of(
    losses: np.ndarray,
    uncertainty: np.ndarray,
    is_classes: bool,
    groups: np.ndarray | None,
    weights: np.ndarray | None = None,
) -> Rejection:
    """The rejection curve of row losses on a grid of fractions."""
    curve = _rejection_curve(losses, uncertainty, is_classes, weights)
    error, random, oracle = (
        np.interp(GRID, curve.rejected, line) for line in (curve.error, curve.random, curve.oracle)
    )
    kept = np.divide(error, 1 - GRID, out=np.zeros(len(GRID)), where=GRID < 1)
    kept = kept if is_classes else np.sqrt(kept)
    return Rejection(
        rejected=tuple(GRID.tolist()),
        error=tuple(error.tolist()),
        kept_error=tuple(kept.tolist()),
        threshold=tuple(_quantiles(uncertainty, weights).tolist()),
        random=tuple(random.tolist()),
        oracle=tuple(oracle.tolist()),
        ratio=rejection_ratio_interval(losses, uncertainty, groups, weights),
    )


def _quantiles(uncertainty: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """The uncertainty above which each fraction of the grid is rejected."""
    if weights is None:
        return np.asarray(np.quantile(uncertainty, 1 - GRID))
    return np.asarray(np.quantile(uncertainty, 1 - GRID, weights=weights, method="inverted_cdf"))


def claimed_ratio(
    draws: Iterable[np.ndarray], uncertainty: np.ndarray, is_classes: bool, weights: np.ndarray | None = None
) -> Estimate | None:
    """The mean prediction-rejection ratio of simulated losses, with the range of 95% of the draws."""
    curves = (_rejection_curve(losses, uncertainty, is_classes, weights) for losses in draws)
    ratios = np.array([curve.ratio for curve in curves if curve.ratio is not None])
    ratios = ratios[np.isfinite(ratios)]
    return Estimate(float(ratios.mean()), *map(float, np.quantile(ratios, [0.025, 0.975]))) if len(ratios) else None


def _rejection_curve(
    losses: np.ndarray, uncertainty: np.ndarray, is_classes: bool, weights: np.ndarray | None
) -> RejectionCurve:
    """The rejection curve of errors, or of squared errors."""
    kind, errors = ("zero_one", losses) if is_classes else ("squared_error", np.sqrt(losses))
    return rejection_curve(np.zeros(len(losses)), errors, uncertainty, loss=kind, sample_weight=weights)


def claim_rows(generator: np.random.Generator, n_rows: int) -> np.ndarray:
    """The rows for which losses are simulated: all, or some that are drawn at random."""
    return np.sort(generator.permutation(n_rows)[:MAX_CLAIM_ROWS])


def simulated_losses(
    predictions: ModelPredictions, target: Target, total: np.ndarray, seed: int
) -> tuple[Iterator[np.ndarray], np.ndarray]:
    """Losses of the predictions for targets drawn from the predicted distributions, and the uncertainty."""
    generator = np.random.default_rng(seed)
    rows = claim_rows(generator, len(predictions.values))
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
    """Errors with a standard deviation of 1, from a normal or a Student t distribution."""
    errors = generator.standard_normal(n_rows)
    if freedom is not None:
        heavy = np.isfinite(freedom) & (freedom > 2)  # otherwise the t distribution has no standard deviation
        errors[heavy] *= np.sqrt((freedom[heavy] - 2) / generator.chisquare(freedom[heavy]))
    return errors


def _calibration(table: AuditTable, splits: Splits, audited: CrossFitted) -> Calibration | None:
    """Calibration of the probabilities or intervals; None if the model predicts labels only."""
    target, predictions, units, rows = table.target, audited.predictions, splits.held_out_units, splits.held_out
    if target.is_classes:
        if predictions.probabilities is None:
            return None
        return calibration_of_probabilities(
            predictions.probabilities, predictions.values, target, rows, units, table.weights_of(rows)
        )
    levels = predictions if predictions.below is not None else residual_intervals(audited)
    return calibration_of_intervals(levels, units, interval_widths(audited), table.weights_of(rows))


def residual_intervals(audited: CrossFitted) -> ModelPredictions:
    """Intervals of equal width for every row, from the errors of a model on the rows of the other parts.

    They stand in for a model that predicts numbers without intervals.
    """
    splits, errors = audited.splits, -np.asarray(audited.outcome.errors)  # truth minus prediction
    weights = np.ones(len(errors)) if audited.outcome.weights is None else audited.outcome.weights
    below, up_to = np.empty(len(errors)), np.empty(len(errors))
    for part in splits.parts:
        inside = np.isin(splits.held_out, part)
        order = np.argsort(errors[~inside], kind="stable")
        others, mass = errors[~inside][order], np.concatenate([[0.0], np.cumsum(weights[~inside][order])])
        below[inside] = mass[np.searchsorted(others, errors[inside], side="left")] / (mass[-1] or 1.0)
        up_to[inside] = mass[np.searchsorted(others, errors[inside], side="right")] / (mass[-1] or 1.0)
    deviations = errors - mean_of(errors, audited.outcome.weights)
    std = np.full(len(errors), np.sqrt(mean_of(deviations**2, audited.outcome.weights)))
    return replace(audited.predictions, below=below, up_to=up_to, std=std)


def interval_widths(audited: CrossFitted, fold: int = 0) -> dict[float, float]:
    """Mean widths of the intervals of one fold's model, by level; empty if it predicts no distribution."""
    if not audited.fold_models or not hasattr(audited.fold_models[fold], "predict_distribution"):
        return {}
    rows, table = audited.splits.folds[fold][1][:WIDTH_ROWS], audited.table
    X = take_rows(table.raw, rows) if audited.candidate.raw else table.frame.iloc[rows]
    distribution = audited.fold_models[fold].predict_distribution(X)
    widths = {}
    for level in TABLE_LEVELS:
        low, high = distribution.interval(level)
        widths[level] = mean_of(high - low, table.weights_of(rows))
    return widths
