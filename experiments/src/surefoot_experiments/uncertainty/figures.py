"""Figures 2 to 4: the uncertainty on the heart and spiral datasets."""

from pathlib import Path
from typing import Any

import numpy as np

from surefoot.plots.feature_map import FeatureMap
from surefoot.plots.style import COLOURS
from surefoot_experiments.skeleton.report import new_figure, save_figure
from surefoot_experiments.uncertainty.heart import HIGH_NOISE, LOW_NOISE
from surefoot_experiments.uncertainty.maps import TITLES, draw_map
from surefoot_experiments.uncertainty.methods import SGLB_ENSEMBLE
from surefoot_experiments.uncertainty.spiral import EXTENT, N_CLASSES, training_rows

SCALE = {"vmin": 0.5 * LOW_NOISE, "vmax": 1.25 * HIGH_NOISE}  # one scale for true and estimated uncertainty


def draw_figure_2(path: Path, heart: Any) -> None:
    """Draw three panels in a row, as in the paper."""
    figure = new_figure(15.0, 4.4)
    first, second, third = figure.subplots(1, 3)
    truth = np.where(heart["inside"], np.nan, heart["true_variance"])
    image = FeatureMap.from_table(heart, ["x2", "x1"]).draw(first, truth, cmap="Reds", **SCALE)
    figure.colorbar(image, ax=first, label="variance of the noise (target²)")
    first.set(title="(a) True data uncertainty", aspect="equal")
    draw_map(
        second, heart, SGLB_ENSEMBLE, "data", "(b) Estimated data uncertainty", "target squared", cmap="Reds", **SCALE
    )
    draw_map(third, heart, SGLB_ENSEMBLE, "knowledge", "(c) Knowledge uncertainty", "target squared", cmap="Reds")
    for ax in (first, second, third):
        ax.invert_yaxis()
    figure.suptitle("Figure 2, heart: ensemble of SGLB models. The grey cells of (a) have no training rows")
    save_figure(path, figure)


def draw_figure_3(path: Path, spiral: Any) -> None:
    """Draw three panels in a row, as in the paper."""
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


def draw_figure_4(path: Path, heart: Any, spiral: Any) -> None:
    """Draw four panels in a row, as in the paper, each with its own scale."""
    figure = new_figure(19.0, 4.0)
    panels = figure.subplots(1, 4)
    datasets = [("Heart", heart, "target squared", "Reds"), ("Spiral", spiral, "nats", "Blues")]
    shown = [(dataset, method) for dataset in datasets for method in TITLES]
    for ax, letter, ((name, frame, unit, colours), method) in zip(panels, "abcd", shown, strict=True):
        draw_map(ax, frame, method, "knowledge", f"({letter}) {name} {TITLES[method]} KU", unit, cmap=colours)
        if name == "Heart":
            ax.invert_yaxis()
    figure.suptitle("Figure 4: knowledge uncertainty of ensembles (SGLB) and virtual ensembles (vSGLB)")
    save_figure(path, figure)
