"""The line of the verdict on question 2: does it know what it does not know?"""

from surefoot.report.answers import NO, PARTLY, UNKNOWN, WELL_CALIBRATED, YES, Knowing, Line
from surefoot.report.knowing import ENSEMBLE
from surefoot.report.verdict_words import NO_TIME, QUESTIONS, bent_in_words

LEVEL = 0.9  # of the intervals that the verdict looks at
LITTLE_CLAIMED = 0.2  # prediction-rejection ratio below which an ensemble claims to find but few errors


def knowing_line(knowing: Knowing | None) -> Line:
    """Whether uncertainty finds the errors, whether it is calibrated, and whether new rows are strange."""
    if knowing is None:
        return Line(QUESTIONS[1], UNKNOWN, NO_TIME)
    new, (finds, found), (honest, how) = knowing.new, _finding(knowing), _honesty(knowing)
    strange = ""
    if new is not None and new.p_value < 0.01 and new.share.low > new.expected:
        strange = f" {new.share.value:.0%} of the new rows are stranger to it than 95% of the held-out ones."
    answer = YES if finds and honest and not strange else PARTLY if finds or honest else NO
    return Line(QUESTIONS[1], answer, f"{found} {how}{strange}")


def _finding(knowing: Knowing) -> tuple[bool, str]:
    """Whether uncertainty finds the errors, as far as it claims to, and a sentence about it.

    A low claim excuses an ensemble that takes its own errors for equally likely everywhere. Of another model it would
    be low because that model is wrong where the ensemble is sure.
    """
    ratio, claimed, own = knowing.by_total.ratio, knowing.by_total.claimed, knowing.model == ENSEMBLE
    if ratio is None:
        return False, "Every held-out row has the same loss, so there is nothing for uncertainty to find."
    whose = "its errors" if own else f"the errors of {knowing.model}"
    told = f"(prediction-rejection ratio {ratio.value:.2f}; 1 is perfect, 0 random)"
    if ratio.low > 0:
        return True, f"The uncertainty of an ensemble finds {whose} {told}."
    if ratio.high < 0:
        return False, f"The uncertainty of an ensemble is lowest where {whose} are {told}."
    missed = f"The uncertainty of an ensemble does not clearly find {whose} {told}"
    if claimed is None or claimed.value >= LITTLE_CLAIMED or not own:
        return False, f"{missed}."
    would = round(claimed.value, 2) + 0.0  # no minus before a zero
    return True, f"{missed}, and hardly claims to: were it right about every row, that would be {would:.2f}."


def _honesty(knowing: Knowing) -> tuple[bool, str]:
    """Whether probabilities or intervals mean what they say, and a sentence about it; those of the user if there."""
    found = knowing.own_calibration or knowing.calibration
    of_own = f"The {{}} of {knowing.model}" if found is not knowing.calibration else "The ensemble's {}"
    whose = "Its {}" if knowing.model == ENSEMBLE else of_own
    if found.gap is None:
        inside = next(each for each in found.coverage if each.level == LEVEL).observed
        honest = inside.low <= LEVEL + WELL_CALIBRATED and inside.high >= LEVEL - WELL_CALIBRATED
        held = f"{inside.value:.0%} of the held-out targets ({inside.low:.0%} to {inside.high:.0%})"
        return honest, f"{whose.format('90% intervals')} hold {held}."
    gap, bent = found.gap, bent_in_words(found)
    if found.share is not None:
        told = (
            f"{whose.format('probabilities')} expect {found.share + gap.value:.1%} of the rows to be {found.of_class}; "
            f"{found.share:.1%} are (difference {100 * gap.low:+.1f} to {100 * gap.high:+.1f} points)."
        )
    else:
        side = "above" if gap.value > 0 else "below"
        told = (
            f"{whose.format('confidence')} is on average {100 * abs(gap.value):.1f} points {side} the share of right "
            f"predictions ({100 * gap.low:+.1f} to {100 * gap.high:+.1f})."
        )
    honest = gap.low <= found.room and gap.high >= -found.room
    return honest and not bent, f"{told}{bent}"
