"""``surefoot reproduce stability`` as a user calls it."""

from dataclasses import replace
from pathlib import Path

import pytest
from run_checks import assert_refused
from typer.testing import CliRunner

from surefoot.cli.app import app
from surefoot_experiments.stability.settings import StabilitySettings

runner = CliRunner()


@pytest.fixture(autouse=True)
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        StabilitySettings,
        "make",
        lambda quick: replace(StabilitySettings(), quick=quick, larger_draws=1, larger_bags=30),
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SUREFOOT_DATA", raising=False)


def test_it_is_listed() -> None:
    assert "stability  Adrian" in runner.invoke(app, ["reproduce"]).output


def test_a_part_from_start_to_end() -> None:
    result = runner.invoke(app, ["reproduce", "stability", "--parts", "larger_sample", "--quick"])
    assert result.exit_code == 0, result.output
    out = Path("surefoot-results/stability-quick")
    assert f"written: {out / 'larger_sample.csv'}" in result.stdout
    assert "The guarantee: the instability of the inflated argmax is at most 0.05" in result.stdout
    assert "[0/1] larger sample, draw 0" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["stability", "--seeds", "3"], "--seeds is an option of weak-to-strong; stability has --parts."),
        (["weak-to-strong", "--parts", "graph"], "--parts is an option of uncertainty and stability"),
        (["stability", "--parts", "graph,boosters"], "there is no part 'boosters'; the parts are regression"),
        (["stability", "--parts", ","], "parts is empty; the parts are regression"),
        (["stability"], "set SUREFOOT_DATA"),
        (["stability", "--data", "."], "lacks correlated_regression_trials.npz"),
        (["stability", "--jobs", "0", "--data", "."], "jobs must not be 0"),
    ],
)
def test_an_error_is_one_line_and_writes_nothing(arguments: list[str], message: str, tmp_path: Path) -> None:
    assert_refused(arguments, message, tmp_path)
