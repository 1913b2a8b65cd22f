"""Deployment data in chunks: several tables, or runs of consecutive time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from surefoot._exceptions import DataError
from surefoot._formatting import significant
from surefoot.report.inputs.column_readers import DATE, ColumnReader, kind_of
from surefoot.report.inputs.table import to_pandas
from surefoot.report.inputs.target import as_objects, has_value

MAX_CHUNKS = 12
CHUNK_ROWS = 300  # with fewer rows, the upper end of the interval of a mean loss is open
MIN_CHUNK_ROWS, FEW_CHUNKS = 100, 4  # smaller chunks, for up to so many, where there are not enough rows
SECONDS_PER_DAY = 86_400


@dataclass(frozen=True)
class Chunk:
    """Rows of the deployment data that belong together in time, and their name."""

    name: str
    rows: np.ndarray

    @classmethod
    def of_tables(cls, names: Sequence[str], sizes: Sequence[int]) -> "tuple[Chunk, ...]":
        """A chunk for each table, in their order; of more than twelve, neighbours are combined."""
        ends = np.cumsum(sizes)
        parts = np.array_split(np.arange(len(names)), min(MAX_CHUNKS, len(names)))
        return tuple(
            cls(
                names[part[0]] if len(part) == 1 else f"{names[part[0]]} to {names[part[-1]]}",
                np.arange(ends[part[0]] - sizes[part[0]], ends[part[-1]]),
            )
            for part in parts
        )

    @classmethod
    def of_time(cls, time: np.ndarray, are_dates: bool) -> "tuple[Chunk, ...]":
        """Runs of consecutive time with about equal numbers of rows; none if there are too few rows for two chunks.

        Rows of the same time are in the same chunk. A chunk is named by its first time.
        """
        n_rows = len(time)
        n_chunks = min(MAX_CHUNKS, max(n_rows // CHUNK_ROWS, min(FEW_CHUNKS, n_rows // MIN_CHUNK_ROWS)))
        if n_chunks < 2:
            return ()
        ordered = np.sort(time)
        edges = np.unique(ordered[np.arange(1, n_chunks) * n_rows // n_chunks])
        places = np.searchsorted(edges, time, side="right")
        rows = [each for each in (np.flatnonzero(places == k) for k in range(len(edges) + 1)) if len(each)]
        names = _names_of_times([float(time[each].min()) for each in rows], are_dates)
        return tuple(cls(f"from {name}", each) for name, each in zip(names, rows, strict=True)) if rows[1:] else ()


def _names_of_times(times: list[float], are_dates: bool) -> list[str]:
    if not are_dates:
        return [significant(value, 6) for value in times]
    moments = [np.datetime64(round(value * SECONDS_PER_DAY), "s") for value in times]
    days = [str(moment.astype("datetime64[D]")) for moment in moments]
    return days if len(set(days)) == len(days) else [str(moment).replace("T", " ") for moment in moments]


@dataclass(frozen=True)
class NewTables:
    """Several tables of deployment data, and their targets if they are known."""

    names: tuple[str, ...]
    tables: tuple[Any, ...]
    targets: tuple[Any, ...] | None

    @classmethod
    def read(cls, X_new: Any, y_new: Any) -> "NewTables | None":
        """Several tables, from a mapping of names to tables or a list of tables; None if ``X_new`` is one table."""
        if not isinstance(X_new, Mapping) and not _is_list_of_tables(X_new):
            return None
        if not len(X_new):
            raise DataError("X_new has no table: pass at least one.", argument="X_new")
        if isinstance(X_new, Mapping):
            names, tables = list(X_new), list(X_new.values())
        else:
            names, tables = [f"table {k + 1}" for k in range(len(X_new))], list(X_new)
        for name, table in zip(names, tables, strict=True):
            if not _is_table(table):
                message = f"X_new has no table for {name!r}: a dict of X_new has a table for each name."
                raise DataError(message, argument="X_new")
            if not np.shape(to_pandas(table, "X_new"))[0]:
                raise DataError(f"X_new has no rows for {name!r}: leave this table out.", argument="X_new")
        targets = None if y_new is None else _targets_of(y_new, X_new, names, tables)
        return cls(tuple(map(str, names)), tuple(tables), targets)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(np.shape(table)[0] for table in self.tables)

    def joined(self, columns: Sequence[Any] | None, optional: Sequence[Any] = ()) -> tuple[Any, Any]:
        """All tables one after the other, and their target; an error names the table that does not fit.

        ``columns`` are those that every table must have; None: they are arrays. ``optional`` columns are in all tables
        or in none.
        """
        target = None if self.targets is None else np.concatenate([as_objects(each) for each in self.targets])
        if columns is None or not all(_is_frame(table) for table in self.tables):
            return self._joined_arrays(), target
        known = [set(map(str, table.columns)) for table in self.tables]
        needed = [*columns, *(name for name in optional if any(name in names for names in known))]
        for name, names in zip(self.names, known, strict=True):
            if missing := [str(column) for column in needed if str(column) not in names]:
                listed = ", ".join(map(repr, missing))
                message = f"X_new lacks the columns {listed} for {name!r}: every table must have those of the first."
                raise DataError(message, argument="X_new")
        return self._joined_frames(needed), target

    def _joined_arrays(self) -> np.ndarray:
        arrays = [np.asarray(table) for table in self.tables]
        for name, array in zip(self.names, arrays, strict=True):
            if array.shape[1] != arrays[0].shape[1]:
                widths = f"{array.shape[1]} columns for {name!r}, but {arrays[0].shape[1]} for {self.names[0]!r}"
                raise DataError(f"X_new has {widths}: every table must have the same.", argument="X_new")
        return np.concatenate(arrays)

    def _joined_frames(self, columns: list[Any]) -> Any:
        import pandas as pd

        if all(isinstance(table, pd.DataFrame) for table in self.tables):
            return _stacked([table[columns] for table in self.tables])
        try:
            frames = [nw.from_native(table, eager_only=True).select(columns) for table in self.tables]
            return nw.concat(frames, how="vertical").to_native()
        except Exception as error:  # each library has errors of its own for columns of different types
            reason = " ".join(str(error).split())[:120]
            message = f"X_new has tables that cannot be joined ({reason}): give their columns the same types."
            raise DataError(message, argument="X_new") from error


def _is_list_of_tables(X_new: Any) -> bool:
    """Whether a list has tables, not rows."""
    return isinstance(X_new, list | tuple) and any(_is_table(each) for each in X_new)


def _is_frame(table: Any) -> bool:
    return hasattr(type(table), "columns")


def _is_table(table: Any) -> bool:
    return _is_frame(table) or (not isinstance(table, str | Mapping) and np.ndim(table) == 2)


def _targets_of(y_new: Any, X_new: Any, names: list[Any], tables: list[Any]) -> tuple[Any, ...] | None:
    """The target of each table; None if none is known."""
    if isinstance(X_new, Mapping):
        if not isinstance(y_new, Mapping) or set(y_new) != set(names):
            message = "y_new must be a dict like X_new, with a target for each name."
            raise DataError(message, argument="y_new")
        targets = [y_new[name] for name in names]
    elif not isinstance(y_new, list | tuple) or len(y_new) != len(tables):
        message = f"y_new must be a list like X_new, with {len(tables)} targets, one for each table."
        raise DataError(message, argument="y_new")
    else:
        targets = list(y_new)
    if all(target is None for target in targets):
        return None
    for name, target, table in zip(names, targets, tables, strict=True):
        if target is None:
            message = f"y_new has no target for {name!r}, but for others: pass missing values where it is not known."
            raise DataError(message, argument="y_new")
        n_target, n_rows = (np.shape(each)[0] if np.ndim(each) else 0 for each in (target, table))
        if n_target != n_rows:
            message = f"y_new has {n_target} rows for {name!r}, but X_new has {n_rows}."
            raise DataError(message, argument="y_new")
    return tuple(targets)


def _stacked(frames: list[Any]) -> Any:
    """Pandas frames one below the other; categorical columns stay categorical, with the categories of all."""
    import pandas as pd
    from pandas.api.types import union_categoricals

    stacked = pd.concat(frames, ignore_index=True)
    for name in frames[0].columns:
        if all(isinstance(frame[name].dtype, pd.CategoricalDtype) for frame in frames):
            same = len({frame[name].cat.categories.dtype for frame in frames}) == 1
            if same:
                stacked[name] = union_categoricals([frame[name] for frame in frames], ignore_order=True)
    return stacked


def read_new_time(X_new: Any, name: str, kind: str) -> np.ndarray | None:
    """The time of new rows as numbers, if they have the column; ``kind`` is that of the training data."""
    if not _is_frame(X_new) or name not in X_new.columns:
        return None
    series = to_pandas(X_new, "X_new")[name]
    if (kind_of(series) == DATE) != (kind == DATE):
        expected = "dates" if kind == DATE else "numbers"
        message = f"X_new has values in the time column {name!r} that are not {expected}, as in the training data."
        raise DataError(message, argument="X_new")
    numbers = ColumnReader(name, kind).read(series).to_numpy()
    if not has_value(numbers).all():
        message = f"X_new has missing values in the time column {name!r}: leave these rows out."
        raise DataError(message, argument="X_new")
    return np.asarray(numbers, dtype=np.float64)
