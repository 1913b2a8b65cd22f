"""The charts of question 2: rejection and calibration."""

from typing import Any

import numpy as np
from markupsafe import Markup

from surefoot.metrics.calibration import CalibrationCurve
from surefoot.metrics.rejection import RejectionCurve
from surefoot.plots.calibration_display import CalibrationDisplay
from surefoot.plots.rejection_curve_display import ERROR_NAMES, RejectionCurveDisplay
from surefoot.plots.style import COLOURS, shortened
from surefoot.report.models.scoring import ERROR_RATE
from surefoot.report.page.chart_svg import Frame, chart_style, frame_of, inline_svg, new_figure, usable
from surefoot.report.page.charts import CURVE_HEIGHT, label_above, set_few_ticks
from surefoot.report.page.numbers import loss_writer, percent
from surefoot.report.sections.uncertainty.findings import Calibration, Rejection, UncertaintyFindings

RARELY = 0.5  # probabilities that stay below are drawn larger
SQUARE_HEIGHT = 360
NAMED_FRACTIONS = (0.0, 0.1, 0.2, 0.3, 0.5)  # of rejected rows, for readers who do not see the chart


def rejection_chart(knowing: UncertaintyFindings, measure: str) -> tuple[Markup, Frame] | None:
    """What is left of the loss as rows are handed over, and where a marker is to be put on it."""
    if knowing.by_total is None or len(knowing.by_total.rejected) < 2:
        return None
    loss = "zero_one" if measure == ERROR_RATE else "squared_error"
    both = {"total": knowing.by_total, "knowledge": knowing.by_knowledge}
    orders = {name: rejection for name, rejection in both.items() if rejection is not None}
    with chart_style():
        figure = new_figure(CURVE_HEIGHT)
        ax = figure.subplots()
        for name, rejection in orders.items():
            if len(rejection.rejected) > 1:
                RejectionCurveDisplay(_curve_of(rejection, loss), name=name).plot(ax=ax)
        set_few_ticks(ax.yaxis, measure)
        label_above(ax, ax.get_ylabel())
        ax.set_xlabel("rows handed over, most uncertain first")
        title = f"What is left of the {ERROR_NAMES[loss]} as rows are handed over"
        said = (
            f"By {name} uncertainty, {_rejection_in_words(rejection, measure)}" for name, rejection in orders.items()
        )
        frame = frame_of(ax)
        return inline_svg(figure, "chart-rejection", title, " ".join(said), marker=True), frame


def _curve_of(rejection: Rejection, loss: str) -> RejectionCurve:
    lines = (rejection.rejected, rejection.error, rejection.random, rejection.oracle)
    rejected, error, random, oracle = (np.asarray(line, dtype=np.float64) for line in lines)
    return RejectionCurve(
        rejected, error, random, oracle, loss, None if rejection.ratio is None else rejection.ratio.value
    )


def _rejection_in_words(rejection: Rejection, measure: str) -> str:
    """What is left at a few shares, beside a random and the best order."""
    write = loss_writer(measure)
    if not rejection.rejected:
        return "nothing is known."
    told = []
    for share in NAMED_FRACTIONS:
        own, random, oracle = (
            float(np.interp(share, rejection.rejected, line))
            for line in (rejection.error, rejection.random, rejection.oracle)
        )
        told.append(
            f"{percent(share, 0)} handed over: {write(own)} left (random order {write(random)}, best {write(oracle)})"
        )
    return f"{'; '.join(told)}."


def calibration_chart(calibration: Calibration, key: str = "calibration") -> Markup | None:
    """Promised against observed shares."""
    fields = (calibration.expected, calibration.observed, calibration.low, calibration.high, calibration.counts)
    if len(calibration.expected) < 2:
        return None
    expected, observed, low, high, counts = (np.asarray(field) for field in fields)
    curve = CalibrationCurve(expected, observed, low, high, counts)
    xlabel, ylabel = (shortened(usable(label), 52) for label in (calibration.xlabel, calibration.ylabel))
    with chart_style():
        figure = new_figure(SQUARE_HEIGHT)
        ax = figure.subplots()
        bins: dict[str, Any] = {} if calibration.coverage else {"linestyle": "none", "marker": "o", "markersize": 6}
        display = CalibrationDisplay(curve, xlabel, ylabel).plot(ax=ax, **bins)
        if bins:  # each has rows of its own, and nothing is known between them
            display.band_.remove()
            ax.vlines(expected, low, high, color=COLOURS[0], linewidth=1.5)
        _zoom(ax, float(min(expected.min(), low.min())))
        if calibration.of_class is not None and expected.max() < RARELY:
            ax.set(xlim=(0.0, 1.05 * float(expected.max())), ylim=(0.0, 1.05 * float(high.max())))
        label_above(ax, ylabel)
        said = f"{_calibration_in_words(calibration)}."
        return inline_svg(figure, f"chart-{key}", f"Calibration: {xlabel} against {ylabel}", said)


def _zoom(ax: Any, least: float) -> None:
    """Leave out shares that nothing is promised of, and the legend: the caption says what the dashed line is."""
    ax.get_legend().remove()
    start = 0.0 if least < 0.2 else np.floor(10 * least) / 10
    ax.set(xlim=(start, 1.0), ylim=(start, 1.01))
    if start:
        ticks = np.arange(10, round(10 * start) - 1, -1 if start > 0.45 else -2) / 10
        ax.set(xticks=ticks, yticks=ticks)


def _calibration_in_words(calibration: Calibration) -> str:
    points = list(zip(calibration.expected, calibration.observed, calibration.low, calibration.high, strict=True))
    told = points[:: max(1, len(points) // 10)]
    return "; ".join(
        f"promised {percent(promised)}, observed {percent(seen)} ({percent(low)} to {percent(high)})"
        for promised, seen, low, high in told
    )
