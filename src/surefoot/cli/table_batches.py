"""Tables that need not fit in memory: Parquet and Arrow files, and folders of Parquet files, batch by batch."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import DataError
from surefoot.cli.table_file import ARROW, PARQUET, suffix_of, with_kinds
from surefoot.data import arrow_columns
from surefoot.data.arrow_columns import kind_of_type
from surefoot.data.record_batches import RecordBatches
from surefoot.report.inputs.column_readers import DATE, NUMBER, ColumnReader, DateReader


def is_read_in_batches(path: Path) -> bool:
    """Whether a table can be read batch by batch: text cannot, because its columns have no types."""
    return path.is_dir() or (path.is_file() and suffix_of(path) in PARQUET | ARROW)


def kinds_of_types(batches: RecordBatches, names: Iterable[str]) -> dict[str, str]:
    """The kinds of those columns that are numbers or dates by their types in all files."""
    kinds = {}
    for name in names:
        found = {kind_of_type(schema.field(name).type) for schema in batches.schemas}
        if found in ({arrow_columns.NUMBER}, {arrow_columns.DATE}):
            kinds[name] = NUMBER if arrow_columns.NUMBER in found else DATE
    return kinds


def read_batches(batches: RecordBatches, kinds: Mapping[str, str], path: Path) -> Iterator[Any]:
    """The columns of a table whose ``kinds`` are known, as one pandas frame for each batch; none is empty."""
    import pyarrow as pa

    readers = {name: DateReader(name) if kind == DATE else ColumnReader(name, kind) for name, kind in kinds.items()}
    is_empty = True
    for batch in batches.batches(list(kinds)):
        is_empty = False
        yield read_rows(with_kinds(pa.Table.from_batches([batch]).to_pandas(), kinds, path), readers)
    if is_empty:
        raise DataError(f"{path} has no rows.")
    for reader in readers.values():
        if isinstance(reader, DateReader):
            reader.check()


def read_rows(frame: Any, readers: Mapping[str, ColumnReader | DateReader]) -> Any:
    """Rows as models read them, from the columns that have readers."""
    import pandas as pd

    return pd.DataFrame({name: reader.read(frame[name]) for name, reader in readers.items()})


def require_columns(names: Iterable[str], given: Iterable[str], path: Path) -> None:
    """Raise an error if a table lacks columns that a model was fitted to."""
    known = set(given)
    missing = [name for name in names if name not in known]
    if missing:
        raise DataError(f"{path} lacks the columns {', '.join(map(repr, missing))}, which the model was fitted to.")


def rows_with_value(batches: RecordBatches, name: str) -> np.ndarray:
    """Which rows of a table have a value in one column."""
    parts = [has_value(batch.column(0)) for batch in batches.batches([name])]
    return np.concatenate([np.empty(0, dtype=np.bool_), *parts])


def has_value(column: Any) -> np.ndarray:
    """Which cells of a column of Arrow are neither missing nor NaN."""
    return np.asarray(~column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False))


def take_from_batches(batches: RecordBatches, rows: np.ndarray) -> Any:
    """Some rows of a table, in order, as a pandas frame with their numbers as labels."""
    import pandas as pd
    import pyarrow as pa

    parts, start = [], 0
    for batch in batches.batches(batches.names):
        first, last = np.searchsorted(rows, (start, start + batch.num_rows))
        if first < last:
            chosen = pa.Table.from_batches([batch.take(pa.array(rows[first:last] - start))])
            parts.append(chosen.to_pandas())
        start += batch.num_rows
    return pd.concat(parts, ignore_index=True).set_index(pd.Index(rows))
