"""Training on tables in files that are larger than memory."""

from typing import Any

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._parallel import count_jobs
from surefoot.data.mapped_arrays import mapping_of, scratch_folder
from surefoot.data.problem import PreparedTable
from surefoot.data.stored_input import open_stored
from surefoot.data.stored_table import StoredTable
from surefoot.trees.row_blocks import BLOCK_ROWS
from surefoot.uncertainty.shard_host import ShardHost
from surefoot.uncertainty.sharded_table import TableInShards
from surefoot.uncertainty.training_table import SET_CATEGORIES

SHARD_ROWS = 16 * BLOCK_ROWS  # the rows that a thread works on at a time: their state takes about 60 MB


def open_table(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[PreparedTable, np.ndarray, np.ndarray | None]:
    """The table, the target and the weights of rows in files; y and sample_weight are names of columns."""
    if model._listed_categories is not None:
        message = "categorical_features is for tables in memory: give columns of a file a type of text instead."
        raise ParameterError(message, argument="categorical_features")
    if getattr(model, "class_weight", None) is not None:  # bins would have to depend on them
        message = "class_weight is for tables in memory: write the weight of each row to a column, for sample_weight."
        raise ParameterError(message, argument="class_weight")
    stored = open_stored(
        X,
        y,
        sample_weight,
        max_bins=model.max_bins,
        max_categories=SET_CATEGORIES,
        shard_rows=SHARD_ROWS,
        n_jobs=model.n_jobs,
    )
    if len(stored.shards) > 1 and stored.shards[0].n_rows % BLOCK_ROWS:
        raise DataError(
            f"X is a StoredTable in shards of {stored.shards[0].n_rows} rows: read it with shard_rows={SHARD_ROWS}, or "
            f"another multiple of {BLOCK_ROWS}.",
            argument="X",
        )
    assert stored.y is not None, "open_stored checks that there is a target"
    return prepared_table(stored, model.n_jobs), stored.y, stored.weights


def prepared_table(stored: StoredTable, n_jobs: int | None) -> PreparedTable:
    """A stored table as estimators take it: its shards are read from their files; threads take them in turn."""
    shards = stored.shards
    host = ShardHost(
        words=[shard.words() for shard in shards],
        row_ranges=[(shard.first_row, shard.stop_row) for shard in shards],
        n_columns=len(stored.plain),
        n_threads=count_jobs(n_jobs),
        folder=scratch_folder(stored.folder),
        unused=mapping_of(stored.y) if isinstance(stored.y, np.ndarray) else [],
    )
    columns = TableInShards(
        schema=stored.schema,
        n_rows=stored.n_rows,
        binner=stored.binner,
        has_missing=stored.has_missing,
        shards=host,
        category_codes=stored.category_codes,
        log_folder=stored.folder if stored.is_kept else None,
    )
    return PreparedTable(columns, stored.feature_names)
