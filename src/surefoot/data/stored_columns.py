"""The columns of a table in files, for models that need the codes of all rows in an order of their own."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from surefoot._exceptions import DataError
from surefoot._parallel import RowThreads, row_blocks, threads_for
from surefoot._row_values import scale_weights
from surefoot.data.arrow_columns import CHANGED, numbers_of
from surefoot.data.binned_table import BinnedTable
from surefoot.data.binner import Binner
from surefoot.data.columns import Columns, Schema
from surefoot.data.mapped_arrays import mapped_zeros, mapping_of, release, scratch_folder
from surefoot.data.packed_words import GROUP, unpack_column
from surefoot.data.stored_table import StoredTable
from surefoot.data.table_passes import TablePasses

PART_ROWS = 1 << 18  # rows whose values are in memory at a time


@dataclass(frozen=True)
class ColumnCodes:
    """Bins, and the codes of each column in all rows."""

    binner: Binner
    column: Callable[[int], np.ndarray]


class StoredColumns:
    """Takes the place of the ``Columns`` of a table in memory; all columns of the stored table have bins.

    Codes are read from the folder of the table. The few values that are needed besides them are read again from the
    source of the table.
    """

    def __init__(self, stored: StoredTable) -> None:
        self.stored, self.schema, self.n_rows = stored, stored.schema, stored.n_rows
        self._numeric = [j for j in range(self.n_columns) if j not in self.schema.categories]
        self._folder = scratch_folder(stored.folder)
        self._other: tuple[np.ndarray | None, ColumnCodes] | None = None  # of the last weights that are not the table's

    @property
    def n_columns(self) -> int:
        return self.schema.n_columns

    def binned(self, order: np.ndarray, weights: np.ndarray | None, n_jobs: int | None) -> BinnedTable:
        """The codes of the rows ``order``, in a file that is mapped to memory; bins depend on the weights."""
        bins = self._codes_for(weights, n_jobs)
        codes = mapped_zeros(self._folder, (self.n_columns, len(order)), np.uint8)
        for j in range(self.n_columns):
            codes[j] = bins.column(j)[order]
        release(mapping_of(codes))
        return BinnedTable(codes, bins.binner.edges, bins.binner.missing, partial(mapped_zeros, self._folder))

    def take(self, rows: np.ndarray) -> Columns:
        """The values of some rows, in this order."""
        cells = [np.empty(len(rows)) for _ in range(self.n_columns)]
        for places, part in self.parts(rows):
            for j, own in enumerate(cells):
                own[places] = part.column(j)
        return Columns(cells, self.schema, len(rows))

    def parts(self, rows: np.ndarray) -> Iterator[tuple[np.ndarray, Columns]]:
        """Some rows, a part of them at a time, with the places of the part among ``rows``."""
        order = np.argsort(rows, kind="stable")
        ascending = rows[order]
        for start, stop, numbers in self._numbers(ascending):
            cells = dict(zip(self._numeric, numbers, strict=True))
            cells |= {j: self._categories(j, ascending[start:stop]) for j in self.schema.categories}
            yield order[start:stop], Columns([cells[j] for j in range(self.n_columns)], self.schema, stop - start)

    def _numbers(self, rows: np.ndarray) -> Iterator[tuple[int, int, Sequence[np.ndarray]]]:
        """The numeric columns of some rows, which are in ascending order: part of them at a time."""
        if not self._numeric:
            yield from ((start, stop, ()) for start, stop in row_blocks(len(rows), PART_ROWS))
            return
        done, last, first_row, pieces = 0, 0, 0, list[list[np.ndarray]]()
        names = self._numeric_names
        for batch in self.stored.reread().batches(names):
            stop_row = first_row + batch.num_rows
            first, last = last, int(np.searchsorted(rows, stop_row))
            chosen = rows[first:last] - first_row
            if len(chosen):
                pieces.append([numbers_of(batch.column(k), name)[chosen] for k, name in enumerate(names)])
            if last - done >= PART_ROWS:
                yield done, last, _joined(pieces)
                done, pieces = last, []
            first_row = stop_row
        if first_row != self.n_rows:
            raise DataError(CHANGED, argument="X")
        if pieces:
            yield done, last, _joined(pieces)

    @property
    def _numeric_names(self) -> list[str]:
        return [str(self.stored.feature_names[j]) for j in self._numeric]

    def _categories(self, j: int, rows: np.ndarray) -> np.ndarray:
        """The codes of a categorical column in some rows, which are in ascending order; NaN where missing."""
        codes = np.empty(len(rows))
        for shard in self.stored.shards:
            first, stop = np.searchsorted(rows, (shard.first_row, shard.stop_row))
            words = shard.words()[j // GROUP : j // GROUP + 1]
            codes[first:stop] = unpack_column(words[:, rows[first:stop] - shard.first_row], j % GROUP)
        return np.where(codes == self.stored.missing[j], np.nan, codes)

    def _codes_for(self, weights: np.ndarray | None, n_jobs: int | None) -> ColumnCodes:
        """The bins of the table, or other bins if rows have other weights: they are kept until the next weights."""
        stored = self.stored
        if _are_equal(weights, None if stored.weights is None else scale_weights(stored.weights)):
            return ColumnCodes(stored.binner, stored.codes)
        if self._other is None or not _are_equal(weights, self._other[0]):
            self._other = None  # first, so that its file makes room for the next
            self._other = weights, self._bin_again(weights, n_jobs)
        return self._other[1]

    def _bin_again(self, weights: np.ndarray | None, n_jobs: int | None) -> ColumnCodes:
        """Bins for other weights: those of numeric columns; the codes of categories stay.

        They do not refer to this object: a cycle would keep the folder of the table after the fit.
        """
        stored, numeric = self.stored, self._numeric
        if not numeric:
            return ColumnCodes(stored.binner, stored.codes)
        passes = TablePasses(stored.reread().select(self._numeric_names), None, None, lambda *_: None)
        passes.read_rows()
        if passes.n_rows != self.n_rows:
            raise DataError(CHANGED, argument="X")
        passes.weights = weights
        codes = mapped_zeros(self._folder, (len(numeric), self.n_rows), np.uint8)
        with RowThreads(threads_for(n_jobs, codes.size)) as threads:
            edges = passes.edges(passes.read_values(threads), stored.max_bins, threads)
            binner = Binner.from_edges(edges, Schema(len(numeric)))
            for start, columns in passes.tables(Schema(len(numeric))):
                codes[:, start : start + columns.n_rows] = binner.codes(columns, threads)
        release(mapping_of(codes))
        place = {j: k for k, j in enumerate(numeric)}
        all_edges = [edges[place[j]] if j in place else None for j in range(self.n_columns)]
        return ColumnCodes(
            binner=Binner.from_edges(all_edges, self.schema),
            column=lambda j: codes[place[j]] if j in place else stored.codes(j),
        )


def _joined(pieces: list[list[np.ndarray]]) -> list[np.ndarray]:
    """The values of each column, from pieces that have some rows of all columns."""
    return [np.concatenate(column).astype(np.float64) for column in zip(*pieces, strict=True)]


def _are_equal(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)
