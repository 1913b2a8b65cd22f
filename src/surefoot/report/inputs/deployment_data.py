"""Rows of where the model will be used."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from surefoot.report.inputs.target import Target, has_value
from surefoot.report.models.candidate_models import CandidateModel
from surefoot.report.models.scoring import Outcome
from surefoot.selection.table import take_rows


@dataclass(frozen=True)
class DeploymentData:
    """Deployment data: as the audit reads it, as it came, and its targets if they are known.

    Attributes
    ----------
    where : str
        What it is called.
    frame, raw : tables
        As the audit reads it, and as it came.
    truth : array of objects or None
        Targets; missing where they are not known.
    groups : array or None
        Groups of the rows, named as those of the training data.
    units : array or None
        What was drawn when a row was drawn, for intervals: groups, or runs of time. None: the row.
    """

    where: str
    frame: Any
    raw: Any
    truth: np.ndarray | None = None
    groups: np.ndarray | None = None
    units: np.ndarray | None = None

    @cached_property
    def known(self) -> np.ndarray:
        """Numbers of the rows whose target is known."""
        return np.empty(0, dtype=np.int64) if self.truth is None else np.flatnonzero(has_value(self.truth))

    def units_of(self, rows: np.ndarray) -> np.ndarray | None:
        return None if self.units is None else self.units[rows]

    def outcome(self, candidate: CandidateModel, model: Any, target: Target) -> Outcome:
        """What a fitted model makes of the rows whose target is known."""
        assert self.truth is not None
        X = take_rows(self.raw, self.known) if candidate.raw else self.frame.iloc[self.known]
        truth = self.truth[self.known]
        if not target.is_classes:
            truth = truth.astype(np.float64)
        predicted = candidate.predict_table(model, X, target)
        outcome = Outcome.of_truth(target, predicted, truth, self.units_of(self.known))
        if outcome.errors is None and predicted.probabilities is not None:  # several classes: those of the predicted
            outcome = replace(outcome, errors=predicted.probabilities.max(axis=1) - ~outcome.losses.astype(bool))
        return outcome

    def sample(self, max_rows: int, seed: int) -> np.ndarray:
        """Numbers of at most so many rows, drawn at random, in order."""
        n_rows = len(self.frame)
        return np.arange(n_rows) if n_rows <= max_rows else sample_of(np.arange(n_rows), max_rows, seed)


def sample_of(rows: np.ndarray, max_rows: int, seed: int) -> np.ndarray:
    """At most so many rows, drawn at random, in order."""
    if len(rows) <= max_rows:
        return rows
    return np.sort(np.random.default_rng(seed).permutation(rows)[:max_rows])
