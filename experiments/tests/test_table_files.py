"""The folder of the tables, and which of several files is read."""

import os
from pathlib import Path

import numpy as np
import pytest

from surefoot_experiments.exceptions import DatasetMissingError
from surefoot_experiments.weak_to_strong.datasets import data_folder, load_tables


def test_without_a_folder_the_error_names_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUREFOOT_DATA", raising=False)
    with pytest.raises(DatasetMissingError, match=r"--data DIR, or set SUREFOOT_DATA .*pima\.parquet"):
        data_folder(None)


def test_the_option_has_precedence_over_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFOOT_DATA", str(tmp_path / "elsewhere"))
    assert data_folder(tmp_path) == tmp_path
    with pytest.raises(DatasetMissingError, match="elsewhere is not a folder"):
        data_folder(None)


def test_all_missing_tables_are_named(tiny_tables: Path) -> None:
    (tiny_tables / "higgs_56k.parquet").unlink()
    (tiny_tables / "pima.parquet").unlink()
    with pytest.raises(DatasetMissingError, match=r"HIGGS\.csv .*higgs_56k\.parquet, .*pima\.parquet") as caught:
        load_tables(tiny_tables)
    assert "covtype" not in str(caught.value)


def test_tables_are_read_and_miniboone_is_missing(tiny_tables: Path) -> None:
    tables, missing = load_tables(tiny_tables)
    assert [table.source.name for table in tables] == ["higgs", "covertype", "pima"]
    assert [source.name for source in missing] == ["boone"]
    assert all(set(table.y) == {-1, 1} and table.is_partial and table.X.shape == (60, 3) for table in tables)


def test_an_original_has_precedence_over_a_part(tiny_tables: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(20, 8))
    lines = [",".join(f"{v:.4f}" for v in row) + f",{k % 2}\n" for k, row in enumerate(rows)]
    (tiny_tables / "pima-indians-diabetes.csv").write_text("".join(lines))
    pima = load_tables(tiny_tables)[0][-1]
    assert pima.file == "pima-indians-diabetes.csv"
    assert pima.X.shape == (20, 8)


def test_miniboone_is_read_if_it_exists(tiny_tables: Path) -> None:
    lines = [" ".join(["0.5"] * 50) + "\n" for _ in range(6)]
    (tiny_tables / "MiniBooNE_PID.txt").write_text(" 2 4\n" + "".join(lines))
    tables, missing = load_tables(tiny_tables)
    assert [table.source.name for table in tables] == ["higgs", "boone", "covertype", "pima"]
    assert missing == []


@pytest.mark.skipif("SUREFOOT_DATA" not in os.environ, reason="SUREFOOT_DATA is not set")
def test_the_real_tables() -> None:
    tables, _ = load_tables(data_folder(None))
    shapes = {table.source.name: (table.X.shape[1], set(table.y)) for table in tables}
    assert shapes["higgs"] == (28, {-1, 1})
    assert shapes["covertype"] == (54, {-1, 1})
    assert shapes["pima"] == (8, {-1, 1})
    pima = tables[-1]
    assert (len(pima.y), (pima.y > 0).sum(), pima.is_partial) == (768, 268, False)
