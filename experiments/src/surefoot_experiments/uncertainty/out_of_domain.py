"""Out-of-domain rows: rows of another table, made to look like rows of this one.

Numerical columns are standardized and rescaled to the mean and variance of the training rows; categories are drawn
uniformly from those of the training rows. The paper draws from Year MSD, and for the KDD tasks from CT slices; without
CT slices the KDD tasks use Year MSD too. The second set, from Higgs, is ours. Rows are drawn with replacement, because
only a small part of Year MSD may be available. If a table has more columns than the source, the columns of the source
are used again, with newly drawn rows.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from surefoot_experiments import originals
from surefoot_experiments.exceptions import DatasetMissingError
from surefoot_experiments.uncertainty.datasets import Dataset

NEEDS_CT = ("appetency", "churn", "upselling", "year")


@dataclass(frozen=True, eq=False)
class OutOfDomainSource:
    """A table to draw from, and its possible files, of which the first existing one is read."""

    title: str
    files: dict[str, Callable[[Path], np.ndarray]]

    def find(self, folder: Path) -> Path | None:
        return next((folder / name for name in self.files if (folder / name).is_file()), None)


def _columns(read: Callable[[Path], tuple[np.ndarray, np.ndarray]]) -> Callable[[Path], np.ndarray]:
    """Make a reader that leaves out the labels."""
    return lambda path: read(path)[0]


def _frame_columns(path: Path) -> np.ndarray:
    return originals.read_frame(path).drop(columns="target").to_numpy(np.float64)


YEAR = OutOfDomainSource(
    "Year MSD", {"YearPredictionMSD.txt": _columns(originals.read_year), "year_msd_head1176.parquet": _frame_columns}
)
CT_SLICES = OutOfDomainSource("CT slices", {"slice_localization_data.csv": originals.read_ct_slices})
HIGGS = OutOfDomainSource(
    "Higgs",
    {
        "HIGGS.csv": _columns(originals.read_higgs),
        "HIGGS.csv.gz": _columns(originals.read_higgs),
        "higgs_56k.parquet": _columns(partial(originals.read_parquet, low=0, high=1)),
    },
)


def check_sources(folder: Path) -> dict[str, str]:
    """The files of the out-of-domain rows, by title; CT slices may be missing, the other files not."""
    paths = {source.title: source.find(folder) for source in (YEAR, HIGGS, CT_SLICES)}
    for source in (YEAR, HIGGS):
        if paths[source.title] is None:
            raise DatasetMissingError(
                f"{folder} lacks {' or '.join(source.files)}, the source of the out-of-domain rows: put it there."
            )
    return {title: path.name for title, path in paths.items() if path is not None}


def sources_for(dataset: Dataset, folder: Path) -> tuple[OutOfDomainSource, OutOfDomainSource]:
    """The sources of the first and the second set of rows."""
    if dataset.name in NEEDS_CT and CT_SLICES.find(folder) is not None:
        return CT_SLICES, HIGGS
    return (HIGGS if dataset.name == "year" else YEAR), HIGGS


@lru_cache(maxsize=4)
def read_standardized(source: OutOfDomainSource, folder: Path) -> np.ndarray:
    """The source's columns with mean 0 and variance 1; constant columns are left out."""
    path = source.find(folder)
    assert path is not None, source.title
    numbers = source.files[path.name](path).astype(np.float64)
    spread = numbers.std(axis=0)
    varied = spread > 0
    return (numbers[:, varied] - numbers[:, varied].mean(axis=0)) / spread[varied]


def draw_rows(X: Any, n_rows: int, source: np.ndarray, seed: tuple[int, str, int]) -> Any:
    """Draw out-of-domain rows with the columns of the training table ``X``; ``seed`` is (split, dataset, set)."""
    import pandas as pd

    split, name, which = seed
    rng = np.random.default_rng([split, zlib.crc32(name.encode()), which])
    is_category = [isinstance(kind, pd.CategoricalDtype) for kind in X.dtypes]
    numbers = iter(_draw_numbers(len(is_category) - sum(is_category), n_rows, source, rng).T)
    columns = {
        column: _draw_categories(X[column], n_rows, rng) if category else _rescaled(next(numbers), X[column])
        for column, category in zip(X.columns, is_category, strict=True)
    }
    return pd.DataFrame(columns)


def _draw_numbers(n_columns: int, n_rows: int, source: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw rows of the source, several times if it has too few columns."""
    times = -(-n_columns // source.shape[1])
    blocks = [source[rng.integers(len(source), size=n_rows)] for _ in range(times)]
    return np.concatenate(blocks, axis=1)[:, :n_columns] if blocks else np.empty((n_rows, 0))


def _rescaled(values: np.ndarray, column: Any) -> np.ndarray:
    numbers = column.astype(np.float64)
    return values * numbers.std(ddof=0) + numbers.mean()


def _draw_categories(column: Any, n_rows: int, rng: np.random.Generator) -> Any:
    import pandas as pd

    seen = np.unique(column.cat.codes[column.notna()])
    codes = rng.choice(seen, n_rows) if len(seen) else np.full(n_rows, -1)
    return pd.Categorical.from_codes(codes, dtype=column.dtype)
