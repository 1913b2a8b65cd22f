"""Checks for reasons why measured errors may be too small: copies, row order, groups that were not named."""

from typing import Any

import numpy as np

from surefoot.report.checks.column_roles import GROUP, TIME, RoleQuestion, role_excess, suggest_roles
from surefoot.report.checks.copies import Copies
from surefoot.report.checks.near_copies import near_copies
from surefoot.report.checks.row_order import check_row_order
from surefoot.report.checks.seen_predictions import question_predictions
from surefoot.report.checks.split_comparison import SplitComparison, is_ruled_out, is_shown
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable, to_pandas
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.page.numbers import between, percent
from surefoot.report.subject import DataCheck
from surefoot.report.time_budget import MIN_SECONDS, TimeBudget

ORDER_MATTERS = "whether the order of the rows matters"
COPIES, NEAR_COPIES, ROW_ORDER, ROLE, SEEN = "copies", "near copies", "row order", "column role", "predictions"
TRAINING_ROWS = "training rows"
STEP = "checks of near copies, of the order and of groups of rows"
ENOUGH_TIME = 0.8  # fraction of the time limit
NO_TIME = (
    "There was not enough time to check for near copies, and whether the order of the rows, or columns that look like "
    "groups, matter."
)


def check_data(
    table: AuditTable,
    splits: Splits,
    copies: Copies,
    groups: np.ndarray | None,
    time: np.ndarray | None,
    seed: int,
    n_jobs: int | None,
    budget: TimeBudget,
) -> list[DataCheck]:
    """All remarkable results; a check that ``matters`` or is undecided rules out the answer yes to question 1."""
    checks = []
    if copies.groups is not None:
        is_apart = groups is not None and _cross(copies.groups, groups)
        where = " Some are in different groups, so a model may have been trained on them." if is_apart else ""
        if splits.is_fixed and _cross(copies.groups, splits.sides):
            is_apart, where = True, " Your model was trained on copies of some rows that it is tested on."
        checks.append(DataCheck(COPIES, is_apart, f"{copies.sentence}{where}"))

    def compare() -> list[DataCheck]:
        near = near_copies(table.frame, splits.sides, seed)
        comparison = SplitComparison.of(table.frame, table.target, copies.groups, seed, n_jobs)
        found = [DataCheck(NEAR_COPIES, True, near.sentence)] if near.matters else []
        return found + _compared_splits(table, comparison, groups, time)

    compared = budget.within(STEP, ENOUGH_TIME, compare, at_least=MIN_SECONDS)
    return checks + ([DataCheck(ROW_ORDER, False, NO_TIME, ORDER_MATTERS)] if compared is None else compared)


def _compared_splits(
    table: AuditTable, comparison: SplitComparison, groups: np.ndarray | None, time: np.ndarray | None
) -> list[DataCheck]:
    """What quick models show about the order of the rows, and about columns that look like groups or times."""
    checks = _row_order(comparison, table) if groups is None and time is None else []
    raw = to_pandas(table.raw, "X").rename(columns=str)
    is_named = {GROUP: groups is not None, TIME: time is not None}
    questions = [question for question in suggest_roles(raw, table.target) if not is_named[question.role]]
    return checks + [_role(comparison, raw, question) for question in questions]


def _row_order(comparison: SplitComparison, table: AuditTable) -> list[DataCheck]:
    """Whether the order of the rows matters, unless it is shown not to matter."""
    order = check_row_order(comparison, table.frame, table.target)
    if order is None:
        sentence = "There are too few rows to test whether their order matters."
        return [DataCheck(ROW_ORDER, False, sentence, ORDER_MATTERS)]
    if order.matters or order.neighbours_alike:
        return [DataCheck(ROW_ORDER, True, order.sentence)]
    return [DataCheck(ROW_ORDER, False, order.sentence, ORDER_MATTERS)] if order.undecided else []


def _role(comparison: SplitComparison, raw: Any, question: RoleQuestion) -> DataCheck:
    """A question about a column, with the cost of splits that respect its groups or times."""
    excess = role_excess(comparison, raw[question.column], question)
    matters = f"whether {question.column} matters for the split"
    if excess is None:
        return DataCheck(ROLE, False, question.sentence, matters)
    split = "unseen groups" if question.role == GROUP else "the first and the last fifth of its order"
    measured = (
        f" On {split}, the loss of quick models is {percent(excess.value)} ({between(excess, percent)}) higher than "
        "under random splits."
    )
    undecided = "" if is_shown(excess) or is_ruled_out(excess) else matters
    return DataCheck(ROLE, is_shown(excess), question.sentence + measured, undecided)


def check_training_rows(own: CrossFitted, reference: CrossFitted) -> list[DataCheck]:
    """What cannot be known of a model that is audited as it is, if the rows that it was trained on are not named."""
    sentence = (
        "It is not known which of these rows your model was trained on, and its errors on them say nothing about new "
        "rows. Name them with --trained-on (trained_on= in Python)."
    )
    unknown = DataCheck(TRAINING_ROWS, True, sentence, "whether your model was trained on these rows")
    return [unknown, *check_predictions(own, reference)]


def check_predictions(given: CrossFitted, reference: CrossFitted) -> list[DataCheck]:
    """Whether predictions look as if their model was trained on the rows."""
    table, rows = given.table, given.splits.held_out
    target: Any = table.target.of_rows(rows)
    if target.is_classes:
        if reference.predictions.probabilities is None:
            return []
        own = given.predictions.probabilities
        values = own if own is not None else np.searchsorted(target.classes, given.predictions.values)
        result = question_predictions(target, values, reference.predictions.probabilities)
    else:
        result = question_predictions(target, given.predictions.values, reference.predictions.values)
    return [DataCheck(SEEN, True, result.sentence)] if result is not None and result.questioned else []


def _cross(copies: np.ndarray, groups: np.ndarray) -> bool:
    """Whether copies of one row are in different groups."""
    codes = np.unique(groups, return_inverse=True)[1]
    order = np.lexsort((codes, copies))
    same = copies[order][1:] == copies[order][:-1]
    return bool((same & (codes[order][1:] != codes[order][:-1])).any())
