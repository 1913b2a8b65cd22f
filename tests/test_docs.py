"""Every Python snippet in README and docs runs."""

import importlib
import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if "results" not in page.parts),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets_run_in_order(page, capsys, request):
    if page.name == "README.md":  # it audits as users do, with all candidates and bags
        request.getfixturevalue("several_tasks")
    if page.name == "audit.md":
        request.getfixturevalue("small_candidates")
    snippets = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert snippets
    if any("import shap" in snippet for snippet in snippets):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # from packages that shap imports
            importlib.import_module("shap")
    names: dict = {}
    for snippet in snippets:
        exec(compile(snippet, str(page), "exec"), names)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_no_block_is_a_placeholder(page):
    blocks = re.findall(r"```\w*\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert all(len(block.split()) > 1 for block in blocks)
