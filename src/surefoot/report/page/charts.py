"""Charts, and parts of charts, of several sections."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from surefoot.plots.comparison_display import ComparisonDisplay
from surefoot.plots.style import REFERENCE_COLOUR
from surefoot.report.models.scoring import RATES
from surefoot.report.page.chart_svg import chart_style, inline_svg, new_figure, usable
from surefoot.report.page.numbers import interval_of, one_line, value_of
from surefoot.report.statistics import Estimate

MAX_LETTERS = 60  # of a name in the description of a chart
ROW_HEIGHT = 34  # units of height for a line of a comparison
CURVE_HEIGHT = 300


def comparison_chart(
    key: str,
    names: list[str],
    losses: list[Estimate],
    measure: str,
    marked: list[str],
    where: str,
    reference: float | None = None,
) -> Markup | None:
    """Estimates of one measure, one per line, each with its interval; a dashed line marks ``reference``."""
    if not names:
        return None
    value, low, high = interval_ends(losses)
    with chart_style():
        figure = new_figure(60 + ROW_HEIGHT * len(names))
        ax = figure.subplots()
        drawn = [usable(name) for name in names]
        described = [one_line(name, MAX_LETTERS) for name in drawn]
        highlighted = [usable(name) for name in marked]
        ComparisonDisplay(drawn, value, low, high, measure, highlighted=highlighted).plot(ax=ax)
        if reference is not None:
            ax.axvline(reference, color=REFERENCE_COLOUR, linestyle="--", linewidth=1)
        set_few_ticks(ax.xaxis, measure)
        parts = (
            f"{name}: {value_of(loss, measure)} ({interval_of(loss, measure)})"
            for name, loss in zip(described, losses, strict=True)
        )
        title = f"{measure[0].upper()}{measure[1:]} {where}, with 95% intervals"
        return inline_svg(figure, f"chart-{key}", title, f"{'; '.join(parts)}.")


def interval_ends(losses: Sequence[Estimate]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values and both ends of their intervals."""
    value, low, high = np.array([(loss.value, loss.low, loss.high) for loss in losses]).T
    return value, low, high


def label_above(ax: Any, label: str) -> None:
    """Put the label of the vertical axis above it, where it is horizontal and takes no width."""
    ax.set_title(label)
    ax.set_ylabel("")


def set_few_ticks(side: Any, measure: str) -> None:
    """Put a few round numbers along an axis, in percent if the measure is a rate."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    side.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    is_rate = measure in RATES
    side.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.3g}%" if is_rate else f"{value:,.6g}"))
