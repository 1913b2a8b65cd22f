"""An audit as Markdown, for a comment on a pull request."""

from collections.abc import Sequence
from typing import Any

from surefoot.report.fail_rules import RuleResult
from surefoot.report.files.markdown_text import block_of, code_of, details_of, table_of, text_of
from surefoot.report.page.numbers import between, number, percent, whole
from surefoot.report.page.templates import ANSWERS
from surefoot.report.sections.main_numbers import MainNumber, main_numbers

MAX_LENGTH = 60_000  # of a comment; GitHub accepts 65,536 characters
LETTERS = (2000, 500, 120, 20)  # of one text: the first with which the whole is short enough
MAX_LINES = 60  # of a table
SIGNS = {"yes": "\u2705", "partly": "\u26a0\ufe0f", "no": "\u274c", "unknown": "\u2754"}


def audit_markdown(audit: Any, results: Sequence[RuleResult] = ()) -> str:
    """The verdict, the rules, the main numbers and the command; at most 60,000 characters."""
    texts = (_markdown(audit, results, max_letters) for max_letters in LETTERS)
    return shortest(texts)


def shortest(texts: Any) -> str:
    """The first text that is short enough, or the last."""
    text = ""
    for text in texts:
        if len(text) <= MAX_LENGTH:
            break
    return text


def _markdown(audit: Any, results: Sequence[RuleResult], max_letters: int) -> str:
    head, *lines = audit.verdict
    subject = audit.subject
    answers = [
        [text_of(each.question, max_letters), answer_of(each.answer), text_of(each.sentence, max_letters)]
        for each in lines[:MAX_LINES]
    ]
    parts = [
        f"### Audit of {code_of(subject.target)}",
        f"{answer_of(head.answer)}: {text_of(head.sentence, max_letters)}",
        table_of(("Question", "Answer", "Reason"), answers),
        rules_of(results, max_letters),
        _checks(subject, max_letters),
        details_of("Main numbers", _numbers(main_numbers(audit), max_letters)),
        _origin(audit, max_letters),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def answer_of(answer: str) -> str:
    """An answer with its sign."""
    known = answer if answer in ANSWERS else "unknown"
    return f"{SIGNS[known]} **{ANSWERS[known]}**"


def rules_of(results: Sequence[RuleResult], max_letters: int) -> str:
    """The rules that are broken, and how many are kept."""
    broken = [each for each in results if each.is_broken]
    if not results:
        return ""
    if not broken:
        return f"{SIGNS['yes']} All rules are kept ({len(results)})."
    lines = [
        f"- {SIGNS['no']} {code_of(each.rule)}: {text_of(each.reason, max_letters)}" for each in broken[:MAX_LINES]
    ]
    return "\n".join([f"**{len(broken)} of {len(results)} rules are broken:**", "", *lines])


def _checks(subject: Any, max_letters: int) -> str:
    lines = [
        f"- {SIGNS['partly']} {text_of(check.kind, max_letters)}: {text_of(check.sentence, max_letters)}"
        for check in subject.checks[:MAX_LINES]
        if check.matters
    ]
    return "\n".join(["**Before you trust these numbers:**", "", *lines]) if lines else ""


def _numbers(numbers: dict[str, MainNumber], max_letters: int) -> str:
    rows = [
        [code_of(name), text_of(each.label, max_letters), *written(each)]
        for name, each in list(numbers.items())[:MAX_LINES]
        if each.estimate is not None
    ]
    return table_of(("Name", "Number", "Value", "95% interval"), rows)


def written(each: MainNumber) -> tuple[str, str]:
    """A number and its interval as the page has them."""
    write, estimate = percent if each.is_rate else number, each.estimate
    return ("", "") if estimate is None else (write(estimate.value), between(estimate, write))


def _origin(audit: Any, max_letters: int) -> str:
    """What was audited, by which version and command."""
    subject = audit.subject
    facts = [
        code_of(subject.source or ""),
        subject.date,
        f"{whole(subject.n_rows)} rows",
        f"{whole(subject.n_columns)} columns",
        f"fingerprint {code_of(subject.fingerprint)}",
        f"surefoot {code_of(audit.version)}",
        f"seed {audit.random_state}",
    ]
    line = ", ".join(fact for fact in facts if fact)
    return f"{line}\n\n{block_of(audit.command, max_letters)}" if audit.command else line
