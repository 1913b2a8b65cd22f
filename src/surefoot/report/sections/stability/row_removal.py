"""What leaving out some rows, or a whole group, does to models and conclusions; measured, without any guarantee."""

import numpy as np

from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.models.scoring import Outcome, loss_of, measure_of
from surefoot.report.sections.stability.findings import RowRemoval
from surefoot.report.sections.stability.winner import comparable_losses
from surefoot.report.statistics.estimates import Estimate
from surefoot.report.time_budget import TimeBudget

FRACTION = 0.01
N_REFITS, N_GROUP_REFITS = 1, 3  # times that the model is trained again: without some rows, and without groups
MAX_SECONDS = 10.0  # of one fit, for the model to be trained again
N_COMPARISONS = 200  # without some rows; these train nothing
MAX_GROUPS = 10
MIN_LEFT = 20


def measure_drops(
    fitted: list[CrossFitted], audited: CrossFitted, groups: np.ndarray | None, seed: int, budget: TimeBudget
) -> tuple[RowRemoval, ...]:
    """Leave out one row in a hundred, or each of the largest groups."""
    refits = _is_quick(audited) * (N_REFITS if groups is None else N_GROUP_REFITS)
    if groups is None:
        return (drop_random_rows(fitted, audited, refits, seed, budget),)
    return drop_groups(fitted, audited, groups, refits, budget)


def _is_quick(audited: CrossFitted) -> bool:
    """Whether there is time to train the audited model again."""
    n_fits = len(audited.fold_models)
    return n_fits > 0 and audited.seconds / n_fits <= MAX_SECONDS


def drop_random_rows(
    fitted: list[CrossFitted], audited: CrossFitted, refits: int, seed: int, budget: TimeBudget
) -> RowRemoval:
    """Leave out a random hundredth of the rows, several times."""
    _, losses = comparable_losses(fitted, audited)
    generator = np.random.default_rng(seed)
    n_out = max(1, round(FRACTION * len(losses)))
    out = [generator.permutation(len(losses))[:n_out] for _ in range(N_COMPARISONS)]
    changes = []
    for k in range(refits):
        if not budget.has_time_for("training again without some rows"):
            break
        budget.step(0.85, f"question 3: training again without some rows, {k + 1} of {refits}")
        fold = k % len(audited.splits.folds)
        train = audited.splits.folds[fold][0]
        kept = np.sort(generator.permutation(train)[max(1, round(FRACTION * len(train))) :])
        changes.append(_change(audited, fold, kept))
    return RowRemoval(
        what=f"a random {n_out / len(losses):.0%} of the rows",
        n_rows=n_out,
        n_times=N_COMPARISONS,
        winner_changed=_winner_changed(losses, out),
        n_refits=len(changes),
        predictions_changed=float(np.mean(changes)) if changes else None,
        own_loss=None,
    )


def drop_groups(
    fitted: list[CrossFitted], audited: CrossFitted, groups: np.ndarray, refits: int, budget: TimeBudget
) -> tuple[RowRemoval, ...]:
    """Leave out each of the largest groups; their own rows are judged by models that have not seen the group."""
    splits, losses = audited.splits, comparable_losses(fitted, audited)[1]
    names, codes = np.unique(groups[splits.judged].astype(str), return_inverse=True)
    drops: list[RowRemoval] = []
    for group in np.argsort(-np.bincount(codes), kind="stable")[:MAX_GROUPS]:
        inside = codes.ravel() == group
        change = None
        if len(drops) < refits and budget.has_time_for("training again without a group"):
            budget.step(0.85, f"question 3: training again without group {names[group]}")
            change = _change_without_group(audited, groups.astype(str) == names[group])
        drops.append(
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
    return tuple(drops)


def _winner_changed(losses: np.ndarray, out: list[np.ndarray]) -> float | None:
    """The fraction of times that another model has the smallest loss on the rows that are left."""
    if losses.shape[1] < 2:
        return None
    total = losses.sum(axis=0)
    return float(np.mean([np.argmin(total - losses[rows].sum(axis=0)) != np.argmin(total) for rows in out]))


def _change(audited: CrossFitted, fold: int, kept: np.ndarray) -> float:
    """How far predictions of a fold's judged rows change: labels that differ, or RMS change in units of the RMSE."""
    table, candidate, judge = audited.table, audited.candidate, audited.splits.folds[fold][1]
    places = np.searchsorted(audited.splits.judged, judge)
    before = audited.predictions.values[places]
    after = candidate.predict(candidate.fit(table, kept), table, judge).values
    if table.target.is_classes:
        return float(np.mean(before != after))
    return float(np.sqrt(np.mean((before - after) ** 2) / max(float(audited.outcome.losses.mean()), 1e-300)))


def _change_without_group(audited: CrossFitted, inside: np.ndarray) -> float | None:
    """The same for the first fold that the group helps to train."""
    for fold, (train, _) in enumerate(audited.splits.folds):
        kept = train[~inside[train]]
        if len(kept) < len(train):
            return _change(audited, fold, kept) if len(kept) >= MIN_LEFT else None
    return None


def _own_loss(audited: CrossFitted, inside: np.ndarray) -> Estimate:
    """The loss on a group's rows, which its models have not seen."""
    return loss_of(Outcome(audited.outcome.losses[inside]), measure_of(audited.table.target))
