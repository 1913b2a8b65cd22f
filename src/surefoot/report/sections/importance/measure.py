"""What the audited model uses: permutation importance with intervals, and partial dependence."""

from collections.abc import Callable, Sequence

import numpy as np

from surefoot.report.inputs.column_readers import CATEGORY
from surefoot.report.models.cross_fitting import CONSTANT, Comparison, CrossFitted
from surefoot.report.sections.importance.association import alternatives
from surefoot.report.sections.importance.dependence import measure_dependence
from surefoot.report.sections.importance.findings import ColumnImportance, ImportanceFindings
from surefoot.report.sections.stability.column_selection import MAX_CATEGORIES
from surefoot.report.sections.stability.leading_column import LossIncreases
from surefoot.report.statistics import paired_mean_difference

MAX_CURVES = 6
NO_MODEL = "Your predictions come without a model, so it cannot be seen which columns it uses."
NO_COLUMN = "The audited model is a constant, which uses no column."


def measure_importance(
    draws: Sequence[Comparison], increases_of: Callable[[CrossFitted], LossIncreases]
) -> ImportanceFindings:
    """Importance of every permuted column, and the curves of the most important ones."""
    audited = draws[0].audited
    if not audited.fold_models or audited.name == CONSTANT:
        return _nothing(audited, NO_COLUMN if audited.name == CONSTANT else NO_MODEL)
    increases = LossIncreases.mean_of([increases_of(draw.audited) for draw in draws])
    columns = importance_of(audited, increases)
    shown = [each.column for each in columns if each.rise.low > 0] or [columns[0].column]
    output, dependence = measure_dependence(audited, shown[:MAX_CURVES])
    return ImportanceFindings(
        model=audited.name,
        loss_name=loss_name(audited),
        loss=float(audited.outcome.proper[increases.rows].mean()),
        n_rows=len(increases.rows),
        columns=columns,
        output=output,
        dependence=dependence,
        n_models=len({id(each) for each in audited.fold_models}),
        remarks=increases.remarks,
        note="",
    )


def importance_of(audited: CrossFitted, increases: LossIncreases) -> tuple[ColumnImportance, ...]:
    """The rise of the loss by column, the largest first, with simultaneous intervals over rows or groups."""
    table, rows = audited.table, audited.splits.held_out[increases.rows]
    units = None if audited.splits.units is None else audited.splits.units[rows]
    names, none = increases.columns, np.zeros(len(rows))
    similar = alternatives(table, names, rows)
    many = {
        str(reader.name)
        for reader in table.readers
        if reader.kind == CATEGORY and table.frame[reader.name].nunique() > MAX_CATEGORIES
    }
    columns = [
        ColumnImportance(
            column=name,
            rise=paired_mean_difference(rise, none, units, n_intervals=len(names)),
            alternatives=similar[name],
            may_be_chosen=name not in many,
        )
        for name, rise in zip(names, increases.increases.T, strict=True)
    ]
    return tuple(sorted(columns, key=lambda each: -each.rise.value))


def loss_name(audited: CrossFitted) -> str:
    """The loss whose rise is measured."""
    if not audited.table.target.is_classes:
        return "squared error"
    return "error rate" if audited.outcome.log_losses is None else "log-loss"


def _nothing(audited: CrossFitted, note: str) -> ImportanceFindings:
    return ImportanceFindings(
        model=audited.name, loss_name=loss_name(audited), loss=float(audited.outcome.proper.mean()), n_rows=0,
        columns=(), output="", dependence=(), n_models=0, remarks=(), note=note,
    )  # fmt: skip
