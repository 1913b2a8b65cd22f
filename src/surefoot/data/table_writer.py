"""Write the bins of a table to a folder, batch by batch."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot._atomic_io import whole_folder
from surefoot._exceptions import DataError, ParameterError
from surefoot._parallel import RowThreads, threads_for
from surefoot.data.arrow_columns import CHANGED
from surefoot.data.binner import MAX_BINS, Binner
from surefoot.data.category_codes import MAX_CATEGORIES
from surefoot.data.columns import Schema
from surefoot.data.packed_words import count_groups, pack_codes
from surefoot.data.record_batches import RecordBatches, release_unused_memory
from surefoot.data.stored_target import StoredTarget
from surefoot.data.table_folder import (
    ArrayFile,
    WordFiles,
    binner_as_json,
    categories_name,
    room_for,
    schema_as_json,
    write_manifest,
)
from surefoot.data.table_passes import CODES_PASS, RARE_PASS, ROWS_PASS, VALUES_PASS, TablePasses

Y, WEIGHTS = "y.npy", "weights.npy"
STEPS = {  # of each pass, the part of the whole work
    ROWS_PASS: (0.0, 0.05),
    VALUES_PASS: (0.05, 0.45),
    RARE_PASS: (0.45, 0.5),
    CODES_PASS: (0.5, 1.0),
}


@dataclass(frozen=True)
class StorageSettings:
    """What the files of a stored table depend on, apart from the source."""

    target: str | None
    weight: str | None
    max_bins: int
    max_categories: int | None
    shard_rows: int

    def __post_init__(self) -> None:
        if not 2 <= self.max_bins <= MAX_BINS:
            message = f"max_bins must be from 2 to {MAX_BINS}, because a code is a byte; got {self.max_bins}."
            raise ParameterError(message, argument="max_bins")
        if self.shard_rows < 1:
            raise ParameterError(f"shard_rows must be at least 1, got {self.shard_rows}.", argument="shard_rows")

    def plain_columns(self, schema: Schema) -> tuple[int, ...]:
        """The columns whose codes are stored in words."""
        limit = self.max_categories
        many = {j for j, labels in schema.categories.items() if limit is not None and len(labels) > limit}
        return tuple(j for j in range(schema.n_columns) if j not in many)

    def of_source(self, batches: RecordBatches) -> dict[str, Any]:
        """What identifies a stored table: the settings and the state of the files."""
        return {**asdict(self), "dates": batches.dates_as_days, "files": batches.fingerprint}


@dataclass(frozen=True)
class StoredBins:
    """How the cells of a table become codes.

    ``listed`` are the columns with a file of all their categories: the words do not tell rare categories apart, nor
    those of rows without weight from missing ones.
    """

    schema: Schema
    plain: tuple[int, ...]
    listed: tuple[int, ...]
    binner: Binner

    @classmethod
    def fit(cls, passes: TablePasses, settings: StorageSettings, threads: RowThreads) -> "StoredBins":
        """Read the values of a table, and find the edges of bins and the categories."""
        sample = passes.read_values(threads)
        schema = passes.schema(sample)
        plain = settings.plain_columns(schema)
        edges = passes.edges(sample, settings.max_bins, threads)
        categories = {k: schema.categories[j] for k, j in enumerate(plain) if j in schema.categories}
        binner = Binner.from_edges([edges[j] for j in plain], Schema(len(plain), categories))
        listed = tuple(
            j
            for j, labels in sorted(schema.categories.items())
            if j not in plain or len(labels) > MAX_CATEGORIES or passes.weights is not None
        )
        return cls(schema=schema, plain=plain, listed=listed, binner=binner)

    def as_json(self) -> dict[str, Any]:
        """The bins for a manifest."""
        return {
            "schema": schema_as_json(self.schema),
            "plain": list(self.plain),
            "listed": list(self.listed),
            "binner": binner_as_json(self.binner),
        }


def store_table(
    batches: RecordBatches,
    settings: StorageSettings,
    folder: Path,
    n_jobs: int | None,
    callback: Callable[[float, str], None] | None,
) -> None:
    """Read a table and write its bins to ``folder``, which appears when it is complete."""
    source = settings.of_source(batches)
    passes = TablePasses(batches, settings.target, settings.weight, _fractions(callback))
    target = passes.read_rows()
    n_cells = passes.n_rows * len(passes.names)
    with (
        room_for(folder.resolve().parent, _count_bytes(passes)),
        whole_folder(folder) as temporary,
        RowThreads(threads_for(n_jobs, n_cells)) as threads,
    ):
        labels = None if target is None else target.labels
        _write_rows(Path(temporary), target, passes.weights)
        del target  # its memory is for the values of columns now
        bins = StoredBins.fit(passes, settings, threads)
        has_missing = _write_codes(Path(temporary), passes, bins, settings.shard_rows, threads)
        release_unused_memory()
        if settings.of_source(batches) != source:
            raise DataError(CHANGED, argument="X")
        manifest = {
            "source": source,
            "names": passes.names,
            "n_rows": passes.n_rows,
            "labels": labels,
            "has_missing": has_missing.tolist(),
            **bins.as_json(),
        }
        write_manifest(Path(temporary), manifest)
    if callback is not None:
        callback(1.0, "the table is read")


def _count_bytes(passes: TablePasses) -> int:
    """How much the files of a table need at most."""
    return passes.n_rows * (8 * count_groups(len(passes.names)) + 4 * len(passes.labels) + 16)


def _fractions(callback: Callable[[float, str], None] | None) -> Callable[[int, int | None, str], None]:
    """A callback for passes, which calls that of the user with a fraction of the whole work."""

    def show(n_read: int, n_rows: int | None, step: str) -> None:
        if callback is not None:
            start, stop = STEPS[step]
            callback(start + (stop - start) * (n_read / n_rows if n_rows else 0.0), step)

    return show


def _write_codes(
    folder: Path, passes: TablePasses, bins: StoredBins, shard_rows: int, threads: RowThreads
) -> np.ndarray:
    """Write the words and the codes of categories of all rows; return which columns have missing values."""
    has_missing = np.zeros(len(bins.plain), dtype=np.bool_)
    with ExitStack() as files:
        words = WordFiles(folder, passes.n_rows, count_groups(len(bins.plain)), shard_rows)
        listed = {j: ArrayFile(folder / categories_name(j), (passes.n_rows,), np.int32) for j in bins.listed}
        files.callback(words.close)
        for file in listed.values():
            files.callback(file.close)
        for start, columns in passes.tables(bins.schema):
            codes = bins.binner.codes(columns.select(bins.plain), threads)
            has_missing |= (codes == bins.binner.missing[:, np.newaxis]).any(axis=1)
            words.write(start, pack_codes(codes))
            for j, file in listed.items():
                file.write(start, columns.category_codes(j))
    return has_missing


def _write_rows(folder: Path, target: StoredTarget | None, weights: np.ndarray | None) -> None:
    if target is not None:
        np.save(folder / Y, target.values, allow_pickle=False)
    if weights is not None:
        np.save(folder / WEIGHTS, weights, allow_pickle=False)
