"""How the cells of a table become small integers: fitted once, used for training and for new rows."""

from typing import Any

import numpy as np

from surefoot._jit import kernel
from surefoot._parallel import RowThreads, row_blocks
from surefoot._random import random_bits, stream_key
from surefoot.data.columns import MAX_CATEGORIES, Columns, Schema
from surefoot.data.edges import BinEdges

EDGE_SAMPLE = 200_000  # above this many rows, edges come from a sample of this size
MAX_BINS = 255  # one byte holds this many bins and the bin of missing values
BATCH = 256


class Binner:
    """The edges of every column's bins, and the code of its missing values.

    Attributes
    ----------
    edges : list of BinEdges or None
        Value ranges of the bins; None for a categorical column, whose categories are their own codes.
    missing : array of shape (n_columns,)
        The code of missing values: one more than a column's last bin.
    """

    def __init__(self, edges: list[BinEdges | None], missing: np.ndarray) -> None:
        self.edges, self.missing = edges, missing
        self._thresholds, self._starts = _search_tables(edges, missing)

    @classmethod
    def from_columns(
        cls, columns: Columns, max_bins: int | None, weights: np.ndarray | None, threads: RowThreads
    ) -> "Binner":
        """Bins for every column: numbers by quantiles (weighted, if weights are given), categories by their codes."""
        edges = _all_edges(columns, max_bins, weights, threads)
        missing = np.array([_count_codes(edge, columns.schema, j) for j, edge in enumerate(edges)], dtype=np.int64)
        return cls(edges, missing)

    @property
    def code_type(self) -> type[np.unsignedinteger[Any]]:
        return np.uint8 if self.missing.max(initial=0) <= MAX_BINS else np.uint32

    def codes_of(self, values: np.ndarray) -> np.ndarray:
        """Codes of a block of columns (columns, rows)."""
        codes = np.empty(values.shape, dtype=self.code_type)
        find_bins(values, self._thresholds, self._starts, self.missing, 0, codes)
        return codes

    def codes(self, columns: Columns, threads: RowThreads) -> np.ndarray:
        """Codes of a whole table, (columns, rows)."""
        codes = np.empty((columns.n_columns, columns.n_rows), dtype=self.code_type)

        def fill(block: tuple[int, int]) -> None:
            start, stop = block
            values = columns.block(start, stop)
            find_bins(values, self._thresholds, self._starts, self.missing, start, codes)

        threads.each(fill, row_blocks(columns.n_rows))
        return codes


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


def _search_tables(edges: list[BinEdges | None], n_codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Thresholds of all columns end to end, each filled up with infinity to a power of two.

    Category codes are searched as if they were numbers: code c lies between thresholds c - 1/2 and c + 1/2.
    """
    tables = []
    for edge, n in zip(edges, n_codes, strict=True):
        cuts = edge.thresholds if edge is not None else np.arange(n - 1) + 0.5
        size = 1 << len(cuts).bit_length()
        tables.append(np.concatenate([cuts, np.full(size - len(cuts), np.inf)]))
    return np.concatenate([np.empty(0), *tables]), np.concatenate([[0], np.cumsum([len(table) for table in tables])])
