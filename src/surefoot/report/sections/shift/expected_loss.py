"""The loss to expect on deployment data without targets, from held-out rows weighted to look like it."""

from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingRegressor

from surefoot.report.inputs.column_readers import CATEGORY
from surefoot.report.inputs.deployment_data import DeploymentData, sample_of
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.models.scoring import RMSE
from surefoot.report.sections.shift.density_ratio import effective_rows, importance_weights
from surefoot.report.sections.shift.deployment_loss import loss_interval
from surefoot.report.sections.shift.findings import SEPARABLE_AUC, OutsideRange, WeightedEstimate
from surefoot.report.statistics import is_one_sided, is_withheld, mean_loss_interval, root_of, unpaired_ratio
from surefoot.report.statistics.estimates import Estimate
from surefoot.shift.two_sample_test import limited_threads

MAX_ROWS = 10_000  # of either table
MIN_EFFECTIVE = 100
MAX_OUTSIDE = 0.02  # fraction of deployment rows outside the training range, beyond chance: no weight stands for them
MAX_IMBALANCE = 0.1  # standard deviations, beyond chance, by which weighted rows may differ from deployment rows
MAX_BALANCED_COLUMNS = 20
N_FOLDS = 5
ASSUMPTION = "This holds if the target depends on the columns as in the training data, which only targets can show."
ADVICE = "Get the target of some deployment rows, and run the audit again with them."


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
    """The loss, or why none can be given: weighted rows must look like the deployment rows, and be enough."""
    outcome = audited.outcome
    places = sample_of(np.arange(len(splits.judged)), MAX_ROWS, seed)
    here = table.frame.iloc[splits.judged[places]]
    chosen = deployment.sample(MAX_ROWS, seed)
    there = deployment.frame.iloc[chosen]
    units = None if outcome.units is None else outcome.units[places]
    plain, losses = loss_interval(outcome, measure), outcome.proper[places]
    weights = importance_weights(table, here, there, units, deployment.units_of(chosen), seed, n_jobs)
    n_rows, effective = len(places), effective_rows(weights)
    with limited_threads(here.size, n_jobs):
        scores_here, scores_there = loss_scores(table, here, losses, there, units, seed)
    reason = _why_not(auc, outside, effective)
    if not reason and imbalance(table, here, there, weights, (scores_here, scores_there)) > MAX_IMBALANCE:
        reason = "weighted training rows still do not look like the deployment rows"
    mean = weighted_mean(losses, weights, units, scores_here, scores_there)
    if not reason and (is_withheld(mean) or is_one_sided(mean)):
        reason = "a few rows with large weights or large errors decide the weighted loss"
    if reason:
        return WeightedEstimate(None, plain, effective, n_rows, f"not known, because {reason}. {ADVICE}")
    of_plain = mean_loss_interval(outcome.proper, outcome.units)
    ratio = unpaired_ratio(mean, of_plain)
    loss, ratio = (root_of(mean), root_of(ratio)) if measure == RMSE else (mean, ratio)
    rise = Estimate(ratio.value - 1, ratio.low - 1, ratio.high - 1)
    return WeightedEstimate(loss, plain, effective, n_rows, ASSUMPTION, rise)


def _why_not(auc: Estimate | None, outside: OutsideRange, effective: float) -> str:
    if auc is None:
        return "there are too few rows or groups to compare both tables"
    if auc.value > SEPARABLE_AUC:
        return "hardly any training row is like the deployment rows"
    if outside.fraction.value - outside.expected > MAX_OUTSIDE:
        return f"{outside.fraction.value:.1%} of the deployment rows lie outside the range of the training data"
    if effective < MIN_EFFECTIVE:
        return f"the training rows that are like the deployment rows tell as much as {effective:,.0f} rows would"
    return ""


def weighted_mean(
    losses: np.ndarray,
    weights: np.ndarray,
    units: np.ndarray | None,
    scores_here: np.ndarray,
    scores_there: np.ndarray,
) -> Estimate:
    """Weighted mean of losses. The interval allows for what weights leave out of balance, and for the rows there.

    ``scores`` are losses predicted from the columns: their mean over weighted rows and over deployment rows should
    agree.
    """
    mean = float(np.average(losses, weights=weights))
    found = mean_loss_interval(weights * (losses - mean) + mean, units)
    left = float(np.average(scores_here, weights=weights) - scores_there.mean())
    further = float(left**2 + norm.ppf(0.975) ** 2 * scores_there.var() / len(scores_there))
    below, above = np.hypot([mean - found.low, found.high - mean], further**0.5)
    return Estimate(mean, max(mean - float(below), 0.0), mean + float(above))


def loss_scores(
    table: AuditTable, here: Any, losses: np.ndarray, there: Any, units: np.ndarray | None, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Losses predicted from the columns, for training rows by models that have not seen them, and for others."""
    X, Z = codes_of(table, here), codes_of(table, there)
    scores, others = np.empty(len(X)), np.zeros(len(Z))
    codes = np.arange(len(X)) if units is None else np.unique(units, return_inverse=True)[1]
    folds = np.random.default_rng(seed).permutation(np.arange(codes.max() + 1) % N_FOLDS)[codes]
    for k in np.unique(folds):
        model = HistGradientBoostingRegressor(
            loss="poisson", max_iter=60, learning_rate=0.08, max_leaf_nodes=8, random_state=seed
        )
        model.fit(X[folds != k], np.maximum(losses[folds != k], 1e-12))
        scores[folds == k] = model.predict(X[folds == k])
        others += model.predict(Z) / len(np.unique(folds))
    return scores, others


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
    table: AuditTable, here: Any, there: Any, weights: np.ndarray, scores: tuple[np.ndarray, np.ndarray]
) -> float:
    """The largest difference of moments of weighted rows and deployment rows, in standard deviations, beyond chance.

    Moments are means, squares and products of the columns, and the predicted loss. Chance is what the largest of as
    many differences would be with so many effective rows, if the weights were right.
    """
    first, second = moments_of(table, here, there, scores)
    spread = second.std(axis=0)
    first, second = first[:, spread > 0] / spread[spread > 0], second[:, spread > 0] / spread[spread > 0]
    parts = weights / weights.sum()
    centre = parts @ first
    errors = np.sqrt(parts**2 @ (first - centre) ** 2 + 1 / len(second))
    quantile = float(norm.ppf(1 - 0.025 / max(first.shape[1], 1)))
    return float(np.max(np.abs(centre - second.mean(axis=0)) - quantile * errors, initial=0.0))


def moments_of(
    table: AuditTable, here: Any, there: Any, scores: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Columns standardised by the deployment data, with squares and products, and the predicted loss."""
    sides = [codes_of(table, here)[:, :MAX_BALANCED_COLUMNS], codes_of(table, there)[:, :MAX_BALANCED_COLUMNS]]
    with np.errstate(all="ignore"):
        mean, spread = np.nanmean(sides[1], axis=0), np.nanstd(sides[1], axis=0)
        sides = [np.clip(np.nan_to_num((side - mean) / np.where(spread > 0, spread, 1.0)), -6, 6) for side in sides]
    first, second = np.triu_indices(sides[0].shape[1])
    return tuple(  # type: ignore[return-value]
        np.column_stack([side, side[:, first] * side[:, second], score])
        for side, score in zip(sides, scores, strict=True)
    )
