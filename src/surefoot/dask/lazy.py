"""Predictions for Dask collections, which are computed when they are needed."""

from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed

from surefoot.dask.collections import blocks_of, known_lengths
from surefoot.dask.summaries import n_rows_of


def lazy_array(model: Any, method: str, X: Any, dtype: Any, n_columns: int | None = None) -> da.Array:
    """What a method of a fitted model returns for a Dask collection, as a Dask Array in the same partitions.

    The model is one task of the graph: it is sent to each worker once. The lengths of the partitions of a DataFrame are
    not known before it is computed, and so are those of the result.

    Parameters
    ----------
    model : fitted local estimator
        Answers for each partition.
    method : str
        The name of the method.
    X : Dask DataFrame, Dask Array, or list of delayed frames
        The rows to predict.
    dtype : dtype
        Of the result.
    n_columns : int or None, default=None
        The number of columns of the result; None: it has one dimension.

    Returns
    -------
    dask.array.Array
        Of shape (n_rows,) or (n_rows, n_columns).
    """
    return _arrays(delayed(BlockAnswer(model, method, np.dtype(dtype), n_columns), pure=False), X, dtype, n_columns)


def lazy_records(model: Any, method: str, X: Any, fields: tuple[str, ...]) -> dict[str, da.Array]:
    """As ``lazy_array``, for a method that returns a record: each of its fields as an array of numbers."""
    answer = delayed(BlockRecord(model, method, fields), pure=False)
    blocks, lengths = blocks_of(X), known_lengths(X)
    records = [answer(block) for block in blocks]
    return {
        name: _joined([delayed(dict.__getitem__)(record, name) for record in records], lengths, np.float64, None)
        for name in fields
    }


def _arrays(answer: Any, X: Any, dtype: Any, n_columns: int | None) -> da.Array:
    return _joined([answer(block) for block in blocks_of(X)], known_lengths(X), dtype, n_columns)


def _joined(blocks: list[Any], lengths: list[int], dtype: Any, n_columns: int | None) -> da.Array:
    """Delayed arrays, one below the other."""
    rest = () if n_columns is None else (n_columns,)
    rows: list[Any] = [*lengths] or [np.nan] * len(blocks)
    meta = np.empty((0, *rest), dtype=dtype)
    arrays = [da.from_delayed(b, shape=(n, *rest), meta=meta) for b, n in zip(blocks, rows, strict=True)]
    return da.concatenate(arrays, allow_unknown_chunksizes=True)


class BlockAnswer:
    """Calls a method of a model on the rows of one partition, which may be empty."""

    def __init__(self, model: Any, method: str, dtype: np.dtype, n_columns: int | None) -> None:
        self.model, self.method = model, method
        self.empty = np.empty((0,) if n_columns is None else (0, n_columns), dtype=dtype)

    def __call__(self, X: Any) -> np.ndarray:
        return getattr(self.model, self.method)(X) if n_rows_of(X) else self.empty


class BlockRecord:
    """As ``BlockAnswer``, for a method that returns a record: the fields in a dict."""

    def __init__(self, model: Any, method: str, fields: tuple[str, ...]) -> None:
        self.model, self.method, self.fields = model, method, fields

    def __call__(self, X: Any) -> dict[str, np.ndarray]:
        if not n_rows_of(X):
            return {name: np.empty(0) for name in self.fields}
        record = getattr(self.model, self.method)(X)
        return {name: getattr(record, name) for name in self.fields}
