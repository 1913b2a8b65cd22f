"""Question 1: is it as accurate as the data allows?"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot.report.answers import Accuracy, Duplicates, Estimate, LearningCurve, ModelScore
from surefoot.report.clock import Clock
from surefoot.report.contestants import CONSTANT, YOUR_PREDICTIONS, Contestant
from surefoot.report.row_parts import RowParts
from surefoot.report.scoring import (
    ERROR_RATE,
    RANKING_ERROR,
    Outcome,
    difference_of,
    loss_of,
    main_measure,
    score,
    scores_of,
)
from surefoot.report.table import AuditTable

CURVE_SHARES = (0.125, 0.25, 0.5)
FEWEST_CURVE_ROWS = 20
SHARE_OF_TIME = 0.4  # of a time limit, that comparing models may take


@dataclass(frozen=True)
class Fitted:
    """The contestants after training on the training rows: what they lose on each held-out row."""

    contestant: Contestant
    model: Any
    outcome: Outcome
    cv_loss: float
    seconds: float  # of cross-validation and the fit


def compare(
    table: AuditTable, parts: RowParts, entrants: Sequence[Contestant], seed: int, clock: Clock, remarks: list[str]
) -> list[Fitted]:
    """Cross-validate every contestant on the training rows, then fit it to all of them; the constant comes first.

    One that this table is too much for is left out, with a remark; unless it is the user's own.
    """
    folds, measure = parts.folds(table.target, seed), main_measure(table.target, parts)
    fitted = []
    for i, entrant in enumerate(entrants):
        needed = entrant.raw or entrant.name == CONSTANT
        if not needed and not clock.has_time_for(f"comparison with {entrant.name}", SHARE_OF_TIME):
            continue
        clock.step(0.05 + 0.4 * i / len(entrants), f"question 1: {entrant.name}")
        try:
            fitted.append(_train(entrant, table, parts, folds, measure))
        except Exception as error:  # whatever a model raises
            if entrant.raw:
                raise DataError(f"model failed on the training rows: {type(error).__name__}: {error}") from error
            if entrant.name == CONSTANT:
                raise
            remarks.append(f"{entrant.name} could not be fitted ({' '.join(str(error).split())[:120]}): left out.")
    return fitted


def _train(
    entrant: Contestant, table: AuditTable, parts: RowParts, folds: list[tuple[np.ndarray, np.ndarray]], measure: str
) -> Fitted:
    begun = time.perf_counter()
    ranked = measure == RANKING_ERROR
    outcomes = [outcome_of(entrant, entrant.fitted(table, fit), table, judge, None, ranked) for fit, judge in folds]
    model = entrant.fitted(table, parts.train)
    own = outcome_of(entrant, model, table, parts.test, parts.groups, ranked=True)
    return Fitted(entrant, model, own, _over_folds(outcomes, measure), time.perf_counter() - begun)


def outcome_of(
    entrant: Contestant, model: Any, table: AuditTable, rows: np.ndarray, groups: np.ndarray | None, ranked: bool
) -> Outcome:
    """What a fitted model makes of some rows; the scores that rank them are computed only if asked for."""
    scores = scores_of(model, entrant.table_of(table, rows), table.target) if ranked else None
    return Outcome.of(table.target, entrant.predict(model, table, rows), rows, scores, groups)


def _over_folds(outcomes: list[Outcome], measure: str) -> float:
    """The loss in cross-validation; rows that different models have scored cannot be ranked among one another."""
    if measure == RANKING_ERROR:
        found = np.array([loss_of(each, measure).value for each in outcomes])
        return float(found[~np.isnan(found)].mean()) if not np.isnan(found).all() else float("nan")
    return loss_of(Outcome(np.concatenate([each.losses for each in outcomes])), measure).value


def choose(fitted: Sequence[Fitted]) -> Fitted:
    """The one with the least loss in cross-validation; of equal ones the first, which is the simpler."""
    return min(fitted, key=lambda each: (np.isnan(each.cv_loss), each.cv_loss))


def accuracy(
    table: AuditTable,
    parts: RowParts,
    fitted: Sequence[Fitted],
    predicted: Outcome | None,
    seed: int,
    clock: Clock,
) -> Accuracy:
    """All that is said about question 1."""
    measure, chosen, base = main_measure(table.target, parts), choose(fitted), fitted[0].outcome
    scores = [
        score(
            each.contestant.name, each.contestant.what, each.outcome, base, measure, seed, cv_loss=each.cv_loss,
            auc=each.outcome.auc, seconds=each.seconds, chosen=each is chosen, yours=each.contestant.raw,
        )
        for each in fitted
    ]  # fmt: skip
    if predicted is not None:
        given = {"auc": predicted.auc, "yours": True}
        what = "labels, as they were given" if table.target.is_classes else "as they were given"
        if predicted.scores is not None:
            what = f"taken for probabilities of {table.target.classes[1]}"
        scores.append(score(YOUR_PREDICTIONS, what, predicted, base, measure, seed, **given))
    rest = sorted(scores[1:], key=lambda line: (np.isnan(line.cv_loss), line.cv_loss))
    models: tuple[ModelScore, ...] = (scores[0], *rest)
    curve = learning_curve(table, parts, chosen, seed, clock) if clock.has_time_for("learning curve", 0.5) else None
    behind = _behind(predicted or next((each.outcome for each in fitted if each.contestant.raw), None), chosen, measure)
    n_rare = int(np.sum(table.target.y[parts.test] == table.target.rare)) if measure == RANKING_ERROR else None
    name = chosen.contestant.name
    return Accuracy(measure, models, name, parts.n_folds, curve, duplicates(table), *behind, n_rare)


def _behind(own: Outcome | None, chosen: Fitted, measure: str) -> tuple[Estimate | None, str]:
    """How much more a user's own model loses than the chosen one, on the same rows; labels are compared as labels."""
    if own is None or own is chosen.outcome:
        return None, measure
    if measure == RANKING_ERROR and own.scores is None:
        measure = ERROR_RATE
    return difference_of(own, chosen.outcome, measure), measure


def learning_curve(table: AuditTable, parts: RowParts, chosen: Fitted, seed: int, clock: Clock) -> LearningCurve | None:
    """The chosen model again, on parts of the training rows; each part contains the smaller ones."""
    target, n_train, measure = table.target, len(parts.train), main_measure(table.target, parts)
    order = np.random.default_rng(seed).permutation(parts.train)
    sizes = [int(share * n_train) for share in CURVE_SHARES]
    sizes = [size for size in sizes if size >= FEWEST_CURVE_ROWS]
    outcomes = []
    for i, size in enumerate(sizes):
        clock.step(0.45 + 0.1 * i / len(sizes), "question 1: would more rows help?")
        rows = np.sort(order[:size])
        if target.is_classes and len(np.unique(target.y[rows])) < 2:
            return None
        model = chosen.contestant.fitted(table, rows)
        ranked = measure == RANKING_ERROR
        outcomes.append(outcome_of(chosen.contestant, model, table, parts.test, parts.groups, ranked))
    if not sizes or sizes[-1] != int(0.5 * n_train):
        return None
    curve = tuple(loss_of(each, measure) for each in [*outcomes, chosen.outcome])
    return LearningCurve((*sizes, n_train), curve, difference_of(outcomes[-1], chosen.outcome, measure))


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
