"""The chart of the study: every method's ratio to plain boosting, task by task and on average."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.plots.style import COLOURS, REFERENCE_COLOUR
from surefoot_experiments.shift.protocol import MAX_HARMLESS_RATIO, SELECTIONS
from surefoot_experiments.shift.ratios import Average, TaskRatio
from surefoot_experiments.skeleton.report import new_figure, save_figure

LEFT, RIGHT = 0.7, 1.6  # ratios beyond are drawn at the edge; means are labelled with their value
TICKS = (0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5)
MARKERS = dict(zip(SELECTIONS, zip(COLOURS, "osD", strict=False), strict=False))


def draw_ratios(path: Path, title: str, ratios: Sequence[TaskRatio], averages: Sequence[Average], default: str) -> None:
    """Draw a panel for each budget and a row for each method: small marks are tasks, the bar is the mean."""
    budgets = list(dict.fromkeys(entry.budget for entry in ratios))
    methods = list(dict.fromkeys(entry.method for entry in ratios))
    figure = new_figure(2.2 + 5.2 * len(budgets), 1.9 + 0.55 * len(methods))
    axes = figure.subplots(1, len(budgets), sharex=True, sharey=True, squeeze=False)[0]
    for ax, budget in zip(axes, budgets, strict=True):
        ax.axvspan(1.0, MAX_HARMLESS_RATIO, color="0.9", zorder=0)
        ax.axvline(1.0, color=REFERENCE_COLOUR, linewidth=1.2, zorder=1)
        for place, method in enumerate(methods):
            _draw_tasks(ax, place, [entry for entry in ratios if (entry.budget, entry.method) == (budget, method)])
            for average in averages:
                if (average.budget, average.method) == (budget, method):
                    _draw_average(ax, place, average)
        ax.set(title=f"{budget} models", xlabel="target RMSE divided by that of plain boosting (left is better)")
    labels = [f"{method} (default)" if method == default else method for method in methods]
    axes[0].set_yticks(range(len(methods)), labels)
    axes[0].set_ylim(len(methods) - 0.5, -0.5)
    _finish(axes)
    _draw_legend(figure)
    figure.suptitle(title)
    save_figure(path, figure)


def _draw_tasks(ax: Any, place: int, ratios: Sequence[TaskRatio]) -> None:
    """Give each selection a third of the row's height, so that marks do not hide each other."""
    style: dict[str, Any] = {"markersize": 4, "alpha": 0.55, "markeredgewidth": 0, "zorder": 2, "clip_on": False}
    for k, (selection, (colour, marker)) in enumerate(MARKERS.items()):
        for ratio in (entry.ratio for entry in ratios if entry.selection == selection):
            shape = ">" if ratio > RIGHT else "<" if ratio < LEFT else marker
            ax.plot(np.clip(ratio, LEFT, RIGHT), place + 0.2 * (k - 1), shape, color=colour, **style)


def _draw_average(ax: Any, place: int, average: Average) -> None:
    if not LEFT <= average.ratio <= RIGHT:
        side = "right" if average.ratio > RIGHT else "left"
        inside = RIGHT / 1.02 if average.ratio > RIGHT else LEFT * 1.02
        ax.text(inside, place, f"mean {average.ratio:.2f}", ha=side, va="center", fontsize="small")
        return
    if not np.isnan(average.low):
        ends = np.clip([average.low, average.high], LEFT, RIGHT)
        ax.plot(ends, [place, place], color="black", linewidth=2.2, zorder=3)
    ax.plot(average.ratio, place, "|", color="black", markersize=15, markeredgewidth=2.2, zorder=4)


def _finish(axes: Any) -> None:
    axes[0].set_xscale("log")
    axes[0].set_xlim(LEFT, RIGHT)
    for ax in axes:
        ax.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
        ax.set_xticks([], minor=True)
        ax.grid(axis="x", alpha=0.25)
        ax.spines[["top", "right"]].set_visible(False)


def _draw_legend(figure: Any) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    style: dict[str, Any] = {"linestyle": "none", "alpha": 0.55, "markeredgewidth": 0}
    handles: list[Any] = [
        Line2D([], [], color=colour, marker=marker, label=f"biased by {selection}", **style)
        for selection, (colour, marker) in MARKERS.items()
    ]
    handles += [
        Line2D([], [], color="black", marker="|", markersize=12, markeredgewidth=2.2, linewidth=2.2,
               label="mean over datasets, 95% interval"),
        Patch(color="0.9", label=f"up to {MAX_HARMLESS_RATIO:g}: no harm"),
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
