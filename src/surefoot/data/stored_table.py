"""A table that was read once from files into a folder of binned shards: training needs no more of it in memory."""

import shutil
import tempfile
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import Any

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._parallel import row_blocks
from surefoot.data.arrow_columns import CHANGED
from surefoot.data.binner import MAX_BINS, Binner
from surefoot.data.columns import Schema
from surefoot.data.packed_words import unpack_column
from surefoot.data.record_batches import RecordBatches
from surefoot.data.stored_target import StoredTarget
from surefoot.data.table_folder import binner_from_json, categories_name, read_manifest, schema_from_json, words_name
from surefoot.data.table_writer import WEIGHTS, StorageSettings, Y, store_table

SHARD_ROWS = 64 << 14  # a multiple of the rows in a block of ``trees``


@dataclass(frozen=True)
class StoredShard:
    """Some consecutive rows of a stored table."""

    first_row: int
    stop_row: int
    path: Path

    @property
    def n_rows(self) -> int:
        return self.stop_row - self.first_row

    def words(self) -> np.ndarray:
        """The codes of the rows, eight columns in a word: (groups, rows), mapped to memory."""
        return _mapped(self.path)


def _mapped(path: Path) -> np.ndarray:
    """An array in a file: only pages in use take memory.

    What is written to the array does not reach the file: kernels would be compiled once more for an array that cannot
    be written.
    """
    return np.asarray(np.load(path, mmap_mode="c"))


class StoredTable:
    """The bins of a table in a folder, and what training needs to know of all its rows.

    Made by ``read``, or by ``open`` from a folder that was kept. Leaving its ``with`` block, or ``close``, removes a
    folder that is not kept.

    Attributes
    ----------
    folder : Path
    schema : Schema
        All columns but the target and the weights.
    feature_names : array of str
    n_rows : int
    plain : tuple of int
        Positions of the columns in the words. The others have more categories than ``max_categories``.
    binner : Binner
        The bins of the columns ``plain``.
    has_missing : array of bool
        Whether each column of ``plain`` has missing values.
    target : StoredTarget or None
        The target: its values, or codes and labels.
    y : array or None
        The target as a column of a frame has it: labels are objects, None where missing.
    weights : array or None
    shards : list of StoredShard
    is_kept : bool
        Whether the folder remains after ``close``.
    """

    def __init__(self, folder: Path, is_kept: bool, batches: RecordBatches | None = None) -> None:
        """``batches`` are those that the folder was written from, if they are known."""
        manifest = read_manifest(folder)
        self.folder, self.is_kept, self._batches = folder, is_kept, batches
        self.source: dict[str, Any] = manifest["source"]
        self.n_rows: int = manifest["n_rows"]
        self.feature_names = np.array(manifest["names"], dtype=object)
        self.schema: Schema = schema_from_json(manifest["schema"])
        self.plain: tuple[int, ...] = tuple(manifest["plain"])
        self.binner: Binner = binner_from_json(manifest["binner"])
        self.has_missing = np.array(manifest["has_missing"], dtype=np.bool_)
        self.shards = [
            StoredShard(start, stop, folder / words_name(place))
            for place, (start, stop) in enumerate(row_blocks(self.n_rows, self.source["shard_rows"]))
        ]
        has_target, has_weights = (self.source[name] is not None for name in ("target", "weight"))
        self.target = StoredTarget(_mapped(folder / Y), manifest["labels"]) if has_target else None
        self.weights = _mapped(folder / WEIGHTS) if has_weights else None
        self._listed = frozenset(manifest["listed"])
        self._remove = None if is_kept else weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    @classmethod
    def read(
        cls,
        source: Any,
        *,
        target: str | None = None,
        weight: str | None = None,
        max_bins: int = MAX_BINS,
        max_categories: int | None = None,
        folder: Any = None,
        keep: bool = False,
        shard_rows: int = SHARD_ROWS,
        n_jobs: int | None = None,
        callback: Callable[[float, str], None] | None = None,
    ) -> "StoredTable":
        """Read a table batch by batch, and write its bins to a folder.

        The bins are those of the same table in memory. If reading fails or is stopped, nothing is left, and reading
        starts again the next time.

        Parameters
        ----------
        source : path, pyarrow.dataset.Dataset, callable or object with ``__arrow_c_stream__``
            A Parquet or Arrow file, a folder of Parquet files (read in the order of their names), a data set, a
            function that returns a new record batch reader, or anything else that gives a new stream every time.
            Columns of text and dictionaries are categories.
        target, weight : str or None, default=None
            Columns with the target and with the weights of the rows.
        max_bins : int, default=255
            Bins of each numeric column.
        max_categories : int or None, default=None
            Columns with more categories have no bins: only ``category_codes`` has them. None: all columns have bins.
        folder : path or None, default=None
            A new folder; None: one in the system's folder for temporary files. If it is a stored table of the same
            files and settings, it is used again.
        keep : bool, default=False
            Whether the folder remains after ``close``.
        shard_rows : int, default=1_048_576
            Rows in a file.
        n_jobs : int or None, default=None
            Threads.
        callback : callable or None, default=None
            Called with the fraction of the work that is done and the name of the current step.

        Returns
        -------
        table : StoredTable
        """
        batches = RecordBatches.of(source)
        settings = StorageSettings(target, weight, max_bins, max_categories, shard_rows)
        if folder is None and keep:
            raise ParameterError("keep=True needs a folder: name one.", argument="folder")
        name = Path(tempfile.gettempdir(), f"surefoot-{token_hex(8)}") if folder is None else Path(folder)
        if name.exists() and not (name.is_dir() and not any(name.iterdir())):
            return cls._of_same_source(name, settings, batches)
        if not name.resolve().parent.is_dir():
            raise DataError(f"There is no folder {name.parent}: make it first.", argument="folder")
        store_table(batches, settings, name, n_jobs, callback)
        return cls(name, keep, batches)

    @classmethod
    def open(cls, folder: Any) -> "StoredTable":
        """A table that was stored before, in a folder that was kept."""
        return cls(Path(folder), is_kept=True)

    @classmethod
    def _of_same_source(cls, folder: Path, settings: StorageSettings, batches: RecordBatches) -> "StoredTable":
        """The table in a folder that exists, if it is one of the same files and settings."""
        stored, source = read_manifest(folder)["source"], settings.of_source(batches)
        if source["files"] is None:
            reason = "X is not in files, so it cannot be compared with the table in it"
        else:
            other = [name for name in source if stored.get(name) != source[name]]
            reason = f"it was written from other data or settings ({', '.join(other)})" if other else ""
        if reason:
            message = f"{folder} exists, and {reason}: remove it, or name a new folder."
            raise DataError(message, argument="folder")
        return cls(folder, True, batches)

    @property
    def max_bins(self) -> int:
        """Bins of each numeric column, at most."""
        return int(self.source["max_bins"])

    @property
    def max_categories(self) -> int | None:
        """Columns with more categories have no bins; None: all columns have bins."""
        stored: int | None = self.source["max_categories"]
        return stored

    def settings_with(self, max_categories: int | None) -> StorageSettings:
        """The settings of the table, with another ``max_categories``."""
        names = ("target", "weight", "max_bins", "shard_rows")
        return StorageSettings(**{name: self.source[name] for name in names}, max_categories=max_categories)

    def reread(self) -> RecordBatches:
        """What the table was read from, to read it once more; it must not have changed."""
        if self._batches is None:
            raise DataError(
                "X was opened from a folder of bins, and this fit reads the values of some rows too: make X with "
                "StoredTable.read of the files and this folder, which uses the folder again.",
                argument="X",
            )
        if self._batches.fingerprint != self.source["files"]:
            raise DataError(CHANGED, argument="X")
        return self._batches

    @cached_property
    def y(self) -> np.ndarray | None:
        """The target as a column of a frame has it."""
        return None if self.target is None else self.target.raw()

    @property
    def missing(self) -> np.ndarray:
        """The code of missing values of every column of ``plain``."""
        return self.binner.missing

    @property
    def is_categorical(self) -> np.ndarray:
        """Whether each column of ``plain`` is categorical."""
        return np.array([edge is None for edge in self.binner.edges], dtype=np.bool_)

    def codes(self, place: int) -> np.ndarray:
        """The codes of a column of ``plain`` in all rows."""
        return np.concatenate([unpack_column(shard.words(), place) for shard in self.shards])

    def category_codes(self, j: int) -> np.ndarray:
        """The categories of column ``j`` in all rows, as ``Columns.category_codes`` has them (int32)."""
        if j in self._listed:
            return _mapped(self.folder / categories_name(j))
        place = self.plain.index(j)
        codes = self.codes(place).astype(np.int32)  # NumPy 1 does not keep the type of a scalar
        return np.where(codes == self.missing[place], np.int32(-1), codes)

    def close(self) -> None:
        """Remove the folder, unless it is kept."""
        if self._remove is not None:
            self._remove()

    def __enter__(self) -> "StoredTable":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
