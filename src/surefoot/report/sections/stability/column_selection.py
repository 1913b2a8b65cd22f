"""Columns that the LASSO and a small decision tree choose, each from the rows of a bag alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.report.inputs.column_readers import CATEGORY
from surefoot.report.inputs.table import AuditTable
from surefoot.report.inputs.target import CLASSES
from surefoot.report.sections.stability.bags import ROW, Copies, Units, draw_lots
from surefoot.selection import LassoSelector, StableSelector, TreeSelector
from surefoot.selection.selector import PreparedSelector, Selector
from surefoot.selection.table import read_table

LASSO, TREE = "LASSO", "decision tree"
MAX_CATEGORIES = 20  # of a column that columns are chosen from
TREE_DEPTH = 2
N_LASSO_BAGS, N_TREE_BAGS = 5000, 300  # that lack a given row; a tree takes a hundred times as long
MIN_LASSO_BAGS, MAX_LASSO_WORK = 1000, 5_000_000_000  # products of columns on all bags together
OF_CLASSES = "The LASSO is that of least squares: the two classes count as 0 and 1."
SAME = 0.999  # correlation of columns that say the same: which of them is chosen is the luck of a few rows


@dataclass(frozen=True)
class SelectionFrame:
    """The columns that are chosen from, and the target.

    No value depends on other rows: missing numbers are filled in each bag, and missing categories are a category.
    """

    frame: Any
    y: np.ndarray  # labels, or numbers
    numbers: np.ndarray  # the target as numbers, for the LASSO; empty for several classes
    remarks: tuple[str, ...]

    @classmethod
    def of(cls, table: AuditTable, rows: np.ndarray) -> "SelectionFrame":
        import pandas as pd

        parts, large, n_missing = {}, [], 0
        for reader in table.readers:
            column = table.frame[reader.name].iloc[rows]
            if reader.kind == CATEGORY:
                text = column.astype(object).where(column.notna(), "(missing)").astype(str)
                if text.nunique() > MAX_CATEGORIES:
                    large.append(str(reader.name))
                    continue
                column = text.astype("category")
            n_missing += int(column.isna().any())
            if column.nunique(dropna=False) > 1:
                parts[str(reader.name)] = column
        remarks = []
        if large:
            remarks.append(f"Not chosen from, as they have more than {MAX_CATEGORIES} categories: {', '.join(large)}.")
        if n_missing:
            remarks.append(
                f"Missing values of {n_missing} columns are filled in each bag with the medians of its own rows; that "
                "a value is missing counts as part of the column."
            )
        target = table.target
        numbers = np.empty(0) if target.task == CLASSES else target.y[rows].astype(np.float64)
        return cls(pd.DataFrame(parts), target.labels[rows], numbers, tuple(remarks))

    @property
    def selectors(self) -> tuple[str, ...]:
        """What can choose for this target."""
        if not self.frame.shape[1]:
            return ()
        return (LASSO, TREE) if len(self.numbers) else (TREE,)

    def prepare(self, name: str, units: Units) -> "ColumnChooser":
        """A selector of columns, ready for bags of units of these rows."""
        selector, y = self._selector(name)
        table = read_table(
            StableSelector(selector), self.frame, y, selector.target, {}, may_be_constant=True, may_be_missing=True
        )
        items = tuple(map(str, self.frame.columns))
        return ColumnChooser(items, selector.prepare(table), units, copies_of(self.frame))

    def n_bags(self, name: str, units: Units) -> int:
        """So many as there is time for: columns of many categories are many columns."""
        if name == TREE:
            return N_TREE_BAGS
        n_columns = sum(column.nunique() if str(column.dtype) == CATEGORY else 1 for _, column in self.frame.items())
        n_rows = len(self.frame) * units.bag_size / len(units)
        return int(min(max(MAX_LASSO_WORK / (n_rows * n_columns**2), MIN_LASSO_BAGS), N_LASSO_BAGS))

    def _selector(self, name: str) -> tuple[Selector, np.ndarray]:
        if name == LASSO:
            return LassoSelector(alpha="universal", missing="bag_median"), self.numbers
        criterion = {} if self.y.dtype.kind != "f" else {"criterion": "squared_error"}
        return TreeSelector(missing="bag_median", max_depth=TREE_DEPTH, **criterion), self.y

    def remarks_on(self, name: str) -> tuple[str, ...]:
        return self.remarks if name == TREE or self.y.dtype.kind == "f" else (*self.remarks, OF_CLASSES)


@dataclass(frozen=True)
class ColumnChooser:
    """Chooses columns on bags of units. Where columns are copies of each other, lots are drawn by the bag's rows."""

    items: tuple[str, ...]
    prepared: PreparedSelector
    units: Units
    copies: Copies
    are_variables: bool = True

    @property
    def bags_per_call(self) -> int:
        return self.prepared.bags_per_call

    def select(self, bags: np.ndarray) -> np.ndarray:
        """Which columns are chosen on each bag."""
        rows: Sequence[np.ndarray] | np.ndarray
        if self.units.name == ROW:
            rows = np.sort(self.units.rows[bags], axis=1)
            chosen = self._as_sets(self.prepared.select(rows))
        else:
            rows = [self.units.rows_of(bag) for bag in bags]
            chosen = np.concatenate([self._as_sets(self.prepared.select(each[np.newaxis])) for each in rows])
        draw_lots(chosen, self.copies, rows)
        return chosen

    def _as_sets(self, chosen: Any) -> np.ndarray:
        """Sets of columns; of a tree, those that it asks for, wherever."""
        if self.prepared.items is not None:
            return np.asarray(chosen)
        places = {name: place for place, name in enumerate(self.items)}
        sets = np.zeros((len(chosen), len(places)), dtype=np.bool_)
        for bag, tree in enumerate(chosen):
            sets[bag, [places[name] for name in columns_of(tree)]] = True
        return sets


def columns_of(tree: Any) -> set[str]:
    """The columns that a tree asks for."""
    if not isinstance(tree, tuple):
        return set()
    return {tree[0], *columns_of(tree[1]), *columns_of(tree[2])}


def copies_of(frame: Any) -> Copies:
    """Places of columns that say the same: numbers in other units or with a little noise, categories by other names."""
    same: dict[bytes | int, list[int]] = {}
    columns = [column for _, column in frame.items()]
    numbers = {k: _standardised(column) for k, column in enumerate(columns) if str(column.dtype) != CATEGORY}
    for place in range(len(columns)):
        if place not in numbers:
            same.setdefault(_levels_of(columns[place]), []).append(place)
            continue
        like = (first for first in same if isinstance(first, int) and abs(numbers[first] @ numbers[place]) > SAME)
        same.setdefault(next(like, place), []).append(place)
    return [places for places in same.values() if len(places) > 1]


def _levels_of(column: Any) -> bytes:
    """What a column of categories has in common with its copies: which rows share one."""
    import pandas as pd

    return pd.factorize(column)[0].tobytes()


def _standardised(column: Any) -> np.ndarray:
    """A column of numbers, of length 1, so that products are correlations; missing values are its mean."""
    values = column.to_numpy(np.float64)
    centred = np.nan_to_num(values - np.nanmean(values))
    return np.asarray(centred / (np.linalg.norm(centred) or 1.0))
