"""Tables in files: CSV, TSV, Parquet and Arrow.

Columns of text files are numbers if every cell is one; otherwise they stay as they are written.
"""

import codecs
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import DataError
from surefoot.cli.packed_file import is_packed, opened
from surefoot.report.inputs.column_readers import CATEGORY, DATE, NUMBER, kind_of

DELIMITERS = (",", ";", "\t", "|")
TEXT = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None}
PARQUET, ARROW = {".parquet", ".pq"}, {".arrow", ".feather", ".ipc"}
MISSING = "Empty cells, NA and similar words are missing values."
CELLS = "string[pyarrow]"  # text as it is written, in little memory
TRUTH = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}
A_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?inf(?:inity)?", re.IGNORECASE)
BLANK = codecs.BOM_UTF8 + b" \t\r\n"
MAX_HEADER = 2**26  # bytes of the first line that show the delimiter
WITH_COMMA = r"[+-]?[0-9]+(?:,[0-9]+)?"


def read_table_file(path: Path, kinds: Mapping[str, str] | None = None) -> Any:
    """A file as a pandas frame; an error says in one line why it cannot be read.

    ``kinds`` has the kinds of columns that a model or a first table has: they are read as such, so no value depends on
    the other rows of the file. The kinds of other columns are detected from the whole column.
    """
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
    suffix = suffix_of(path)
    try:
        frame = _read(path, suffix, kinds or {})
    except (DataError, MemoryError):
        raise
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not written in UTF-8: save it as UTF-8 (in a spreadsheet: CSV UTF-8).") from error
    except Exception as error:  # readers raise many kinds of errors for files of another format
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{path} cannot be read as {_kind(suffix)}: {reason[:200]}") from error
    if not len(frame) or not len(frame.columns):
        raise DataError(f"{path} has no {'rows' if len(frame.columns) else 'columns'}.")
    return frame


def kinds_of(frame: Any) -> dict[str, str]:
    """The kind of each column of a first table, by which later tables are read."""
    return {name: kind_of(frame[name]) for name in frame.columns}


def suffix_of(path: Path) -> str:
    """The end of a file's name, without that of a compressed file."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if is_packed(path):
        suffixes = suffixes[:-1]
    return suffixes[-1] if suffixes else ""


def _kind(suffix: str) -> str:
    return "Parquet" if suffix in PARQUET else "Arrow" if suffix in ARROW else "a table of text (CSV or TSV)"


def _read(path: Path, suffix: str, kinds: Mapping[str, str]) -> Any:
    import pandas as pd

    if suffix in PARQUET:
        return with_kinds(pd.read_parquet(path), kinds, path)
    if suffix in ARROW:
        return with_kinds(pd.read_feather(path), kinds, path)
    if suffix not in TEXT:
        known = ", ".join(sorted([*TEXT, *PARQUET, *ARROW]))
        raise DataError(f"{path} has the suffix {suffix!r}: surefoot reads {known}.")
    delimiter = TEXT[suffix] or _delimiter(path)
    options = {"skipinitialspace": True, "low_memory": False, "encoding": "utf-8-sig", "dtype": CELLS}
    with opened(path) as stream:
        cells = pd.read_csv(stream if is_packed(path) else path, sep=delimiter, **options)
    if not isinstance(cells.index, pd.RangeIndex):
        raise DataError(f"{path} has rows with more cells than its first line has names: name every column.")
    columns = {name: read_cells(cells.pop(name), kinds.get(name), delimiter != ",") for name in list(cells.columns)}
    return pd.DataFrame(columns, index=cells.index)


def with_kinds(frame: Any, kinds: Mapping[str, str], path: Path) -> Any:
    """The columns of a file with types: categories as text, and numbers where numbers are expected."""
    import pandas as pd

    if frame.columns.has_duplicates:
        raise DataError(f"{path} has two columns of the same name: rename one.")
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
    """Values as a CSV file would have them: a missing value turns whole numbers into floats, so 1.0 becomes 1."""
    import pandas as pd

    texts = [_text(value) if known else np.nan for value, known in zip(column, column.notna(), strict=True)]
    return pd.Series(texts, index=column.index, name=column.name, dtype=object)


def _text(value: Any) -> str:
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value)) if whole else str(value)


def _delimiter(path: Path) -> str:
    """The most frequent delimiter in the first line that is not empty."""
    with opened(path) as stream:
        head = stream.readline(MAX_HEADER)
        while head and not head.strip(BLANK):
            head = stream.readline(MAX_HEADER)
    if b"\x00" in head:
        raise DataError(f"{path} is not text: surefoot reads CSV, TSV, Parquet and Arrow files.")
    line = head.decode("utf-8", "strict" if len(head) < MAX_HEADER else "ignore")
    return max(DELIMITERS, key=line.count)


def take_target(frame: Any, target: str, path: Path) -> tuple[Any, Any]:
    """The other columns, and the target."""
    require_target(list(frame.columns), target, path)
    return frame.drop(columns=[target]), frame[target]


def require_target(names: Sequence[Any], target: str, path: Path) -> None:
    """Raise an error if a table does not have the target, or nothing else."""
    if target not in names:
        shown = ", ".join(repr(str(name)) for name in names[:12])
        more = f" and {len(names) - 12} more" if len(names) > 12 else ""
        raise DataError(f"{path} has no column {target!r}; it has {shown}{more}.")
    if len(names) == 1:
        raise DataError(f"{path} has no column except the target {target!r}.")


def read_cells(text: Any, kind: str | None, decimal_comma: bool) -> Any:
    """A column of cells as a pandas series; ``text`` is a series of strings and missing cells.

    ``kind`` is the kind of the column in the model or in the first table: categories and dates stay text, for any other
    rows of this file. If it is not known (None), the whole column decides: truth values if all cells are True or False,
    numbers if all are numbers, and text otherwise. A column that should be numbers but is not stays text; its reader
    raises an error.
    """
    if kind not in (CATEGORY, DATE):
        for read in (_numbers, _truth_values, _numbers_with_comma if decimal_comma else None):
            values = None if read is None else read(text)
            if values is not None:
                return values
        mixed = _numbers_and_truth_values(text) if kind == NUMBER else None
        if mixed is not None:
            return mixed
    return as_text(text)


def as_text(text: Any) -> Any:
    """Cells as Python's text, NaN where missing."""
    import pandas as pd

    return pd.Series(text.to_numpy(dtype=object, na_value=np.nan), index=text.index, name=text.name, dtype=object)


def _truth_values(text: Any) -> Any:
    """Truth values, as objects if some are missing; None if any cell is something else, or all are missing."""
    known = text.dropna()
    if not len(known) or known.iloc[0] not in TRUTH or not known.isin(TRUTH).all():
        return None
    values = as_text(text).map(TRUTH)
    return values.astype(object) if text.isna().any() else values.astype(bool)


def _numbers(text: Any) -> Any:
    """Exact numbers, as integers if all are whole and none is missing; None if any cell is something else."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = pc.utf8_trim_whitespace(pa.array(text.to_numpy(dtype=object, na_value=None), pa.large_string()))
    values: np.ndarray | None
    try:
        values = np.array(pc.cast(cells, pa.float64()).to_numpy(zero_copy_only=False))
        if (values == np.floor(values)).all():
            with suppress(pa.ArrowInvalid):  # a decimal point, or too large
                values = np.array(pc.cast(cells, pa.int64()))
    except pa.ArrowInvalid:
        values = _numbers_one_by_one(cells.to_pylist(), {})
    return None if values is None else pd.Series(values, index=text.index, name=text.name)


def _numbers_with_comma(text: Any) -> Any:
    """Numbers with a decimal comma; None if any cell is something else."""
    cells = text.str.strip()
    return _numbers(cells.str.replace(",", ".")) if cells.dropna().str.fullmatch(WITH_COMMA).all() else None


def _numbers_and_truth_values(text: Any) -> Any:
    import pandas as pd

    values = _numbers_one_by_one(as_text(text).where(text.notna(), None), TRUTH)
    return None if values is None else pd.Series(values, index=text.index, name=text.name)


def _numbers_one_by_one(cells: Any, words: dict[str, bool]) -> np.ndarray | None:
    """Numbers that Arrow does not read, such as +1 and 1e400, and ``words``; None if any cell is something else."""
    values = np.full(len(cells), np.nan)
    for place, cell in enumerate(cells):
        if cell is None:
            continue
        if cell in words:
            values[place] = words[cell]
        elif A_NUMBER.fullmatch(cell.strip()):
            values[place] = float(cell)
        else:
            return None
    return values
