"""``surefoot compare``: files in, a page out, exit codes for pipelines."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from surefoot.cli.app import app

sys.path.append(str(Path(__file__).parent.parent / "report"))
from example_audit import classification, regression
from example_comparison import better_regression, other_classification


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    classification().to_json(tmp_path / "may.json")
    other_classification().to_json(tmp_path / "june.json")
    for audit, name in zip(better_regression(), ("before", "after"), strict=True):
        audit.to_json(tmp_path / f"{name}.json")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, ["compare", *map(str, arguments)])


def test_the_page_the_markdown_and_the_summary(folder):
    result = run("may.json", "june.json", "--markdown", "out.md")
    assert result.exit_code == 0, result.output
    assert "may to june: accuracy is worse (partly, now no)" in result.stdout
    assert "The page: comparison.html" in result.stdout
    assert "▼ worse" in (folder / "comparison.html").read_text(encoding="utf-8")
    assert "worse" in (folder / "out.md").read_text(encoding="utf-8")


def test_rules_are_exit_code_1_and_the_page_is_written(folder):
    result = run("may.json", "june.json", "-o", "page.html", "--markdown", "out.md", "--fail-on", "worse", "--quiet")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("surefoot: worse: accuracy is worse")
    assert (folder / "page.html").exists()
    assert "1 of 1 rules are broken" in (folder / "out.md").read_text(encoding="utf-8")
    assert run("before.json", "after.json", "--fail-on", "worse,rmse.change>0").exit_code == 0
    assert run("before.json", "after.json", "before.json", "--fail-on", "worse").exit_code == 0  # against the first
    assert run("before.json", "after.json", "before.json", "--fail-on", "worse", "--against", "previous").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("may.json",), "needs two files or more"),
        (("may.json", "before.json"), "the files: may is about 'risk' (binary), and before about 'progression'"),
        (("may.json", "none.json"), "none.json: No such file"),
        (("may.json", "june.json", "--against", "next"), "--against: against must be one of"),
        (("may.json", "june.json", "-o", "june.json"), "would overwrite it"),
        (("may.json", "june.json", "--markdown", "may.json"), "would overwrite it"),
        (("may.json", "june.json", "--fail-on", "worst"), "--fail-on: 'worst' is not a rule"),
        (("may.json", "damaged.json"), "a file: damaged.json is not an audit that can be read"),
    ],
)
def test_what_cannot_be_compared_is_one_line_and_writes_nothing(folder, arguments, message):
    (folder / "damaged.json").write_text(regression().to_json()[:1000], encoding="utf-8")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
