"""Checks of a table before models are compared: copies, leaks, row order, and roles of columns."""

from surefoot.report.checks.column_roles import RoleQuestion, suggest_roles
from surefoot.report.checks.copies import Copies, find_copies
from surefoot.report.checks.count_target import looks_like_counts
from surefoot.report.checks.leaks import Leak, find_leaks
from surefoot.report.checks.near_copies import NearCopies, near_copies
from surefoot.report.checks.row_order import RowOrder, check_row_order
from surefoot.report.checks.seen_predictions import SeenPredictions, question_predictions

__all__ = [
    "Copies",
    "Leak",
    "NearCopies",
    "RoleQuestion",
    "RowOrder",
    "SeenPredictions",
    "check_row_order",
    "find_copies",
    "find_leaks",
    "looks_like_counts",
    "near_copies",
    "question_predictions",
    "suggest_roles",
]
