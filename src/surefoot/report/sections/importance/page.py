"""What the model uses, on the page: its sentences and charts."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from surefoot._formatting import number
from surefoot.plots.style import COLOURS
from surefoot.report.page.chart_svg import chart_style, inline_svg, new_figure, usable
from surefoot.report.page.charts import comparison_chart
from surefoot.report.page.numbers import one_line
from surefoot.report.page.templates import render
from surefoot.report.sections.importance.findings import ColumnImportance, ImportanceFindings, PartialDependence
from surefoot.report.sections.section import SectionContext
from surefoot.report.sections.sentences import called, listed
from surefoot.report.sections.stability.column_selection import LASSO, TREE
from surefoot.report.sections.stability.findings import StabilityFindings

TEMPLATE = "sections/importance/page.html.j2"
MAX_DOTS = 10
HELD = 0.95  # of the bags choose a column that the rows hold
RARELY = 0.05
ROW_HEIGHT, MAX_NAME, MAX_VALUE = 165, 24, 10
MAX_LISTED = 8
FEW_VALUES = 4  # between so few, the line shows no values


@dataclass(frozen=True)
class ColumnLine:
    """A column with the fraction of the bags of question 3 that choose it, and a mark where the two disagree."""

    importance: ColumnImportance
    chosen: float | None  # None if question 3 did not choose among such columns
    mark: str


def importance_page(findings: ImportanceFindings, context: SectionContext) -> Markup:
    """Importance with intervals beside the choices of question 3, and curves."""
    lines = [_line(each, context.findings.get("stability")) for each in findings.columns]
    return render(
        TEMPLATE,
        findings=findings,
        model=called(findings.model),
        lines=lines,
        sentences=() if findings.note else sentences(findings, lines),
        dots=None if findings.note else importance_chart(findings),
        curves=dependence_chart(findings) if findings.dependence else None,
        has_bags=any(line.chosen is not None for line in lines),
    )


def _line(importance: ColumnImportance, stability: StabilityFindings | None) -> ColumnLine:
    chosen = chosen_fraction(importance, stability)
    is_used, mark = importance.rise.low > 0, ""
    if chosen is not None and is_used and chosen < HELD:
        mark = "used, not held" if chosen <= RARELY else "used, undecided"
    if chosen is not None and not is_used and chosen >= HELD:
        mark = "held, not shown to be used"
    return ColumnLine(importance=importance, chosen=chosen, mark=mark)


def chosen_fraction(importance: ColumnImportance, stability: StabilityFindings | None) -> float | None:
    """The fraction of the bags in which the LASSO or the tree chooses a column, whichever is larger."""
    sets = [] if stability is None else [each for each in stability.sets if each.selector in (LASSO, TREE)]
    if not sets or not importance.may_be_chosen:
        return None
    return max(dict(each.inclusion).get(importance.column, 0.0) for each in sets)


def sentences(findings: ImportanceFindings, lines: list[ColumnLine]) -> tuple[str, ...]:
    """Which columns are used, and where this differs from question 3."""
    used = [line.importance.column for line in lines if line.importance.rise.low > 0]
    model, rise = called(findings.model), f"{findings.loss_name} on held-out rows"
    if not used:
        return (f"No column is shown to be used by {model}: permuting one does not clearly raise its {rise}.",)
    first = (
        f"{len(used)} of {len(lines)} columns are shown to be used by {model}: permuting one of them raises its "
        f"{rise}, which is {number(findings.loss)}. The most important one is {_name(used[0])}."
    )
    not_held = [line.importance.column for line in lines if line.mark.startswith("used")]
    not_used = [line.importance.column for line in lines if line.mark.startswith("held")]
    parts = [first]
    if not_held:
        parts.append(
            f"The model uses {_names(not_held)}, but bags of rows do not agree on choosing "
            f"{'it' if len(not_held) == 1 else 'them'} (question 3)."
        )
    if not_used:
        verb = "is" if len(not_used) == 1 else "are"
        parts.append(f"Bags of rows choose {_names(not_used)}, which {verb} not shown to be used by the model.")
    if any(line.importance.alternatives for line in lines):
        parts.append(
            "Columns with alternatives share their importance: the model can use one instead of the other, so each "
            "alone seems less important than they are together."
        )
    return tuple(parts)


def _name(column: str) -> str:
    return one_line(usable(column), 60)


def _names(columns: list[str]) -> str:
    """Names of columns, not too many."""
    shown = [_name(each) for each in columns[:MAX_LISTED]]
    more = len(columns) - len(shown)
    return listed([*shown, f"{more} more"] if more else shown)


def importance_chart(findings: ImportanceFindings) -> Markup | None:
    """The rise of the loss by column, with intervals."""
    shown = findings.columns[:MAX_DOTS]
    used = [each.column for each in shown if each.rise.low > 0]
    measure = f"rise of the {findings.loss_name}"
    return comparison_chart(
        "importance", [each.column for each in shown], [each.rise for each in shown], measure, used, "by column"
    )


def dependence_chart(findings: ImportanceFindings) -> Markup:
    """Small charts of the mean prediction by the value of each column."""
    curves = findings.dependence
    n_rows = -(-len(curves) // 2)
    with chart_style():
        figure = new_figure(30 + ROW_HEIGHT * n_rows)
        axes = np.atleast_1d(figure.subplots(n_rows, 2, sharey=True)).ravel()
        for ax, curve in zip(axes, curves, strict=False):
            _draw(ax, curve)
        for ax in axes[len(curves) :]:
            ax.set_axis_off()
        title = f"Partial dependence: mean {one_line(usable(findings.output), 60)} by the value of a column"
        return inline_svg(figure, "chart-dependence", title, f"{'. '.join(map(_in_words, curves))}.")


def _draw(ax: Any, curve: PartialDependence) -> None:
    ax.set_title(one_line(usable(curve.column), MAX_NAME))
    x, mean, low, high = (np.array(each) for each in (curve.positions, curve.mean, curve.low, curve.high))
    if curve.is_category:
        ax.vlines(x, low, high, color=COLOURS[0], linewidth=1.5)
        ax.plot(x, mean, "o", color=COLOURS[0], markersize=5)
        ax.set_xlim(-0.5, len(x) - 0.5)
        labels = [one_line(usable(each), MAX_VALUE) for each in curve.values]
        ax.set_xticks(x, labels, rotation=40, ha="right", rotation_mode="anchor")
        return
    ax.fill_between(x, low, high, color=COLOURS[0], alpha=0.2, linewidth=0)
    ax.plot(x, mean, color=COLOURS[0], marker="o" if len(x) <= FEW_VALUES else None, markersize=4)
    ends = [0, len(x) - 1] if len(x) > 1 else [0]
    ax.set_xticks(x[ends], [one_line(usable(curve.values[k]), MAX_VALUE) for k in ends])


def _in_words(curve: PartialDependence) -> str:
    """A few points, for readers who do not see the chart."""
    every = list(zip(curve.values, curve.mean, strict=True))
    points = every if curve.is_category else every[:: max(1, len(every) // 3)]
    shown = "; ".join(f"{one_line(usable(value), 40)}: {number(mean)}" for value, mean in points)
    return f"{one_line(usable(curve.column), 60)}: {shown}"
