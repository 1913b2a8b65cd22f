"""Five lines that say what an audit has found, in plain words."""

from surefoot.report.answers import (
    NO,
    PARTLY,
    UNKNOWN,
    YES,
    Accuracy,
    Estimate,
    Knowing,
    Line,
    ModelScore,
    Stability,
    Subject,
    Transfer,
)
from surefoot.report.scoring import ERROR_RATE, RANKING_ERROR, RATES
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
        transfer_line(transfer),
    )


def headline(subject: Subject, accuracy: Accuracy) -> Line:
    """Whether there is anything to predict with at all."""
    constant, best, others = accuracy.models[0], _judged(accuracy), _winners(accuracy)
    if best.gain.low > 0:
        if accuracy.measure == RANKING_ERROR:
            return Line("", YES, f"{_capital(best.name)} {_ranking(best, subject)}.")
        gain = _gain(best, constant, accuracy.measure)
        return Line("", YES, f"{_capital(best.name)} predicts {subject.target}: {gain}.")
    if _ranks(best):
        assert best.auc is not None
        sentence = (
            f"No model makes clearly fewer errors than the constant, but {best.name} ranks rows: a row of one class "
            f"scores higher than one of the other in {best.auc.value:.0%} of pairs ({best.auc.low:.0%} to "
            f"{best.auc.high:.0%})."
        )
        return Line("", PARTLY, sentence)
    if others:
        sentence = (
            f"{_capital(best.name)} does not clearly predict {subject.target} better than a constant on "
            f"{subject.n_test:,} held-out rows; {_listed(others)} did."
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
    if judged.gain.low <= 0 and not _ranks(judged):
        if not others:
            return Line(QUESTIONS[0], NO, "No model beats the constant on held-out rows." + more)
        told = (
            f"{_capital(judged.name)} does not clearly beat the constant on held-out rows; {_listed(others)} did.{more}"
        )
        return Line(QUESTIONS[0], NO if judged.yours else PARTLY, told)
    sentence = (
        f"Of {len(accuracy.models)} models, {best.name} did best in cross-validation: {accuracy.measure} "
        f"{_with_range(best.loss, accuracy.measure)} on held-out rows.{more}"
    )
    if judged is not best and judged.loss.low > best.loss.value:
        behind = f"{_capital(judged.name)} is behind: {_with_range(judged.loss, accuracy.measure)}. "
        return Line(QUESTIONS[0], NO, behind + sentence)
    return Line(QUESTIONS[0], PARTLY if growing else YES, sentence)


def knowing_line(knowing: Knowing | None) -> Line:
    """Whether uncertainty finds the errors, whether it is calibrated, and whether new rows are strange."""
    if knowing is None:
        return Line(QUESTIONS[1], UNKNOWN, NO_TIME)
    ratio, new = knowing.by_total.ratio, knowing.new
    finds = ratio is not None and ratio.low > 0
    honest, how = _honesty(knowing)
    found = "Every held-out row has the same loss, so there is nothing for uncertainty to find."
    if ratio is not None:
        verb = "finds" if finds else "does not clearly find"
        found = (
            f"Its uncertainty {verb} the errors (prediction-rejection ratio {ratio.value:.2f}; 1 is perfect, 0 random)."
        )
    strange = ""
    if new is not None and new.p_value < 0.01 and new.share.low > new.expected:
        strange = f" {new.share.value:.0%} of the new rows are stranger to it than 95% of the held-out ones."
    answer = YES if finds and honest and not strange else PARTLY if finds or honest else NO
    return Line(QUESTIONS[1], answer, f"{found} {how}{strange}")


def _honesty(knowing: Knowing) -> tuple[bool, str]:
    """Whether probabilities or intervals mean what they say, and a sentence about it."""
    gap, share = knowing.calibration.gap, knowing.calibration.share
    if gap is not None and share is not None:
        room = WELL_CALIBRATED * 4 * share * (1 - share)  # as many standard deviations as for classes of equal size
        honest = gap.low <= room and gap.high >= -room
        told = f"It expects {share + gap.value:.1%} of the rows to be {knowing.calibration.rare}; {share:.1%} are"
        return honest, f"{told} (too many by {100 * gap.low:+.1f} to {100 * gap.high:+.1f} points)."
    if gap is not None:
        honest = gap.low <= WELL_CALIBRATED and gap.high >= -WELL_CALIBRATED
        side = "above" if gap.value > 0 else "below"
        word = "" if honest else f" It is {'over' if gap.value > 0 else 'under'}confident."
        told = f"Its confidence is on average {100 * abs(gap.value):.1f} points {side} the share of right predictions"
        return honest, f"{told} ({100 * gap.low:+.1f} to {100 * gap.high:+.1f}).{word}"
    inside = next(each for each in knowing.calibration.coverage if each.level == LEVEL).observed
    honest = inside.low <= LEVEL + WELL_CALIBRATED and inside.high >= LEVEL - WELL_CALIBRATED
    held = f"{inside.value:.0%} of the held-out targets ({inside.low:.0%} to {inside.high:.0%})"
    return honest, f"Its 90% intervals hold {held}."


def stability_line(stability: Stability | None) -> Line:
    """What the bags agree on."""
    if stability is None or not stability.sets:
        why = NO_TIME if stability is None else stability.note or "There is nothing to select."
        return Line(QUESTIONS[2], UNKNOWN, why)
    first = stability.sets[0]
    if first.undecided:
        sentence = (
            f"One look at all rows claims {first.single}, but bags of rows choose so many different sets that none is "
            "stable."
        )
        return Line(QUESTIONS[2], NO, sentence)
    if first.n_models == 1 and first.models[0][0] == "no variable":
        return Line(QUESTIONS[2], YES, "No variable is claimed, and for most rows, dropping one would not change that.")
    if first.n_models == 1:
        sentence = (
            f"The {first.selector} chooses {first.models[0][0]}; for at least {1 - first.delta:.0%} of the rows, "
            "dropping that row leaves this choice among those selected."
        )
        return Line(QUESTIONS[2], YES, sentence)
    sentence = (
        f"One look at all rows claims {first.single}; the rows cannot decide between {first.n_models:,} sets: "
        f"{first.stable}."
    )
    return Line(QUESTIONS[2], PARTLY, sentence)


def transfer_line(transfer: Transfer | None) -> Line:
    """Whether anything has shifted, and what that does to the loss."""
    if transfer is None:
        return Line(QUESTIONS[3], UNKNOWN, NO_TIME)
    if transfer.where is None:
        nowhere = "Nobody has said where: give new rows (--new), or a column of time (--time)."
        return Line(QUESTIONS[3], UNKNOWN, nowhere)
    measure = transfer.measure
    if transfer.loss_there is not None and transfer.loss_here is not None:
        there, here = transfer.loss_there, transfer.loss_here
        told = f"{_capital(measure)} {_number(there, measure)} there, {_number(here, measure)} here. {transfer.verdict}"
        return Line(QUESTIONS[3], NO if unpaired_difference(there, here).low > 0 else YES, told)
    shifted = any(column.outcome == SHIFTED for column in transfer.columns)
    if not shifted and (transfer.p_value is None or transfer.p_value >= 0.05):
        return Line(QUESTIONS[3], YES, f"Nothing was found that would speak against it. {transfer.verdict}")
    weighted = transfer.weighted
    if weighted is None or weighted.loss is None:
        told = f"{transfer.verdict} How well it does there cannot be known without targets from there."
        return Line(QUESTIONS[3], UNKNOWN, told)
    told = (
        f"{transfer.verdict} Held-out rows weighted to look like those there let one expect {measure} "
        f"{_number(weighted.loss, measure)} instead of {_number(weighted.plain, measure)}."
    )
    return Line(QUESTIONS[3], PARTLY, told)


def unpaired_difference(first: Estimate, second: Estimate) -> Estimate:
    """Difference of two independent estimates, its interval made from theirs (MOVER, Zou and Donner 2008)."""
    value = first.value - second.value
    below = ((first.value - first.low) ** 2 + (second.high - second.value) ** 2) ** 0.5
    above = ((first.high - first.value) ** 2 + (second.value - second.low) ** 2) ** 0.5
    return Estimate(value, value - below, value + above)


def _growth(accuracy: Accuracy) -> tuple[bool, str]:
    """Whether more rows would help, and a sentence about it."""
    if accuracy.curve is None:
        return False, " Whether more rows would help was not measured."
    doubling = accuracy.curve.last_doubling
    fall = _points(doubling, accuracy.measure)
    if doubling.low > 0:
        return True, f" The last doubling of the rows still lowered it by {fall}: more rows would help."
    return False, f" The last doubling of the rows lowered it by {fall}, which may be chance."


def _winners(accuracy: Accuracy) -> list[str]:
    """Names of the models that clearly beat the constant."""
    return [model.name for model in accuracy.models if model.gain.low > 0]


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _chosen(accuracy: Accuracy) -> ModelScore:
    return next(model for model in accuracy.models if model.chosen)


def _judged(accuracy: Accuracy) -> ModelScore:
    """The user's own model, or the one that cross-validation chose."""
    return next((model for model in accuracy.models if model.yours), _chosen(accuracy))


def _ranks(model: ModelScore) -> bool:
    return model.auc is not None and model.auc.low > 0.5


def _gain(best: ModelScore, constant: ModelScore, measure: str) -> str:
    if measure == ERROR_RATE:
        always = f"always saying the most frequent class is wrong on {constant.loss.value:.1%}"
        return f"wrong on {best.loss.value:.1%} of the held-out rows, where {always}"
    gain = best.gain
    return f"it explains {gain.value:.0%} of the variance of the held-out rows ({gain.low:.0%} to {gain.high:.0%})"


def _ranking(best: ModelScore, subject: Subject) -> str:
    """What a ranking error means."""
    rare = subject.classes[min(range(2), key=lambda place: subject.shares[place])]
    errors = best.error_rate
    told = "" if errors is None else f"; its labels are wrong on {errors.value:.1%} of the rows"
    return (
        f"predicts {subject.target}: of the pairs of a row that is {rare} and one that is not, it puts "
        f"{best.loss.value:.1%} in the wrong order ({best.loss.low:.1%} to {best.loss.high:.1%}), where chance would "
        f"put 50%{told}"
    )


def _with_range(loss: Estimate, measure: str) -> str:
    low, high = (_number(Estimate(edge, edge, edge), measure) for edge in (loss.low, loss.high))
    return f"{_number(loss, measure)} ({low} to {high})"


def _number(loss: Estimate, measure: str) -> str:
    return f"{loss.value:.1%}" if measure in RATES else f"{loss.value:.4g}"


def _points(fall: Estimate, measure: str) -> str:
    return f"{100 * fall.value:.1f} points" if measure in RATES else f"{fall.value:.3g}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
