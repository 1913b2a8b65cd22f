"""The headline, and the verdict on question 1: is it as accurate as the data allows?"""

from collections.abc import Sequence

from surefoot.report.models.scoring import ERROR_RATE, RANKING_ERROR, RMSE
from surefoot.report.page.numbers import between, interval_of, percent, value_of
from surefoot.report.sections.accuracy.findings import AccuracyFindings
from surefoot.report.sections.section import NO, PARTLY, UNKNOWN, YES, VerdictLine
from surefoot.report.sections.sentences import (
    audited_model,
    called,
    capital,
    listed,
    more_rows,
)
from surefoot.report.statistics import INSIDE, OUTSIDE, UNDECIDED, decide, rows_needed
from surefoot.report.subject import DataCheck, Subject

QUESTION = "Is it as accurate as the data allows?"

TOLERANCE = 0.05  # fraction of the loss by which another model, or twice the rows, may be better
USELESS = 0.05  # fraction of the constant's loss: a model that removes less predicts nothing
ALLOWED = (float("-inf"), TOLERANCE)
FAR = 10 * TOLERANCE  # so far behind that it is enough to know which of two models is better
SHOWN_BY_RANKS = "That it is better than the mean at all is shown by the ranks of its errors (signed-rank test)."
SHOWN_BY_ERRORS = "That it is better than a constant at all is shown by its errors, or by how it ranks the rows."


def headline(subject: Subject, accuracy: AccuracyFindings) -> VerdictLine:
    """Whether the audited model predicts the target at all."""
    model, gain = audited_model(accuracy), accuracy.gain
    best = called(model.name) if model.yours else "the best candidate"
    if accuracy.is_better:
        loss = f"{value_of(model.loss, accuracy.measure)} ({interval_of(model.loss, accuracy.measure)})"
        sentence = (
            f"{capital(called(model.name))} predicts {subject.target}: {accuracy.measure} {loss}{_baseline(accuracy)}."
        )
        shown = "" if gain.low > 0 else f" {SHOWN_BY_RANKS if accuracy.measure == RMSE else SHOWN_BY_ERRORS}"
        return VerdictLine("", YES, f"{sentence} It {_gain(accuracy, gain.value)}{_range(accuracy)}.{shown}")
    if gain.high < USELESS and len(accuracy.models) > 1:
        sentence = (
            f"{capital(best)} does not predict {subject.target} from these columns: on {accuracy.n_rows:,} held-out "
            f"rows, it {_gain(accuracy, USELESS, 'less than ')}{_range(accuracy)}."
        )
        return VerdictLine("", NO, sentence)
    sentence = (
        f"Whether {subject.target} can be predicted from these columns is not known: on {accuracy.n_rows:,} held-out "
        f"rows, {best} {_gain(accuracy, gain.value)}{_range(accuracy)}."
    )
    return VerdictLine("", UNKNOWN, sentence)


def accuracy_line(accuracy: AccuracyFindings, checks: Sequence[DataCheck]) -> VerdictLine:
    """Whether another model is better, whether more rows would help, and whether the numbers can be trusted."""
    doubts = [check.kind for check in checks if check.matters]
    (rivals, of_rivals), (growth, of_growth), reasons = _rivals(accuracy), _growth(accuracy), []
    if len(accuracy.models) == 1:
        return VerdictLine(QUESTION, UNKNOWN, "There was only enough time to fit the constant.")
    if rivals != OUTSIDE and (accuracy.gain.high < USELESS or not accuracy.is_better):
        return _no_gain(accuracy)
    if accuracy.left_out:
        reasons.append(f"Not compared: {listed(list(accuracy.left_out))}.")
    if undecided := [check.undecided for check in checks if check.undecided]:
        reasons.append(f"It is not known {listed(undecided)}.")
    if doubts:
        reasons.append(f"The measured errors may be too small: see the checks below ({listed(doubts)}).")
    sentences = " ".join([of_rivals, of_growth, *reasons])
    if rivals == OUTSIDE:
        return VerdictLine(QUESTION, NO, sentences)
    if growth == OUTSIDE and not doubts:
        return VerdictLine(QUESTION, PARTLY, sentences)
    is_yes = rivals == growth == INSIDE and not reasons
    return VerdictLine(QUESTION, YES if is_yes else UNKNOWN, sentences)


def _no_gain(accuracy: AccuracyFindings) -> VerdictLine:
    """A model that is not shown to be better than the constant."""
    gain, model = accuracy.gain, audited_model(accuracy)
    name = capital(called(model.name)) if model.yours else "The best candidate"
    if gain.high < USELESS:
        sentence = f"{name} removes less than {USELESS:.0%} of the constant's loss{_range(accuracy)}."
        return VerdictLine(QUESTION, NO, sentence)
    needed = more_rows(rows_needed(gain, accuracy.n_rows, (0.0, float("inf"))), accuracy.n_rows)
    sentence = f"{name} is not shown to be better than a constant{_range(accuracy)}.{needed}"
    return VerdictLine(QUESTION, UNKNOWN, sentence)


def _rivals(accuracy: AccuracyFindings) -> tuple[str, str]:
    """Whether the best of the other models is better by more than the tolerance."""
    behind, rival, own = accuracy.behind, accuracy.rival, called(accuracy.audited)
    if behind is None or rival is None:
        return UNDECIDED, f"{capital(own)} was compared only with the constant."
    place = OUTSIDE if behind.low >= 0 and behind.value >= FAR else decide(behind, ALLOWED)
    gap, loss = between(behind, percent), f"loss of {own} is"
    if place == INSIDE:
        n_others = sum(1 for model in accuracy.models if not model.chosen) - 1
        others = f"the best of {n_others} other models, {called(rival)}"
        best = f"{called(rival) if n_others == 1 else others} ({gap})"
        return place, f"The {loss} at most {TOLERANCE:.0%} higher than that of {best}."
    if place == OUTSIDE:
        return place, f"The {loss} {percent(behind.value, 0)} higher than that of {called(rival)} ({gap})."
    needed = more_rows(rows_needed(behind, accuracy.n_rows, ALLOWED), accuracy.n_rows)
    unknown = f"Whether the {loss} more than {TOLERANCE:.0%} above that of {called(rival)} is not known"
    return place, f"{unknown} ({gap}).{needed}"


def _growth(accuracy: AccuracyFindings) -> tuple[str, str]:
    """Whether more rows would lower the loss by more than the tolerance."""
    if accuracy.curve is None:
        return UNDECIDED, "Whether more rows would help was not measured."
    step, half = accuracy.curve.last_doubling, "with half of the training rows"
    place, gap = decide(step, ALLOWED), between(step, percent)
    if place == INSIDE:
        return place, f"More rows would help little: {half} the loss is at most {TOLERANCE:.0%} higher ({gap})."
    if place == OUTSIDE:
        return place, f"More rows would help: {half} the loss is {percent(step.value, 0)} higher ({gap})."
    needed = more_rows(rows_needed(step, accuracy.n_rows, ALLOWED), accuracy.n_rows)
    unknown = f"whether the loss is more than {TOLERANCE:.0%} higher {half}"
    return place, f"It is not known {unknown} ({gap}).{needed}"


def _gain(accuracy: AccuracyFindings, gain: float, limit: str = "") -> str:
    """Such as "explains 50% of the variance"; ``limit`` may be "less than "."""
    if accuracy.measure == RMSE:
        return f"explains {limit}{percent(gain, 0)} of the variance"
    lost = "errors" if audited_model(accuracy).log_loss is None else "log-loss"
    return f"removes {limit}{percent(gain, 0)} of the constant's {lost}"


def _range(accuracy: AccuracyFindings) -> str:
    return f" ({between(accuracy.gain, percent)})"


def _baseline(accuracy: AccuracyFindings) -> str:
    """The loss of a constant."""
    constant = accuracy.models[0]
    if accuracy.measure == RANKING_ERROR:
        return f"; chance has 50%, and {accuracy.n_rare:,} held-out rows belong to the rare class"
    if accuracy.measure == ERROR_RATE:
        return f"; always predicting the most frequent class has {percent(constant.loss.value)}"
    return f"; always predicting the mean has {value_of(constant.loss, accuracy.measure)}"
