"""Columns of a table of text: as numbers where every cell is one, and otherwise as they are written."""

import re
from contextlib import suppress
from typing import Any

import numpy as np

from surefoot.report.inputs.column_readers import CATEGORY, DATE, NUMBER

TRUTH = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}
A_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?inf(?:inity)?", re.IGNORECASE)
WITH_COMMA = r"[+-]?[0-9]+(?:,[0-9]+)?"


def read_cells(text: Any, kind: str | None, decimal_comma: bool) -> Any:
    """A column of cells as a pandas series; ``text`` is one of strings, missing cells aside.

    ``kind`` is what the column is in the model or in the first table: categories and dates stay text, to the letter,
    whatever the other rows of this file have. Where nothing is known (None) the whole column decides: truth values if
    all cells are True or False, numbers if all are numbers, and text otherwise. A column that should be numbers and is
    not stays text, for its reader to refuse.
    """
    if kind not in (CATEGORY, DATE):
        for read in (_numbers, _truth_values, _numbers_with_comma if decimal_comma else None):
            found = None if read is None else read(text)
            if found is not None:
                return found
        mixed = _numbers_and_truth_values(text) if kind == NUMBER else None
        if mixed is not None:
            return mixed
    return as_text(text)


def as_text(text: Any) -> Any:
    """Cells as Python's text, NaN where missing."""
    import pandas as pd

    return pd.Series(text.to_numpy(dtype=object, na_value=np.nan), index=text.index, name=text.name, dtype=object)


def _truth_values(text: Any) -> Any:
    """Truth values, as objects if some are missing; None if a cell is something else, or all are missing."""
    known = text.dropna()
    if not len(known) or known.iloc[0] not in TRUTH or not known.isin(TRUTH).all():
        return None
    values = as_text(text).map(TRUTH)
    return values.astype(object) if text.isna().any() else values.astype(bool)


def _numbers(text: Any) -> Any:
    """Numbers to the last bit, whole ones as such if none is missing; None if a cell is something else."""
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
    """Numbers written with a decimal comma; None if a cell is something else."""
    cells = text.str.strip()
    return _numbers(cells.str.replace(",", ".")) if cells.dropna().str.fullmatch(WITH_COMMA).all() else None


def _numbers_and_truth_values(text: Any) -> Any:
    import pandas as pd

    values = _numbers_one_by_one(as_text(text).where(text.notna(), None), TRUTH)
    return None if values is None else pd.Series(values, index=text.index, name=text.name)


def _numbers_one_by_one(cells: Any, words: dict[str, bool]) -> np.ndarray | None:
    """Also what Arrow does not take for a number, such as +1 and 1e400; None if a cell is no number and no word."""
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
