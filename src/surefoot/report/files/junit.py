"""An audit as a JUnit report: a test case for each question and each rule.

A question passes with the answer "yes" alone and fails with "no"; with any other answer it is skipped, so that nothing
that is not shown is green.
"""

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from surefoot.report.fail_rules import RuleResult
from surefoot.report.page.chart_svg import usable
from surefoot.report.sections.section import NO, YES

QUESTIONS, RULES = "surefoot.questions", "surefoot.rules"


def audit_junit(audit: Any, results: Sequence[RuleResult] = ()) -> str:
    """The report as XML."""
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite")
    for line in audit.verdict[1:]:
        message = f"{line.answer}: {line.sentence}"
        outcome = {YES: "system-out", NO: "failure"}.get(line.answer, "skipped")
        _add_case(suite, QUESTIONS, line.question or "question", outcome, message)
    for result in results:
        _add_case(suite, RULES, result.rule, "failure" if result.is_broken else "system-out", result.reason)
    counts = {"tests": "testcase", "failures": "testcase/failure", "skipped": "testcase/skipped"}
    suite.attrib = {
        "name": usable(f"surefoot audit of {audit.subject.target}"),
        **{name: str(len(suite.findall(path))) for name, path in counts.items()},
        "errors": "0",
        "time": f"{audit.seconds:.3f}",
    }
    root.attrib = dict(suite.attrib)
    del root.attrib["skipped"]  # not every schema has it here
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _add_case(suite: ElementTree.Element, group: str, name: str, outcome: str, message: str) -> None:
    case = ElementTree.SubElement(suite, "testcase", {"classname": group, "name": usable(name), "time": "0"})
    told = ElementTree.SubElement(case, outcome)
    told.text = usable(message)
    if outcome != "system-out":
        told.attrib = {"message": usable(message)}
