"""The published schema is that of the records, and every audit is valid by it."""

import json
from pathlib import Path

import pytest
from example_edges import EXAMPLES
from stored_audits import strict_validator
from test_audit_json import with_own_sections

from surefoot.report.files.json_schema import FILE, audit_schema, schema_text, stored_schema

DOCS = Path(__file__).parent.parent.parent / "docs" / "schema"
AGAIN = "the records have changed: run  python -m surefoot.report.files.json_schema  in the root of the repository"


@pytest.fixture(scope="module")
def validator():
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(audit_schema())
    return jsonschema.Draft202012Validator(audit_schema())


@pytest.mark.parametrize("stored", ["in the package", "in the docs"])
def test_the_stored_schema_is_that_of_the_records(stored):
    text = stored_schema() if stored == "in the package" else (DOCS / FILE).read_text(encoding="utf-8")
    assert text == schema_text(), AGAIN


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_valid(validator, name):
    values = json.loads(EXAMPLES[name]().to_json())
    assert validator.is_valid(values)
    strict_validator().validate(values)
    assert values.keys() <= audit_schema()["properties"].keys()


def test_own_sections_are_valid(validator):
    validator.validate(json.loads(with_own_sections().to_json()))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), 2),
        (("accuracy",), None),
        (("accuracy", "gain"), {"value": 0.1, "low": 0.0}),
        (("accuracy", "gain", "value"), "0.1"),
        (("accuracy", "n_rows"), 1.5),
        (("verdict", 0, "answer"), None),
        (("uncertainty", "columns_behind", 0), ["a"]),
        (("uncertainty", "columns_behind", 0), ["a", 1.0, 2.0]),
        (("not_finite",), {"/seconds": "large"}),
    ],
)
def test_what_is_not_an_audit_is_not_valid(validator, path, value):
    values = json.loads(EXAMPLES["classification"]().to_json())
    holder = values
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    assert not validator.is_valid(values)


def test_fields_have_the_comments_of_their_records():
    schema = audit_schema()
    assert schema["$defs"]["ModelScore"]["properties"]["auc"]["description"] == "for two classes"
    assert schema["$defs"]["Estimate"]["description"].startswith("A number measured on some rows")
    assert schema["properties"]["seconds"]["description"] == "Duration of the audit."
