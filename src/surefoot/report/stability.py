"""Question 3: would the conclusion survive dropping a row?"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._exceptions import UndecidedWarning
from surefoot.report.answers import StableSet
from surefoot.report.column_readers import CATEGORY
from surefoot.report.table import AuditTable
from surefoot.report.target import CLASSES
from surefoot.selection import LassoSelector, StableSelector, TreeSelector
from surefoot.selection.selector import Selector
from surefoot.selection.tree_selector import LEAF

MOST_CATEGORIES = 20  # of a column that variables are chosen from
BAG_SHARE, MOST_BAG_ROWS = 1 / 3, 500
TREE_DEPTH = 2
SHOWN_MODELS = 8
OF_CLASSES = "It is that of least squares: the two classes count as 0 and 1."
LASSO, TREE = "LASSO", "decision tree"
BAGS = {LASSO: 10_000, TREE: 1000}


@dataclass(frozen=True)
class SelectionFrame:
    """The columns that variables are chosen from, without gaps, and the target as selectors take it."""

    frame: Any
    y: np.ndarray
    numbers: np.ndarray  # the target as numbers, for the LASSO; empty for several classes
    remarks: tuple[str, ...]

    @classmethod
    def of(cls, table: AuditTable, rows: np.ndarray) -> "SelectionFrame":
        """Gaps are filled with medians, or are a category of their own."""
        import pandas as pd

        parts, large, filled = {}, [], 0
        for reader in table.readers:
            column = table.frame[reader.name].iloc[rows]
            if reader.kind == CATEGORY:
                text = column.astype(object).where(column.notna(), "(missing)").astype(str)
                if text.nunique() > MOST_CATEGORIES:
                    large.append(str(reader.name))
                    continue
                column = text.astype("category")
            elif column.isna().any():
                column, filled = column.fillna(column.median()), filled + 1
            if column.nunique() > 1:
                parts[str(reader.name)] = column
        remarks = []
        if large:
            remarks.append(f"Not among the variables, for their many categories: {', '.join(large)}.")
        if filled:
            remarks.append(
                f"Missing values of {filled} columns are filled with medians of all rows; the guarantee is about the "
                "table so filled."
            )
        target = table.target
        numbers = np.empty(0) if target.task == CLASSES else target.y[rows].astype(np.float64)
        return cls(pd.DataFrame(parts), target.labels[rows], numbers, tuple(remarks))

    @property
    def bag_size(self) -> int:
        return int(min(max(BAG_SHARE * len(self.y), 5), MOST_BAG_ROWS))

    @property
    def penalty(self) -> float:
        """Where noise alone rarely gets a coefficient: the universal threshold for bags of this size."""
        n_columns = sum(column.nunique() if str(column.dtype) == CATEGORY else 1 for _, column in self.frame.items())
        return float(np.std(self.numbers) * np.sqrt(2 * np.log(2 * max(n_columns, 2)) / self.bag_size))

    def selector(self, name: str) -> tuple[Selector, np.ndarray]:
        """A selector and the target it takes."""
        if name == LASSO:
            return LassoSelector(alpha=self.penalty, standardize=True), self.numbers
        criterion = {} if self.y.dtype.kind != "f" else {"criterion": "squared_error"}
        return TreeSelector(max_depth=TREE_DEPTH, **criterion), self.y

    @property
    def selectors(self) -> tuple[str, ...]:
        return (TREE,) if not len(self.numbers) else (LASSO, TREE)


def fit_stable(table: SelectionFrame, name: str, seed: int, n_jobs: int | None) -> StableSelector:
    """Bags of rows, on each of which one kind of model is chosen."""
    selector, y = table.selector(name)
    stable = StableSelector(selector, n_bags=BAGS[name], bag_size=table.bag_size, random_state=seed, n_jobs=n_jobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndecidedWarning)  # the page says it in its own words
        return stable.fit(table.frame, y)


def stable_set(table: SelectionFrame, name: str, stable: StableSelector) -> StableSet:
    """What the bags agree on, beside what one look at all rows claims."""
    once = stable.select_once()
    heaviest = sorted(stable.weights_.items(), key=lambda pair: -pair[1])[:SHOWN_MODELS]
    is_tree = name == TREE
    text = tree_in_a_line if is_tree else variables_in_a_line
    return StableSet(
        selector=name,
        single=text(once),
        single_weight=float(dict(stable.weights_).get(once, 0.0)),
        stable=_expression(stable, is_tree),
        n_models=len(stable.selected_),
        models=tuple((text(model), float(weight)) for model, weight in heaviest),
        inclusion=() if is_tree else _inclusion(stable),
        undecided=bool(stable.undecided_),
        guarantee=stable.guarantee_,
        delta=float(stable.delta_),
        instability=float(stable.leave_one_out().instability),
        n_bags=int(stable.n_bags),
        bag_size=table.bag_size,
        remarks=table.remarks if is_tree or table.y.dtype.kind == "f" else (*table.remarks, OF_CLASSES),
    )


def _expression(stable: StableSelector, is_tree: bool) -> str:
    if stable.undecided_ or not is_tree:
        return stable.expression_
    return " or ".join(tree_in_a_line(model) for model in stable.selected_)


def _inclusion(stable: StableSelector) -> tuple[tuple[str, float], ...]:
    shares: dict[str, float] = {}
    for model, weight in stable.weights_.items():
        for variable in model:  # type: ignore[attr-defined]
            shares[variable] = shares.get(variable, 0.0) + float(weight)
    return tuple(sorted(shares.items(), key=lambda pair: -pair[1]))


def variables_in_a_line(model: Any) -> str:
    """The variables of a model, with commas."""
    return ", ".join(map(str, model)) if model else "no variable"


def tree_in_a_line(model: Any) -> str:
    """The variables that a tree asks for: the root, then those below it."""
    if not isinstance(model, tuple):
        return "no variable"
    variable, low, high = model
    below = [tree_in_a_line(side) if isinstance(side, tuple) else _leaf(side) for side in (low, high)]
    return str(variable) if below == ["-", "-"] else f"{variable} (low: {below[0]}; high: {below[1]})"


def _leaf(label: Any) -> str:
    """The class of a leaf; trees of numbers have none."""
    return "-" if label == LEAF else str(label)
