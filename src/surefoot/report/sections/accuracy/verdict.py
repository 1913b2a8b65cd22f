"""The headline, and the line of the verdict on question 1: is it as accurate as the data allows?"""

from collections.abc import Sequence

from surefoot.report.models.scoring import ERROR_RATE, RANKING_ERROR
from surefoot.report.page.numbers import interval_of, percent, value_of
from surefoot.report.sections.accuracy.findings import AccuracyFindings
from surefoot.report.sections.section import NO, PARTLY, UNKNOWN, YES, VerdictLine
from surefoot.report.sections.sentences import (
    audited_model,
    between_percents,
    called,
    capital,
    listed,
    more_rows,
)
from surefoot.report.statistics import INSIDE, OUTSIDE, decide, is_withheld, rows_needed
from surefoot.report.subject import DataCheck, Subject

QUESTION = "Is it as accurate as the data allows?"

TOLERANCE = 0.05  # fraction of the loss that another model, or twice the rows, may take off
USELESS = 0.05  # fraction of the constant's loss: a model that removes less predicts nothing
ALLOWED = (float("-inf"), TOLERANCE)
FAR = 10 * TOLERANCE  # so far behind that it is enough to know which of two models is better


def headline(subject: Subject, accuracy: AccuracyFindings) -> VerdictLine:
    """Whether the audited model predicts the target at all."""
    model, gain = audited_model(accuracy), accuracy.gain
    best = called(model) if model.yours else "the best model that was tried"
    loss = f"{accuracy.measure} {value_of(model.loss, accuracy.measure)} ({interval_of(model.loss, accuracy.measure)})"
    removed = f"It removes {_of_what(accuracy, gain.value)}{_range(accuracy)}"
    if accuracy.is_better:
        sentence = f"{capital(called(model))} predicts {subject.target}: {loss}{_beside_constant(accuracy)}. {removed}."
        return VerdictLine("", YES, sentence)
    if gain.high < USELESS and len(accuracy.models) > 1:
        sentence = (
            f"{capital(best)} does not predict {subject.target} from these columns: it removes less than "
            f"{_of_what(accuracy, USELESS)}{_range(accuracy)}, on {accuracy.n_rows:,} held-out rows."
        )
        return VerdictLine("", NO, sentence)
    sentence = (
        f"Whether {subject.target} can be predicted from these columns is not known: on {accuracy.n_rows:,} held-out "
        f"rows, {best} removes {_of_what(accuracy, gain.value)}{_range(accuracy)}."
    )
    return VerdictLine("", UNKNOWN, sentence)


def accuracy_line(accuracy: AccuracyFindings, checks: Sequence[DataCheck]) -> VerdictLine:
    """Whether anything tried does better, whether more rows would help, and whether the numbers can be trusted."""
    doubts = [check.kind for check in checks if check.matters]
    rivals, growth, reasons = _rivals(accuracy), _growth(accuracy), []
    if len(accuracy.models) == 1:
        return VerdictLine(QUESTION, UNKNOWN, "No model but the constant was fitted: there was not enough time.")
    if rivals[0] != OUTSIDE and (accuracy.gain.high < USELESS or not accuracy.is_better):
        return _no_gain(accuracy)
    if accuracy.left_out:
        reasons.append(f"Not compared: {listed(list(accuracy.left_out))}.")
    if undecided := [check.undecided for check in checks if check.undecided]:
        reasons.append(f"It is not known {listed(undecided)}.")
    if doubts:
        reasons.append(f"The errors may be too small: see the checks below ({listed(doubts)}).")
    sentences = " ".join([rivals[1], growth[1], *reasons])
    if rivals[0] == OUTSIDE:
        return VerdictLine(QUESTION, NO, sentences)
    if growth[0] == OUTSIDE and not doubts:
        return VerdictLine(QUESTION, PARTLY, sentences)
    both = rivals[0] == growth[0] == INSIDE
    return VerdictLine(QUESTION, YES if both and not reasons else UNKNOWN, sentences)


def _no_gain(accuracy: AccuracyFindings) -> VerdictLine:
    """A model that is not shown to be better than the constant."""
    gain, model = accuracy.gain, audited_model(accuracy)
    name = capital(called(model)) if model.yours else "The best model that was tried"
    if gain.high < USELESS:
        sentence = f"{name} removes less than {USELESS:.0%} of the constant's loss{_range(accuracy)}."
        return VerdictLine(QUESTION, NO, sentence)
    needed = more_rows(rows_needed(gain, accuracy.n_rows, (0.0, float("inf"))), accuracy.n_rows)
    sentence = f"{name} is not shown to be better than a constant{_range(accuracy)}.{needed}"
    return VerdictLine(QUESTION, UNKNOWN, sentence)


def _rivals(accuracy: AccuracyFindings) -> tuple[str, str]:
    """Whether the best of the other models is ahead by more than the tolerance."""
    behind, rival, own = accuracy.behind, accuracy.rival, capital(called(audited_model(accuracy)))
    n_compared = sum(1 for model in accuracy.models if not model.chosen) - 1
    if behind is None or rival is None:
        return "undecided", f"{own} was compared with the constant alone."
    place = OUTSIDE if behind.low >= 0 and behind.value >= FAR else decide(behind, ALLOWED)
    others = f"{n_compared} other models" if n_compared > 1 else "one other model"
    gap = between_percents(behind)
    if place == INSIDE:
        return place, f"None of {others} has a loss that is lower by {TOLERANCE:.0%} (best: {rival}, {gap})."
    if place == OUTSIDE:
        return place, f"{own} is behind: its loss is {percent(behind.value, 0)} above that of {rival} ({gap})."
    needed = more_rows(rows_needed(behind, accuracy.n_rows, ALLOWED), accuracy.n_rows)
    return place, f"Whether {rival} is ahead by more than {TOLERANCE:.0%} is not known ({gap}).{needed}"


def _growth(accuracy: AccuracyFindings) -> tuple[str, str]:
    """Whether more rows would lower the loss by more than the tolerance."""
    if accuracy.curve is None:
        return "undecided", "Whether more rows would help was not measured."
    step = accuracy.curve.last_doubling
    place, gap = decide(step, ALLOWED), between_percents(step)
    if place == INSIDE:
        return place, f"With half of the rows the loss is at most {TOLERANCE:.0%} higher ({gap}): more add little."
    if place == OUTSIDE:
        return place, f"With half of the rows the loss is {percent(step.value, 0)} higher ({gap}): more would help."
    needed = more_rows(rows_needed(step, accuracy.n_rows, ALLOWED), accuracy.n_rows)
    return place, f"Whether twice the rows would lower the loss by {TOLERANCE:.0%} is not known ({gap}).{needed}"


def _of_what(accuracy: AccuracyFindings, part: float) -> str:
    if accuracy.measure == "RMSE":
        return f"{percent(part, 0)} of the variance"
    return f"{percent(part, 0)} of the constant's log-loss"


def _range(accuracy: AccuracyFindings) -> str:
    return " (no interval)" if is_withheld(accuracy.gain) else f" ({between_percents(accuracy.gain)})"


def _beside_constant(accuracy: AccuracyFindings) -> str:
    """The loss that a constant has."""
    constant = accuracy.models[0]
    if accuracy.measure == RANKING_ERROR:
        return f", where chance has 50%; {accuracy.n_rare:,} held-out rows are of the rare class"
    if accuracy.measure == ERROR_RATE:
        return f", where always saying the most frequent class has {percent(constant.loss.value)}"
    return f", where the mean has {value_of(constant.loss, accuracy.measure)}"
