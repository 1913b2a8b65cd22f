"""The table that trees are grown on: one small integer per cell."""

from functools import cached_property
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot._jit import kernel
from surefoot._parallel import RowThreads, row_blocks, threads_for
from surefoot._random import random_bits, stream_key
from surefoot.data.columns import MAX_CATEGORIES, Columns, Schema
from surefoot.data.edges import BinEdges, midpoints

EDGE_SAMPLE = 200_000  # above this many rows, edges come from a sample of this size
MAX_BINS = 255  # one byte holds this many bins and the bin of missing values
MAX_ROWS = 2**31 - 1
BATCH = 256


class BinnedTable:
    """Codes of every cell, column after column, shared by all members of an ensemble.

    Attributes
    ----------
    codes : array of shape (n_columns, n_rows)
        uint8, or uint32 if a column has more than 255 bins. Column ``j`` uses the codes below ``missing[j]`` in
        increasing order of value (or one per category), and the code ``missing[j]`` for missing values.
    missing : array of shape (n_columns,)
    offsets : array of shape (n_columns + 1,)
        Where each column's bins start when the bins of all columns, missing ones included, are laid end to end.
    edges : list of BinEdges or None
        Value ranges of the bins; None for a categorical column.
    is_categorical : array of bool
    """

    def __init__(self, codes: np.ndarray, edges: list[BinEdges | None], missing: np.ndarray) -> None:
        self.codes = codes
        self.edges = edges
        self.missing = missing
        self.offsets = np.concatenate([[0], np.cumsum(missing + 1)]).astype(np.int64)
        self.is_categorical = np.array([edge is None for edge in edges], dtype=np.bool_)

    @classmethod
    def from_columns(
        cls,
        columns: Columns,
        *,
        max_bins: int | None = MAX_BINS,
        weights: np.ndarray | None = None,
        n_jobs: int | None = None,
    ) -> "BinnedTable":
        """Bin every column: numbers by quantiles (weighted, if weights are given), categories by their codes."""
        if columns.n_rows > MAX_ROWS:
            raise DataError(f"X has {columns.n_rows} rows; at most {MAX_ROWS} are supported.")
        with RowThreads(threads_for(n_jobs, columns.n_rows * columns.n_columns)) as threads:
            edges = _all_edges(columns, max_bins, weights, threads)
            missing = np.array([_count_codes(edge, columns.schema, j) for j, edge in enumerate(edges)], dtype=np.int64)
            codes = np.empty((columns.n_columns, columns.n_rows), dtype=_code_type(int(missing.max())))
            thresholds, starts = _search_tables(edges, missing)

            def fill(block: tuple[int, int]) -> None:
                start, stop = block
                find_bins(columns.block(start, stop), thresholds, starts, missing, start, codes)

            threads.each(fill, row_blocks(columns.n_rows))
        return cls(codes, edges, missing)

    @property
    def n_columns(self) -> int:
        return int(self.codes.shape[0])

    def reorder(self, order: np.ndarray) -> None:
        """Put row ``order[i]`` in place ``i``, column by column, so that no second table is needed.

        Rows left out of ``order`` are lost; the places after its end then hold nothing of meaning.
        """
        for j in range(self.n_columns):
            self.codes[j, : len(order)] = self.codes[j][order]

    def thresholds_between(self, features: np.ndarray, below: np.ndarray, above: np.ndarray) -> np.ndarray:
        """For each split of column ``features[i]``: the value midway between bins ``below[i]`` and ``above[i]``."""
        low, high = self._limits
        used = np.maximum(features, 0)
        first = self.offsets[used]
        middle = midpoints(high[first + below], low[first + above])
        # above the last bin lie only missing values: every number goes left
        return np.where(above >= self.missing[used], np.inf, middle) + np.where(self._ordered[features], 0.0, np.nan)

    @cached_property
    def _ordered(self) -> np.ndarray:
        """Whether a column has thresholds; the last entry, for "no column" (-1), says it has not."""
        return np.append(~self.is_categorical, False)

    @cached_property
    def _limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Smallest and largest value of every bin, the bins of all columns end to end."""
        low, high = np.zeros(int(self.offsets[-1])), np.zeros(int(self.offsets[-1]))
        for first, edge in zip(self.offsets, self.edges, strict=False):
            if edge is not None:
                low[first : first + len(edge)] = edge.low
                high[first : first + len(edge)] = edge.high
        return low, high


@kernel
def find_bins(values, thresholds, starts, missing, first_row, codes):
    """Read values (columns, rows), write each one's code to ``codes[:, first_row:]``.

    Binary search without branches, a batch of values at a time: ``thresholds[starts[j]:starts[j + 1]]`` is column j's
    table, filled up with infinity to a power of two.
    """
    place = np.empty(BATCH, np.int64)
    for j in range(values.shape[0]):
        table = thresholds[starts[j] : starts[j + 1]]
        for start in range(0, values.shape[1], BATCH):
            column = values[j, start : start + BATCH]
            n = column.shape[0]
            place[:] = 0
            step = table.shape[0] // 2
            while step > 0:
                after = table[step - 1 :]
                for i in range(n):
                    place[i] += step * (after[place[i]] < column[i])
                step //= 2
            out = codes[j, first_row + start : first_row + start + n]
            for i in range(n):
                out[i] = missing[j] if np.isnan(column[i]) else place[i]


def edge_sample(n_rows: int, weights: np.ndarray | None = None) -> np.ndarray | slice:
    """Rows that edges are computed from: all, or ``EDGE_SAMPLE`` of those with weight, always the same ones."""
    if n_rows <= EDGE_SAMPLE:
        return slice(None)
    counted = None if weights is None else np.flatnonzero(weights > 0)
    n_counted = n_rows if counted is None else len(counted)
    if n_counted > EDGE_SAMPLE:
        lottery = random_bits(stream_key(0, n_counted), n_counted)
        sample = np.sort(np.argpartition(lottery, EDGE_SAMPLE)[:EDGE_SAMPLE])
        return sample if counted is None else counted[sample]
    return slice(None) if counted is None else counted


def _all_edges(
    columns: Columns, max_bins: int | None, weights: np.ndarray | None, threads: RowThreads
) -> list[BinEdges | None]:
    rows = slice(None) if max_bins is None else edge_sample(columns.n_rows, weights)
    found: list[BinEdges | None] = [None] * columns.n_columns

    def find_edges(j: int) -> None:
        found[j] = _column_edges(columns, j, rows, max_bins, weights)

    threads.each(find_edges, [j for j in range(columns.n_columns) if j not in columns.schema.categories])
    return found


def _column_edges(
    columns: Columns, j: int, rows: np.ndarray | slice, max_bins: int | None, weights: np.ndarray | None
) -> BinEdges:
    """Edges from the values in ``rows``; where these are few and sampled, with all others that the column has.

    A rare flag may decide everything, and a sample may miss it.
    """
    values = columns.column(j, rows)
    sampled = None if weights is None else weights[rows]
    edges = BinEdges.from_values(values, max_bins, sampled)
    if isinstance(rows, slice) or not edges.every_value_has_its_own:
        return edges
    rare = _values_missed(columns.column(j), weights, edges)
    if sampled is not None:
        sampled = np.append(sampled, np.full(len(rare), sampled[sampled > 0].min()))
    return BinEdges.from_values(np.append(values, rare), max_bins, sampled)


def _values_missed(column: np.ndarray, weights: np.ndarray | None, edges: BinEdges) -> np.ndarray:
    """Distinct values of the whole column, in rows with weight, that ``edges`` do not have."""
    here = ~np.isnan(column)
    if weights is not None:
        here &= weights > 0
    column = column[here]
    if len(edges) == 0:
        return np.unique(column)
    place = np.minimum(np.searchsorted(edges.low, column), len(edges) - 1)
    return np.unique(column[edges.low[place] != column])


def _count_codes(edge: BinEdges | None, schema: Schema, j: int) -> int:
    """How many codes column ``j`` uses, the one for missing values aside."""
    return len(edge) if edge is not None else min(len(schema.categories[j]), MAX_CATEGORIES)


def _code_type(largest_code: int) -> type[np.unsignedinteger[Any]]:
    return np.uint8 if largest_code <= MAX_BINS else np.uint32


def _search_tables(edges: list[BinEdges | None], n_codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Thresholds of all columns end to end, each filled up with infinity to a power of two.

    Category codes are searched as if they were numbers: code c lies between thresholds c - 1/2 and c + 1/2.
    """
    tables = []
    for edge, n in zip(edges, n_codes, strict=True):
        cuts = edge.thresholds if edge is not None else np.arange(n - 1) + 0.5
        size = 1 << len(cuts).bit_length()
        tables.append(np.concatenate([cuts, np.full(size - len(cuts), np.inf)]))
    return np.concatenate(tables), np.concatenate([[0], np.cumsum([len(table) for table in tables])])
