"""Tables in files: CSV, TSV, Parquet and Arrow."""

from pathlib import Path
from typing import Any

from surefoot import DataError

DELIMITERS = (",", ";", "\t", "|")
TEXT = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None}
PARQUET, ARROW = {".parquet", ".pq"}, {".arrow", ".feather", ".ipc"}
PACKED = {".gz", ".bz2", ".xz", ".zip"}


def read_table_file(path: Path) -> Any:
    """A file as a pandas frame; one that cannot be read is refused in one line."""
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
    suffix = _suffix(path)
    try:
        frame = _read(path, suffix)
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


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes = suffixes[:-1]
    return suffixes[-1] if suffixes else ""


def _kind(suffix: str) -> str:
    return "Parquet" if suffix in PARQUET else "Arrow" if suffix in ARROW else "a table of text (CSV or TSV)"


def _read(path: Path, suffix: str) -> Any:
    import pandas as pd

    if suffix in PARQUET:
        return pd.read_parquet(path)
    if suffix in ARROW:
        return pd.read_feather(path)
    if suffix not in TEXT:
        known = ", ".join(sorted([*TEXT, *PARQUET, *ARROW]))
        raise DataError(f"{path} has the ending {suffix!r}: surefoot reads {known}.")
    delimiter = TEXT[suffix] or _delimiter(path)
    frame = pd.read_csv(path, sep=delimiter, skipinitialspace=True, low_memory=False, encoding="utf-8-sig")
    return frame if delimiter == "," else frame.apply(_with_decimal_points)


def _with_decimal_points(column: Any) -> Any:
    """Numbers written with a decimal comma, as numbers; a column of anything else as it is."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column) or not len(column.dropna()):
        return column
    text = column.dropna().astype(str).str.strip()
    if not text.str.fullmatch(r"[+-]?\d+(,\d+)?").all():
        return column
    return pd.to_numeric(column.astype("string").str.strip().str.replace(",", "."), errors="coerce").astype("float64")


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
