"""``surefoot reproduce uncertainty`` as a user calls it."""

from pathlib import Path

import pytest
from run_checks import assert_refused
from typer.testing import CliRunner

from surefoot.cli.app import app
from surefoot_experiments.uncertainty import spiral
from surefoot_experiments.uncertainty.methods import UncertaintySettings

runner = CliRunner()


@pytest.fixture(autouse=True)
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = UncertaintySettings(True, 12, (2,), (0.1,), members=3, forest_trees=6, rows_per_cell=2)
    monkeypatch.setattr(UncertaintySettings, "make", lambda quick: tiny)
    monkeypatch.setattr(spiral, "ROWS_PER_CLASS", 20)
    monkeypatch.setattr(spiral, "STEPS", 4)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SUREFOOT_DATA", raising=False)


def test_it_is_listed() -> None:
    assert "uncertainty  Malinin" in runner.invoke(app, ["reproduce"]).output


def test_the_figures_from_start_to_end(tmp_path: Path) -> None:
    result = runner.invoke(app, ["reproduce", "uncertainty", "--parts", "figures", "--quick"])
    assert result.exit_code == 0, result.output
    out = Path("surefoot-results/uncertainty-quick")
    assert f"written: {out / 'figure-4.png'}" in result.stdout
    assert "Figures 2, 3 and 4: heart and spiral" in result.stdout
    assert "[0/2] Heart: SGLB" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["uncertainty", "--seeds", "3"],
            "--seeds is an option of weak-to-strong; uncertainty has --datasets, --parts",
        ),
        (["uncertainty", "--gamma", "0.1"], "--gamma is an option of weak-to-strong"),
        (["uncertainty", "--hypotheses", "9"], "--hypotheses is an option of weak-to-strong"),
        (
            ["weak-to-strong", "--datasets", "boston"],
            "--datasets is an option of uncertainty and shift; weak-to-strong has --seeds",
        ),
        (["weak-to-strong", "--parts", "figures"], "--parts is an option of uncertainty"),
        (["weak-to-strong", "--splits", "2"], "--splits is an option of uncertainty"),
        (["uncertainty"], "set SUREFOOT_DATA"),
        (["uncertainty", "--data", "."], "lacks adult.parquet"),
        (["uncertainty", "--data", ".", "--datasets", "boston, nonsense"], "there is no dataset 'nonsense'"),
        (["uncertainty", "--parts", "tables"], "there is no part 'tables'; the parts are figures, boosters, forests."),
        (["uncertainty", "--splits", "0", "--data", "."], "splits must be 1 or more"),
        (["uncertainty", "--jobs", "0", "--data", "."], "jobs must not be 0"),
    ],
)
def test_an_error_is_one_line_and_writes_nothing(arguments: list[str], message: str, tmp_path: Path) -> None:
    assert_refused(arguments, message, tmp_path)
