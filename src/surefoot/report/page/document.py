"""The audit as one self-contained HTML page: it loads nothing from the network or from other files."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from markupsafe import Markup

from surefoot.report.page.numbers import percent
from surefoot.report.page.templates import render, text_of
from surefoot.report.sections.section import UNKNOWN, Section, SectionContext, SupportingSection, VerdictLine
from surefoot.report.subject import weights_sentence

TEMPLATE, STYLE, SCRIPT = "page/page.html.j2", "page/page.css", "page/page.js"
MAX_CLASSES = 6


@dataclass(frozen=True)
class PagePart:
    """A section on the page.

    ``line`` is its line of the verdict and ``number`` its place there; both are None if it has no answer of its own.
    ``html`` is None if the section was left out.
    """

    name: str
    question: str
    number: int | None
    line: VerdictLine | None
    html: str | None


def page_html(audit: Any) -> str:
    """The page, as text for a file in UTF-8.

    Parameters
    ----------
    audit : Audit
        Or any object with its ``subject``, ``verdict``, ``sections``, ``findings``, ``version``, ``command``,
        ``seconds`` and ``random_state``.
    """
    subject, script = audit.subject, text_of(SCRIPT)
    html = render(
        TEMPLATE,
        audit=audit,
        subject=subject,
        weights=weights_sentence(subject),
        style=Markup(text_of(STYLE)),
        script=Markup(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        headline=audit.verdict[0] if audit.verdict else VerdictLine(question="", answer=UNKNOWN, sentence=""),
        parts=_parts(audit),
        classes=_classes(subject.classes, subject.shares),
    )
    return str(html).strip() + "\n"


def _parts(audit: Any) -> list[PagePart]:
    """Every section, even without its line of the verdict; supporting sections only if they have findings."""
    parts: list[PagePart] = []
    lines = list(audit.verdict[1:])
    for section in audit.sections:
        if not isinstance(section, Section) and audit.findings[section.name] is None:
            continue  # the remarks list what there was not enough time for
        number, line = None, None
        if isinstance(section, Section):
            number = 1 + sum(part.number is not None for part in parts)
            line = lines.pop(0) if lines else VerdictLine(question="", answer=UNKNOWN, sentence="")
            line = replace(line, question=line.question or section.question)
        parts.append(_part(audit, section, number, line))
    return parts


def _part(audit: Any, section: SupportingSection, number: int | None, line: VerdictLine | None) -> PagePart:
    findings, html = audit.findings[section.name], None
    if findings is not None:
        context = SectionContext(subject=audit.subject, findings=audit.findings)
        html = Markup(section.page(findings, replace(context, line=line) if line else context))
    question = line.question if line else section.question
    return PagePart(name=section.name, question=question, number=number, line=line, html=html)


def _classes(classes: Sequence[str], fractions: Sequence[float]) -> tuple[list[tuple[str, str]], int]:
    """The most frequent classes with their fractions, and the number of other classes."""
    order = sorted(range(len(classes)), key=lambda k: -fractions[k])[:MAX_CLASSES]
    return [(classes[k], percent(fractions[k])) for k in order], len(classes) - len(order)
