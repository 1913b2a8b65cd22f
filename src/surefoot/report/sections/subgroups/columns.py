"""The columns by which rows are divided into subgroups: those that the user names, and those of the table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw

from surefoot._exceptions import DataError, ParameterError
from surefoot.report.inputs.column_readers import CATEGORY, NUMBER, ColumnReader, kind_of
from surefoot.report.inputs.table import AuditTable
from surefoot.selection.table import take_rows

CROSSING = "*"
MAX_SLICES = 20  # that may be named
MAX_CROSSED = 3  # columns of a crossing
MAX_COLUMNS = 30  # that are looked at without being named: every subgroup makes the other intervals wider
FEW_VALUES = 2


@dataclass(frozen=True, eq=False)
class SliceColumn:
    """A column of the audited rows: ``values`` are floats, days, or a pandas categorical."""

    name: str
    kind: str
    values: Any
    is_boolean: bool = False


Slice = tuple[SliceColumn, ...]  # one column, or the columns of a crossing


def read_slices(given: Any, whole: Any, table: AuditTable) -> tuple[Slice, ...]:
    """The columns and crossings that the user names; ``whole`` is the table with all columns, as pandas frame.

    An entry is the name of a column, several names as a tuple or as a text such as "sex*age", or a series with a name.
    """
    if given is None:
        return ()
    entries = list(given) if isinstance(given, list | tuple) else [given]
    if len(entries) > MAX_SLICES:
        message = f"slices has {len(entries)} entries: at most {MAX_SLICES} can be named."
        raise ParameterError(message, argument="slices")
    return tuple(_read_slice(entry, whole, table) for entry in entries)


def _read_slice(entry: Any, whole: Any, table: AuditTable) -> Slice:
    """One entry."""
    parts = list(entry) if isinstance(entry, list | tuple) else [entry]
    if isinstance(entry, str) and entry not in whole.columns and CROSSING in entry:
        parts = [name.strip() for name in entry.split(CROSSING)]
    if not 1 <= len(parts) <= MAX_CROSSED:
        message = f"slices crosses {len(parts)} columns: a crossing may have 2 or {MAX_CROSSED}."
        raise ParameterError(message, argument="slices")
    columns = tuple(_read_column(part, whole, table) for part in parts)
    if len({column.name for column in columns}) < len(columns):
        message = f"slices crosses {columns[0].name!r} with itself: name different columns."
        raise ParameterError(message, argument="slices")
    return columns


def _read_column(part: Any, whole: Any, table: AuditTable) -> SliceColumn:
    """One column of the table, or a series; a column that no model uses is read like the others."""
    if isinstance(part, str):
        _check_name(part, whole, table)
        if part in table.frame.columns:
            return _of_table(table, part, _booleans(table.raw))
        series = whole[part]
    else:
        series = _series(part, len(whole))
    series = take_rows(series, table.is_audited.nonzero()[0]).reset_index(drop=True)
    reader = ColumnReader(str(series.name), kind_of(series))
    values = reader.read(series)
    if values.nunique(dropna=False) < FEW_VALUES:
        message = f"slices names {reader.name!r}, which has the same value in every row: name another column."
        raise DataError(message, argument="slices")
    return SliceColumn(reader.name, reader.kind, values, str(series.dtype) in ("bool", "boolean"))


def _check_name(name: str, whole: Any, table: AuditTable) -> None:
    if name in whole.columns:
        return
    if name == table.target.name:
        message = f"slices names {name!r}, which is the target: name another column."
        raise ParameterError(message, argument="slices")
    columns = ", ".join(map(repr, whole.columns[:8]))
    raise DataError(f"There is no column {name!r} in X; its columns are {columns}.", argument="slices")


def _series(part: Any, n_rows: int) -> Any:
    """A series of the user's, as pandas series."""
    series = nw.from_native(part, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series) or not series.name:
        message = "slices must have names of columns, tuples of names, or series with a name."
        raise ParameterError(message, argument="slices")
    if len(series) != n_rows:
        message = f"slices has the series {series.name!r} with {len(series)} values, but X has {n_rows} rows."
        raise DataError(message, argument="slices")
    return series.to_pandas()


def columns_of(table: AuditTable, named: Sequence[Slice] = ()) -> tuple[list[SliceColumn], int]:
    """The columns of the table that are looked at without being named, and how many there are in all.

    Of many columns, categories and columns with two values come first, because most groups of people are such columns.
    The choice does not depend on any error, so it does not make the intervals too narrow.
    """
    known = {each[0].name for each in named if len(each) == 1}
    others = [reader for reader in table.readers if str(reader.name) not in known]
    if len(others) > MAX_COLUMNS:
        others.sort(key=lambda reader: not _is_grouping(table, reader))
    booleans = _booleans(table.raw)
    return [_of_table(table, reader.name, booleans) for reader in others[:MAX_COLUMNS]], len(others)


def _is_grouping(table: AuditTable, reader: ColumnReader) -> bool:
    return reader.kind == CATEGORY or table.frame[reader.name].nunique() <= FEW_VALUES


def _of_table(table: AuditTable, name: Any, booleans: frozenset[str]) -> SliceColumn:
    kind = next(reader.kind for reader in table.readers if reader.name == name)
    return SliceColumn(str(name), kind, table.frame[name], kind == NUMBER and str(name) in booleans)


def _booleans(raw: Any) -> frozenset[str]:
    """Names of the columns of booleans, which the table holds as numbers."""
    frame = nw.from_native(raw, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return frozenset()
    return frozenset(str(name) for name, dtype in frame.schema.items() if dtype == nw.Boolean)
