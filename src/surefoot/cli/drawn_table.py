"""The table of an audit: of a large one in Parquet or Arrow, only the rows that are drawn are read into memory."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import DataError
from surefoot._parameters import check_integer
from surefoot.cli.table_batches import has_value, is_read_in_batches, rows_with_value, take_from_batches
from surefoot.cli.table_file import kinds_of, read_table_file, require_target, take_target, with_kinds
from surefoot.data.record_batches import RecordBatches
from surefoot.report.inputs.other_rows import OtherRows
from surefoot.report.inputs.table import MIN_ROWS, drawn_rows, without_target
from surefoot.report.subject import Subject, draw_sentence


@dataclass(frozen=True)
class DrawnTable:
    """A table as a frame, or those of its rows that an audit with the same seed would draw from it.

    Attributes
    ----------
    path : Path
    frame : pandas frame
    rows : array or None
        Numbers of the rows that were drawn; None: the frame has all rows.
    n_rows, n_with_target : int
        Of the whole table; 0 if no rows were drawn.
    """

    path: Path
    frame: Any
    rows: np.ndarray | None = None
    n_rows: int = 0
    n_with_target: int = 0

    @classmethod
    def read(cls, path: Path, target: str, max_rows: int, seed: int) -> "DrawnTable":
        """Read a file, or draw rows from it or from a folder of files."""
        check_integer("max_rows", max_rows, MIN_ROWS)
        if not is_read_in_batches(path):
            return cls(path, read_table_file(path))
        batches = RecordBatches.of(path)
        require_target(batches.names, target, path)
        has_target = rows_with_value(batches, target)
        n_with_target = int(has_target.sum())
        if n_with_target <= max_rows and not path.is_dir():
            return cls(path, read_table_file(path))
        if not n_with_target:
            raise DataError(f"{path} has no row with a value of the target {target!r}.")
        rows = drawn_rows(has_target, max_rows, seed)
        frame = with_kinds(take_from_batches(batches, rows), {}, path)
        return cls(path, frame, rows, len(has_target), n_with_target)

    def other_rows(self, target: str, weight: str | None = None) -> OtherRows | None:
        """The rows with a target that were not drawn, read from the files once more; also the column of weights."""
        if self.rows is None or len(self.rows) == self.n_with_target:
            return None
        drawn = self.rows

        def parts() -> Iterator[tuple[Any, Any, np.ndarray | None]]:
            import pyarrow as pa

            batches, kinds, start = RecordBatches.of(self.path), kinds_of(self.frame), 0
            for batch in batches.batches(batches.names):
                is_other = has_value(batch.column(batch.schema.get_field_index(target)))
                first, last = np.searchsorted(drawn, (start, start + batch.num_rows))
                is_other[drawn[first:last] - start] = False
                start += batch.num_rows
                if is_other.any():
                    frame = pa.Table.from_batches([batch.filter(pa.array(is_other))]).to_pandas()
                    X, y = take_target(with_kinds(frame, kinds, self.path), target, self.path)
                    if weight is None:
                        yield X, y, None
                        continue
                    weights = X[weight].to_numpy(np.float64)
                    counted = (weights > 0) & np.isfinite(weights)  # others cannot be refused any more
                    if counted.any():
                        yield X[counted], y[counted], weights[counted]

        return OtherRows(self.n_with_target - len(drawn), parts)

    def rows_of(self, predictions: Any, path: Path) -> Any:
        """Predictions for the rows that were drawn, from those for all rows of the table."""
        if self.rows is None:
            return predictions
        if len(predictions) != self.n_rows:
            message = f"{path} has {len(predictions):,} rows, but {self.path} has {self.n_rows:,}."
            raise DataError(message, argument="predictions")
        return predictions.iloc[self.rows]

    def noted_on(self, subject: Subject, seed: int) -> Subject:
        """The subject of an audit of the frame, with what is known of the whole table."""
        if self.rows is None:
            return subject
        remarks = without_target(self.n_rows - self.n_with_target)
        draw = draw_sentence(len(self.rows), self.n_with_target, seed)
        return replace(subject, n_table_rows=self.n_with_target, draw=draw, remarks=(*remarks, *subject.remarks))
