"""The dependencies that pyproject.toml declares, and constraints for pip that hold each at its oldest version."""

import re
import sys
import tomllib
from pathlib import Path

PROJECTS = [Path(__file__).resolve().parents[1] / folder / "pyproject.toml" for folder in ("", "experiments")]
OURS = ("surefoot", "surefoot-experiments")
FLOOR = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?>=(?P<version>[\w.]+)")


def declared(extras: tuple[str, ...], project: Path = PROJECTS[0]) -> list[str]:
    """The requirements of a project with ``extras``, those on its own extras resolved."""
    table = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    optional = table["optional-dependencies"]
    found = list(table["dependencies"]) if not extras else declared((), project)
    for extra in extras:
        for requirement in optional[extra]:
            own = re.fullmatch(rf"{table['name']}\[(.+)\]", requirement)
            found += declared(tuple(own[1].split(",")), project) if own else [requirement]
    return list(dict.fromkeys(found))


def constraints(requirements: list[str]) -> list[str]:
    """A line for each requirement that has an oldest version; a requirement without one is an error."""
    lines = []
    for requirement in requirements:
        floor = FLOOR.fullmatch(requirement)
        if floor is None:
            raise ValueError(f"{requirement!r} has no oldest version: write it as name>=version.")
        lines.append(f"{floor['name']}=={floor['version']}")
    return lines


if __name__ == "__main__":
    print(*constraints(declared(tuple(sys.argv[1:]))), sep="\n")
