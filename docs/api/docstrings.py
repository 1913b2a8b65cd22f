"""An extension of Griffe, which reads the docstrings: names become links, and shared parameters a sentence."""

import re
from typing import Any

import griffe

ROLE = re.compile(r":(class|func|meth):`(?:surefoot\.)?([\w.]+)`")
# A section of parameters may end with a sentence on the others, which is no parameter.
SHARED = re.compile(
    r"Parameters\n-+\n(?P<own>.*?)(?P<others>^(?:The other parameters|All but) [^\n]*\.$\n?)", re.DOTALL | re.MULTILINE
)
# Griffe takes the first of several choices for the default, whatever the docstring says.
CHOICES = re.compile(r"^(?P<names>[\w, ]+) : \{(?P<choices>[^}\n]+)\}", re.MULTILINE)


class ReadableDocstrings(griffe.Extension):
    """Writes docstrings anew before they are parsed."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Sentences on shared parameters go above the parameters, and roles become references."""
        if obj.docstring is None:
            return
        text = SHARED.sub(_others_first, obj.docstring.value)
        text = CHOICES.sub(lambda entry: f"{entry['names']} : {' or '.join(entry['choices'].split(', '))}", text)
        obj.docstring.value = ROLE.sub(lambda role: _reference(role, obj), text)


def _others_first(found: re.Match[str]) -> str:
    heading = f"Parameters\n----------\n{found['own']}" if found["own"].strip() else ""
    return f"{found['others']}\n{heading}"


def _reference(role: re.Match[str], obj: griffe.Object) -> str:
    kind, name = role.groups()
    owner = obj if obj.is_class else obj.parent
    path = f"{owner.name}.{name}" if kind == "meth" and "." not in name and owner is not None else name
    return f"[`{name}`][surefoot.{path}]"
