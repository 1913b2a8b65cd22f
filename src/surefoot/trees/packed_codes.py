"""The binned table as a tree grower reads it: row by row, with eight columns in a 64-bit word."""

import numpy as np

from surefoot._exceptions import DataError
from surefoot._parallel import THREADED_CELLS, RowThreads
from surefoot.data import BinnedTable
from surefoot.data.packed_words import pack_codes, unpack_column

ONE_THREAD = RowThreads(1)
_ODD = np.uint64(0x9E3779B97F4A7C15)  # multiplied by it, modulo 2**64, different words stay different
GROUPED_ROWS = 1 << 18  # about so many rows are sorted at a time
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

    def __init__(
        self, codes: np.ndarray, missing: np.ndarray, is_categorical: np.ndarray, threads: RowThreads = ONE_THREAD
    ) -> None:
        if codes.dtype != np.uint8:
            raise DataError("A tree with vector leaves takes at most 255 bins a column: set max_bins to 255 or less.")
        has_missing = np.zeros(len(codes), dtype=np.bool_)

        def find_missing(j: int) -> None:
            has_missing[j] = (codes[j] == missing[j]).any()

        threads.each(find_missing, range(len(codes)))
        self._set(pack_codes(codes, threads=threads), missing.astype(np.int64) + 1, has_missing, is_categorical)
        self.is_sorted = codes.size < THREADED_CELLS and self.n_rows <= MAX_SORTED_ROWS and not is_categorical.any()
        if self.is_sorted:
            self.sorted_rows = np.argsort(codes, axis=1, kind="stable").astype(np.uint16)
            self.sorted_codes = np.take_along_axis(codes, self.sorted_rows, axis=1)

    def _set(self, words: np.ndarray, n_codes: np.ndarray, has_missing: np.ndarray, is_categorical: np.ndarray) -> None:
        self.words, self.n_rows, self.n_columns = words, words.shape[1], len(n_codes)
        self.n_codes, self.has_missing, self.is_categorical = n_codes, has_missing, is_categorical
        self.offsets = np.concatenate([[0], np.cumsum(n_codes)]).astype(np.uint64)
        self.is_sorted = False
        self.sorted_rows, self.sorted_codes = np.empty((0, 0), dtype=np.uint16), np.empty((0, 0), dtype=np.uint8)

    @classmethod
    def from_table(cls, table: BinnedTable) -> "PackedCodes":
        """The words of a binned table."""
        return cls(table.codes, table.missing, table.is_categorical)

    @classmethod
    def of_words(
        cls, words: np.ndarray, n_codes: np.ndarray, has_missing: np.ndarray, is_categorical: np.ndarray
    ) -> "PackedCodes":
        """A table, or a shard of one, whose codes are in ``words`` already."""
        table = object.__new__(cls)
        table._set(words, n_codes, has_missing, is_categorical)
        return table

    def with_words(self, words: np.ndarray) -> "PackedCodes":
        """Other rows of the same columns."""
        return self.of_words(words, self.n_codes, self.has_missing, self.is_categorical)

    @property
    def n_groups(self) -> int:
        return int(self.words.shape[0])

    @property
    def n_bins(self) -> int:
        """Number of bins of all columns together."""
        return int(self.offsets[-1])


def mixed_rows(words: np.ndarray) -> np.ndarray:
    """A number for every row; rows with the same code in every column have the same number."""
    mixed = np.zeros(words.shape[1], dtype=np.uint64)
    for group in words:
        mixed = (mixed ^ group) * _ODD
        mixed ^= mixed >> np.uint64(29)
    return mixed


def weight_of_identical_rows(
    mixed: np.ndarray, weights: np.ndarray | None, rows: np.ndarray, threads: RowThreads = ONE_THREAD
) -> np.ndarray:
    """For every row, the weight of those among ``rows`` that have the same of the numbers of ``mixed_rows``.

    Rows are compared in groups by the first bits of their numbers, because sorting all rows takes much memory.
    """
    out = np.zeros(len(mixed))
    out[rows] = 1.0 if weights is None else weights[rows]
    n_bits = max(int(len(mixed) / GROUPED_ROWS).bit_length(), 1)
    group = (mixed >> np.uint64(64 - n_bits)).astype(np.uint16)

    def add_up(number: int) -> None:
        own = np.flatnonzero(group == number)
        if len(own):
            out[own] = _weight_of_equal(mixed[own], out[own])

    threads.each(add_up, range(1 << n_bits))
    return out


def _weight_of_equal(numbers: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """For every number, the weight of all that are equal to it."""
    ordered = np.sort(numbers)  # many times as fast as the order, which is not needed if no two are equal
    if (ordered[1:] != ordered[:-1]).all():
        return weights
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    totals, out = np.add.reduceat(weights[order], starts), np.empty(len(numbers))
    out[order] = np.repeat(totals, np.diff(starts, append=len(numbers)))
    return out


def add_columns(words: np.ndarray, n_columns: int, codes: np.ndarray) -> np.ndarray:
    """The words of a table of ``n_columns`` with further columns, whose codes are (columns, rows)."""
    own = [unpack_column(words, j) for j in range(n_columns)]
    return pack_codes(np.stack([*own, *codes]))
