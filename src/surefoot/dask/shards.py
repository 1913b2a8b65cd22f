"""Shards of a table on the workers of a cluster: an actor on each worker holds its rows, and messages hold sums.

Models that are trained side by side share messages: what their threads ask for while one message is on its way goes
into the next.
"""

import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, Future

from surefoot._exceptions import ClusterError
from surefoot.dask.cluster import POLL_SECONDS, WorkerLeftError, WorkerWatch
from surefoot.trees.shard_grower import LevelSums
from surefoot.uncertainty.shard_host import ShardHost
from surefoot.uncertainty.sharded_rows import ShardSpec

LINGER_SECONDS = 0.0005  # a message waits this long for requests of other models


class Request(NamedTuple):
    """What one model asks all of its shards."""

    model: int
    method: str
    args: tuple[Any, ...]
    adds_up: bool  # whether the answers of the shards are added up


class WorkerShards(ShardHost):
    """The shards of one worker; answers several requests at a time."""

    def answer(self, requests: Sequence[Request]) -> list[Any]:
        """The answers of these shards, for each request."""
        return [
            (self.add_up if request.adds_up else self.call)(request.model, request.method, *request.args)
            for request in requests
        ]


class Host(NamedTuple):
    """The actor of one worker, and the numbers of its shards."""

    actor: Any
    future: Future  # holds the actor
    address: str
    shards: tuple[int, ...]


class DaskShards:
    """All shards of a table; see ``Shards`` for the methods.

    Parameters
    ----------
    client : Client
    hosts : sequence of Host
    row_ranges : list of (int, int)
        The rows of each shard, from the first block on.
    """

    def __init__(self, client: Client, hosts: Sequence[Host], row_ranges: list[tuple[int, int]]) -> None:
        self.client, self.hosts, self.row_ranges = client, list(hosts), row_ranges
        self._watch = WorkerWatch(client, [host.address for host in hosts])
        self._messages = SharedMessages(self._send)

    def create(self, model: int, specs: list[ShardSpec], codes: list[tuple[np.ndarray, ...]]) -> None:
        """Begin a model on every worker."""
        self._wait(
            [host.actor.create(model, _own(specs, host), _own(codes, host)) for host in self.hosts],
        )

    def call(self, model: int, method: str, *args: Any) -> list[Any]:
        """What a method of ``ShardModel`` returns, for each shard."""
        answers = self._messages.ask(Request(model, method, args, adds_up=False))
        return self._in_order(answers)

    def add_up(self, model: int, method: str, *args: Any) -> LevelSums:
        """The sum of what a method of ``ShardModel`` returns, over all shards."""
        sums, counts = zip(*self._messages.ask(Request(model, method, args, adds_up=True)), strict=True)
        return LevelSums(sums=sum(sums[1:], start=sums[0]), counts=sum(counts[1:], start=counts[0]))

    def mixed_rows(self, codes: list[np.ndarray]) -> np.ndarray:
        """A number for every row: see ``packed_codes.mixed_rows``."""
        parts = self._wait([host.actor.mixed_parts(_own(codes, host)) for host in self.hosts])
        return np.concatenate(self._in_order(parts))

    def all_words(self) -> list[np.ndarray]:
        """The codes of each shard, for small tables."""
        return self._in_order(self._wait([host.actor.all_words() for host in self.hosts]))

    def drop(self, model: int) -> None:
        """Forget a model."""
        self._wait([host.actor.drop(model) for host in self.hosts])

    def close(self) -> None:
        """Free the memory of the workers, also if something here still refers to an actor."""
        if self.client.status == "running":
            self.client.cancel([host.future for host in self.hosts], force=True)

    def _send(self, requests: list[Request]) -> list[list[Any]]:
        """For each request, the answers of all workers."""
        answers = self._wait([host.actor.answer(requests) for host in self.hosts])
        return [list(of_request) for of_request in zip(*answers, strict=True)]

    def _in_order(self, by_host: Sequence[Sequence[Any]]) -> list[Any]:
        """The answers of all shards, from those of each worker."""
        results: list[Any] = [None] * len(self.row_ranges)
        for host, answers in zip(self.hosts, by_host, strict=True):
            for shard, answer in zip(host.shards, answers, strict=True):
                results[shard] = answer
        return results

    def _wait(self, futures: Sequence[Any]) -> list[Any]:
        return [self._result(future) for future in futures]

    def _result(self, future: Any) -> Any:
        """The answer of an actor; if its worker leaves, ``WorkerLeftError`` is raised within a few seconds."""
        while True:
            try:
                return future.result(timeout=POLL_SECONDS)
            except TimeoutError:
                self._watch.check()
            except (OSError, RuntimeError) as error:  # the scheduler notices that a worker has left a little later
                time.sleep(POLL_SECONDS)
                self._watch.check()
                if isinstance(error, ClusterError):
                    raise
                message = f"A worker that holds rows cannot be reached, or has restarted: {error}. Start the fit again."
                raise WorkerLeftError(message) from error


def _own(values: Sequence[Any], host: Host) -> list[Any]:
    return [values[shard] for shard in host.shards]


class SharedMessages:
    """Requests of several threads in one message: one of the threads sends it, the others wait for their answer."""

    def __init__(self, send: Any) -> None:
        self._send = send
        self._changed = threading.Condition()
        self._waiting: list[tuple[Request, list[Any]]] = []
        self._is_sending = False

    def ask(self, request: Request) -> list[Any]:
        """The answers of all workers to a request."""
        box: list[Any] = []  # gets the answers, or an error
        with self._changed:
            self._waiting.append((request, box))
            while self._is_sending and not box:
                self._changed.wait()
            if box:
                return _opened(box)
            self._is_sending = True
        try:
            time.sleep(LINGER_SECONDS)
            self._send_waiting()
        finally:
            with self._changed:
                self._is_sending = False
                self._changed.notify_all()
        return _opened(box)

    def _send_waiting(self) -> None:
        """Send what is waiting, the request of this thread among it."""
        with self._changed:
            batch, self._waiting = self._waiting, []
        try:
            answers = self._send([request for request, _ in batch])
        except BaseException as error:
            for _, box in batch:
                box.append(error)
            raise
        for (_, box), answer in zip(batch, answers, strict=True):
            box.append(answer)


def _opened(box: list[Any]) -> list[Any]:
    if isinstance(box[0], BaseException):
        raise box[0]
    return box[0]
