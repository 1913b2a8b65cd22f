"""Rules that an audit must not break, as text: about answers ("shift=partly") and about numbers ("rmse>60").

A number that was not measured breaks its rule: what is not known cannot be relied on.
"""

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from math import isfinite, nan
from types import NoneType
from typing import Any, get_args, get_origin

from surefoot._exceptions import ParameterError
from surefoot._formatting import significant
from surefoot._numbers import naming
from surefoot.report.files.json_values import hints_of
from surefoot.report.sections import SECTIONS
from surefoot.report.sections.main_numbers import MainNumber, main_numbers, names_of
from surefoot.report.sections.section import NO, PARTLY, UNKNOWN, Section
from surefoot.report.statistics import Estimate

ANY = "any"
LEVELS = {NO: (NO,), PARTLY: (NO, PARTLY), UNKNOWN: (NO, PARTLY, UNKNOWN)}
OPERATORS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
PARTS = tuple(each.name for each in fields(Estimate))
NUMBER_RULE = re.compile(r"([\w.]+)\s*(>=|<=|>|<)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(%?)")


@dataclass(frozen=True)
class RuleResult:
    """A rule as it was written, and whether it is broken, with the reason."""

    rule: str
    is_broken: bool
    reason: str
    question: str | None = None  # the name of the section, for a rule about an answer


@dataclass(frozen=True)
class AnswerRule:
    """Some answers to a question are a failure."""

    text: str
    question: str
    failing: tuple[str, ...]

    def apply(self, audit: Any) -> RuleResult:
        """Whether the audit has such an answer."""
        answer = audit.answer(self.question)
        return RuleResult(self.text, answer in self.failing, f"{self.question} is {answer!r}", self.question)


@dataclass(frozen=True)
class NumberRule:
    """Some values of a number are a failure."""

    text: str
    name: str  # a short name or a path in the JSON, perhaps with the part of an estimate
    sign: str
    limit: float

    def apply(self, audit: Any) -> RuleResult:
        """Whether the audit has such a value, or none."""
        value, interval = value_at(audit, self.name)
        if not isfinite(value):
            return RuleResult(self.text, True, f"{self.text}: {self.name} is not measured")
        is_broken = bool(OPERATORS[self.sign](value, self.limit))
        return RuleResult(self.text, is_broken, f"{self.text}: {self.name} is {significant(value)}{interval}")


FailRule = AnswerRule | NumberRule


def read_rules(texts: str | Iterable[str], sections: Sequence[Any] = SECTIONS) -> tuple[FailRule, ...]:
    """The rules in one or several texts, separated by commas."""
    with naming("fail_on"):
        given = [texts] if isinstance(texts, str) else list(texts)
    if not all(isinstance(text, str) for text in given):
        raise ParameterError(f"fail_on must be rules as text, got {texts!r}.", argument="fail_on")
    parts = [part.strip() for text in given for part in text.split(",") if part.strip()]
    return tuple(rule for part in parts for rule in _read_rule(part, sections))


def apply_rules(rules: Iterable[FailRule], audit: Any) -> tuple[RuleResult, ...]:
    """The result of every rule."""
    return tuple(rule.apply(audit) for rule in rules)


def _read_rule(text: str, sections: Sequence[Any]) -> list[FailRule]:
    if match := NUMBER_RULE.fullmatch(text):
        name, sign, digits, percent = match.groups()
        _check_name(name, text, sections)
        return [NumberRule(text, name, sign, float(digits) / (100 if percent else 1))]
    answered = tuple(each.name for each in sections if isinstance(each, Section))
    name, _, level = (part.strip() for part in text.partition("="))
    if name not in (*answered, ANY) or (level or NO) not in LEVELS:
        message = (
            f"{text!r} is not a rule: write one of {', '.join((*answered, ANY))}, optionally with =partly or =unknown, "
            f"or a number with a limit, such as 'error_rate>0.2'. Numbers are {', '.join(names_of(sections))}."
        )
        raise ParameterError(message, argument="fail_on")
    return [AnswerRule(text, each, LEVELS[level or NO]) for each in (answered if name == ANY else (name,))]


def split_name(name: str, names: Mapping[str, Any]) -> tuple[str, str] | None:
    """A published name and the part of its estimate; None for other names."""
    if name in names:
        return name, "value"
    front, _, part = name.rpartition(".")
    return (front, part) if front in names and part in PARTS else None


def _check_name(name: str, text: str, sections: Sequence[Any]) -> None:
    """Refuse a name that is neither published nor the path of a number in the JSON, before any work."""
    from surefoot.report.audit import Audit  # its records have the sections' own

    names, own = names_of(sections), {each.name for each in sections[len(SECTIONS) :]}
    if split_name(name, names) or name.partition(".")[0] in own or _is_number(Audit, name.split(".")):
        return
    message = (
        f"{text!r} has the unknown name {name!r}: write one of {', '.join(names)}, with .low or .high for the ends of "
        "its interval, or the path of a number in the JSON, such as subject.n_rows."
    )
    raise ParameterError(message, argument="fail_on")


def _is_number(hint: Any, path: Sequence[str]) -> bool:
    """Whether a path leads to a number or an estimate, by the types of the fields."""
    hints = [each for each in get_args(hint) if each is not NoneType] if NoneType in get_args(hint) else [hint]
    if len(hints) != 1:
        return False
    hint = hints[0]
    if not path:
        return hint in (int, float, Estimate)
    if is_dataclass(hint) and isinstance(hint, type):
        return path[0] in hints_of(hint) and _is_number(hints_of(hint)[path[0]], path[1:])
    if get_origin(hint) is tuple and path[0].isdecimal():
        kinds = get_args(hint)
        inner = kinds[0] if Ellipsis in kinds else dict(enumerate(kinds)).get(int(path[0]), NoneType)
        return _is_number(inner, path[1:])
    return False


def value_at(audit: Any, name: str) -> tuple[float, str]:
    """The number of that name, and its interval in words; NaN if it was not measured."""
    numbers = main_numbers(audit)
    if split := split_name(name, numbers):
        published, part = split
        return _part(numbers[published].estimate, part)
    found: Any = audit
    for key in name.split("."):
        found = _step(found, key, audit)
    return _part(MainNumber(name, found).estimate if isinstance(found, int | float | Estimate) else None, "value")


def _step(holder: Any, key: str, audit: Any) -> Any:
    if holder is audit and key in audit.own_findings:
        return audit.own_findings[key]
    if isinstance(holder, Mapping):
        return holder.get(key)
    if isinstance(holder, tuple | list):
        return holder[int(key)] if key.isdecimal() and int(key) < len(holder) else None
    return getattr(holder, key, None)


def _part(estimate: Estimate | None, part: str) -> tuple[float, str]:
    if estimate is None:
        return nan, ""
    has_interval = part == "value" and isfinite(estimate.low) and isfinite(estimate.high)
    interval = f" (95% interval {significant(estimate.low)} to {significant(estimate.high)})" if has_interval else ""
    return float(getattr(estimate, part)), interval
