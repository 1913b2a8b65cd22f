"""A picture of each table: our numbers (filled markers, with standard errors) and the paper's (hollow markers)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, sqrt
from pathlib import Path
from typing import Any

from surefoot.plots.style import COLOURS
from surefoot_experiments.skeleton.report import new_figure, save_figure
from surefoot_experiments.uncertainty.comparison_table import TITLES, TableCell, TableLayout
from surefoot_experiments.uncertainty.table_2 import MEASURES, ThresholdRow

SUFFIXES = {"total": " TU", "knowledge": " KU", "": ""}
ROW_HEIGHT, PANEL_WIDTH = 0.34, 6.4
MARKERS = "osD^v"
PERCENTAGES = ("prr", "auc")  # drawn directly; likelihoods and errors are drawn as differences to the paper's


@dataclass(frozen=True)
class Point:
    """One of our numbers, its standard error, and the paper's number (None if ours is the difference to it)."""

    row: int
    series: str
    ours: float
    error: float
    paper: float | None


@dataclass(frozen=True)
class Panel:
    """Rows of points under a title."""

    title: str
    xlabel: str
    rows: list[str]
    points: list[Point]


def draw_comparison(path: Path, layout: TableLayout, cells: Sequence[TableCell]) -> None:
    """Draw the cells for which the paper has a number, with a panel for each block of the table."""
    panels = [_panel(task, measure, cells) for task, measure in layout.parts]
    _draw(path, f"Table {layout.number}: {layout.title}", [panel for panel in panels if panel.points])


def draw_table_2(path: Path, title: str, rows: Sequence[ThresholdRow]) -> None:
    """Draw our mean minus the better of NGBoost and CatBoost; the hollow marker is the threshold."""
    panels = []
    for measure, name in MEASURES.items():
        of_measure = [row for row in rows if row.measure == measure]
        points = [
            Point(
                row=k,
                series="SGB",
                ours=row.score.mean - row.better.value,
                error=row.score.deviation / sqrt(len(row.score.splits)),
                paper=row.threshold - row.better.value,
            )
            for k, row in enumerate(of_measure)
        ]
        xlabel = f"{name} minus the better of NGBoost and CatBoost"
        panels.append(Panel(name, xlabel, [row.dataset.title for row in of_measure], points))
    _draw(path, title, [panel for panel in panels if panel.points], hollow="threshold")


def _panel(task: str, measure: str, cells: Sequence[TableCell]) -> Panel:
    of_panel = [
        cell for cell in cells if (cell.dataset.task, cell.measure) == (task, measure) and cell.paper is not None
    ]
    labels = list(dict.fromkeys(_label(cell) for cell in of_panel))
    points = [point for cell in of_panel if (point := _point(cell, labels.index(_label(cell)))) is not None]
    title = TITLES[measure, task]
    xlabel = title if measure in PERCENTAGES else f"{title} minus the paper's"
    if measure == "error":
        xlabel = f"{title}, difference to the paper's in percent of it"
    return Panel(title=f"{task.capitalize()}, {title}", xlabel=xlabel, rows=labels, points=points)


def _label(cell: TableCell) -> str:
    return f"{cell.dataset.title}{'†' if cell.dataset.remark else ''}{SUFFIXES[cell.uncertainty]}"


def _point(cell: TableCell, row: int) -> Point | None:
    assert cell.paper is not None
    paper, error = cell.paper.value, cell.deviation / sqrt(cell.n_splits)
    if cell.measure in PERCENTAGES:
        return Point(row=row, series=cell.method, ours=cell.mean, error=error, paper=paper)
    if cell.measure == "nll":
        return Point(row=row, series=cell.method, ours=cell.mean - paper, error=error, paper=None)
    if paper == 0:  # printed as 0.00, so there is no percentage of it
        return None
    difference = 100 * (cell.mean / paper - 1)
    return Point(row=row, series=cell.method, ours=difference, error=100 * error / paper, paper=None)


def _draw(path: Path, title: str, panels: Sequence[Panel], hollow: str = "paper") -> None:
    """Draw the panels in two columns."""
    n_rows = max(-(-len(panels) // 2), 1)
    heights = [max([len(panel.rows) for panel in panels[2 * k : 2 * k + 2]], default=1) for k in range(n_rows)]
    figure = new_figure(2 * PANEL_WIDTH, 1.2 + sum(1.3 + ROW_HEIGHT * height for height in heights))
    figure.suptitle(title if panels else f"{title}: no results yet to compare with the paper's numbers")
    series = list(dict.fromkeys(point.series for panel in panels for point in panel.points))
    styles = {name: (COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]) for k, name in enumerate(series)}
    axes = figure.subplots(n_rows, 2, squeeze=False, height_ratios=[1.3 + ROW_HEIGHT * height for height in heights])
    for ax, panel in zip(axes.flat, panels, strict=False):
        _draw_panel(ax, panel, styles)
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    if panels:
        has_hollow = any(point.paper is not None for panel in panels for point in panel.points)
        _draw_legend(figure, styles, hollow if has_hollow else None)
    save_figure(path, figure)


def _draw_panel(ax: Any, panel: Panel, styles: dict[str, tuple[str, str]]) -> None:
    names = list(dict.fromkeys(point.series for point in panel.points))
    for point in panel.points:
        y = point.row + 0.7 * ((names.index(point.series) + 0.5) / len(names) - 0.5)  # so that markers do not overlap
        colour, marker = styles[point.series]
        error = None if isnan(point.error) else point.error
        ax.errorbar(point.ours, y, xerr=error, fmt=marker, markersize=4, color=colour, elinewidth=1)
        if point.paper is not None:
            ax.plot(point.paper, y, marker, markersize=5, markerfacecolor="none", markeredgecolor=colour)
    if all(point.paper is None for point in panel.points):
        ax.axvline(0.0, color="0.4", linewidth=1.2)
    ax.set_yticks(range(len(panel.rows)), panel.rows)
    ax.set_ylim(len(panel.rows) - 0.5, -0.5)
    ax.set(title=panel.title, xlabel=panel.xlabel)
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)


def _draw_legend(figure: Any, styles: dict[str, tuple[str, str]], hollow: str | None) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="none", label=name)
        for name, (colour, marker) in styles.items()
    ]
    if hollow is not None:
        plain: dict[str, Any] = {"color": "0.3", "marker": "o", "linestyle": "none"}
        handles += [
            Line2D([], [], label="ours", **plain),
            Line2D([], [], markerfacecolor="none", label=hollow, **plain),
        ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
