"""The bins of many columns in two arrays: an object for each of a million columns would fill hundreds of megabytes."""

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

from surefoot._parallel import row_blocks
from surefoot.data.bin_edges import BinEdges, midpoints

COLUMN_BLOCK = 4096  # columns whose thresholds are computed together


class JoinedEdges(Sequence[BinEdges | None]):
    """The edges of every column, None for a categorical one; ``low`` and ``high`` are those of all numeric columns."""

    def __init__(self, categorical: np.ndarray, n_codes: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        self.categorical, self.n_codes, self.low, self.high = categorical, n_codes, low, high
        self.starts = starts_of(np.where(categorical, 0, n_codes))

    def __len__(self) -> int:
        return len(self.categorical)

    @overload
    def __getitem__(self, place: int) -> BinEdges | None: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[BinEdges | None]: ...

    def __getitem__(self, place: int | slice) -> BinEdges | Sequence[BinEdges | None] | None:
        if isinstance(place, slice):
            return [self[j] for j in range(len(self))[place]]
        if self.categorical[place]:
            return None
        j = range(len(self))[place]
        own = slice(self.starts[j], self.starts[j + 1])
        return BinEdges(self.low[own], self.high[own])

    def __iter__(self) -> Iterator[BinEdges | None]:
        return (self[j] for j in range(len(self)))

    def search_tables(self) -> tuple[np.ndarray, np.ndarray]:
        """The concatenated thresholds of all columns, each padded with infinity to a power of two, and their starts.

        Category codes are searched like numbers: code c is between thresholds c - 1/2 and c + 1/2.
        """
        starts = np.zeros(len(self) + 1, dtype=np.int64)
        for first, stop in row_blocks(len(self), COLUMN_BLOCK):
            bits = np.frexp(self._count_cuts(first, stop))[1]
            starts[first + 1 : stop + 1] = np.left_shift(1, bits, dtype=np.int64)
        np.cumsum(starts, out=starts)
        thresholds = np.full(starts[-1], np.inf)
        for first, stop in row_blocks(len(self), COLUMN_BLOCK):
            cuts = self._count_cuts(first, stop)
            place = np.arange(cuts.sum()) - np.repeat(np.cumsum(cuts) - cuts, cuts)  # of each cut in its column
            is_code = np.repeat(self.categorical[first:stop], cuts)
            left = (place + np.repeat(self.starts[first:stop], cuts))[~is_code]
            values = place + 0.5
            values[~is_code] = midpoints(self.high[left], self.low[left + 1])
            thresholds[place + np.repeat(starts[first:stop], cuts)] = values
        return thresholds, starts

    def _count_cuts(self, first: int, stop: int) -> np.ndarray:
        return np.maximum(self.n_codes[first:stop] - 1, 0)


def starts_of(sizes: np.ndarray) -> np.ndarray:
    """Where each of several parts of these sizes starts, and where the last one ends."""
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts
