"""Conditions on a column, such as "age > 61", and the parts that they divide its rows into."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import inf, isfinite

import numpy as np

from surefoot._formatting import LARGE, SMALL, decimals_for, number, signed
from surefoot.report.inputs.column_readers import CATEGORY, DATE
from surefoot.report.sections.subgroups.columns import Slice, SliceColumn

N_PARTS = 5  # of a numeric column
FEW_VALUES = 5  # a numeric column with at most so many values has a part for each
MAX_LEVELS = 10  # of a column of categories: the others are merged
MIN_ROWS = 30  # of a part, and of the rows outside it
DIGITS = 4  # of a number in a condition
TRUE_FALSE = {0.0: "false", 1.0: "true"}


@dataclass(frozen=True)
class Condition:
    """The rows whose value lies above ``low`` and is at most ``high``, has one of the levels, or is missing.

    Levels are codes of a categorical. ``is_not`` turns the condition round.
    """

    column: SliceColumn
    text: str
    low: float = -inf
    high: float = inf
    levels: tuple[int, ...] | None = None
    is_missing: bool = False
    is_not: bool = False

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """Which of the rows meet the condition."""
        values = self.column.values
        if self.column.kind == CATEGORY:
            met = np.isin(values.cat.codes.to_numpy()[rows], (-1,) if self.is_missing else self.levels or ())
        else:
            numbers = values.to_numpy()[rows]
            met = np.isnan(numbers) if self.is_missing else (numbers > self.low) & (numbers <= self.high)
        return np.asarray(~met if self.is_not else met)


@dataclass(frozen=True)
class Part:
    """Held-out rows that meet one or several conditions."""

    conditions: tuple[Condition, ...]
    is_inside: np.ndarray

    @property
    def name(self) -> str:
        return " and ".join(each.text for each in self.conditions)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each.column.name for each in self.conditions))


def parts_of(columns: Slice, rows: np.ndarray) -> Iterator[Part]:
    """The parts of one column, or of a crossing of several; also those with few rows, but no empty ones."""
    for conditions in product(*(divided(column, rows) for column in columns)):
        inside = np.logical_and.reduce([each.of_rows(rows) for each in conditions])
        if inside.any():
            yield Part(conditions, inside)


def divided(column: SliceColumn, rows: np.ndarray) -> list[Condition]:
    """Conditions of which every row meets exactly one: levels, or fifths of numbers; missing values are a level."""
    if column.kind == CATEGORY:
        return [*_levels(column, rows), *_missing(column, column.values.cat.codes.to_numpy()[rows] < 0)]
    numbers = column.values.to_numpy()[rows]
    known = numbers[~np.isnan(numbers)]
    values = np.unique(known)
    if len(values) <= FEW_VALUES:
        parts = [_equal(column, value) for value in values]
    else:
        cuts = cuts_of(known, N_PARTS)
        parts = [_between(column, low, high) for low, high in zip((-inf, *cuts), (*cuts, inf), strict=True)]
    return [*parts, *_missing(column, np.isnan(numbers))]


def candidates(column: SliceColumn, rows: np.ndarray) -> list[Condition]:
    """The conditions that a search may use: a level or not, above or up to a tenth, missing or not."""
    if column.kind == CATEGORY:
        levels = [each for each in _levels(column, rows) if each.levels is not None and len(each.levels) == 1]
        opposites = [_opposite(each, " = ", " ≠ ") for each in levels] if len(levels) > 2 else []
        return [*levels, *opposites, *_missing(column, column.values.cat.codes.to_numpy()[rows] < 0)]
    numbers = column.values.to_numpy()[rows]
    known = numbers[~np.isnan(numbers)]
    values = np.unique(known)
    if len(values) <= 2:
        return [*(_equal(column, value) for value in values), *_missing(column, np.isnan(numbers))]
    cuts = values[:-1] if len(values) <= FEW_VALUES else cuts_of(known, 2 * N_PARTS)
    above, up_to = ([_between(column, *ends) for ends in pairs] for pairs in _both_sides(cuts))
    return [*above, *up_to, *_missing(column, np.isnan(numbers))]


def _both_sides(cuts: np.ndarray) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    return [(float(cut), inf) for cut in cuts], [(-inf, float(cut)) for cut in cuts]


def cuts_of(known: np.ndarray, n_parts: int) -> np.ndarray:
    """Values that divide the rows into about equal parts; fewer where many rows have the same value."""
    cuts = np.unique(np.quantile(known, np.arange(1, n_parts) / n_parts, method="inverted_cdf"))
    return cuts[cuts < known.max()]


def _levels(column: SliceColumn, rows: np.ndarray) -> list[Condition]:
    """A condition for each frequent level, and one for all others together."""
    names, codes = column.values.cat.categories, column.values.cat.codes.to_numpy()[rows]
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    order = np.argsort(-counts, kind="stable")
    frequent = [int(code) for code in order[:MAX_LEVELS] if counts[code] >= MIN_ROWS]
    others = tuple(int(code) for code in order if counts[code] and int(code) not in set(frequent))
    if len(others) == 1:
        frequent, others = [*frequent, others[0]], ()
    conditions = [Condition(column, f"{column.name} = {names[code]}", levels=(code,)) for code in frequent]
    if others:
        text = f"{column.name} = one of {len(others):,} {'other' if frequent else 'rare'} levels"
        conditions.append(Condition(column, text, levels=others))
    return conditions


def _equal(column: SliceColumn, value: float) -> Condition:
    text = TRUE_FALSE.get(value, shown(column, value)) if column.is_boolean else shown(column, value)
    return Condition(column, f"{column.name} = {text}", low=float(np.nextafter(value, -inf)), high=float(value))


def _between(column: SliceColumn, low: float, high: float) -> Condition:
    if not isfinite(low):
        text = f"{column.name} ≤ {shown(column, high)}"
    elif not isfinite(high):
        text = f"{column.name} > {shown(column, low)}"
    else:
        text = f"{shown(column, low)} < {column.name} ≤ {shown(column, high)}"
    return Condition(column, text, low=float(low), high=float(high))


def _missing(column: SliceColumn, is_missing: np.ndarray) -> list[Condition]:
    return [Condition(column, f"{column.name} is missing", is_missing=True)] if is_missing.any() else []


def _opposite(condition: Condition, sign: str, opposite: str) -> Condition:
    text = condition.text.replace(f"{condition.column.name}{sign}", f"{condition.column.name}{opposite}", 1)
    return Condition(condition.column, text, levels=condition.levels, is_not=True)


def shown(column: SliceColumn, value: float) -> str:
    """A value as text, without separators of thousands, as it may be a year: dates as 2024-12-31."""
    if column.kind == DATE:
        return str(np.datetime64("1970-01-01") + np.timedelta64(round(value), "D"))
    if abs(value) >= LARGE or 0 < abs(value) < SMALL:
        return number(value, DIGITS)
    text = signed(value, decimals_for(abs(value), DIGITS)).replace(",", "")
    return text.rstrip("0").rstrip(".") if "." in text else text
