"""Question 1: is it as accurate as the data allows?"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot.report.answers import Accuracy, Duplicates, LearningCurve, ModelScore
from surefoot.report.clock import Clock
from surefoot.report.contestants import CONSTANT, YOUR_PREDICTIONS, Contestant
from surefoot.report.row_parts import RowParts
from surefoot.report.scoring import auc_of, difference_of, loss_of, measure_of, score
from surefoot.report.table import AuditTable

CURVE_SHARES = (0.125, 0.25, 0.5)
FEWEST_CURVE_ROWS = 20
SHARE_OF_TIME = 0.4  # of a time limit, that comparing models may take


@dataclass(frozen=True)
class Fitted:
    """The contestants after training on the training rows: what they lose on each held-out row."""

    contestant: Contestant
    model: Any
    losses: np.ndarray
    cv_loss: float
    seconds: float  # of cross-validation and the fit


def compare(
    table: AuditTable, parts: RowParts, entrants: Sequence[Contestant], seed: int, clock: Clock, remarks: list[str]
) -> list[Fitted]:
    """Cross-validate every contestant on the training rows, then fit it to all of them; the constant comes first.

    One that this table is too much for is left out, with a remark; unless it is the user's own.
    """
    folds = parts.folds(table.target, seed)
    fitted = []
    for i, entrant in enumerate(entrants):
        needed = entrant.raw or entrant.name == CONSTANT
        if not needed and not clock.has_time_for(f"comparison with {entrant.name}", SHARE_OF_TIME):
            continue
        clock.step(0.05 + 0.4 * i / len(entrants), f"question 1: {entrant.name}")
        try:
            fitted.append(_train(entrant, table, parts, folds))
        except Exception as error:  # whatever a model raises
            if entrant.raw:
                raise DataError(f"model failed on the training rows: {type(error).__name__}: {error}") from error
            if entrant.name == CONSTANT:
                raise
            remarks.append(f"{entrant.name} could not be fitted ({' '.join(str(error).split())[:120]}): left out.")
    return fitted


def _train(
    entrant: Contestant, table: AuditTable, parts: RowParts, folds: list[tuple[np.ndarray, np.ndarray]]
) -> Fitted:
    begun = time.perf_counter()
    losses = [
        table.target.losses(entrant.predict(entrant.fitted(table, fit), table, judge), judge) for fit, judge in folds
    ]
    model = entrant.fitted(table, parts.train)
    own = table.target.losses(entrant.predict(model, table, parts.test), parts.test)
    cv_loss, seconds = loss_of(np.concatenate(losses), table.target).value, time.perf_counter() - begun
    return Fitted(entrant, model, own, cv_loss, seconds)


def choose(fitted: Sequence[Fitted]) -> Fitted:
    """The one with the least loss in cross-validation; of equal ones the first, which is the simpler."""
    return min(fitted, key=lambda each: each.cv_loss)


def accuracy(
    table: AuditTable,
    parts: RowParts,
    fitted: Sequence[Fitted],
    predictions: np.ndarray | None,
    seed: int,
    clock: Clock,
) -> Accuracy:
    """All that is said about question 1."""
    target, chosen = table.target, choose(fitted)
    base = fitted[0].losses
    scores = [
        score(
            each.contestant.name, each.contestant.what, each.losses, base, target, seed, cv_loss=each.cv_loss,
            auc=auc_of(each.model, each.contestant.table_of(table, parts.test), target, parts.test),
            seconds=each.seconds, chosen=each is chosen, yours=each.contestant.raw,
        )
        for each in fitted
    ]  # fmt: skip
    if predictions is not None:
        own = target.losses(predictions[parts.test], parts.test)
        scores.append(score(YOUR_PREDICTIONS, "as they were given", own, base, target, seed, yours=True))
    rest = sorted(scores[1:], key=lambda line: (np.isnan(line.cv_loss), line.cv_loss))
    models: tuple[ModelScore, ...] = (scores[0], *rest)
    curve = learning_curve(table, parts, chosen, seed, clock) if clock.has_time_for("learning curve", 0.5) else None
    return Accuracy(measure_of(target), models, chosen.contestant.name, parts.n_folds, curve, duplicates(table))


def learning_curve(table: AuditTable, parts: RowParts, chosen: Fitted, seed: int, clock: Clock) -> LearningCurve | None:
    """The chosen model again, on parts of the training rows; each part contains the smaller ones."""
    target, n_train = table.target, len(parts.train)
    order = np.random.default_rng(seed).permutation(parts.train)
    sizes = [int(share * n_train) for share in CURVE_SHARES]
    sizes = [size for size in sizes if size >= FEWEST_CURVE_ROWS]
    losses = []
    for i, size in enumerate(sizes):
        clock.step(0.45 + 0.1 * i / len(sizes), "question 1: would more rows help?")
        rows = np.sort(order[:size])
        if target.is_classes and len(np.unique(target.y[rows])) < 2:
            return None
        model = chosen.contestant.fitted(table, rows)
        losses.append(target.losses(chosen.contestant.predict(model, table, parts.test), parts.test))
    if not sizes or sizes[-1] != int(0.5 * n_train):
        return None
    curve = tuple(loss_of(each, target) for each in [*losses, chosen.losses])
    return LearningCurve((*sizes, n_train), curve, difference_of(losses[-1], chosen.losses, target))


def duplicates(table: AuditTable) -> Duplicates:
    """Rows alike in every column, and the least loss that any model can have on them."""
    import pandas as pd

    target = table.target
    group = table.frame.groupby(list(table.frame.columns), dropna=False, observed=True, sort=False).ngroup().to_numpy()
    rows = pd.DataFrame({"group": group, "y": target.y})
    rows = rows[rows.groupby("group")["y"].transform("size") > 1]
    if not len(rows):
        return Duplicates(0, 0, 0, None)
    by_group = rows.groupby("group")["y"]
    conflicting = int((by_group.transform("nunique") > 1).sum())
    n_groups = int(by_group.ngroups)
    if target.is_classes:
        most = rows.groupby(["group", "y"]).size().groupby("group").max()
        floor = 1 - float(most.sum()) / len(rows)
    else:
        floor = float(np.sqrt(((rows["y"] - by_group.transform("mean")) ** 2).sum() / (len(rows) - n_groups)))
    return Duplicates(len(rows), n_groups, conflicting, floor)
