"""The chart of chunks: the loss, the unusual rows and the AUC, one below the other."""

from collections.abc import Sequence
from math import isfinite, nan
from typing import Any

from markupsafe import Markup

from surefoot.plots.style import COLOURS, LEGEND_SIZE, REFERENCE_COLOUR
from surefoot.report.page.chart_svg import chart_style, inline_svg, new_figure, usable
from surefoot.report.page.charts import set_few_ticks
from surefoot.report.page.numbers import one_line
from surefoot.report.sections.over_time.findings import LEVEL, ChunkFindings, OverTimeFindings
from surefoot.report.statistics import Estimate

PANEL_HEIGHT, LABEL_HEIGHT = 150, 60
MAX_LETTERS = 14  # of a name below the chart
MAX_LINE = 30  # letters of all names that fit side by side
DOT = 7.0  # points, the width of a dot
SPREAD = 0.13  # distance of two points of one chunk
Series = tuple[str, str, list[Estimate | None], list[bool]]  # label, colour, estimates, which are shown to differ


def over_time_chart(findings: OverTimeFindings) -> Markup:
    """Three panels with the chunks side by side; filled points are those that are shown to differ."""
    chunks = findings.chunks
    has_auc = any(chunk.auc is not None for chunk in chunks)
    with chart_style():
        figure = new_figure((2 + has_auc) * PANEL_HEIGHT + LABEL_HEIGHT)
        axes = figure.subplots(2 + has_auc, 1, sharex=True)
        _draw_losses(axes[0], findings)
        _draw_unusual(axes[1], chunks)
        if has_auc:
            _draw_auc(axes[2], chunks)
        _label_chunks(axes, [chunk.name for chunk in chunks])
        title = f"{findings.measure[0].upper()}{findings.measure[1:]}, unusual rows and AUC of each chunk"
        return inline_svg(figure, "chart-over-time", title, _described(findings))


def _label_chunks(axes: Any, names: list[str]) -> None:
    """The names of the chunks below the last panel, slanted if they are long."""
    short = [one_line(usable(name.removeprefix("from ")), MAX_LETTERS) for name in names]
    is_long = len("".join(short)) > MAX_LINE
    axes[-1].set_xticks(range(len(short)), short, rotation=45 if is_long else 0, ha="right" if is_long else "center")
    axes[-1].set_xlim(-0.6, len(short) - 0.4)
    for ax in axes:
        ax.tick_params(bottom=False, left=False)


def _draw_losses(ax: Any, findings: OverTimeFindings) -> None:
    """Expected and measured losses, with the loss on held-out training rows and its tolerance."""
    chunks, here = findings.chunks, findings.loss_here.value
    expected = [None if chunk.expected is None else chunk.expected.loss for chunk in chunks]
    measured = [chunk.measured for chunk in chunks]
    without = [chunk.measured is None for chunk in chunks]
    worse = [chunk.worse for chunk in chunks]
    series: list[Series] = []
    if any(each is not None for each in expected):
        shown = [a and b for a, b in zip(worse, without, strict=True)]
        series.append(("expected", COLOURS[0], expected, shown))
    if any(each is not None for each in measured):
        series.append(("measured", COLOURS[1], measured, worse))
    ax.axhline(here, color=REFERENCE_COLOUR, clip_on=False, linewidth=1)
    ax.axhline(here * (1 + findings.tolerance), color=REFERENCE_COLOUR, clip_on=False, linewidth=1, linestyle="--")
    _draw_series(ax, series)
    _limit(ax, series, here, here * (1 + findings.tolerance))
    ax.set_title(f"{findings.measure} (line: held-out training rows; dashed: tolerance)", fontsize=LEGEND_SIZE)
    set_few_ticks(ax.yaxis, findings.measure)


def _draw_unusual(ax: Any, chunks: Sequence[ChunkFindings]) -> None:
    """Fractions of unusual rows, with what chance gives."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    parts = [("uncertain", COLOURS[2], [chunk.uncertain for chunk in chunks])]
    parts.append(("outside the range", COLOURS[3], [chunk.outside for chunk in chunks]))
    series: list[Series] = []
    for label, colour, unusual in parts:
        known = [each for each in unusual if each is not None]
        if not known:
            continue
        fractions = [None if each is None else each.fraction for each in unusual]
        series.append((label, colour, fractions, [each is not None and each.p_value < LEVEL for each in unusual]))
        ax.axhline(known[0].expected, color=colour, linewidth=1, linestyle=":", clip_on=False)
    _draw_series(ax, series)
    _limit(ax, series, 0.0)
    ax.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.3g}%"))
    ax.set_title("unusual rows (dotted: by chance)", fontsize=LEGEND_SIZE)


def _draw_auc(ax: Any, chunks: Sequence[ChunkFindings]) -> None:
    """How well each chunk can be separated from training rows."""
    ax.axhline(0.5, color=REFERENCE_COLOUR, clip_on=False, linewidth=1, linestyle=":")
    from matplotlib.ticker import MaxNLocator

    series = [("AUC", COLOURS[0], [chunk.auc for chunk in chunks], [chunk.shifted for chunk in chunks])]
    _draw_series(ax, series)
    _limit(ax, series, 0.5)
    ax.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    ax.set_title("AUC of a classifier of training rows and chunk (dotted: chance)", fontsize=LEGEND_SIZE)


def _draw_series(ax: Any, series: list[Series]) -> None:
    """Points with their intervals, filled where they are shown to differ; a legend if there are several series.

    All intervals of a series are one line with gaps, and so are its points, as dots of a wide line: this makes the page
    smaller.
    """
    for place, (_, colour, estimates, shown) in enumerate(series):
        offset = SPREAD * (2 * place - len(series) + 1)
        points = [(k, each) for k, each in enumerate(estimates) if each is not None and isfinite(each.value)]
        ends = [(each.low if isfinite(each.low) else each.value) for _, each in points]
        tops = [(each.high if isfinite(each.high) else each.value) for _, each in points]
        at, values = [k + offset for k, _ in points], [each.value for _, each in points]
        hollow = [not shown[k] for k, _ in points]
        _draw_pieces(ax, at, ends, tops, color=colour, linewidth=1.5)
        _draw_pieces(ax, at, values, values, color=colour, linewidth=DOT)
        inner = [(x, value) for x, value, is_hollow in zip(at, values, hollow, strict=True) if is_hollow]
        _draw_pieces(ax, *[[pair[j] for pair in inner] for j in (0, 1, 1)], color="white", linewidth=DOT / 2)
    if len(series) > 1:
        from matplotlib.lines import Line2D

        handles = [Line2D([], [], color=colour, marker="o", linestyle="", label=label) for label, colour, *_ in series]
        ax.legend(handles=handles, fontsize=LEGEND_SIZE, frameon=False, loc="upper left", ncols=2, borderpad=0)


def _draw_pieces(ax: Any, at: list[float], low: list[float], high: list[float], **style: Any) -> None:
    """Vertical pieces of one line, with round ends."""
    x = [value for each in at for value in (each, each, nan)]
    y = [value for pair in zip(low, high, strict=True) for value in (*pair, nan)]
    ax.plot(x, y, solid_capstyle="round", clip_on=False, **style)


def _limit(ax: Any, series: list[Series], *also: float) -> None:
    """An axis for all values, with room for a legend; a very wide interval is cut off."""
    known = [each for _, _, estimates, _ in series for each in estimates if each is not None and isfinite(each.value)]
    values = [*also, *(each.value for each in known)]
    span = max(max(values) - min(values), 1e-9)
    ends = [*values, *(end for each in known for end in (each.low, each.high) if isfinite(end))]
    low, high = max(min(ends), min(values) - span), min(max(ends), max(values) + span)
    ax.set_ylim(low - 0.05 * (high - low), high + (0.3 if len(series) > 1 else 0.05) * (high - low))


def _described(findings: OverTimeFindings) -> str:
    """What is seen, for readers who do not see the chart; the table has the numbers."""
    differing = [one_line(usable(chunk.name), 40) for chunk in findings.chunks if chunk.differs]
    shown = f"shown to differ: {', '.join(differing)}" if differing else "none is shown to differ"
    return f"{len(findings.chunks)} chunks, {shown}. The table below has all numbers."
