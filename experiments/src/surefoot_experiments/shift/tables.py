"""The nine UCI tables of the study, with their published splits."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from surefoot import ParameterError
from surefoot_experiments.exceptions import DatasetMissingError
from surefoot_experiments.shift.protocol import QUICK_DATASETS
from surefoot_experiments.skeleton.run import find_data_folder
from surefoot_experiments.uncertainty.datasets import DATASETS, REGRESSION, Dataset

TABLES = {entry.name: entry for entry in DATASETS if entry.task == REGRESSION and entry.file.endswith(".parquet")}
WANTED = "boston.parquet, boston_splits.npz, concrete.parquet, ..."


@dataclass(frozen=True)
class Tables:
    """The folder of the data files, the datasets to run, and a hash of each file: results depend on its content."""

    folder: Path = Path()
    datasets: list[Dataset] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)

    @classmethod
    def find(cls, data: str | Path | None, names: Sequence[str] | None, quick: bool) -> "Tables":
        """Find the named datasets, which must exist; by default those of the nine (quick: three) that exist."""
        _check_names(names)
        folder = find_data_folder(data, WANTED)
        wanted = [TABLES[name] for name in TABLES if name in (names or (QUICK_DATASETS if quick else TABLES))]
        missing = [dataset for dataset in wanted if not dataset.is_in(folder)]
        if missing and (names or len(missing) == len(wanted)):
            absent = ", ".join(name for dataset in missing for name in dataset.files)
            raise DatasetMissingError(f"{folder} lacks {absent}: put the files there, or name another folder.")
        present = [dataset for dataset in wanted if dataset not in missing]
        files = [folder / name for dataset in present for name in dataset.files]
        return cls(folder, present, {path.name: _hash(path) for path in files})


def _check_names(names: Sequence[str] | None) -> None:
    unknown = [name for name in names or () if name not in TABLES]
    if unknown or names == []:
        wrong = f"there is no dataset {unknown[0]!r}" if unknown else "datasets names none"
        raise ParameterError(f"{wrong}; there is {', '.join(TABLES)}.")


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
