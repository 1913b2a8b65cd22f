"""Work on a Dask cluster: the client, tasks on chosen workers, and waiting for results without hanging.

A future waits for ever if no worker may run its task. So waiting here looks at the workers about once a second: a
worker that a fit has chosen and that has left, or a cluster without any worker, ends the wait with an error.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import dask
from dask.utils import parse_timedelta
from distributed import CancelledError, Client, Future, KilledWorker, get_client, wait
from distributed.comm.core import CommClosedError

from surefoot._exceptions import ClusterError, ParameterError

POLL_SECONDS = 1.0
FETCH_SECONDS = 10.0  # for a finished result; doubled if that was not enough
NO_WORKER_SECONDS = 45.0  # unless distributed.scheduler.no-workers-timeout of Dask is set
MAX_ATTEMPTS = 5
Result = TypeVar("Result")


class WorkerLeftError(ClusterError):
    """A worker has left, and with it rows or tasks: the same work can start again on the other workers."""


def find_client(client: Any) -> Client:
    """The client of a fit: the given one, or the default client of this process."""
    if client is None:
        try:
            client = get_client()
        except ValueError as error:
            raise ParameterError(
                "client is None, and there is no Dask client in this process: create a distributed.Client first, or "
                "pass one as client.",
                argument="client",
            ) from error
    if not isinstance(client, Client):
        raise ParameterError(f"client must be a distributed.Client or None, got {client!r}.", argument="client")
    if client.asynchronous:
        raise ParameterError("client is asynchronous: pass a Client without asynchronous=True.", argument="client")
    if client.status != "running":
        raise ClusterError(f"client is {client.status}: create a new distributed.Client.")
    return client


def worker_addresses(client: Client) -> list[str]:
    """The addresses of the workers, sorted; waits for the first one."""
    watch = WorkerWatch(client)
    while not (addresses := sorted(client.nthreads())):
        watch.check()
        time.sleep(POLL_SECONDS / 10)
    return addresses


class WorkerWatch:
    """Raises an error if one of the workers ``needed`` has left, or if there has been no worker for too long."""

    def __init__(self, client: Client, needed: Collection[str] = ()) -> None:
        self.client, self.needed = client, frozenset(needed)
        limit = dask.config.get("distributed.scheduler.no-workers-timeout", None)
        self.limit = NO_WORKER_SECONDS if limit is None else parse_timedelta(limit)
        self.last_seen = time.monotonic()

    def check(self) -> None:
        try:
            workers = self.client.nthreads()
        except OSError as error:
            raise ClusterError(f"The scheduler of client cannot be reached: {error}.") from error
        left = self.needed - workers.keys()
        if left:
            raise WorkerLeftError(f"The worker {min(left)} has left the cluster: start the fit again.")
        now = time.monotonic()
        if workers:
            self.last_seen = now
        elif now - self.last_seen > self.limit:
            raise ClusterError(
                f"There has been no worker for {self.limit:.0f} seconds: start workers, or set Dask's "
                "distributed.scheduler.no-workers-timeout to wait longer."
            )


def send_once(client: Client, value: Any) -> Future:
    """Send a value to every worker, for all tasks that need it."""
    try:
        return client.scatter(value, broadcast=True, hash=False)
    except OSError as error:
        raise WorkerLeftError("A worker has left the cluster while rows were sent to it: fit again.") from error


def gather_results(
    client: Client, futures: Sequence[Future], needed: Collection[str] = (), *, are_own: bool = True
) -> list[Any]:
    """The results of tasks, in order; after an error or Ctrl-C, the tasks are cancelled.

    Parameters
    ----------
    client : Client
        The client of the futures.
    futures : sequence of Future
        The tasks.
    needed : collection of str
        Addresses of workers that the tasks are assigned to: if one of them leaves, ``WorkerLeftError`` is raised.
    are_own : bool, default=True
        Whether nobody else has these futures. Those of the user's collections must not be cancelled.

    Returns
    -------
    list
        The result of each task. An error in a task is raised here, as soon as the task has failed.
    """
    watch = WorkerWatch(client, needed)
    with _cancelled_on_failure(client, futures if are_own else ()):
        _wait_for(futures, watch)
        return [_fetch(future, watch) for future in futures]


def wait_until_done(client: Client, futures: Sequence[Future]) -> None:
    """Wait for tasks of the user as ``gather_results`` does, but leave their results on the workers."""
    with _cancelled_on_failure(client, ()):
        _wait_for(futures, WorkerWatch(client))


@contextmanager
def _cancelled_on_failure(client: Client, futures: Sequence[Future]) -> Iterator[None]:
    """Cancel the tasks after an error or Ctrl-C; errors of the cluster become errors that say what to do."""
    try:
        with client.as_current():  # Dask's wait is a function of the default client
            yield
    except KilledWorker as error:
        _cancel(client, futures)
        raise ClusterError(
            "Several workers died while they ran the same task, most likely because it needs more memory than they "
            "have: use smaller partitions or workers with more memory."
        ) from error
    except (CancelledError, CommClosedError) as error:
        _cancel(client, futures)
        raise WorkerLeftError(
            "The cluster has lost rows or results, or is closed: check that it is running, and fit again."
        ) from error
    except BaseException:
        _cancel(client, futures)
        raise


def _wait_for(futures: Sequence[Future], watch: WorkerWatch) -> None:
    pending = set(futures)
    while pending:
        try:
            done, pending = wait(list(pending), timeout=POLL_SECONDS, return_when="FIRST_COMPLETED")
        except TimeoutError:
            watch.check()
            continue
        for future in done:
            if future.status != "finished":
                future.result()  # raises


def _fetch(future: Future, watch: WorkerWatch) -> Any:
    seconds = FETCH_SECONDS
    while True:
        try:
            return future.result(timeout=seconds)
        except TimeoutError:
            if future.status == "error":
                raise  # the task itself raised a TimeoutError
            watch.check()
            seconds *= 2


def _cancel(client: Client, futures: Sequence[Future]) -> None:
    if client.status == "running":
        client.cancel(list(futures))


def retry_if_a_worker_leaves(work: Callable[[], Result]) -> Result:
    """The result of ``work()``, which starts again if a worker that it has chosen leaves.

    It is for work whose result does not depend on the workers: every attempt would return the same.
    """
    for _ in range(MAX_ATTEMPTS - 1):
        try:
            return work()
        except WorkerLeftError:
            time.sleep(POLL_SECONDS)  # until the scheduler knows too
    return work()
