"""Readers of the original data files, in the formats in which they are published."""

import zlib
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import DataError

HIGGS_ROWS = 300_000  # the paper uses the first 300,000 of eleven million rows


def read_pima(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """``pima-indians-diabetes.csv``: no header, eight numbers, then 1 for diabetes or 0."""
    numbers = _read_numbers(path, 9, sep=",")
    return numbers[:, :-1], to_signs(numbers[:, -1], 0, 1, path)


def read_higgs(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """``HIGGS.csv``: no header, 1 for signal or 0 for background, then 28 numbers; the first 300,000 rows."""
    numbers = _read_numbers(path, 29, sep=",", nrows=HIGGS_ROWS)
    return numbers[:, 1:], to_signs(numbers[:, 0], 0, 1, path)


def read_covertype(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """``covtype.data``: no header, 54 numbers, then the cover type 1 to 7; only the rows of types 1 and 2."""
    numbers = _read_numbers(path, 55, sep=",")
    return keep_two_types(numbers[:, :-1], numbers[:, -1], path)


def read_miniboone(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """``MiniBooNE_PID.txt``: the numbers of signal and background rows, then these rows, 50 numbers each."""
    with path.open(encoding="ascii", errors="replace") as file:
        counts = file.readline().split()
    if len(counts) != 2 or not all(count.isdigit() for count in counts):
        raise DataError(f"{path}: the first line must hold two counts (signal and background rows). Download it again.")
    n_signal, n_background = map(int, counts)
    numbers = _read_numbers(path, 50, sep=r"\s+", skiprows=1)
    if len(numbers) != n_signal + n_background:
        raise DataError(
            f"{path}: has {len(numbers)} rows, but its first line says {n_signal + n_background}. Download it again."
        )
    return numbers, np.repeat(np.array([1, -1]), [n_signal, n_background])


def read_year(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """``YearPredictionMSD.txt``: no header, the year, then 90 numbers."""
    numbers = _read_numbers(path, 91, sep=",")
    return numbers[:, 1:], numbers[:, 0].astype(np.float64)


def read_ct_slices(path: Path) -> np.ndarray:
    """``slice_localization_data.csv``: a header, the patient, 384 numbers, the location; only the 384 numbers."""
    return _read_numbers(path, 386, sep=",", skiprows=1)[:, 1:-1]


def read_parquet(path: Path, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
    """A Parquet file with the label in column ``target``; only the rows with label ``low`` (-1) or ``high`` (+1)."""
    frame = read_frame(path)
    if "target" not in frame.columns:
        raise DataError(f"{path}: has no column 'target'.")
    numbers = frame.drop(columns="target").to_numpy(np.float32)
    return _keep_two(numbers, frame["target"].to_numpy(), low, high, path)


def read_frame(path: Path) -> Any:
    """Read a Parquet file."""
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as Parquet ({_first_line(error)}).") from error


def keep_two_types(X: np.ndarray, types: np.ndarray, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The rows of cover types 1 and 2, the two most common; the paper leaves the others out."""
    if not np.isin(types, np.arange(1, 8)).all():
        raise DataError(f"{path}: the last column must hold cover types 1 to 7.")
    return _keep_two(X, types, 1, 2, path)


def to_signs(labels: np.ndarray, low: int, high: int, path: Path) -> np.ndarray:
    """Map the labels ``low`` and ``high`` to -1 and +1; refuse any other label."""
    if not np.isin(labels, (low, high)).all():
        raise DataError(f"{path}: labels must be {low} or {high}. Is this the original file?")
    return np.where(labels == high, 1, -1)


def _keep_two(X: np.ndarray, labels: np.ndarray, low: int, high: int, path: Path) -> tuple[np.ndarray, np.ndarray]:
    kept = np.isin(labels, (low, high))
    return X[kept], to_signs(labels[kept], low, high, path)


def _read_numbers(path: Path, n_columns: int, **options: Any) -> np.ndarray:
    import pandas as pd

    try:
        frame = pd.read_csv(path, header=None, dtype=np.float32, **options)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read as a table of numbers ({_first_line(error)}).") from error
    if frame.shape[1] != n_columns:
        raise DataError(f"{path}: has {frame.shape[1]} columns, {n_columns} expected. Is this the original file?")
    numbers = frame.to_numpy()
    if np.isnan(numbers).any():
        raise DataError(f"{path}: has incomplete rows. Download it again.")
    return numbers


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
