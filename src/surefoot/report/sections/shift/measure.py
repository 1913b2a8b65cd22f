"""Question 4: does it hold where it will be used?"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.report.inputs.column_readers import CATEGORY
from surefoot.report.inputs.deployment_data import DeploymentData
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.inputs.target import Target, has_value
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.sections.shift.deployment_loss import Tolerances, deployment_losses, loss_interval, measure_there
from surefoot.report.sections.shift.deployment_models import deployed, deployed_models, scores_there
from surefoot.report.sections.shift.expected_loss import expected_error
from surefoot.report.sections.shift.findings import NewRows, ShiftedColumn, ShiftFindings
from surefoot.report.sections.shift.unusual_rows import rows_little_known, rows_outside
from surefoot.report.statistics.estimates import Estimate
from surefoot.report.time_budget import TimeBudget
from surefoot.shift import ColumnShift, ShiftReport, shift_report
from surefoot.shift.column_shift import compare_columns
from surefoot.shift.shift_report_tables import ComparedTables


def no_deployment_data() -> ShiftFindings:
    """It is not known where the model will be used."""
    return ShiftFindings(
        where=None,
        verdict="",
        auc=None,
        p_value=None,
        columns=(),
        models=(),
        loss_here=None,
        loss_there=None,
        weighted=None,
        measure="",
    )


@dataclass(frozen=True)
class ShiftInputs:
    """What question 4 is measured from.

    Attributes
    ----------
    audited, constant : CrossFitted
        The model that the audit is about, and the constant.
    ensemble : CrossFitted or None
        The one whose knowledge uncertainty shows unusual rows.
    groups : array of shape (n_rows of the table,) or None
        With groups of the deployment rows, tests permute whole groups.
    tolerance : float
        By what fraction the loss may rise.
    """

    table: AuditTable
    splits: Splits
    deployment: DeploymentData
    audited: CrossFitted
    constant: CrossFitted
    ensemble: CrossFitted | None
    groups: np.ndarray | None
    tolerance: float
    seed: int
    n_jobs: int | None
    budget: TimeBudget


def measure_shift(given: ShiftInputs) -> ShiftFindings:
    """All that is measured for question 4."""
    table, splits, deployment, audited, budget = (
        given.table,
        given.splits,
        given.deployment,
        given.audited,
        given.budget,
    )
    budget.step(0.9, "question 4: columns of training and deployment data")
    report = _report(table, splits, deployment, given.groups, given.seed, given.n_jobs)
    auc = None if np.isnan(report.auc) else Estimate(report.auc, *report.auc_interval)
    outside = rows_outside(table, splits, deployment, given.groups, given.seed)
    new: NewRows | None = None
    if given.ensemble is not None and budget.has_time_for("strange rows of the deployment data", 0.97):
        new = rows_little_known(table, splits, deployment, given.ensemble, given.groups, given.seed)
    found: dict[str, Any] = {
        "where": deployment.where,
        "verdict": report.verdict,
        "auc": auc,
        "p_value": None if np.isnan(report.p_value) else float(report.p_value),
        "columns": tuple(_column(column) for column in report.columns),
        "n_rows": len(deployment.frame),
        "tolerance": given.tolerance,
        "outside": outside,
        "new": new,
        "by_groups": _are_grouped(given.groups, deployment),
    }
    if len(deployment.known):
        budget.step(0.95, "question 4: models on the deployment data")
        return ShiftFindings(**found, **_with_targets(given), weighted=None)
    measure = measure_there(table.target, audited.outcome, audited.outcome)
    weighted = None
    if budget.has_time_for("expected error on the deployment data", 0.97):
        budget.step(0.95, "question 4: expected error on the deployment data")
        weighted = expected_error(table, splits, deployment, audited, measure, auc, outside, given.seed, given.n_jobs)
    loss_here = loss_interval(audited.outcome, measure)
    return ShiftFindings(**found, models=(), loss_here=loss_here, loss_there=None, weighted=weighted, measure=measure)


def _with_targets(given: ShiftInputs) -> dict[str, Any]:
    """What targets of deployment rows show."""
    table, splits, deployment, audited, groups = (
        given.table,
        given.splits,
        given.deployment,
        given.audited,
        given.groups,
    )
    own, base = deployed(audited, deployment, audited=True), deployed(given.constant, deployment)
    models = [own] if audited.name == given.constant.name else [base, own]
    models = deployed_models(table, splits, deployment, models, given.seed, given.n_jobs, given.budget)
    measure = measure_there(table.target, audited.outcome, own.outcome)
    tolerances = Tolerances.of(table.target, splits.rows, given.tolerance)
    seen = None
    if groups is not None and deployment.groups is not None:
        seen = np.isin(deployment.groups[deployment.known].astype(str), groups[splits.rows].astype(str))
    losses = deployment_losses(table.target, own.outcome, audited.outcome, seen, tolerances, measure)
    assert deployment.truth is not None
    return {
        "models": scores_there(models, table.target.is_classes),
        "loss_here": loss_interval(audited.outcome, measure),
        "loss_there": losses[0].loss,
        "measure": measure,
        "target": target_there(table.target, splits.rows, deployment.truth),
        "n_known": len(deployment.known),
        "losses": losses,
        "bias_tolerance": tolerances.bias,
    }


def _are_grouped(groups: np.ndarray | None, deployment: DeploymentData) -> bool:
    return groups is not None and deployment.groups is not None


def _report(
    table: AuditTable,
    splits: Splits,
    deployment: DeploymentData,
    groups: np.ndarray | None,
    seed: int,
    n_jobs: int | None,
) -> ShiftReport:
    """The columns of both; of groups where both have them."""
    of_groups: dict[str, Any] = {}
    if groups is not None and deployment.groups is not None:
        of_groups = {"groups": groups[splits.rows], "groups_target": deployment.groups}
    return shift_report(table.frame.iloc[splits.rows], deployment.frame, **of_groups, random_state=seed, n_jobs=n_jobs)


def target_there(target: Target, rows: np.ndarray, truth: np.ndarray) -> ShiftedColumn:
    """How the target itself differs between training rows and deployment data."""
    import pandas as pd

    known = truth[has_value(truth)]
    if target.is_classes:
        tables = [pd.Series(pd.Categorical(target.text_of(labels))) for labels in (target.labels[rows], known)]
        fractions = pd.concat([table.value_counts(normalize=True) for table in tables], axis=1).fillna(0.0)
        most = (fractions.iloc[:, 1] - fractions.iloc[:, 0]).abs().idxmax()
        before, after = fractions.loc[most]
        text = f"{most}: {before:.1%} of the training rows, {after:.1%} of the deployment rows"
        unseen = fractions[fractions.iloc[:, 0] == 0]
        if len(unseen):
            text += f"; {', '.join(unseen.index[:3])}, not in the training data: {unseen.iloc[:, 1].sum():.1%}"
    else:
        tables = [pd.Series(values.astype(np.float64)) for values in (target.y[rows], known)]
        means, spreads = ([f"{getattr(table, what)():.4g}" for table in tables] for what in ("mean", "std"))
        text = f"mean {means[0]} in the training data, {means[1]} in the deployment data; "
        text += f"standard deviation {spreads[0]} and {spreads[1]}"
    one, other = (table.to_frame(target.name) for table in tables)
    (column,) = compare_columns(ComparedTables.read(one, other, "from_dtype"))
    return ShiftedColumn(target.name, column.distance, column.p_value, column.outcome, text, column.interval)


def _column(column: ColumnShift) -> ShiftedColumn:
    return ShiftedColumn(
        column.name, column.distance, column.p_value, column.outcome, _difference(column), column.interval
    )


def _difference(column: ColumnShift) -> str:
    """What differs besides the distribution, in a few words."""
    parts = []
    if column.missing or column.missing_target:
        parts.append(f"missing: {column.missing:.1%} of the training rows, {column.missing_target:.1%} of the others")
    if column.unseen:
        what = "a category not in the training data" if column.kind == CATEGORY else "a value outside its range"
        parts.append(f"{column.unseen:.1%} have {what}")
    return "; ".join(parts)
