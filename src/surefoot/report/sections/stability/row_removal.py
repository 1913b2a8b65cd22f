"""The effect of leaving out some rows, or a whole group, on models and conclusions; without any guarantee."""

from functools import partial

import numpy as np

from surefoot.report.models.cross_fitting import CrossFitted, row_losses
from surefoot.report.models.scoring import Outcome, loss_of, measure_of
from surefoot.report.sections.stability.findings import RowRemoval
from surefoot.report.statistics import Estimate, mean_of
from surefoot.report.time_budget import TimeBudget

FRACTION = 0.01
N_REFITS, N_GROUP_REFITS = 1, 3  # times that the model is fitted again: without some rows, and without groups
MAX_SECONDS = 10.0  # of one fit; slower models are not fitted again
N_COMPARISONS = 200  # of the losses without some rows; these fit nothing
MAX_GROUPS = 10
MIN_LEFT = 20


def measure_removals(
    fitted: list[CrossFitted], audited: CrossFitted, groups: np.ndarray | None, seed: int, budget: TimeBudget
) -> tuple[RowRemoval, ...]:
    """Leave out one row in a hundred, or each of the largest groups."""
    refits = _is_fast(audited) * (N_REFITS if groups is None else N_GROUP_REFITS)
    if groups is None:
        return (remove_random_rows(fitted, audited, refits, seed, budget),)
    return remove_groups(fitted, audited, groups, refits, budget)


def _is_fast(audited: CrossFitted) -> bool:
    """Whether the audited model is fast enough to be fitted again."""
    n_fits = len(audited.fold_models)
    return n_fits > 0 and not audited.candidate.prefit and audited.seconds / n_fits <= MAX_SECONDS


def remove_random_rows(
    fitted: list[CrossFitted], audited: CrossFitted, refits: int, seed: int, budget: TimeBudget
) -> RowRemoval:
    """Leave out a random hundredth of the rows, several times."""
    losses = _weighted_losses(fitted, audited)
    generator = np.random.default_rng(seed)
    n_out = max(1, round(FRACTION * len(losses)))
    out = [generator.permutation(len(losses))[:n_out] for _ in range(N_COMPARISONS)]
    changes = []
    for k in range(refits):
        budget.step(0.85, f"question 3: refit without some rows, {k + 1} of {refits}")
        fold = k % len(audited.splits.folds)
        train = audited.splits.folds[fold][0]
        kept = np.sort(generator.permutation(train)[max(1, round(FRACTION * len(train))) :])
        change = budget.within("refit without some rows", 1.0, partial(_change, audited, fold, kept))
        changes += [] if change is None else [change]
    return RowRemoval(
        what=f"a random {n_out / len(losses):.0%} of the rows",
        n_rows=n_out,
        n_times=N_COMPARISONS,
        winner_changed=_winner_changed(losses, out),
        n_refits=len(changes),
        predictions_changed=float(np.mean(changes)) if changes else None,
        own_loss=None,
    )


def remove_groups(
    fitted: list[CrossFitted], audited: CrossFitted, groups: np.ndarray, refits: int, budget: TimeBudget
) -> tuple[RowRemoval, ...]:
    """Leave out each of the largest groups; their own rows are predicted by models that were not trained on them."""
    splits, losses = audited.splits, _weighted_losses(fitted, audited)
    names, codes = np.unique(groups[splits.held_out].astype(str), return_inverse=True)
    removals: list[RowRemoval] = []
    for group in np.argsort(-np.bincount(codes), kind="stable")[:MAX_GROUPS]:
        inside = codes.ravel() == group
        change = None
        if len(removals) < refits:
            budget.step(0.85, f"question 3: refit without group {names[group]}")
            refit = partial(_change_without_group, audited, groups.astype(str) == names[group])
            change = budget.within("refit without a group", 1.0, refit)
        removals.append(
            RowRemoval(
                what=f"group {names[group]}",
                n_rows=int(inside.sum()),
                n_times=1,
                winner_changed=_winner_changed(losses, [np.flatnonzero(inside)]),
                n_refits=int(change is not None),
                predictions_changed=change,
                own_loss=_own_loss(audited, inside),
            )
        )
    return tuple(removals)


def _weighted_losses(fitted: list[CrossFitted], audited: CrossFitted) -> np.ndarray:
    """The losses of all models on the held-out rows, times the weights of these rows."""
    losses, weights = row_losses(fitted, audited)[1], audited.outcome.weights
    return losses if weights is None else losses * weights[:, np.newaxis]


def _winner_changed(losses: np.ndarray, out: list[np.ndarray]) -> float | None:
    """The fraction of times that another model has the smallest loss on the remaining rows."""
    if losses.shape[1] < 2:
        return None
    total = losses.sum(axis=0)
    return float(np.mean([np.argmin(total - losses[rows].sum(axis=0)) != np.argmin(total) for rows in out]))


def _change(audited: CrossFitted, fold: int, kept: np.ndarray) -> float:
    """Change of the predictions for a fold's test rows: fraction of labels, or RMS change in units of the RMSE."""
    table, candidate, test = audited.table, audited.candidate, audited.splits.folds[fold][1]
    before = audited.predictions.values[np.searchsorted(audited.splits.held_out, test)]
    after = candidate.predict(candidate.fit(table, kept), table, test).values
    weights = table.weights_of(test)
    if table.target.is_classes:
        return mean_of(before != after, weights)
    return float(np.sqrt(mean_of((before - after) ** 2, weights) / max(audited.outcome.mean_loss, 1e-300)))


def _change_without_group(audited: CrossFitted, inside: np.ndarray) -> float | None:
    """Change of the predictions for the first fold that has the group in its training set."""
    for fold, (train, _) in enumerate(audited.splits.folds):
        kept = train[~inside[train]]
        if len(kept) < len(train):
            return _change(audited, fold, kept) if len(kept) >= MIN_LEFT else None
    return None


def _own_loss(audited: CrossFitted, inside: np.ndarray) -> Estimate:
    """The loss on a group's rows, by models that were not trained on them."""
    outcome = audited.outcome[inside]
    return loss_of(Outcome(outcome.losses, weights=outcome.weights), measure_of(audited.table.target))
