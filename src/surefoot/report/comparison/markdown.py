"""A comparison of audits as Markdown, for a comment on a pull request."""

from collections.abc import Sequence

from surefoot.report.comparison.comparison import AuditComparison, Change
from surefoot.report.comparison.differences import BETTER, CHANGED, WORSE
from surefoot.report.comparison.rows import RELATIONS, difference_text, subject_rows, value_text
from surefoot.report.fail_rules import RuleResult
from surefoot.report.files.markdown import LETTERS, MAX_LINES, answer_of, rules_of, shortest
from surefoot.report.files.markdown_text import code_of, details_of, table_of, text_of

MAX_CHANGES = 12
SIGNS = {
    BETTER: "\u2b06\ufe0f better",
    WORSE: "\u2b07\ufe0f worse",
    CHANGED: "changed",
}


def comparison_markdown(comparison: AuditComparison, results: Sequence[RuleResult] = ()) -> str:
    """The rules, the answers, the numbers and what was audited; at most 60,000 characters."""
    return shortest(_markdown(comparison, results, max_letters) for max_letters in LETTERS)


def _markdown(comparison: AuditComparison, results: Sequence[RuleResult], max_letters: int) -> str:
    shown = comparison.changes[-MAX_CHANGES:]
    left_out = len(comparison.changes) - len(shown)
    parts = [
        f"### Comparison of {len(comparison.audits)} audits of {code_of(comparison.audits[0].subject.target)}",
        rules_of(results, max_letters),
        *(_change(comparison, change, max_letters) for change in shown),
        f"{left_out} earlier comparisons are on the page." if left_out else "",
        details_of("What was audited", _subjects(comparison, max_letters)),
        "A number is called better or worse only if the interval of its difference shows it, for all numbers together.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _change(comparison: AuditComparison, change: Change, max_letters: int) -> str:
    before, after = (text_of(comparison.names[place], 60) for place in (change.before, change.after))
    answers = [
        [
            text_of(each.question, max_letters),
            answer_of(each.before),
            answer_of(each.after),
            SIGNS.get(each.outcome, ""),
        ]
        for each in change.answers
    ]
    numbers = []
    for each in change.numbers[:MAX_LINES]:
        first, second = (value_text(one.estimate, one.is_rate)[0] for one in (each.before, each.after))
        difference = "{} ({})".format(*difference_text(each))
        cells = [text_of(each.after.label, max_letters), first, second, difference, each.relation]
        numbers.append([*cells, _outcome(each.outcome)])
    heads = ("Number", before, after, "Difference (95% interval)", "Rows", "")
    told = " ".join(RELATIONS[relation] for relation in dict.fromkeys(each.relation for each in change.numbers))
    tables = [f"#### {before} → {after}", table_of(("Question", before, after, ""), answers), table_of(heads, numbers)]
    return "\n\n".join([*tables, details_of("How differences are measured", told)])


def _outcome(outcome: str) -> str:
    return SIGNS.get(outcome, outcome)


def _subjects(comparison: AuditComparison, max_letters: int) -> str:
    last = comparison.audits[-MAX_CHANGES:]
    names = [text_of(name, 60) for name in comparison.names[-MAX_CHANGES:]]
    rows = [
        [
            text_of(row.label, max_letters),
            *(text_of(value, min(max_letters, 200)) for value in row.values),
            CHANGED if row.is_changed else "",
        ]
        for row in subject_rows(last)
    ]
    return table_of(("", *names, ""), rows)
