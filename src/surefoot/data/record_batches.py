"""A table that need not fit in memory: batches of rows from files, data sets and streams, as often as needed."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from surefoot._exceptions import DataError
from surefoot._extras import needs

PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
BUFFER = 1 << 18  # bytes of a compressed column in memory; without a buffer, a whole row group would be
MAX_BATCH_ROWS, MIN_BATCH_ROWS, BATCH_CELLS = 1 << 15, 1 << 10, 1 << 20


@dataclass(frozen=True)
class RecordBatches:
    """The batches of a table, in the order of its rows.

    Attributes
    ----------
    schemas : list of pyarrow.Schema
        The schema of each file. All have the same columns; types and the order of columns may differ.
    read : callable
        Called with names of columns and a number of rows, it starts a new pass over the batches.
    n_rows : int or None
        None if only reading shows it.
    files : tuple of str or None
        Paths of the files; None if the table is not in files.
    dates_as_days : bool
        Whether dates become days since 1970; otherwise they are refused, as in frames.
    """

    schemas: list[Any]
    read: Callable[[list[str], int], Iterator[Any]]
    n_rows: int | None = None
    files: tuple[str, ...] | None = None
    dates_as_days: bool = False

    @classmethod
    @needs("pyarrow")
    def of(cls, source: Any, *, dates_as_days: bool = False) -> "RecordBatches":
        """The batches of a Parquet or Arrow file, a folder of Parquet files, a data set or a stream of Arrow."""
        import pyarrow.dataset

        if isinstance(source, RecordBatches):
            return source
        if isinstance(source, str | os.PathLike):
            given = _of_path(Path(source))
        elif isinstance(source, pyarrow.dataset.Dataset):
            given = _of_data_set(source)
        else:
            given = _of_stream(source)
        return replace(given, dates_as_days=dates_as_days)._checked()

    def _checked(self) -> "RecordBatches":
        """The same batches, if all files have the same columns."""
        first = set(self.names)
        for place, schema in enumerate(self.schemas):
            if len(set(schema.names)) < len(schema.names):
                raise DataError("X has duplicate column names: rename them.", argument="X")
            if _columns(schema) != first:
                name = sorted(_columns(schema) ^ first)[0]
                files = self.files or ()
                raise DataError(
                    f"Column {name!r} is not in all files: {files[place]} and {files[0]} differ in their columns.",
                    argument="X",
                )
        return self

    @property
    def names(self) -> list[str]:
        """The columns, in the order of the first file; an index that pandas has stored is not a column."""
        columns = _columns(self.schemas[0])
        return [name for name in self.schemas[0].names if name in columns]

    @property
    def fingerprint(self) -> list[list[Any]] | None:
        """Name, size and time of the last change of every file; None if the table is not in files."""
        if self.files is None:
            return None
        states = [os.stat(path) for path in self.files]
        names = [os.path.abspath(path) for path in self.files]
        return [[name, state.st_size, state.st_mtime_ns] for name, state in zip(names, states, strict=True)]

    def select(self, names: Sequence[str]) -> "RecordBatches":
        """The same table with some of its columns."""
        import pyarrow as pa

        schemas = [pa.schema([schema.field(name) for name in names]) for schema in self.schemas]
        return replace(self, schemas=schemas)

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Batches with the columns ``names`` in this order; none is empty, and none is large."""
        size = min(max(BATCH_CELLS // max(len(names), 1), MIN_BATCH_ROWS), MAX_BATCH_ROWS)
        with _readable(self.files[0] if self.files else "X"):
            for batch in self.read(list(names), size):
                columns = batch.select(list(names))
                for start in range(0, columns.num_rows, size):
                    yield columns.slice(start, size)


def _columns(schema: Any) -> set[str]:
    """The columns of a schema, without an index that pandas has stored with them."""
    stored = (schema.pandas_metadata or {}).get("index_columns", [])
    return set(schema.names) - {name for name in stored if isinstance(name, str)}


@contextmanager
def _readable(name: object) -> Iterator[None]:
    """Turn errors of Arrow into a sentence that names the file."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{name} cannot be read as a table: {reason}", argument="X") from error


def _of_path(path: Path) -> "RecordBatches":
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in PARQUET and file.is_file())
        if not files:
            raise DataError(f"The folder {path} has no Parquet files: their names end in .parquet.", argument="X")
        return _of_parquet(files)
    if not path.is_file():
        raise DataError(f"There is no file {path}.", argument="X")
    if path.suffix.lower() in PARQUET:
        return _of_parquet([path])
    if path.suffix.lower() in ARROW:
        return _of_arrow(path)
    known = ", ".join((*PARQUET, *ARROW))
    raise DataError(f"{path} is not read in batches: its name must end in one of {known}.", argument="X")


def _of_parquet(paths: list[Path]) -> "RecordBatches":
    """Files that are read one after the other, a few pages of each column at a time."""
    import pyarrow.parquet

    def open_file(path: Path) -> Any:
        return pyarrow.parquet.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False)

    def read(names: list[str], size: int) -> Iterator[Any]:
        for path in paths:
            with _readable(path), open_file(path) as file:
                yield from file.iter_batches(batch_size=size, columns=names)

    schemas, n_rows = [], 0
    for path in paths:
        with _readable(path), open_file(path) as file:
            schemas.append(file.schema_arrow)
            n_rows += file.metadata.num_rows
    return RecordBatches(schemas, read, n_rows, tuple(map(str, paths)))


def _of_arrow(path: Path) -> "RecordBatches":
    """A file in the IPC format of Arrow, mapped to memory: the system reads the pages that are used."""
    import pyarrow as pa

    def read(names: list[str], size: int) -> Iterator[Any]:
        with _readable(path), pa.memory_map(str(path)) as source:
            places = sorted(schema.get_field_index(name) for name in names)
            options = pa.ipc.IpcReadOptions(included_fields=places)
            file = pa.ipc.open_file(source, options=options)
            for k in range(file.num_record_batches):
                yield file.get_batch(k)

    with _readable(path), pa.memory_map(str(path)) as source:
        schema = pa.ipc.open_file(source).schema
    return RecordBatches([schema], read, files=(str(path),))


def _of_data_set(source: Any) -> "RecordBatches":
    import pyarrow.dataset

    def read(names: list[str], size: int) -> Iterator[Any]:
        return source.to_batches(columns=names, batch_size=size, batch_readahead=1, fragment_readahead=1)

    files = None
    if isinstance(source, pyarrow.dataset.FileSystemDataset) and all(map(os.path.isfile, source.files)):
        files = tuple(source.files)
    return RecordBatches([source.schema], read, source.count_rows(), files)


def _of_stream(source: Any) -> "RecordBatches":
    """A function that returns a new reader, or an object whose stream can be read several times."""
    import pyarrow as pa

    if isinstance(source, pa.RecordBatchReader):
        raise DataError(
            "X is a record batch reader, which can be read only once: pass a function that returns a new one.",
            argument="X",
        )
    is_function = callable(source) and not hasattr(source, "__arrow_c_stream__")
    if not is_function and not hasattr(source, "__arrow_c_stream__"):
        raise DataError(
            "X must be a Parquet or Arrow file, a folder of Parquet files, a pyarrow data set, an object with "
            f"__arrow_c_stream__ or a function that returns a record batch reader; got {type(source).__name__}.",
            argument="X",
        )

    def open_reader() -> Any:
        return pa.RecordBatchReader.from_stream(source() if is_function else source)

    def read(names: list[str], size: int) -> Iterator[Any]:
        with open_reader() as reader:
            yield from reader

    with _readable("X"), open_reader() as reader:
        schema = reader.schema
    return RecordBatches([schema], read)


def release_unused_memory() -> None:
    """Give back the memory of batches that were read: pyarrow keeps it for later batches."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
