"""The table that trees are grown on: one small whole number per cell."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot._parallel import RowThreads, threads_for
from surefoot.data.bin_edges import BinEdges, midpoints
from surefoot.data.binner import MAX_BINS, Binner
from surefoot.data.columns import Columns
from surefoot.data.packed_words import pack_codes

MAX_ROWS = 2**31 - 1


class BinnedTable:
    """The codes of all cells, column after column, shared by all members of an ensemble.

    Attributes
    ----------
    codes : array of shape (n_columns, n_rows)
        uint8, or uint32 if a column has more than 255 bins. Column ``j`` uses the codes below ``missing[j]`` in
        increasing order of value (or one per category), and the code ``missing[j]`` for missing values.
    missing : array of shape (n_columns,)
    offsets : array of shape (n_columns + 1,)
        The start of each column's bins in the concatenated bins of all columns, including those of missing values.
    edges : list of BinEdges or None
        Value ranges of the bins; None for a categorical column.
    is_categorical : array of bool
    new_array : callable
        Makes an array of zeros of a shape and type that needs as much memory as the codes: of a table in files, it is
        in a file too.
    """

    def __init__(
        self,
        codes: np.ndarray,
        edges: Sequence[BinEdges | None],
        missing: np.ndarray,
        new_array: Callable[[tuple[int, int], Any], np.ndarray] = np.zeros,
    ) -> None:
        self.codes = codes
        self.new_array = new_array
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
            binner = Binner.from_columns(columns, max_bins, weights, threads)
            return cls(binner.codes(columns, threads), binner.edges, binner.missing)

    @property
    def n_columns(self) -> int:
        return int(self.codes.shape[0])

    def reorder(self, order: np.ndarray) -> None:
        """Move row ``order[i]`` to position ``i``, column by column, so that no second table is needed.

        Rows that are not in ``order`` are lost; the positions after its end are then meaningless.
        """
        for j in range(self.n_columns):
            self.codes[j, : len(order)] = self.codes[j][order]

    def packed(self, start: int, stop: int) -> np.ndarray:
        """The codes of some rows, eight columns in a word."""
        return pack_codes(self.codes[:, start:stop], self.new_array)

    def thresholds_between(self, features: np.ndarray, below: np.ndarray, above: np.ndarray) -> np.ndarray:
        """For each split of column ``features[i]``, the value midway between bins ``below[i]`` and ``above[i]``."""
        low, high = self._limits
        used = np.maximum(features, 0)
        first = self.offsets[used]
        middle = midpoints(high[first + below], low[first + above])
        # above the last bin, there are only missing values: every number goes left
        return np.where(above >= self.missing[used], np.inf, middle) + np.where(self._ordered[features], 0.0, np.nan)

    @cached_property
    def _ordered(self) -> np.ndarray:
        """Whether each column has thresholds; the last entry, for "no column" (-1), is False."""
        return np.append(~self.is_categorical, False)

    @cached_property
    def _limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Smallest and largest value of every bin, for the concatenated bins of all columns."""
        low, high = np.zeros(int(self.offsets[-1])), np.zeros(int(self.offsets[-1]))
        for first, edge in zip(self.offsets, self.edges, strict=False):
            if edge is not None:
                low[first : first + len(edge)] = edge.low
                high[first : first + len(edge)] = edge.high
        return low, high
