"""The verdict on question 4: does it hold where it will be used?"""

from math import isfinite

from surefoot.report.models.scoring import RMSE
from surefoot.report.page.numbers import interval_of, number, percent, points, value_of
from surefoot.report.sections.section import NO, UNKNOWN, YES, VerdictLine
from surefoot.report.sections.sentences import NO_TIME, capital, cut, listed
from surefoot.report.sections.shift.deployment_loss import ALL_ROWS, MAX_AUC_FALL, decisive
from surefoot.report.sections.shift.findings import SEPARABLE_AUC, DeploymentLoss, ShiftFindings, is_more_than_chance
from surefoot.report.statistics import INSIDE, OUTSIDE, Estimate
from surefoot.shift.column_shift import SHIFTED

QUESTION = "Does it hold where it will be used?"

MAX_OUTSIDE = 0.5  # fraction of the rows outside the training range
MIN_ROWS_FOR_A_LOSS = 150  # fewer rows do not show how large rare errors are
MAX_NAMED = 3
NO_TARGETS = "Without targets of deployment rows, a change in how the target depends on the columns cannot be seen."


def shift_line(findings: ShiftFindings | None) -> VerdictLine:
    """Whether the loss stays within its tolerance on the deployment data.

    *Yes* needs targets of the deployment rows. Without them the answer is *unknown*, or *no* where the rows lie outside
    the training data, or the loss is expected to rise by more than the tolerance.
    """
    if findings is None:
        return VerdictLine(QUESTION, UNKNOWN, NO_TIME)
    if findings.where is None:
        advice = "Pass new rows (X_new in Python, --new on the command line), or a time column."
        return VerdictLine(QUESTION, UNKNOWN, f"It is not known where the model will be used. {advice}")
    if findings.losses:
        return _with_targets(findings)
    return _without_targets(findings)


def _with_targets(findings: ShiftFindings) -> VerdictLine:
    part = decisive(findings.losses)
    measured, shift = _measured(findings, part), f"{findings.verdict}{_target_shift(findings)}"
    if part.outcome == OUTSIDE:
        return VerdictLine(QUESTION, NO, f"{measured}. {shift}")
    if part.outcome == INSIDE and findings.without_targets:
        unknown = f"No target is known of {cut(listed(list(findings.without_targets)))}: the loss there is not known."
        return VerdictLine(QUESTION, UNKNOWN, f"{measured}. {unknown} {shift}")
    if part.outcome == INSIDE:
        return VerdictLine(QUESTION, YES, f"{measured}. {shift}")
    return VerdictLine(QUESTION, UNKNOWN, f"{measured}. {_rows_that_would_decide(part)} {shift}")


def _measured(findings: ShiftFindings, part: DeploymentLoss) -> str:
    """The loss on both tables, its rise, and the bias, with their tolerances."""
    assert findings.loss_here is not None
    measure, rise = findings.measure, part.rise
    name = "the deployment data" if part.name == ALL_ROWS else f"{part.name} of the deployment data"
    text = f"{capital(measure)} {_with_range(part.loss, measure)} on {name}"
    text += f", {_with_range(findings.loss_here, measure)} on held-out training rows: {rise_in_words(rise)}, "
    text += f"tolerance {findings.tolerance:.0%}"
    if part.bias is not None:
        text += f"; {bias_in_words(part.bias, measure)}, tolerance {_size(findings.bias_tolerance, measure)}"
    if part.auc_change is not None and isfinite(part.auc_change.value):
        change = part.auc_change
        text += f"; AUC {change.value:+.3f} ({change.low:+.3f} to {change.high:+.3f}), tolerance {-MAX_AUC_FALL}"
    return text


def _rows_that_would_decide(part: DeploymentLoss) -> str:
    """About how many more targets would decide."""
    n = part.n_units or part.n_rows
    units = "rows" if part.n_units is None else "groups or runs of rows"
    if part.auc_change is not None and not isfinite(part.auc_change.value):
        return "A class has too few rows to measure how well it is ranked: this needs at least 10 of each class."
    if part.rows_needed is not None:
        return f"That does not decide it: about {part.rows_needed - n:,} more {units} with targets would."
    if part.n_rows < MIN_ROWS_FOR_A_LOSS:
        needed = f"at least {MIN_ROWS_FOR_A_LOSS} rows with targets are needed"
        return f"That does not decide it: {needed}, and there are {part.n_rows:,}."
    return f"That does not decide it, and {n:,} {units} do not show how many more would."


def _without_targets(findings: ShiftFindings) -> VerdictLine:
    shift = f"{findings.verdict}{_unusual(findings)}"
    reason = _reason_for_no(findings)
    if reason:
        return VerdictLine(QUESTION, NO, f"{reason} {shift}")
    weighted = findings.weighted
    if weighted is None or weighted.loss is None or weighted.rise is None:
        return VerdictLine(QUESTION, UNKNOWN, f"{NO_TARGETS} {shift}")
    measure, rise = findings.measure, weighted.rise
    expected = (
        f"If the target depends on the columns as in the training data, the expected {measure} is "
        f"{_with_range(weighted.loss, measure)}, {rise_in_words(rise)} compared with held-out training rows."
    )
    if rise.low > findings.tolerance:
        limit = f"The {measure} is expected to rise by more than the tolerance of {findings.tolerance:.0%}."
        return VerdictLine(QUESTION, NO, f"{limit} {expected} {shift}")
    return VerdictLine(QUESTION, UNKNOWN, f"{NO_TARGETS} {shift} {expected}")


def _reason_for_no(findings: ShiftFindings) -> str:
    """Why nothing that was measured on the training data applies."""
    outside = findings.outside
    if outside is not None and is_more_than_chance(outside) and outside.fraction.low - outside.expected > MAX_OUTSIDE:
        names = ", ".join(name for name, _ in outside.columns[:MAX_NAMED])
        return (
            f"{outside.fraction.value:.0%} of the deployment rows lie outside the range of the training data "
            f"({names}), so nothing measured on the training data applies to them."
        )
    if findings.auc is not None and findings.auc.low >= SEPARABLE_AUC:
        return (
            f"A classifier separates deployment rows from training rows almost perfectly (AUC {findings.auc.value:.2f})"
            ", so nothing measured on the training data applies to them."
        )
    return ""


def _unusual(findings: ShiftFindings) -> str:
    """Rows outside the training range, or with much knowledge uncertainty, if there are more than chance explains."""
    text, outside, new = "", findings.outside, findings.new
    if outside is not None and is_more_than_chance(outside):
        text += (
            f" {outside.fraction.value:.1%} of the deployment rows lie outside the range of the training data; "
            f"{outside.expected:.1%} would by chance."
        )
    if new is not None and is_more_than_chance(new):
        text += f" {new.share.value:.0%} have more knowledge uncertainty than 95% of the held-out training rows."
    return text


def _target_shift(findings: ShiftFindings) -> str:
    """A sentence if the target itself has shifted."""
    target = findings.target
    return f" The target itself has shifted ({target.text})." if target and target.outcome == SHIFTED else ""


def _with_range(loss: Estimate, measure: str) -> str:
    return f"{value_of(loss, measure)} ({interval_of(loss, measure)})"


def rise_in_words(rise: Estimate) -> str:
    """Such as "12% higher (3% lower to 29% higher)"."""
    if not isfinite(rise.value):
        return "their ratio is not known"
    if not (isfinite(rise.low) or isfinite(rise.high)):
        return f"{higher(rise.value)} (no interval)"
    if not isfinite(rise.high):
        return f"{higher(rise.value)} (from {higher(rise.low)}, without an upper limit)"
    return f"{higher(rise.value)} ({higher(rise.low)} to {higher(rise.high)})"


def bias_in_words(bias: Estimate, measure: str) -> str:
    """Such as "predictions are too high by 1.2 on average (0.3 to 2.1)"."""
    direction, sign = ("too low", -1) if bias.value < 0 else ("too high", 1)
    low, high = (bias.low, bias.high) if sign > 0 else (-bias.high, -bias.low)
    value, low_end, high_end = (_size(edge, measure) for edge in (abs(bias.value), low, high))
    what = "predictions" if measure == RMSE else "probabilities"
    return f"{what} are {direction} by {value} on average ({low_end} to {high_end})"


def _size(value: float, measure: str) -> str:
    if not isfinite(value):
        return "no limit"
    return number(value) if measure == RMSE else points(value)


def higher(fraction: float) -> str:
    """Such as "12% higher"."""
    size = percent(abs(fraction), 0)
    return "unchanged" if size == "0%" else f"{size} {'lower' if fraction < 0 else 'higher'}"
