"""A table whose partitions are on the workers of a cluster, and tasks that run where they are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from dask.delayed import delayed
from dask.local import get_sync
from dask.optimization import cull
from distributed import Client, Future, futures_of

from surefoot.dask.cluster import gather_results, wait_until_done, worker_addresses
from surefoot.dask.collections import Blocks, Partition
from surefoot.dask.summaries import PartitionSummary, TableSummary, summarise


@dataclass(frozen=True)
class WorkerTable:
    """Partitions on workers.

    Attributes
    ----------
    client : Client
        The client of the fit.
    partitions : list of Future
        Each a `Partition`, in the order of the rows.
    homes : list of str
        The worker that each partition is on: where it was before, or where its group is loaded. Partitions and tasks
        stay there; if the worker leaves, ``gather`` raises ``WorkerLeftError``, and the work has to start again.
    summaries : list of PartitionSummary
    summary : TableSummary
    """

    client: Client
    partitions: list[Future]
    homes: list[str]
    summaries: list[PartitionSummary]
    summary: TableSummary

    @classmethod
    def load(
        cls,
        client: Client,
        partitions: Sequence[Blocks],
        groups: Sequence[int],
        *,
        with_labels: bool = False,
        categorical: Any = None,
    ) -> "WorkerTable":
        """Load the partitions on workers, and summarise them there.

        Parameters
        ----------
        client : Client
            The client of the fit.
        partitions : sequence of (X, y, sample_weight)
            From `read_partitions`.
        groups : sequence of int
            For each partition, the number of its group, from 0 on: partitions of a group are loaded on one worker, but
            if they are on workers already, or have common tasks, Dask decides.
        with_labels : bool, default=False
            Whether y has labels of classes.
        categorical : list or None, default=None
            The value of ``categorical_features``, if it is a list.

        Returns
        -------
        WorkerTable
            The partitions, all of them loaded.
        """
        workers = worker_addresses(client)
        homes = [workers[group % len(workers)] for group in groups]
        loaders: Sequence[tuple[Any, ...]] = [(load,) for load in independent_loaders(partitions)]
        if not loaders:
            blocks = load_anywhere(client, partitions)
            homes = holders(client, [X for X, _, _ in blocks], homes)
            loaders = [(Partition, *each) for each in blocks]
        futures = [submit_to(client, home, *load) for home, load in zip(homes, loaders, strict=True)]
        report = partial(summarise, with_labels=with_labels, categorical=categorical)
        tasks = [submit_to(client, home, report, future) for home, future in zip(homes, futures, strict=True)]
        summaries = gather_results(client, tasks, homes)
        return cls(
            client=client, partitions=futures, homes=homes, summaries=summaries, summary=TableSummary.of(summaries)
        )

    def submit(self, home: str, function: Callable[..., Any], *args: Any) -> Future:
        """Run a function on a worker.

        Parameters
        ----------
        home : str
            The address of the worker.
        function : callable
            Called with the results of the futures among ``args``.
        *args : object
            Its arguments.

        Returns
        -------
        Future
            The result, which stays on the worker.
        """
        return submit_to(self.client, home, function, *args)

    def gather(self, futures: Sequence[Future]) -> list[Any]:
        """Wait for tasks, and return their results.

        Parameters
        ----------
        futures : sequence of Future
            The tasks.

        Returns
        -------
        list
            Their results, in order.
        """
        return gather_results(self.client, futures, self.homes)


def submit_to(client: Client, home: str, function: Callable[..., Any], *args: Any) -> Future:
    """Run a function on one worker, and on no other: a task must not be moved to rows, or rows to a task."""
    return client.submit(function, *args, workers=[home], allow_other_workers=False, pure=False)


class PartitionLoader:
    """Loads one partition as a single task, so that nothing of it is computed on another worker.

    The tasks of the collection keep no trace of the worker: other computations with them are not bound to it.
    """

    def __init__(self, graph: dict[Any, Any], keys: list[Any]) -> None:
        self.graph, self.keys = graph, keys

    def __call__(self) -> Partition:
        known = [key for key in self.keys if key is not None]
        values = iter(get_sync(self.graph, known))
        return Partition(*(None if key is None else next(values) for key in self.keys))


def independent_loaders(partitions: Sequence[Blocks]) -> list[PartitionLoader]:
    """What loads each partition on any worker; empty if a partition is on a worker, or if two have a common task."""
    if any(isinstance(block, Future) or futures_of(block) for blocks in partitions for block in blocks):
        return []
    together = delayed(list, pure=False)([list(blocks) for blocks in partitions])
    graph, seen = dict(together.__dask_graph__()), set[Any]()
    loaders = []
    for blocks in partitions:
        keys = [None if block is None else block.key for block in blocks]
        own, _ = cull(graph, [key for key in keys if key is not None])
        if not seen.isdisjoint(own):
            return []
        seen.update(own)
        loaders.append(PartitionLoader(own, keys))
    return loaders


def load_anywhere(client: Client, partitions: Sequence[Blocks]) -> list[Blocks]:
    """Load the blocks on the workers that Dask chooses, and wait until all are loaded."""
    futures = client.compute([block for blocks in partitions for block in blocks if block is not None])
    wait_until_done(client, futures)
    loaded = iter(futures)
    return [
        (next(loaded), None if y is None else next(loaded), None if weight is None else next(loaded))
        for _, y, weight in partitions
    ]


def holders(client: Client, futures: Sequence[Future], otherwise: Sequence[str]) -> list[str]:
    """For each block a worker that has it."""
    known = client.who_has(list(futures))
    return [min(known.get(future.key) or [home]) for future, home in zip(futures, otherwise, strict=True)]
