"""The binned table as a tree grower reads it: row by row, eight columns to a 64-bit word."""

import numpy as np

from surefoot._exceptions import DataError
from surefoot._parallel import THREADED_CELLS, row_blocks
from surefoot.data import BinnedTable

_ODD = np.uint64(0x9E3779B97F4A7C15)  # times it, modulo 2**64, words differ if they differed before
MAX_SORTED_ROWS = 8192  # larger tables have more rows than bins at every level of a tree
GROUP = 8  # codes in a word: one load brings eight cells, and the histograms of eight columns fit the fastest cache


class PackedCodes:
    """Codes of a table with at most 256 codes a column, and where each column's bins lie in a node's histogram.

    Attributes
    ----------
    words : uint64 array of shape (n_groups, n_rows)
        Byte ``k`` of ``words[g, i]`` is the code of column ``8 g + k`` in row ``i``.
    n_codes : array of shape (n_columns,)
        Codes that a column may have, the one for missing values included; it is the last.
    offsets : array of shape (n_columns + 1,)
        Where the bins of each column start when those of all columns are laid end to end.
    has_missing : array of bool
        Whether any row lacks the column's value.
    sorted_rows, sorted_codes : arrays of shape (n_columns, n_rows)
        The rows of each column by their code, and these codes; none if ``is_sorted`` is False.
    is_sorted : bool
        Whether the table is so small that trees may read its sorted rows. One that threads share is not: the last
        digits of gains would depend on their number.
    """

    def __init__(self, codes: np.ndarray, missing: np.ndarray, is_categorical: np.ndarray) -> None:
        if codes.dtype != np.uint8:
            raise DataError("A tree with vector leaves takes at most 255 bins a column: set max_bins to 255 or less.")
        self.n_columns, self.n_rows = codes.shape
        self.words = _pack(codes)
        self.n_codes = missing.astype(np.int64) + 1
        self.offsets = np.concatenate([[0], np.cumsum(self.n_codes)]).astype(np.uint64)
        self.has_missing = (codes == missing[:, np.newaxis]).any(axis=1) if self.n_rows else missing < 0
        self.is_categorical = is_categorical
        self.is_sorted = codes.size < THREADED_CELLS and self.n_rows <= MAX_SORTED_ROWS and not is_categorical.any()
        self.sorted_rows, self.sorted_codes = np.empty((0, 0), dtype=np.uint16), np.empty((0, 0), dtype=np.uint8)
        if self.is_sorted:
            self.sorted_rows = np.argsort(codes, axis=1, kind="stable").astype(np.uint16)
            self.sorted_codes = np.take_along_axis(codes, self.sorted_rows, axis=1)

    @classmethod
    def from_table(cls, table: BinnedTable) -> "PackedCodes":
        """The words of a binned table."""
        return cls(table.codes, table.missing, table.is_categorical)

    def twins(self, weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """For every row, the weight of those among ``rows`` that are like it in every column."""
        mixed = np.zeros(self.n_rows, dtype=np.uint64)
        for words in self.words:
            mixed = (mixed ^ words) * _ODD
            mixed ^= mixed >> np.uint64(29)
        _, kind = np.unique(mixed, return_inverse=True)
        return np.bincount(kind[rows], weights=weights[rows], minlength=int(kind.max(initial=0)) + 1)[kind]

    @property
    def n_groups(self) -> int:
        return int(self.words.shape[0])

    @property
    def n_bins(self) -> int:
        """Bins of all columns together."""
        return int(self.offsets[-1])


def _pack(codes: np.ndarray) -> np.ndarray:
    n_columns, n_rows = codes.shape
    n_groups = -(-n_columns // GROUP)
    words = np.zeros((n_groups, n_rows), dtype="<u8")
    cells = words.view(np.uint8).reshape(n_groups, n_rows, GROUP)
    for start, stop in row_blocks(n_rows):  # a block stays in the cache while its columns are interleaved
        for j in range(n_columns):
            cells[j // GROUP, start:stop, j % GROUP] = codes[j, start:stop]
    return words.astype(np.uint64, copy=False)
