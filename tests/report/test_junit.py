"""The JUnit report of an audit: a test case for each question and rule, whatever they are called."""

from xml.etree import ElementTree

import pytest
from example_audit import classification
from example_edges import EXAMPLES


def cases(audit, **options):
    root = ElementTree.fromstring(audit.to_junit(**options).encode())
    return {case.get("name"): next(iter(case)) for case in root.iter("testcase")}, root


def test_only_yes_passes_and_no_fails(tmp_path):
    audit = classification()
    found, root = cases(audit, path=tmp_path / "audit.xml", fail_on="shift, error_rate>0.2, auc<0.7")
    questions = [line.question for line in audit.verdict[1:]]
    assert list(found) == [*questions, "shift", "error_rate>0.2", "auc<0.7"]
    assert [each.tag for each in found.values()] == [
        "skipped", "system-out", "system-out", "failure", "failure", "failure", "system-out"
    ]  # fmt: skip
    assert found["error_rate>0.2"].get("message").endswith("error_rate is 0.24 (95% interval 0.19 to 0.29)")
    assert found[questions[3]].text == f"no: {audit.verdict[4].sentence}"
    (suite,) = root
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "7", "failures": "3", "errors": "0", "skipped": "1"
    }  # fmt: skip
    assert ElementTree.parse(tmp_path / "audit.xml").getroot().tag == "testsuites"


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_is_well_formed_for_any_text(name):
    audit = EXAMPLES[name]()
    found, root = cases(audit, fail_on="any=unknown")
    assert len(list(root.iter("testcase"))) == len(audit.verdict) - 1 + 4
    assert found


def test_another_parser_reads_it():
    parser = pytest.importorskip("junitparser")
    suite = next(iter(parser.JUnitXml.fromstring(classification().to_junit(fail_on="shift").encode())))
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (5, 2, 0, 1)
    results = [[type(each).__name__ for each in case.result] for case in suite]
    assert results == [["Skipped"], [], [], ["Failure"], ["Failure"]]
