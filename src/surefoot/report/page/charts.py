"""The charts of the page, drawn by the displays of `surefoot.plots`."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
from markupsafe import Markup

from surefoot.metrics.calibration import CalibrationCurve
from surefoot.metrics.rejection import RejectionCurve
from surefoot.plots.calibration_display import CalibrationDisplay
from surefoot.plots.comparison_display import ComparisonDisplay
from surefoot.plots.learning_curve_display import LearningCurveDisplay
from surefoot.plots.model_weights_display import shortened
from surefoot.plots.rejection_curve_display import ERROR_NAMES, RejectionCurveDisplay
from surefoot.plots.style import COLOURS
from surefoot.report.models.scoring import ERROR_RATE, RATES
from surefoot.report.page.chart_svg import Frame, chart_style, frame_of, inline_svg, new_figure, usable
from surefoot.report.page.numbers import interval_of, loss_writer, percent, value_of, whole
from surefoot.report.sections.accuracy.findings import AccuracyFindings, LearningCurve
from surefoot.report.sections.shift.findings import ShiftFindings
from surefoot.report.sections.uncertainty.findings import Calibration, Rejection, UncertaintyFindings
from surefoot.report.statistics.estimates import Estimate

MOST_MODELS = 16  # that are drawn; the table has all
MOST_LETTERS = 60  # of a name in the words that go with a chart
ROW = 34  # units of height for a model
CURVE_HEIGHT = 300
RARELY = 0.5  # probabilities that stay below are drawn larger
SQUARE_HEIGHT = 360
NAMED_SHARES = (0.0, 0.1, 0.2, 0.3, 0.5)  # of rejected rows, that are told in words


def models_chart(accuracy: AccuracyFindings) -> Markup | None:
    """The models with their losses on the held-out rows."""
    shown = [model for model in accuracy.models[:MOST_MODELS] if isfinite(model.loss.value)]
    names = [model.name for model in shown]
    marked = [model.name for model in shown if model.chosen]
    return _comparison("models", names, [model.loss for model in shown], accuracy.measure, marked, "on held-out rows")


def transfer_chart(transfer: ShiftFindings) -> Markup | None:
    """The loss on held-out training rows beside what is measured, or to be expected, on the deployment data."""
    found = {"training data, held out": transfer.loss_here}
    found |= {f"deployment data, {part.name}": part.loss for part in transfer.losses}
    if transfer.weighted is not None:
        found["deployment data, expected"] = transfer.weighted.loss
    shown = {name: loss for name, loss in found.items() if loss is not None and isfinite(loss.value)}
    if len(shown) < 2:
        return None
    marked = [name for name in shown if name.startswith("deployment")]
    return _comparison("transfer", list(shown), list(shown.values()), transfer.measure, marked, "of the audited model")


def _comparison(
    key: str, names: list[str], losses: list[Estimate], measure: str, marked: list[str], where: str
) -> Markup | None:
    if not names:
        return None
    value, low, high = _ends(losses)
    with chart_style():
        figure = new_figure(60 + ROW * len(names))
        ax = figure.subplots()
        drawn = [usable(name) for name in names]
        spoken = [shortened(" ".join(name.split()), MOST_LETTERS) for name in drawn]
        highlighted = [usable(name) for name in marked]
        ComparisonDisplay(drawn, value, low, high, measure, highlighted=highlighted).plot(ax=ax)
        _few_ticks(ax.xaxis, measure)
        said = (
            f"{name}: {value_of(loss, measure)} ({interval_of(loss, measure)})"
            for name, loss in zip(spoken, losses, strict=True)
        )
        title = f"{measure[0].upper()}{measure[1:]} {where}, with 95% intervals"
        return inline_svg(figure, f"chart-{key}", title, f"{'; '.join(said)}.")


def learning_chart(curve: LearningCurve | None, measure: str) -> Markup | None:
    """The loss of the chosen model as its training rows double."""
    if curve is None or len(curve.n_rows) < 2 or not all(isfinite(loss.value) for loss in curve.loss):
        return None
    value, low, high = _ends(curve.loss)
    with chart_style():
        figure = new_figure(CURVE_HEIGHT)
        ax = figure.subplots()
        LearningCurveDisplay(curve.n_rows, value, low, high, measure).plot(ax=ax)
        _few_ticks(ax.yaxis, measure)
        _label_above(ax, f"{measure} on held-out rows")
        points = zip(curve.n_rows, curve.loss, strict=True)
        said = (
            f"{whole(n_rows)} rows: {value_of(loss, measure)} ({interval_of(loss, measure)})" for n_rows, loss in points
        )
        title = f"Learning curve: {measure} on held-out rows by number of training rows"
        return inline_svg(figure, "chart-learning", title, f"With 95% intervals. {'; '.join(said)}.")


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
        _few_ticks(ax.yaxis, measure)
        _label_above(ax, ax.get_ylabel())
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
    for share in NAMED_SHARES:
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
        _label_above(ax, ylabel)
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


def _ends(losses: Sequence[Estimate]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values and both ends of their intervals."""
    value, low, high = np.array([(loss.value, loss.low, loss.high) for loss in losses]).T
    return value, low, high


def _label_above(ax: Any, label: str) -> None:
    """The name of the upright axis above it, where it is read without turning one's head, and takes no width."""
    ax.set_title(label)
    ax.set_ylabel("")


def _few_ticks(side: Any, measure: str) -> None:
    """Round numbers along an axis, in percent if the measure is a rate."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    side.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    is_rate = measure in RATES
    side.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.3g}%" if is_rate else f"{value:,.6g}"))
