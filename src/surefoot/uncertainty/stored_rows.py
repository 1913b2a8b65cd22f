"""Training on tables in files that are larger than memory."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._parallel import count_jobs
from surefoot.data.problem import PreparedTable
from surefoot.data.stored_table import StoredTable
from surefoot.trees.row_blocks import BLOCK_ROWS
from surefoot.uncertainty.mapped_arrays import mapping_of
from surefoot.uncertainty.shard_host import ShardHost
from surefoot.uncertainty.sharded_table import TableInShards
from surefoot.uncertainty.training_table import SET_CATEGORIES

SHARD_ROWS = 16 * BLOCK_ROWS  # the rows that a thread works on at a time: their state takes about 60 MB


def is_stored(X: Any) -> bool:
    """Whether X is a table in files: a path, a data set of pyarrow, or a ``StoredTable``."""
    is_data_set = type(X).__module__.startswith("pyarrow") and hasattr(X, "scanner")
    return isinstance(X, str | os.PathLike | StoredTable) or is_data_set


def open_stored(
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    max_bins: int,
    n_jobs: int | None,
    callback: Callable[[float, str], None] | None = None,
) -> tuple[PreparedTable, np.ndarray, np.ndarray | None]:
    """The table, the target and the weights of rows in files; y and sample_weight are names of columns.

    The folder with the bins of the table is removed with the last object that uses it.
    """
    if isinstance(X, StoredTable):
        if not (y is None and sample_weight is None):
            raise DataError("y and sample_weight of a StoredTable are columns named when it is read: leave them out.")
        stored = X
    else:
        for name, value in (("y", y), ("sample_weight", sample_weight)):
            if not isinstance(value, str) and not (value is None and name == "sample_weight"):
                raise DataError(f"X is a table in files, so {name} must be the name of a column of it, got {value!r}.")
        stored = StoredTable.read(
            X,
            target=y,
            weight=sample_weight,
            max_bins=max_bins,
            max_categories=SET_CATEGORIES,
            shard_rows=SHARD_ROWS,
            n_jobs=n_jobs,
            callback=callback,
        )
    if stored.y is None:
        raise ParameterError("X is a StoredTable without a target: name the column as target when it is read.")
    return prepared_table(stored, n_jobs), stored.y, stored.weights


def prepared_table(stored: StoredTable, n_jobs: int | None) -> PreparedTable:
    """A stored table as estimators take it: its shards are read from their files; threads take them in turn."""
    shards = stored.shards
    host = ShardHost(
        words=[shard.words() for shard in shards],
        row_ranges=[(shard.first_row, shard.stop_row) for shard in shards],
        n_columns=len(stored.plain),
        n_threads=count_jobs(n_jobs),
        folder=stored.folder,
        unused=mapping_of(stored.y) if isinstance(stored.y, np.ndarray) else [],
    )
    columns = TableInShards(
        schema=stored.schema,
        n_rows=stored.n_rows,
        binner=stored.binner,
        has_missing=stored.has_missing,
        shards=host,
        category_codes=stored.category_codes,
    )
    return PreparedTable(columns, stored.feature_names)
