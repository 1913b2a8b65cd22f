"""``surefoot reproduce`` as a user calls it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from surefoot import __version__
from surefoot.cli.app import app
from surefoot_experiments.weak_to_strong import experiment as weak_to_strong
from surefoot_experiments.weak_to_strong.experiment import WeakToStrongSettings

runner = CliRunner()


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tiny tables, and settings for them."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "tables"
    folder.mkdir()
    for name, low in (("pima", 0), ("higgs_56k", 0), ("covertype_177k", 1)):
        X = rng.normal(size=(60, 2))
        pd.DataFrame(X, columns=["a", "b"]).assign(target=(X[:, 0] > 0).astype(int) + low).to_parquet(
            folder / f"{name}.parquet"
        )
    make = WeakToStrongSettings.make
    monkeypatch.setattr(
        WeakToStrongSettings,
        "make",
        lambda *given: WeakToStrongSettings(given[0], 2, (3, 5), 1000, given[1], min(30, make(*given).hypotheses)),
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SUREFOOT_DATA", raising=False)
    return folder


def test_help_and_version() -> None:
    assert "reproduce" in runner.invoke(app, ["--help"]).output
    assert runner.invoke(app, ["--version"]).output.strip() == __version__


def test_without_a_name_experiments_are_listed() -> None:
    result = runner.invoke(app, ["reproduce"])
    assert result.exit_code == 0
    assert result.output.startswith("weak-to-strong  Høgsgaard")


def test_a_run_from_start_to_end(tables: Path, tmp_path: Path) -> None:
    result = runner.invoke(app, ["reproduce", "weak-to-strong", "--data", str(tables), "--seeds", "3", "--quick"])
    assert result.exit_code == 0, result.output
    out = tmp_path / "surefoot-results" / "weak-to-strong-quick"
    assert {file.name for file in out.iterdir()} == {
        "adversarial-grid.csv",
        "figure-1.png",
        "figure-2.png",
        "results.csv",
        "settings.json",
        "summary.md",
    }
    assert "Findings of the paper" in result.output
    assert "is PARTIAL" in result.output
    assert "--quick --seeds 3 --gamma 0.05 --hypotheses 30" in result.output


def test_the_environment_variable_names_the_folder(
    tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUREFOOT_DATA", str(tables))
    result = runner.invoke(app, ["reproduce", "weak-to-strong", "--seeds", "1", "--out", str(tmp_path / "here")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "here" / "results.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "there is no experiment 'nonsense'; the experiments are weak-to-strong"),
        (["weak-to-strong"], "set SUREFOOT_DATA"),
        (["weak-to-strong", "--data", "nowhere"], "nowhere is not a folder"),
        (["weak-to-strong", "--data", "."], "lacks HIGGS.csv"),
        (["weak-to-strong", "--data", "tables", "--gamma", "0.7"], "gamma must lie between 0 and 0.5"),
        (["weak-to-strong", "--data", "tables", "--seeds", "0"], "seeds must be 1 or more"),
        (["weak-to-strong", "--data", "tables", "--out", "tables/pima.parquet"], "choose another --out"),
    ],
)
def test_an_error_is_one_line_and_writes_nothing(
    tables: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    before = sorted(tmp_path.rglob("*"))
    result = runner.invoke(app, ["reproduce", *arguments])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_after_ctrl_c_the_same_command_continues(tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = weak_to_strong.run_trial, []

    def stop_at_the_fourth(*arguments: object) -> object:
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(weak_to_strong, "run_trial", stop_at_the_fourth)
    command = ["reproduce", "weak-to-strong", "--data", "tables", "--seeds", "1", "--out", "here"]
    result = runner.invoke(app, command)
    assert result.exit_code == 130
    assert "the same command continues from there" in result.stderr
    assert len(pd.read_csv("here/results.csv")) == 3
    assert runner.invoke(app, command).exit_code == 0


def test_results_are_not_written_into_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    same = f"{tmp_path}/./../{tmp_path.name}"
    made = runner.invoke(app, ["reproduce", "shift", "--data", str(tmp_path), "--out", same])
    assert (made.exit_code, "is the folder of the data" in made.stderr) == (2, True)
    monkeypatch.setenv("SUREFOOT_DATA", str(tmp_path))
    made = runner.invoke(app, ["reproduce", "shift", "--out", str(tmp_path)])
    assert (made.exit_code, "is the folder of the data" in made.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []
