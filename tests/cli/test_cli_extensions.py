"""Commands of other distributions: loaded from their entry point, or an error that says how to install them."""

from importlib.metadata import EntryPoint

import pytest
import typer
from typer.testing import CliRunner

from surefoot.cli import app as commands


def app_with(monkeypatch, *found):
    monkeypatch.setattr(commands, "entry_points", lambda **wanted: found)
    app = typer.Typer()
    app.callback()(lambda: None)
    commands.add_extension(app, "reproduce", "Run an experiment.", distribution="surefoot-experiments")
    return app


def test_a_command_that_is_installed_runs(monkeypatch):
    entry_point = EntryPoint("reproduce", "platform:machine", commands.EXTENSIONS)
    assert CliRunner().invoke(app_with(monkeypatch, entry_point), ["reproduce"]).exit_code == 0


@pytest.mark.parametrize("arguments", [[], ["shift", "--data", "here", "--quick"]])
def test_without_the_command_one_line_says_how_to_install_it(monkeypatch, arguments):
    result = CliRunner().invoke(app_with(monkeypatch), ["reproduce", *arguments])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == ("surefoot: reproduce is not part of this installation: pip install surefoot-experiments\n")


def test_the_help_names_the_distribution(monkeypatch):
    assert "Needs surefoot-experiments" in CliRunner().invoke(app_with(monkeypatch), ["--help"]).output


def test_a_command_that_cannot_be_loaded_does_not_affect_the_others(monkeypatch):
    entry_point = EntryPoint("reproduce", "surefoot_no_such_module:command", commands.EXTENSIONS)
    result = CliRunner().invoke(app_with(monkeypatch, entry_point), ["reproduce"])
    assert result.exit_code == 2
    assert "cannot be loaded (No module named 'surefoot_no_such_module')" in result.stderr
