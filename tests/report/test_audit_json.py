"""An audit is the same after it was written as JSON and read again."""

import json
from dataclasses import replace
from math import inf, nan

import pytest
from example_audit import around, classification, regression
from example_edges import EXAMPLES

from surefoot import Audit, DataError, ParameterError
from surefoot.report.files.audit_json import FORMAT
from surefoot.report.sections import SECTIONS
from surefoot.report.sections.section import YES, VerdictLine
from surefoot.report.statistics import Estimate


class Own:
    """A section with an answer."""

    name, question = "own", "Is it one's own?"

    def measure(self, run):
        return {"rate": 0.25, "limit": inf}

    def verdict(self, findings, context):
        return VerdictLine(self.question, YES, "It is.")

    def page(self, findings, context):
        return f"<p>The rate is {findings['rate']}, the limit {findings['limit']}.</p>"


class Supporting:
    """A section without an answer."""

    name, question = "more", "And <more>?"

    def measure(self, run):
        return None

    def page(self, findings, context):
        return f"<p>{findings}</p>"


def with_own_sections():
    plain = classification()
    return plain.but(
        verdict=(*plain.verdict, Own().verdict(None, None)),
        own_findings={"more": [1, 2], "own": Own().measure(None)},
        sections=(*SECTIONS, Supporting(), Own()),
    )


def document(audit, **changes):
    return json.dumps(json.loads(audit.to_json()) | changes)


def changed(path, value):
    """The JSON of an audit in which one entry is another."""
    values = json.loads(classification().to_json())
    holder = values
    *way, last = path
    for key in way:
        holder = holder[key]
    holder[last] = value
    return json.dumps(values)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_page_and_the_json_are_the_same_after_reading(name):
    audit = EXAMPLES[name]()
    read = Audit.from_json(audit.to_json())
    assert read.to_html() == audit.to_html()
    assert read.to_json() == audit.to_json()
    assert repr(read) == repr(audit)


def test_records_are_equal_after_reading_a_file(tmp_path):
    audit = regression().but(seconds=3)
    audit.to_json(tmp_path / "audit.json")
    for source in (tmp_path / "audit.json", str(tmp_path / "audit.json")):
        read = Audit.from_json(source)
        assert str(read.findings) == str(audit.findings)  # NaN is not equal to itself
        assert (read.subject, read.verdict, read.sections) == (audit.subject, audit.verdict, audit.sections)
        assert isinstance(read.accuracy.models, tuple)
        assert isinstance(read.seconds, float)


def test_open_ends_nan_and_none_stay_apart():
    plain = classification()
    accuracy = replace(plain.accuracy, gain=Estimate(0.2, -inf, inf), behind=Estimate(nan, 0.1, inf), curve=None)
    audit = plain.but(accuracy=accuracy)
    values = json.loads(audit.to_json())
    assert values["accuracy"]["gain"] == {"value": 0.2, "low": None, "high": None}
    assert values["not_finite"]["/accuracy/gain/low"] == "-inf"
    read = Audit.from_json(audit.to_json()).accuracy
    assert read.gain == accuracy.gain
    assert str(read.behind) == str(accuracy.behind)
    assert read.curve is None


def test_own_sections_keep_their_numbers_answers_and_with_their_code_their_pages():
    audit = with_own_sections()
    read = Audit.from_json(audit.to_json())
    assert read.findings["own"] == {"rate": 0.25, "limit": inf}
    assert read.answer("own") == YES
    assert "Its numbers are in the JSON, as <code>own</code>" in read.to_html()
    assert "And &lt;more&gt;?" in read.to_html()
    assert Audit.from_json(read.to_json()).to_json() == audit.to_json()
    with_code = Audit.from_json(audit.to_json(), sections=[Own(), Supporting()])
    assert with_code.to_html() == audit.to_html()
    with pytest.raises(ParameterError, match="sections contains 'own', which the audit does not have"):
        Audit.from_json(classification().to_json(), sections=[Own()])


def test_a_file_without_a_later_field_is_read():
    values = json.loads(classification().to_json())
    del values["subject"]["doubt"], values["own_measure"], values["shift"]["by_groups"]
    assert Audit.from_json(json.dumps(values)).to_json() == classification().to_json()


DAMAGED = {
    "{": "its JSON cannot be read",
    "{}": "no entry 'format'",
    '{"format": true}': "no entry 'format'",
    '{"format": 1, "format": 1}': "repeats a key",
    document(
        classification(), format=FORMAT + 1, version="9.0"
    ): "format 2 of surefoot 9.0, and this one reads 1: upgrade",
    document(classification(), surprise=1): "unknown entry 'surprise'.*written by version 0.1.0",
    document(classification(), verdict=[]): "verdict has 0 lines instead of 5",
    document(classification(), own_sections=None): "own_sections is not an array",
    document(classification(), not_finite=[]): "not_finite is not an object",
    document(classification(), not_finite={"/seconds": "inf"}): "not_finite has '/seconds'",
    document(classification(), not_finite={"/nowhere": "inf"}): "not_finite has '/nowhere'",
    document(classification(), not_finite={"/command": "large"}): "not_finite has '/command'",
    changed(("subject",), None): "subject is not an object",
    changed(("accuracy", "gain", "low"), "0.1"): "accuracy.gain.low is not a number",
    changed(("accuracy", "n_rows"), 12.5): "accuracy.n_rows is not a whole number",
    changed(("accuracy", "n_rows"), True): "accuracy.n_rows is not a whole number",
    changed(("accuracy", "is_better"), 1): "accuracy.is_better is not true or false",
    changed(("accuracy", "models", 2, "name"), None): r"accuracy.models\[2\].name is not text",
    changed(("verdict",), {}): "verdict is not an array",
    changed(("uncertainty", "columns_behind", 0), ["a"]): "has 1 entries instead of 2",
    changed(("shift", "auc"), {"value": 1.0}): "shift.auc has no entry 'low'",
    changed(("shift", "auc", "width"), 1.0): "shift.auc has the unknown entry 'width'",
}


@pytest.mark.parametrize("text", DAMAGED, ids=lambda text: DAMAGED[text])
def test_what_is_not_an_audit_is_one_clear_error(text):
    with pytest.raises(DataError, match=DAMAGED[text]) as caught:
        Audit.from_json(text)
    assert str(caught.value).startswith("the text is not an audit that can be read: ")
    assert caught.value.argument == "source"


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "audit.json"
    path.write_bytes(b'{"format": 1, "a": "\xff"}')
    with pytest.raises(DataError, match=r"audit\.json is not an audit that can be read: its JSON cannot be read"):
        Audit.from_json(path)
    with pytest.raises(FileNotFoundError):
        Audit.from_json(tmp_path / "nothing.json")


def test_estimates_are_estimates():
    audit = classification()
    assert Audit.from_json(audit.to_json()).accuracy.behind == audit.accuracy.behind == around(0.01, 0.02)
