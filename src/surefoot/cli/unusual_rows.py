"""Rows unlike those of training: values that were never seen, and numbers outside of the range that was."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.data.columns import Columns, Schema

MAX_EXAMPLES = 3
MAX_LINES = 10  # of one kind
SECONDS_PER_DAY = 86_400
ROW_NAMES = 0.9  # a column with more different values than this fraction of its rows names rows
NEVER_SEEN = -2  # the code that Columns gives to unknown categories


@dataclass(frozen=True)
class Unusual:
    """What was counted in one column: ``sentence`` says of how many rows, and shows some of their values."""

    column: str
    n_rows: int
    sentence: str


def unseen_categories(rows: Any, schema: Schema) -> list[Unusual]:
    """Columns with categories that a model was not fitted to; ``rows`` are a pandas frame of the model's columns."""
    columns = Columns.from_frame(rows, schema)
    found = []
    for position in sorted(schema.categories):
        values = rows.iloc[:, position]
        found += _unseen(values[columns.category_codes(position) == NEVER_SEEN], len(rows), "the model")
    return found


def unseen_texts(first: Any, later: Any, columns: list[str]) -> list[Unusual]:
    """Columns of text of a later table with values that the first one does not have, unless they name rows."""
    found = []
    for name in columns:
        known = first[name].dropna()
        if name in later.columns and known.nunique() <= ROW_NAMES * len(known):
            values = later[name].dropna()
            found += _unseen(values[~values.isin(known.unique())], len(later), "the first table")
    return found


def outside_range(rows: Any, schema: Schema) -> tuple[list[Unusual], int]:
    """Columns with numbers outside of the range of training, and how many rows have at least one such number."""
    found, any_outside = [], np.zeros(len(rows), dtype=np.bool_)
    for position, (low, high) in sorted(schema.ranges.items()):
        values = rows.iloc[:, position].to_numpy(np.float64)
        outside = (values < low) | (values > high)
        any_outside |= outside
        if outside.any():
            show = _day if position in (schema.dates or ()) else _number
            worst = (show(values[outside].min()), show(values[outside].max()))
            values_there = worst[0] if worst[0] == worst[1] else f"{worst[0]} to {worst[1]}"
            sentence = f"training had {show(low)} to {show(high)}, {outside.sum():,} of {len(rows):,} rows have "
            found.append(Unusual(str(rows.columns[position]), int(outside.sum()), sentence + values_there))
    return found, int(any_outside.sum())


def lines_of(unseen: list[Unusual], then: str = "") -> list[str]:
    """A line for each column, the worst first where there are many; ``then`` says what becomes of the values."""
    worst = sorted(unseen, key=lambda one: -one.n_rows)[:MAX_LINES] if len(unseen) > MAX_LINES else unseen
    lines = [f"column {one.column!r}: {one.sentence}{then}." for one in worst]
    return lines + ([f"and {len(unseen) - MAX_LINES} more such columns."] if len(unseen) > MAX_LINES else [])


def _unseen(strange: Any, n_rows: int, where: str) -> list[Unusual]:
    if not len(strange):
        return []
    values = strange.astype(str).value_counts().index
    examples = ", ".join(map(repr, values[:MAX_EXAMPLES])) + (", ..." if len(values) > MAX_EXAMPLES else "")
    sentence = f"{len(strange):,} of {n_rows:,} rows have values that {where} has never seen: {examples}"
    return [Unusual(str(strange.name), len(strange), sentence)]


def _number(value: float) -> str:
    return f"{value:.6g}"


def _day(value: float) -> str:
    return str(np.datetime64(round(value * SECONDS_PER_DAY), "s")).removesuffix("T00:00:00")
