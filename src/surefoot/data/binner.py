"""Binning: the cells of a table become small whole numbers, by bins fitted to the training data."""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from surefoot._jit import kernel
from surefoot._parallel import RowThreads, row_blocks
from surefoot._random import random_bits, stream_key
from surefoot.data.bin_edges import BinEdges
from surefoot.data.category_codes import MAX_CATEGORIES
from surefoot.data.columns import Columns, Schema
from surefoot.data.joined_edges import JoinedEdges
from surefoot.data.sparse_columns import SparseColumns

EDGE_SAMPLE = 200_000  # with more rows, edges are computed from a sample of this size
MAX_BINS = 255  # with the bin of missing values, these fit in one byte
BATCH = 256
RANK_BLOCK, MAX_RANK = 1 << 20, (1 << 64) - 1


class Binner:
    """The edges of every column's bins, and the code of its missing values.

    Attributes
    ----------
    edges : sequence of BinEdges or None
        Value ranges of the bins; None for a categorical column, where each category is a code.
    missing : array of shape (n_columns,)
        The code of missing values: one more than the last bin of the column.
    """

    def __init__(self, edges: Sequence[BinEdges | None], missing: np.ndarray) -> None:
        self.edges, self.missing = edges, missing
        tables = edges.search_tables() if isinstance(edges, JoinedEdges) else _search_tables(edges, missing)
        self._thresholds, self._starts = tables

    @classmethod
    def from_columns(
        cls, columns: Columns, max_bins: int | None, weights: np.ndarray | None, threads: RowThreads
    ) -> "Binner":
        """Fit the bins of every column: (weighted) quantiles for numbers, codes for categories."""
        edges = _all_edges(columns, max_bins, weights, threads)
        return cls.from_edges(edges, columns.schema)

    @classmethod
    def from_edges(cls, edges: list[BinEdges | None], schema: Schema) -> "Binner":
        """The bins of numeric columns (None for a categorical one), and a code for each category."""
        missing = np.array([_count_codes(edge, schema, j) for j, edge in enumerate(edges)], dtype=np.int64)
        return cls(edges, missing)

    @property
    def code_type(self) -> type[np.unsignedinteger[Any]]:
        return np.uint8 if self.missing.max(initial=0) <= MAX_BINS else np.uint32

    def codes_of(self, values: np.ndarray) -> np.ndarray:
        """The codes of a block of columns (columns, rows)."""
        codes = np.empty(values.shape, dtype=self.code_type)
        find_bins(values, self._thresholds, self._starts, self.missing, 0, codes)
        return codes

    def column_codes(self, j: int, values: np.ndarray) -> np.ndarray:
        """The codes of some values of column ``j``: as ``codes_of``, for few values."""
        table = self._thresholds[self._starts[j] : self._starts[j + 1]]
        return np.where(np.isnan(values), self.missing[j], np.searchsorted(table, values))

    def codes(self, columns: Columns, threads: RowThreads) -> np.ndarray:
        """The codes of a whole table, (columns, rows)."""
        if isinstance(columns, SparseColumns):
            return columns.all_codes(self, threads)
        codes = np.empty((columns.n_columns, columns.n_rows), dtype=self.code_type)

        def fill(block: tuple[int, int]) -> None:
            start, stop = block
            values = columns.block(start, stop)
            find_bins(values, self._thresholds, self._starts, self.missing, start, codes)

        threads.each(fill, row_blocks(columns.n_rows))
        return codes


@kernel
def find_bins(values, thresholds, starts, missing, first_row, codes):
    """Read values (columns, rows), write their codes to ``codes[:, first_row:]``.

    Binary search without branches, for a batch of values at a time: ``thresholds[starts[j]:starts[j + 1]]`` is the
    table of column j, padded with infinity to a power of two.
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
    """The rows from which edges are computed: all, or a fixed sample of ``EDGE_SAMPLE`` rows with weight."""
    if n_rows <= EDGE_SAMPLE:
        return slice(None)
    weighted = None if weights is None else np.flatnonzero(weights > 0)
    n_weighted = n_rows if weighted is None else len(weighted)
    if n_weighted > EDGE_SAMPLE:
        sample = _lowest_ranks(n_weighted)
        return sample if weighted is None else weighted[sample]
    return slice(None) if weighted is None else weighted


def _lowest_ranks(n_rows: int) -> np.ndarray:
    """The rows with the ``EDGE_SAMPLE`` lowest ranks, in ascending order; all ranks at once would need much memory."""
    key, enough = stream_key(0, n_rows), EDGE_SAMPLE + 20 * sqrt(EDGE_SAMPLE)  # fewer lie below by no chance
    limit = np.uint64(min(int(enough / n_rows * 2.0**64), MAX_RANK))
    kept_rows, kept_ranks = [], []
    for start, stop in row_blocks(n_rows, RANK_BLOCK):
        ranks = random_bits(key, stop - start, start)
        low = np.flatnonzero(ranks <= limit)
        kept_rows.append(start + low)
        kept_ranks.append(ranks[low])
    rows, ranks = np.concatenate(kept_rows), np.concatenate(kept_ranks)
    return np.sort(rows[np.argpartition(ranks, EDGE_SAMPLE - 1)[:EDGE_SAMPLE]])


def _all_edges(
    columns: Columns, max_bins: int | None, weights: np.ndarray | None, threads: RowThreads
) -> list[BinEdges | None]:
    rows = slice(None) if max_bins is None else edge_sample(columns.n_rows, weights)
    edges: list[BinEdges | None] = [None] * columns.n_columns

    def find_edges(j: int) -> None:
        few = _few_values(columns, j, max_bins, weights)
        edges[j] = _column_edges(columns, j, rows, max_bins, weights) if few is None else BinEdges(few, few)

    threads.each(find_edges, [j for j in range(columns.n_columns) if j not in columns.schema.categories])
    return edges


def _few_values(columns: Columns, j: int, max_bins: int | None, weights: np.ndarray | None) -> np.ndarray | None:
    """The distinct values of a sparse column, if each has a bin of its own; the zeros need not be sorted then."""
    if not isinstance(columns, SparseColumns):
        return None
    distinct = columns.distinct_values(j, weights)
    return distinct if max_bins is None or len(distinct) <= max_bins else None


def _column_edges(
    columns: Columns, j: int, rows: np.ndarray | slice, max_bins: int | None, weights: np.ndarray | None
) -> BinEdges:
    """Edges from the values in ``rows``; if a sample has few distinct values, all other values of the column are added.

    A rare flag may be the most important value, and a sample may miss it.
    """
    values = columns.column(j, rows)
    sampled = None if weights is None else weights[rows]
    edges = BinEdges.from_values(values, max_bins, sampled)
    if isinstance(rows, slice) or not edges.has_one_value_per_bin:
        return edges
    return edges_with_rare(values, missed_values(columns.column(j), weights, edges), max_bins, sampled)


def edges_with_rare(values: np.ndarray, rare: np.ndarray, max_bins: int | None, weights: np.ndarray | None) -> BinEdges:
    """Edges from a sample of a column and its weights, and from the ``rare`` values that the sample has missed."""
    if weights is not None:
        weights = np.append(weights, np.full(len(rare), weights[weights > 0].min()))
    return BinEdges.from_values(np.append(values, rare), max_bins, weights)


def missed_values(column: np.ndarray, weights: np.ndarray | None, edges: BinEdges) -> np.ndarray:
    """Distinct values in rows with weight that are not in ``edges``; ``column`` is a whole column or a part of it."""
    has_value = ~np.isnan(column)
    if weights is not None:
        has_value &= weights > 0
    column = column[has_value]
    if len(edges) == 0:
        return np.unique(column)
    place = np.minimum(np.searchsorted(edges.low, column), len(edges) - 1)
    return np.unique(column[edges.low[place] != column])


def _count_codes(edge: BinEdges | None, schema: Schema, j: int) -> int:
    """The number of codes of column ``j``, without that of missing values."""
    return len(edge) if edge is not None else min(len(schema.categories[j]), MAX_CATEGORIES)


def _search_tables(edges: Sequence[BinEdges | None], n_codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The concatenated thresholds of all columns, each padded with infinity to a power of two, and their starts.

    Category codes are searched like numbers: code c is between thresholds c - 1/2 and c + 1/2.
    """
    tables = []
    for edge, n in zip(edges, n_codes, strict=True):
        cuts = edge.thresholds if edge is not None else np.arange(n - 1) + 0.5
        size = 1 << len(cuts).bit_length()
        tables.append(np.concatenate([cuts, np.full(size - len(cuts), np.inf)]))
    return np.concatenate([np.empty(0), *tables]), np.concatenate([[0], np.cumsum([len(table) for table in tables])])
