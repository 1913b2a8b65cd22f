"""Rows unlike the training data: unknown categories, and numbers outside its range."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._formatting import significant
from surefoot.data.columns import Columns, Schema

MAX_EXAMPLES = 3
MAX_LINES = 10  # of one kind
DIGITS = 6
SECONDS_PER_DAY = 86_400
ROW_NAMES = 0.9  # a column with more distinct values than this fraction of its rows contains names of rows
UNKNOWN = -2  # the code that Columns gives to unknown categories


@dataclass(frozen=True)
class Unusual:
    """The number of unusual rows in one column; ``sentence`` shows some of their values."""

    column: str
    n_rows: int
    sentence: str


def unseen_categories(rows: Any, schema: Schema) -> list[Unusual]:
    """Columns with categories that a model was not fitted to; ``rows`` is a pandas frame of the model's columns."""
    columns = Columns.from_frame(rows, schema)
    unusual = []
    for position in sorted(schema.categories):
        values = rows.iloc[:, position]
        unusual += _unseen(values[columns.category_codes(position) == UNKNOWN], len(rows))
    return unusual


def unseen_texts(first: Any, later: Any, columns: list[str]) -> list[Unusual]:
    """Text columns of a later table with values that the first one does not have, except names of rows."""
    unusual = []
    for name in columns:
        known = first[name].dropna()
        if name in later.columns and known.nunique() <= ROW_NAMES * len(known):
            values = later[name].dropna()
            unusual += _unseen(values[~values.isin(known.unique())], len(later))
    return unusual


def outside_range(rows: Any, schema: Schema) -> tuple[list[Unusual], int]:
    """Columns with numbers outside the range of the training data, and the number of rows with such a number."""
    unusual, any_outside = [], np.zeros(len(rows), dtype=np.bool_)
    for position, (low, high) in sorted(schema.ranges.items()):
        values = rows.iloc[:, position].to_numpy(np.float64)
        outside = (values < low) | (values > high)
        any_outside |= outside
        if outside.any():
            show = _day if position in (schema.dates or ()) else _number
            ends = (show(values[outside].min()), show(values[outside].max()))
            new_values = ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
            known = f"the training data has {show(low)} to {show(high)}"
            sentence = f"{known}, {outside.sum():,} of {len(rows):,} rows have {new_values}"
            unusual.append(Unusual(str(rows.columns[position]), int(outside.sum()), sentence))
    return unusual, int(any_outside.sum())


def lines_of(unusual: list[Unusual], consequence: str = "") -> list[str]:
    """A line for each column, the most unusual first if there are many; ``consequence`` ends every line."""
    is_long = len(unusual) > MAX_LINES
    shown = sorted(unusual, key=lambda one: -one.n_rows)[:MAX_LINES] if is_long else unusual
    lines = [f"column {one.column!r}: {one.sentence}{consequence}." for one in shown]
    return [*lines, f"and {len(unusual) - MAX_LINES} more such columns."] if is_long else lines


def _unseen(values: Any, n_rows: int) -> list[Unusual]:
    if not len(values):
        return []
    distinct = values.astype(str).value_counts().index
    examples = ", ".join(map(repr, distinct[:MAX_EXAMPLES])) + (", ..." if len(distinct) > MAX_EXAMPLES else "")
    sentence = f"{len(values):,} of {n_rows:,} rows have values that are not in the training data: {examples}"
    return [Unusual(str(values.name), len(values), sentence)]


def _number(value: float) -> str:
    return significant(value, DIGITS)


def _day(value: float) -> str:
    return str(np.datetime64(round(value * SECONDS_PER_DAY), "s")).removesuffix("T00:00:00")
