"""The numbers of question 4: does it hold where it will be used?"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from surefoot.report.inputs.column_readers import CATEGORY
from surefoot.report.inputs.deployment_data import DeploymentData
from surefoot.report.inputs.row_weights import drawn_by_weight
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.inputs.target import Target, has_value
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.models.scoring import loss_of
from surefoot.report.sections.shift.deployment_loss import Tolerances, deployment_losses, measure_of_rise
from surefoot.report.sections.shift.deployment_models import DeployedModel, deployed_models, deployment_scores
from surefoot.report.sections.shift.expected_loss import expected_error
from surefoot.report.sections.shift.findings import NewRows, ShiftedColumn, ShiftFindings
from surefoot.report.sections.shift.unusual_rows import rows_outside, uncertain_new_rows
from surefoot.report.statistics import Estimate
from surefoot.report.time_budget import TimeBudget
from surefoot.shift import ColumnShift, ShiftReport, shift_report
from surefoot.shift.column_shift import compare_columns
from surefoot.shift.shift_report_tables import ComparedTables


def no_deployment_data() -> ShiftFindings:
    """The findings if it is not known where the model will be used."""
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
    """The data and the models of question 4.

    Attributes
    ----------
    audited, constant : CrossFitted
        The model that the audit is about, and the constant.
    ensemble : CrossFitted or None
        The model whose knowledge uncertainty shows unusual rows.
    groups : array of shape (n_rows of the table,) or None
        If the deployment data has groups too, tests permute whole groups.
    tolerance : float
        By what fraction the loss may rise.
    deployed : DeployedModel or None
        The audited model on the deployment data; None: it is fitted here, if targets are known.
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
    deployed: DeployedModel | None = None

    def drawn_by_weight(self) -> "ShiftInputs":
        """The inputs with rows of both tables that are drawn in proportion to their weights.

        Tests that compare the columns of two tables take no weights; of the drawn rows, all count the same.
        """
        if self.table.weights is None and self.deployment.weights is None:
            return self
        kept = np.zeros(self.table.n_rows, dtype=np.bool_)
        kept[drawn_by_weight(self.table.weights, self.table.n_rows, self.seed)] = True
        folds = tuple((train, test[kept[test]]) for train, test in self.splits.folds)
        splits = replace(self.splits, rows=self.splits.rows[kept[self.splits.rows]], folds=folds)
        rows = drawn_by_weight(self.deployment.weights, len(self.deployment.frame), self.seed)
        return replace(self, splits=splits, deployment=self.deployment.of_rows(rows))

    @property
    def are_grouped(self) -> bool:
        """Whether both tables have groups."""
        return self.groups is not None and self.deployment.groups is not None


def measure_shift(given: ShiftInputs) -> ShiftFindings:
    """All numbers of question 4."""
    drawn, table, audited = given.drawn_by_weight(), given.table, given.audited
    splits, deployment = drawn.splits, drawn.deployment
    given.budget.step(0.9, "question 4: columns of training and deployment data")
    report = _report(drawn)
    auc = None if np.isnan(report.auc) else Estimate(report.auc, *report.auc_interval)
    outside = rows_outside(table, splits, deployment, given.groups, given.seed)
    new: NewRows | None = None
    if given.ensemble is not None:
        search = partial(uncertain_new_rows, table, splits, deployment, given.ensemble, given.groups, given.seed)
        new = given.budget.within("uncertain rows of the deployment data", 0.95, search)
    shared: dict[str, Any] = {
        "where": deployment.where,
        "verdict": report.verdict,
        "auc": auc,
        "p_value": None if np.isnan(report.p_value) else float(report.p_value),
        "columns": tuple(_column(column) for column in report.columns),
        "n_rows": len(given.deployment.frame),
        "tolerance": given.tolerance,
        "outside": outside,
        "new": new,
        "by_groups": given.are_grouped,
    }
    if len(given.deployment.known):
        given.budget.step(0.95, "question 4: models on the deployment data")
        return ShiftFindings(**shared, **_with_targets(given, drawn), weighted=None)
    measure = measure_of_rise(table.target, audited.outcome, audited.outcome)
    given.budget.step(0.95, "question 4: expected error on the deployment data")
    arguments = (table, given.splits, deployment, audited, measure, auc, outside, given.seed, given.n_jobs)
    expect = partial(expected_error, *arguments)
    weighted = given.budget.within("expected error on the deployment data", 0.97, expect)
    loss = loss_of(audited.outcome, measure)
    return ShiftFindings(**shared, models=(), loss_here=loss, loss_there=None, weighted=weighted, measure=measure)


def _with_targets(given: ShiftInputs, drawn: ShiftInputs) -> dict[str, Any]:
    """The findings that need targets of deployment rows; ``drawn`` has rows that all count the same."""
    table, splits, deployment, audited = given.table, given.splits, given.deployment, given.audited
    own = given.deployed or DeployedModel.of(audited, deployment, audited=True)
    constant = DeployedModel.of(given.constant, deployment)
    models = [own] if audited.name == given.constant.name else [constant, own]
    models = deployed_models(
        table, splits, deployment, drawn.deployment.frame, models, given.seed, given.n_jobs, given.budget
    )
    measure = measure_of_rise(table.target, audited.outcome, own.outcome)
    tolerances = Tolerances.of(table.target, splits.rows, given.tolerance)
    in_seen_group = None
    if given.groups is not None and deployment.groups is not None:
        training_groups = given.groups[splits.rows].astype(str)
        in_seen_group = np.isin(deployment.groups[deployment.known].astype(str), training_groups)
    losses = deployment_losses(table.target, own.outcome, audited.outcome, in_seen_group, tolerances, measure)
    assert drawn.deployment.truth is not None
    return {
        "models": deployment_scores(models, table),
        "loss_here": loss_of(audited.outcome, measure),
        "loss_there": losses[0].loss,
        "measure": measure,
        "target": target_shift(table.target, drawn.splits.rows, drawn.deployment.truth),
        "n_known": len(deployment.known),
        "without_targets": tuple(
            chunk.name for chunk in deployment.chunks if not np.isin(chunk.rows, deployment.known).any()
        ),
        "losses": losses,
        "bias_tolerance": tolerances.bias,
    }


def _report(given: ShiftInputs) -> ShiftReport:
    """The shift report of both tables; with groups, if both have them."""
    groups: dict[str, Any] = {}
    if given.groups is not None and given.deployment.groups is not None:
        groups = {"groups": given.groups[given.splits.rows], "groups_target": given.deployment.groups}
    X, X_target = given.table.frame.iloc[given.splits.rows], given.deployment.frame
    return shift_report(X, X_target, **groups, random_state=given.seed, n_jobs=given.n_jobs)


def target_shift(target: Target, rows: np.ndarray, truth: np.ndarray) -> ShiftedColumn:
    """The difference of the target itself between training rows and deployment data."""
    import pandas as pd

    known = truth[has_value(truth)]
    if target.is_classes:
        columns = [pd.Series(pd.Categorical(target.text_of(labels))) for labels in (target.labels[rows], known)]
        text = _class_fractions(*columns)
    else:
        columns = [pd.Series(values.astype(np.float64)) for values in (target.y[rows], known)]
        means, spreads = ([f"{getattr(column, what)():.4g}" for column in columns] for what in ("mean", "std"))
        text = f"mean {means[0]} in the training data, {means[1]} in the deployment data; "
        text += f"standard deviation {spreads[0]} and {spreads[1]}"
    one, other = (column.to_frame(target.name) for column in columns)
    (column,) = compare_columns(ComparedTables.read(one, other, "from_dtype"))
    return ShiftedColumn(target.name, column.distance, column.p_value, column.outcome, text, column.interval)


def _class_fractions(training: Any, deployment: Any) -> str:
    """The fractions of the class that differs most, and the classes that are not in the training data."""
    import pandas as pd

    both = (training, deployment)
    fractions = pd.concat([labels.value_counts(normalize=True) for labels in both], axis=1).fillna(0.0)
    label = (fractions.iloc[:, 1] - fractions.iloc[:, 0]).abs().idxmax()
    before, after = fractions.loc[label]
    text = f"{label}: {before:.1%} of the training rows, {after:.1%} of the deployment rows"
    unknown = fractions[fractions.iloc[:, 0] == 0]
    if len(unknown):
        text += f"; {', '.join(unknown.index[:3])}, not in the training data: {unknown.iloc[:, 1].sum():.1%}"
    return text


def _column(column: ColumnShift) -> ShiftedColumn:
    return ShiftedColumn(
        column.name, column.distance, column.p_value, column.outcome, _difference(column), column.interval
    )


def _difference(column: ColumnShift) -> str:
    """Differences besides the distribution, in a few words."""
    parts = []
    if column.missing or column.missing_target:
        missing = f"missing: {column.missing:.1%} of the training rows"
        parts.append(f"{missing}, {column.missing_target:.1%} of the deployment rows")
    if column.unseen:
        what = "a category that is not in the training data" if column.kind == CATEGORY else "a value outside its range"
        parts.append(f"{column.unseen:.1%} have {what}")
    return "; ".join(parts)
