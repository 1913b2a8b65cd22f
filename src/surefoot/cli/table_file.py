"""Tables in files: CSV, TSV, Parquet and Arrow."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import DataError
from surefoot.cli.text_columns import read_cells
from surefoot.report.inputs.column_readers import CATEGORY, NUMBER, kind_of

DELIMITERS = (",", ";", "\t", "|")
TEXT = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None}
PARQUET, ARROW = {".parquet", ".pq"}, {".arrow", ".feather", ".ipc"}
PACKED = {".gz", ".bz2", ".xz", ".zip"}
CELLS = "string[pyarrow]"  # text as it is written, in little memory


def read_table_file(path: Path, kinds: Mapping[str, str] | None = None) -> Any:
    """A file as a pandas frame; one that cannot be read is refused in one line.

    ``kinds`` are those of columns that a model or a first table has: they are read so, and no row's value depends on
    which other rows the file has. The kinds of other columns are found out from the whole column.
    """
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
    suffix = _suffix(path)
    try:
        frame = _read(path, suffix, kinds or {})
    except (DataError, MemoryError):
        raise
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not written in UTF-8: save it as UTF-8 (in a spreadsheet: CSV UTF-8).") from error
    except Exception as error:  # whatever a reader of files raises on what is not such a file
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{path} cannot be read as {_kind(suffix)}: {reason[:200]}") from error
    if not len(frame) or not len(frame.columns):
        raise DataError(f"{path} has no {'rows' if len(frame.columns) else 'columns'}.")
    return frame


def kinds_of(frame: Any) -> dict[str, str]:
    """The kind of each column of a first table, by which later ones are read."""
    return {name: kind_of(frame[name]) for name in frame.columns}


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes = suffixes[:-1]
    return suffixes[-1] if suffixes else ""


def _kind(suffix: str) -> str:
    return "Parquet" if suffix in PARQUET else "Arrow" if suffix in ARROW else "a table of text (CSV or TSV)"


def _read(path: Path, suffix: str, kinds: Mapping[str, str]) -> Any:
    import pandas as pd

    if suffix in PARQUET:
        return _with_kinds(pd.read_parquet(path), kinds, path)
    if suffix in ARROW:
        return _with_kinds(pd.read_feather(path), kinds, path)
    if suffix not in TEXT:
        known = ", ".join(sorted([*TEXT, *PARQUET, *ARROW]))
        raise DataError(f"{path} has the ending {suffix!r}: surefoot reads {known}.")
    delimiter = TEXT[suffix] or _delimiter(path)
    cells = pd.read_csv(path, sep=delimiter, skipinitialspace=True, low_memory=False, encoding="utf-8-sig", dtype=CELLS)
    columns = {name: read_cells(cells.pop(name), kinds.get(name), delimiter != ",") for name in list(cells.columns)}
    return pd.DataFrame(columns, index=cells.index)


def _with_kinds(frame: Any, kinds: Mapping[str, str], path: Path) -> Any:
    """The columns of a file that says their types: categories as text, and numbers where numbers are due."""
    import pandas as pd

    if frame.columns.has_duplicates:
        raise DataError(f"{path} has two columns of one name: rename one.")
    columns = {}
    for name in frame.columns:
        column, kind = frame[name], kinds.get(name) or kind_of(frame[name])
        if kind == CATEGORY:
            column = _texts(column)
        elif kind == NUMBER and not pd.api.types.is_numeric_dtype(column):
            column = read_cells(_texts(column).astype(CELLS), NUMBER, decimal_comma=False)
        columns[name] = column
    return pd.DataFrame(columns, index=frame.index)


def _texts(column: Any) -> Any:
    """Values as text would have them in a CSV file: a missing one makes floats of whole numbers, so 1.0 is 1."""
    import pandas as pd

    texts = [_text(value) if known else np.nan for value, known in zip(column, column.notna(), strict=True)]
    return pd.Series(texts, index=column.index, name=column.name, dtype=object)


def _text(value: Any) -> str:
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value)) if whole else str(value)


def _delimiter(path: Path) -> str:
    """The one that the first line has most of."""
    import pandas as pd

    head = pd.read_csv(
        path, sep="\x01", header=None, nrows=1, dtype=str, encoding="utf-8-sig", quoting=3, engine="python"
    )
    line = str(head.iloc[0, 0])
    if "\x00" in line:
        raise DataError(f"{path} is not text: surefoot reads CSV, TSV, Parquet and Arrow files.")
    return max(DELIMITERS, key=line.count)


def take_target(frame: Any, target: str, path: Path) -> tuple[Any, Any]:
    """The other columns, and the target."""
    if target not in frame.columns:
        names = ", ".join(repr(str(name)) for name in frame.columns[:12])
        more = f" and {len(frame.columns) - 12} more" if len(frame.columns) > 12 else ""
        raise DataError(f"{path} has no column {target!r}; it has {names}{more}.")
    if len(frame.columns) == 1:
        raise DataError(f"{path} has no column besides {target!r} to learn from.")
    return frame.drop(columns=[target]), frame[target]
