"""The binned table as a tree grower reads it: row by row, with eight columns in a 64-bit word."""

import numpy as np

from surefoot._exceptions import DataError
from surefoot._parallel import THREADED_CELLS
from surefoot.data import BinnedTable
from surefoot.data.packed_words import pack_codes

_ODD = np.uint64(0x9E3779B97F4A7C15)  # multiplied by it, modulo 2**64, different words stay different
MAX_SORTED_ROWS = 8192  # larger tables have more rows than bins on every level of a tree


class PackedCodes:
    """Codes of a table, at most 256 for each column, and the place of the bins of each column in a histogram.

    Attributes
    ----------
    words : uint64 array of shape (n_groups, n_rows)
        Byte ``k`` of ``words[g, i]`` is the code of column ``8 g + k`` in row ``i``.
    n_codes : array of shape (n_columns,)
        Number of codes of each column, including that of missing values, which is the last.
    offsets : array of shape (n_columns + 1,)
        Where the bins of each column start when the bins of all columns are concatenated.
    has_missing : array of bool
        Whether the column has missing values.
    sorted_rows, sorted_codes : arrays of shape (n_columns, n_rows)
        The rows of each column sorted by code, and these codes; empty if ``is_sorted`` is False.
    is_sorted : bool
        Whether the table is so small that trees may read its sorted rows. A table that several threads read is not
        sorted: the last digits of gains would depend on the number of threads.
    """

    def __init__(self, codes: np.ndarray, missing: np.ndarray, is_categorical: np.ndarray) -> None:
        if codes.dtype != np.uint8:
            raise DataError("A tree with vector leaves takes at most 255 bins a column: set max_bins to 255 or less.")
        self.n_columns, self.n_rows = codes.shape
        self.words = pack_codes(codes)
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

    def weight_of_identical_rows(self, weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """For every row, the weight of those among ``rows`` with the same code in every column."""
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
        """Number of bins of all columns together."""
        return int(self.offsets[-1])
