"""A table and a sample of where the model will be used, read alike."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from surefoot._exceptions import DataError
from surefoot.data import Columns
from surefoot.data.problem import check_table

FEWEST_TARGETS = 2


class TableReader(BaseEstimator):
    """Remembers the columns of a table, so that another one is read by them."""


@dataclass(frozen=True)
class TablePair:
    """The rows of a model and those of its target, with the same columns and codes of categories."""

    columns: Columns
    target: Columns

    @classmethod
    def read(cls, X: Any, X_target: Any, categorical: Any = None) -> "TablePair":
        """Check and read both tables."""
        reader = TableReader()
        columns = check_table(reader, X, categorical=categorical)
        return cls(columns, read_target(reader, X_target, columns))


def read_target(reader: BaseEstimator, X_target: Any, columns: Columns) -> Columns:
    """The target's table, by the columns that ``reader`` has seen."""
    try:
        target = check_table(reader, X_target, columns.schema)
    except ValueError as error:
        raise DataError(f"X_target cannot be read with the columns of X: {error}") from error
    if target.n_rows < FEWEST_TARGETS:
        raise DataError(
            f"X_target has {target.n_rows} row: at least {FEWEST_TARGETS} are needed to see a distribution."
        )
    return target


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
