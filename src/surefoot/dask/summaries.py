"""What a partition reports about its rows, and what all partitions together say about the table.

Only these summaries travel to the client: the columns and their categories, the labels, and moments of the columns.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils.validation import check_consistent_length

from surefoot._estimator import TableEstimator
from surefoot._exceptions import DataError
from surefoot.dask.collections import Partition
from surefoot.data import Columns, Schema
from surefoot.data.category_codes import MAX_CATEGORIES
from surefoot.data.category_matching import plain_label
from surefoot.data.checked_table import check_table
from surefoot.data.columns import is_frame
from surefoot.data.problem import check_labels, check_weights


class CategorySummary(NamedTuple):
    """The categories of a column that rows of a partition have, and how often."""

    labels: tuple[Hashable, ...]
    counts: np.ndarray
    masses: np.ndarray  # the sum of the weights of their rows
    dtype: Any  # the categorical dtype of pandas; None for any other column


@dataclass(frozen=True)
class PartitionSummary:
    """One partition without its rows; every statistic is over the rows with weight."""

    n_rows: int
    n_weighted: int = 0  # rows with a weight above 0
    max_weight: float = 0.0
    names: tuple[Any, ...] | None = None  # of the columns; None for an array
    n_columns: int = 0
    feature_names: np.ndarray | None = None
    categories: dict[int, CategorySummary] = field(default_factory=dict)
    listed: frozenset[int] = frozenset()
    ranges: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    labels: np.ndarray | None = None  # distinct labels, of classifiers
    label_counts: np.ndarray | None = None
    label_masses: np.ndarray | None = None
    moments: np.ndarray | None = None  # (columns, 3): known values, their mean, their sum of squared deviations


def summarise(partition: Partition, *, with_labels: bool = False, categorical: Any = None) -> PartitionSummary:
    """The summary of a partition; its rows are checked as a local estimator checks them.

    Parameters
    ----------
    partition : Partition
        Some rows, with targets and weights if there are any.
    with_labels : bool, default=False
        Whether y has labels of classes, which are counted.
    categorical : list or None, default=None
        The value of ``categorical_features``, if it is a list.

    Returns
    -------
    PartitionSummary
        Counts and moments; the number of rows alone, if there are none.
    """
    n_rows = n_rows_of(partition.X)
    for name, values in (("y", partition.y), ("sample_weight", partition.weight)):
        if values is not None and len(values) != n_rows:
            raise DataError(
                f"{name} has {len(values)} rows in a partition in which X has {n_rows}: both must be cut at the same "
                "rows.",
                argument=name,
            )
    weights = read_weights(partition.weight, n_rows)
    used = np.ones(n_rows, dtype=np.bool_) if weights is None else weights > 0
    if n_rows == 0 or not used.any():
        return PartitionSummary(n_rows, names=_names(partition.X))
    reader = TableEstimator()
    columns = check_table(reader, partition.X, weights=weights, categorical=categorical)
    return PartitionSummary(
        n_rows=n_rows,
        n_weighted=int(used.sum()),
        max_weight=1.0 if weights is None else float(weights.max()),
        names=_names(partition.X),
        n_columns=columns.n_columns,
        feature_names=getattr(reader, "feature_names_in_", None),
        categories=_categories(columns, partition.X, weights, used),
        listed=columns.schema.listed,
        ranges=columns.schema.ranges,
        moments=np.array([_moments(columns, j, used) for j in range(columns.n_columns)]),
        **(_label_summary(partition.y, weights, used) if with_labels else {}),
    )


def n_rows_of(table: Any) -> int:
    """The number of rows of a frame or an array."""
    return len(table) if is_frame(table) else int(np.shape(table)[0])


def read_weights(weights: Any, n_rows: int) -> np.ndarray | None:
    """Weights as float64, None if there are none. All weights of a partition may be 0."""
    if weights is None:
        return None
    if n_rows == 0 or not np.any(np.asarray(weights)):
        return np.zeros(n_rows)
    exponent = np.frexp(np.asarray(weights, dtype=np.float64).max())[1]
    scaled = check_weights(weights, n_rows)
    assert scaled is not None
    return np.ldexp(scaled, exponent)  # the weights as they are: scaling is exact


def _names(X: Any) -> tuple[Any, ...] | None:
    return tuple(nw.from_native(X).columns) if is_frame(X) else None


def _categories(columns: Columns, X: Any, weights: np.ndarray | None, used: np.ndarray) -> dict[int, CategorySummary]:
    frame = nw.from_native(X, pass_through=True)
    found = {}
    for position, labels in columns.schema.categories.items():
        codes = columns.category_codes(position)
        known = used & (codes >= 0)
        counts = np.bincount(codes[known], minlength=len(labels))
        masses = np.bincount(codes[known], None if weights is None else weights[known], minlength=len(labels))
        found[position] = CategorySummary(labels, counts, masses.astype(np.float64), _pandas_dtype(frame, position))
    return found


def _pandas_dtype(frame: Any, position: int) -> Any:
    """The dtype of a categorical column of pandas; None for any other column."""
    if not isinstance(frame, nw.DataFrame):
        return None
    series = frame.get_column(frame.columns[position])
    is_categorical = isinstance(series.dtype, nw.Categorical | nw.Enum)
    return series.to_native().dtype if is_categorical and series.implementation.is_pandas_like() else None


def _moments(columns: Columns, position: int, used: np.ndarray) -> tuple[float, float, float]:
    if position in columns.schema.categories:
        return (float((used & (columns.category_codes(position) >= 0)).sum()), 0.0, 0.0)
    values = columns.column(position)
    values = values[used & ~np.isnan(values)]
    if len(values) == 0:
        return (0.0, 0.0, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):  # very large numbers: their moments are not compared
        mean = float(values.mean())
        return (float(len(values)), mean, float(((values - mean) ** 2).sum()))


def _label_summary(y: Any, weights: np.ndarray | None, used: np.ndarray) -> dict[str, np.ndarray]:
    labels = check_labels(y)
    check_consistent_length(labels, used)
    distinct, codes = np.unique(labels[used], return_inverse=True)
    masses = np.bincount(codes, None if weights is None else weights[used])
    return {"labels": distinct, "label_counts": np.bincount(codes), "label_masses": masses.astype(np.float64)}


@dataclass(frozen=True)
class TableSummary:
    """The columns of a whole table, and the length of each of its partitions."""

    schema: Schema
    feature_names: np.ndarray | None
    lengths: tuple[int, ...]  # rows of each partition
    weighted_lengths: tuple[int, ...]  # rows with weight
    max_weight: float

    @classmethod
    def of(cls, summaries: Sequence[PartitionSummary]) -> "TableSummary":
        """The table that partitions make up; they must have the same columns.

        Parameters
        ----------
        summaries : sequence of PartitionSummary
            One for each partition, in the order of the rows.

        Returns
        -------
        TableSummary
            With the categories and ranges that a local estimator would find in all rows.
        """
        used = {place: summary for place, summary in enumerate(summaries) if summary.n_weighted > 0}
        if not used:
            if not any(summary.n_rows for summary in summaries):
                raise DataError("X has no rows: every partition is empty.", argument="X")
            raise DataError("sample_weight is zero for every row: at least one row must count.")
        first = next(iter(used.values()))
        _check_same_columns(used)
        categories = {
            j: _all_categories([summary.categories[j] for summary in used.values()]) for j in sorted(first.categories)
        }
        return cls(
            schema=Schema(first.n_columns, categories, first.listed, _all_ranges(list(used.values()))),
            feature_names=first.feature_names,
            lengths=tuple(summary.n_rows for summary in summaries),
            weighted_lengths=tuple(summary.n_weighted for summary in summaries),
            max_weight=max(summary.max_weight for summary in summaries),
        )

    @property
    def n_weighted(self) -> int:
        """Rows with a weight above 0."""
        return sum(self.weighted_lengths)

    def read_columns(self, X: Any) -> Columns:
        """The columns of some rows, with the codes of this table's categories.

        Parameters
        ----------
        X : frame or array
            Rows of one partition; not empty.

        Returns
        -------
        Columns
            As a local estimator would read them.
        """
        reader = TableEstimator()
        reader.n_features_in_ = self.schema.n_columns
        if self.feature_names is not None:
            reader.feature_names_in_ = self.feature_names
        return check_table(reader, X, self.schema)


def _check_same_columns(used: dict[int, PartitionSummary]) -> None:
    """Raise an error if partitions have other columns, or categories in a column of numbers."""
    (first_place, first), *others = used.items()
    names = range(first.n_columns) if first.names is None else first.names
    for place, other in others:
        if (first.names is None) != (other.names is None) or first.n_columns != other.n_columns:
            raise DataError(
                f"X has {other.n_columns} columns in partition {place} and {first.n_columns} in partition "
                f"{first_place}, or frames and arrays: every partition must have the same columns.",
                argument="X",
            )
        if first.names != other.names:
            raise DataError(
                f"The columns of X in partition {place} have other names, or another order, than those in partition "
                f"{first_place}: every partition must have the same columns.",
                argument="X",
            )
        different = sorted(first.categories.keys() ^ other.categories.keys())
        if different:
            raise DataError(
                f"Column {names[different[0]]!r} of X is categorical in one of the partitions {first_place} and "
                f"{place}, and has numbers in the other: give it one dtype with X.astype.",
                argument="X",
            )


def _all_categories(parts: Sequence[CategorySummary]) -> tuple[Hashable, ...]:
    """The categories that rows have, in the order that a local estimator gives them.

    If all partitions have equal dtypes, it is the order of the first one; if not, pandas joins them to text or numbers,
    whose categories are sorted. Where there are very many, the most frequent come first.
    """
    masses: dict[Hashable, float] = {}
    for part in parts:
        for label, mass in zip(part.labels, part.masses.tolist(), strict=True):
            masses[label] = masses.get(label, 0.0) + mass
    dtype = parts[0].dtype
    if dtype is not None and all(part.dtype == dtype for part in parts):
        order = [plain_label(label) for label in dtype.categories]
    else:
        order = _sorted(list(masses))
    present = [label for label in order if masses.get(label, 0.0) > 0]
    if len(present) > MAX_CATEGORIES:
        present = [present[k] for k in np.argsort([-masses[label] for label in present], kind="stable")]
    return tuple(present)


def _sorted(labels: list[Any]) -> list[Hashable]:
    try:
        return sorted(labels)
    except TypeError:  # labels of several types: in the order in which they appear
        return labels


def _all_ranges(used: Sequence[PartitionSummary]) -> dict[int, tuple[float, float]]:
    ranges: dict[int, tuple[float, float]] = {}
    for position in sorted({position for summary in used for position in summary.ranges}):
        lows, highs = zip(*(summary.ranges[position] for summary in used if position in summary.ranges), strict=True)
        ranges[position] = (min(lows), max(highs))
    return ranges
