"""The tables of the weak-to-strong experiment: their possible files, and how they are read."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from surefoot import DataError
from surefoot_experiments import originals
from surefoot_experiments.exceptions import DatasetMissingError
from surefoot_experiments.skeleton.run import find_data_folder

Reader = Callable[[Path], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper and its possible files, originals before parts; the first existing file is read."""

    name: str
    title: str
    paper_rows: int
    large: bool
    files: dict[str, Reader]
    required: bool = True


@dataclass(frozen=True)
class LoadedTable:
    """A table in memory, with labels -1 and +1."""

    source: PaperTable
    file: str
    X: np.ndarray
    y: np.ndarray

    @property
    def is_partial(self) -> bool:
        return len(self.y) < self.source.paper_rows


SOURCES = (
    PaperTable(
        name="higgs",
        title="Higgs",
        paper_rows=300_000,
        large=True,
        files={
            "HIGGS.csv": originals.read_higgs,
            "HIGGS.csv.gz": originals.read_higgs,
            "higgs_56k.parquet": partial(originals.read_parquet, low=0, high=1),
        },
    ),
    PaperTable(
        name="boone",
        title="MiniBooNE",
        paper_rows=130_064,
        large=True,
        files={"MiniBooNE_PID.txt": originals.read_miniboone},
        required=False,
    ),
    PaperTable(
        name="covertype",
        title="Forest cover",
        paper_rows=495_141,
        large=True,
        files={
            "covtype.data": originals.read_covertype,
            "covtype.data.gz": originals.read_covertype,
            "covertype_177k.parquet": partial(originals.read_parquet, low=1, high=2),
        },
    ),
    PaperTable(
        name="pima",
        title="Diabetes (Pima)",
        paper_rows=768,
        large=False,
        files={
            "pima-indians-diabetes.csv": originals.read_pima,
            "pima.parquet": partial(originals.read_parquet, low=0, high=1),
        },
    ),
)


def data_folder(given: str | Path | None) -> Path:
    """The folder of the data files: ``given``, or else the value of the environment variable SUREFOOT_DATA."""
    return find_data_folder(given, _file_names())


def load_tables(folder: Path) -> tuple[list[LoadedTable], list[PaperTable]]:
    """The tables, and the missing ones; raises an error before reading any if a required table is missing."""
    paths = [(source, _find(source, folder)) for source in SOURCES]
    missing = [source for source, path in paths if path is None]
    required = [source for source in missing if source.required]
    if required:
        raise DatasetMissingError(
            f"{folder} lacks {_file_names(required)}: put the files there, or name another folder."
        )
    return [_read(source, path) for source, path in paths if path is not None], missing


def _find(source: PaperTable, folder: Path) -> Path | None:
    paths = (folder / name for name in source.files)
    return next((path for path in paths if path.is_file()), None)


def _read(source: PaperTable, path: Path) -> LoadedTable:
    X, y = source.files[path.name](path)
    if min((y < 0).sum(), (y > 0).sum()) < 2:
        raise DataError(f"{path}: needs at least two rows of each class.")
    return LoadedTable(source=source, file=path.name, X=X, y=y)


def _file_names(sources: list[PaperTable] | None = None) -> str:
    """The possible file names, for an error message."""
    required = [source for source in SOURCES if source.required] if sources is None else sources
    return ", ".join(" or ".join(source.files) for source in required)
