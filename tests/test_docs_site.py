"""The site of the documentation: every page can be reached, every public name is explained, every command exists."""

import importlib
import re
import shlex
from pathlib import Path

import pytest
import typer.main
import yaml

from surefoot.cli.app import app
from surefoot.report.fail_rules import read_rules

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if (DOCS / "results") not in page.parents)
REFERENCE = sorted((DOCS / "api").glob("*.md"))
ROOMS = ("surefoot", "surefoot.dask", "surefoot.metrics", "surefoot.plots", "surefoot.selection")
NO_PART_OF_AN_ANCHOR = re.compile(r"[^\w\- ]")


def text_of(page):
    return page.read_text(encoding="utf-8")


def without_code(text):
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def anchors(page):
    """What MkDocs makes of the headings: small letters and hyphens, no other signs."""
    headings = re.findall(r"^#+ (.*)$", without_code(text_of(page)), flags=re.MULTILINE)
    return {re.sub(r"[ \-]+", "-", NO_PART_OF_AN_ANCHOR.sub("", heading.lower()).strip()) for heading in headings}


def directives(page):
    """What a page of the reference shows, by its path."""
    return re.findall(r"^::: ([\w.]+)$", text_of(page), flags=re.MULTILINE)


def relative(page):
    return page.relative_to(DOCS).as_posix()


def test_the_nav_lists_every_page_once_and_nothing_else():
    nav = re.search(r"^nav:\n((?:[ #].*\n|\n)+)", text_of(ROOT / "mkdocs.yml"), flags=re.MULTILINE)
    listed = re.findall(r": ([\w/.-]+\.md)$", nav[1], flags=re.MULTILINE)
    assert sorted(listed) == [relative(page) for page in PAGES]


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_in_a_page_of_the_reference(room):
    shown = {path.rpartition(".")[2] for page in REFERENCE for path in directives(page)} | {"__version__"}
    assert set(importlib.import_module(room).__all__) <= shown
    assert "AdaBoost" not in shown  # a part of a name is not enough


@pytest.mark.parametrize("page", REFERENCE, ids=relative)
def test_what_the_reference_shows_is_there(page):
    assert directives(page)
    for path in directives(page):
        module, _, name = path.rpartition(".")
        assert hasattr(importlib.import_module(module), name), path


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_links_between_pages_lead_to_a_file_and_a_heading(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text_of(page))):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        assert other.is_file(), target
        assert DOCS in other.parents, f"{target} is not part of the site"
        assert not anchor or anchor in anchors(other), target


def test_anchors_are_those_of_mkdocs():
    assert "the-papers-experiments" in anchors(DOCS / "selection.md")
    assert "2-does-it-know-what-it-does-not-know" in anchors(DOCS / "audit.md")


COMMANDS = [
    pytest.param(line, id=f"{relative(page)}: {line}")
    for page in PAGES
    for block in re.findall(r"```sh\n(.*?)```", text_of(page), flags=re.DOTALL)
    for line in block.splitlines()
    if line.startswith("surefoot ")
]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_have_the_options_they_are_shown_with(line):
    _, name, *arguments = shlex.split(line, comments=True)
    command = typer.main.get_command(app).commands[name]
    command.make_parser(typer.Context(command)).parse_args(list(arguments))  # an error names what is unknown


def commands_in(value):
    """The commands of surefoot in a workflow: in ``run``, ``script`` and ``entry``."""
    if isinstance(value, str):
        return [line for line in value.splitlines() if line.startswith("surefoot ")]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [command for part in parts for command in commands_in(part)]


def test_workflows_are_yaml_with_options_that_exist():
    page = text_of(DOCS / "audit-in-ci.md")
    workflows = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL)]
    commands = [command for workflow in workflows for command in commands_in(workflow)]
    assert len(commands) == page.count("surefoot audit data.csv") + page.count("surefoot compare")
    rules = []
    for line in commands:
        _, name, *arguments = shlex.split(line)
        command = typer.main.get_command(app).commands[name]
        options, _, _ = command.make_parser(typer.Context(command)).parse_args(list(arguments))
        rules += [rule for rule in options["fail_on"] if name == "audit"]
    assert read_rules(rules)
    steps = workflows[0]["jobs"]["audit"]["steps"]
    assert all("uses" in step or "run" in step for step in steps)
    assert all(step["if"].startswith("always()") for step in steps[4:])  # also where a rule is broken


@pytest.mark.parametrize("name", ["audit", "compare", "export", "fit", "predict", "select", "reproduce", "doctor"])
def test_every_command_is_explained(name):
    assert f"surefoot-{name}" in anchors(DOCS / "command-line.md")
    commands = {"audit", "compare", "export", "fit", "predict", "select", "reproduce", "doctor"}
    assert set(typer.main.get_command(app).commands) == commands


def test_benchmarks_are_all_explained():
    page = text_of(DOCS / "benchmarks.md")
    assert [file.name for file in (ROOT / "benchmarks").glob("*.py") if f"`{file.name}`" not in page] == []


def test_the_gallery_shows_every_plot_in_a_small_picture():
    page = text_of(DOCS / "gallery.md")
    shown = re.findall(r"^!\[.+\]\((images/gallery/[\w-]+\.svg)\)$", page, flags=re.MULTILINE)
    assert {DOCS / path for path in shown} == set((DOCS / "images" / "gallery").iterdir())
    assert all((DOCS / path).stat().st_size <= 25_000 for path in shown)
    assert {name.lower() for name in importlib.import_module("surefoot.plots").__all__} <= anchors(DOCS / "gallery.md")
