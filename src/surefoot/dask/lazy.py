"""Predictions for Dask collections, which are computed when they are needed."""

from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed

from surefoot.dask.collections import blocks_of, known_lengths
from surefoot.dask.summaries import n_rows_of
from surefoot.uncertainty import Uncertainty

PARTS = ("total", "data", "knowledge")


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


def lazy_uncertainty(model: Any, X: Any, unit: str) -> Uncertainty:
    """What ``predict_uncertainty`` of a fitted ensemble returns for a Dask collection, as Dask Arrays.

    Parameters
    ----------
    model : fitted local ensemble
        Answers for each partition.
    X : Dask DataFrame, Dask Array, or list of delayed frames
        The rows to predict.
    unit : {"nats", "target squared"}
        The unit of the uncertainty.

    Returns
    -------
    Uncertainty
        Its parts are computed by ``dask.compute(uncertainty)``, all of them in one pass over the rows.
    """
    answer = delayed(BlockUncertainty(model), pure=False)
    records = [answer(block) for block in blocks_of(X)]
    pick, lengths = delayed(getattr), known_lengths(X)
    parts: dict[str, Any] = {
        name: _joined([pick(record, name) for record in records], lengths, np.float64, None) for name in PARTS
    }
    return Uncertainty(**parts, unit=unit)


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


class BlockUncertainty:
    """Predicts the uncertainty of the rows of one partition, which may be empty."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def __call__(self, X: Any) -> Uncertainty:
        none = np.empty(0)
        return self.model.predict_uncertainty(X) if n_rows_of(X) else Uncertainty(none, none, none, unit="")
