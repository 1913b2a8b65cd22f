"""Hundreds of odd tables: an audit makes a page of each, or refuses it in one line."""

import warnings
import xml.etree.ElementTree as ElementTree

import pytest
from fault_sizes import usual_or_long
from reference.odd_tables import odd_table
from run_command import run_command

from surefoot import SurefootError, audit
from surefoot.cli import DONE, USER_ERROR

pytestmark = [pytest.mark.fault(number=27), pytest.mark.usefixtures("small_candidates")]
# These crashed once: a single fold, folds of one row, huge and tiny numbers, one or no new row, late dates.
KNOWN = (5, 7, 14, 23, 81, 121, 211, 224, 433, 450, 470)
COMMANDS = ("audit", "select")


@pytest.mark.parametrize("seed", usual_or_long(KNOWN, range(400)))
def test_an_audit_of_an_odd_table_makes_a_page_or_says_why_not(seed):
    table = odd_table(seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        warnings.filterwarnings("ignore", ".* has none of the categories", UserWarning)
        try:
            result = audit(table.X, table.y, random_state=seed, n_jobs=1, **table.options)
        except SurefootError as error:
            refusal = str(error)
        else:
            refusal = ""
    if refusal:
        return
    assert result.to_html().startswith("<!DOCTYPE html>")
    assert result.to_markdown()
    assert result.to_json()
    ElementTree.fromstring(result.to_junit())
    assert len(str(result).splitlines()) == 5


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("seed", usual_or_long((5, 121, 470), range(1000, 1100)))
def test_a_command_on_an_odd_file_succeeds_or_says_why_not(command, seed, tmp_path, monkeypatch, capfd):
    table = odd_table(seed)
    name = str(table.y.name)
    frame = table.X.assign(**{name: table.y})
    frame.to_csv(tmp_path / "t.csv", index=False)
    arguments = [command, "t.csv", "--target", name, "--jobs", 1, "--quiet"]
    if command == "audit" and "X_new" in table.options:
        table.options["X_new"].to_csv(tmp_path / "new.csv", index=False)
        arguments += ["--new", "new.csv"]
    monkeypatch.chdir(tmp_path)
    code = run_command(*arguments)
    lines = [line for line in capfd.readouterr().err.splitlines() if not line.startswith("surefoot: warning:")]
    assert code in (DONE, USER_ERROR), lines
    assert len(lines) == (code == USER_ERROR)
