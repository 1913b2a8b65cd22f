"""Question 2 on the page: its sentences and its charts."""

from dataclasses import asdict
from math import isfinite, sqrt
from typing import Any

import numpy as np
from markupsafe import Markup

from surefoot.metrics.calibration import CalibrationCurve
from surefoot.metrics.rejection import RejectionCurve
from surefoot.plots.calibration_display import CalibrationDisplay
from surefoot.plots.rejection_curve_display import ERROR_NAMES, RejectionCurveDisplay
from surefoot.plots.style import COLOURS
from surefoot.report.models.scoring import ERROR_RATE
from surefoot.report.page.chart_svg import Frame, chart_style, frame_of, inline_svg, new_figure, usable
from surefoot.report.page.charts import CURVE_HEIGHT, label_above, set_few_ticks
from surefoot.report.page.numbers import (
    between,
    difference,
    hundredths,
    loss_writer,
    number,
    one_line,
    percent,
    points,
    whole,
)
from surefoot.report.page.templates import render
from surefoot.report.sections.section import SectionContext
from surefoot.report.sections.sentences import called
from surefoot.report.sections.uncertainty.calibration import TABLE_LEVELS
from surefoot.report.sections.uncertainty.findings import WELL_CALIBRATED, Calibration, Rejection, UncertaintyFindings
from surefoot.report.sections.uncertainty.measure import NATS
from surefoot.report.sections.uncertainty.verdict import (
    FAR_LEVEL,
    FAR_TOLERANCE,
    LITTLE_CLAIMED,
    MAX_SLOPE,
    MIN_SLOPE,
    TOLERANCE,
    gap_place,
    slope_error,
    slope_place,
)
from surefoot.report.statistics import INSIDE, OUTSIDE, Estimate, rate_interval

TEMPLATE = "sections/uncertainty/page.html.j2"
SLIDER_STEPS = 100  # one for every percent of the rows
TABLE_STEPS = (0, 5, 10, 20, 30, 50)
FIRST_STEP = 10
RARELY = 0.5  # probabilities that stay below are drawn larger
SQUARE_HEIGHT = 360
NAMED_FRACTIONS = (0.0, 0.1, 0.2, 0.3, 0.5)  # of rejected rows, for readers who do not see the chart
MAX_LABEL_LETTERS = 52


def uncertainty_page(findings: UncertaintyFindings, context: SectionContext) -> Markup:
    """The rejection curve with its slider, the calibration and the most uncertain rows."""
    calibration = findings.calibration
    return render(
        TEMPLATE,
        findings=findings,
        model=called(findings.model),
        measure=context.measure,
        is_rate=context.is_rate,
        rejection=_rejection(findings, context.measure),
        calibration=calibration,
        calibration_chart=None if calibration is None else calibration_chart(calibration),
        mean_in_words=mean_in_words,
        slope_in_words=slope_in_words,
        claim_in_words=claim_in_words,
        ratio_in_words=ratio_in_words,
        limits=_limits(calibration),
    )


def _limits(calibration: Calibration | None) -> dict[str, str]:
    """The limits of the verdict, in words."""
    far = [f"{100 * level:g}" for level in TABLE_LEVELS if level >= FAR_LEVEL]
    return {
        "slope": f"{MIN_SLOPE} and {MAX_SLOPE}",
        "gap": points(WELL_CALIBRATED if calibration is None else calibration.room),
        "claimed": str(LITTLE_CLAIMED),
        "coverage": f"{100 * TOLERANCE:g} points",
        "far_coverage": f"{100 * FAR_TOLERANCE:g} points",
        "levels": f"{', '.join(f'{100 * level:g}' for level in TABLE_LEVELS[:-1])} and {100 * TABLE_LEVELS[-1]:g}%",
        "far_levels": f"{' and '.join(far)}%",
    }


def mean_in_words(calibration: Calibration) -> str:
    """Whether probabilities are too high or too low on average; the limits are those of the verdict."""
    gap = calibration.gap
    assert gap is not None
    if calibration.of_class is None:
        side = "above" if gap.value >= 0 else "below"
        sentence = f"The mean confidence is {difference(gap, ERROR_RATE)} {side} the accuracy"
    else:
        share = calibration.share or 0.0
        sentence = (
            f"The mean predicted probability of {calibration.of_class} is {percent(share + gap.value)}; "
            f"{percent(share)} of the held-out rows are {calibration.of_class}. The difference is "
            f"{difference(gap, ERROR_RATE)}"
        )
    place, tolerance = gap_place(calibration), f"the tolerance of {points(calibration.room)}"
    if place == OUTSIDE:
        return f"{sentence}: the probabilities are too {'high' if gap.value > 0 else 'low'}."
    within = f"within {tolerance}" if place == INSIDE else f"not shown to be within {tolerance}"
    return f"{sentence}, {within}."


def slope_in_words(calibration: Calibration) -> str:
    """Whether probabilities are too close to 0 and 1; the limits are those of the verdict."""
    slope, change, place = calibration.slope, calibration.change, slope_place(calibration)
    assert slope is not None
    assert change is not None
    sentence = f"The calibration slope is {hundredths(slope.value)} (95% interval {between(slope, hundredths)})"
    limits = f"the limits of {MIN_SLOPE} and {MAX_SLOPE}"
    recalibrated = f"Recalibration would change the probabilities by {points(change)} on average."
    if place == OUTSIDE:
        return f"{sentence}: the probabilities are {slope_error(slope)}. {recalibrated}"
    within = f"between {limits}" if place == INSIDE else f"not shown to be between {limits}"
    return f"{sentence}, {within}. {recalibrated}"


def claim_in_words(claimed: Estimate) -> str:
    """The ratio that a model claims to have."""
    return (
        f"For targets drawn from the model's own predictions, the ratio by total uncertainty would be "
        f"{hundredths(claimed.value)} ({between(claimed, hundredths)} in 95% of draws): this is what the model claims."
    )


def ratio_in_words(ratio: Estimate | None) -> str:
    """A prediction-rejection ratio with its interval."""
    if ratio is None:
        return "undefined, as every row has the same loss"
    return f"{hundredths(ratio.value)} (95% interval {between(ratio, hundredths)})"


def _rejection(findings: UncertaintyFindings, measure: str) -> dict[str, Any] | None:
    """The rejection curve and the texts of its slider."""
    if findings.by_total is None:
        return None
    chart = rejection_chart(findings, measure)
    steps = rejection_steps(findings.by_total, measure, findings.n_rows, findings.unit, findings.by_groups)
    if chart is None or not steps:
        return None
    svg, frame = chart
    table = [steps[step] for step in TABLE_STEPS]
    data = {"frame": asdict(frame), "steps": steps}
    return {"svg": svg, "data": data, "steps": steps, "table": table, "first": FIRST_STEP}


def rejection_steps(
    rejection: Rejection, measure: str, n_rows: int, unit: str, by_groups: bool = False
) -> list[dict[str, Any]]:
    """The texts of the slider, for every percent of the rows that may be rejected."""
    fractions = np.array([fraction for fraction in rejection.rejected if fraction < 1])
    if not len(fractions):
        return []
    nearest = [int(np.abs(fractions - step / SLIDER_STEPS).argmin()) for step in range(SLIDER_STEPS)]
    return [_step(rejection, at, measure, n_rows, unit, by_groups) for at in nearest]


def _step(rejection: Rejection, at: int, measure: str, n_rows: int, unit: str, by_groups: bool) -> dict[str, Any]:
    fraction, error = rejection.rejected[at], rejection.kept_error[at]
    kept = max(1, round((1 - fraction) * n_rows)) if n_rows else 0
    interval = ""
    if measure == ERROR_RATE and kept and not by_groups:
        rate = rate_interval(np.arange(kept) < round(error * kept))
        interval = f" (95% interval {percent(min(rate.low, error))} to {percent(max(rate.high, error))})"
    return {
        "x": fraction,
        "y": rejection.error[at] if isfinite(rejection.error[at]) else 0.0,
        "share": percent(fraction, 0 if fraction == round(fraction, 2) else 1),
        "rejected": whole(n_rows - kept),
        "kept": whole(kept),
        "error": loss_writer(measure)(error),
        "interval": interval,
        "rule": _rule(rejection.threshold[at], unit) if fraction > 0 else "",
    }


def _rule(threshold: float, unit: str) -> str:
    """Which rows are rejected; a variance is also shown as a standard deviation, which is easier to interpret."""
    if not isfinite(threshold):
        return ""
    std = f" (a standard deviation of {number(sqrt(max(threshold, 0.0)))})"
    return f"These rows have a total uncertainty of at least {number(threshold)}{' nats' if unit == NATS else std}."


def rejection_chart(findings: UncertaintyFindings, measure: str) -> tuple[Markup, Frame] | None:
    """The remaining loss by the fraction of rejected rows, and the frame in which the slider's marker moves."""
    if findings.by_total is None or len(findings.by_total.rejected) < 2:
        return None
    loss = "zero_one" if measure == ERROR_RATE else "squared_error"
    both = {"total": findings.by_total, "knowledge": findings.by_knowledge}
    curves = {name: rejection for name, rejection in both.items() if rejection is not None}
    with chart_style():
        figure = new_figure(CURVE_HEIGHT)
        ax = figure.subplots()
        for name, rejection in curves.items():
            if len(rejection.rejected) > 1:
                RejectionCurveDisplay(_curve_of(rejection, loss), name=name).plot(ax=ax)
        set_few_ticks(ax.yaxis, measure)
        label_above(ax, ax.get_ylabel())
        ax.set_xlabel("rejected rows, most uncertain first")
        title = f"Remaining {ERROR_NAMES[loss]} by the fraction of rejected rows"
        sentences = (
            f"By {name} uncertainty, {_rejection_in_words(rejection, measure)}" for name, rejection in curves.items()
        )
        frame = frame_of(ax)
        return inline_svg(figure, "chart-rejection", title, " ".join(sentences), marker=True), frame


def _curve_of(rejection: Rejection, loss: str) -> RejectionCurve:
    lines = (rejection.rejected, rejection.error, rejection.random, rejection.oracle)
    rejected, error, random, oracle = (np.asarray(line, dtype=np.float64) for line in lines)
    return RejectionCurve(
        rejected, error, random, oracle, loss, None if rejection.ratio is None else rejection.ratio.value
    )


def _rejection_in_words(rejection: Rejection, measure: str) -> str:
    """The remaining loss at a few fractions, compared with a random and with the best order."""
    write = loss_writer(measure)
    if not rejection.rejected:
        return "nothing is known."
    parts = []
    for fraction in NAMED_FRACTIONS:
        own, random, oracle = (
            float(np.interp(fraction, rejection.rejected, line))
            for line in (rejection.error, rejection.random, rejection.oracle)
        )
        order = f"random order {write(random)}, best {write(oracle)}"
        parts.append(f"{percent(fraction, 0)} rejected: {write(own)} remaining ({order})")
    return f"{'; '.join(parts)}."


def calibration_chart(calibration: Calibration, key: str = "calibration") -> Markup | None:
    """Observed fractions by predicted probability, or by the level of intervals."""
    fields = (calibration.expected, calibration.observed, calibration.low, calibration.high, calibration.counts)
    if len(calibration.expected) < 2:
        return None
    expected, observed, low, high, counts = (np.asarray(field) for field in fields)
    curve = CalibrationCurve(expected, observed, low, high, counts)
    xlabel, ylabel = (one_line(usable(label), MAX_LABEL_LETTERS) for label in (calibration.xlabel, calibration.ylabel))
    with chart_style():
        figure = new_figure(SQUARE_HEIGHT)
        ax = figure.subplots()
        bins: dict[str, Any] = {} if calibration.coverage else {"linestyle": "none", "marker": "o", "markersize": 6}
        display = CalibrationDisplay(curve, xlabel, ylabel).plot(ax=ax, **bins)
        if bins:  # each bin has its own rows, and nothing is known between bins
            display.band_.remove()
            ax.vlines(expected, low, high, color=COLOURS[0], linewidth=1.5)
        _zoom(ax, float(min(expected.min(), low.min())))
        if calibration.of_class is not None and expected.max() < RARELY:
            ax.set(xlim=(0.0, 1.05 * float(expected.max())), ylim=(0.0, 1.05 * float(high.max())))
        label_above(ax, ylabel)
        title = f"Calibration: {ylabel} by {xlabel}"
        return inline_svg(figure, f"chart-{key}", title, f"{_calibration_in_words(calibration)}.")


def _zoom(ax: Any, minimum: float) -> None:
    """Leave out the range without points, and the legend: the caption explains the dashed line."""
    ax.get_legend().remove()
    start = 0.0 if minimum < 0.2 else np.floor(10 * minimum) / 10
    ax.set(xlim=(start, 1.0), ylim=(start, 1.01))
    if start:
        ticks = np.arange(10, round(10 * start) - 1, -1 if start > 0.45 else -2) / 10
        ax.set(xticks=ticks, yticks=ticks)


def _calibration_in_words(calibration: Calibration) -> str:
    curve = list(zip(calibration.expected, calibration.observed, calibration.low, calibration.high, strict=True))
    return "; ".join(
        f"predicted {percent(expected)}, observed {percent(observed)} ({percent(low)} to {percent(high)})"
        for expected, observed, low, high in curve[:: max(1, len(curve) // 10)]
    )
