"""Question 2 on the page: its sentences."""

from dataclasses import asdict
from math import isfinite, sqrt
from typing import Any

import numpy as np
from markupsafe import Markup

from surefoot.report.models.scoring import ERROR_RATE
from surefoot.report.page.numbers import (
    between,
    difference,
    hundredths,
    loss_writer,
    number,
    percent,
    points,
    whole,
)
from surefoot.report.page.templates import render
from surefoot.report.sections.section import SectionContext
from surefoot.report.sections.uncertainty.calibration import TABLE_LEVELS
from surefoot.report.sections.uncertainty.charts import calibration_chart, rejection_chart
from surefoot.report.sections.uncertainty.findings import WELL_CALIBRATED, Calibration, Rejection, UncertaintyFindings
from surefoot.report.sections.uncertainty.measure import NATS
from surefoot.report.sections.uncertainty.verdict import (
    FAR_LEVEL,
    FAR_TOLERANCE,
    LITTLE_CLAIMED,
    MAX_SLOPE,
    MIN_SLOPE,
    TOLERANCE,
)
from surefoot.report.statistics import share_interval
from surefoot.report.statistics.estimates import Estimate

TEMPLATE = "sections/uncertainty/page.html.j2"
SLIDER_STEPS = 100  # one for every percent of the rows
TABLE_STEPS = (0, 5, 10, 20, 30, 50)
FIRST_STEP = 10


def uncertainty_page(findings: UncertaintyFindings, context: SectionContext) -> Markup:
    """The rejection curve with its slider, the calibration and the rows that are most uncertain."""
    calibration = findings.calibration
    return render(
        TEMPLATE,
        findings=findings,
        measure=context.measure,
        is_rate=context.is_rate,
        rejection=_rejection(findings, context.measure),
        calibration=calibration,
        calibration_chart=None if calibration is None else calibration_chart(calibration),
        overconfidence=overconfidence,
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
        "far_coverage": f"{100 * FAR_TOLERANCE:g}",
        "levels": f"{', '.join(f'{100 * level:g}' for level in TABLE_LEVELS[:-1])} and {100 * TABLE_LEVELS[-1]:g}%",
        "far_levels": f"{' and '.join(far)}%",
    }


def _rejection(findings: UncertaintyFindings, measure: str) -> dict[str, Any] | None:
    """The rejection curve with all that the slider shows."""
    if findings.by_total is None:
        return None
    chart = rejection_chart(findings, measure)
    steps = rejection_steps(findings.by_total, measure, findings.n_rows, findings.unit, findings.by_groups)
    if chart is None or not steps:
        return None
    svg, frame = chart
    table = [steps[place] for place in TABLE_STEPS]
    data = {"frame": asdict(frame), "steps": steps}
    return {"svg": svg, "data": data, "steps": steps, "table": table, "first": FIRST_STEP}


def overconfidence(calibration: Calibration) -> str:
    """Whether probabilities promise too much."""
    gap = calibration.gap
    assert gap is not None
    if calibration.of_class is not None:
        return _expected_rows(gap, calibration)
    way = "more" if gap.value >= 0 else "less"
    said = f"On average the predicted probabilities promise {difference(gap, ERROR_RATE)} {way} than came true"
    if gap.low > 0:
        return f"{said}: they are overconfident."
    return f"{said}: they are underconfident." if gap.high < 0 else f"{said}: no bias can be told from chance."


def _expected_rows(gap: Estimate, calibration: Calibration) -> str:
    """How many rows of a class probabilities promise."""
    share = calibration.share or 0.0
    said = (
        f"By the predicted probabilities {percent(share + gap.value)} of the held-out rows would be "
        f"{calibration.of_class}; {percent(share)} are. The difference is {difference(gap, ERROR_RATE)}"
    )
    if gap.low > 0:
        return f"{said}: they expect too many."
    return f"{said}: they expect too few." if gap.high < 0 else f"{said}: no bias can be told from chance."


def slope_in_words(calibration: Calibration) -> str:
    """Whether probabilities are too close to 0 and 1."""
    slope, change = calibration.slope, calibration.change
    assert slope is not None
    assert change is not None
    said = f"Their calibration slope is {hundredths(slope.value)} (95% interval {between(slope, hundredths)})"
    moved = f"Set right by it, they would move by {points(change)} on average."
    if slope.high < 0:
        return f"{said}: they point the wrong way. {moved}"
    if slope.high < 1:
        return f"{said}: they are too extreme, more so the further they are from one half. {moved}"
    if slope.low > 1:
        return f"{said}: they are too timid; what is likely is more so, and what is unlikely less. {moved}"
    return f"{said}; 1, which would be right, is among the values that it may have."


def claim_in_words(claimed: Estimate) -> str:
    """The ratio that a model claims to have."""
    return (
        f"Were targets drawn from what it predicts for each row, the first would be {hundredths(claimed.value)} "
        f"(in 95% of draws {between(claimed, hundredths)}): this is what it claims to find."
    )


def ratio_in_words(ratio: Estimate | None) -> str:
    """A prediction-rejection ratio with its interval."""
    if ratio is None:
        return "undefined, as every row has the same loss"
    return f"{hundredths(ratio.value)} (95% interval {between(ratio, hundredths)})"


def rejection_steps(
    rejection: Rejection, measure: str, n_rows: int, unit: str, by_groups: bool = False
) -> list[dict[str, Any]]:
    """For every percent of the rows that may be handed over, what the slider says."""
    shares = np.array([share for share in rejection.rejected if share < 1])
    if not len(shares):
        return []
    nearest = [int(np.abs(shares - step / SLIDER_STEPS).argmin()) for step in range(SLIDER_STEPS)]
    return [_step(rejection, place, measure, n_rows, unit, by_groups) for place in nearest]


def _step(rejection: Rejection, place: int, measure: str, n_rows: int, unit: str, by_groups: bool) -> dict[str, Any]:
    share, error = rejection.rejected[place], rejection.kept_error[place]
    kept = max(1, round((1 - share) * n_rows)) if n_rows else 0
    interval = ""
    if measure == ERROR_RATE and kept and not by_groups:
        found = share_interval(np.arange(kept) < round(error * kept))
        interval = f" (95% interval {percent(min(found.low, error))} to {percent(max(found.high, error))})"
    return {
        "x": share,
        "y": rejection.error[place] if isfinite(rejection.error[place]) else 0.0,
        "share": percent(share, 0 if share == round(share, 2) else 1),
        "handed": whole(n_rows - kept),
        "kept": whole(kept),
        "error": loss_writer(measure)(error),
        "interval": interval,
        "rule": _rule(rejection.threshold[place], unit) if share > 0 else "",
    }


def _rule(threshold: float, unit: str) -> str:
    """Which rows to hand over; of a variance also its root, which is easier to imagine."""
    if not isfinite(threshold):
        return ""
    root = f" (a standard deviation of {number(sqrt(max(threshold, 0.0)))})"
    least = f"{number(threshold)}{' nats' if unit == NATS else root}"
    return f"These are the rows with a total uncertainty of {least} or more."
