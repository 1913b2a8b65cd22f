"""A section of the audit: a question with its numbers, its answer and its part of the page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from surefoot.report.inputs.target import REGRESSION
from surefoot.report.models.scoring import ERROR_RATE, RMSE
from surefoot.report.subject import Subject

if TYPE_CHECKING:
    from surefoot.report.run import AuditRun

YES, PARTLY, NO, UNKNOWN = "yes", "partly", "no", "unknown"


@dataclass(frozen=True)
class VerdictLine:
    """One line of the verdict: a question, its answer ("yes", "partly", "no", "unknown"), and the reason."""

    question: str
    answer: str
    sentence: str

    def doubted(self, doubt: str) -> "VerdictLine":
        """The line with the answer "unknown" and the reason; a line without an answer stays as it is."""
        if not doubt or self.answer == UNKNOWN:
            return self
        return VerdictLine(self.question, UNKNOWN, f"{doubt} If it has seen none of them: {self.sentence}")


@dataclass(frozen=True)
class SectionContext:
    """What a section may use besides its own findings.

    Attributes
    ----------
    subject : Subject
        The table that was audited, and the checks of its data.
    findings : mapping of str to records
        The findings of every section by its name; None where there was not enough time.
    line : VerdictLine
        The line of the section in the verdict. Empty while the verdict is not known.
    """

    subject: Subject
    findings: Mapping[str, Any]
    line: VerdictLine = VerdictLine(question="", answer=UNKNOWN, sentence="")

    @property
    def is_rate(self) -> bool:
        """Whether errors are wrong labels, so that their mean is a fraction of the rows."""
        return self.subject.task != REGRESSION

    @property
    def measure(self) -> str:
        """The name of the loss: "error rate" or "RMSE"."""
        return ERROR_RATE if self.is_rate else RMSE


class SupportingSection(Protocol):
    """A part of the page without an answer of its own: it supports the question before it.

    Attributes
    ----------
    name : str
        A short name: the key of the findings in the JSON, and the anchor on the page.
    question : str
        The heading on the page.

    Notes
    -----
    An optional attribute ``main_numbers`` maps short names to functions of the findings. They return a number, an
    estimate, or a `MainNumber`, which has a label and says which values are better. ``--fail-on``, comparisons and
    Markdown use these names.
    """

    name: str
    question: str

    def measure(self, run: "AuditRun") -> Any:
        """Measure the findings: a dataclass, or a dict of plain values. None if there is not enough time.

        ``run.table`` is the table, ``run.comparisons`` holds the models that were compared, each with its predictions
        for the held-out rows, and ``run.audited`` is the model that the audit is about.
        """

    def page(self, findings: Any, context: SectionContext) -> str:
        """Return the HTML below the heading of the section; not called without findings."""


@runtime_checkable
class Section(SupportingSection, Protocol):
    """A question that an audit answers; pass your own as ``audit(..., sections=[...])``.

    Attributes
    ----------
    name : str
        A short name: the key of the findings in the JSON, and the anchor on the page.
    question : str
        The question, as it is written in the verdict and on the page.
    """

    def verdict(self, findings: Any, context: SectionContext) -> VerdictLine:
        """Answer the question; ``findings`` may be None."""


@runtime_checkable
class RedrawnSection(Section, Protocol):
    """A section whose answer may depend on the draw of the folds: if it is close, the folds are drawn again."""

    def measure_again(self, findings: Any, run: "AuditRun", same_model: bool) -> Any:
        """Measure again after another draw of the folds, which may have changed the audited model."""

    def moved(self, findings: Any, by: float) -> Any:
        """Return the findings with their intervals or leads moved by ``by`` standard errors."""
