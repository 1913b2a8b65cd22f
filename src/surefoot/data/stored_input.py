"""Tables in files as ``fit`` takes them: X is a path, a data set or a ``StoredTable``; y and weights are names."""

import os
from collections.abc import Callable
from typing import Any

from surefoot._exceptions import DataError, ParameterError
from surefoot.data.stored_table import SHARD_ROWS, StoredTable


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
    max_categories: int | None = None,
    shard_rows: int = SHARD_ROWS,
    n_jobs: int | None = None,
    callback: Callable[[float, str], None] | None = None,
) -> StoredTable:
    """The table of a fit, with its target and weights; y and sample_weight are names of columns.

    The folder with the bins of the table is removed with the last object that uses it. A ``StoredTable`` must have the
    bins that the model needs: ``max_bins``, and columns with more categories than ``max_categories`` without bins.
    """
    if isinstance(X, StoredTable):
        if not (y is None and sample_weight is None):
            raise DataError("y and sample_weight of a StoredTable are columns named when it is read: leave them out.")
        _check_bins(X, max_bins, max_categories)
        if X.target is None:
            raise ParameterError("X is a StoredTable without a target: name the column as target when it is read.")
        return X
    for name, value in (("y", y), ("sample_weight", sample_weight)):
        if not isinstance(value, str) and not (value is None and name == "sample_weight"):
            message = f"X is a table in files, so {name} must be the name of a column of it, got {value!r}."
            raise DataError(message, argument=name)
    return StoredTable.read(
        X,
        target=y,
        weight=sample_weight,
        max_bins=max_bins,
        max_categories=max_categories,
        shard_rows=shard_rows,
        n_jobs=n_jobs,
        callback=callback,
    )


def _check_bins(stored: StoredTable, max_bins: int, max_categories: int | None) -> None:
    """Refuse a stored table whose bins are not those of the model."""
    if stored.max_bins != max_bins:
        message = f"max_bins={max_bins}, but X is a StoredTable that was read with max_bins={stored.max_bins}: "
        raise ParameterError(message + "set the same number, or read it again.", argument="max_bins")
    settings = stored.settings_with(max_categories)
    if settings.plain_columns(stored.schema) != stored.plain:
        raise DataError(
            f"X is a StoredTable that was read with max_categories={stored.max_categories}, and has a column with more "
            f"or fewer categories: read it with max_categories={max_categories}, which this model needs.",
            argument="X",
        )
