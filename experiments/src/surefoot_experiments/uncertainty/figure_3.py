"""Figure 3: the spiral, its total and its knowledge uncertainty."""

from pathlib import Path
from typing import Any

from surefoot.plots.style import COLOURS
from surefoot_experiments.canvas import new_figure, save_figure
from surefoot_experiments.uncertainty.maps import draw_map
from surefoot_experiments.uncertainty.methods import SGLB_ENSEMBLE
from surefoot_experiments.uncertainty.spiral import EXTENT, N_CLASSES, training_rows


def draw_figure_3(path: Path, spiral: Any) -> None:
    """Three panels side by side, as in the paper."""
    figure = new_figure(15.0, 4.4)
    first, second, third = figure.subplots(1, 3)
    points, classes = training_rows()
    for k in range(N_CLASSES):
        first.scatter(*points[classes == k].T, s=3, color=COLOURS[k], linewidths=0)
    first.set(title="(a) Spiral dataset", aspect="equal", xlabel="x1", ylabel="x2")
    first.set(xlim=(-EXTENT, EXTENT), ylim=(-EXTENT, EXTENT))
    draw_map(second, spiral, SGLB_ENSEMBLE, "total", "(b) Total uncertainty", "nats", cmap="Blues")
    draw_map(third, spiral, SGLB_ENSEMBLE, "knowledge", "(c) Knowledge uncertainty", "nats", cmap="Blues")
    figure.suptitle("Figure 3, spiral: ensemble of SGLB models")
    save_figure(path, figure)
