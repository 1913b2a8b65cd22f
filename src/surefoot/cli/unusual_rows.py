"""Rows unlike the training data: unknown categories, and numbers outside its range."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._formatting import significant
from surefoot.data.columns import Columns, Schema

MAX_EXAMPLES = 3
MAX_COUNTED = 100_000  # distinct values of a column: memory must not grow with the rows
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


class UnusualRows:
    """Counts the unusual rows of a table, which may come in several parts.

    A part is a pandas frame of the columns that a model was fitted to; ``schema`` is that of the model.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self.n_rows = self.n_outside = 0
        self._names: list[str] = []
        self._unseen = {position: UnseenValues() for position in sorted(schema.categories)}
        self._outside = {position: ValuesOutside(*schema.ranges[position]) for position in sorted(schema.ranges)}

    def count(self, rows: Any) -> None:
        """Add the rows of a part."""
        self._names = [str(name) for name in rows.columns]
        self.n_rows += len(rows)
        columns = Columns.from_frame(rows, self._schema)
        for position, unseen in self._unseen.items():
            unseen.count(rows.iloc[:, position][columns.category_codes(position) == UNKNOWN])
        any_outside = np.zeros(len(rows), dtype=np.bool_)
        for position, outside in self._outside.items():
            any_outside |= outside.count(rows.iloc[:, position].to_numpy(np.float64))
        self.n_outside += int(any_outside.sum())

    def unseen_categories(self) -> list[Unusual]:
        """Columns with categories that the model was not fitted to."""
        return [
            Unusual(self._names[position], unseen.n_rows, unseen.sentence(self.n_rows))
            for position, unseen in self._unseen.items()
            if unseen.n_rows
        ]

    def outside_range(self) -> list[Unusual]:
        """Columns with numbers outside the range of the training data."""
        dates = self._schema.dates or ()
        return [
            Unusual(
                self._names[position],
                outside.n_rows,
                outside.sentence(self.n_rows, _day if position in dates else _number),
            )
            for position, outside in self._outside.items()
            if outside.n_rows
        ]


class UnseenValues:
    """Counts the values of one column that the training data does not have; only so many are told apart."""

    def __init__(self) -> None:
        self.n_rows = 0
        self._counts: dict[str, int] = {}

    def count(self, values: Any) -> None:
        """Add values, a pandas series."""
        self.n_rows += len(values)
        for text, n in values.astype(str).value_counts(sort=False).items():
            if text in self._counts or len(self._counts) < MAX_COUNTED:
                self._counts[text] = self._counts.get(text, 0) + int(n)

    def sentence(self, n_rows: int) -> str:
        """How many of the rows of the table have such values, and the most frequent of these."""
        distinct = sorted(self._counts, key=lambda text: -self._counts[text])
        examples = ", ".join(map(repr, distinct[:MAX_EXAMPLES])) + (", ..." if len(distinct) > MAX_EXAMPLES else "")
        return f"{self.n_rows:,} of {n_rows:,} rows have values that are not in the training data: {examples}"


@dataclass
class ValuesOutside:
    """Counts the values of one column outside a range, and finds the smallest and the largest of them."""

    low: float
    high: float
    n_rows: int = 0
    smallest: float = np.inf
    largest: float = -np.inf

    def count(self, values: np.ndarray) -> np.ndarray:
        """Add values; return which of them are outside."""
        outside = (values < self.low) | (values > self.high)
        if outside.any():
            self.n_rows += int(outside.sum())
            self.smallest = min(self.smallest, float(values[outside].min()))
            self.largest = max(self.largest, float(values[outside].max()))
        return outside

    def sentence(self, n_rows: int, show: Callable[[float], str]) -> str:
        """Both ranges, and how many of the rows of the table are outside."""
        ends = show(self.smallest), show(self.largest)
        new_values = ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
        known = f"the training data has {show(self.low)} to {show(self.high)}"
        return f"{known}, {self.n_rows:,} of {n_rows:,} rows have {new_values}"


def unseen_texts(first: Any, later: Any, columns: list[str]) -> list[Unusual]:
    """Text columns of a later table with values that the first one does not have, except names of rows."""
    unusual = []
    for name in columns:
        known = first[name].dropna()
        if name in later.columns and known.nunique() <= ROW_NAMES * len(known):
            values, unseen = later[name].dropna(), UnseenValues()
            unseen.count(values[~values.isin(known.unique())])
            if unseen.n_rows:
                unusual.append(Unusual(str(name), unseen.n_rows, unseen.sentence(len(later))))
    return unusual


def lines_of(unusual: list[Unusual], consequence: str = "") -> list[str]:
    """A line for each column, the most unusual first if there are many; ``consequence`` ends every line."""
    is_long = len(unusual) > MAX_LINES
    shown = sorted(unusual, key=lambda one: -one.n_rows)[:MAX_LINES] if is_long else unusual
    lines = [f"column {one.column!r}: {one.sentence}{consequence}." for one in shown]
    return [*lines, f"and {len(unusual) - MAX_LINES} more such columns."] if is_long else lines


def _number(value: float) -> str:
    return significant(value, DIGITS)


def _day(value: float) -> str:
    return str(np.datetime64(round(value * SECONDS_PER_DAY), "s")).removesuffix("T00:00:00")
