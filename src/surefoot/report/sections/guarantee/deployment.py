"""Conformal intervals or sets of the deployment rows: observed where targets are known, otherwise with weights."""

from dataclasses import replace
from typing import Any

import numpy as np

from surefoot.conformal.calibration import CalibrationScores
from surefoot.conformal.label_scores import LAC, label_scores, sets_of
from surefoot.report.inputs.deployment_data import DeploymentData, sample_of
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.models.predictions import ModelPredictions
from surefoot.report.models.scoring import class_positions
from surefoot.report.sections.guarantee.findings import LEVEL, DeploymentCoverage
from surefoot.report.sections.guarantee.measure import HeldOutScores, row_scales
from surefoot.report.sections.shift.expected_loss import MAX_UNMATCHED, MIN_EFFECTIVE
from surefoot.report.sections.shift.unusual_rows import rows_outside
from surefoot.report.statistics import Estimate, is_withheld, mean_interval, mean_of, rate_interval, within
from surefoot.selection.table import take_rows
from surefoot.shift.density_ratio import effective_rows

MAX_NEW_ROWS, MAX_CALIBRATION_ROWS = 2000, 10_000
MAX_INFINITE = 0.1  # of the deployment rows, for a mean width of the others to be of use


def deployment_coverage(
    audited: CrossFitted, deployment: DeploymentData, groups: np.ndarray | None, seed: int, n_jobs: int | None
) -> DeploymentCoverage | None:
    """The coverage of deployment rows; None for predictions without their model."""
    held = HeldOutScores.of(audited)
    if held is None or not audited.fold_models:
        return None
    if len(deployment.known):
        return _observed(audited, held, deployment, seed)
    empty = DeploymentCoverage(
        where=deployment.where,
        n_rows=len(deployment.frame),
        observed=None,
        estimated=None,
        effective_rows=None,
        size=None,
        infinite=0.0,
    )
    if held.weights is not None or deployment.weights is not None or audited.splits.by_time:
        reason = "the training rows are not a random sample of single rows, which weights by the columns assume"
        return replace(empty, reason=reason)
    outside = rows_outside(audited.table, audited.splits, deployment, groups, seed)
    if outside.fraction.value - outside.expected > MAX_UNMATCHED:
        return replace(empty, reason=f"{outside.fraction.value:.1%} of them lie outside the range of the training data")
    return _weighted(audited, held, deployment, empty, seed, n_jobs)


def _observed(audited: CrossFitted, held: HeldOutScores, deployment: DeploymentData, seed: int) -> DeploymentCoverage:
    """The coverage of deployment rows with a known target, by intervals that know nothing of a shift."""
    rows = sample_of(deployment.known, MAX_NEW_ROWS, seed)
    assert deployment.truth is not None
    places = sample_of(np.arange(len(held.scores)), MAX_CALIBRATION_ROWS, seed)
    covered, sizes = _covered(audited, held, places, _predictions(audited, deployment, rows), np.ones(len(rows)))
    truth = deployment.truth[rows]
    hits = covered(truth)
    finite, weights = np.isfinite(sizes), deployment.weights_of(rows)
    return DeploymentCoverage(
        where=deployment.where,
        n_rows=len(rows),
        observed=rate_interval(hits, deployment.units_of(rows), weights=weights),
        estimated=None,
        effective_rows=None,
        size=mean_of(sizes, weights) if finite.all() else None,
        infinite=mean_of(~finite, weights),
    )


def _weighted(
    audited: CrossFitted,
    held: HeldOutScores,
    deployment: DeploymentData,
    empty: DeploymentCoverage,
    seed: int,
    n_jobs: int | None,
) -> DeploymentCoverage:
    """The coverage of held-out rows that are weighted to look like the deployment rows; limits have weights too."""
    rows = deployment.weighted_rows(audited.table, audited.splits, seed, n_jobs)
    weights, places = rows.ratio.weights, rows.places
    effective = effective_rows(weights)
    if effective < MIN_EFFECTIVE:
        reason = f"the weighted training rows carry the information of only {effective:,.0f} rows"
        return replace(empty, effective_rows=effective, reason=reason)
    chosen = sample_of(rows.deployment_rows, MAX_NEW_ROWS, seed)
    next_weights = rows.ratio.of(deployment.frame.iloc[chosen])
    weighted = replace(held, weights=_spread(len(held.scores), places, weights))
    sizes = _covered(audited, weighted, places, _predictions(audited, deployment, chosen), next_weights)[1]
    hits = _weighted_hits(weighted, places)
    mean = float(np.average(hits, weights=weights))
    linear = mean_interval(weights * (hits - mean) + mean, None)
    estimate = within(Estimate(mean, min(linear.low, mean), max(linear.high, mean)), 0.0, 1.0)
    infinite = float(np.mean(~np.isfinite(sizes)))
    finite = sizes[np.isfinite(sizes)]
    result = replace(
        empty,
        n_rows=len(chosen),
        effective_rows=effective,
        size=float(finite.mean()) if infinite <= MAX_INFINITE and len(finite) else None,
        infinite=infinite,
    )
    if is_withheld(linear):
        return replace(result, reason="a few rows with large weights dominate the result")
    return replace(result, estimated=estimate)


def _spread(n_rows: int, places: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weights of all held-out rows; those that were not sampled have none."""
    spread = np.zeros(n_rows)
    spread[places] = weights
    return spread


def _weighted_hits(held: HeldOutScores, places: np.ndarray) -> np.ndarray:
    """Whether the sampled rows are covered, each by a calibration on the other parts and with its own weight."""
    hits = np.empty(len(places), dtype=np.bool_)
    assert held.weights is not None
    for k in np.unique(held.folds[places]):
        inside = held.folds[places] == k
        own, others = places[inside], places[~inside]
        limits = held.calibration(others, single_model=True).limits(LEVEL, held.weights[own])
        covered = held.scores[own] <= limits
        hits[inside] = covered if held.is_top is None else covered | held.is_top[own]
    return hits


def _predictions(audited: CrossFitted, deployment: DeploymentData, rows: np.ndarray) -> list[ModelPredictions]:
    """What each model of a fold predicts for deployment rows."""
    candidate = audited.candidate
    X: Any = take_rows(deployment.raw, rows) if candidate.raw else deployment.frame.iloc[rows]
    models = audited.fold_models[:1] if candidate.prefit else audited.fold_models
    return [candidate.predict_table(model, X, audited.table.target) for model in models]


def _covered(
    audited: CrossFitted,
    held: HeldOutScores,
    places: np.ndarray,
    predictions: list[ModelPredictions],
    next_weights: np.ndarray,
) -> tuple[Any, np.ndarray]:
    """A function of targets that returns which of them are covered, and the widths or numbers of labels."""
    target, calibration = audited.table.target, held.calibration(places, single_model=len(predictions) == 1)
    if not target.is_classes:
        low, high = calibration.intervals([row_scales(each) for each in predictions], LEVEL, next_weights)
        return lambda truth: _inside(low, truth.astype(np.float64), high), high - low
    of_models = [each.probabilities for each in predictions if each.probabilities is not None]
    conforms = calibration.conforms([label_scores(each, LAC) for each in of_models], LEVEL, next_weights)
    members = sets_of(conforms, np.mean(of_models, axis=0))

    def covered(truth: np.ndarray) -> np.ndarray:
        positions = class_positions(target, truth)  # a class that the table does not have is in no set
        return np.asarray(members[np.arange(len(truth)), positions] & (positions >= 0))

    sizes = members.sum(axis=1).astype(np.float64)
    return covered, np.where(_is_lost(calibration, next_weights), np.inf, sizes)


def _is_lost(calibration: CalibrationScores, next_weights: np.ndarray) -> np.ndarray:
    """Which rows have all labels because the calibration rows are too few, or hardly any of them is like the row."""
    weight = len(calibration.scores) if calibration.weights is None else calibration.weights.sum()
    return np.asarray(next_weights > (1 - LEVEL) * (weight + next_weights))


def _inside(low: np.ndarray, truth: np.ndarray, high: np.ndarray) -> np.ndarray:
    return (low <= truth) & (truth <= high)
