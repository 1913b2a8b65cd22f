"""The table that is audited: columns that models can read, the target, and notes on what was changed."""

from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from surefoot._exceptions import DataError
from surefoot._numbers import array_of
from surefoot._random import random_bits, stream_key
from surefoot.report.checks.copies import count_equal_rows
from surefoot.report.checks.leaks import find_leaks
from surefoot.report.inputs.column_readers import CATEGORY, LARGEST_FLOAT, ColumnReader, kind_of, notes_on
from surefoot.report.inputs.row_weights import unequal
from surefoot.report.inputs.target import Target, as_objects
from surefoot.report.subject import ColumnNote
from surefoot.report.time_budget import MIN_SECONDS, TimeBudget
from surefoot.selection.table import take_rows

MIN_ROWS = 20
MAX_ROWS = 200_000  # of larger tables, as many rows are drawn
LEAK_SEARCH, LEAK_FRACTION = "search for columns that reveal the target", 0.3  # of a time limit
ROW_DRAW = 1_000_099  # the label of the stream of random numbers that rows are drawn with


@dataclass(frozen=True)
class AuditTable:
    """The table as the audit reads it and as it was passed, and its target.

    Attributes
    ----------
    frame : pandas frame
        Columns as floats and categoricals.
    target : Target
    raw : table
        As it was passed, for a user's own model.
    rows : array
        Names of the rows: their numbers from 0, or the labels of a pandas frame.
    is_audited : array of bool
        Which of the rows that were passed are in the table: those with a target, or some of them drawn at random.
    n_table_rows : int
        The number of rows that have a target.
    readers : tuple of ColumnReader
    notes : tuple of ColumnNote
    remarks : tuple of str
    """

    frame: Any
    target: Target
    raw: Any
    rows: np.ndarray
    is_audited: np.ndarray
    n_table_rows: int
    readers: tuple[ColumnReader, ...]
    notes: tuple[ColumnNote, ...]
    remarks: tuple[str, ...]

    @classmethod
    def read(
        cls,
        X: Any,
        y: Any,
        task: str | None = None,
        max_rows: int | None = None,
        seed: int = 0,
        weights: np.ndarray | None = None,
        max_size: float = LARGEST_FLOAT,
        budget: TimeBudget | None = None,
    ) -> "AuditTable":
        """Check a table and its target; rows without a target, or with a weight of 0, are left out.

        If more than ``max_rows`` remain, as many are drawn at random, before anything else is looked at. Numbers beyond
        ``max_size`` count as missing. ``budget`` bounds the search for columns that may reveal the target.
        """
        whole = to_pandas(X, "X")
        has_target = Target.has_value(y, len(whole))
        is_counted = has_target if weights is None else has_target & (weights > 0)
        n_rows = int(is_counted.sum())
        if 0 < n_rows < MIN_ROWS:
            what = "a target" if weights is None else "a target and a weight"
            message = f"There are {n_rows} rows with {what}: an audit needs at least {MIN_ROWS}."
            raise DataError(message, argument="X")
        kept = drawn_rows(is_counted, max_rows, seed)
        is_audited = np.zeros(len(whole), dtype=np.bool_)
        is_audited[kept] = True
        is_drawn = 0 < len(kept) < int(has_target.sum())
        if is_drawn:
            y = take_rows(as_objects(y) if isinstance(y, list | tuple) else y, kept)
        target, _ = Target.read(y, len(kept) if is_drawn else len(whole), task)
        remarks = _left_out(len(whole) - int(has_target.sum()), int(has_target.sum()) - n_rows)
        whole = whole.iloc[kept]
        readers, parts, notes = _read_columns(whole, max_size)
        if not parts:
            message = "No column is left to learn from: all are missing, constant or identifiers."
            raise DataError(message, argument="X")
        table = cls(
            frame=_frame(parts, whole),
            target=target,
            raw=take_rows(X, kept),
            rows=whole.index.to_numpy(),
            is_audited=is_audited,
            n_table_rows=n_rows,
            readers=readers,
            notes=notes,
            remarks=remarks,
        )
        if weights is not None:
            table = table.weighted(weights[kept])
        return table._with_leaks_noted(budget or TimeBudget())

    def weighted(self, weights: np.ndarray) -> "AuditTable":
        """The table with weights of its rows; equal ones change nothing."""
        known = unequal(weights)
        if known is None:
            return replace(self, remarks=(*self.remarks, "All weights are equal, so that they change nothing."))
        return replace(self, target=replace(self.target, weights=known))

    @property
    def weights(self) -> np.ndarray | None:
        """How much each row counts, with a mean of 1; None: every row the same."""
        return self.target.weights

    def weights_of(self, rows: np.ndarray) -> np.ndarray | None:
        """The weights of some rows."""
        return None if self.weights is None else self.weights[rows]

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
            columns = ", ".join(map(repr, missing))
            raise DataError(f"{name} lacks the columns {columns}: it must have those of the table.", argument=name)
        parts = {}
        for reader in self.readers:
            values = reader.read(other[reader.name])
            if reader.kind == CATEGORY:  # unknown categories are kept: every model handles them in its own way
                known = self.frame[reader.name].cat.categories
                values = values.cat.set_categories(list(known) + sorted(set(values.cat.categories) - set(known)))
            parts[reader.name] = values
        return _frame(parts, other)

    @property
    def fingerprint(self) -> str:
        """A short hash of all values, which identifies the table."""
        import pandas as pd

        rows = pd.util.hash_pandas_object(self.frame, index=False).to_numpy()
        values = [rows.tobytes(), self.target.labels.astype(str).tobytes(), ",".join(map(str, self.frame)).encode()]
        return sha256(b"".join(values)).hexdigest()[:16]

    def count_known(self, frame: Any) -> int:
        """The number of rows of another table, read in the same way, that are rows of this one."""
        return count_equal_rows(self.frame, frame)

    def _with_leaks_noted(self, budget: TimeBudget) -> "AuditTable":
        """The table with a note on each column, or pair of columns, that may reveal the target."""
        search = partial(find_leaks, self.frame, self.target)
        leaks = budget.within(LEAK_SEARCH, LEAK_FRACTION, search, at_least=MIN_SECONDS) or ()
        notes = [ColumnNote(", ".join(leak.columns), "leak", leak.sentence, used=True) for leak in leaks]
        return replace(self, notes=(*self.notes, *notes))


def drawn_rows(has_target: np.ndarray, max_rows: int | None, seed: int) -> np.ndarray:
    """The numbers of the rows with a target, in order; at most ``max_rows`` of them, drawn at random."""
    rows = np.flatnonzero(has_target)
    if max_rows is None or len(rows) <= max_rows:
        return rows
    ranks = random_bits(stream_key(seed, ROW_DRAW), len(rows))
    return rows[np.sort(np.argpartition(ranks, max_rows)[:max_rows])]


def without_target(n_missing: int) -> tuple[str, ...]:
    """A remark on rows without a target, if there are any."""
    return (f"{n_missing:,} rows without a target were left out.",) if n_missing else ()


def _left_out(n_missing: int, n_without_weight: int) -> tuple[str, ...]:
    """Remarks on rows that are not in the audit."""
    remarks = without_target(n_missing)
    if n_without_weight:
        remarks = (*remarks, f"{n_without_weight:,} rows with a weight of 0 were left out.")
    return remarks


def _read_columns(
    whole: Any, max_size: float
) -> tuple[tuple[ColumnReader, ...], dict[Any, Any], tuple[ColumnNote, ...]]:
    readers, parts, notes = [], {}, []
    for name in whole.columns:
        kind = kind_of(whole[name])
        reader = ColumnReader(name, kind, max_size)
        values = reader.read(whole[name])
        own_notes = notes_on(whole[name], kind, values)
        notes += own_notes
        if all(note.used for note in own_notes):
            readers.append(reader)
            parts[name] = values
    return tuple(readers), parts, tuple(notes)


def _frame(parts: dict[Any, Any], like: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(parts, index=like.index).reset_index(drop=True)


def to_pandas(table: Any, name: str) -> Any:
    """Any table as a pandas frame whose column names are text; ``name`` is its name in errors."""
    import pandas as pd

    duplicated = f"{name} has two columns of the same name: rename one."
    try:
        frame = nw.from_native(table, pass_through=True)
    except DuplicateError as error:
        raise DataError(f"{duplicated} {' '.join(str(error).split())}", argument=name) from error
    if isinstance(frame, nw.LazyFrame):
        raise DataError(f"{name} is a lazy frame: collect it first, for example with .collect().", argument=name)
    if isinstance(frame, nw.DataFrame):
        frame = frame.to_pandas()
        frame = frame.rename(columns=str) if not all(isinstance(column, str) for column in frame.columns) else frame
    else:
        if hasattr(table, "toarray"):
            raise DataError(f"{name} is sparse: pass {name}.toarray().", argument=name)
        array = array_of(name, table)
        if array.ndim != 2:
            raise DataError(f"{name} must be a table of two dimensions, got {array.ndim}.", argument=name)
        if array.dtype.kind in "cV":
            raise DataError(f"{name} must have numbers, text or dates, got {array.dtype}.", argument=name)
        frame = pd.DataFrame(array, columns=[f"x{j}" for j in range(array.shape[1])]).infer_objects()
    if frame.columns.has_duplicates:  # names that differ only in their type
        raise DataError(duplicated, argument=name)
    return frame
