"""Five lines that say what an audit has found, in plain words."""

from math import isfinite

from surefoot.report.answers import (
    NO,
    PARTLY,
    UNKNOWN,
    YES,
    Accuracy,
    Knowing,
    Line,
    ModelScore,
    Stability,
    Subject,
    Transfer,
)
from surefoot.report.scoring import RANKING_ERROR
from surefoot.report.verdict_of_knowing import knowing_line
from surefoot.report.verdict_of_transfer import transfer_line
from surefoot.report.verdict_words import (
    NO_TIME,
    QUESTIONS,
    apart_in_words,
    called,
    capital,
    chosen,
    constant_chosen,
    cut,
    gain_in_words,
    judged,
    listed,
    points,
    ranking_in_words,
    with_range,
)

MOST_SETS = 5  # that the verdict lists


def verdict(
    subject: Subject,
    accuracy: Accuracy,
    knowing: Knowing | None,
    stability: Stability | None,
    transfer: Transfer | None,
) -> tuple[Line, ...]:
    """The headline and an answer to each question."""
    return (
        headline(subject, accuracy),
        accuracy_line(accuracy),
        knowing_line(knowing),
        stability_line(stability),
        transfer_line(transfer, accuracy),
    )


def headline(subject: Subject, accuracy: Accuracy) -> Line:
    """Whether there is anything to predict with at all."""
    constant, best, others = accuracy.models[0], judged(accuracy), _winners(accuracy)
    if best.gain.low > 0:
        if accuracy.measure == RANKING_ERROR:
            return Line("", YES, f"{capital(called(best))} {ranking_in_words(best, accuracy, subject)}.")
        gain = gain_in_words(best, constant, accuracy.measure)
        return Line("", YES, f"{capital(called(best))} predicts {subject.target}: {gain}.")
    if _ranks(best):
        assert best.auc is not None
        but = f"No model makes clearly fewer errors than the constant, but {called(best)}"
        if others:
            but = f"{capital(called(best))} does not make clearly fewer errors than the constant, but"
        sentence = (
            f"{but} ranks rows: a row of one class scores higher than one of the other in {best.auc.value:.0%} of "
            f"pairs ({best.auc.low:.0%} to {best.auc.high:.0%})."
        )
        return Line("", PARTLY, sentence)
    if others and best is constant:
        return Line("", PARTLY, f"{constant_chosen(others)} Whether {subject.target} can be predicted is not clear.")
    if others:
        sentence = (
            f"{capital(called(best))} does not clearly predict {subject.target} better than a constant on "
            f"{subject.n_test:,} held-out rows; {listed(others)} did."
        )
        return Line("", NO if best.yours else PARTLY, sentence)
    sentence = (
        f"These columns do not let any model here predict {subject.target} better than a constant would, as far as "
        f"{subject.n_test:,} held-out rows can tell."
    )
    return Line("", NO, sentence)


def accuracy_line(accuracy: Accuracy) -> Line:
    """The best of the models, and whether more rows would help."""
    best, own, others = chosen(accuracy), judged(accuracy), _winners(accuracy)
    growing, more = _growth(accuracy)
    n_compared = sum(isfinite(model.cv_loss) for model in accuracy.models)
    if own.gain.low <= 0 and not _ranks(own):
        if not others:
            return Line(QUESTIONS[0], NO, "No model beats the constant on held-out rows." + more)
        if own is accuracy.models[0]:
            return Line(QUESTIONS[0], PARTLY, constant_chosen(others) + more)
        told = (
            f"{capital(called(own))} does not clearly beat the constant on held-out rows; {listed(others)} did.{more}"
        )
        return Line(QUESTIONS[0], NO if own.yours else PARTLY, told)
    sentence = (
        f"Of {n_compared} models, {best.name} did best in cross-validation: {accuracy.measure} "
        f"{with_range(best.loss, accuracy.measure)} on held-out rows.{more}"
    )
    apart = accuracy.behind
    if apart is not None and apart.low > 0:
        more_by = apart_in_words(accuracy)
        behind = f"{capital(called(own))} is behind: its {accuracy.behind_measure} is higher by {more_by}. "
        return Line(QUESTIONS[0], NO, behind + sentence)
    return Line(QUESTIONS[0], PARTLY if growing or accuracy.curve is None else YES, sentence)


def stability_line(stability: Stability | None) -> Line:
    """What the bags agree on."""
    if stability is None or not stability.sets:
        why = NO_TIME if stability is None else stability.note or "There is nothing to select."
        return Line(QUESTIONS[2], UNKNOWN, why)
    first = stability.sets[0]
    if first.undecided:
        sentence = (
            f"One look at all rows claims {cut(first.single)}, but bags of rows choose so many different sets that "
            "none is stable."
        )
        return Line(QUESTIONS[2], NO, sentence)
    if first.n_models == 1 and first.models[0][0] == "no variable":
        return Line(QUESTIONS[2], YES, "No variable is claimed, and for most rows, dropping one would not change that.")
    if first.n_models == 1:
        sentence = (
            f"The {first.selector} chooses {cut(first.models[0][0])}; for at least {1 - first.delta:.0%} of the rows, "
            "dropping that row leaves this choice among those selected."
        )
        return Line(QUESTIONS[2], YES, sentence)
    which = f": {cut(first.stable)}" if first.n_models <= MOST_SETS else ", listed below"
    sentence = (
        f"One look at all rows claims {cut(first.single)}; the rows cannot decide between {first.n_models:,} sets"
        f"{which}."
    )
    return Line(QUESTIONS[2], PARTLY, sentence)


def _growth(accuracy: Accuracy) -> tuple[bool, str]:
    """Whether more rows would help, and a sentence about it."""
    if accuracy.curve is None:
        return False, " Whether more rows would help was not measured."
    doubling = accuracy.curve.last_doubling
    change = points(abs(doubling.value), accuracy.measure)
    if doubling.low > 0:
        return (
            True,
            f" The last doubling of the rows still lowered the {accuracy.measure} by {change}: more would help.",
        )
    way = "raised" if doubling.value < 0 else "lowered"
    return False, f" The last doubling of the rows {way} the {accuracy.measure} by {change}, which may be chance."


def _winners(accuracy: Accuracy) -> list[str]:
    """Names of the models that clearly beat the constant."""
    return [model.name for model in accuracy.models if model.gain.low > 0]


def _ranks(model: ModelScore) -> bool:
    return model.auc is not None and model.auc.low > 0.5
