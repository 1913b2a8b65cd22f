"""The columns of a sparse matrix: its cells become codes without a dense array of numbers."""

import os
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from surefoot._exceptions import DataError
from surefoot._parallel import RowThreads, row_blocks
from surefoot.data.category_codes import few_codes, value_codes
from surefoot.data.category_matching import warn_if_all_unknown
from surefoot.data.columns import Columns, Schema
from surefoot.data.refused_columns import infinite

if TYPE_CHECKING:
    from surefoot.data.binner import Binner

BLOCK_CELLS = 1 << 23  # of a block of rows: 64 MB as numbers
MIN_BLOCK = 64  # rows
CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")


class SparseColumns(Columns):
    """A CSR or CSC matrix as columns of numbers; cells that are not stored are 0.

    Whole columns and blocks of rows become dense one at a time. Columns that the user lists as categorical are kept as
    codes of all rows.

    Parameters
    ----------
    table : CSR or CSC matrix
        Without duplicates and stored zeros, its indices sorted: see ``tidy``.
    schema : Schema
    codes : dict
        From the position of a categorical column to the code of each row.
    """

    def __init__(self, table: Any, schema: Schema, codes: dict[int, np.ndarray]) -> None:
        super().__init__([], schema, table.shape[0])
        self._table, self._codes = table, codes

    @classmethod
    def from_sparse(
        cls,
        table: Any,
        schema: Schema | None = None,
        categorical: Collection[int] = (),
        weights: np.ndarray | None = None,
    ) -> "SparseColumns":
        """As ``Columns.from_array``, of a validated CSR or CSC matrix."""
        known = dict.fromkeys(categorical) if schema is None else schema.categories
        columns = cls(tidy(table), schema or Schema(table.shape[1]), {})
        codes, categories = {}, {}
        for j, labels in known.items():
            values = columns.column(j)
            codes[j], categories[j] = value_codes(values, labels, weights)
            if schema is not None:
                warn_if_all_unknown(f"Column {j}", codes[j], categories[j], values[:1].tolist())
        if schema is None:
            _refuse_too_many_cells(*table.shape)
            ranges = {j: ends for j in range(table.shape[1]) if j not in known and (ends := columns._range(j, weights))}
            schema = Schema(table.shape[1], categories, frozenset(known), ranges)
        return cls(columns._table, schema, codes)

    @cached_property
    def _by_column(self) -> Any:
        return self._table.tocsc()

    @cached_property
    def _by_row(self) -> Any:
        return self._table.tocsr()

    def _stored(self, j: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows of a column that are stored, and their values."""
        table = self._by_column
        cells = slice(table.indptr[j], table.indptr[j + 1])
        return table.indices[cells], table.data[cells].astype(np.float64)

    @property
    def nbytes(self) -> int:
        """The memory of the columns."""
        parts = [self._table.data, self._table.indices, self._table.indptr, *self._codes.values()]
        return sum(part.nbytes for part in parts)

    def column(self, position: int, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """One column, or some of its rows, as float64; rare categories may share a code, unknown ones are NaN."""
        if position in self._codes:
            return few_codes(self._codes[position][rows].astype(np.float64))
        places, values = self._stored(position)
        out = np.zeros(self.n_rows)
        out[places] = values
        return out[rows]

    def distinct_values(self, j: int, weights: np.ndarray | None) -> np.ndarray:
        """The distinct values of a column in rows with weight, in increasing order."""
        return np.unique(self._known_values(j, weights))

    def _known_values(self, j: int, weights: np.ndarray | None) -> np.ndarray:
        """The stored values of a column in rows with weight that are not missing, and 0 if it has one."""
        places, values = self._stored(j)
        n_weighted = self.n_rows if weights is None else np.count_nonzero(weights > 0)
        if weights is not None:
            values = values[weights[places] > 0]
        zero = np.zeros(int(len(values) < n_weighted))
        return np.append(values[~np.isnan(values)], zero)

    def _range(self, j: int, weights: np.ndarray | None) -> tuple[float, float] | None:
        """The smallest and the largest value of a column in rows with weight; None if it has no value."""
        values = self._known_values(j, weights)
        return (float(values.min()), float(values.max())) if len(values) else None

    def category_codes(self, position: int, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Codes of all categories of a column, without shared codes; -1 if missing, -2 if unknown."""
        dense = Columns([self._codes[position]], Schema(1), self.n_rows)
        return dense.category_codes(0, start, stop)

    def matrix(self, rows: np.ndarray) -> np.ndarray:
        """Some rows as an array (rows, columns)."""
        few = self.take(rows)
        return few.block(0, few.n_rows).T

    def select(self, positions: Sequence[int]) -> "SparseColumns":
        """Some of the columns; the matrix is copied only if some columns are left out."""
        categories = {k: self.schema.categories[j] for k, j in enumerate(positions) if j in self.schema.categories}
        codes = {k: self._codes[j] for k, j in enumerate(positions) if j in self._codes}
        is_all = list(positions) == list(range(self.n_columns))
        table = self._table if is_all else self._by_column[:, list(positions)]
        out = SparseColumns(table, Schema(len(positions), categories), codes)
        if is_all:
            out.__dict__.update({name: self.__dict__[name] for name in CONVERTED if name in self.__dict__})
        return out

    def take(self, rows: np.ndarray) -> "SparseColumns":
        """A copy of some rows."""
        codes = {j: part[rows] for j, part in self._codes.items()}
        return SparseColumns(self._by_row[rows], self.schema, codes)

    def parts(self, rows: np.ndarray) -> Iterator[tuple[slice | np.ndarray, Columns]]:
        """Some rows, with their places among ``rows``: here, all at once."""
        yield slice(None), self.take(rows)

    def row_blocks(self, size: int) -> list[tuple[int, int]]:
        """Blocks of rows that ``block`` makes dense: of less than ``size`` rows if there are many columns."""
        return row_blocks(self.n_rows, min(size, max(MIN_BLOCK, BLOCK_CELLS // self.n_columns)))

    def block(self, start: int, stop: int) -> np.ndarray:
        """Rows ``start`` to ``stop`` as a contiguous (columns, rows) array of float64."""
        out = np.ascontiguousarray(self._by_row[start:stop].astype(np.float64).T.toarray(order="C"))
        for j, codes in self._codes.items():
            out[j] = few_codes(codes[start:stop].astype(np.float64))
        return out

    def block_codes(self, binner: "Binner", start: int, stop: int) -> np.ndarray:
        """The codes of rows ``start`` to ``stop``, (columns, rows), without a dense array of numbers."""
        codes = {j: part[start:stop] for j, part in self._codes.items()}
        return SparseColumns(self._by_row[start:stop].tocsc(), self.schema, codes).all_codes(binner, RowThreads(1))

    def all_codes(self, binner: "Binner", threads: RowThreads) -> np.ndarray:
        """The codes of all rows, (columns, rows)."""
        zero = binner.codes_of(np.zeros((self.n_columns, 1)))
        codes = np.repeat(zero, self.n_rows, axis=1)
        stored = np.flatnonzero(np.diff(self._by_column.indptr)).tolist()

        def fill(j: int) -> None:
            places, values = self._stored(j)
            codes[j, places] = binner.column_codes(j, values)

        threads.each(fill, stored)
        for j in self._codes:
            codes[j] = binner.column_codes(j, self.column(j))
        return codes


CONVERTED = ("_by_column", "_by_row")


def tidy(table: Any) -> Any:
    """The same matrix without duplicates and stored zeros, its indices sorted; that of the user does not change."""
    if table.has_canonical_format and np.all(table.data):
        return table
    table = table.copy()
    table.sum_duplicates()
    table.eliminate_zeros()
    return table


def is_sparse_frame(frame: Any) -> bool:
    """Whether all columns of a pandas frame are sparse, with 0 as the value that is not stored."""
    if not nw.dependencies.is_pandas_dataframe(frame):
        return False
    import pandas as pd

    dtypes = frame.dtypes.tolist()
    return bool(dtypes) and all(
        isinstance(dtype, pd.SparseDtype) and dtype.subtype.kind in "biuf" and dtype.fill_value == 0 for dtype in dtypes
    )


def sparse_matrix_of(frame: Any) -> Any:
    """The cells of a frame of sparse columns as a CSC matrix."""
    import pandas as pd

    matrix = frame.astype(pd.SparseDtype(np.float64, 0.0)).sparse.to_coo().tocsc()
    is_infinite = np.isinf(matrix.data)
    if is_infinite.any():
        cell = int(np.flatnonzero(is_infinite)[0])
        raise infinite(frame.columns[np.searchsorted(matrix.indptr, cell, side="right") - 1])
    return matrix


def _refuse_too_many_cells(n_rows: int, n_columns: int) -> None:
    """Raise an error if training would need more memory than there is: the system would stop the process."""
    available, needed = machine_memory(), n_rows * n_columns
    if available is not None and needed > available:
        raise DataError(
            f"X is sparse, but training reads a byte for every cell: {n_rows} rows and {n_columns} columns need at "
            f"least {needed / 2**30:,.1f} GiB, and this machine has {available / 2**30:,.1f} GiB. Leave out columns "
            "(min_df or max_features of a vectorizer, SelectKBest), reduce them (TruncatedSVD), or leave out rows.",
            argument="X",
        )


def machine_memory() -> int | None:
    """The memory of this machine, or of the container it runs in, in bytes; None if the system does not say."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
    try:
        return min(memory, int(CONTAINER_LIMIT.read_text()))
    except (OSError, ValueError):  # there is no container, or "max": no limit
        return memory
