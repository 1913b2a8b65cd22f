"""A shift report as text: its verdict, and a table for the terminal or for a notebook."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from surefoot.shift.column_shift import LEVEL, NOT_SHIFTED, NOT_TESTED, ColumnShift

if TYPE_CHECKING:
    from surefoot.shift.shift_report import ShiftReport

MAX_LINES = 20  # columns in the table
MAX_NAMED = 3  # columns in the verdict
MAX_LETTERS = 32  # of a name
MIN_P_VALUE = 0.0001
HEADS = ("column", "kind", "distance", "p-value", "stability", "missing", "in target", "unseen", "importance", "")


def verdict_of(report: "ShiftReport") -> str:
    """Return the result in one sentence."""
    shifted, columns = report.shifted_columns, _columns_sentence(report)
    joint = f"(AUC {report.auc:.2f}, {p_value_in_words(report.p_value)})"
    if report.auc != report.auc:
        return f"{columns}; {report.note}."
    if report.p_value < LEVEL:
        link, slightly = "and" if shifted else "but", "" if report.jointly_shifted else "slightly "
        return f"{columns}, {link} a classifier tells the rows of both tables {slightly}apart {joint}."
    link = "but" if shifted else "and"
    return f"{columns}, {link} a classifier does not tell the rows of both tables apart {joint}."


def _columns_sentence(report: "ShiftReport") -> str:
    """Say how many columns have shifted, and how many could not be tested."""
    shifted, n_columns, n_untested = report.shifted_columns, len(report.columns), len(report.untested_columns)
    n_slight = len(report.slightly_different_columns)
    notes = [f"{n_slight:,} differ{'s' if n_slight == 1 else ''} slightly"] if n_slight else []
    notes += [f"{n_untested:,} could not be tested"] if n_untested else []
    if shifted:
        names = ", ".join(one_line(name) for name in shifted[:MAX_NAMED])
        names += f" and {len(shifted) - MAX_NAMED} more" if len(shifted) > MAX_NAMED else ""
        several = f"{len(shifted):,} of {n_columns:,} columns {'has' if len(shifted) == 1 else 'have'}"
        return f"{'The only column has' if n_columns == 1 else several} shifted ({'; '.join([names, *notes])})"
    if n_untested == n_columns:
        several = f"None of {n_columns:,} columns could be tested"
        return "The only column could not be tested" if n_columns == 1 else several
    n_tested, tested = n_columns - n_untested, "tested " if n_untested else ""
    several = f"None of {n_tested:,} {tested}columns has shifted"
    one = f"The only {tested}column has not shifted"
    return (one if n_tested == 1 else several) + (f" ({'; '.join(notes)})" if notes else "")


def p_value_in_words(p_value: float) -> str:
    """Write a p-value, such as "p = 0.03", or "p < 0.0001" for all smaller ones."""
    return f"p < {MIN_P_VALUE}" if p_value < MIN_P_VALUE else f"p = {p_value:.2g}"


def text_of(report: "ShiftReport") -> str:
    """Return the verdict and a table of the columns with the largest shift."""
    lines = [HEADS, *(_cells(column) for column in report.columns[:MAX_LINES])]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    rows = ["  ".join(_aligned(line, widths)).rstrip() for line in lines]
    return "\n".join([*_heading(report), *rows, *_rest(report)])


def html_of(report: "ShiftReport") -> str:
    """Return the verdict and the table as HTML for a notebook."""
    heading = "".join(f"<p>{escape(line)}</p>" for line in _heading(report) if line)
    head = "".join(f"<th>{escape(cell)}</th>" for cell in HEADS)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(column)) + "</tr>"
        for column in report.columns[:MAX_LINES]
    )
    rest = "".join(f"<p>{escape(line)}</p>" for line in _rest(report))
    return f"<div>{heading}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{rest}</div>"


def one_line(name: str, max_letters: int = MAX_LETTERS) -> str:
    """Return a name without line breaks, and without its middle if it is long: names often differ at their ends."""
    name = " ".join(name.split()) or "(no name)"
    if len(name) <= max_letters:
        return name
    n_first = max_letters // 2
    return f"{name[:n_first]}…{name[len(name) - (max_letters - n_first - 1) :]}"


def outcomes_in_words(columns: Sequence[ColumnShift]) -> str:
    """Describe the columns that are not shown, such as "3 of them shifted"."""
    if len(columns) == 1:
        return columns[0].outcome
    n_shifted = sum(column.shifted for column in columns)
    n_untested = sum(column.outcome == NOT_TESTED for column in columns)
    shifted = "all" if n_shifted == len(columns) else f"{n_shifted:,}" if n_shifted else "none"
    return f"{shifted} of them shifted" + (f", {n_untested:,} not tested" if n_untested else "")


def counted(number: int, noun: str) -> str:
    """Write a number with its noun, such as "1 row" or "2,000 rows"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _heading(report: "ShiftReport") -> list[str]:
    sizes = f"{counted(report.n_target, 'target row')} against {counted(report.n_rows, 'row')}"
    lines = [f"Shift of {sizes}: {report.verdict}"]
    if report.auc == report.auc:
        low, high = report.auc_interval
        lines.append(f"AUC {report.auc:.3f}, 95% interval {low:.3f} to {high:.3f}.")
    return [*lines, ""]


def _rest(report: "ShiftReport") -> list[str]:
    others = report.columns[MAX_LINES:]
    return [f"... {counted(len(others), 'column')} more, {outcomes_in_words(others)}"] if others else []


def _cells(column: ColumnShift) -> tuple[str, ...]:
    p_value = f"<{MIN_P_VALUE}" if column.p_value < MIN_P_VALUE else _number(column.p_value, ".4f")
    return (
        one_line(column.name),
        column.kind,
        _number(column.distance, ".3f"),
        p_value,
        _number(column.stability_index, ".3f"),
        f"{column.missing:.1%}",
        f"{column.missing_target:.1%}",
        f"{column.unseen:.1%}",
        _number(column.importance, ".3f"),
        "" if column.outcome == NOT_SHIFTED else column.outcome,
    )


def _number(value: float, digits: str) -> str:
    return "-" if value != value else f"{value:{digits}}"


def _aligned(cells: tuple[str, ...], widths: list[int]) -> list[str]:
    """Align texts left and numbers right."""
    left = {0, 1, len(cells) - 1}
    return [
        cell.ljust(width) if place in left else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
