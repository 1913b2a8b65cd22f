"""The site of the documentation: every page can be reached, every public name is explained, every command exists."""

import importlib
import re
import shlex
from pathlib import Path

import pytest
import typer.main

from surefoot.cli.app import app

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if (DOCS / "results") not in page.parents)
ROOMS = ("surefoot", "surefoot.metrics", "surefoot.plots", "surefoot.selection")
EMPTY_HEADINGS = re.compile(r"[^\w\- ]")


def text_of(page):
    return page.read_text(encoding="utf-8")


def without_code(text):
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def anchors(page):
    """What MkDocs makes of the headings: small letters and hyphens, no other signs."""
    headings = re.findall(r"^#+ (.*)$", without_code(text_of(page)), flags=re.MULTILINE)
    return {re.sub(r"[ \-]+", "-", EMPTY_HEADINGS.sub("", heading.lower()).strip()) for heading in headings}


def relative(page):
    return page.relative_to(DOCS).as_posix()


def test_the_nav_lists_every_page_once_and_nothing_else():
    nav = re.search(r"^nav:\n((?:[ #].*\n|\n)+)", text_of(ROOT / "mkdocs.yml"), flags=re.MULTILINE)
    listed = re.findall(r": ([\w/.-]+\.md)$", nav[1], flags=re.MULTILINE)
    assert sorted(listed) == [relative(page) for page in PAGES]


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_in_a_page_of_the_reference(room):
    directives = [
        line for page in (DOCS / "api").glob("*.md") for line in text_of(page).splitlines() if line[:4] == "::: "
    ]
    shown = {line.rpartition(".")[2] for line in directives} | {"__version__"}
    assert set(importlib.import_module(room).__all__) <= shown
    assert "AdaBoost" not in shown  # a part of a name is not enough


def test_what_the_reference_shows_is_there():
    for page in (DOCS / "api").glob("*.md"):
        for path in re.findall(r"^::: ([\w.]+)$", text_of(page), flags=re.MULTILINE):
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
    assert {"the-papers-experiments", "surefoot-audit"} <= anchors(DOCS / "selection.md") | anchors(
        DOCS / "command-line.md"
    )


def commands():
    for page in PAGES:
        for block in re.findall(r"```sh\n(.*?)```", text_of(page), flags=re.DOTALL):
            for line in block.splitlines():
                if line.startswith("surefoot "):
                    yield pytest.param(line, id=f"{relative(page)}: {line}")


@pytest.mark.parametrize("line", commands())
def test_commands_have_the_options_they_are_shown_with(line):
    _, name, *arguments = shlex.split(line, comments=True)
    command = typer.main.get_command(app).commands[name]
    command.make_parser(typer.Context(command)).parse_args(list(arguments))  # an error names what is unknown


@pytest.mark.parametrize("name", ["audit", "fit", "predict", "select", "reproduce", "doctor"])
def test_every_command_is_explained(name):
    assert f"surefoot-{name}" in anchors(DOCS / "command-line.md")
    assert set(typer.main.get_command(app).commands) == {"audit", "fit", "predict", "select", "reproduce", "doctor"}


def test_benchmarks_are_all_explained():
    page = text_of(DOCS / "benchmarks.md")
    assert [file.name for file in (ROOT / "benchmarks").glob("*.py") if f"`{file.name}`" not in page] == []
