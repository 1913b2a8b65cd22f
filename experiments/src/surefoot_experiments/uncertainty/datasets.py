"""The datasets of the experiment: their list, which of them are in a folder, and how they are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import DataError, ParameterError
from surefoot_experiments.exceptions import DatasetMissingError
from surefoot_experiments.originals import read_frame, read_year

REGRESSION, CLASSIFICATION = "regression", "classification"
YEAR_FILE, YEAR_TRAIN_ROWS = "YearPredictionMSD.txt", 463_715  # its authors train on these first rows
QUICK = ("boston", "concrete", "energy", "wine", "yacht", "internet")


@dataclass(frozen=True)
class Dataset:
    """A dataset of the paper; ``remark`` explains why its numbers cannot be compared with the paper's."""

    name: str
    title: str
    task: str
    file: str
    n_splits: int
    paper_rows: int
    label: str = "target"
    splits_prefix: str = ""
    remark: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        stem = self.file.removesuffix(".parquet")
        return (self.file,) if stem == self.file else (self.file, f"{stem}_splits.npz")

    def is_in(self, folder: Path) -> bool:
        return all((folder / name).is_file() for name in self.files)


def _regression(name: str, title: str, rows: int, n_splits: int = 20, file: str | None = None) -> Dataset:
    return Dataset(name, title, REGRESSION, f"{file or name}.parquet", n_splits, rows)


def _classification(name: str, title: str, rows: int, file: str, remark: str = "") -> Dataset:
    return Dataset(name, title, CLASSIFICATION, f"{file}.parquet", 1, rows, remark=remark)


def _kdd(task: str) -> Dataset:
    return Dataset(
        name=task,
        title=f"KDD-{task.capitalize()}",
        task=CLASSIFICATION,
        file="kdd09_casecontrol.parquet",
        n_splits=1,
        paper_rows=50_000,
        label=f"target_{task}",
        splits_prefix=f"{task}_",
        remark="a case-control sample with equally many rows of each class, raw columns instead of the paper's 419, "
        "and a different split",
    )


DATASETS = (
    _classification("adult", "Adult", 48_842, "adult"),
    _classification("amazon", "Amazon", 32_769, "amazon_employee_access"),
    _classification("click", "Click", 399_482, "click_small", "the first tenth of the rows"),
    _classification("internet", "Internet", 10_108, "internet_usage"),
    _kdd("appetency"),
    _kdd("churn"),
    _kdd("upselling"),
    _classification("kick", "Kick", 72_983, "kick"),
    _regression("boston", "Boston", 506),
    _regression("concrete", "Concrete", 1030),
    _regression("energy", "Energy", 768),
    _regression("kin8nm", "Kin8nm", 8192),
    _regression("naval", "Naval", 11_934),
    _regression("power", "Power", 9568),
    _regression("protein", "Protein", 45_730, 5),
    _regression("wine", "Wine", 1599, file="wine_red"),
    _regression("yacht", "Yacht", 308),
    Dataset("year", "Year MSD", REGRESSION, YEAR_FILE, 1, 515_345),
)
BY_NAME = {dataset.name: dataset for dataset in DATASETS}


@dataclass(frozen=True)
class LoadedDataset:
    """A dataset as read; ``splits`` are pairs of (training rows, test rows)."""

    dataset: Dataset
    X: Any
    y: np.ndarray
    splits: list[tuple[np.ndarray, np.ndarray]]


def choose_datasets(names: Sequence[str] | None, folder: Path, quick: bool) -> list[Dataset]:
    """The datasets to run: the named ones, which must be in the folder, or else all datasets in the folder."""
    unknown = [name for name in names or () if name not in BY_NAME]
    if unknown:
        raise ParameterError(f"there is no dataset {unknown[0]!r}; the datasets are {', '.join(BY_NAME)}.")
    wanted = [dataset for dataset in DATASETS if dataset.name in (names or (QUICK if quick else BY_NAME))]
    missing = [dataset for dataset in wanted if not dataset.is_in(folder)]
    if missing and (names or len(missing) == len(wanted)):
        files = ", ".join(dict.fromkeys(name for dataset in missing for name in dataset.files))
        raise DatasetMissingError(f"{folder} lacks {files}: put the files there, or name another folder.")
    return [dataset for dataset in wanted if dataset not in missing]


def load_table(dataset: Dataset, folder: Path) -> LoadedDataset:
    """Read a dataset and its splits."""
    path = folder / dataset.file
    if dataset.file == YEAR_FILE:
        X, y = read_year(path)
        rows = np.arange(len(y))
        return LoadedDataset(dataset, _as_frame(X), y, [(rows[:YEAR_TRAIN_ROWS], rows[YEAR_TRAIN_ROWS:])])
    frame = read_frame(path)
    if dataset.label not in frame.columns:
        raise DataError(f"{path}: has no column {dataset.label!r}.")
    labels = frame[dataset.label].to_numpy()
    y = labels.astype(np.float64) if dataset.task == REGRESSION else labels
    X = frame[[name for name in frame.columns if not name.startswith("target")]]  # the KDD table has three targets
    return LoadedDataset(dataset, X, y, _read_splits(dataset, folder / dataset.files[1], len(y)))


def _read_splits(dataset: Dataset, path: Path, n_rows: int) -> list[tuple[np.ndarray, np.ndarray]]:
    prefix = dataset.splits_prefix
    suffixes = [f"_{k}" for k in range(dataset.n_splits)] if dataset.task == REGRESSION else [""]
    try:
        with np.load(path) as arrays:
            pairs = [(arrays[f"{prefix}train{end}"], arrays[f"{prefix}test{end}"]) for end in suffixes]
    except (OSError, KeyError, ValueError) as error:
        raise DataError(f"{path}: does not hold the splits of {dataset.title} ({error}).") from error
    if max(int(rows.max()) for pair in pairs for rows in pair) >= n_rows:
        raise DataError(f"{path}: has row numbers beyond the {n_rows} rows of {dataset.file}.")
    return [(train.astype(np.int64), test.astype(np.int64)) for train, test in pairs]


def _as_frame(X: np.ndarray) -> Any:
    import pandas as pd

    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
