"""When a subgroup is clearly worse, what this means for question 1, and the sentences about it."""

from dataclasses import replace
from math import isfinite

from surefoot._formatting import counted
from surefoot.report.models.scoring import ERROR_RATE
from surefoot.report.page.numbers import between, loss_writer, number, one_line
from surefoot.report.sections.section import PARTLY, YES, VerdictLine
from surefoot.report.sections.subgroups.findings import Segment, Subgroup, SubgroupFindings
from surefoot.report.statistics import Estimate

TOLERANCE = 1.25  # times the error of the other rows, as question 4 allows a loss that is 25% higher by default
FAR_OFF = 0.05  # of a rate or a coverage: a larger difference from what is predicted is named, as in question 2
FAR_OFF_NUMBER = 0.25  # of the RMSE, for numbers
MAX_LETTERS = 120  # of a name in a sentence


def is_clearly_worse(ratio: Estimate) -> bool:
    """Whether the error is larger than that of the other rows by more than the tolerance."""
    return ratio.low > TOLERANCE


def is_clearly_not_worse(ratio: Estimate) -> bool:
    """Whether the error is shown not to be larger by more than the tolerance."""
    return ratio.high <= TOLERANCE


def with_subgroups(line: VerdictLine, findings: SubgroupFindings | None) -> VerdictLine:
    """The line of question 1, with the subgroup whose error is clearly larger: it is then not simply "yes".

    Another answer stays as it is: that some rows are predicted worse makes no answer better.
    """
    worst = clearest(findings)
    if findings is None or worst is None:
        return line
    others = len(findings.clearly_worse) - 1
    more = f" The same holds for {counted(others, 'more subgroup')}." if others else ""
    larger = f"But the {findings.measure} is larger where {in_words(worst, findings.measure)}."
    sentence = f"{line.sentence} {larger}{expected_there(worst, findings.measure)}{more}"
    return replace(line, answer=PARTLY if line.answer == YES else line.answer, sentence=sentence)


def clearest(findings: SubgroupFindings | None) -> Subgroup | Segment | None:
    """The subgroup or segment whose error is most clearly larger."""
    if findings is None or not findings.clearly_worse:
        return None
    name = findings.clearly_worse[0]
    found: list[Subgroup | Segment] = [*findings.groups, *findings.segments]
    return next(each for each in found if each.name == name)


def in_words(found: Subgroup | Segment, measure: str) -> str:
    """Such as "age > 61: 31.2%, 2.3 times the 13.6% of the other rows (corrected interval 1.9 to 2.8)"."""
    write = loss_writer(measure)
    ratio = f"{number(found.ratio.value, 2)} times the" if isfinite(found.ratio.value) else "against"
    others = f"{ratio} {write(found.rest_error)} of the other rows"
    return f"{one_line(found.name, MAX_LETTERS)}: {write(found.error)}, {others} ({times_between(found.ratio)})"


def expected_there(found: Subgroup | Segment, measure: str) -> str:
    """What the model itself expects: rows may be harder by nature; empty if it predicts no uncertainty."""
    if found.expected is None or not isfinite(found.expected):
        return ""
    return f" The model itself expects {loss_writer(measure)(found.expected)} there."


def times_between(ratio: Estimate) -> str:
    """The corrected interval of a ratio, in words."""
    return f"corrected interval of the ratio {between(ratio, lambda part: number(part, 3))}"


def is_far_off(bias: Estimate | None, findings: SubgroupFindings) -> bool:
    """Whether the predictions of a subgroup are clearly too low or too high on average."""
    if bias is None:
        return False
    limit = FAR_OFF if findings.measure == ERROR_RATE else FAR_OFF_NUMBER * findings.error
    return bias.low > limit or bias.high < -limit


def is_badly_covered(coverage: Estimate | None, level: float) -> bool:
    """Whether the predicted intervals clearly hold too few targets of a subgroup."""
    return coverage is not None and coverage.high < level - FAR_OFF
