"""Five lines that say what an audit has found, in plain words."""

from surefoot.report.answers import UNKNOWN, Accuracy, Knowing, Line, Stability, Subject, Transfer
from surefoot.report.candidate_models import YOUR_PREDICTIONS
from surefoot.report.verdict_of_accuracy import accuracy_line, headline
from surefoot.report.verdict_of_knowing import knowing_line
from surefoot.report.verdict_of_stability import stability_line
from surefoot.report.verdict_of_transfer import shift_line


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
        accuracy_line(accuracy, subject.checks),
        knowing_line(knowing),
        stability_line(stability),
        _shift(transfer, accuracy),
    )


def _shift(transfer: Transfer | None, accuracy: Accuracy) -> Line:
    """Question 4; predictions without their model say nothing about other rows."""
    line = shift_line(transfer, accuracy)
    if accuracy.audited != YOUR_PREDICTIONS or transfer is None or transfer.where is None:
        return line
    without = "Predictions without their model say nothing about other rows. Of the best candidate instead: "
    return Line(line.question, UNKNOWN, without + line.sentence)
