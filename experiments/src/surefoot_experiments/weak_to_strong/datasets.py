"""The tables of the weak-to-strong experiment: where they may lie, and how they are found and read."""

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
class Source:
    """A table of the paper and the files it may be read from: the first that is there, originals before parts."""

    name: str
    title: str
    paper_rows: int
    large: bool
    files: dict[str, Reader]
    required: bool = True


@dataclass(frozen=True)
class Table:
    """A table as read: labels are -1 and +1."""

    source: Source
    file: str
    X: np.ndarray
    y: np.ndarray

    @property
    def is_partial(self) -> bool:
        return len(self.y) < self.source.paper_rows


SOURCES = (
    Source(
        "higgs", "Higgs", 300_000, True,
        {
            "HIGGS.csv": originals.read_higgs,
            "HIGGS.csv.gz": originals.read_higgs,
            "higgs_56k.parquet": partial(originals.read_parquet, low=0, high=1),
        },
    ),
    Source("boone", "MiniBooNE", 130_064, True, {"MiniBooNE_PID.txt": originals.read_miniboone}, required=False),
    Source(
        "covertype", "Forest cover", 495_141, True,
        {
            "covtype.data": originals.read_covertype,
            "covtype.data.gz": originals.read_covertype,
            "covertype_177k.parquet": partial(originals.read_parquet, low=1, high=2),
        },
    ),
    Source(
        "pima", "Diabetes (Pima)", 768, False,
        {
            "pima-indians-diabetes.csv": originals.read_pima,
            "pima.parquet": partial(originals.read_parquet, low=0, high=1),
        },
    ),
)  # fmt: skip


def data_folder(given: str | Path | None) -> Path:
    """The folder of the data files: ``given``, or else what the environment variable SUREFOOT_DATA says."""
    return find_data_folder(given, _wanted())


def load_tables(folder: Path) -> tuple[list[Table], list[Source]]:
    """The tables, and the sources that are not at hand; raises if a required one is missing, before reading any."""
    found = {source.name: _find(source, folder) for source in SOURCES}
    missing = [source for source in SOURCES if found[source.name] is None]
    required = [source for source in missing if source.required]
    if required:
        raise DatasetMissingError(f"{folder} lacks {_wanted(required)}: put the files there, or name another folder.")
    files = ((source, found[source.name]) for source in SOURCES)
    return [_read(source, path) for source, path in files if path is not None], missing


def _find(source: Source, folder: Path) -> Path | None:
    paths = (folder / name for name in source.files)
    return next((path for path in paths if path.is_file()), None)


def _read(source: Source, path: Path) -> Table:
    X, y = source.files[path.name](path)
    if min((y < 0).sum(), (y > 0).sum()) < 2:
        raise DataError(f"{path}: needs at least two rows of each class.")
    return Table(source, path.name, X, y)


def _wanted(sources: list[Source] | None = None) -> str:
    """The file names that will do, for an error message."""
    required = [source for source in SOURCES if source.required] if sources is None else sources
    return ", ".join(" or ".join(source.files) for source in required)
