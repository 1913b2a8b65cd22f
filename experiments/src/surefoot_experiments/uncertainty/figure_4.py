"""Figure 4: knowledge uncertainty of the ensemble beside that of the virtual ensemble, on heart and spiral."""

from pathlib import Path
from typing import Any

from surefoot_experiments.canvas import new_figure, save_figure
from surefoot_experiments.uncertainty.maps import TITLES, draw_map


def draw_figure_4(path: Path, heart: Any, spiral: Any) -> None:
    """Four panels side by side, as in the paper; each has a scale of its own."""
    figure = new_figure(19.0, 4.0)
    panels = figure.subplots(1, 4)
    plans = [("Heart", heart, "target squared", "Reds"), ("Spiral", spiral, "nats", "Blues")]
    shown = [(plan, method) for plan in plans for method in TITLES]
    for ax, letter, ((name, frame, unit, colours), method) in zip(panels, "abcd", shown, strict=True):
        draw_map(ax, frame, method, "knowledge", f"({letter}) {name} {TITLES[method]} KU", unit, cmap=colours)
        if name == "Heart":
            ax.invert_yaxis()
    figure.suptitle("Figure 4: knowledge uncertainty of ensembles (SGLB) and virtual ensembles (vSGLB)")
    save_figure(path, figure)
