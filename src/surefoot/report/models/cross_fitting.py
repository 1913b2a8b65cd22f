"""Candidate models, each fitted once for each fold, and the choice of the model that an audit is about.

Every row is predicted by a model that was not trained on it.
"""

import time
import warnings
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from math import inf
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from surefoot._exceptions import DataError
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.inputs.target import Target
from surefoot.report.models.predictions import ModelPredictions, predictions_of
from surefoot.report.models.scoring import RATES, Outcome, excess_of, loss_of
from surefoot.report.statistics import Estimate, cross_fitted
from surefoot.report.time_budget import COMPARISON, MIN_SECONDS, TimeBudget
from surefoot.selection.table import take_rows

CONSTANT, ENSEMBLE = "constant", "ensemble"
YOURS, YOUR_PREDICTIONS = "your model", "your predictions"
COMPARISON_FRACTION = 0.6  # of a time limit, that the comparison of models may take
TRIAL_ROWS = 500  # rows of a trial fit, which predicts how long a fit takes


@dataclass(frozen=True)
class CandidateModel:
    """A model by name.

    ``raw`` models are a user's own: they get the table as it was passed. A ``prefit`` one is used as it is, and never
    fitted.
    """

    name: str
    description: str
    model: Any
    raw: bool = False
    prefit: bool = False

    def fit(self, table: AuditTable, rows: np.ndarray) -> Any:
        """A copy, fitted to some rows; its warnings are ignored, as the page shows how good it is."""
        if self.prefit:
            return self.model
        model = new_copy(self.model)
        weights = weight_argument(model, table.weights_of(rows))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self.raw:
                return model.fit(take_rows(table.raw, rows), table.target.original[rows], **weights)
            return model.fit(table.frame.iloc[rows], table.target.labels[rows], **weights)

    def predict(self, model: Any, table: AuditTable, rows: np.ndarray) -> ModelPredictions:
        """Predictions of a fitted model for some rows of the table."""
        truth = None if table.target.is_classes else table.target.y[rows]
        X = take_rows(table.raw, rows) if self.raw else table.frame.iloc[rows]
        return self.predict_table(model, X, table.target, truth)

    def predict_table(self, model: Any, X: Any, target: Target, truth: np.ndarray | None = None) -> ModelPredictions:
        """Predictions of a fitted model for a table that was read for it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return predictions_of(model, X, target, truth, self.name if self.raw else None)


def weight_argument(model: Any, weights: np.ndarray | None) -> dict[str, np.ndarray]:
    """The argument of ``fit`` for the weights of the rows; that of the last step of a pipeline."""
    if weights is None:
        return {}
    prefix = f"{model.steps[-1][0]}__" if isinstance(model, Pipeline) else ""
    return {f"{prefix}sample_weight": weights}


def takes_weights(model: Any) -> bool:
    """Whether the method ``fit`` of a model, or of the last step of a pipeline, takes weights of rows."""
    return has_fit_parameter(model.steps[-1][1] if isinstance(model, Pipeline) else model, "sample_weight")


def new_copy(model: Any) -> Any:
    """A clone; of a model that scikit-learn cannot clone, a deep copy, whose ``fit`` starts anew.

    CatBoost's models with ``cat_features`` cannot be cloned, because their constructor changes its parameters.
    """
    try:
        return clone(model)
    except (TypeError, RuntimeError):
        return deepcopy(model)


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """A candidate model and its predictions for the held-out rows, each by a fit without that row.

    Attributes
    ----------
    candidate : CandidateModel
    table : AuditTable
    splits : Splits
    fold_models : tuple
        One fitted model for each of ``splits.folds``.
    predictions : ModelPredictions
        For ``splits.held_out``, in its order.
    seconds : float
        Time of all fits.
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
        """The losses of the held-out rows."""
        if self.averaged is not None:
            return self.averaged
        rows, table = self.splits.held_out, self.table
        truth, weights = table.target.labels[rows], table.weights_of(rows)
        return Outcome.of_truth(table.target, self.predictions, truth, self.splits.held_out_units, weights)

    def loss(self, measure: str) -> Estimate:
        """The loss on the held-out rows; the interval allows for folds whose models share most of their rows."""
        maximum = 1.0 if measure in RATES else inf
        return cross_fitted(loss_of(self.outcome, measure), len(self.splits.held_out), 0.0, maximum)


@dataclass(frozen=True, eq=False)
class Comparison:
    """All candidates on one draw of the folds, the constant first, and the model that the audit is about.

    That model is one of the candidates, or the user's predictions.
    """

    fitted: list[CrossFitted]
    audited: CrossFitted


def named(fitted: Sequence[CrossFitted], name: str) -> CrossFitted | None:
    """The candidate of that name, if it was fitted."""
    return next((each for each in fitted if each.name == name), None)


def cross_fit(
    table: AuditTable, splits: Splits, candidates: Sequence[CandidateModel], budget: TimeBudget
) -> tuple[list[CrossFitted], list[str]]:
    """Fit every candidate once for each fold; also return a remark on each candidate that failed.

    A candidate that fails, or for which there is not enough time, is left out by name.
    """
    fitted, remarks = [], []
    for i, candidate in enumerate(candidates):
        done = 0.05 + 0.45 * i / len(candidates)
        required = candidate.raw or candidate.name == CONSTANT
        try:
            one = _cross_fit_one(table, splits, candidate, budget, required, done)
        except Exception as error:  # a model may raise anything
            if candidate.raw:
                message = f"model failed on the training rows: {type(error).__name__}: {error}"
                raise DataError(message, argument="model") from error
            if candidate.name == CONSTANT:
                raise
            reason = " ".join(str(error).split())[:120]
            remarks.append(f"{candidate.name} could not be fitted ({reason}): left out.")
            budget.leave_out(f"{COMPARISON}{candidate.name}")
            continue
        if one is not None:
            fitted.append(one)
    return fitted, remarks


def _cross_fit_one(
    table: AuditTable, splits: Splits, candidate: CandidateModel, budget: TimeBudget, required: bool, done: float
) -> CrossFitted | None:
    """One candidate; None if a trial fit or the folds so far show that there is not enough time for it."""
    step, end = f"{COMPARISON}{candidate.name}", 1.0 if required else COMPARISON_FRACTION
    expected: float | None = 0.0
    if not required and budget.time_limit is not None:
        expected = budget.within(step, end, partial(_expected_seconds, table, splits, candidate))
    started, parts, models = time.perf_counter(), [], []
    for k, (train, test) in enumerate(splits.folds):
        seconds = time.perf_counter() - started
        expected = seconds / k if k else expected
        if expected is None or not (required or budget.has_time_for(step, end, expected)):
            return None
        budget.step(done, f"question 1: {candidate.name}, fold {k + 1} of {len(splits.folds)}")
        fit = partial(fit_and_predict, table, candidate, train, test)
        at_least = MIN_SECONDS - seconds if required else 0.0
        one = fit() if candidate.name == CONSTANT else budget.within(step, end, fit, at_least)
        if one is None:
            return None
        models.append(one[0])
        parts.append(one[1])
    order = np.argsort(np.concatenate([test for _, test in splits.folds]), kind="stable")
    predictions = ModelPredictions.joined(parts)[order]
    return CrossFitted(candidate, table, splits, tuple(models), predictions, time.perf_counter() - started)


def fit_and_predict(
    table: AuditTable, candidate: CandidateModel, train: np.ndarray, test: np.ndarray
) -> tuple[Any, ModelPredictions]:
    """A model of some rows, and its predictions of others."""
    model = candidate.fit(table, train)
    return model, candidate.predict(model, table, test)


def _expected_seconds(table: AuditTable, splits: Splits, candidate: CandidateModel) -> float:
    """About how long one fit takes, from a fit to some of the rows, so that no long fit exceeds the time limit."""
    train = splits.folds[0][0]
    if len(train) < 2 * TRIAL_ROWS:
        return 0.0
    started = time.perf_counter()
    candidate.fit(table, np.sort(np.random.default_rng(0).permutation(train)[:TRIAL_ROWS]))
    return (time.perf_counter() - started) * len(train) / TRIAL_ROWS


def choose(fitted: Sequence[CrossFitted], rows: np.ndarray | slice = slice(None)) -> CrossFitted:
    """The candidate with the smallest log-loss or squared error on some of the held-out rows; see ``choose_name``."""
    chosen = choose_name({each.name: each.outcome[rows] for each in fitted})[0]
    return next(each for each in fitted if each.name == chosen)


def choose_name(outcomes: dict[str, Outcome]) -> tuple[str, Estimate | None]:
    """The candidate with the smallest loss; also by what fraction the ensemble's loss is above it, if it is another.

    The ensemble is chosen unless it is clearly behind, because it predicts its uncertainty; among equal candidates the
    first, which is the simpler one.
    """
    best = min(outcomes, key=lambda name: comparable_loss(outcomes[name]))
    if ENSEMBLE not in outcomes or best in (ENSEMBLE, CONSTANT):
        return best, None
    behind = excess_of(outcomes[ENSEMBLE], outcomes[best])
    return best if behind.low > 0 else ENSEMBLE, behind


def comparable_loss(outcome: Outcome) -> float:
    """Mean loss; infinite for classifiers without probabilities, as errors cannot be compared with log-losses."""
    labels_only = outcome.log_losses is None and not outcome.is_number
    return np.inf if labels_only else outcome.mean_proper


def mean_outcomes(draws: Sequence[Sequence[CrossFitted]]) -> dict[str, Outcome]:
    """The outcome of each candidate, with its mean losses over the draws of the folds in which it was fitted."""
    outcomes: dict[str, list[Outcome]] = {each.name: [] for each in draws[0]}
    for each in chain.from_iterable(draws):
        outcomes[each.name].append(each.outcome)
    return {name: Outcome.mean_of(of_model) for name, of_model in outcomes.items()}


def outcome_of_choice(fitted: Sequence[CrossFitted], splits: Splits) -> Outcome:
    """The outcome of choosing a model: for each fold, that of the candidate chosen on the other folds.

    The loss of the best of several models, on the rows that it was chosen on, is too optimistic.
    """
    parts, order = [], []
    for _, test in splits.folds:
        inside = np.isin(splits.held_out, test)
        others = ~inside if not inside.all() else slice(None)  # by time, there may be a single fold
        parts.append(choose(fitted, others).outcome[inside])
        order.append(np.flatnonzero(inside))
    back = np.argsort(np.concatenate(order), kind="stable")
    return Outcome.joined(parts)[back]


def row_losses(fitted: Sequence[CrossFitted], audited: CrossFitted) -> tuple[tuple[str, ...], np.ndarray]:
    """Names of models, and the loss of each of them on each held-out row: (n_held_out, n_models).

    The loss is the log-loss or the squared error; models without probabilities are left out. If the audited model is
    such a model, the loss is the error for all models.
    """
    models = [*fitted, *([] if any(each is audited for each in fitted) else [audited])]
    if audited.table.target.is_classes and audited.outcome.log_losses is None:
        return tuple(each.name for each in models), np.column_stack([each.outcome.losses for each in models]) * 1.0
    if audited.table.target.is_classes:
        models = [each for each in models if each.outcome.log_losses is not None]
    return tuple(each.name for each in models), np.column_stack([each.outcome.proper for each in models])
