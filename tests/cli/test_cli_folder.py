"""``surefoot fit --folder`` keeps the bins of a table, and continues from them after Ctrl-C."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from surefoot.cli import fit as fit_command
from surefoot.cli import large_table
from surefoot.cli.app import app
from surefoot.uncertainty.boosting_loop import BoostingLoop
from surefoot.uncertainty.sharded_rows import ShardedRows

N_ROWS = 10_000


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder with a table of two files; ensembles have few trees."""
    folder = tmp_path / "data"
    folder.mkdir()
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"a": generator.normal(size=N_ROWS), "b": generator.choice(["x", "y"], N_ROWS)})
    frame["y"] = frame["a"] + generator.normal(size=N_ROWS)
    frame.iloc[:6000].to_parquet(folder / "0.parquet")
    frame.iloc[6000:].to_parquet(folder / "1.parquet")
    new_ensemble = fit_command.new_ensemble
    few = {"n_estimators": 6, "max_depth": 3}
    monkeypatch.setattr(fit_command, "new_ensemble", lambda *given, **more: new_ensemble(*given, **more, **few))
    return folder


def run(data, *options, output="m"):
    return CliRunner().invoke(
        app, ["fit", str(data), "--target", "y", "-o", str(data.parent / output), "--members", "2", *options]
    )


def test_ctrl_c_and_the_same_command_again(data, monkeypatch):
    bins, output = data.parent / "bins", data.parent / "m"
    assert run(data, output="expected").exit_code == 0
    step, grow, grown = BoostingLoop.step, ShardedRows._grow, []

    def stop_in_round_9(loop):
        if len(grown) == 9:
            raise KeyboardInterrupt
        step(loop)

    monkeypatch.setattr(ShardedRows, "_grow", lambda *given: grown.append(1) or grow(*given))
    with monkeypatch.context() as patch:
        patch.setattr(BoostingLoop, "step", stop_in_round_9)
        result = run(data, "--folder", str(bins))
    assert result.exit_code == 130
    assert f"the trees so far are in {bins}. The same command continues from there." in result.stderr
    assert not output.exists()
    result = run(data, "--folder", str(bins))
    assert result.exit_code == 0, result.stderr
    assert f"{bins} has the bins of an earlier run" in result.stderr
    assert "continues the training that was stopped" in result.stderr
    assert output.read_bytes() == (data.parent / "expected").read_bytes()
    n_trees = len(grown)
    assert run(data, "--folder", str(bins), "--quiet").stderr == ""
    assert len(grown) == 2 * n_trees  # each tree was grown once before and after the stop
    assert not list(bins.glob("training-*"))


def test_ctrl_c_before_there_are_bins(data, monkeypatch):
    def stop(*given, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit_command.LargeTable, "store", stop)
    result = run(data, "--folder", str(data.parent / "bins"))
    assert result.exit_code == 130
    assert "stopped; nothing was written." in result.stderr


def test_a_folder_of_other_data_is_refused(data):
    bins = data.parent / "bins"
    assert run(data, "--folder", str(bins)).exit_code == 0
    (data / "1.parquet").unlink()
    result = run(data, "--folder", str(bins))
    assert result.exit_code == 2
    assert "--folder: " in result.stderr
    assert "was written from other data or settings (files): remove it, or name a new folder." in result.stderr


def test_a_folder_with_other_columns_is_refused(data, monkeypatch):
    bins = data.parent / "bins"
    assert run(data, "--folder", str(bins)).exit_code == 0
    read = large_table.StoredTable.read

    def read_with_other_names(*given, **options):
        stored = read(*given, **options)
        stored.feature_names = stored.feature_names[::-1]
        return stored

    monkeypatch.setattr(large_table.StoredTable, "read", read_with_other_names)
    result = run(data, "--folder", str(bins))
    assert result.exit_code == 2
    assert "was written with other options" in result.stderr


def test_text_files_are_refused(data):
    pd.DataFrame({"a": [1.0, 2.0] * 20, "y": [0.0, 1.0] * 20}).to_csv(data.parent / "table.csv", index=False)
    result = run(data.parent / "table.csv", "--folder", str(data.parent / "bins"))
    assert result.exit_code == 2
    assert "--folder: the bins of table.csv are not kept" in result.stderr
