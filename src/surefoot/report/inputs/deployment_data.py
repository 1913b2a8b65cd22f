"""Deployment data: rows from where the model will be used."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot._formatting import counted
from surefoot.report.inputs.deployment_chunks import Chunk
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.inputs.target import Target, as_objects, has_value
from surefoot.report.models.cross_fitting import CandidateModel
from surefoot.report.models.scoring import Outcome
from surefoot.selection.table import take_rows
from surefoot.shift.density_ratio import DensityRatio

MAX_WEIGHTED_ROWS = 10_000  # of either table
MIN_ROWS = 2  # the ratio of densities is learned with one of them held out


@dataclass(frozen=True)
class DeploymentData:
    """Deployment data as the audit reads it and as it was passed, with its targets if they are known.

    Attributes
    ----------
    where : str
        Its name on the page.
    frame, raw : tables
        As the audit reads it, and as it was passed.
    truth : array of objects or None
        Targets; missing where they are not known.
    groups : array or None
        Groups of the rows, named as those of the training data.
    units : array or None
        What was drawn when a row was drawn, for intervals: groups, or runs of rows in time. None: the row.
    chunks : tuple of Chunk
        Its parts in the order of time; empty if there is no order, or if there are too few rows.
    are_tables : bool
        Whether the parts are tables that were passed.
    time : array or None
        Time of the rows, as numbers.
    weights : array or None
        How much each row counts; None: every row the same.
    """

    where: str
    frame: Any
    raw: Any
    truth: np.ndarray | None = None
    groups: np.ndarray | None = None
    units: np.ndarray | None = None
    chunks: tuple[Chunk, ...] = ()
    are_tables: bool = False
    time: np.ndarray | None = None
    weights: np.ndarray | None = None

    @classmethod
    def of_new_rows(
        cls, table: AuditTable, X_new: Any, y_new: Any, groups: np.ndarray | None, weights: np.ndarray | None = None
    ) -> "DeploymentData":
        """New rows that the user passed."""
        frame = table.like(X_new, "X_new")
        if len(frame) < MIN_ROWS:
            message = f"X_new has {counted(len(frame), 'row')}: pass at least {MIN_ROWS}, or leave it out."
            raise DataError(message, argument="X_new")
        raw = X_new
        if hasattr(table.raw, "columns"):  # columns that no model reads may be missing
            raw = X_new[[name for name in table.raw.columns if name in X_new.columns]]
        truth = None if y_new is None else _truth_of(y_new, table.target, len(frame))
        return cls("the new rows", frame, raw, truth, groups=groups, units=groups, weights=weights)

    @classmethod
    def of_last_rows(cls, table: AuditTable, splits: Splits, groups: np.ndarray | None, where: str) -> "DeploymentData":
        """The last rows of the table by time."""
        later = splits.later
        assert splits.units is not None
        frame, raw = table.frame.iloc[later].reset_index(drop=True), take_rows(table.raw, later)
        later_groups = None if groups is None else groups[later]
        truth = table.target.labels[later].astype(object)
        units, weights = splits.units[later], table.weights_of(later)
        return cls(where, frame, raw, truth, groups=later_groups, units=units, weights=weights)

    @cached_property
    def known(self) -> np.ndarray:
        """Numbers of the rows with a known target."""
        return np.empty(0, dtype=np.int64) if self.truth is None else np.flatnonzero(has_value(self.truth))

    def units_of(self, rows: np.ndarray) -> np.ndarray | None:
        return None if self.units is None else self.units[rows]

    def weights_of(self, rows: np.ndarray) -> np.ndarray | None:
        return None if self.weights is None else self.weights[rows]

    def of_rows(self, rows: np.ndarray) -> "DeploymentData":
        """Some of the rows, without their order in time and without weights."""
        arrays = {"truth": self.truth, "groups": self.groups, "units": self.units}
        chosen: dict[str, Any] = {name: None if each is None else each[rows] for name, each in arrays.items()}
        frame = self.frame.iloc[rows].reset_index(drop=True)
        return DeploymentData(self.where, frame, take_rows(self.raw, rows), **chosen)

    def outcome(self, candidate: CandidateModel, model: Any, target: Target) -> Outcome:
        """The outcome of a fitted model on the rows with a known target."""
        assert self.truth is not None
        X = take_rows(self.raw, self.known) if candidate.raw else self.frame.iloc[self.known]
        truth = self.truth[self.known]
        if not target.is_classes:
            truth = truth.astype(np.float64)
        predicted = candidate.predict_table(model, X, target)
        units, weights = self.units_of(self.known), self.weights_of(self.known)
        outcome = Outcome.of_truth(target, predicted, truth, units, weights)
        if outcome.errors is None and predicted.probabilities is not None:  # several classes: of the predicted one
            outcome = replace(outcome, errors=predicted.probabilities.max(axis=1) - ~outcome.losses.astype(bool))
        return outcome

    def weighted_rows(self, table: AuditTable, splits: Splits, seed: int, n_jobs: int | None = None) -> "WeightedRows":
        """The weights that make held-out training rows look like these rows; estimated once."""
        if seed not in self._weighted:
            places = sample_of(np.arange(len(splits.held_out)), MAX_WEIGHTED_ROWS, seed)
            chosen = self.sample(MAX_WEIGHTED_ROWS, seed)
            training, target = table.frame.iloc[splits.held_out[places]], self.frame.iloc[chosen]
            units = None if splits.held_out_units is None else splits.held_out_units[places]
            ratio = DensityRatio.fit(training, target, units, self.units_of(chosen), seed, n_jobs)
            self._weighted[seed] = WeightedRows(places, chosen, ratio)
        return self._weighted[seed]

    @cached_property
    def _weighted(self) -> "dict[int, WeightedRows]":
        return {}

    def sample(self, max_rows: int, seed: int) -> np.ndarray:
        """Numbers of at most ``max_rows`` rows, drawn at random, in order."""
        return sample_of(np.arange(len(self.frame)), max_rows, seed)


@dataclass(frozen=True)
class WeightedRows:
    """Held-out rows (their places among these), deployment rows, and the density ratio between both."""

    places: np.ndarray
    deployment_rows: np.ndarray
    ratio: DensityRatio


def _truth_of(y_new: Any, target: Target, n_new: int) -> np.ndarray | None:
    """The target of the new rows; None if it is not known for any of them."""
    truth = as_objects(y_new)
    if len(truth) != n_new:
        raise DataError(f"y_new has {len(truth)} rows, but X_new has {n_new}.", argument="y_new")
    known = truth[has_value(truth)]
    if not target.is_classes and not all(isinstance(value, int | float | np.number) for value in known):
        raise DataError("y_new has values that are not numbers, but y is a number.", argument="y_new")
    if target.is_classes and len(known) and not target.has_any(known):
        example = str(target.classes[0])
        message = f"y_new has none of the classes of y, such as {example!r}: spell the classes the same in both."
        raise DataError(message, argument="y_new")
    return truth if len(known) else None


def sample_of(rows: np.ndarray, max_rows: int, seed: int) -> np.ndarray:
    """At most ``max_rows`` of the rows, drawn at random, in order."""
    if len(rows) <= max_rows:
        return rows
    return np.sort(np.random.default_rng(seed).permutation(rows)[:max_rows])
