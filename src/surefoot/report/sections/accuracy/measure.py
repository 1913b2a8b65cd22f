"""The numbers of question 1: is it as accurate as the data allows?"""

import time as clock
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from surefoot.report.inputs.other_rows import OtherRows
from surefoot.report.inputs.splits import Folds, Splits, smaller_folds
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.cross_fitting import (
    CONSTANT,
    CandidateModel,
    Comparison,
    CrossFitted,
    comparable_loss,
    fit_and_predict,
    outcome_of_choice,
)
from surefoot.report.models.predictions import ModelPredictions
from surefoot.report.models.scoring import (
    ERROR_RATE,
    LOG_LOSS,
    RANKING_ERROR,
    Outcome,
    excess_of,
    gain_of,
    is_better,
    loss_of,
    main_measure,
)
from surefoot.report.sections.accuracy.findings import (
    AccuracyFindings,
    Duplicates,
    LearningCurve,
    ModelScore,
    OtherRowsLoss,
)
from surefoot.report.statistics import mean_record, redrawn
from surefoot.report.time_budget import TimeBudget

CURVE_FRACTIONS = (0.25, 0.5)  # the last doubling decides the answer
N_HALVES, MAX_DRAWN_TWICE = 2, 5000  # draws of two halves: in small tables the loss depends on the rows in them
MAX_QUARTERED = 20_000  # training rows: in larger tables only the half is fitted, as this is slow enough
MIN_CURVE_ROWS = 20


def measure_accuracy(
    table: AuditTable,
    compared: Comparison,
    time: np.ndarray | None,
    seed: int,
    budget: TimeBudget,
    has_curve: bool = True,
) -> AccuracyFindings:
    """All numbers about question 1."""
    fitted, audited, splits = compared.fitted, compared.audited, compared.audited.splits
    measure, constant = main_measure(table.target, splits.held_out), fitted[0].outcome
    models = [*fitted, *([] if audited in fitted else [audited])]
    scores = [_score(each, constant, audited, measure) for each in models]
    others = [each for each in fitted if each is not audited and each.name != CONSTANT]
    rival = min(others, key=lambda each: comparable_loss(each.outcome), default=None)
    own = audited.outcome if audited.candidate.raw or len(fitted) == 1 else outcome_of_choice(fitted[1:], splits)
    order = np.argsort([comparable_loss(each.outcome) for each in models[1:]], kind="stable")
    curve = None
    can_learn = audited.fold_models and not audited.candidate.prefit
    if has_curve and can_learn and budget.has_time_for("learning curve", 0.7):
        curve = learning_curve(table, splits, audited, time, seed, budget)
    is_rare = measure == RANKING_ERROR
    return AccuracyFindings(
        measure=measure,
        models=(scores[0], *(scores[1 + k] for k in order)),
        audited=audited.name,
        gain=gain_of(own, constant),
        is_better=is_better(own, constant),
        rival=None if rival is None else rival.name,
        behind=None if rival is None else excess_of(audited.outcome, rival.outcome),
        curve=curve,
        duplicates=duplicates(table),
        left_out=tuple(budget.left_out_candidates),
        n_rows=len(splits.held_out),
        n_rare=int(np.sum(table.target.y[splits.held_out] == table.target.rare)) if is_rare else None,
    )


def mean_accuracy(records: Sequence[AccuracyFindings]) -> AccuracyFindings:
    """Means of the numbers over the draws of the folds that have them.

    The rival is the best of the other models over all draws. The gain of a model that was chosen is that of draws with
    all candidates: with the best one alone, it would be too optimistic.
    """
    if len(records) == 1:
        return records[0]
    by_name: dict[str, list[ModelScore]] = {}
    for model in chain.from_iterable(record.models for record in records):
        by_name.setdefault(model.name, []).append(model)
    constant, *others = (mean_record(models) for models in by_name.values())
    others.sort(key=lambda model: 0.0 if model.excess is None else -model.excess.value)
    rival = next((model for model in others if model.excess is not None), None)
    curves = [record.curve for record in records if record.curve is not None]
    is_yours = any(model.chosen and model.yours for model in others)
    whole = [each for each in records if is_yours or len(each.models) == len(records[0].models)]
    return replace(
        mean_record([replace(record, models=(), curve=None) for record in records]),
        models=(constant, *others),
        gain=mean_record([each.gain for each in whole]),
        is_better=mean_record([each.is_better for each in whole]),
        rival=None if rival is None else rival.name,
        behind=None if rival is None else rival.excess,
        curve=mean_record(curves) if curves else None,
        left_out=records[-1].left_out,
    )


def _score(fitted: CrossFitted, constant: Outcome, audited: CrossFitted, measure: str) -> ModelScore:
    """A row of the table of models."""
    excess = None if fitted is audited else excess_of(audited.outcome, fitted.outcome)
    scored = score(fitted.name, fitted.candidate.description, fitted.outcome, constant, measure)
    return replace(
        scored,
        loss=fitted.loss(measure),
        log_loss=None if scored.log_loss is None else fitted.loss(LOG_LOSS),
        seconds=fitted.seconds,
        chosen=fitted is audited,
        yours=fitted.candidate.raw,
        excess=excess,
    )


def score(name: str, what: str, outcome: Outcome, constant: Outcome, measure: str) -> ModelScore:
    """A model's losses on some rows, compared with those of a constant."""
    return ModelScore(
        name=name,
        what=what,
        loss=loss_of(outcome, measure),
        gain=gain_of(outcome, constant),
        auc=outcome.auc,
        seconds=float("nan"),
        chosen=False,
        yours=False,
        error_rate=loss_of(outcome, ERROR_RATE) if measure == RANKING_ERROR else None,
        log_loss=None if outcome.log_losses is None else loss_of(outcome, LOG_LOSS),
    )


def learning_curve(
    table: AuditTable, splits: Splits, fitted: CrossFitted, time: np.ndarray | None, seed: int, budget: TimeBudget
) -> LearningCurve | None:
    """The loss of a model that is fitted to fractions of the training rows."""
    measure, n_train = main_measure(table.target, splits.held_out), len(splits.folds[0][0])
    outcomes, sizes = [], []
    is_small = n_train <= MAX_DRAWN_TWICE and time is None
    fractions = CURVE_FRACTIONS if n_train <= MAX_QUARTERED else CURVE_FRACTIONS[-1:]
    for i, fraction in enumerate(fractions):
        budget.step(0.5 + 0.1 * i / len(fractions), f"question 1: {fitted.name} on {fraction:.0%} of the rows")
        n_times = N_HALVES if fraction == CURVE_FRACTIONS[-1] and is_small else 1
        drawn = [smaller_folds(splits, table.target, time, fraction, seed + k) for k in range(n_times)]
        fits = [_fit_folds(table, splits, fitted.candidate, folds, budget) for folds in drawn]
        completed = [each for each in fits if each is not None]
        if completed:
            outcomes.append(Outcome.mean_of(completed))
            sizes.append(len(drawn[0][0][0]))
    if not completed:
        return None
    losses = tuple(loss_of(each, measure) for each in outcomes)
    return LearningCurve(
        model=fitted.name,
        n_rows=(*sizes, n_train),
        loss=(*losses, loss_of(fitted.outcome, measure)),
        last_doubling=redrawn(excess_of(outcomes[-1], fitted.outcome)),
    )


def loss_on_other_rows(
    table: AuditTable, audited: CrossFitted, others: OtherRows, budget: TimeBudget
) -> OtherRowsLoss | None:
    """The loss of a model of all drawn rows on the others; None if there is not enough time, or no model."""
    step = "the rows that were not drawn"
    if audited.candidate.model is None or not budget.has_time_for(step, 0.7):
        return None
    model = budget.within(step, 0.8, partial(audited.candidate.fit, table, audited.splits.rows))
    if model is None:
        return None
    started, outcomes, n_done = clock.perf_counter(), [], 0
    for part in others.read_by(table):
        budget.step(0.6, f"question 1: {audited.name} on other rows, {n_done:,} of {others.n_rows:,}")
        outcome = budget.within(step, 0.8, partial(part.outcome, audited.candidate, model, table.target))
        if outcome is None:
            return None
        outcomes.append(outcome)
        n_done += len(part.frame)
        seconds = (clock.perf_counter() - started) / n_done * (others.n_rows - n_done)
        if not budget.has_time_for(step, 0.8, seconds):
            return None
    if not outcomes:  # no other row counts
        return None
    outcome = Outcome.joined(outcomes)
    return OtherRowsLoss(
        n_rows=n_done,
        loss=loss_of(outcome, main_measure(table.target, audited.splits.held_out)),
        log_loss=None if outcome.log_losses is None else loss_of(outcome, LOG_LOSS),
    )


def _fit_folds(
    table: AuditTable, splits: Splits, candidate: CandidateModel, folds: Folds, budget: TimeBudget
) -> Outcome | None:
    """The outcome of fits to other folds; None if one has too few rows or one class only, or time runs out."""
    predictions, target = [], table.target
    for train, test in folds:
        one_class = target.is_classes and len(np.unique(target.y[train])) < 2
        if one_class or len(train) < MIN_CURVE_ROWS or not budget.has_time_for("learning curve", 0.8):
            return None
        one = budget.within("learning curve", 0.8, partial(fit_and_predict, table, candidate, train, test))
        if one is None:
            return None
        predictions.append(one[1])
    order = np.argsort(np.concatenate([test for _, test in folds]), kind="stable")
    joined = ModelPredictions.joined(predictions)[order]
    rows = splits.held_out
    return Outcome.of_truth(target, joined, target.labels[rows], splits.held_out_units, table.weights_of(rows))


def duplicates(table: AuditTable) -> Duplicates:
    """Rows that are equal in every column, and the smallest loss that any model can have on them."""
    import pandas as pd

    target = table.target
    group = table.frame.groupby(list(table.frame.columns), dropna=False, observed=True, sort=False).ngroup().to_numpy()
    weights = np.ones(len(group)) if target.weights is None else target.weights
    rows = pd.DataFrame({"group": group, "y": target.y, "weight": weights})
    rows = rows[rows.groupby("group")["y"].transform("size") > 1]
    if not len(rows):
        return Duplicates(0, 0, 0, None)
    by_group = rows.groupby("group")["y"]
    conflicting = int((by_group.transform("nunique") > 1).sum())
    n_groups = int(by_group.ngroups)
    return Duplicates(len(rows), n_groups, conflicting, _floor(rows, target.is_classes, n_groups))


def _floor(rows: Any, is_classes: bool, n_groups: int) -> float:
    """The loss of a model that predicts the most frequent label, or the mean, of each group of equal rows."""
    total = float(rows["weight"].sum())
    if is_classes:
        most = rows.groupby(["group", "y"])["weight"].sum().groupby("group").max()
        return 1 - float(most.sum()) / total
    sums = (rows["weight"] * rows["y"]).groupby(rows["group"]).transform("sum")
    means = sums / rows.groupby("group")["weight"].transform("sum")
    squares = float((rows["weight"] * (rows["y"] - means) ** 2).sum())
    return float(np.sqrt(squares * len(rows) / total / (len(rows) - n_groups)))
