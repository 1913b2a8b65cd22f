"""A user's own section: in the verdict, on the page and in the JSON, without a change to any other file."""

import json

import pytest
from reference.audit_tables import two_classes

from surefoot import ParameterError, audit
from surefoot.report.sections import QUESTIONS
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


def test_an_own_section(quick_audit):
    result = quick_audit(*two_classes(), sections=[WorstClass()])[1]
    assert result.verdict[-1].question == WorstClass.question
    assert result.answer("worst_class") in (YES, NO)
    rates = result.findings["worst_class"]
    assert json.loads(result.to_json())["worst_class"] == rates
    page = result.to_html()
    assert '<section id="worst_class">' in page
    assert all(f"<p>{name}: {rate:.3f}</p>" in page for name, rate in rates.items())
    assert WorstClass.question in repr(result)


class FractionOfErrors:
    """A section without an answer."""

    name = "errors"
    question = "How many rows are wrong?"

    def measure(self, run):
        return {"fraction": float(run.audited.outcome.losses.mean())}

    def page(self, findings, context):
        return f"<p>{findings['fraction']:.3f} of the rows</p>"


def test_a_section_without_an_answer(quick_audit):
    result = quick_audit(*two_classes(), sections=[FractionOfErrors(), WorstClass()])[1]
    assert [line.question for line in result.verdict[1:]] == [*QUESTIONS, WorstClass.question]
    assert result.answer("worst_class") in (YES, NO)
    with pytest.raises(ParameterError, match="question must be one of"):
        result.answer("errors")
    page, fraction = result.to_html(), result.findings["errors"]["fraction"]
    assert '<section id="errors" class="supporting">\n<h2>How many rows are wrong?</h2>' in page
    assert f"<p>{fraction:.3f} of the rows</p>" in page
    assert '<a href="#errors">' not in page
    assert '<span class="number" aria-hidden="true">5</span> Is every class' in page


def test_incomplete_sections_and_taken_names_are_refused():
    X, y = two_classes()
    with pytest.raises(ParameterError, match="sections contains the name 'shift', which is taken"):
        audit(X, y, sections=[type("Taken", (WorstClass,), {"name": "shift"})()])
    with pytest.raises(ParameterError, match="sections contains an entry of type object without 'name'"):
        audit(X, y, sections=[object()])
