"""A picture of each table: our numbers, filled, beside the paper's, hollow."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, sqrt
from pathlib import Path
from typing import Any

from surefoot.plots.style import COLOURS
from surefoot.reproduce.canvas import new_figure, save_figure
from surefoot.reproduce.uncertainty.comparison_table import TITLES, Cell, Layout
from surefoot.reproduce.uncertainty.table_2 import MEASURES, BarRow

NAMED = {"total": " TU", "knowledge": " KU", "": ""}
ROW_HEIGHT, PANEL_WIDTH = 0.26, 5.6
SHARES = ("prr", "auc")  # drawn as they are; likelihoods and errors as differences to the paper's


@dataclass(frozen=True)
class Point:
    """A number of ours in row ``row``, its standard error, and the paper's."""

    row: int
    series: str
    ours: float
    error: float
    paper: float


@dataclass(frozen=True)
class Panel:
    """Rows of points under a title."""

    title: str
    xlabel: str
    rows: list[str]
    points: list[Point]


def draw_comparison(path: Path, layout: Layout, cells: Sequence[Cell]) -> None:
    """The cells that the paper has a number for, a panel for each block of the table."""
    panels = [_panel(task, measure, cells) for task, measure in layout.parts]
    _draw(path, f"Table {layout.number}: {layout.title}", [panel for panel in panels if panel.points])


def draw_bars(path: Path, title: str, rows: Sequence[BarRow]) -> None:
    """Our mean minus the better of NGBoost and CatBoost; the hollow marker is the bar."""
    panels = []
    for measure, name in MEASURES.items():
        here = [row for row in rows if row.measure == measure]
        points = [
            Point(
                k,
                "SGB",
                row.score.mean - row.better.value,
                row.score.deviation / sqrt(len(row.score.splits)),
                row.bar - row.better.value,
            )
            for k, row in enumerate(here)
        ]
        xlabel = f"{name} minus the better of NGBoost and CatBoost; hollow: the bar"
        panels.append(Panel(name, xlabel, [row.dataset.title for row in here], points))
    _draw(path, title, [panel for panel in panels if panel.points])


def _panel(task: str, measure: str, cells: Sequence[Cell]) -> Panel:
    here = [cell for cell in cells if (cell.dataset.task, cell.measure) == (task, measure) and cell.paper is not None]
    labels = list(dict.fromkeys(_label(cell) for cell in here))
    points = [point for cell in here if (point := _point(cell, labels.index(_label(cell)))) is not None]
    title = TITLES[measure, task]
    xlabel = title if measure in SHARES else f"{title} minus the paper's"
    if measure == "error":
        xlabel = f"{title}, difference to the paper's in percent of it"
    return Panel(f"{task.capitalize()}, {title}", xlabel, labels, points)


def _label(cell: Cell) -> str:
    return f"{cell.dataset.title}{'†' if cell.dataset.remark else ''}{NAMED[cell.uncertainty]}"


def _point(cell: Cell, row: int) -> Point | None:
    assert cell.paper is not None
    paper, error = cell.paper.value, cell.deviation / sqrt(cell.n_splits)
    if cell.measure in SHARES:
        return Point(row, cell.method, cell.mean, error, paper)
    if cell.measure == "nll":
        return Point(row, cell.method, cell.mean - paper, error, 0.0)
    if paper == 0:  # printed as 0.00: no percentage of it
        return None
    return Point(row, cell.method, 100 * (cell.mean / paper - 1), 100 * error / paper, 0.0)


def _draw(path: Path, title: str, panels: Sequence[Panel]) -> None:
    height = 2.0 + ROW_HEIGHT * max((len(panel.rows) for panel in panels), default=1)
    figure = new_figure(PANEL_WIDTH * max(len(panels), 1), height)
    if not panels:
        figure.text(0.5, 0.4, "no results that the paper has numbers for", ha="center")
    colours: dict[str, str] = {}
    for ax, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0] if panels else (), panels, strict=True):
        _draw_panel(ax, panel, colours)
    if panels:
        handles, labels = _legend(figure, colours)
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.suptitle(title)
    save_figure(path, figure)


def _draw_panel(ax: Any, panel: Panel, colours: dict[str, str]) -> None:
    names = list(dict.fromkeys(point.series for point in panel.points))
    for name in names:
        colours.setdefault(name, COLOURS[len(colours) % len(COLOURS)])
    for point in panel.points:
        y = point.row + 0.7 * ((names.index(point.series) + 0.5) / len(names) - 0.5)  # side by side, not on top
        colour = colours[point.series]
        bar = None if isnan(point.error) else point.error
        ax.errorbar(point.ours, y, xerr=bar, fmt="o", markersize=4, color=colour, elinewidth=1)
        ax.plot(point.paper, y, "o", markersize=5, markerfacecolor="none", markeredgecolor=colour)
    ax.set_yticks(range(len(panel.rows)), panel.rows)
    ax.set_ylim(len(panel.rows) - 0.5, -0.5)
    ax.set(title=panel.title, xlabel=panel.xlabel)
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)


def _legend(figure: Any, colours: dict[str, str]) -> tuple[list[Any], list[str]]:
    from matplotlib.lines import Line2D

    style = {"marker": "o", "linestyle": "none"}
    handles = [Line2D([], [], color=colour, **style) for colour in colours.values()]
    handles += [Line2D([], [], color="0.3", **style), Line2D([], [], color="0.3", markerfacecolor="none", **style)]
    return handles, [*colours, "ours ± standard error", "paper"]
