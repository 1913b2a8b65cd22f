"""The subgroups on the page: their sentences and their chart."""

from math import isfinite

from markupsafe import Markup

from surefoot._formatting import counted
from surefoot.plots.subgroup_display import SubgroupDisplay
from surefoot.report.page.chart_svg import chart_style, inline_svg, new_figure, usable
from surefoot.report.page.charts import ROW_HEIGHT, interval_ends, set_few_ticks
from surefoot.report.page.numbers import between, interval_of, loss_writer, number, one_line, percent, value_of, whole
from surefoot.report.page.templates import render
from surefoot.report.sections.section import SectionContext
from surefoot.report.sections.sentences import called, capital, listed
from surefoot.report.sections.subgroups.columns import MAX_COLUMNS
from surefoot.report.sections.subgroups.conditions import MIN_ROWS
from surefoot.report.sections.subgroups.findings import Segment, Subgroup, SubgroupFindings
from surefoot.report.sections.subgroups.row_errors import LEVEL, MIN_UNITS
from surefoot.report.sections.subgroups.verdict import (
    TOLERANCE,
    clearest,
    expected_there,
    in_words,
    is_badly_covered,
    is_clearly_not_worse,
    is_far_off,
    times_between,
)

TEMPLATE = "sections/subgroups/page.html.j2"
MAX_BARS = 12  # in the chart; the table has all
MAX_TABLE_ROWS = 32  # the JSON has all
MAX_NAMES = 3  # of subgroups in a sentence
MAX_LETTERS = 60  # of a name


def subgroups_page(findings: SubgroupFindings, context: SectionContext) -> Markup:
    """The errors in subgroups, and the segments."""
    return render(
        TEMPLATE,
        findings=findings,
        measure=findings.measure,
        sentences=[each for each in (errors(findings), bias(findings), coverage(findings)) if each],
        segments=[segment_sentence(each, findings.measure) for each in findings.segments],
        left_out=left_out(findings),
        chart=subgroup_chart(findings),
        groups=findings.groups[:MAX_TABLE_ROWS],
        bias_name=bias_name(findings, context.subject.task),
        has_coverage=any(each.coverage is not None for each in findings.groups),
        has_expected=any(each.expected is not None for each in findings.groups),
        tolerance=number(TOLERANCE),
        level=percent(LEVEL, 0),
        min_rows=MIN_ROWS,
        min_units=MIN_UNITS,
        times=times,
    )


def errors(findings: SubgroupFindings) -> str:
    """Whose error is clearly larger, and of how many this is not known."""
    write = loss_writer(findings.measure)
    overall = f"The {findings.measure} of {called(findings.model)} is {write(findings.error)} on all held-out rows."
    if not findings.groups:
        return f"{overall} No subgroup has enough rows to be compared with the others."
    worst = clearest(findings)
    if worst is None:
        found = (
            f"No subgroup of {len(findings.groups)} is shown to have an {findings.measure} more than "
            f"{number(TOLERANCE)} times that of the other rows."
        )
    else:
        others = len(findings.clearly_worse) - 1
        more = f" The same holds for {counted(others, 'more subgroup')}." if others else ""
        claimed = expected_there(worst, findings.measure)
        found = f"It is clearly larger where {in_words(worst, findings.measure)}.{claimed}{more}"
    return f"{overall} {found} {open_groups(findings)}"


def open_groups(findings: SubgroupFindings) -> str:
    """Of how many subgroups a much larger error is excluded."""
    excluded = sum(is_clearly_not_worse(each.ratio) for each in findings.groups)
    n_open = len(findings.groups) - excluded - sum(each.name in findings.clearly_worse for each in findings.groups)
    if not n_open:
        return "All other subgroups are shown not to be so."
    return (
        f"For {whole(excluded)} this is excluded; for {whole(n_open)} the rows cannot decide: their intervals include "
        f"both smaller and larger ratios than {number(TOLERANCE)}."
    )


def bias(findings: SubgroupFindings) -> str:
    """Whose predictions are clearly too low or too high on average."""
    far = [each for each in findings.groups if each.bias is not None and is_far_off(each.bias, findings)]
    if not far:
        return ""
    parts = [_off(each, findings) for each in sorted(far, key=lambda each: -abs(each.bias.value if each.bias else 0.0))]
    return f"Predictions are off on average where {listed(parts[:MAX_NAMES])}.{_and_more(len(parts))}"


def _off(group: Subgroup, findings: SubgroupFindings) -> str:
    assert group.bias is not None
    write = loss_writer(findings.measure)
    direction = "too low" if group.bias.value > 0 else "too high"
    size = write(abs(group.bias.value))
    return (
        f"{one_line(group.name, MAX_LETTERS)} ({direction} by {size}, corrected interval {between(group.bias, write)})"
    )


def coverage(findings: SubgroupFindings) -> str:
    """Whose intervals clearly hold too few targets."""
    badly = [each for each in findings.groups if is_badly_covered(each.coverage, LEVEL)]
    parts = [f"{one_line(each.name, MAX_LETTERS)} ({percent(each.coverage.value)})" for each in badly if each.coverage]
    if not parts:
        return ""
    return f"The {percent(LEVEL, 0)} intervals hold clearly too few targets where {listed(parts[:MAX_NAMES])}." + (
        _and_more(len(parts))
    )


def _and_more(n_parts: int) -> str:
    return f" So it is for {counted(n_parts - MAX_NAMES, 'more subgroup')}." if n_parts > MAX_NAMES else ""


def segment_sentence(segment: Segment, measure: str) -> str:
    """A segment, with its size and its error on the rows that had no part in the search."""
    write = loss_writer(measure)
    share = percent(segment.n_rows / segment.n_measured, 0)
    measured = f"{whole(segment.n_rows)} of {whole(segment.n_measured)} rows of the other half ({share})"
    compared = f"{write(segment.error)} there, and {write(segment.rest_error)} elsewhere"
    return (
        f"{one_line(segment.name, 2 * MAX_LETTERS)}: {measured}. The {measure} is {compared} "
        f"({times_between(segment.ratio)})."
    )


def left_out(findings: SubgroupFindings) -> str:
    """What was not looked at."""
    parts = []
    looked = len(findings.columns)
    if findings.n_columns > looked:
        parts.append(
            f"{whole(looked)} of {whole(findings.n_columns)} columns were looked at: those that you name, then "
            f"{MAX_COLUMNS} others, categories first. More columns would make every interval wider; name those that "
            "matter to you."
        )
    if findings.n_withheld:
        units = "" if not findings.groups or findings.groups[0].n_units is None else f" or {MIN_UNITS} groups"
        parts.append(
            f"{capital(counted(findings.n_withheld, 'subgroup'))} with fewer than {MIN_ROWS} held-out rows{units} "
            f"{'was' if findings.n_withheld == 1 else 'were'} left out."
        )
    if findings.not_searched:
        parts.append(f"Weak segments were not searched for: {findings.not_searched}.")
    return " ".join(parts)


def bias_name(findings: SubgroupFindings, task: str) -> str:
    """What the mean of observed minus predicted is about; empty if it is not measured."""
    if all(each.bias is None for each in findings.groups):
        return ""
    return "Correct minus claimed" if task == "classes" else "Observed minus predicted"


def times(ratio: float) -> str:
    """A ratio in the table."""
    return number(ratio, 3)


def subgroup_chart(findings: SubgroupFindings) -> Markup | None:
    """The subgroups with the largest errors, beside the error of all rows."""
    shown = [each for each in findings.groups if isfinite(each.error)][:MAX_BARS]
    if not shown:
        return None
    measure, names = findings.measure, [usable(each.name) for each in shown]
    value, low, high = interval_ends([each.interval for each in shown])
    marked = [usable(each.name) for each in shown if each.name in findings.clearly_worse]
    with chart_style():
        figure = new_figure(80 + ROW_HEIGHT * len(shown))
        ax = figure.subplots()
        SubgroupDisplay(names, value, low, high, findings.error, xlabel=measure, highlighted=marked).plot(ax=ax)
        ax.set_title("")
        set_few_ticks(ax.xaxis, measure)
        parts = (
            f"{one_line(name, MAX_LETTERS)}: {value_of(each.interval, measure)} ({interval_of(each.interval, measure)})"
            for name, each in zip(names, shown, strict=True)
        )
        title = f"{capital(measure)} of subgroups, with corrected intervals"
        overall = f"All rows: {loss_writer(measure)(findings.error)}"
        return inline_svg(figure, "chart-subgroups", title, f"{overall}. {'; '.join(parts)}.")
