"""A section of one's own: in the verdict, on the page and in the JSON, without a change to any other file."""

import json

import pytest
from reference.audit_tables import two_classes

from surefoot import ParameterError, audit
from surefoot.report.sections.section import NO, YES, VerdictLine


class WorstClass:
    """Which class has the largest error rate."""

    name = "worst_class"
    question = "Is every class predicted about as well?"

    def measure(self, run):
        target, rows = run.table.target, run.splits.held_out
        wrong = run.audited.outcome.losses
        return {str(each): float(wrong[target.labels[rows] == each].mean()) for each in target.classes}

    def verdict(self, findings, context):
        worst = max(findings, key=findings.get)
        answer = YES if findings[worst] < 2 * min(findings.values()) else NO
        return VerdictLine(self.question, answer, f"The worst class of {context.subject.target} is {worst}.")

    def page(self, findings, context):
        return "".join(f"<p>{name}: {rate:.3f}</p>" for name, rate in findings.items())


def test_a_section_of_ones_own(quick_audit):
    found = quick_audit(*two_classes(), sections=[WorstClass()])[1]
    assert found.verdict[-1].question == WorstClass.question
    assert found.answer("worst_class") in (YES, NO)
    rates = found.findings["worst_class"]
    assert json.loads(found.to_json())["worst_class"] == rates
    page = found.to_html()
    assert '<section id="worst_class">' in page
    assert all(f"<p>{name}: {rate:.3f}</p>" in page for name, rate in rates.items())
    assert WorstClass.question in repr(found)


def test_names_of_sections_are_new_and_whole():
    X, y = two_classes()
    with pytest.raises(ParameterError, match="sections contains the name 'shift', which is taken"):
        audit(X, y, sections=[type("Taken", (WorstClass,), {"name": "shift"})()])
    with pytest.raises(ParameterError, match="sections contains an entry of type object without 'name'"):
        audit(X, y, sections=[object()])


def test_the_former_name_of_the_callback_still_works():
    seen = []
    with pytest.warns(FutureWarning, match="watch was renamed to callback"):
        audit(*two_classes(), time_limit=0.01, watch=lambda done, step: seen.append(step))
    assert seen[0] == "reading the table"
