"""The plane of two features, on which a map of values is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from surefoot._exceptions import DataError, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_TICKS = 20  # categories that are labelled on an axis


@dataclass(frozen=True)
class FeatureAxis:
    """The position of each row along one feature; ``categories`` are the labels of positions 0, 1, 2, ... if any."""

    name: str
    positions: np.ndarray
    categories: tuple[str, ...] | None = None


@dataclass(frozen=True)
class FeatureMap:
    """The plane of two features.

    Rows on a grid are drawn as cells, others as points. A cell with several rows shows their mean.
    """

    across: FeatureAxis
    up: FeatureAxis

    @classmethod
    def from_table(cls, X: Any, features: Any = None) -> "FeatureMap":
        """The plane of the columns ``features``, a pair of names or positions; None: ``X`` has only two columns."""
        table, columns = nw.from_native(X, pass_through=True), columns_of(X)
        pair = columns if features is None else features
        if isinstance(pair, str) or len(pair) != 2:
            raise ParameterError(f"features must be a pair of columns of X, got {pair!r}.")
        return cls(*(_axis(table, columns, feature) for feature in pair))

    def draw(self, ax: "Axes", values: np.ndarray, **kwargs: Any) -> Any:
        """Colour the plane by ``values``, one for each row; the result is drawn cells or points, for a colour bar."""
        if len(values) != len(self.across.positions):
            raise DataError(f"values has {len(values)} values for {len(self.across.positions)} rows of features.")
        across, column = np.unique(self.across.positions, return_inverse=True)
        up, row = np.unique(self.up.positions, return_inverse=True)
        cell = row * len(across) + column
        for axis, side in ((self.across, ax.xaxis), (self.up, ax.yaxis)):
            side.set_label_text(axis.name)
            _label_categories(side, axis.categories)
        if min(len(across), len(up)) < 2 or 2 * len(np.unique(cell)) < len(across) * len(up):
            style = {"cmap": "viridis", "s": 18, "linewidths": 0, **kwargs}
            order = np.argsort(values)  # the highest values are on top
            return ax.scatter(self.across.positions[order], self.up.positions[order], c=values[order], **style)
        n_cells = len(across) * len(up)
        counts = np.bincount(cell, minlength=n_cells)
        sums = np.bincount(cell, values, n_cells)
        means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan).reshape(len(up), len(across))
        ax.set_facecolor("0.9")  # cells without rows are grey
        return ax.pcolormesh(across, up, means, **{"cmap": "viridis", "shading": "nearest", **kwargs})


def columns_of(X: Any) -> Sequence[Any]:
    """The names of the columns of a frame, or their positions in an array."""
    table = nw.from_native(X, pass_through=True)
    return table.columns if isinstance(table, nw.DataFrame) else range(np.asarray(X).shape[1])


def _axis(table: Any, columns: Any, feature: Any) -> FeatureAxis:
    """One column, by name or position."""
    is_position = isinstance(feature, int | np.integer) and feature not in columns
    if feature not in columns and not (is_position and -len(columns) <= feature < len(columns)):
        raise ParameterError(f"features contains {feature!r}, which is not a column of X.")
    name = columns[feature] if is_position else feature
    if not isinstance(table, nw.DataFrame):
        return _to_axis(f"feature {name}", np.asarray(table)[:, name])
    series = table.get_column(name)
    ordered = series.cat.get_categories().to_list() if isinstance(series.dtype, nw.Categorical | nw.Enum) else None
    return _to_axis(str(name), np.asarray(series.to_numpy()), ordered)


def _to_axis(name: str, values: np.ndarray, ordered: list[Any] | None = None) -> FeatureAxis:
    """Numbers are positions themselves; categories are at 0, 1, 2, ... in their own order, or sorted by name."""
    if ordered is None and values.dtype.kind in "biuf":
        if not np.isfinite(values.astype(np.float64)).all():
            raise DataError(f"{name} contains NaN or infinity: a map needs the position of every row.")
        return FeatureAxis(name, values.astype(np.float64))
    labels = [str(value) for value in values]
    present = set(labels)
    categories = [str(label) for label in ordered if str(label) in present] if ordered else sorted(present)
    place = {label: position for position, label in enumerate(categories)}
    if any(label not in place for label in labels):
        raise DataError(f"{name} contains missing values: a map needs the position of every row.")
    return FeatureAxis(name, np.array([place[label] for label in labels], dtype=np.float64), tuple(categories))


def _label_categories(side: Any, categories: tuple[str, ...] | None) -> None:
    if categories is not None:
        shown = np.arange(0, len(categories), -(-len(categories) // MAX_TICKS))
        side.set_ticks(shown, [categories[position] for position in shown])
