"""The JSON schema of an audit, made from the records and the comments beside their fields.

``python -m surefoot.report.files.json_schema`` writes it again after a record has changed.
"""

import ast
import inspect
import json
import textwrap
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from surefoot.report.audit import Audit
from surefoot.report.files.audit_json import FORMAT, NOT_STORED, OwnSection
from surefoot.report.files.json_values import NOT_FINITE, hints_of, is_required

DRAFT = "https://json-schema.org/draft/2020-12/schema"
FILE = f"audit-{FORMAT}.json"
COPIES = (
    Path(__file__).parent / FILE,
    Path("docs") / "schema" / FILE,
)  # in the package, and from the repository's root
SCALARS: dict[Any, Any] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": ["number", "null"]},  # null: not finite
    NoneType: {"type": "null"},
    Any: {},
}


def audit_schema() -> dict[str, Any]:
    """The schema; entries that it does not name are your own sections, or of a later version."""
    records: dict[str, Any] = {}
    properties = {name: _schema(hint, records) for name, hint in hints_of(Audit).items() if name not in NOT_STORED}
    described = {
        name: {"description": text} | properties[name]
        for name, text in _descriptions(Audit).items()
        if name in properties
    }
    own = {
        "format": {"description": "Version of this format.", "const": FORMAT},
        "own_sections": _schema(tuple[OwnSection, ...], records),
        "not_finite": {
            "description": "Numbers that are null, because they are not finite, by their places (JSON Pointer).",
            "type": "object",
            "additionalProperties": {"enum": sorted(NOT_FINITE)},
        },
    }
    required = [each.name for each in fields(Audit) if is_required(each)]
    return {
        "$schema": DRAFT,
        "title": "An audit of surefoot",
        "description": "Null stands for what was not measured, and for numbers that are not finite.",
        "type": "object",
        "properties": own | properties | described,
        "required": [*own, *required],
        "$defs": dict(sorted(records.items())),
    }


def schema_text() -> str:
    """The text of the schema's file."""
    return json.dumps(audit_schema(), indent=1, ensure_ascii=False) + "\n"


def stored_schema() -> str:
    """The schema as it is stored in the package."""
    return files("surefoot.report").joinpath("files", FILE).read_text(encoding="utf-8")


def _schema(hint: Any, records: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; records are added to ``records`` and referred to."""
    if hint in SCALARS:
        return dict(SCALARS[hint])
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(each, records) for each in inner]}
    if origin in (tuple, list):
        return _array(origin, inner, records)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(inner[1], records)}
    if hint.__name__ not in records:
        records[hint.__name__] = {}  # a record may contain itself
        records[hint.__name__] = _record(hint, records)
    return {"$ref": f"#/$defs/{hint.__name__}"}


def _array(origin: Any, inner: tuple[Any, ...], records: dict[str, Any]) -> dict[str, Any]:
    if origin is list or inner[1:] == (Ellipsis,):
        return {"type": "array", "items": _schema(inner[0], records)}
    parts = [_schema(each, records) for each in inner]
    return {"type": "array", "prefixItems": parts, "items": False, "minItems": len(parts)}


def _record(record: Any, records: dict[str, Any]) -> dict[str, Any]:
    comments = _comments(record)
    properties = {}
    for name, hint in hints_of(record).items():
        description = {"description": comments[name]} if name in comments else {}
        properties[name] = description | _schema(hint, records)
    required = [each.name for each in fields(record) if is_required(each)]
    text = (inspect.getdoc(record) or "").partition("\n")[0]
    return {"description": text, "type": "object", "properties": properties, "required": required}


@cache
def _comments(record: Any) -> dict[str, str]:
    """The comments at the ends of the lines of a record's fields."""
    source = textwrap.dedent(inspect.getsource(record))
    lines = source.splitlines()
    found: dict[str, str] = {}
    for node in ast.parse(source).body[0].body:  # type: ignore[attr-defined]
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            _, sign, comment = lines[(node.end_lineno or 1) - 1][node.end_col_offset :].partition("#")
            found |= {node.target.id: comment.strip()} if sign else {}
    return found


def _descriptions(record: Any) -> dict[str, str]:
    """The first line of each entry of the parameters in a docstring."""
    found: dict[str, str] = {}
    lines = (inspect.getdoc(record) or "").splitlines()
    for line, after in pairwise(lines):
        if " : " in line and not line.startswith(" ") and after.startswith("    "):
            found |= {name.strip(): after.strip() for name in line.partition(" : ")[0].split(",")}
    return found


if __name__ == "__main__":
    for path in COPIES:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(schema_text(), encoding="utf-8")
