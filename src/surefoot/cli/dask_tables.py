"""Tables of ``surefoot fit`` and ``predict`` on a Dask cluster: rows to train on, and rows to predict."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.cli.large_table import LargeTable, is_large, read_cells_of
from surefoot.cli.table_batches import has_value
from surefoot.cli.table_file import PARQUET, read_table_file, suffix_of, take_target
from surefoot.report.inputs.column_readers import CATEGORY, ColumnReader
from surefoot.report.inputs.table import AuditTable
from surefoot.report.inputs.target import Target

PART_CELLS = 20_000_000  # of a part of a file that one worker reads: 160 MB as numbers
PART_ROWS = 32_768  # of a table in memory
IN_FLIGHT = 4  # batches for each thread of the cluster that wait to be predicted, or to be written


@dataclass(frozen=True)
class FilePart:
    """Some row groups of a Parquet file, or a whole Arrow file (None), which a worker reads as models need them."""

    path: Path
    groups: tuple[int, ...] | None
    target: str
    readers: tuple[ColumnReader, ...]

    def read(self) -> Any:
        """The rows with a target, as a frame of numbers and categories."""
        import pandas as pd

        table = self._table([*(each.name for each in self.readers), self.target])
        table = table.filter(has_value(table.column(self.target)))
        columns = {}
        for reader in self.readers:
            cells = read_cells_of(table.column(reader.name).combine_chunks(), reader).to_pandas()
            columns[reader.name] = pd.Categorical(cells) if reader.kind == CATEGORY else cells
        return pd.DataFrame(columns)

    def count_rows(self) -> int:
        """How many rows have a target."""
        return int(has_value(self._table([self.target]).column(0)).sum())

    def _table(self, names: list[str]) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self.groups is None:
            with pa.memory_map(str(self.path)) as source:
                return pa.ipc.open_file(source).read_all().select(names)
        with pq.ParquetFile(self.path) as file:
            return file.read_row_groups(list(self.groups), columns=names).select(names)


@dataclass(frozen=True)
class ClusterTable:
    """A table in partitions, with its target: ``X`` and ``y`` are lists of delayed frames and arrays.

    ``sample`` decides how columns are read: it is the whole table, or a sample of a large one.
    """

    X: list[Any]
    y: list[Any]
    sample: AuditTable
    target: Target

    @classmethod
    def read(cls, path: Path, name: str, task: str | None) -> "ClusterTable":
        """The partitions of a table. Workers read the files of large tables, so they need the same paths."""
        if is_large(path):
            return cls._of_files(path, name, task)
        table = AuditTable.read(*take_target(read_table_file(path), name, path), task)
        starts = np.arange(0, table.n_rows, PART_ROWS).tolist()
        frames = [table.frame.iloc[start : start + PART_ROWS] for start in starts]
        return cls._in_parts(frames, [len(frame) for frame in frames], table, table.target)

    @classmethod
    def _of_files(cls, path: Path, name: str, task: str | None) -> "ClusterTable":
        from dask.delayed import delayed

        large = LargeTable.read(path, name, task)
        parts = [
            FilePart(file, groups, name, large.sample.readers)
            for file in (Path(each).resolve() for each in large.batches.files or ())
            for groups in _row_groups(file)
        ]
        lengths = [part.count_rows() for part in parts]
        return cls._in_parts([delayed(part).read() for part in parts], lengths, large.sample, large.read_target(task))

    @classmethod
    def _in_parts(cls, frames: list[Any], lengths: list[int], sample: AuditTable, target: Target) -> "ClusterTable":
        from dask.delayed import delayed

        labels = np.split(target.labels, np.cumsum(lengths)[:-1])
        return cls([delayed(frame) for frame in frames], [delayed(part) for part in labels], sample, target)


def _row_groups(path: Path) -> list[tuple[int, ...] | None]:
    """The row groups of a file in runs, which workers read; None for an Arrow file as a whole."""
    import pyarrow.parquet as pq

    if suffix_of(path) not in PARQUET:
        return [None]
    metadata = pq.read_metadata(path)
    cells = [metadata.row_group(k).num_rows * metadata.num_columns for k in range(metadata.num_row_groups)]
    place = np.cumsum(cells) // PART_CELLS
    return [tuple(np.flatnonzero(place == part).tolist()) for part in np.unique(place)]


def predict_on(client: Any, model: Any, predict: Callable[[Any, Any], Any], frames: Iterator[Any]) -> Iterator[Any]:
    """Each frame with what ``predict(model, frame)`` returns on a worker, in order; few are under way at a time."""
    from surefoot.dask.cluster import gather_results, send_once

    sent, under_way = send_once(client, model), deque[Any]()
    for frame in _in_batches(frames):
        under_way.append((frame, client.submit(predict, sent, frame, pure=False)))
        if len(under_way) > IN_FLIGHT * sum(client.nthreads().values()):
            first, future = under_way.popleft()
            yield first, gather_results(client, [future])[0]
    for first, future in under_way:
        yield first, gather_results(client, [future])[0]


def _in_batches(frames: Iterator[Any]) -> Iterator[Any]:
    for frame in frames:
        for start in range(0, max(len(frame), 1), PART_ROWS):
            yield frame.iloc[start : start + PART_ROWS]
