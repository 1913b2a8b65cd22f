"""The table that is audited: columns that models can read, the target, and what was noticed on the way."""

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from surefoot._exceptions import DataError
from surefoot.report.checks.copies import count_equal_rows
from surefoot.report.checks.leaks import find_leaks
from surefoot.report.inputs.column_readers import CATEGORY, ColumnReader, kind_of, notes_on
from surefoot.report.inputs.target import Target
from surefoot.report.subject import ColumnNote
from surefoot.selection.table import take_rows

MIN_ROWS = 20


@dataclass(frozen=True)
class AuditTable:
    """Columns as floats and categoricals in a pandas frame, the target, and the table as it came (for a user's model).

    ``rows`` has the names of the rows: their numbers from 0, or the labels that a pandas frame had.
    """

    frame: Any
    target: Target
    raw: Any
    rows: np.ndarray
    known: np.ndarray  # of all rows that came, which have a target
    readers: tuple[ColumnReader, ...]
    notes: tuple[ColumnNote, ...]
    remarks: tuple[str, ...]

    @classmethod
    def read(cls, X: Any, y: Any, task: str | None = None) -> "AuditTable":
        """Check a table and its target; rows without a target are left out."""
        whole = to_pandas(X, "X")
        target, known = Target.read(y, len(whole), task)
        remarks: tuple[str, ...] = ()
        if not known.all():
            remarks = (f"{np.sum(~known):,} rows have no target: left out.",)
        if known.sum() < MIN_ROWS:
            raise DataError(f"There are {known.sum()} rows with a target: an audit needs at least {MIN_ROWS}.")
        places = np.flatnonzero(known)
        whole = whole.iloc[places]
        readers, parts, notes = _read_columns(whole)
        if not parts:
            raise DataError("No column is left to learn from: all are missing, constant or identifiers.")
        raw, rows = take_rows(X, places), whole.index.to_numpy()
        return cls(_frame(parts, whole), target, raw, rows, known, readers, notes, remarks).with_leaks_named()

    @property
    def n_rows(self) -> int:
        return len(self.frame)

    @property
    def categories(self) -> list[str]:
        return [reader.name for reader in self.readers if reader.kind == CATEGORY]

    def like(self, X: Any, name: str) -> Any:
        """Another table, read in the same way: a frame with the same columns."""
        other = to_pandas(X, name)
        if not hasattr(X, "columns") and other.shape[1] == np.shape(self.raw)[1] and not hasattr(self.raw, "columns"):
            other.columns = [f"x{j}" for j in range(other.shape[1])]
        missing = [str(reader.name) for reader in self.readers if reader.name not in other.columns]
        if missing:
            raise DataError(
                f"{name} lacks the columns {', '.join(map(repr, missing))}: it must have those of the table."
            )
        parts = {}
        for reader in self.readers:
            read = reader.read(other[reader.name])
            if reader.kind == CATEGORY:  # a category that training has not seen stays one: each model says what it does
                seen = self.frame[reader.name].cat.categories
                read = read.cat.set_categories(list(seen) + sorted(set(read.cat.categories) - set(seen)))
            parts[reader.name] = read
        return _frame(parts, other)

    @property
    def fingerprint(self) -> str:
        """A short hash of all values, by which the same table is known again."""
        import pandas as pd

        rows = pd.util.hash_pandas_object(self.frame, index=False).to_numpy()
        values = [rows.tobytes(), self.target.labels.astype(str).tobytes(), ",".join(map(str, self.frame)).encode()]
        return sha256(b"".join(values)).hexdigest()[:16]

    def count_known(self, frame: Any) -> int:
        """How many rows of another table, read in the same way, are rows of this one."""
        return count_equal_rows(self.frame, frame)

    def with_leaks_named(self) -> "AuditTable":
        """A note on each column, or pair of columns, that may give the target away."""
        leaks = find_leaks(self.frame, self.target)
        notes = [ColumnNote(", ".join(leak.columns), "leak", leak.sentence, used=True) for leak in leaks]
        return replace(self, notes=(*self.notes, *notes))


def _read_columns(whole: Any) -> tuple[tuple[ColumnReader, ...], dict[Any, Any], tuple[ColumnNote, ...]]:
    readers, parts, notes = [], {}, []
    for name in whole.columns:
        kind = kind_of(whole[name])
        reader = ColumnReader(name, kind)
        read = reader.read(whole[name])
        found = notes_on(whole[name], kind, read)
        notes += found
        if all(note.used for note in found):
            readers.append(reader)
            parts[name] = read
    return tuple(readers), parts, tuple(notes)


def _frame(parts: dict[Any, Any], like: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(parts, index=like.index).reset_index(drop=True)


def to_pandas(table: Any, name: str) -> Any:
    """Any table as a pandas frame whose columns have names of text."""
    import pandas as pd

    try:
        known = nw.from_native(table, pass_through=True)
    except DuplicateError as error:
        raise DataError(f"{name} has two columns of one name: rename one. {' '.join(str(error).split())}") from error
    if isinstance(known, nw.LazyFrame):
        raise DataError(f"{name} is a lazy frame: collect it first, for example with .collect().")
    if isinstance(known, nw.DataFrame):
        frame = known.to_pandas()
        frame = frame.rename(columns=str) if not all(isinstance(column, str) for column in frame.columns) else frame
    else:
        if hasattr(table, "toarray"):
            raise DataError(f"{name} is sparse: pass {name}.toarray().")
        array = np.asarray(table)
        if array.ndim != 2:
            raise DataError(f"{name} must be a table of two dimensions, got {array.ndim}.")
        frame = pd.DataFrame(array, columns=[f"x{j}" for j in range(array.shape[1])]).infer_objects()
    if frame.columns.has_duplicates:  # names that differ only until they are text
        raise DataError(f"{name} has two columns of one name: rename one.")
    return frame
