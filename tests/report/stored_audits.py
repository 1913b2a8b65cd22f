"""What holds for the JSON of every audit that a test runs."""

import json
from functools import cache

from surefoot import Audit
from surefoot.report.files.json_schema import audit_schema


@cache
def strict_validator():
    """A validator by the schema without room for other entries in records; None without the package jsonschema."""
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        return None
    schema = audit_schema()
    for record in schema["$defs"].values():
        record["additionalProperties"] = False
    return Draft202012Validator(schema)


def check_stored(result):
    """The JSON is valid, and read as what it was; this covers the findings of every kind of audit."""
    text = result.to_json()
    assert Audit.from_json(text).to_json() == text
    if (validator := strict_validator()) is not None:
        validator.validate(json.loads(text))
