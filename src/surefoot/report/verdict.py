"""Five lines that say what an audit has found, in plain words."""

from surefoot.report.models.candidate_models import YOUR_PREDICTIONS
from surefoot.report.sections.accuracy.findings import AccuracyFindings
from surefoot.report.sections.accuracy.verdict import accuracy_line, headline
from surefoot.report.sections.section import UNKNOWN, VerdictLine
from surefoot.report.sections.shift.findings import ShiftFindings
from surefoot.report.sections.shift.verdict import shift_line
from surefoot.report.sections.stability.findings import StabilityFindings
from surefoot.report.sections.stability.verdict import stability_line
from surefoot.report.sections.uncertainty.findings import UncertaintyFindings
from surefoot.report.sections.uncertainty.verdict import knowing_line
from surefoot.report.subject import Subject


def verdict(
    subject: Subject,
    accuracy: AccuracyFindings,
    knowing: UncertaintyFindings | None,
    stability: StabilityFindings | None,
    transfer: ShiftFindings | None,
) -> tuple[VerdictLine, ...]:
    """The headline and an answer to each question."""
    return (
        headline(subject, accuracy),
        accuracy_line(accuracy, subject.checks),
        knowing_line(knowing),
        stability_line(stability),
        _shift(transfer, accuracy),
    )


def _shift(transfer: ShiftFindings | None, accuracy: AccuracyFindings) -> VerdictLine:
    """Question 4; predictions without their model say nothing about other rows."""
    line = shift_line(transfer, accuracy)
    if accuracy.audited != YOUR_PREDICTIONS or transfer is None or transfer.where is None:
        return line
    without = "Predictions without their model say nothing about other rows. Of the best candidate instead: "
    return VerdictLine(line.question, UNKNOWN, without + line.sentence)
