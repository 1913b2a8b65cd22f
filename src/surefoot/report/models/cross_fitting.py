"""Every row predicted by a model that has not seen it: a candidate model is fitted once for each fold."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.candidate_models import CONSTANT, CandidateModel
from surefoot.report.models.predictions import ModelPredictions
from surefoot.report.models.scoring import RATES, Outcome, loss_of
from surefoot.report.statistics import cross_fitted
from surefoot.report.statistics.estimates import Estimate
from surefoot.report.time_budget import COMPARISON, TimeBudget

SHARE_OF_TIME = 0.6  # of a time limit, that comparing models may take
TRIAL_ROWS = 500  # that a candidate is fitted to, to see how long a fit takes


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """A candidate model and what it predicts for the judged rows, each by a fit that has not seen it.

    Attributes
    ----------
    candidate : CandidateModel
    table : AuditTable
    splits : Splits
    fold_models : tuple
        One fitted model for each of ``splits.folds``.
    predictions : ModelPredictions
        For ``splits.judged``, in its order.
    seconds : float
        Of all fits.
    averaged : Outcome or None
        The outcome, if it is a mean over several draws of the folds.
    """

    candidate: CandidateModel
    table: AuditTable
    splits: Splits
    fold_models: tuple[Any, ...]
    predictions: ModelPredictions
    seconds: float
    averaged: Outcome | None = None

    @property
    def name(self) -> str:
        return self.candidate.name

    @cached_property
    def outcome(self) -> Outcome:
        """The losses of the judged rows."""
        if self.averaged is not None:
            return self.averaged
        return Outcome.of(self.table.target, self.predictions, self.splits.judged, self.splits.judged_units)

    def loss(self, measure: str) -> Estimate:
        """Its loss on the judged rows; the interval allows for folds whose models share most of their rows."""
        most = 1.0 if measure in RATES else inf
        return cross_fitted(loss_of(self.outcome, measure), len(self.splits.judged), 0.0, most)


@dataclass(frozen=True, eq=False)
class Comparison:
    """All candidates on one draw of the folds, the constant first, and the model that the audit is about.

    That model is one of the candidates, or the user's predictions.
    """

    fitted: list[CrossFitted]
    audited: CrossFitted


def named(fitted: Sequence[CrossFitted], name: str) -> CrossFitted | None:
    """The candidate of that name, if it took part."""
    return next((each for each in fitted if each.name == name), None)


def cross_fit(
    table: AuditTable, splits: Splits, candidates: Sequence[CandidateModel], budget: TimeBudget
) -> tuple[list[CrossFitted], list[str]]:
    """Fit every candidate once for each fold, and say which of them failed.

    One that fails, or that there is no time for, is left out by name.
    """
    fitted, remarks = [], []
    for i, candidate in enumerate(candidates):
        done = 0.05 + 0.45 * i / len(candidates)
        needed = candidate.raw or candidate.name == CONSTANT
        try:
            one = _cross_fit_one(table, splits, candidate, budget, needed, done)
        except Exception as error:  # whatever a model raises
            if candidate.raw:
                raise DataError(f"model failed on the training rows: {type(error).__name__}: {error}") from error
            if candidate.name == CONSTANT:
                raise
            reason = " ".join(str(error).split())[:120]
            remarks.append(f"{candidate.name} could not be fitted ({reason}): left out.")
            budget.leave_out(f"{COMPARISON}{candidate.name}")
            continue
        if one is not None:
            fitted.append(one)
    return fitted, remarks


def _expected_seconds(table: AuditTable, splits: Splits, candidate: CandidateModel) -> float:
    """About how long one fit takes, from a fit to a part of the rows: a time limit must not be passed by a long one."""
    train = splits.folds[0][0]
    if len(train) < 2 * TRIAL_ROWS:
        return 0.0
    begun = time.perf_counter()
    candidate.fit(table, np.sort(np.random.default_rng(0).permutation(train)[:TRIAL_ROWS]))
    return (time.perf_counter() - begun) * len(train) / TRIAL_ROWS


def _cross_fit_one(
    table: AuditTable, splits: Splits, candidate: CandidateModel, budget: TimeBudget, needed: bool, done: float
) -> CrossFitted | None:
    """One candidate; None if there is no time for it, which a fit to a part of the rows and every fold tell."""
    name = f"{COMPARISON}{candidate.name}"
    if not needed and not budget.has_time_for(name, SHARE_OF_TIME):
        return None
    expected = 0.0 if needed or budget.time_limit is None else _expected_seconds(table, splits, candidate)
    begun, parts, models = time.perf_counter(), [], []
    for k, (train, judge) in enumerate(splits.folds):
        expected = (time.perf_counter() - begun) / k if k else expected
        if not needed and not budget.has_time_for(name, SHARE_OF_TIME, expected):
            return None
        budget.step(done, f"question 1: {candidate.name}, fold {k + 1} of {len(splits.folds)}")
        model = candidate.fit(table, train)
        models.append(model)
        parts.append(candidate.predict(model, table, judge))
    order = np.argsort(np.concatenate([judge for _, judge in splits.folds]), kind="stable")
    predictions = ModelPredictions.joined(parts)[order]
    return CrossFitted(candidate, table, splits, tuple(models), predictions, time.perf_counter() - begun)
