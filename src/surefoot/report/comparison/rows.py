"""The tables of a comparison: what was audited, the answers and the numbers, as text."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from surefoot.report.audit import Audit
from surefoot.report.comparison.differences import INDEPENDENT, PAIRED, SAME_ROWS, Difference
from surefoot.report.page.numbers import between, number, percent, points, points_between, whole
from surefoot.report.statistics import Estimate

RELATIONS = {
    PAIRED: "Row by row: both audits held out the same rows, so their losses are compared on each of them.",
    SAME_ROWS: "Same rows: the audits are about the same rows, but the JSON has only the intervals of these numbers. "
    "The half-widths are added, which is valid however the two depend on each other, and wide.",
    INDEPENDENT: "Different rows: the audits are about different tables, and their errors are taken as independent. "
    "Where rows are in both tables, the interval is too wide if the errors on them are alike.",
}


@dataclass(frozen=True)
class SubjectRow:
    """A fact about what was audited, for each audit."""

    label: str
    values: tuple[str, ...]

    @property
    def is_changed(self) -> bool:
        """Whether the audits differ in it."""
        return len(set(self.values)) > 1


def _model(audit: Audit) -> str:
    return audit.accuracy.audited


def _warnings(audit: Audit) -> str:
    return ", ".join(check.kind for check in audit.subject.checks if check.matters) or "none"


FACTS: dict[str, Callable[[Audit], Any]] = {
    "table": lambda audit: audit.subject.source or "",
    "date": lambda audit: audit.subject.date,
    "rows": lambda audit: whole(audit.subject.n_rows),
    "columns": lambda audit: whole(audit.subject.n_columns),
    "rows held out": lambda audit: whole(audit.subject.n_judged),
    "new rows": lambda audit: whole(audit.subject.n_new),
    "classes": lambda audit: ", ".join(audit.subject.classes),
    "audited model": _model,
    "warnings": _warnings,
    "fingerprint": lambda audit: audit.subject.fingerprint,
    "folds": lambda audit: whole(audit.subject.n_folds),
    "seed": lambda audit: str(audit.random_state),
    "version": lambda audit: audit.version,
}


def subject_rows(audits: tuple[Audit, ...]) -> list[SubjectRow]:
    """The facts that any of the audits has."""
    rows = [SubjectRow(label, tuple(str(read(audit)) for audit in audits)) for label, read in FACTS.items()]
    return [row for row in rows if any(row.values)]


def value_text(estimate: Estimate | None, is_rate: bool) -> tuple[str, str]:
    """A number and its interval."""
    write = percent if is_rate else number
    return ("", "") if estimate is None else (write(estimate.value), between(estimate, write))


def difference_text(each: Difference) -> tuple[str, str]:
    """A difference and its interval: of fractions in percentage points."""
    if each.after.is_rate:
        return points(each.estimate.value), points_between(each.estimate)
    return number(each.estimate.value), between(each.estimate, number)
