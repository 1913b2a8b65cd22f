"""Figure 2: the heart's true and estimated data uncertainty, and its knowledge uncertainty."""

from pathlib import Path
from typing import Any

import numpy as np

from surefoot.plots.feature_map import FeatureMap
from surefoot_experiments.canvas import new_figure, save_figure
from surefoot_experiments.uncertainty.heart import CALM, NOISY
from surefoot_experiments.uncertainty.maps import draw_map
from surefoot_experiments.uncertainty.methods import SGLB_ENSEMBLE

SCALE = {"vmin": 0.5 * CALM, "vmax": 1.25 * NOISY}  # one scale for true and estimated


def draw_figure_2(path: Path, heart: Any) -> None:
    """Three panels side by side, as in the paper."""
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
