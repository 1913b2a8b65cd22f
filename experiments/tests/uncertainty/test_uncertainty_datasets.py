"""The choice of datasets, and how they are read."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from surefoot import DataError, ParameterError
from surefoot_experiments.exceptions import DatasetMissingError
from surefoot_experiments.skeleton.run import find_data_folder
from surefoot_experiments.uncertainty import datasets
from surefoot_experiments.uncertainty.datasets import BY_NAME, DATASETS, choose_datasets, load_table

needs_data = pytest.mark.skipif("SUREFOOT_DATA" not in os.environ, reason="SUREFOOT_DATA is not set")


def test_without_names_all_datasets_in_the_folder_are_run(tables: Path) -> None:
    assert [dataset.name for dataset in choose_datasets(None, tables, False)] == ["internet", "boston", "yacht"]
    (tables / "yacht_splits.npz").unlink()
    assert [dataset.name for dataset in choose_datasets(None, tables, True)] == ["internet", "boston"]


def test_a_named_dataset_must_exist(tables: Path, tmp_path: Path) -> None:
    assert [dataset.name for dataset in choose_datasets(["yacht"], tables, False)] == ["yacht"]
    with pytest.raises(ParameterError, match="no dataset 'yatch'; the datasets are adult, amazon"):
        choose_datasets(["yatch"], tables, False)
    with pytest.raises(DatasetMissingError, match=r"lacks power\.parquet, power_splits\.npz"):
        choose_datasets(["yacht", "power"], tables, False)
    with pytest.raises(DatasetMissingError, match=r"lacks adult\.parquet"):
        choose_datasets(None, tmp_path, False)


def test_a_table_and_its_splits(tables: Path) -> None:
    table = load_table(BY_NAME["boston"], tables)
    assert table.X.shape == (60, 3)
    assert len(table.splits) == 20
    assert all(sorted([*train, *test]) == list(range(60)) for train, test in table.splits)


def test_tasks_of_one_table_do_not_share_targets(tmp_path: Path) -> None:
    tasks = ("churn", "appetency", "upselling")
    frame = pd.DataFrame({"Var1": [0.0, 1.0, 2.0], **{f"target_{task}": [0, 1, 0] for task in tasks}})
    frame["target_upselling"] = [1, 1, 0]
    frame.to_parquet(tmp_path / "kdd09_casecontrol.parquet")
    splits = {f"{task}_{part}": np.array([k], np.uint16) for task in tasks for k, part in enumerate(("train", "test"))}
    np.savez(tmp_path / "kdd09_casecontrol_splits.npz", **splits)
    table = load_table(BY_NAME["upselling"], tmp_path)
    assert list(table.X.columns) == ["Var1"]
    assert table.y.tolist() == [1, 1, 0]
    assert [rows.tolist() for rows in table.splits[0]] == [[0], [1]]


def test_year_msd_is_read_from_its_original(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "YEAR_TRAIN_ROWS", 3)
    lines = [",".join(map(str, [2000 + k, *range(90)])) for k in range(5)]
    (tmp_path / "YearPredictionMSD.txt").write_text("\n".join(lines) + "\n")
    table = load_table(BY_NAME["year"], tmp_path)
    assert table.X.shape == (5, 90)
    assert table.y.tolist() == [2000, 2001, 2002, 2003, 2004]
    assert [rows.tolist() for rows in table.splits[0]] == [[0, 1, 2], [3, 4]]


def test_splits_that_do_not_fit_are_refused(tables: Path) -> None:
    np.savez(tables / "boston_splits.npz", train_0=[0, 1], test_0=[2])
    with pytest.raises(DataError, match="does not hold the splits of Boston"):
        load_table(BY_NAME["boston"], tables)
    rows = {f"{part}_{k}": np.array([0, 60]) for part in ("train", "test") for k in range(20)}
    np.savez(tables / "boston_splits.npz", **rows)
    with pytest.raises(DataError, match="beyond the 60 rows of boston"):
        load_table(BY_NAME["boston"], tables)


@needs_data
@pytest.mark.parametrize("dataset", [entry for entry in DATASETS if entry.name != "year"], ids=lambda entry: entry.name)
def test_the_real_tables(dataset: datasets.Dataset) -> None:
    folder = find_data_folder(None, "")
    if not dataset.is_in(folder):
        pytest.skip(f"SUREFOOT_DATA has no {dataset.file}")
    table = load_table(dataset, folder)
    assert len(table.splits) == dataset.n_splits
    assert all(not set(train) & set(test) for train, test in table.splits)
    assert (len(table.y) < dataset.paper_rows) == bool(dataset.remark)
