"""Figures without a screen, saved whole."""

from pathlib import Path
from typing import Any

from surefoot._whole_files import whole_file

DOTS_PER_INCH = 110


def new_figure(width: float, height: float) -> Any:
    """An empty figure, in inches, that no window will ever show."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_figure(path: Path, figure: Any) -> None:
    """Write the figure as PNG."""
    with whole_file(path) as stream:
        figure.canvas.print_png(stream)
