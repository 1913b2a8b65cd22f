"""The passes over the batches of a table: its rows, the values that edges of bins are found from, and its cells."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot._parallel import RowThreads
from surefoot.data.arrow_columns import CATEGORIES, CHANGED, DATE, TEXT, CategoryLabels, kinds_of_columns, numbers_of
from surefoot.data.bin_edges import BinEdges
from surefoot.data.binned_table import MAX_ROWS
from surefoot.data.binner import EDGE_SAMPLE, edge_sample, edges_with_rare, missed_values
from surefoot.data.columns import Columns, Schema
from surefoot.data.problem import check_weights
from surefoot.data.record_batches import RecordBatches
from surefoot.data.stored_target import GrowingArray, StoredTarget, TargetReader

ROWS_PASS, VALUES_PASS = "reading the target", "finding the edges of bins"
RARE_PASS, CODES_PASS = "finding rare values", "writing the bins"


@dataclass
class ValueSample:
    """The values of numeric columns in some rows of a table, and their smallest and largest values in all rows."""

    rows: np.ndarray
    values: dict[int, np.ndarray]
    low: np.ndarray
    high: np.ndarray
    is_all: bool  # whether no row with weight is missing


class TablePasses:
    """The columns of a table to learn from, read batch by batch as often as needed.

    ``callback`` is called with the number of rows that are read in this pass, the number of all rows or None, and what
    the pass is for.
    """

    def __init__(
        self,
        batches: RecordBatches,
        target: str | None,
        weight: str | None,
        callback: Callable[[int, int | None, str], None],
    ) -> None:
        _check_names(batches.names, target, weight)
        self.batches, self.target, self.weight, self.callback = batches, target, weight, callback
        self.names = [name for name in batches.names if name not in (target, weight)]
        if not self.names:
            raise DataError("X has 0 feature(s) (columns) while a minimum of 1 is required.", argument="X")
        self.kinds = kinds_of_columns(batches, self.names)
        self.labels = {j: CategoryLabels(kind == TEXT) for j, kind in enumerate(self.kinds) if kind in CATEGORIES}
        self._known_rows = batches.n_rows
        self.weights: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows, once they have been counted."""
        return self._known_rows or 0

    def read_rows(self) -> StoredTarget | None:
        """Count the rows, and read the target and the weights of all of them."""
        target = None if self.target is None else TargetReader(self.batches, self.target)
        weights = GrowingArray(self._known_rows)
        read = [name for name in (self.target, self.weight) if name is not None]
        if read or self._known_rows is None:
            for _, batch in self._batches(read or self.names[:1], ROWS_PASS):
                if target is not None:
                    target.add(batch.column(self.target))
                if self.weight is not None:
                    weights.append(numbers_of(batch.column(self.weight), self.weight))
        self._check_count()
        if self.weight is not None:
            self.weights = check_weights(weights.result(), self.n_rows, relative=False)
        return None if target is None else target.result()

    def _check_count(self) -> None:
        if not self.n_rows:
            message = "X has 0 sample(s) (rows) while a minimum of 1 is required."
            raise DataError(message, argument="X")
        if self.n_rows > MAX_ROWS:
            raise DataError(f"X has {self.n_rows} rows; at most {MAX_ROWS} are supported.", argument="X")

    def read_values(self, threads: RowThreads) -> ValueSample:
        """The values that edges are found from, and the categories of all rows."""
        sample = self._empty_sample()
        for start, batch in self._batches(self.names, VALUES_PASS):
            self._add_values(sample, start, batch, threads)
        return sample

    def _add_values(self, sample: ValueSample, start: int, batch: Any, threads: RowThreads) -> None:
        """Add the values of a batch that are in the sample; widen the ranges, and count the categories."""
        stop = start + batch.num_rows
        first, last = np.searchsorted(sample.rows, (start, stop))
        chosen = sample.rows[first:last] - start
        weights = None if self.weights is None else self.weights[start:stop]

        def add(j: int) -> None:
            column = batch.column(j)
            if j in self.labels:
                self.labels[j].count(column, weights)
                return
            numbers = numbers_of(column, self.names[j])
            sample.values[j][first:last] = numbers[chosen]
            _widen(sample, j, numbers if weights is None else numbers[weights > 0])

        threads.each(add, range(len(self.names)))

    def _empty_sample(self) -> ValueSample:
        n_columns = len(self.names)
        rows = edge_sample(self.n_rows, self.weights)
        is_all = isinstance(rows, slice) or len(rows) < EDGE_SAMPLE
        rows = np.arange(self.n_rows) if isinstance(rows, slice) else rows
        values = {j: np.empty(len(rows)) for j in range(n_columns) if j not in self.labels}
        low, high = np.full((2, n_columns), np.nan)
        return ValueSample(rows=rows, values=values, low=low, high=high, is_all=is_all)

    def schema(self, sample: ValueSample) -> Schema:
        """The columns, as ``Columns`` would find them in a frame with the same categories."""
        categories = {j: labels.fix_codes() for j, labels in self.labels.items()}
        known = np.flatnonzero(~np.isnan(sample.low)).tolist()
        ranges = {j: (float(sample.low[j]), float(sample.high[j])) for j in known}
        dates = frozenset(j for j, kind in enumerate(self.kinds) if kind == DATE)
        stored_dates = dates if self.batches.dates_as_days else None
        return Schema(len(self.names), categories, ranges=ranges, dates=stored_dates)

    def edges(self, sample: ValueSample, max_bins: int, threads: RowThreads) -> list[BinEdges | None]:
        """The edges of every numeric column; a column with few values in the sample is read once more, as a whole."""
        weights = None if self.weights is None else self.weights[sample.rows]
        edges: list[BinEdges | None] = [None] * len(self.names)

        def find(j: int) -> None:
            edges[j] = BinEdges.from_values(sample.values[j], max_bins, weights)

        threads.each(find, list(sample.values))
        if not sample.is_all:
            few = {j: each for j, each in enumerate(edges) if each is not None and each.has_one_value_per_bin}
            for j, rare in self._missed_values(few).items():
                edges[j] = edges_with_rare(sample.values[j], rare, max_bins, weights)
        return edges

    def _missed_values(self, edges: dict[int, BinEdges]) -> dict[int, np.ndarray]:
        """For some columns, the values that are not among their edges."""
        missed: dict[int, np.ndarray] = {j: np.empty(0) for j in edges}
        if not edges:
            return missed
        for start, batch in self._batches([self.names[j] for j in edges], RARE_PASS):
            weights = None if self.weights is None else self.weights[start : start + batch.num_rows]
            for place, j in enumerate(edges):
                values = numbers_of(batch.column(place), self.names[j]).astype(np.float64)
                rare = missed_values(values, weights, edges[j])
                if len(rare):
                    missed[j] = np.unique(np.append(missed[j], rare))
        return missed

    def tables(self, schema: Schema) -> Iterator[tuple[int, Columns]]:
        """The number of its first row and the columns of every batch."""
        for start, batch in self._batches(self.names, CODES_PASS):
            parts = [self._cells(j, batch.column(j)) for j in range(len(self.names))]
            yield start, Columns(parts, schema, batch.num_rows)

    def _cells(self, j: int, column: Any) -> np.ndarray:
        return self.labels[j].codes_of(column) if j in self.labels else numbers_of(column, self.names[j])

    def _batches(self, names: list[str], label: str) -> Iterator[tuple[int, Any]]:
        """The number of its first row and every batch; the table must have as many rows in every pass."""
        start = 0
        for batch in self.batches.batches(names):
            self.callback(start, self._known_rows, label)
            if start + batch.num_rows > (self._known_rows or MAX_ROWS):
                break
            yield start, batch
            start += batch.num_rows
        if start != (self._known_rows or start):
            raise DataError(CHANGED, argument="X")
        self._known_rows = start


def _widen(sample: ValueSample, j: int, values: np.ndarray) -> None:
    """Widen the range of a column by some of its values."""
    if len(values):
        sample.low[j] = np.fmin(sample.low[j], np.fmin.reduce(values))
        sample.high[j] = np.fmax(sample.high[j], np.fmax.reduce(values))


def _check_names(names: list[str], target: str | None, weight: str | None) -> None:
    for argument, name in (("target", target), ("weight", weight)):
        if name is not None and name not in names:
            shown = ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
            raise DataError(f"X has no column {name!r}; it has {shown}.", argument=argument)
    if target is not None and target == weight:
        raise DataError(f"The column {target!r} is both target and weight: name two columns.", argument="weight")
