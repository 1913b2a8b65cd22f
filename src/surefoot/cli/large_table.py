"""Training data that need not fit in memory: a sample of its rows decides how its columns are read."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import DataError
from surefoot.cli.table_batches import has_value, is_read_in_batches, rows_with_value, take_from_batches
from surefoot.cli.table_file import PARQUET, require_target, suffix_of, take_target, with_kinds
from surefoot.data.arrow_columns import CATEGORY as TEXT_LABELS
from surefoot.data.arrow_columns import NUMBER as NUMBERS
from surefoot.data.arrow_columns import TEXT, cells_of, kind_of_type
from surefoot.data.binner import edge_sample
from surefoot.data.record_batches import RecordBatches
from surefoot.data.stored_table import StoredTable
from surefoot.report.inputs.column_readers import CATEGORY, DATE, MOSTLY, NUMBER, ColumnReader, DateReader
from surefoot.report.inputs.table import AuditTable, without_target
from surefoot.report.inputs.target import NUMBER_TYPES, Target
from surefoot.report.subject import ColumnNote

MAX_CELLS = 100_000_000  # of a single file that is read as a whole


def is_large(path: Path) -> bool:
    """Whether a table is read in batches for training: a folder, or a file with very many cells."""
    if not is_read_in_batches(path) or path.is_dir():
        return path.is_dir()
    if suffix_of(path) not in PARQUET:
        return path.stat().st_size > 8 * MAX_CELLS
    batches = RecordBatches.of(path)
    return (batches.n_rows or 0) * len(batches.names) > MAX_CELLS


@dataclass(frozen=True)
class LargeTable:
    """A table in batches, and how its columns are read.

    ``sample`` is the table of some of its rows (all, if there are at most 200,000): the notes on columns, and which of
    them are left out, are from these rows.
    """

    batches: RecordBatches
    target: str
    n_rows: int
    sample: AuditTable

    @classmethod
    def read(cls, path: Path, target: str, task: str | None = None) -> "LargeTable":
        """Read the sample; rows without a target are left out."""
        batches = RecordBatches.of(path)
        require_target(batches.names, target, path)
        has_target = rows_with_value(batches, target)
        rows = np.flatnonzero(has_target)
        if not len(rows):
            raise DataError(f"{path} has no row with a value of the target {target!r}.")
        frame = with_kinds(take_from_batches(batches, rows[edge_sample(len(rows))]), {}, path)
        with_target = replace(batches, n_rows=None, read=_rows_with(batches, target))
        sample = AuditTable.read(*take_target(frame, target, path), task)
        sample = replace(sample, remarks=without_target(len(has_target) - len(rows)))
        return cls(with_target, target, len(rows), _without_row_numbers(sample, len(rows)))

    @property
    def is_judged_by_sample(self) -> bool:
        """Whether the notes on columns are not from all rows."""
        return self.sample.n_rows < self.n_rows

    def store(self, **options: Any) -> StoredTable:
        """The bins of all rows, in a folder; ``options`` are those of ``StoredTable.read``."""
        stored = StoredTable.read(self.as_models_read, target=self.target, **options)
        names = [each.name for each in self.sample.readers]
        categories = [place for place, each in enumerate(self.sample.readers) if each.kind == CATEGORY]
        if names != stored.feature_names.tolist() or categories != list(stored.schema.categories):
            message = f"{stored.folder} was written with other options: remove it, or name a new folder."
            raise DataError(message, argument="folder")
        return stored

    def target_of(self, stored: StoredTable, task: str | None = None) -> Target:
        """The target of all rows: classes or numbers, detected as in a table in memory."""
        kept = stored.target
        assert kept is not None
        labels = None if kept.labels is None else np.array(kept.labels)
        if labels is None or labels.dtype.kind in NUMBER_TYPES:
            values = kept.values if labels is None else labels[kept.values]
            target, _ = Target.read(values, len(values), task)
            return replace(target, name=self.target)
        target, _ = Target.read(labels, len(labels), task)  # the distinct labels show what text is
        return replace(target, name=self.target, y=target.y[kept.values], original=np.empty(0, dtype=object))

    def read_target(self, task: str | None = None) -> Target:
        """The target of all rows, read into memory."""
        import pandas as pd

        parts = [batch.column(0).to_pandas() for batch in self.batches.batches([self.target])]
        target, _ = Target.read(pd.concat(parts, ignore_index=True), self.n_rows, task)  # types may differ by file
        return replace(target, name=self.target)

    @cached_property
    def as_models_read(self) -> RecordBatches:
        """Batches with the columns of the sample, as numbers and text, and the target."""
        import pyarrow as pa

        fields = [
            pa.field(each.name, pa.large_string() if each.kind == CATEGORY else pa.float64())
            for each in self.sample.readers
        ]

        def read(names: list[str], size: int) -> Iterator[Any]:
            readers = {each.name: each for each in self.sample.readers}
            dates = {name: DateReader(name) for name, each in readers.items() if each.kind == DATE and name in names}
            for batch in self.batches.batches(names):
                cells = [read_cells_of(batch.column(name), dates.get(name) or readers.get(name)) for name in names]
                yield pa.RecordBatch.from_arrays(cells, names=names)
            for reader in dates.values():
                reader.check()

        schemas = [pa.schema([*fields, schema.field(self.target)]) for schema in self.batches.schemas]
        return replace(self.batches, schemas=schemas, read=read, n_rows=self.n_rows)


def _without_row_numbers(sample: AuditTable, n_rows: int) -> AuditTable:
    """The table without columns that number all rows: in a sample, their values are not consecutive."""
    found = {reader.name for reader in sample.readers if _are_row_numbers(sample.frame[reader.name], n_rows)}
    if len(found) in (0, len(sample.readers)):
        return sample
    sentence = "Nearly every row has a different value, like a name or a row number: left out."
    return replace(
        sample,
        frame=sample.frame.drop(columns=list(found)),
        readers=tuple(reader for reader in sample.readers if reader.name not in found),
        notes=(*sample.notes, *(ColumnNote(name, "identifier", sentence, used=False) for name in sorted(found))),
    )


def _are_row_numbers(values: Any, n_rows: int) -> bool:
    """Whether values of a sample are distinct whole numbers, in a range that the rows of the table nearly fill."""
    numbers = values.to_numpy() if values.dtype.kind == "f" else np.empty(0)
    is_whole = len(numbers) > 0 and len(numbers) < n_rows and bool((numbers == np.floor(numbers)).all())
    return is_whole and len(np.unique(numbers)) == len(numbers) and bool(np.ptp(numbers) <= n_rows / MOSTLY)


def _rows_with(batches: RecordBatches, target: str) -> Callable[[list[str], int], Iterator[Any]]:
    """Passes over the rows that have a target."""
    import pyarrow as pa

    def read(names: list[str], size: int) -> Iterator[Any]:
        for batch in batches.batches([*names, target] if target not in names else names):
            known = has_value(batch.column(batch.schema.get_field_index(target)))
            yield batch if known.all() else batch.filter(pa.array(known))

    return read


def read_cells_of(column: Any, reader: ColumnReader | DateReader | None) -> Any:
    """A column as models read it; the target, which has no reader, stays as it is."""
    import pyarrow as pa

    if reader is None:
        return column
    kind, given = DATE if isinstance(reader, DateReader) else reader.kind, kind_of_type(column.type)
    if kind == NUMBER and given == NUMBERS:
        numbers = cells_of(column).astype(np.float64)
        return pa.array(np.where(np.isinf(numbers), np.nan, numbers))
    if kind == CATEGORY and given in (TEXT, TEXT_LABELS):
        return column.cast(pa.large_string())
    frame = with_kinds(pa.table({reader.name: column}).to_pandas(), {reader.name: kind}, Path())
    values = reader.read(frame[reader.name])
    return pa.array(values.astype(object) if kind == CATEGORY else values, from_pandas=True)
