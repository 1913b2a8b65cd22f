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
from surefoot.report.contestants import YOUR_PREDICTIONS
from surefoot.report.knowing import ENSEMBLE
from surefoot.report.scoring import RANKING_ERROR
from surefoot.report.verdict_words import (
    apart_in_words,
    bent_in_words,
    called,
    capital,
    constant_chosen,
    cut,
    gain_in_words,
    listed,
    points,
    ranking_in_words,
    unpaired_difference,
    with_range,
    written,
)
from surefoot.shift.column_shift import SHIFTED

QUESTIONS = (
    "Is it as accurate as the data allows?",
    "Does it know what it does not know?",
    "Would the conclusion survive dropping a row?",
    "Does it hold where it will be used?",
)
NAMES = ("accuracy", "uncertainty", "stability", "shift")
WELL_CALIBRATED = 0.05  # difference of confidence and accuracy, or of level and coverage, that nobody minds
LEVEL = 0.9  # of the intervals that the verdict looks at
LEVEL_OF_SHIFT = 0.05
LITTLE_CLAIMED = 0.2  # prediction-rejection ratio below which an ensemble claims to find but few errors
MOST_SETS = 5  # that the verdict lists
NO_TIME = "There was no time to find out."


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
    constant, best, others = accuracy.models[0], _judged(accuracy), _winners(accuracy)
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
    best, judged, others = _chosen(accuracy), _judged(accuracy), _winners(accuracy)
    growing, more = _growth(accuracy)
    n_compared = sum(isfinite(model.cv_loss) for model in accuracy.models)
    if judged.gain.low <= 0 and not _ranks(judged):
        if not others:
            return Line(QUESTIONS[0], NO, "No model beats the constant on held-out rows." + more)
        if judged is accuracy.models[0]:
            return Line(QUESTIONS[0], PARTLY, constant_chosen(others) + more)
        told = (
            f"{capital(called(judged))} does not clearly beat the constant on held-out rows; {listed(others)} "
            f"did.{more}"
        )
        return Line(QUESTIONS[0], NO if judged.yours else PARTLY, told)
    sentence = (
        f"Of {n_compared} models, {best.name} did best in cross-validation: {accuracy.measure} "
        f"{with_range(best.loss, accuracy.measure)} on held-out rows.{more}"
    )
    apart = accuracy.behind
    if apart is not None and apart.low > 0:
        more_by = apart_in_words(accuracy)
        behind = f"{capital(called(judged))} is behind: its {accuracy.behind_measure} is higher by {more_by}. "
        return Line(QUESTIONS[0], NO, behind + sentence)
    return Line(QUESTIONS[0], PARTLY if growing or accuracy.curve is None else YES, sentence)


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
    """Whether uncertainty finds the errors, as far as it claims to, and a sentence about it."""
    ratio, claimed = knowing.by_total.ratio, knowing.by_total.claimed
    if ratio is None:
        return False, "Every held-out row has the same loss, so there is nothing for uncertainty to find."
    whose = "its errors" if knowing.model == ENSEMBLE else f"the errors of {knowing.model}"
    told = f"(prediction-rejection ratio {ratio.value:.2f}; 1 is perfect, 0 random)"
    if ratio.low > 0:
        return True, f"The uncertainty of an ensemble finds {whose} {told}."
    missed = f"The uncertainty of an ensemble does not clearly find {whose} {told}"
    if claimed is None or claimed.value >= LITTLE_CLAIMED:
        return False, f"{missed}."
    return True, f"{missed}, and hardly claims to: were it right about every row, it would be {claimed.value:.2f}."


def _honesty(knowing: Knowing) -> tuple[bool, str]:
    """Whether probabilities or intervals mean what they say, and a sentence about it; those of the user if there."""
    found = knowing.own_calibration or knowing.calibration
    if found.gap is None:
        inside = next(each for each in found.coverage if each.level == LEVEL).observed
        honest = inside.low <= LEVEL + WELL_CALIBRATED and inside.high >= LEVEL - WELL_CALIBRATED
        held = f"{inside.value:.0%} of the held-out targets ({inside.low:.0%} to {inside.high:.0%})"
        return honest, f"Its 90% intervals hold {held}."

    def whose(what: str) -> str:
        return f"Its {what}" if found is knowing.calibration else f"The {what} of {knowing.model}"

    gap, room = found.gap, WELL_CALIBRATED
    if found.share is not None:
        room *= 4 * found.share * (1 - found.share)  # as many standard deviations as for classes of equal size
        told = (
            f"{whose('probabilities')} expect {found.share + gap.value:.1%} of the rows to be {found.rare}; "
            f"{found.share:.1%} are (difference {100 * gap.low:+.1f} to {100 * gap.high:+.1f} points)."
        )
    else:
        side = "above" if gap.value > 0 else "below"
        told = (
            f"{whose('confidence')} is on average {100 * abs(gap.value):.1f} points {side} the share of right "
            f"predictions ({100 * gap.low:+.1f} to {100 * gap.high:+.1f})."
        )
    honest = gap.low <= room and gap.high >= -room
    bent = bent_in_words(found, room)
    return honest and not bent, f"{told}{bent}"


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


def transfer_line(transfer: Transfer | None, accuracy: Accuracy) -> Line:
    """Whether anything has shifted, and what that does to the loss."""
    if transfer is None:
        return Line(QUESTIONS[3], UNKNOWN, NO_TIME)
    if transfer.where is None:
        nowhere = "Nobody has said where: give new rows (--new), or a column of time (--time)."
        return Line(QUESTIONS[3], UNKNOWN, nowhere)
    measure = transfer.measure
    if transfer.loss_there is not None and transfer.loss_here is not None:
        there, here = transfer.loss_there, transfer.loss_here
        errors = _errors_there(transfer, accuracy) if measure == RANKING_ERROR else None
        told = (
            f"{capital(measure)} {with_range(there, measure)} there, {with_range(here, measure)} here"
            f"{'' if errors is None else errors[1]}{_why_not_ranked(transfer, accuracy)}. {transfer.verdict}"
            f"{_target_moved(transfer)}"
        )
        worse = unpaired_difference(there, here).low > 0
        return Line(QUESTIONS[3], NO if worse else PARTLY if errors is not None and errors[0] else YES, told)
    looks = [column.p_value for column in transfer.columns if column.outcome == SHIFTED]
    looks += [] if transfer.p_value is None or transfer.p_value >= LEVEL_OF_SHIFT else [transfer.p_value]
    if not looks:
        return Line(QUESTIONS[3], YES, f"Nothing was found that would speak against it. {transfer.verdict}")
    if min(looks) >= LEVEL_OF_SHIFT / 2:  # there are two looks: at each column, and at all together
        return Line(QUESTIONS[3], YES, f"Nothing was found but what two looks may show by chance. {transfer.verdict}")
    weighted = transfer.weighted
    if weighted is None or weighted.loss is None:
        told = f"{transfer.verdict} How well it does there cannot be known without targets from there."
        return Line(QUESTIONS[3], UNKNOWN, told)
    told = (
        f"{transfer.verdict} Held-out rows weighted to look like those there let one expect {measure} "
        f"{written(weighted.loss, measure)} instead of {written(weighted.plain, measure)}."
    )
    return Line(QUESTIONS[3], PARTLY, told)


def _why_not_ranked(transfer: Transfer, accuracy: Accuracy) -> str:
    """Why another measure is used there than here."""
    switched = accuracy.measure == RANKING_ERROR and transfer.measure != RANKING_ERROR
    return " (one class has too few rows there to rank)" if switched else ""


def _target_moved(transfer: Transfer) -> str:
    """That the target itself has shifted, if it has."""
    target = transfer.target
    return f" The target itself has shifted ({target.text})." if target and target.outcome == SHIFTED else ""


def _growth(accuracy: Accuracy) -> tuple[bool, str]:
    """Whether more rows would help, and a sentence about it."""
    if accuracy.curve is None:
        return False, " Whether more rows would help was not measured."
    doubling = accuracy.curve.last_doubling
    change = points(abs(doubling.value), accuracy.measure)
    if doubling.low > 0:
        return True, f" The last doubling of the rows still lowered it by {change}: more rows would help."
    way = "raised" if doubling.value < 0 else "lowered"
    return False, f" The last doubling of the rows {way} it by {change}, which may be chance."


def _winners(accuracy: Accuracy) -> list[str]:
    """Names of the models that clearly beat the constant."""
    return [model.name for model in accuracy.models if model.gain.low > 0]


def _chosen(accuracy: Accuracy) -> ModelScore:
    return next(model for model in accuracy.models if model.chosen)


def _audited(accuracy: Accuracy) -> ModelScore:
    """The model that question 4 is about: of predictions alone nothing is known elsewhere."""
    judged = _judged(accuracy)
    return _chosen(accuracy) if judged.name == YOUR_PREDICTIONS else judged


def _judged(accuracy: Accuracy) -> ModelScore:
    """The user's own model, or the one that cross-validation chose."""
    return next((model for model in accuracy.models if model.yours), _chosen(accuracy))


def _ranks(model: ModelScore) -> bool:
    return model.auc is not None and model.auc.low > 0.5


def _errors_there(transfer: Transfer, accuracy: Accuracy) -> tuple[bool, str] | None:
    """Whether labels are wrong more often there, and by how much: a ranking does not tell."""
    there = next((model.error_rate for model in transfer.models if model.chosen), None)
    here = _audited(accuracy).error_rate
    if there is None or here is None:
        return None
    return unpaired_difference(
        there, here
    ).low > 0, f"; labels are wrong on {there.value:.1%} there, {here.value:.1%} here"
