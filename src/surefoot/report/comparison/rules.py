"""Rules that a comparison must not break: about changes ("worse", "rmse.change>2") and about the last audit."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any

from surefoot._exceptions import ParameterError
from surefoot._formatting import significant
from surefoot.report.comparison.comparison import AuditComparison, summary
from surefoot.report.fail_rules import NUMBER_RULE, OPERATORS, PARTS, FailRule, RuleResult, read_rules
from surefoot.report.sections.main_numbers import names_of

WORSE_RULE, CHANGE = "worse", "change"


@dataclass(frozen=True)
class WorseRule:
    """Nothing is worse: no answer, and no number is shown to be."""

    text: str = WORSE_RULE

    def apply(self, comparison: AuditComparison) -> RuleResult:
        """Whether something in the last audit is worse."""
        change = comparison.changes[-1]
        return RuleResult(self.text, change.is_worse, f"{self.text}: {summary(change)[:-1]}")


@dataclass(frozen=True)
class ChangeRule:
    """Some differences of a number are a failure."""

    text: str
    name: str
    part: str
    sign: str
    limit: float

    def apply(self, comparison: AuditComparison) -> RuleResult:
        """Whether the difference of the last audit is one of them, or not measured."""
        found = {each.name: each.estimate for each in comparison.changes[-1].numbers}
        value = getattr(found[self.name], self.part) if self.name in found else nan
        if not isfinite(value):
            return RuleResult(self.text, True, f"{self.text}: it is not measured")
        is_broken = bool(OPERATORS[self.sign](value, self.limit))
        return RuleResult(self.text, is_broken, f"{self.text}: it is {significant(value)}")


def check_comparison(comparison: AuditComparison, fail_on: str | Iterable[str]) -> tuple[RuleResult, ...]:
    """The results of rules in one or several texts, separated by commas."""
    texts = [fail_on] if isinstance(fail_on, str) else list(fail_on)
    last, results = comparison.audits[-1], []
    for text in (part.strip() for each in texts for part in each.split(",") if part.strip()):
        if text == WORSE_RULE:
            results.append(WorseRule().apply(comparison))
        elif rule := _change_rule(text, last.sections):
            results.append(rule.apply(comparison))
        else:
            rules: tuple[FailRule, ...] = read_rules(text, last.sections)
            results += [each.apply(last) for each in rules]
    return tuple(results)


def _change_rule(text: str, sections: Any) -> ChangeRule | None:
    """A rule about a difference; None for other rules."""
    match = NUMBER_RULE.fullmatch(text)
    if match is None:
        return None
    name, sign, digits, percent = match.groups()
    front, _, part = name.rpartition(".")
    if part not in PARTS:
        front, part = name, "value"
    published, _, last = front.rpartition(".")
    if last != CHANGE:
        return None
    if published not in names_of(sections):
        message = f"{text!r} has the unknown name {published!r}: write one of {', '.join(names_of(sections))}."
        raise ParameterError(message, argument="fail_on")
    return ChangeRule(text, published, part, sign, float(digits) / (100 if percent else 1))
