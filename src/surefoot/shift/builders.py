"""From two tables to a matrix: read the target like the training data, then compare them feature by feature."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import BaseEstimator

from surefoot._exceptions import DataError
from surefoot._numbers import passed_as
from surefoot._parallel import row_blocks
from surefoot.data import Columns
from surefoot.data.checked_table import check_table
from surefoot.data.columns import is_frame
from surefoot.shift.dominance_gram import COMPARE_CELLS, DominanceGram
from surefoot.shift.gram import Gram
from surefoot.shift.product_gram import ProductGram
from surefoot.shift.step_gram import Cells, StepGram

MIN_TARGET_ROWS = 2
LOWER, UPPER, BOTH = ORIENTATIONS = ("lower", "upper", "both")
KINDS = ("mean", "joint", "product")


class TableReader(BaseEstimator):
    """Remembers the columns of a table, so that another table can be read with the same columns."""


def read_tables(X: Any, X_target: Any) -> tuple[Columns, Columns]:
    """Read the training data and the target with the same columns and codes of categories."""
    reader = TableReader()
    columns = check_table(reader, X)
    return columns, read_target(reader, X, X_target, columns)


def read_target(reader: BaseEstimator, X: Any, X_target: Any, columns: Columns) -> Columns:
    """Read the target with the columns that ``reader`` has seen; columns of two frames are matched by name."""
    X_target = _reorder_columns(X, X_target)
    with passed_as("X_target", " cannot be read with the columns of X"), warnings.catch_warnings():
        # an array has no names, and needs none if X is a frame
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        target = check_table(reader, X_target, columns.schema)
    if target.n_rows < MIN_TARGET_ROWS:
        raise DataError(
            f"X_target has {target.n_rows} row: at least {MIN_TARGET_ROWS} are needed to see a distribution."
        )
    return target


def _reorder_columns(X: Any, X_target: Any) -> Any:
    """Return the target with its columns in the order of X, if both are frames with the same names."""
    if not (is_frame(X) and is_frame(X_target)):
        return X_target
    names, target = nw.from_native(X, eager_only=True).columns, nw.from_native(X_target, eager_only=True)
    absent = [name for name in names if name not in target.columns]
    if absent:
        raise DataError(f"X_target lacks columns that X has, {absent}: it needs the same columns.")
    return target.select(nw.col(*names)).to_native() if len(names) == len(target.columns) else X_target


def rows_as_target(weights: np.ndarray, max_rows: int) -> np.ndarray:
    """Choose training rows that stand in for a target, at most ``max_rows``: a row of weight k counts as k rows."""
    total = float(weights.sum())
    if total <= max_rows and (weights == np.floor(weights)).all():
        return np.repeat(np.arange(len(weights)), weights.astype(np.int64))
    evenly = (np.arange(max_rows) + 0.5) * (total / max_rows)  # by weight
    return np.minimum(np.searchsorted(np.cumsum(weights), evenly, side="right"), np.flatnonzero(weights)[-1])


def column_values(columns: Columns, position: int, rows: np.ndarray) -> np.ndarray:
    """Return one column of some rows as float64, NaN where missing; categories as codes, -2 where unknown."""
    if position not in columns.schema.categories:
        return columns.column(position, rows)
    codes = columns.category_codes(position)[rows].astype(np.float64)
    return np.where(codes == -1, np.nan, codes)


@dataclass(frozen=True)
class Feature:
    """One column of the training rows and of the target; categories have no order."""

    values: np.ndarray
    targets: np.ndarray
    ordered: bool

    def reversed(self) -> "Feature":
        """Return the feature with the order of numbers reversed."""
        return replace(self, values=-self.values, targets=-self.targets) if self.ordered else self

    def cells(self, weight: float) -> list[Cells]:
        """Return the cells of the rows between the target's values; missing values are a cell of their own."""
        known = self.targets[~np.isnan(self.targets)]
        places, counts = np.unique(known, return_counts=True)
        cell = np.searchsorted(places, self.values)  # the first target value that is not below; NaN comes last
        mass = np.append(counts * weight, 0.0)
        if not self.ordered:
            is_known = np.append(places, np.nan)[cell] == self.values
            cell = np.where(is_known, cell, len(places))
        cells = [_merge_empty_cells(np.where(np.isnan(self.values), len(places), cell), mass, self.ordered)]
        n_missing = np.isnan(self.targets).sum()
        if n_missing and np.isnan(self.values).any():
            missing = np.where(np.isnan(self.values), 0, 1).astype(np.int32)
            cells.append(Cells(missing, np.array([n_missing * weight, 0.0]), ordered=False))
        return cells

    def is_dominated(self, start: int, stop: int) -> np.ndarray:
        """Return whether each target (columns) dominates each of the rows ``start`` to ``stop``."""
        values = self.values[start:stop, np.newaxis]
        reached = self.targets >= values if self.ordered else self.targets == values
        return reached | (np.isnan(values) & np.isnan(self.targets))

    def probabilities(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the fraction of targets that dominate each row, and the group that two rows must share for both."""
        known = np.sort(self.targets[~np.isnan(self.targets)])
        is_missing = np.isnan(self.values)
        end = len(known) if self.ordered else np.searchsorted(known, self.values, side="right")
        n_dominating = end - np.searchsorted(known, self.values, side="left")
        counts = np.where(is_missing, np.isnan(self.targets).sum(), n_dominating)
        groups = np.where(is_missing, -1.0, 0.0 if self.ordered else self.values)
        return counts / len(self.targets), groups


def features_of(columns: Columns, target: Columns) -> list[Feature]:
    """Return every column of the training data beside that of the target."""
    rows, target_rows = np.arange(columns.n_rows), np.arange(target.n_rows)
    return [
        Feature(
            values=column_values(columns, j, rows),
            targets=column_values(target, j, target_rows),
            ordered=j not in columns.schema.categories,
        )
        for j in range(columns.n_columns)
    ]


def make_gram(features: list[Feature], kind: str, orientation: str) -> Gram:
    """Make the matrix of one of the ``KINDS`` and ``ORIENTATIONS``."""
    turned = [feature.reversed() for feature in features]
    views = {LOWER: [features], UPPER: [turned], BOTH: [features, turned]}[orientation]
    return {"mean": _mean_gram, "joint": _joint_gram, "product": _product_gram}[kind](views)


def _mean_gram(views: list[list[Feature]]) -> StepGram:
    """The mean over features of their one-feature matrices."""
    weight = 1.0 / (len(views) * len(views[0]) * len(views[0][0].targets))
    return StepGram.from_features([cells for view in views for feature in view for cells in feature.cells(weight)])


def _joint_gram(views: list[list[Feature]]) -> DominanceGram:
    """Targets that dominate both rows in every feature at once: the paper's estimator."""
    n_rows, n_targets = len(views[0][0].values), len(views[0][0].targets)
    parts = []
    for view in views:
        bits = np.empty((n_rows, -(-n_targets // 8)), dtype=np.uint8)
        for start, stop in row_blocks(n_rows, max(1, COMPARE_CELLS // n_targets)):
            reached = np.ones((stop - start, n_targets), dtype=np.bool_)
            for feature in view:
                reached &= feature.is_dominated(start, stop)
            bits[start:stop] = np.packbits(reached, axis=1, bitorder="little")
        parts.append(bits)
    return DominanceGram(np.ascontiguousarray(np.concatenate(parts, axis=1)), len(views) * n_targets)


def _product_gram(views: list[list[Feature]]) -> ProductGram:
    """The product of the target's marginal distributions."""
    return ProductGram([_stacked([feature.probabilities() for feature in view]) for view in views])


def distribution_gram(values: Sequence[np.ndarray], distributions: Sequence[Any], orientation: str) -> ProductGram:
    """Make the product of given distributions; at jumps a value counts as reached."""
    lower = [distribution.sf(x) + _jump(distribution, x) for x, distribution in zip(values, distributions, strict=True)]
    upper = [np.asarray(distribution.cdf(x)) for x, distribution in zip(values, distributions, strict=True)]
    views = {LOWER: [lower], UPPER: [upper], BOTH: [lower, upper]}[orientation]
    return ProductGram([_stacked([(p, np.zeros(len(p))) for p in view]) for view in views])


def _jump(distribution: Any, x: np.ndarray) -> np.ndarray:
    """The probability of exactly x."""
    is_discrete = hasattr(getattr(distribution, "dist", distribution), "pmf")
    return np.asarray(distribution.pmf(x)) if is_discrete else np.zeros(len(x))


def _stacked(pairs: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    probabilities, groups = zip(*pairs, strict=True)
    return np.array(probabilities, dtype=np.float64), np.array(groups, dtype=np.float64)


def _merge_empty_cells(cell: np.ndarray, mass: np.ndarray, ordered: bool) -> Cells:
    """Merge each cell without a row into the one before: no row distinguishes them."""
    used = np.unique(np.append(cell, len(mass) - 1))
    mass = np.add.reduceat(mass, used) if ordered else mass[used]
    return Cells(np.searchsorted(used, cell).astype(np.int32), mass, ordered)
