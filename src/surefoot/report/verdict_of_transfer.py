"""The line of the verdict on question 4: does it hold where it will be used?"""

from surefoot.report.answers import NO, PARTLY, UNKNOWN, YES, Accuracy, Line, Transfer
from surefoot.report.contestants import YOUR_PREDICTIONS
from surefoot.report.scoring import RANKING_ERROR
from surefoot.report.verdict_words import (
    NO_TIME,
    QUESTIONS,
    capital,
    chosen,
    judged,
    unpaired_difference,
    with_range,
    written,
)
from surefoot.shift.column_shift import LEVEL, SHIFTED

FEWEST_KNOWN = 10  # rows there with a target


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
        if unpaired_difference(there, here).low > 0:
            return Line(QUESTIONS[3], NO, told)
        if transfer.n_known < FEWEST_KNOWN:
            return Line(QUESTIONS[3], UNKNOWN, f"{transfer.n_known:,} rows with a target are too few to tell. {told}")
        if _why_not_ranked(transfer, accuracy):
            return Line(QUESTIONS[3], UNKNOWN, told)
        return Line(QUESTIONS[3], PARTLY if errors is not None and errors[0] else YES, told)
    looks = [column.p_value for column in transfer.columns if column.outcome == SHIFTED]
    looks += [] if transfer.p_value is None or transfer.p_value >= LEVEL else [transfer.p_value]
    if not looks:
        return Line(QUESTIONS[3], YES, f"Nothing was found that would speak against it. {transfer.verdict}")
    if min(looks) >= LEVEL / 2:  # there are two looks: at each column, and at all together
        just = "One of two looks just shows a shift, as happens by chance in one of ten tables."
        return Line(QUESTIONS[3], YES, f"{just} {transfer.verdict}")
    weighted = transfer.weighted
    if weighted is None or weighted.loss is None:
        told = f"{transfer.verdict} How well it does there cannot be known without targets from there."
        return Line(QUESTIONS[3], UNKNOWN, told)
    told = (
        f"{transfer.verdict} Held-out rows weighted to look like those there let one expect {measure} "
        f"{with_range(weighted.loss, measure)} instead of {written(weighted.plain, measure)}."
    )
    return Line(QUESTIONS[3], PARTLY, told)


def _why_not_ranked(transfer: Transfer, accuracy: Accuracy) -> str:
    """Why another measure is used there than here."""
    switched = accuracy.measure == RANKING_ERROR and transfer.measure != RANKING_ERROR
    return " (one class has too few rows there to rank, and errors tell little of it)" if switched else ""


def _target_moved(transfer: Transfer) -> str:
    """That the target itself has shifted, if it has."""
    target = transfer.target
    return f" The target itself has shifted ({target.text})." if target and target.outcome == SHIFTED else ""


def _errors_there(transfer: Transfer, accuracy: Accuracy) -> tuple[bool, str] | None:
    """Whether labels are wrong more often there, and by how much: a ranking does not tell."""
    there = next((model.error_rate for model in transfer.models if model.chosen), None)
    own = judged(accuracy)  # of predictions alone nothing is known elsewhere
    here = (chosen(accuracy) if own.name == YOUR_PREDICTIONS else own).error_rate
    if there is None or here is None:
        return None
    return unpaired_difference(
        there, here
    ).low > 0, f"; labels are wrong on {there.value:.1%} there, {here.value:.1%} here"
