"""``surefoot reproduce shift`` as a user calls it."""

from dataclasses import replace
from pathlib import Path

import pytest
from run_checks import assert_refused
from typer.testing import CliRunner

from surefoot.cli.app import app
from surefoot_experiments.shift.protocol import ShiftSettings

runner = CliRunner()


@pytest.fixture(autouse=True)
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        ShiftSettings, "make", lambda quick: replace(ShiftSettings(), quick=quick, target_sizes=(10, 20), draws=3)
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SUREFOOT_DATA", raising=False)


def test_it_is_listed() -> None:
    assert "shift  the V-matrix" in runner.invoke(app, ["reproduce"]).output


def test_a_part_from_start_to_end() -> None:
    result = runner.invoke(app, ["reproduce", "shift", "--parts", "bounds", "--quick"])
    assert result.exit_code == 0, result.output
    out = Path("surefoot-results/shift-quick")
    assert f"written: {out / 'bounds.csv'}" in result.stdout
    assert "Theorem 3.3: at most 5% of draws" in result.stdout
    assert "its bound at confidence 0.95" in result.stdout
    assert "[0/8] bounds: one feature, continuous, 10 target rows" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["shift", "--seeds", "3"], "--seeds is an option of weak-to-strong; shift has --datasets, --parts, --splits."),
        (["stability", "--splits", "3"], "--splits is an option of uncertainty and shift; stability has --parts."),
        (["shift", "--parts", "figures"], "there is no part 'figures'; the parts are bounds, study"),
        (["shift", "--datasets", "adult"], "there is no dataset 'adult'; there is boston"),
        (["shift"], "set SUREFOOT_DATA"),
        (["shift", "--data", "."], "lacks boston.parquet"),
        (["shift", "--jobs", "0", "--data", "."], "jobs must not be 0"),
    ],
)
def test_an_error_is_one_line_and_writes_nothing(arguments: list[str], message: str, tmp_path: Path) -> None:
    assert_refused(arguments, message, tmp_path)
