"""What a section of the audit is."""

from dataclasses import dataclass

YES, PARTLY, NO, UNKNOWN = "yes", "partly", "no", "unknown"


@dataclass(frozen=True)
class VerdictLine:
    """One line of the verdict: a question, its answer ("yes", "partly", "no", "unknown"), and why, in a sentence."""

    question: str
    answer: str
    sentence: str
