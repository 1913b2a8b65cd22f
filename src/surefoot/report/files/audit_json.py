"""The JSON of an audit, and the audit that it holds.

``FORMAT`` is raised if an earlier reader would misunderstand a file. A new field of a record keeps the format, and has
a default, so that earlier files can be read.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from html import escape
from pathlib import Path
from typing import Any

from surefoot._exceptions import DataError, ParameterError
from surefoot._numbers import checked_path, naming
from surefoot._strict_json import UnreadableJsonError, read_json
from surefoot.report.files.json_values import plain, put_not_finite, read_record, read_value, take_not_finite
from surefoot.report.sections import SECTIONS
from surefoot.report.sections.section import UNKNOWN, Section, SectionContext, VerdictLine

FORMAT = 1
NOT_STORED = ("own_findings", "sections")  # fields of an audit that are stored in another way
SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which UTF-8 does not have


@dataclass(frozen=True)
class OwnSection:
    """A section of the user's own: its findings are the entry of its name."""

    name: str
    question: str
    answered: bool  # whether it has a line in the verdict


@dataclass(frozen=True)
class StoredSection:
    """A section whose code is not there: its numbers are known, its page is not."""

    name: str
    question: str

    def measure(self, run: Any) -> None:
        """Measure nothing."""

    def page(self, findings: Any, context: SectionContext) -> str:
        """Return where the numbers are."""
        return (
            f"<p>This section has its own code. Its numbers are in the JSON, as <code>{escape(self.name)}</code>.</p>"
        )


@dataclass(frozen=True)
class AnsweredStoredSection(StoredSection):
    """A stored section with an answer."""

    def verdict(self, findings: Any, context: SectionContext) -> VerdictLine:
        """Return the line as it was stored, or none."""
        return context.line if context.line.question else VerdictLine(self.question, UNKNOWN, "")


def json_of(audit: Any) -> str:
    """The JSON of an audit: numbers that are not finite are null, and listed in ``not_finite``."""
    own = [
        OwnSection(name=each.name, question=each.question, answered=isinstance(each, Section))
        for each in audit.sections
        if each.name in audit.own_findings
    ]
    stored = [each.name for each in fields(audit) if each.name not in NOT_STORED]
    values: dict[str, Any] = {"format": FORMAT} | {name: plain(getattr(audit, name)) for name in stored}
    values |= plain(audit.own_findings) | {"own_sections": plain(own)}
    values["not_finite"] = take_not_finite(values)
    text = json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def audit_of(record: type, source: str | Path, sections: Sequence[Any] = ()) -> Any:
    """The audit (of the class ``record``) in a file or a text of JSON."""
    is_text = isinstance(source, str) and source.lstrip()[:1] == "{"
    with naming("sections"):
        sections = tuple(sections)
    if not all(hasattr(each, "name") for each in sections):
        raise DataError("sections must be the sections that the audit was made with.", argument="sections")
    path = None if is_text else checked_path("source", source)
    content = str(source).encode("utf-8", "surrogatepass") if path is None else Path(path).read_bytes()
    try:
        return _read(record, content, sections)
    except UnreadableJsonError as problem:
        name = "the text" if is_text else source
        raise DataError(f"{name} is not an audit that can be read: {problem}.", argument="source") from problem


def _read(record: type, content: bytes, sections: Sequence[Any]) -> Any:
    values = read_json(content)
    _check_format(values)
    put_not_finite(values, values.pop("not_finite", None))
    own = read_value(tuple[OwnSection, ...], values.pop("own_sections", None), "own_sections")
    findings = {each.name: values.pop(each.name, None) for each in own}
    try:
        read = read_record(record, values)
    except UnreadableJsonError as problem:
        raise UnreadableJsonError(f"{problem} (it was written by version {values.get('version')})") from problem
    every = (*SECTIONS, *_sections(own, sections))
    n_lines = 1 + sum(isinstance(each, Section) for each in every)
    if len(read.verdict) != n_lines:
        raise UnreadableJsonError(f"verdict has {len(read.verdict)} lines instead of {n_lines}")
    return replace(read, own_findings=findings, sections=every)


def _check_format(values: Any) -> None:
    """Refuse other JSON, and later formats."""
    number = values.pop("format", None) if isinstance(values, dict) else None
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise UnreadableJsonError("it has no entry 'format', as the JSON of an audit has")
    if number > FORMAT:
        version = values.get("version")
        raise UnreadableJsonError(
            f"it has format {number} of surefoot {version}, and this one reads {FORMAT}: upgrade it"
        )


def _sections(own: Sequence[OwnSection], given: Sequence[Any]) -> list[Any]:
    """The user's sections in the order of the file; those without code have a place on the page only."""
    code = {each.name: each for each in given}
    if unknown := sorted(code.keys() - {each.name for each in own}):
        raise ParameterError(f"sections contains {unknown[0]!r}, which the audit does not have.", argument="sections")
    kinds = {False: StoredSection, True: AnsweredStoredSection}
    return [code.get(each.name) or kinds[each.answered](name=each.name, question=each.question) for each in own]
