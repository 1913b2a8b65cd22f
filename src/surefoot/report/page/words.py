"""Sentences of the page that depend on what was found."""

from collections.abc import Sequence
from math import isfinite, sqrt
from typing import Any

import numpy as np

from surefoot.report.models.scoring import ERROR_RATE, RATES
from surefoot.report.page.numbers import (
    between,
    hundredths,
    interval_of,
    loss_writer,
    number,
    percent,
    points,
    points_between,
    value_of,
    whole,
)
from surefoot.report.sections.accuracy.findings import Duplicates, LearningCurve
from surefoot.report.sections.uncertainty.findings import Calibration, Rejection
from surefoot.report.statistics import share_interval
from surefoot.report.statistics.estimates import Estimate
from surefoot.shift.shift_report_text import counted

NATS = "nats"
SLIDER_STEPS = 100  # one for every percent of the rows
TABLE_STEPS = (0, 5, 10, 20, 30, 50)
SELECTORS = {  # of conclusions: a heading, and how the conclusion is drawn
    "winner": (
        "Which model is best",
        "The model with the smallest mean loss on rows that it has not seen. On each bag, the models are compared by "
        "the losses of the bag's rows.",
    ),
    "LASSO": (
        "Columns that the LASSO chooses",
        "The LASSO is a linear model that leaves out columns that it can do without. Each bag has its own scales and "
        "its own penalty.",
    ),
    "decision tree": (
        "Columns that a small decision tree asks for",
        "A decision tree of two levels: one question about a column, then one more for each answer.",
    ),
    "leading column": (
        "The column that the model relies on most",
        "The column whose permutation raises the loss of the audited model most, on rows that it has not seen.",
    ),
}


def difference(estimate: Estimate, measure: str) -> str:
    """A difference of losses with its interval, without its sign: the words around it say which way it goes."""
    if estimate.value < 0:
        estimate = Estimate(-estimate.value, -estimate.high, -estimate.low)
    if measure in RATES:
        return f"{points(estimate.value)} (95% interval {points_between(estimate)})"
    return f"{value_of(estimate, measure)} (95% interval {interval_of(estimate, measure)})"


def last_doubling(curve: LearningCurve) -> str:
    """What twice the rows have given."""
    before, after = (whole(count) for count in curve.n_rows[-2:]) if len(curve.n_rows) > 1 else ("half", "all")
    step = curve.last_doubling
    return (
        f"With {before} training rows the loss is {percent(step.value)} above that with {after} (95% interval "
        f"{between(step, percent)})."
    )


def noise_floor(duplicates: Duplicates, measure: str) -> str:
    """What rows that are alike tell of the noise in the target."""
    if not duplicates.n_rows:
        return (
            "No two rows are alike in every column, so the table itself does not show how noisy the target is, and how "
            "much of the remaining error nobody could avoid."
        )
    alike = f"{counted(duplicates.n_rows, 'row')} in {counted(duplicates.n_groups, 'group')} are alike in every column"
    if not duplicates.n_conflicting:
        return f"{alike}, and rows that are alike never differ in their target."
    said = f"{alike}; {whole(duplicates.n_conflicting)} of them are in groups with different targets."
    if duplicates.floor is None or not isfinite(duplicates.floor):
        return said
    floor = loss_writer(measure)(duplicates.floor)
    if measure == ERROR_RATE:
        return f"{said} No model can tell such rows apart: on them, an {measure} below {floor} is out of reach."
    return f"{said} No model can tell such rows apart: on them, an {measure} much below {floor} cannot be expected."


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


def classes_in_words(
    classes: Sequence[str], shares: Sequence[float], most: int = 6
) -> tuple[list[tuple[str, str]], int]:
    """The most frequent classes with their shares, and how many others there are."""
    order = sorted(range(len(classes)), key=lambda place: -shares[place])[:most]
    return [(classes[place], percent(shares[place])) for place in order], len(classes) - len(order)
