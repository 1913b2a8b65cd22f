"""What was audited: the table, its target, its columns and the folds."""

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from surefoot.report.statistics import size_of

if TYPE_CHECKING:
    from surefoot.report.run import AuditRun


UNSEEN_UNKNOWN = "It is not known which rows your model was trained on."


@dataclass(frozen=True)
class ColumnNote:
    """A note on a column; ``used`` is whether models are given the column."""

    column: str
    what: str  # "identifier", "constant", "all missing", "leak", "date", "infinite", "many categories", "text"
    sentence: str
    used: bool


@dataclass(frozen=True)
class DataCheck:
    """A check of the rows; if it ``matters``, the measured errors may be too small."""

    kind: str  # "copies", "near copies", "row order", "column role" or "predictions"
    matters: bool
    sentence: str
    undecided: str = ""  # "whether ...", if the check could not decide it


@dataclass(frozen=True)
class Subject:
    """What was audited."""

    target: str
    task: str  # "binary", "classes" or "regression"
    task_sentence: str
    n_rows: int
    n_columns: int
    n_judged: int  # rows that were held out, once in each draw of the folds
    n_folds: int
    n_new: int
    split: str  # how the rows were split, in a sentence
    classes: tuple[str, ...]  # empty for regression
    shares: tuple[float, ...]  # fractions of the classes, in the same order
    notes: tuple[ColumnNote, ...]
    checks: tuple[DataCheck, ...]
    remarks: tuple[str, ...]  # such as rows without a target, and steps for which there was not enough time
    fingerprint: str  # of all values of the table
    source: str | None = None  # the file of the table
    date: str = ""
    n_draws: int = 1  # of the folds
    n_table_rows: int = 0  # rows of the whole table that have a target
    draw: str = ""  # how the rows were drawn from the table, in a sentence; empty if the audit is of all rows
    doubt: str = ""  # why no question can be answered with yes, in a sentence
    weights: str | None = None  # column of the weights of the rows, or "an array"; None: every row counts the same
    n_effective: float | None = None  # equal rows that carry as much information as the weighted ones

    @classmethod
    def of(cls, run: "AuditRun") -> "Subject":
        """The subject of an audit, as far as the audit has come."""
        table, target = run.table, run.table.target
        late = [f"Not enough time for: {', '.join(run.budget.left_out)}."] if run.budget.left_out else []
        return cls(
            target=target.name,
            task=target.task,
            task_sentence=target.sentence,
            n_rows=table.n_rows,
            n_columns=len(table.readers),
            n_judged=len(run.splits.held_out),
            n_folds=len(run.splits.folds),
            n_draws=len(run.draws),
            n_new=0 if run.deployment is None else len(run.deployment.frame),
            split=_split_sentence(run),
            classes=tuple(map(str, target.classes)),
            shares=tuple(target.class_fractions().tolist()),
            notes=table.notes,
            checks=run.checks,
            remarks=(*run.remarks, *late),
            fingerprint=table.fingerprint,
            date=date.today().isoformat(),
            n_table_rows=table.n_table_rows,
            draw=draw_sentence(table.n_rows, table.n_table_rows, run.seed),
            doubt=UNSEEN_UNKNOWN if run.is_unseen_unknown else "",
            weights=None if table.weights is None else run.weights_name,
            n_effective=None if table.weights is None else size_of(table.weights, table.weights),
        )


def weights_sentence(subject: Subject) -> str:
    """How much the rows count; empty if all count the same."""
    if subject.weights is None or subject.n_effective is None:
        return ""
    given = "the weights that were passed" if subject.weights == "an array" else f"the weights in {subject.weights}"
    return (
        f"The rows count by {given}, in the training of models and in all numbers. They carry as much information as "
        f"{subject.n_effective:,.0f} rows of equal weight."
    )


def draw_sentence(n_rows: int, n_table_rows: int, seed: int) -> str:
    """How the rows of an audit were drawn from a larger table."""
    if n_rows == n_table_rows:
        return ""
    return (
        f"The table has {n_table_rows:,} rows with a target. {n_rows:,} of them were drawn at random (seed {seed}): "
        "the audit is about these rows, and the models were trained on no others."
    )


def _split_sentence(run: "AuditRun") -> str:
    """How the rows were split."""
    splits, n_folds, n_draws = run.splits, len(run.splits.folds), len(run.draws)
    if splits.by_time:
        how = "every part of the later half is predicted by a model trained on all earlier rows"
        groups = "" if run.groups is None else ", where possible without rows of the same groups"
        return f"The rows are split by time: {how}{groups}. Intervals count runs of neighbouring rows."
    if splits.is_fixed:
        n_train, n_test = len(splits.folds[0][0]), len(splits.held_out)
        groups = "" if run.groups is None else " Intervals count groups, not rows."
        return (
            f"Your model was trained on {n_train:,} of the rows, and so were the other models. All numbers are about "
            f"the other {n_test:,} rows.{groups}"
        )
    times, again, means = "once", "", ""
    if n_draws > 1:
        times, again = f"{n_draws} times", " that are drawn again each time"
        means = " Because an answer is close to its limit, all numbers are means over these draws."
    if run.groups is not None:
        n_groups = len(np.unique(run.groups[splits.rows]))
        return (
            f"Each of the {n_groups:,} groups is held out {times} as a whole, in {n_folds} folds{again}. Intervals "
            f"count groups, not rows.{means}"
        )
    copies = " or a copy of it" if splits.units is not None else ""
    own = " Your model is used as it is, for all rows." if run.own_model is not None and run.own_model.prefit else ""
    return (
        f"Every row is held out {times}, in {n_folds} folds{again}, and predicted by a model that was not trained on "
        f"it{copies}.{own}{means}"
    )
