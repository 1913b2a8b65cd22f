"""The two figures: accuracy, and difference to AdaBoost, by the number of members."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot_experiments.skeleton.report import new_figure, save_figure
from surefoot_experiments.weak_to_strong.comparison import Accuracies
from surefoot_experiments.weak_to_strong.trials import ADABOOST, BAGGED, LARSEN_RITZERT, MAJORITY, TrialDataset

SHOWN_ERRORS = 2.0  # length of the error bars in standard errors
# Okabe and Ito's colours, which colour-blind readers can distinguish; markers and dashes differ too.
STYLES: dict[str, dict[str, Any]] = {
    ADABOOST: {"color": "#0072B2", "marker": "none", "linestyle": "--"},
    MAJORITY: {"color": "#D55E00", "marker": "o"},
    BAGGED: {"color": "#009E73", "marker": "s"},
    LARSEN_RITZERT: {"color": "#CC79A7", "marker": "^"},
}
X_OFFSETS = {MAJORITY: -0.22, BAGGED: 0.0, LARSEN_RITZERT: 0.22}  # so that error bars do not overlap
LINEAR_POINTS = 5.0  # a scale that goes far beyond this is logarithmic from this value on
WIDE_POINTS = 15.0
TICKS = (-50, -20, -10, -5, -2, 0, 2, 5)


def draw_figure(path: Path, accuracies: Accuracies, datasets: Sequence[TrialDataset], title: str) -> None:
    """Draw a column for each dataset: accuracy above, paired difference to AdaBoost below."""
    figure = new_figure(1.0 + 5.2 * len(datasets), 8.0)
    axes = figure.subplots(2, len(datasets), squeeze=False, sharex="col")
    for dataset, (above, below) in zip(datasets, axes.T, strict=True):
        _draw_accuracies(above, accuracies, dataset)
        _draw_differences(below, accuracies, dataset)
        above.set_title(_caption(accuracies, dataset), fontsize=10)
        below.set_xlabel("members")
    axes[0, 0].set_ylabel("test accuracy\nmean ± standard deviation over seeds")
    axes[1, 0].set_ylabel(f"difference to AdaBoost in points\nmean ± {SHOWN_ERRORS:g} standard errors")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.suptitle(title, fontsize=13)
    save_figure(path, figure)


def _caption(accuracies: Accuracies, dataset: TrialDataset) -> str:
    lines = [f"{dataset.title}, {dataset.rows:,} rows", dataset.note]
    counts = accuracies.counts(dataset.name, LARSEN_RITZERT)
    if len(counts) == 1:
        lines.append(f"Larsen-Ritzert: all {counts[0]} sub-samples")
    return "\n".join(lines)


def _draw_accuracies(axis: Any, accuracies: Accuracies, dataset: TrialDataset) -> None:
    x = accuracies.counts(dataset.name, MAJORITY)
    _draw_horizontal(axis, x, 1, accuracies.adaboost(dataset.name), ADABOOST, 1.0)
    for learner in X_OFFSETS:
        _draw_learner(axis, x, accuracies, dataset, learner, accuracies.curve(dataset.name, learner), 1.0)
    _format_axis(axis, x)


def _draw_differences(axis: Any, accuracies: Accuracies, dataset: TrialDataset) -> None:
    x = accuracies.counts(dataset.name, MAJORITY)
    axis.axhline(0.0, linewidth=1.8, color=STYLES[ADABOOST]["color"], linestyle="--")
    errors_per_deviation = SHOWN_ERRORS / np.sqrt(len(accuracies.seeds))
    lowest = 0.0
    for learner in X_OFFSETS:
        points = 100.0 * (accuracies.curve(dataset.name, learner) - accuracies.adaboost(dataset.name))
        _draw_learner(axis, x, accuracies, dataset, learner, points, errors_per_deviation)
        lowest = min(lowest, float(points.mean(axis=1).min()))
    if lowest < -WIDE_POINTS:
        axis.set_yscale("symlog", linthresh=LINEAR_POINTS, linscale=1.2)
        axis.set_yticks(TICKS, [f"{tick:+d}" if tick else "0" for tick in TICKS])
        axis.minorticks_off()
        note = f"beyond ±{LINEAR_POINTS:g} points the scale is logarithmic"
        axis.set_title(note, loc="right", fontsize=8, color="0.4")
    _format_axis(axis, x)


def _draw_learner(
    axis: Any,
    x: list[int],
    accuracies: Accuracies,
    dataset: TrialDataset,
    learner: str,
    values: np.ndarray,
    scale: float,
) -> None:
    """Draw a curve with error bars of ``scale`` deviations, or a horizontal line if there is one number of members."""
    counts = accuracies.counts(dataset.name, learner)
    if len(counts) == 1:
        _draw_horizontal(axis, x, 2, values[0], learner, scale)
        return
    style = STYLES[learner]
    axis.plot(counts, values.mean(axis=1), markersize=5, linewidth=1.7, label=learner, **style)
    shifted = np.array(counts) + X_OFFSETS[learner]
    _draw_bars(axis, shifted, values.mean(axis=1), scale * _deviation(values), style["color"])


def _draw_horizontal(axis: Any, x: list[int], position: int, values: np.ndarray, learner: str, scale: float) -> None:
    """Draw a horizontal line; its error bar is to the right of the last number of members."""
    style = STYLES[learner]
    axis.axhline(
        values.mean(), color=style["color"], linestyle=style.get("linestyle", "-."), linewidth=1.8, label=learner
    )
    _draw_bars(axis, np.array([x[-1] + 0.9 * position]), values.mean(), scale * _deviation(values), style["color"])


def _draw_bars(axis: Any, x: np.ndarray, middle: Any, length: np.ndarray, color: str) -> None:
    axis.errorbar(x, middle, yerr=length, fmt="none", ecolor=color, elinewidth=1.1, capsize=1.8, alpha=0.55)


def _format_axis(axis: Any, x: list[int]) -> None:
    axis.set_xticks(x)
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)


def _deviation(values: np.ndarray) -> np.ndarray:
    """The standard deviation over seeds; 0 if there is only one."""
    return values.std(axis=-1, ddof=1) if values.shape[-1] > 1 else np.zeros(values.shape[:-1])
