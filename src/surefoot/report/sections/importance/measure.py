"""What the audited model uses: permutation importance with intervals, and partial dependence."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from surefoot.metrics.intervals import CONFIDENCE
from surefoot.report.inputs.column_readers import CATEGORY
from surefoot.report.models.cross_fitting import CONSTANT, Comparison, CrossFitted
from surefoot.report.sections.importance.association import neighbours_of
from surefoot.report.sections.importance.dependence import measure_dependence
from surefoot.report.sections.importance.findings import ColumnImportance, ImportanceFindings
from surefoot.report.sections.stability.column_selection import MAX_CATEGORIES
from surefoot.report.sections.stability.leading_column import LossIncreases, increases_of
from surefoot.report.statistics import Estimate, paired_mean_difference

MAX_CURVES = 6
NO_MODEL = "Your predictions come without a model, so it cannot be seen which columns it uses."
MAYBE_SEEN = (
    "It is not known whether the model was trained on these rows. If it was, columns of noise may seem to be used too: "
    "the loss on rows that it has memorized rises when any of their values changes."
)
NO_ROWS = "No fold has two held-out rows, whose values could be exchanged."
NO_COLUMN = "The audited model is a constant, which uses no column."


def measure_importance(
    draws: Sequence[Comparison],
    loss_increases: Callable[[CrossFitted], LossIncreases],
    is_unseen_unknown: bool = False,
) -> ImportanceFindings:
    """Importance of every permuted column, and the curves of the most important ones."""
    audited = draws[0].audited
    if not audited.fold_models or audited.name == CONSTANT:
        return _nothing(audited, NO_COLUMN if audited.name == CONSTANT else NO_MODEL)
    increases = LossIncreases.mean_of([loss_increases(draw.audited) for draw in draws])
    if not len(increases.rows):
        return _nothing(audited, NO_ROWS)
    columns = importance_of(audited, increases)
    shown = [each.column for each in columns if each.rise.low > 0] or [columns[0].column]
    output, dependence = measure_dependence(audited, shown[:MAX_CURVES])
    return ImportanceFindings(
        model=audited.name,
        loss_name=loss_name(audited),
        loss=audited.outcome[increases.rows].mean_proper,
        n_rows=len(increases.rows),
        columns=columns,
        output=output,
        dependence=dependence,
        n_models=len({id(each) for each in audited.fold_models}),
        remarks=(*increases.remarks, *([MAYBE_SEEN] if is_unseen_unknown else [])),
        note="",
    )


def importance_of(audited: CrossFitted, increases: LossIncreases) -> tuple[ColumnImportance, ...]:
    """The rise of the loss by column, the largest first, with simultaneous intervals over rows or groups.

    Models combine columns of noise that are correlated with each other into differences. These are small, until one of
    the columns is permuted: the loss rises, although none of them is of use. If they are permuted together, it does
    not. So the lower end is that of the column alone, or of the column together with its neighbours, if it is lower.
    """
    table, rows = audited.table, audited.splits.held_out[increases.rows]
    units = None if audited.splits.units is None else audited.splits.units[rows]
    strong, related = neighbours_of(table, increases.columns, rows)
    names, n_rows, weights = increases.columns, len(rows), table.weights_of(rows)

    each_interval = 1 - (1 - CONFIDENCE) / len(names)  # all intervals hold together (Bonferroni)

    def rise_of(values: np.ndarray) -> Estimate:
        return paired_mean_difference(values, np.zeros(n_rows), units, each_interval, weights)

    rises = {name: rise_of(values) for name, values in zip(names, increases.increases.T, strict=True)}
    doubtful = [name for name in names if related[name] and rises[name].low > 0]
    if doubtful:
        together = increases_of(audited, increases.rows, [(name, *related[name]) for name in doubtful])[1]
        for name, values in zip(doubtful, together.T, strict=True):
            rises[name] = replace(rises[name], low=min(rises[name].low, rise_of(values).low))
    many = {
        str(reader.name)
        for reader in table.readers
        if str(reader.name) in rises and reader.kind == CATEGORY and table.frame[reader.name].nunique() > MAX_CATEGORIES
    }
    columns = [ColumnImportance(name, rises[name], strong[name], may_be_chosen=name not in many) for name in names]
    return tuple(sorted(columns, key=lambda each: -each.rise.value))


def loss_name(audited: CrossFitted) -> str:
    """The loss whose rise is measured."""
    if not audited.table.target.is_classes:
        return "squared error"
    return "error rate" if audited.outcome.log_losses is None else "log-loss"


def _nothing(audited: CrossFitted, note: str) -> ImportanceFindings:
    return ImportanceFindings(
        model=audited.name,
        loss_name=loss_name(audited),
        loss=audited.outcome.mean_proper,
        n_rows=0,
        columns=(),
        output="",
        dependence=(),
        n_models=0,
        remarks=(),
        note=note,
    )
