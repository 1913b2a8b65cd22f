"""Predictions with one column set to the same value in all rows, for each of some values."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy.stats.mstats import mquantiles

from surefoot._exceptions import DataError, ParameterError
from surefoot._parameters import check_integer
from surefoot.plots.feature_map import columns_of

MISSING = "missing"


@dataclass(frozen=True)
class ColumnValues:
    """A column of a table, and the values that it is set to.

    A category is set by copying the cell of a row that has it, whatever its type is.
    """

    name: str
    position: int
    numbers: np.ndarray  # the values, or 0, 1, 2, ... for categories
    categories: tuple[str, ...] | None
    rows: tuple[int, ...]  # a row with each category
    present: np.ndarray  # where the rows of the table are among the numbers; missing numbers are left out

    @classmethod
    def of(
        cls, X: Any, feature: Any, grid_resolution: int, percentiles: tuple[float, float], is_listed: bool
    ) -> "ColumnValues":
        """The values of a column; ``is_listed`` says that its values are categories, of whatever type."""
        name, position = column_position(X, feature)
        table = nw.from_native(X, pass_through=True)
        if isinstance(table, nw.DataFrame):
            series = table.get_column(table.columns[position])
            if is_listed or isinstance(series.dtype, nw.Categorical | nw.Enum):
                ordered = isinstance(series.dtype, nw.Categorical | nw.Enum)
                known = series.cat.get_categories().to_list() if ordered else None
                return _categories(name, position, series.to_list(), known)
            values = np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
        else:
            values = np.asarray(np.asarray(X)[:, position], dtype=np.float64)
            if is_listed:
                return _categories(name, position, values.tolist(), None)
        values = values[~np.isnan(values)]
        if len(values) == 0:
            raise DataError(f"Column {name} has no values: leave it out.")
        grid = _grid(name, values, grid_resolution, percentiles)
        return cls(name=name, position=position, numbers=grid, categories=None, rows=(), present=values)

    def tables(self, X: Any) -> Iterator[Any]:
        """The table with the column set to each of the values."""
        table = nw.from_native(X, pass_through=True)
        for k, number in enumerate(self.numbers):
            if not isinstance(table, nw.DataFrame):
                changed = np.array(X, dtype=np.result_type(np.asarray(X), np.float64))
                changed[:, self.position] = number if self.categories is None else changed[self.rows[k], self.position]
                yield changed
                continue
            column = table.columns[self.position]
            if self.categories is None:
                yield table.with_columns(nw.lit(float(number)).alias(column)).to_native()
            else:
                cells = table.get_column(column)[[self.rows[k]] * len(table)]
                yield table.with_columns(cells.alias(column)).to_native()


def column_position(X: Any, feature: Any) -> tuple[str, int]:
    """The name and the position of a column that is given by either."""
    columns = list(columns_of(X))
    if feature in columns:
        return (feature if isinstance(feature, str) else f"x{feature}"), columns.index(feature)
    if isinstance(feature, int | np.integer) and 0 <= feature < len(columns):
        return str(columns[feature]), int(feature)
    raise ParameterError(f"feature must be the name or the position of a column of X, got {feature!r}.")


def _grid(name: str, values: np.ndarray, grid_resolution: int, percentiles: tuple[float, float]) -> np.ndarray:
    """All values if they are few, else numbers with equal distances between two percentiles."""
    distinct = np.unique(values)
    if len(distinct) < check_integer("grid_resolution", grid_resolution, 2):
        return distinct
    low, high = mquantiles(values, prob=percentiles)
    if low == high:
        raise ParameterError(f"percentiles={percentiles} are the same value of column {name}: move them apart.")
    return np.linspace(low, high, grid_resolution)


def _categories(name: str, position: int, cells: list[Any], known: list[Any] | None) -> ColumnValues:
    """The categories that rows have: in their own order, or sorted; missing values are the last."""
    cells = [MISSING if cell is None or cell != cell else cell for cell in cells]
    present = set(cells) - {MISSING}
    ordered = sorted(present) if known is None else [cell for cell in known if cell in present]
    order = ordered + ([MISSING] if MISSING in cells else [])
    return ColumnValues(
        name=name,
        position=position,
        numbers=np.arange(len(order), dtype=np.float64),
        categories=tuple(f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in order),
        rows=tuple(cells.index(cell) for cell in order),
        present=np.array([order.index(cell) for cell in cells], dtype=np.float64),
    )


def member_predictor(estimator: Any, target: Any) -> Callable[[Any], np.ndarray]:
    """A function from a table to the predictions (members, rows): means, or probabilities of the class ``target``."""
    if hasattr(estimator, "predict_members"):
        return lambda X: _members_of_virtual(estimator, X, target)
    if not hasattr(estimator, "predict_proba"):
        _check_no_target(target)
        return lambda X: np.stack([member.predict(X) for member in members_of(estimator)])
    place = _class_place(list(estimator.classes_), target)
    return lambda X: np.stack([member.predict_proba(X)[:, place] for member in members_of(estimator)])


def _members_of_virtual(ensemble: Any, X: Any, target: Any) -> np.ndarray:
    members = ensemble.predict_members(X)
    if hasattr(members, "means"):
        _check_no_target(target)
        return np.asarray(members.means)
    return np.asarray(members.probabilities[:, :, _class_place(list(members.classes), target)])


def _check_no_target(target: Any) -> None:
    if target is not None:
        raise ParameterError("target is for classifiers: leave it at None.")


def _class_place(labels: list[Any], target: Any) -> int:
    """The position of the class; None: the second of two."""
    if target is None and len(labels) > 2:
        raise ParameterError(f"target must be one of the classes {labels}, because there are more than two.")
    if target is not None and target not in labels:
        raise ParameterError(f"target must be one of the classes {labels}, got {target!r}.")
    return 1 if target is None else labels.index(target)


def members_of(estimator: Any) -> Sequence[Any]:
    """The models of an ensemble whose disagreement is knowledge uncertainty; another model by itself."""
    return estimator.estimators_ if hasattr(estimator, "predict_uncertainty") else [estimator]
