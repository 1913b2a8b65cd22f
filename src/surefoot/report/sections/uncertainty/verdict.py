"""The verdict on question 2: does it know what it does not know?"""

from typing import NamedTuple

from surefoot.report.page.numbers import between, hundredths, percent
from surefoot.report.sections.section import NO, PARTLY, UNKNOWN, YES, VerdictLine
from surefoot.report.sections.sentences import NO_TIME, called, capital, more_rows
from surefoot.report.sections.uncertainty.findings import Calibration, UncertaintyFindings
from surefoot.report.statistics import (
    INSIDE,
    OUTSIDE,
    UNDECIDED,
    Estimate,
    decide,
    is_withheld,
    rows_needed,
)

QUESTION = "Does it know what it does not know?"

MIN_SLOPE, MAX_SLOPE = 0.8, 1.25  # acceptable calibration slope
TOLERANCE, FAR_TOLERANCE = 0.05, 0.03  # fraction inside an interval, or below or above it; the latter for far tails
FAR_LEVEL = 0.9  # intervals from this level on have far tails
LITTLE_CLAIMED = 0.2  # prediction-rejection ratio below which a model claims to find hardly any errors


def uncertainty_line(findings: UncertaintyFindings | None) -> VerdictLine:
    """Whether its uncertainty finds its errors, and whether its probabilities or intervals are calibrated."""
    if findings is None:
        return VerdictLine(QUESTION, UNKNOWN, NO_TIME)
    finds, of_errors = _errors_found(findings)
    if not findings.own:
        neither = f"{capital(called(findings.model))} predicts neither probabilities nor intervals."
        return VerdictLine(QUESTION, PARTLY if finds == INSIDE else NO, f"{neither} {of_errors}")
    assert findings.calibration is not None
    calibrated, of_calibration = _calibrated(findings.calibration, findings.n_rows)
    return VerdictLine(QUESTION, _answer(finds, calibrated), f"{of_calibration} {of_errors}")


def _answer(finds: str, calibrated: str) -> str:
    """Yes needs both; if one is clearly wrong the answer is no, or partly if the other is clearly right."""
    if finds == calibrated == INSIDE:
        return YES
    if OUTSIDE in (finds, calibrated):
        return PARTLY if INSIDE in (finds, calibrated) else NO
    return UNKNOWN


def _errors_found(findings: UncertaintyFindings) -> tuple[str, str]:
    """Whether uncertainty finds the errors, as far as it claims to.

    A model that claims little is right where errors are equally likely for all rows.
    """
    if findings.by_total is None:
        return OUTSIDE, "No uncertainty shows which of its predictions are unreliable."
    ratio, claimed = findings.by_total.ratio, findings.by_total.claimed
    subject = "Its uncertainty" if findings.own else "The uncertainty of an ensemble"
    if ratio is None:
        return UNDECIDED, "Every held-out row has the same loss, so there are no errors to find."
    written = f"prediction-rejection ratio {hundredths(ratio.value)}{_range(ratio)}; 1 is perfect, 0 is random"
    claims_little = findings.own and claimed is not None and claimed.high < LITTLE_CLAIMED
    if claims_little and ratio.high < LITTLE_CLAIMED and not ratio.high < 0:
        return _little_claimed(
            findings, f"{subject} claims to find hardly any errors, and finds hardly any ({written})"
        )
    if ratio.low > 0:
        return INSIDE, f"{subject} finds its errors ({written})."
    if ratio.high < 0:
        return OUTSIDE, f"{subject} is lowest where the errors are ({written})."
    if claimed is not None and ratio.high < claimed.low:
        claim = f"it claims {hundredths(claimed.value)}"
        return OUTSIDE, f"{subject} finds fewer errors than it claims to ({written}; {claim})."
    return UNDECIDED, f"Whether {subject[0].lower()}{subject[1:]} finds its errors is not known ({written})."


def _little_claimed(findings: UncertaintyFindings, sentence: str) -> tuple[str, str]:
    """Right where errors are equally likely for all rows; wrong where the uncertainty of an ensemble finds them."""
    ratio = None if findings.by_knowledge is None else findings.by_knowledge.ratio
    if ratio is None:
        return UNDECIDED, f"{sentence}; whether there are errors to find is not known."
    place, written = decide(ratio, (float("-inf"), LITTLE_CLAIMED)), f"{hundredths(ratio.value)}{_range(ratio)}"
    endings = {INSIDE: "", OUTSIDE: f"; the uncertainty of an ensemble finds them ({written})"}
    unknown = f"; whether the uncertainty of an ensemble finds them is not known ({written})"
    return place, f"{sentence}{endings.get(place, unknown)}."


def _calibrated(calibration: Calibration, n_rows: int) -> tuple[str, str]:
    """Whether probabilities or intervals are calibrated."""
    if calibration.gap is None:
        return _intervals_calibrated(calibration, n_rows)
    return _probabilities_calibrated(calibration, calibration.gap, n_rows)


class CoverageCheck(NamedTuple):
    """The fraction of targets inside, below or above the intervals of a level, and its limits."""

    where: str
    expected: float
    observed: Estimate
    tolerance: float

    @property
    def limits(self) -> tuple[float, float]:
        return self.expected - self.tolerance, self.expected + self.tolerance


def coverage_checks(calibration: Calibration) -> list[CoverageCheck]:
    """The checks of every level and both tails."""
    checks = []
    for each in calibration.coverage:
        tail, tail_tolerance = (1 - each.level) / 2, FAR_TOLERANCE if each.level >= FAR_LEVEL else TOLERANCE
        intervals = f"its {each.level:.0%} intervals"
        checks.append(CoverageCheck(f"inside {intervals}", each.level, each.observed, TOLERANCE))
        checks.append(CoverageCheck(f"below {intervals}", tail, each.below, tail_tolerance))
        checks.append(CoverageCheck(f"above {intervals}", tail, each.above, tail_tolerance))
    return checks


def _intervals_calibrated(calibration: Calibration, n_rows: int) -> tuple[str, str]:
    """Every level and both tails must lie inside the tolerance."""
    checks = coverage_checks(calibration)
    places = [decide(check.observed, check.limits) for check in checks]
    within = f"within {100 * TOLERANCE:.0f} points"
    if all(place == INSIDE for place in places):
        inside = next(each for each in calibration.coverage if each.level == FAR_LEVEL).observed
        covered = f"its {FAR_LEVEL:.0%} intervals contain {inside.value:.0%} of the targets"
        return INSIDE, f"The coverage of its intervals is right at every level ({within}): {covered}."
    place = OUTSIDE if OUTSIDE in places else UNDECIDED
    worst = max(
        (check for check, each in zip(checks, places, strict=True) if each == place),
        key=lambda check: abs(check.observed.value - check.expected) / check.tolerance,
    )
    seen, due = worst.observed, f"{worst.expected:.1%}".replace(".0%", "%")
    measured = f"{seen.value:.0%} of the targets{_range_in_percent(seen)} lie {worst.where}; {due} is expected"
    if place == OUTSIDE:
        return place, f"{measured}."
    needed = max((rows_needed(check.observed, n_rows, check.limits) or 0 for check in checks), default=0)
    unknown = f"Whether the coverage of its intervals is right ({within}) is not known"
    return place, f"{unknown}: {measured}.{more_rows(needed, n_rows)}"


def gap_place(calibration: Calibration) -> str:
    """Whether the difference of mean probability and observed fraction lies inside its tolerance."""
    assert calibration.gap is not None
    return decide(calibration.gap, (-calibration.room, calibration.room))


def slope_place(calibration: Calibration) -> str:
    """Whether the calibration slope lies inside its limits; undecided if recalibration would change hardly anything."""
    if calibration.slope is None:
        return UNDECIDED
    place = decide(calibration.slope, (MIN_SLOPE, MAX_SLOPE))
    changes_little = calibration.change is not None and calibration.change <= calibration.room / 2
    return UNDECIDED if place == OUTSIDE and changes_little else place


def _probabilities_calibrated(calibration: Calibration, gap: Estimate, n_rows: int) -> tuple[str, str]:
    """Both the mean and the slope must lie inside their limits."""
    places = gap_place(calibration), slope_place(calibration)
    sentences = f"{_gap_sentence(calibration, gap)} {_slope_sentence(calibration)}"
    if OUTSIDE in places:
        return OUTSIDE, sentences
    if places == (INSIDE, INSIDE):
        return INSIDE, sentences
    limits = [(gap, (-calibration.room, calibration.room))]
    limits += [] if calibration.slope is None else [(calibration.slope, (MIN_SLOPE, MAX_SLOPE))]
    needed = max((rows_needed(each, n_rows, limit) or 0 for each, limit in limits), default=0)
    return UNDECIDED, f"Whether its probabilities are calibrated is not known. {sentences}{more_rows(needed, n_rows)}"


def _gap_sentence(calibration: Calibration, gap: Estimate) -> str:
    ends = "no interval" if is_withheld(gap) else f"difference {100 * gap.low:+.1f} to {100 * gap.high:+.1f} points"
    if calibration.share is not None:
        return (
            f"The mean predicted probability of {calibration.of_class} is {calibration.share + gap.value:.1%}; "
            f"{calibration.share:.1%} of the rows are {calibration.of_class} ({ends})."
        )
    side = "above" if gap.value > 0 else "below"
    return f"Its mean confidence is {100 * abs(gap.value):.1f} points {side} its accuracy ({ends})."


def _slope_sentence(calibration: Calibration) -> str:
    if calibration.slope is None:
        return "The calibration slope cannot be measured on these rows."
    written = f"{hundredths(calibration.slope.value)}{_range(calibration.slope)}; 1 is ideal"
    if slope_place(calibration) != OUTSIDE:
        return f"The calibration slope is {written}."
    change = "" if calibration.change is None else f": recalibration would change them by {_points(calibration)}"
    return f"The probabilities are {slope_error(calibration.slope)} (calibration slope {written}){change}."


def slope_error(slope: Estimate) -> str:
    """What is wrong with probabilities subject calibration slope lies outside its limits."""
    if slope.high <= 0:
        return "inverted"
    return "too moderate" if slope.value > 1 else "too extreme"


def _points(calibration: Calibration) -> str:
    return f"{100 * (calibration.change or 0.0):.1f} points on average"


def _range(estimate: Estimate) -> str:
    return f" ({between(estimate, hundredths)})"


def _range_in_percent(estimate: Estimate) -> str:
    return f" ({between(estimate, lambda fraction: percent(fraction, 0))})"
