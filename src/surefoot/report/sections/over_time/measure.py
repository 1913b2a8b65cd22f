"""The numbers of the deployment data over time."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from surefoot.report.inputs.deployment_data import DeploymentData
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.models.scoring import ERROR_RATE, Outcome, loss_of
from surefoot.report.sections.over_time.chunk_fits import ChunkFit, ChunkFits
from surefoot.report.sections.over_time.chunk_units import ChunkUnits
from surefoot.report.sections.over_time.findings import LEVEL, ChunkFindings, OverTimeFindings, UnusualFraction
from surefoot.report.sections.over_time.unusual import chunks_outside, uncertain_chunks
from surefoot.report.sections.shift.deployment_loss import measure_of_rise
from surefoot.report.sections.shift.deployment_models import DeployedModel
from surefoot.report.statistics import Estimate, is_withheld, unpaired_difference
from surefoot.report.statistics.rise_test import rise_p_value
from surefoot.report.time_budget import TimeBudget
from surefoot.shift.column_shift import holm

MIN_KNOWN = 5  # rows of a chunk with a known target, for a measured loss
STEP = "the deployment data over time"


@dataclass(frozen=True)
class OverTimeInputs:
    """The data and the models of the section.

    Attributes
    ----------
    audited : CrossFitted
        The model that the audit is about.
    deployed : DeployedModel or None
        The same model on the deployment rows with a known target, in the order of ``deployment.known``.
    ensemble : CrossFitted or None
        The model whose knowledge uncertainty shows unusual rows.
    groups, time : arrays of shape (n_rows of the table,) or None
    tolerance : float
        By what fraction the loss may rise.
    """

    table: AuditTable
    splits: Splits
    deployment: DeploymentData
    audited: CrossFitted
    deployed: DeployedModel | None
    ensemble: CrossFitted | None
    groups: np.ndarray | None
    time: np.ndarray | None
    tolerance: float
    seed: int
    n_jobs: int | None
    budget: TimeBudget

    @property
    def measure(self) -> str:
        """The loss, as in question 4."""
        outcome = self.audited.outcome
        return measure_of_rise(self.table.target, outcome, outcome if self.deployed is None else self.deployed.outcome)


def measure_over_time(given: OverTimeInputs) -> OverTimeFindings:
    """All numbers of all chunks; the tests are corrected together by Holm's method."""
    splits, deployment, seed = given.splits, given.deployment, given.seed
    units = ChunkUnits.of(splits, deployment, given.time)
    outside = chunks_outside(given.table, splits, deployment, given.groups, units, seed)
    uncertain: tuple[UnusualFraction, ...] = ()
    if given.ensemble is not None:
        search = partial(uncertain_chunks, splits, deployment, given.ensemble, units, seed)
        uncertain = given.budget.within(f"{STEP}: uncertain rows", 0.97, search) or ()
    losses = [_measured(given, units, k) for k in range(len(deployment.chunks))]
    fits = _fits(given, units, outside)
    chunks = [
        _chunk(given, k, losses[k], fits[k], uncertain[k] if uncertain else None, outside[k])
        for k in range(len(deployment.chunks))
    ]
    chunks, n_tests = corrected(chunks)
    compared = [_is_equal(each) for each in chunks]
    return OverTimeFindings(
        by="tables" if deployment.are_tables else "time",
        counted=units.counted,
        measure=given.measure,
        loss_here=loss_of(given.audited.outcome, given.measure),
        tolerance=given.tolerance,
        chunks=tuple(chunks),
        n_tests=n_tests,
        n_compared=sum(each is not None for each in compared),
        n_agreeing=sum(each is True for each in compared),
    )


def _measured(given: OverTimeInputs, units: ChunkUnits, k: int) -> tuple[int, Estimate | None, float]:
    """The rows of a chunk with a known target, their loss, and the p-value of its rise."""
    known, rows = given.deployment.known, given.deployment.chunks[k].rows
    places = np.flatnonzero(np.isin(known, rows))
    if given.deployed is None or len(places) < MIN_KNOWN:
        return len(places), None, float("nan")
    here, there = given.audited.outcome, given.deployed.outcome[places]
    values, new = _row_losses(here, given.measure), _row_losses(there, given.measure)
    pair = units.pair(values, np.arange(len(values)), known[places])
    loss = loss_of(replace(there, units=pair[1]), given.measure)
    return len(places), loss, rise_p_value(values, new, *pair, given.seed)


def _row_losses(outcome: Outcome, measure: str) -> np.ndarray:
    """The loss of each row whose mean, or its root, is the measure."""
    return np.asarray(outcome.losses, dtype=np.float64) if measure == ERROR_RATE else outcome.proper


def _fits(given: OverTimeInputs, units: ChunkUnits, outside: tuple[UnusualFraction, ...]) -> list[ChunkFit | None]:
    """The fits of each chunk, as far as there is enough time."""
    deployment, budget, step = given.deployment, given.budget, f"{STEP}: weights of chunks"
    none: list[ChunkFit | None] = [None] * len(deployment.chunks)
    if not budget.has_time_for(step, 0.97):
        return none
    shared: tuple[Any, ...] = (deployment.frame, deployment.chunks, units, given.seed, given.n_jobs)
    fits = ChunkFits(given.table, given.splits.held_out, given.audited.outcome, *shared)
    started, parts = budget.seconds, list(none)
    for k, unusual in enumerate(outside):
        expected = (budget.seconds - started) / k if k else 0.0
        if not budget.has_time_for(step, 0.98, expected):
            break
        budget.step(0.96, f"{STEP}: {deployment.chunks[k].name}")
        fraction = unusual.fraction.value
        fit = partial(fits.fit, k, given.measure, fraction - unusual.expected, fraction)
        parts[k] = budget.within(step, 0.98, fit)
    return parts


def _chunk(
    given: OverTimeInputs,
    k: int,
    loss: tuple[int, Estimate | None, float],
    fit: ChunkFit | None,
    uncertain: UnusualFraction | None,
    outside: UnusualFraction,
) -> ChunkFindings:
    """One chunk, with p-values that are not corrected yet."""
    n_known, measured, loss_p_value = loss
    if measured is None and fit is not None:
        loss_p_value = fit.loss_p_value
    return ChunkFindings(
        name=given.deployment.chunks[k].name,
        n_rows=len(given.deployment.chunks[k].rows),
        n_known=n_known,
        measured=measured,
        expected=None if fit is None else fit.expected,
        loss_p_value=loss_p_value,
        uncertain=uncertain,
        outside=outside,
        auc=None if fit is None else fit.auc,
        auc_p_value=float("nan") if fit is None else fit.auc_p_value,
        column=None if fit is None else fit.column,
        distance=float("nan") if fit is None else fit.distance,
        worse=False,
        stranger=False,
        shifted=False,
    )


def corrected(chunks: list[ChunkFindings]) -> tuple[list[ChunkFindings], int]:
    """The chunks with p-values corrected for all tests, and what they show; also the number of tests."""
    columns = [
        [each.loss_p_value for each in chunks],
        [np.nan if each.uncertain is None else each.uncertain.p_value for each in chunks],
        [each.outside.p_value for each in chunks],
        [each.auc_p_value for each in chunks],
    ]
    p_values = np.array(columns, dtype=np.float64)
    loss, uncertain, outside, auc = holm(p_values.ravel()).reshape(p_values.shape)
    return [
        replace(
            each,
            loss_p_value=float(loss[k]),
            uncertain=None if each.uncertain is None else replace(each.uncertain, p_value=float(uncertain[k])),
            outside=replace(each.outside, p_value=float(outside[k])),
            auc_p_value=float(auc[k]),
            worse=bool(loss[k] < LEVEL),
            stranger=bool(np.nanmin([uncertain[k], outside[k], 1.0]) < LEVEL),
            shifted=bool(auc[k] < LEVEL),
        )
        for k, each in enumerate(chunks)
    ], int(np.isfinite(p_values).sum())


def _is_equal(chunk: ChunkFindings) -> bool | None:
    """Whether the measured loss may be the expected one; None if one of them has no interval."""
    expected = None if chunk.expected is None else chunk.expected.loss
    if expected is None or chunk.measured is None or is_withheld(chunk.measured):
        return None
    difference = unpaired_difference(chunk.measured, expected)
    return bool(difference.low <= 0 <= difference.high)
