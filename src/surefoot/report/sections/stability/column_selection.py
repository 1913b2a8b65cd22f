"""Columns that the LASSO and a small decision tree choose, from the rows of a bag alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._formatting import counted
from surefoot.report.inputs.column_readers import CATEGORY
from surefoot.report.inputs.table import AuditTable
from surefoot.report.inputs.target import CLASSES
from surefoot.report.sections.stability.bags import ROW, Copies, Units, choose_between_copies
from surefoot.selection import LassoSelector, StableSelector, TreeSelector
from surefoot.selection.selector import PreparedSelector, Selector
from surefoot.selection.table import read_table

LASSO, TREE = "LASSO", "decision tree"
MAX_CATEGORIES = 20  # columns with more categories are left out
TREE_DEPTH = 2
N_LASSO_BAGS, N_TREE_BAGS = 5000, 300  # bags that lack a given row; a tree takes a hundred times as long
MIN_LASSO_BAGS, MAX_LASSO_WORK = 1000, 5_000_000_000  # products of columns, over all bags
OF_CLASSES = "The LASSO minimizes squared errors, with the two classes as 0 and 1."
SAME = 0.999  # correlation of nearly identical columns: which of them is chosen depends on a few rows


@dataclass(frozen=True)
class SelectionFrame:
    """The columns to choose from, and the target.

    No value depends on other rows: missing numbers are imputed in each bag, and missing categories are a category.
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
            remarks.append(f"Left out, as they have more than {MAX_CATEGORIES} categories: {', '.join(large)}.")
        if n_missing:
            remarks.append(
                f"Missing values in {counted(n_missing, 'column')} are imputed in each bag with the medians of its own "
                "rows; a missing-value indicator counts as part of its column."
            )
        target = table.target
        numbers = np.empty(0) if target.task == CLASSES else target.y[rows].astype(np.float64)
        return cls(pd.DataFrame(parts), target.labels[rows], numbers, tuple(remarks))

    @property
    def selectors(self) -> tuple[str, ...]:
        """The names of the selectors for this target."""
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
        """The number of bags, bounded by the work; a column of many categories counts as many columns."""
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
    """Chooses columns on bags of units; between copies of a column, a bag chooses at random."""

    items: tuple[str, ...]
    prepared: PreparedSelector
    units: Units
    copies: Copies
    are_variables: bool = True

    @property
    def bags_per_call(self) -> int:
        return self.prepared.bags_per_call

    def select(self, bags: np.ndarray) -> np.ndarray:
        """The columns that are chosen on each bag."""
        rows: Sequence[np.ndarray] | np.ndarray
        if self.units.name == ROW:
            rows = np.sort(self.units.rows[bags], axis=1)
            chosen = self._as_sets(self.prepared.select(rows))
        else:
            rows = [self.units.rows_of(bag) for bag in bags]
            chosen = np.concatenate([self._as_sets(self.prepared.select(each[np.newaxis])) for each in rows])
        choose_between_copies(chosen, self.copies, rows)
        return chosen

    def _as_sets(self, chosen: Any) -> np.ndarray:
        """Sets of columns; the set of a tree contains all columns that it splits on."""
        if self.prepared.items is not None:
            return np.asarray(chosen)
        positions = {name: position for position, name in enumerate(self.items)}
        sets = np.zeros((len(chosen), len(positions)), dtype=np.bool_)
        for bag, tree in enumerate(chosen):
            sets[bag, [positions[name] for name in columns_of(tree)]] = True
        return sets


def columns_of(tree: Any) -> set[str]:
    """The columns that a tree splits on."""
    if not isinstance(tree, tuple):
        return set()
    return {tree[0], *columns_of(tree[1]), *columns_of(tree[2])}


def copies_of(frame: Any) -> Copies:
    """Positions of nearly identical columns: numbers in other units or with a little noise, renamed categories."""
    same: dict[bytes | int, list[int]] = {}
    columns = [column for _, column in frame.items()]
    numbers = {k: _standardised(column) for k, column in enumerate(columns) if str(column.dtype) != CATEGORY}
    for j in range(len(columns)):
        if j not in numbers:
            same.setdefault(_partition_of(columns[j]), []).append(j)
            continue
        like = (first for first in same if isinstance(first, int) and abs(numbers[first] @ numbers[j]) > SAME)
        same.setdefault(next(like, j), []).append(j)
    return [positions for positions in same.values() if len(positions) > 1]


def _partition_of(column: Any) -> bytes:
    """The partition of the rows into categories, which does not depend on their names."""
    import pandas as pd

    return pd.factorize(column)[0].tobytes()


def _standardised(column: Any) -> np.ndarray:
    """A column of numbers, scaled to length 1, so that products are correlations; missing values are its mean."""
    values = column.to_numpy(np.float64)
    centred = np.nan_to_num(values - np.nanmean(values))
    return np.asarray(centred / (np.linalg.norm(centred) or 1.0))
