"""A table and a sample of where the model will be used, read alike."""

import warnings
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import BaseEstimator

from surefoot._exceptions import DataError
from surefoot.data import Columns
from surefoot.data.columns import is_frame
from surefoot.data.problem import check_table

MIN_TARGETS = 2


class TableReader(BaseEstimator):
    """Remembers the columns of a table, so that another one is read by them."""


def read_tables(X: Any, X_target: Any) -> tuple[Columns, Columns]:
    """The rows of a model and those of its target, with the same columns and codes of categories."""
    reader = TableReader()
    columns = check_table(reader, X)
    return columns, read_target(reader, X, X_target, columns)


def read_target(reader: BaseEstimator, X: Any, X_target: Any, columns: Columns) -> Columns:
    """The target's table, by the columns that ``reader`` has seen; those of two frames are matched by name."""
    X_target = _in_the_order_of(X, X_target)
    try:
        with warnings.catch_warnings():  # an array beside a frame has no names, and needs none
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            target = check_table(reader, X_target, columns.schema)
    except ValueError as error:
        raise DataError(f"X_target cannot be read with the columns of X: {error}") from error
    if target.n_rows < MIN_TARGETS:
        raise DataError(f"X_target has {target.n_rows} row: at least {MIN_TARGETS} are needed to see a distribution.")
    return target


def _in_the_order_of(X: Any, X_target: Any) -> Any:
    """A frame's columns as another frame has them, if they have the same names."""
    if not (is_frame(X) and is_frame(X_target)):
        return X_target
    wanted, target = nw.from_native(X, eager_only=True).columns, nw.from_native(X_target, eager_only=True)
    lacking = [name for name in wanted if name not in target.columns]
    if lacking:
        raise DataError(f"X_target lacks columns that X has, {lacking}: it needs the same columns.")
    return target.select(nw.col(*wanted)).to_native() if len(wanted) == len(target.columns) else X_target


def stand_ins(weights: np.ndarray, most: int) -> np.ndarray:
    """Training rows that stand in for a target, at most so many: a row of weight k is k rows."""
    total = float(weights.sum())
    if total <= most and (weights == np.floor(weights)).all():
        return np.repeat(np.arange(len(weights)), weights.astype(np.int64))
    evenly = (np.arange(most) + 0.5) * (total / most)  # by weight
    return np.minimum(np.searchsorted(np.cumsum(weights), evenly, side="right"), np.flatnonzero(weights)[-1])


def values_of(columns: Columns, position: int, rows: np.ndarray) -> np.ndarray:
    """One column of some rows as float64, NaN where missing; categories by their own codes, -2 where unknown."""
    if position not in columns.schema.categories:
        return columns.column(position, rows)
    codes = columns.category_codes(position)[rows].astype(np.float64)
    return np.where(codes == -1, np.nan, codes)
