"""Dask collections, cut into partitions: the rows of X with their targets and weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.delayed import Delayed
from dask.sizeof import sizeof
from distributed import Future

from surefoot._exceptions import DataError

KINDS = "a Dask DataFrame, a Dask Array or a list of delayed frames"


@dataclass(frozen=True)
class Partition:
    """Consecutive rows of a table, as frames or arrays; a partition may be empty."""

    X: Any
    y: Any = None
    weight: Any = None


@sizeof.register(Partition)
def partition_bytes(partition: Partition) -> int:
    """The memory of a partition: Dask moves and spills results by their size."""
    return sum(sizeof(part) for part in (partition.X, partition.y, partition.weight))


def is_collection(table: Any) -> bool:
    """Whether ``table`` is a Dask DataFrame, Series or Array, or a list of delayed objects or futures."""
    if isinstance(table, list | tuple):
        return len(table) > 0 and all(isinstance(block, Delayed | Future) for block in table)
    return isinstance(table, da.Array | dd.DataFrame | dd.Series)


Blocks = tuple[Any, Any, Any]  # Delayed or Future: X, y and the weights of one partition; None where there are none


def read_partitions(X: Any, y: Any = None, sample_weight: Any = None) -> list[Blocks]:
    """The partitions of a Dask table with its targets and weights, in the order of the rows; nothing is computed.

    Parameters
    ----------
    X : Dask DataFrame, Dask Array, or list of delayed frames
        The table. Columns of an Array may be in several chunks.
    y, sample_weight : Dask Series, Dask Array, list of delayed arrays, or None
        Targets and weights, in the partitions of X.

    Returns
    -------
    list of (X, y, sample_weight)
        The blocks of each partition, from which a `Partition` is made where they are loaded.
    """
    blocks = blocks_of(X)
    targets, weights = _blocks_beside(y, "y", X, blocks), _blocks_beside(sample_weight, "sample_weight", X, blocks)
    return list(zip(blocks, targets, weights, strict=True))


def blocks_of(table: Any, name: str = "X") -> list[Any]:
    """The blocks of rows of a collection."""
    if not is_collection(table):
        raise DataError(
            f"{name} must be {KINDS}, got {type(table).__name__}: for a table in memory, use the estimator of the same "
            "name in surefoot.",
            argument=name,
        )
    if isinstance(table, list | tuple):
        return list(table)
    if isinstance(table, da.Array):
        if table.ndim == 2:
            table = table.rechunk({1: -1})
        return np.ravel(table.to_delayed(optimize_graph=False)).tolist()  # optimized, it would forget its futures
    return list(table.to_delayed())


def _blocks_beside(values: Any, name: str, X: Any, blocks: Sequence[Any]) -> list[Any]:
    """The blocks of y or of the weights: as many as X has, and as long, where that is known."""
    if values is None:
        return [None] * len(blocks)
    own = blocks_of(values, name)
    lengths, expected = known_lengths(values), known_lengths(X)
    if len(own) != len(blocks) or (lengths and expected and lengths != expected):
        raise DataError(
            f"{name} is not in the partitions of X ({len(own)} and {len(blocks)} partitions): both must be cut at the "
            f"same rows, for example with {name}.rechunk or {name}.repartition.",
            argument=name,
        )
    return own


def known_lengths(table: Any) -> list[int]:
    """The number of rows of each partition of an Array; empty if that is not known before the table is computed."""
    if not isinstance(table, da.Array) or np.isnan(table.chunks[0]).any():
        return []
    return [int(length) for length in table.chunks[0]]
