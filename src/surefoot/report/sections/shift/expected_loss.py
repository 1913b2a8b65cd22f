"""The expected loss on deployment data without targets, from held-out rows that are weighted to look like it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingRegressor

from surefoot.report.inputs.column_readers import CATEGORY
from surefoot.report.inputs.deployment_data import DeploymentData
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.models.scoring import RMSE, Outcome, loss_of
from surefoot.report.sections.shift.findings import SEPARABLE_AUC, OutsideRange, WeightedEstimate
from surefoot.report.statistics import Estimate, is_one_sided, is_withheld, mean_loss_interval, root_of, unpaired_ratio
from surefoot.shift.density_ratio import effective_rows
from surefoot.shift.two_sample_test import limited_threads

MIN_EFFECTIVE = 100
MAX_UNMATCHED = 0.02  # deployment rows outside the training range, beyond chance: no weighted row stands for them
MAX_IMBALANCE = 0.1  # standard deviations, beyond chance, between weighted rows and deployment rows
MAX_BALANCED_COLUMNS = 20
N_FOLDS = 5
ASSUMPTION = (
    "This assumes that the target depends on the columns as in the training data; only targets of deployment rows can "
    "show whether it does."
)
ADVICE = "Get the target of some deployment rows, and run the audit again with them."


@dataclass(frozen=True)
class HeldOutSample:
    """Held-out training rows, their losses, and the losses that models of other rows predict for them."""

    frame: Any
    losses: np.ndarray
    units: np.ndarray | None
    predicted: np.ndarray


def expected_error(
    table: AuditTable,
    splits: Splits,
    deployment: DeploymentData,
    audited: CrossFitted,
    measure: str,
    auc: Estimate | None,
    outside: OutsideRange,
    seed: int,
    n_jobs: int | None = None,
) -> WeightedEstimate:
    """The loss, or why it cannot be estimated: weighted rows must look like the deployment rows and be enough."""
    outcome = audited.outcome
    rows = deployment.weighted_rows(table, splits, seed, n_jobs)
    places, weights = rows.places, rows.ratio.weights
    training = table.frame.iloc[splits.held_out[places]]
    target = deployment.frame.iloc[rows.deployment_rows]
    units = None if outcome.units is None else outcome.units[places]
    losses = outcome.proper[places]
    with limited_threads(training.size, n_jobs):
        scores = predicted_losses(table, training, losses, target, units, seed)
    sample = HeldOutSample(training, losses, units, scores[0])
    reason = why_not(auc, outside.fraction.value - outside.expected, outside.fraction.value, effective_rows(weights))
    return weighted_loss(table, sample, weights, (target, scores[1]), outcome, measure, reason)


def weighted_loss(
    table: AuditTable,
    sample: HeldOutSample,
    weights: np.ndarray,
    deployment: tuple[Any, np.ndarray],
    outcome: Outcome,
    measure: str,
    reason: str,
) -> WeightedEstimate:
    """The loss of weighted held-out rows, unless there is a ``reason`` against it, or another one is found.

    ``deployment`` are the rows that the weighted ones stand for, and the losses that are predicted for them.
    """
    target, predicted = deployment
    scores, plain = (sample.predicted, predicted), loss_of(outcome, measure)
    n_rows, effective = len(weights), effective_rows(weights)
    if not reason and imbalance(table, sample.frame, target, weights, scores) > MAX_IMBALANCE:
        reason = "the weighted training rows still do not look like the deployment rows"
    mean = weighted_mean(sample.losses, weights, sample.units, *scores)
    if not reason and (is_withheld(mean) or is_one_sided(mean)):
        reason = "a few rows with large weights or large errors dominate the weighted loss"
    if reason:
        return WeightedEstimate(None, plain, effective, n_rows, f"cannot be estimated, because {reason}. {ADVICE}")
    plain_mean = mean_loss_interval(outcome.proper, outcome.units, weights=outcome.weights)
    ratio = unpaired_ratio(mean, plain_mean)
    loss, ratio = (root_of(mean), root_of(ratio)) if measure == RMSE else (mean, ratio)
    rise = Estimate(ratio.value - 1, ratio.low - 1, ratio.high - 1)
    return WeightedEstimate(loss, plain, effective, n_rows, ASSUMPTION, rise)


def why_not(auc: Estimate | None, unmatched: float, outside: float, effective: float) -> str:
    """Why the loss cannot be expected; ``unmatched`` are rows outside the training range, beyond chance."""
    if auc is None:
        return "there are too few rows or groups to compare the two tables"
    if auc.value > SEPARABLE_AUC:
        return "hardly any training row is like the deployment rows"
    if unmatched > MAX_UNMATCHED:
        return f"{outside:.1%} of the deployment rows lie outside the range of the training data"
    if effective < MIN_EFFECTIVE:
        return f"the weighted training rows carry the information of only {effective:,.0f} rows"
    return ""


def weighted_mean(
    losses: np.ndarray,
    weights: np.ndarray,
    units: np.ndarray | None,
    training_scores: np.ndarray,
    deployment_scores: np.ndarray,
) -> Estimate:
    """Weighted mean of losses. The interval covers the remaining imbalance and the draw of the deployment rows.

    The scores are losses predicted from the columns: their mean over weighted rows and over deployment rows should be
    the same.
    """
    mean = float(np.average(losses, weights=weights))
    own = mean_loss_interval(weights * (losses - mean) + mean, units)
    remaining = float(np.average(training_scores, weights=weights) - deployment_scores.mean())
    variance = float(remaining**2 + norm.ppf(0.975) ** 2 * deployment_scores.var() / len(deployment_scores))
    below, above = np.hypot([mean - own.low, own.high - mean], variance**0.5)
    return Estimate(mean, max(mean - float(below), 0.0), mean + float(above))


def predicted_losses(
    table: AuditTable, training: Any, losses: np.ndarray, deployment: Any, units: np.ndarray | None, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Losses predicted from the columns, of held-out training rows (by models of other folds) and deployment rows."""
    X, X_new = codes_of(table, training), codes_of(table, deployment)
    scores, new_scores = np.empty(len(X)), np.zeros(len(X_new))
    codes = np.arange(len(X)) if units is None else np.unique(units, return_inverse=True)[1]
    folds = np.random.default_rng(seed).permutation(np.arange(codes.max() + 1) % N_FOLDS)[codes]
    for k in np.unique(folds):
        model = HistGradientBoostingRegressor(
            loss="poisson", max_iter=60, learning_rate=0.08, max_leaf_nodes=8, random_state=seed
        )
        model.fit(X[folds != k], np.maximum(losses[folds != k], 1e-12))
        scores[folds == k] = model.predict(X[folds == k])
        new_scores += model.predict(X_new) / len(np.unique(folds))
    return scores, new_scores


def codes_of(table: AuditTable, frame: Any) -> np.ndarray:
    """Numbers as they are, and categories by their codes in the training data."""
    parts = []
    for reader in table.readers:
        column = frame[reader.name]
        if reader.kind == CATEGORY:
            known = list(table.frame[reader.name].cat.categories)
            column = column.astype(object).map({label: float(code) for code, label in enumerate(known)})
        parts.append(column.to_numpy(dtype=np.float64))
    return np.column_stack(parts)


def imbalance(
    table: AuditTable, training: Any, deployment: Any, weights: np.ndarray, scores: tuple[np.ndarray, np.ndarray]
) -> float:
    """The largest difference of moments of weighted rows and deployment rows, in standard deviations, beyond chance.

    Moments are means, squares and products of the columns, and the predicted loss. Chance is the largest of as many
    differences if the weights were right, with so many effective rows.
    """
    first, second = moments_of(table, training, deployment, scores)
    spread = second.std(axis=0)
    first, second = first[:, spread > 0] / spread[spread > 0], second[:, spread > 0] / spread[spread > 0]
    parts = weights / weights.sum()
    centre = parts @ first
    errors = np.sqrt(parts**2 @ (first - centre) ** 2 + 1 / len(second))
    quantile = float(norm.ppf(1 - 0.025 / max(first.shape[1], 1)))
    return float(np.max(np.abs(centre - second.mean(axis=0)) - quantile * errors, initial=0.0))


def moments_of(
    table: AuditTable, training: Any, deployment: Any, scores: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Columns standardised by the deployment data, with squares and products, and the predicted loss."""
    sides = [codes_of(table, each)[:, :MAX_BALANCED_COLUMNS] for each in (training, deployment)]
    with np.errstate(all="ignore"):
        mean, spread = np.nanmean(sides[1], axis=0), np.nanstd(sides[1], axis=0)
        sides = [np.clip(np.nan_to_num((side - mean) / np.where(spread > 0, spread, 1.0)), -6, 6) for side in sides]
    first, second = np.triu_indices(sides[0].shape[1])
    return tuple(  # type: ignore[return-value]
        np.column_stack([side, side[:, first] * side[:, second], score])
        for side, score in zip(sides, scores, strict=True)
    )
