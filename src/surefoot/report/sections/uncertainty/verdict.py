"""The line of the verdict on question 2: does it know what it does not know?"""

from surefoot.report.page.numbers import hundredths
from surefoot.report.sections.section import NO, PARTLY, UNKNOWN, YES, VerdictLine
from surefoot.report.sections.sentences import NO_TIME, capital, more_rows
from surefoot.report.sections.uncertainty.findings import Calibration, UncertaintyFindings
from surefoot.report.statistics import INSIDE, OUTSIDE, UNDECIDED, decide, is_withheld, rows_needed
from surefoot.report.statistics.estimates import Estimate

QUESTION = "Does it know what it does not know?"

MIN_SLOPE, MAX_SLOPE = 0.8, 1.25  # of calibration, that is acceptable
TOLERANCE, FAR_TOLERANCE = 0.05, 0.03  # fraction inside an interval, or below or above it; the latter for far tails
FAR_LEVEL = 0.9  # of intervals whose tails are far
LITTLE_CLAIMED = 0.2  # prediction-rejection ratio below which a model claims to find but few errors


def uncertainty_line(knowing: UncertaintyFindings | None) -> VerdictLine:
    """Whether its uncertainty finds its errors, and whether its probabilities or intervals are right."""
    if knowing is None:
        return VerdictLine(QUESTION, UNKNOWN, NO_TIME)
    finds, found = _finding(knowing)
    if not knowing.own:
        gives = f"{capital(knowing.model)} gives neither probabilities nor intervals."
        return VerdictLine(QUESTION, PARTLY if finds == INSIDE else NO, f"{gives} {found}")
    assert knowing.calibration is not None
    right, how = _honesty(knowing.calibration, knowing.n_rows)
    return VerdictLine(QUESTION, _answer(finds, right), f"{how} {found}")


def _answer(finds: str, right: str) -> str:
    """Yes needs both; a part that is clearly wrong makes it no, or partly if the other is clearly right."""
    if finds == right == INSIDE:
        return YES
    if OUTSIDE in (finds, right):
        return PARTLY if INSIDE in (finds, right) else NO
    return UNKNOWN


def _finding(knowing: UncertaintyFindings) -> tuple[str, str]:
    """Whether uncertainty finds the errors, as far as it claims to.

    A low claim excuses a model that takes its own errors for equally likely everywhere.
    """
    if knowing.by_total is None:
        return OUTSIDE, "Nothing says which of its predictions to doubt."
    ratio, claimed = knowing.by_total.ratio, knowing.by_total.claimed
    whose = "Its uncertainty" if knowing.own else "The uncertainty of an ensemble beside it"
    if ratio is None:
        return UNDECIDED, "Every held-out row has the same loss, so there are no errors to find."
    written = f"prediction-rejection ratio {hundredths(ratio.value)}{_range(ratio)}; 1 is perfect, 0 random"
    claims_little = knowing.own and claimed is not None and claimed.high < LITTLE_CLAIMED
    if claims_little and ratio.high < LITTLE_CLAIMED and not ratio.high < 0:
        return _of_little(knowing, f"{whose} claims to find hardly any errors, and finds hardly any ({written})")
    if ratio.low > 0:
        return INSIDE, f"{whose} finds its errors ({written})."
    if ratio.high < 0:
        return OUTSIDE, f"{whose} is lowest where the errors are ({written})."
    if claimed is not None and ratio.high < claimed.low:
        would = f"it claims {hundredths(claimed.value)}"
        return OUTSIDE, f"{whose} finds fewer errors than it claims to ({written}; {would})."
    return UNDECIDED, f"Whether {whose[0].lower()}{whose[1:]} finds its errors is not known ({written})."


def _of_little(knowing: UncertaintyFindings, sentence: str) -> tuple[str, str]:
    """Right where errors are equally likely everywhere; not where the uncertainty of an ensemble finds them."""
    beside = None if knowing.by_knowledge is None else knowing.by_knowledge.ratio
    if beside is None:
        return UNDECIDED, f"{sentence}; whether there are errors to find is not known."
    place, ratio = decide(beside, (float("-inf"), LITTLE_CLAIMED)), f"{hundredths(beside.value)}{_range(beside)}"
    ending = {INSIDE: "", OUTSIDE: f"; that of an ensemble does ({ratio})"}
    return place, f"{sentence}{ending.get(place, f'; whether that of an ensemble does is not known ({ratio})')}."


def _honesty(calibration: Calibration, n_rows: int) -> tuple[str, str]:
    """Whether probabilities or intervals mean what they say."""
    return _of_intervals(calibration, n_rows) if calibration.gap is None else _of_chances(calibration, n_rows)


def _of_intervals(calibration: Calibration, n_rows: int) -> tuple[str, str]:
    """Every level and both tails must lie inside the tolerance."""
    checks = []
    for each in calibration.coverage:
        tail, room = (1 - each.level) / 2, FAR_TOLERANCE if each.level >= FAR_LEVEL else TOLERANCE
        checks.append((f"{each.level:.0%} intervals hold", each.level, each.observed, TOLERANCE))
        checks.append((f"{each.level:.0%} intervals have below them", tail, each.below, room))
        checks.append((f"{each.level:.0%} intervals have above them", tail, each.above, room))
    places = [decide(seen, (due - room, due + room)) for _, due, seen, room in checks]
    limits = f"within {100 * TOLERANCE:.0f} points"
    if all(place == INSIDE for place in places):
        inside = next(each for each in calibration.coverage if each.level == 0.9).observed
        return INSIDE, f"Its intervals hold what they promise at every level ({limits}): 90% hold {inside.value:.0%}."
    place = OUTSIDE if OUTSIDE in places else UNDECIDED
    worst = max(
        (check for check, each in zip(checks, places, strict=True) if each == place),
        key=lambda check: abs(check[2].value - check[1]) / check[3],
    )
    name, due, seen, _ = worst
    measured = f"{name} {seen.value:.0%} of the targets{_range(seen, True)}, {due:.1%} expected".replace(".0%", "%")
    if place == OUTSIDE:
        return place, f"Its {measured}."
    needed = max((rows_needed(seen, n_rows, (due - room, due + room)) or 0 for _, due, seen, room in checks), default=0)
    return place, f"Whether its intervals are right ({limits}) is not known: {measured}.{more_rows(needed, n_rows)}"


def _of_chances(calibration: Calibration, n_rows: int) -> tuple[str, str]:
    """The mean must be right, and the slope, unless setting it right would hardly move a probability."""
    gap, room, slope = calibration.gap, calibration.room, calibration.slope
    assert gap is not None
    large = decide(gap, (-room, room))
    steep = UNDECIDED if slope is None else decide(slope, (MIN_SLOPE, MAX_SLOPE))
    if steep == OUTSIDE and calibration.change is not None and calibration.change <= room / 2:
        steep = UNDECIDED
    mean = _mean_sentence(calibration, gap)
    bend = _slope_sentence(slope, steep, calibration.change)
    if OUTSIDE in (large, steep):
        return OUTSIDE, f"{mean} {bend}".strip()
    if large == steep == INSIDE:
        return INSIDE, f"{mean} {bend}".strip()
    limits = [(gap, (-room, room))] + ([] if slope is None else [(slope, (MIN_SLOPE, MAX_SLOPE))])
    needed = max((rows_needed(each, n_rows, limit) or 0 for each, limit in limits), default=0)
    return UNDECIDED, f"Whether its probabilities are right is not known. {mean} {bend}{more_rows(needed, n_rows)}"


def _mean_sentence(calibration: Calibration, gap: Estimate) -> str:
    ends = "no interval" if is_withheld(gap) else f"difference {100 * gap.low:+.1f} to {100 * gap.high:+.1f} points"
    if calibration.share is not None:
        return (
            f"Its probabilities expect {calibration.share + gap.value:.1%} of the rows to be {calibration.of_class}; "
            f"{calibration.share:.1%} are ({ends})."
        )
    side = "above" if gap.value > 0 else "below"
    return f"Its confidence is {100 * abs(gap.value):.1f} points {side} the fraction of right predictions ({ends})."


def _slope_sentence(slope: Estimate | None, steep: str, change: float | None) -> str:
    if slope is None:
        return "There are too few errors to see whether probabilities are too extreme."
    ends = f"calibration slope {hundredths(slope.value)}{_range(slope)}; 1 is right"
    if steep != OUTSIDE:
        return f"Their {ends}."
    way = "too timid" if slope.value > 1 else "too extreme" if slope.high > 0 else "pointing the wrong way"
    moved = "" if change is None else f": set right, they would move by {100 * change:.1f} points on average"
    return f"They are {way} ({ends}){moved}."


def _range(estimate: Estimate, percents: bool = False) -> str:
    """The interval in brackets."""
    if is_withheld(estimate):
        return " (no interval)"
    if percents:
        return f" ({estimate.low:.0%} to {estimate.high:.0%})"
    return f" ({hundredths(estimate.low)} to {hundredths(estimate.high)})"
