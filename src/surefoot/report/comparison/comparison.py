"""The comparison of several audits of one target."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot._exceptions import DataError, ParameterError
from surefoot._extras import needs
from surefoot._numbers import naming
from surefoot._parameters import check_choice
from surefoot.report.audit import Audit
from surefoot.report.comparison.differences import BETTER, CHANGED, EQUAL, WORSE, Difference, differences
from surefoot.report.files.page_file import HasPage, written
from surefoot.report.sections.section import NO, PARTLY, UNKNOWN, YES, Section

if TYPE_CHECKING:
    from surefoot.report.fail_rules import RuleResult

FIRST, PREVIOUS = "first", "previous"
RANKS = {NO: 0, PARTLY: 1, YES: 2}
NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True)
class AnswerChange:
    """The answers of two audits to one question."""

    name: str  # of the section
    question: str
    before: str
    after: str

    @property
    def outcome(self) -> str:
        """Return "better", "worse" or "equal"; "not comparable" if one of them is unknown."""
        if self.before == self.after:
            return EQUAL
        if UNKNOWN in (self.before, self.after):
            return NOT_COMPARABLE
        return BETTER if RANKS[self.after] > RANKS[self.before] else WORSE


@dataclass(frozen=True)
class Change:
    """What changed from one audit to another; both are given by their places."""

    before: int
    after: int
    answers: tuple[AnswerChange, ...]
    numbers: tuple[Difference, ...]

    @property
    def outcomes(self) -> set[str]:
        """The outcomes of all answers and numbers."""
        return {each.outcome for each in self.answers} | {each.outcome for each in self.numbers}

    @property
    def is_worse(self) -> bool:
        """Whether an answer is worse, or a number is shown to be worse."""
        return WORSE in self.outcomes


@dataclass(frozen=True, repr=False)
class AuditComparison(HasPage):
    """What changed between audits of one target; the result of `compare`.

    Parameters
    ----------
    audits : tuple of Audit
        In their order in time.
    names : tuple of str
        A name for each of them.
    changes : tuple of Change
        For each audit but the first: its ``answers`` and ``numbers`` beside those of the audit before it, or of the
        first. Only what is ``"better"`` or ``"worse"`` in ``outcome`` is shown to be.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from surefoot import audit, compare
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> before, after = audit(X, y, time_limit=0.01), audit(X.iloc[:, :5], y, time_limit=0.01)
    >>> compare([before, after]).changes[0].is_worse
    False
    """

    audits: tuple[Audit, ...]
    names: tuple[str, ...]
    changes: tuple[Change, ...]

    def _html(self) -> str:
        from surefoot.report.comparison.page import comparison_html

        return comparison_html(self)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """Return what changed as Markdown, for a comment on a pull request.

        Parameters
        ----------
        path : str or Path, default=None
            File to write the Markdown to. If writing fails, no partial file is left.

        Returns
        -------
        str
            The Markdown, of at most 60,000 characters.
        """
        from surefoot.report.comparison.markdown import comparison_markdown

        return written(comparison_markdown(self), path)

    def check_rules(self, fail_on: str | Sequence[str]) -> "tuple[RuleResult, ...]":
        """Check rules about the changes and the last audit, as ``surefoot compare --fail-on`` does.

        Parameters
        ----------
        fail_on : str or sequence of str
            Rules, separated by commas: "worse", "rmse.change>2", and those of `Audit.check_rules` for the last audit.

        Returns
        -------
        tuple of RuleResult
            For each rule ``rule``, ``is_broken`` and ``reason``.
        """
        from surefoot.report.comparison.rules import check_comparison

        return check_comparison(self, fail_on)

    def __repr__(self) -> str:
        pairs = [f"{self.names[each.before]} to {self.names[each.after]}" for each in self.changes]
        return "\n".join(f"{pair}: {summary(each)}" for pair, each in zip(pairs, self.changes, strict=True))


@needs("pandas", "jinja2", "matplotlib")
def compare(
    audits: Sequence[Audit | str | Path], *, against: str = FIRST, names: Sequence[str] | None = None
) -> AuditComparison:
    """Compare audits of one target: their answers, and their numbers with intervals for the differences.

    Parameters
    ----------
    audits : sequence of Audit, str or Path
        Two or more audits in their order in time, or files that `Audit.to_json` wrote.
    against : {"first", "previous"}, default="first"
        What each audit but the first is compared with.
    names : sequence of str, default=None
        A name for each audit. None: the names of the files, or their places.

    Returns
    -------
    AuditComparison

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from surefoot import audit, compare
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> result = audit(X, y, time_limit=0.01)
    >>> compare([result, result])
    audit 1 to audit 2: no answer has changed; no number is shown to have changed.
    """
    check_choice("against", against, (FIRST, PREVIOUS))
    with naming("audits"):
        audits = list(audits)
    with naming("names"):
        names = None if names is None else list(map(str, names))
    if len(audits) < 2:
        raise ParameterError("audits must contain two audits or more.", argument="audits")
    read = tuple(each if isinstance(each, Audit) else Audit.from_json(each) for each in audits)
    called = tuple(names or _names(audits))
    if len(called) != len(read):
        raise ParameterError(f"names has {len(called)} names for {len(read)} audits.", argument="names")
    for audit, name in zip(read, called, strict=True):
        _check_alike(read[0], audit, called[0], name)
    pairs = [(0 if against == FIRST else after - 1, after) for after in range(1, len(read))]
    return AuditComparison(read, called, tuple(_change(read, *pair, len(pairs)) for pair in pairs))


def _names(audits: Sequence[Any]) -> list[str]:
    """The names of the files without their endings; with their folders, if the names are equal."""
    paths = [None if isinstance(each, Audit) or str(each).lstrip()[:1] == "{" else Path(each) for each in audits]
    short = [None if path is None else path.stem for path in paths]
    full = [None if path is None else str(path) for path in paths]
    chosen = short if len(set(short)) == len(short) else full
    return [name or f"audit {k}" for k, name in enumerate(chosen, 1)]


def _check_alike(first: Audit, other: Audit, name: str, other_name: str) -> None:
    """Refuse audits of another target or task."""
    one, two = (f"{each.subject.target!r} ({each.subject.task})" for each in (first, other))
    if one != two:
        message = f"{name} is about {one}, and {other_name} about {two}: compare audits of one target and task."
        raise DataError(message, argument="audits")


def _change(audits: Sequence[Audit], before: int, after: int, n_pairs: int) -> Change:
    one, other = audits[before], audits[after]
    questions = {each.name: each.question for each in other.sections if isinstance(each, Section)}
    known = {each.name for each in one.sections if isinstance(each, Section)}
    answers = tuple(
        AnswerChange(name=name, question=question, before=one.answer(name), after=other.answer(name))
        for name, question in questions.items()
        if name in known
    )
    return Change(before=before, after=after, answers=answers, numbers=differences(one, other, n_pairs))


def summary(change: Change) -> str:
    """What changed, in a sentence."""
    answers = [
        f"{each.name} is {each.outcome} ({each.before}, now {each.after})"
        for each in change.answers
        if each.outcome != EQUAL
    ]
    numbers = [
        f"{each.after.label} is {each.outcome}" for each in change.numbers if each.outcome in (BETTER, WORSE, CHANGED)
    ]
    told = [", ".join(answers) or "no answer has changed", ", ".join(numbers) or "no number is shown to have changed"]
    return f"{'; '.join(told)}."
