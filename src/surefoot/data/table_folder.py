"""The folder of a stored table: a manifest, the shards of its words, and one file for each further array."""

import errno
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot.data.bin_edges import BinEdges
from surefoot.data.binner import Binner
from surefoot.data.columns import Schema

VERSION = 1
MANIFEST = "manifest.json"
FULL = {errno.ENOSPC, errno.EDQUOT} if hasattr(errno, "EDQUOT") else {errno.ENOSPC}


class ArrayFile:
    """A .npy file that is written some rows at a time: a table (lines, rows), or one line.

    It is not mapped to memory while it is written: written pages would count as memory, and a full disk would end the
    process.
    """

    def __init__(self, path: Path, shape: tuple[int, ...], dtype: type) -> None:
        self._n_rows, self._dtype = shape[-1], np.dtype(dtype)
        self._file = open(path, "wb")  # noqa: SIM115
        header = {"descr": np.lib.format.dtype_to_descr(self._dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, header)
        self._start = self._file.tell()

    def write(self, first_row: int, lines: np.ndarray) -> None:
        """Write the rows from ``first_row`` on of every line."""
        for place, line in enumerate(np.atleast_2d(lines)):
            self._file.seek(self._start + (place * self._n_rows + first_row) * self._dtype.itemsize)
            self._file.write(np.ascontiguousarray(line, dtype=self._dtype).data)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class WordFiles:
    """The words (groups, rows) of a table, in a file for every ``shard_rows`` rows."""

    def __init__(self, folder: Path, n_rows: int, n_groups: int, shard_rows: int) -> None:
        self._folder, self._n_rows, self._n_groups, self._shard_rows = folder, n_rows, n_groups, shard_rows
        self._file: ArrayFile | None = None

    def write(self, first_row: int, words: np.ndarray) -> None:
        """Write some rows; they follow those of the last call."""
        row = first_row
        while row < first_row + words.shape[1]:
            shard, place = divmod(row, self._shard_rows)
            if self._file is None or place == 0:
                self.close()
                n_rows = min(self._shard_rows, self._n_rows - row)
                self._file = ArrayFile(self._folder / words_name(shard), (self._n_groups, n_rows), np.uint64)
            start = row - first_row
            lines = words[:, start : start + self._shard_rows - place]
            self._file.write(place, lines)
            row += lines.shape[1]

    def close(self) -> None:
        """Close the file of the last shard."""
        if self._file is not None:
            self._file.close()
            self._file = None


def words_name(shard: int) -> str:
    """The name of the file with the words of a shard."""
    return f"words-{shard:05d}.npy"


def categories_name(j: int) -> str:
    """The name of the file with the codes of all categories of a column."""
    return f"categories-{j:05d}.npy"


@contextmanager
def room_for(folder: Path, n_bytes: int) -> Iterator[None]:
    """Check that a file system has room for a new folder; if it is full in spite of that, the error says so."""
    free = shutil.disk_usage(folder).free
    if free < n_bytes:
        message = f"The disk of {folder} has {free / 1e9:.1f} GB left, but {_needed(n_bytes)}."
        raise DataError(message, argument="folder")
    with error_if_full(folder, n_bytes):
        yield


@contextmanager
def error_if_full(folder: Path, n_bytes: int) -> Iterator[None]:
    """Say that the disk is full where the system does, and how much room was needed."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise DataError(f"The disk of {folder} is full, and {_needed(n_bytes)}.", argument="folder") from error


def _needed(n_bytes: int) -> str:
    return f"the bins of the table need {n_bytes / 1e9:.1f} GB: name a folder on a disk with more room"


def has_bins(folder: Path) -> bool:
    """Whether a folder has a complete stored table."""
    return (folder / MANIFEST).is_file()


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest, as the last file of a folder."""
    (folder / MANIFEST).write_text(json.dumps({"version": VERSION, **manifest}, allow_nan=False), encoding="utf-8")


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a stored table."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        is_known = manifest["version"] == VERSION
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(f"{folder} is not a stored table: name a new folder.", argument="folder") from error
    if not is_known:
        message = f"{folder} was written by another version of surefoot: remove it, or name a new folder."
        raise DataError(message, argument="folder")
    return dict(manifest)


def schema_as_json(schema: Schema) -> dict[str, Any]:
    """The columns as JSON; labels must be text, numbers or truth values."""
    for j, labels in schema.categories.items():
        if not all(isinstance(label, str | int | float) for label in labels):
            raise DataError(f"Column {j} of X has categories that are not text or numbers: make them text.")
    return {
        "n_columns": schema.n_columns,
        "categories": [[j, list(labels)] for j, labels in schema.categories.items()],
        "ranges": [[j, *limits] for j, limits in schema.ranges.items()],
        "dates": None if schema.dates is None else sorted(schema.dates),
    }


def schema_from_json(stored: Mapping[str, Any]) -> Schema:
    """The columns from a manifest."""
    return Schema(
        stored["n_columns"],
        {j: tuple(labels) for j, labels in stored["categories"]},
        ranges={j: (low, high) for j, low, high in stored["ranges"]},
        dates=None if stored["dates"] is None else frozenset(stored["dates"]),
    )


def binner_as_json(binner: Binner) -> dict[str, Any]:
    """The bins as JSON, in which every number keeps all its digits."""
    edges = [None if edge is None else [edge.low.tolist(), edge.high.tolist()] for edge in binner.edges]
    return {"edges": edges, "missing": binner.missing.tolist()}


def binner_from_json(stored: Mapping[str, Any]) -> Binner:
    """The bins from a manifest."""
    edges = [
        None if edge is None else BinEdges(np.array(edge[0], dtype=np.float64), np.array(edge[1], dtype=np.float64))
        for edge in stored["edges"]
    ]
    return Binner(edges, np.array(stored["missing"], dtype=np.int64))
