"""Pictures of several parts: correlations, and the instability of rules over trials and numbers of bags."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.plots import RuleCurve, StabilityDisplay
from surefoot.plots.style import LEGEND_SIZE
from surefoot_experiments.skeleton.report import new_figure, save_figure

MAX_LABELS = 30  # more names would be too small to read


def draw_correlations(ax: Any, matrix: np.ndarray, labels: Sequence[str], label: str = "correlation") -> None:
    """Draw a matrix of numbers between -1 and 1 as coloured squares; NaN is grey."""
    from matplotlib import colormaps

    colours = colormaps["RdBu_r"].with_extremes(bad="0.8")
    image = ax.imshow(np.ma.masked_invalid(matrix), cmap=colours, vmin=-1, vmax=1)
    places = range(len(labels)) if len(labels) <= MAX_LABELS else []
    shown = [labels[place] for place in places]
    turn = 90 if shown and max(map(len, shown)) > 2 else 0
    ax.set_xticks(places, shown, rotation=turn, fontsize=LEGEND_SIZE)
    ax.set_yticks(places, shown, fontsize=LEGEND_SIZE)
    ax.tick_params(length=0)
    ax.figure.colorbar(image, ax=ax, label=label, shrink=0.85)


def save_correlations(path: Path, title: str, matrix: np.ndarray, labels: Sequence[str]) -> None:
    """Save a figure of one matrix."""
    figure = new_figure(6.4, 5.4)
    draw_correlations(figure.subplots(), matrix, labels)
    figure.suptitle(title)
    save_figure(path, figure)


def save_stability(path: Path, title: str, curves: Sequence[RuleCurve]) -> None:
    """Save the three panels of figures 3 and 7."""
    figure = new_figure(13.5, 4.9)
    display = StabilityDisplay(curves).plot(axes=figure.subplots(1, 3))
    legend_below(figure, display.axes_[0])
    figure.suptitle(title)
    save_figure(path, figure)


def save_by_bags(path: Path, title: str, panels: Mapping[str, Mapping[int, Sequence[float]]]) -> None:
    """Save figures 12 and 13: the distribution of each rule's instability over trials, by the number of bags."""
    figure = new_figure(4.0 * len(panels), 4.2)
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, (name, by_bags) in zip(axes, panels.items(), strict=True):
        curves = [RuleCurve(f"{bags:,} bags", values, worst=[max(values)]) for bags, values in by_bags.items()]
        StabilityDisplay(curves).plot(axes=[ax])
        ax.set_title(name)
        ax.label_outer()
    legend_below(figure, axes[0])
    for ax in axes[1:]:
        ax.get_legend().remove()
    figure.suptitle(title)
    save_figure(path, figure)


def legend_below(figure: Any, ax: Any) -> None:
    """Move the legend of one panel below all panels."""
    legend = ax.get_legend()
    handles, labels = legend.legend_handles, [text.get_text() for text in legend.get_texts()]
    legend.remove()
    style: dict[str, Any] = {"frameon": False, "fontsize": LEGEND_SIZE, "ncols": min(len(handles), 5)}
    figure.legend(handles, labels, loc="outside lower center", **style)
