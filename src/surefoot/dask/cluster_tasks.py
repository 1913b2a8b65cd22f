"""The tasks of a local estimator, run on the workers of a cluster: what all tasks need is sent to each worker once."""

from collections.abc import Callable, Iterable
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from distributed import Client, Future

from surefoot._parallel import Cancellation
from surefoot.dask.cluster import WorkerLeftError, find_client, gather_results, retry_if_a_worker_leaves, send_once
from surefoot.dask.collections import blocks_of, is_collection
from surefoot.dask.summaries import n_rows_of
from surefoot.data.columns import is_frame

Task = Callable[[Any, Cancellation], Any]


class ClusterTasks:
    """Runs tasks as ``surefoot._parallel.run_tasks`` does, but on the workers of a cluster.

    The function, with the table in it, is sent to every worker once, for as long as the tasks are of the same function.

    Parameters
    ----------
    client : Client or None
        The cluster; None: the default client of the process.
    """

    def __init__(self, client: Any) -> None:
        self.client: Client = find_client(client)
        self._function: Task | None = None
        self._sent: Future | None = None

    def __call__(self, function: Task, tasks: Iterable[Any], n_jobs: int | None) -> list[Any]:
        """The results of the tasks, in order; ``n_jobs`` is for threads of this process, and is not used here."""
        items = list(tasks)
        return retry_if_a_worker_leaves(lambda: self._run(function, items))

    def _run(self, function: Task, tasks: list[Any]) -> list[Any]:
        if self._sent is None or self._function is not function:
            self._function, self._sent = function, send_once(self.client, function)
        futures = [self.client.submit(run_one, self._sent, task, pure=False) for task in tasks]
        try:
            return gather_results(self.client, futures)
        except WorkerLeftError:
            self._sent = None  # it is sent again with the next attempt
            raise


def run_one(function: Task, task: Any) -> Any:
    """One task, on a worker."""
    return function(task, Cancellation())


def bring_together(client: Client, table: Any, name: str) -> Any:
    """All rows of a Dask collection in this process, as the table that a local estimator would get.

    Parameters
    ----------
    client : Client
        The cluster.
    table : Dask collection, or anything else
        A table, targets, or None.
    name : str
        The name of the argument, for errors.

    Returns
    -------
    array, frame or series
        Anything but a collection is returned as it is.
    """
    if not is_collection(table):
        return table
    blocks = gather_results(client, client.compute(blocks_of(table, name)), are_own=False)
    used = [block for block in blocks if n_rows_of(block)] or blocks[:1]
    if isinstance(used[0], pd.DataFrame | pd.Series):
        return _join_pandas(used)
    return (
        nw.concat([nw.from_native(block) for block in used]).to_native() if is_frame(used[0]) else np.concatenate(used)
    )


def _join_pandas(blocks: list[Any]) -> Any:
    """Frames or series below each other; categorical columns stay categorical, even if their categories differ."""
    joined = pd.concat(blocks)
    if isinstance(joined, pd.Series):
        return joined
    kinds = blocks[0].dtypes
    mixed = [name for name in joined.columns if kinds[name] == "category" and joined.dtypes[name] != "category"]
    return joined.astype(dict.fromkeys(mixed, "category"))
