"""A table whose partitions are on the workers of a cluster, and tasks that run where they are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from dask.delayed import delayed
from dask.local import get_sync
from dask.optimization import cull
from distributed import Client, Future, futures_of

from surefoot.dask.cluster import gather_results, worker_addresses
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
        The worker that each partition is on.
    is_assigned : bool
        Whether partitions and tasks must stay on their workers. If one of these leaves, ``gather`` raises
        ``WorkerLeftError``, and the work has to start again. If False, the rows were on workers before, or partitions
        have common tasks: then Dask places them, and moves them if a worker leaves.
    summaries : list of PartitionSummary
    summary : TableSummary
    """

    client: Client
    partitions: list[Future]
    homes: list[str]
    is_assigned: bool
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
            For each partition, the number of its group, from 0 on: partitions of a group are loaded on one worker.
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
        loaders = independent_loaders(partitions)
        homes = [workers[group % len(workers)] for group in groups]
        report = partial(summarise, with_labels=with_labels, categorical=categorical)
        is_assigned = len(loaders) > 0
        if not is_assigned:
            futures = load_anywhere(client, partitions)
            homes = _holders(client, futures, homes)
        options = [home_options(home, is_assigned) for home in homes]
        if is_assigned:
            futures = [client.submit(load, pure=False, **o) for load, o in zip(loaders, options, strict=True)]
        tasks = [client.submit(report, f, pure=False, **o) for f, o in zip(futures, options, strict=True)]
        summaries = gather_results(client, tasks, homes if is_assigned else ())
        return cls(
            client=client,
            partitions=futures,
            homes=homes,
            is_assigned=is_assigned,
            summaries=summaries,
            summary=TableSummary.of(summaries),
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
        return self.client.submit(function, *args, pure=False, **home_options(home, self.is_assigned))

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
        return gather_results(self.client, futures, self.homes if self.is_assigned else ())


def home_options(home: str, is_assigned: bool) -> dict[str, Any]:
    """Options of ``Client.submit`` and ``compute`` for tasks that must, or should, run on one worker."""
    return {"workers": [home], "allow_other_workers": not is_assigned}


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


def load_anywhere(client: Client, partitions: Sequence[Blocks]) -> list[Future]:
    """Load each partition on the worker that Dask chooses, and wait until all are loaded."""
    columns = [client.compute([b for b in blocks if b is not None]) for blocks in zip(*partitions, strict=True)]
    triples = zip(*(column or [None] * len(partitions) for column in columns), strict=True)
    futures = [client.submit(Partition, *blocks, pure=False) for blocks in triples]
    gather_results(client, [client.submit(_nothing, future, pure=False) for future in futures])
    return futures


def _nothing(partition: Any) -> None:
    """A task that is done when the partition is loaded."""


def _holders(client: Client, futures: Sequence[Future], otherwise: Sequence[str]) -> list[str]:
    """For each partition a worker that has it."""
    holders = client.who_has(list(futures))
    return [min(holders.get(f.key) or [home]) for f, home in zip(futures, otherwise, strict=True)]
