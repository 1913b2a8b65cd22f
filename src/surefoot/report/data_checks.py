"""What may make the numbers of an audit too good: copies, the order of the rows, groups nobody has named."""

from typing import Any

import numpy as np

from surefoot.report.answers import DataCheck
from surefoot.report.checks.column_roles import suggest_roles
from surefoot.report.checks.copies import Copies
from surefoot.report.checks.near_copies import near_copies
from surefoot.report.checks.row_order import check_row_order
from surefoot.report.checks.seen_predictions import question_predictions
from surefoot.report.cross_fitting import CrossFitted
from surefoot.report.splits import Splits
from surefoot.report.table import AuditTable, to_pandas

COPIES, NEAR_COPIES, ROW_ORDER, ROLE, SEEN = "copies", "near copies", "row order", "column role", "predictions"


def check_data(
    table: AuditTable,
    splits: Splits,
    copies: Copies,
    groups: np.ndarray | None,
    time: np.ndarray | None,
    seed: int,
    n_jobs: int | None,
) -> list[DataCheck]:
    """Everything that was noticed; what ``matters`` or is undecided rules out the answer yes to question 1."""
    checks = []
    if copies.groups is not None:
        apart = groups is not None and _cross(copies.groups, groups)
        where = " Some are in different groups, so that a model may have seen them." if apart else ""
        checks.append(DataCheck(COPIES, apart, f"{copies.sentence}{where}"))
    sides = np.full(table.n_rows, -1)
    for k, (_, judge) in enumerate(splits.folds):
        sides[judge] = k
    near = near_copies(table.frame, sides, seed)
    if near.matters:
        checks.append(DataCheck(NEAR_COPIES, True, near.sentence))
    if groups is None and time is None:
        order = check_row_order(table.frame, table.target, copies.groups, seed, n_jobs)
        if order is not None and (order.matters or order.neighbours_alike or order.sorted_by_target or order.undecided):
            matters = order.matters or order.neighbours_alike
            checks.append(DataCheck(ROW_ORDER, matters, order.sentence, order.undecided and not matters))
    roles = suggest_roles(to_pandas(table.raw, "X"), table.target)
    known = {"group": groups is not None, "time": time is not None}
    return checks + [DataCheck(ROLE, False, role.sentence) for role in roles if not known[role.role]]


def check_predictions(given: CrossFitted, reference: CrossFitted) -> list[DataCheck]:
    """Whether predictions look as if their model had seen the rows."""
    table, rows = given.table, given.splits.judged
    target: Any = table.target.of_rows(rows)
    if target.is_classes:
        if reference.predictions.probabilities is None:
            return []
        own = given.predictions.probabilities
        values = own if own is not None else np.searchsorted(target.classes, given.predictions.values)
        found = question_predictions(target, values, reference.predictions.probabilities)
    else:
        found = question_predictions(target, given.predictions.values, reference.predictions.values)
    return [DataCheck(SEEN, True, found.sentence)] if found is not None and found.questioned else []


def _cross(copies: np.ndarray, groups: np.ndarray) -> bool:
    """Whether copies of one row are in different groups."""
    codes = np.unique(groups, return_inverse=True)[1]
    order = np.lexsort((codes, copies))
    same = copies[order][1:] == copies[order][:-1]
    return bool((same & (codes[order][1:] != codes[order][:-1])).any())
