"""Two kinds of parallel work: independent tasks (members of an ensemble) and blocks of rows.

Tasks run in threads, or with the joblib backend of the user's ``parallel_config``. Blocks of rows of one table are
processed by threads, because kernels release the GIL. Each call has its own pool: a module-level pool hangs in a forked
process.
"""

import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from queue import SimpleQueue
from types import TracebackType
from typing import Any

import joblib
from joblib.parallel import ThreadingBackend, get_active_backend

from surefoot._exceptions import ParameterError

ROW_BLOCK = 8192
SIGNAL_SECONDS = 0.1  # another thread may receive the signal of Ctrl-C: the waiting thread checks this often
THREADED_CELLS = 1_000_000  # with fewer cells, synchronising threads costs more than they save


def count_jobs(n_jobs: int | None) -> int:
    """The number of workers for ``n_jobs`` (None: one, unless a joblib context sets another number)."""
    if n_jobs == 0:
        message = "n_jobs must not be 0: use 1 for one worker, -1 for as many as there are cores."
        raise ParameterError(message, argument="n_jobs")
    return max(1, int(joblib.effective_n_jobs(n_jobs)))


class Cancellation:
    """A flag that running tasks check between slices, so that Ctrl-C stops threads, which cannot be killed.

    A task may be a fit with tasks of its own: their flag is also set where that of the task is.
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self._outer: Cancellation | None = getattr(_running, "cancellation", None)

    def cancel(self) -> None:
        self._event.set()

    def check(self) -> None:
        if self._event.is_set():
            raise KeyboardInterrupt
        if self._outer is not None:
            self._outer.check()

    def run(self, function: Callable[[Any, "Cancellation"], Any], task: Any) -> Any:
        """Call ``function(task, self)`` as a task of this thread."""
        before, _running.cancellation = getattr(_running, "cancellation", None), self
        try:
            return function(task, self)
        finally:
            _running.cancellation = before

    def __reduce__(self) -> tuple[type["Cancellation"], tuple[()]]:
        return (Cancellation, ())  # another process gets its own flag: its backend can kill it


class DeadlinePassedError(Exception):
    """A task did not end in time."""


class Deadline(Cancellation):
    """Stops what runs in it when its time is over, as Ctrl-C would: fits of surefoot stop, others run to their end."""

    def __init__(self, end: float) -> None:
        """``end`` is a time of ``time.perf_counter``."""
        super().__init__()
        self.end = end

    def check(self) -> None:
        super().check()
        if time.perf_counter() > self.end:
            raise DeadlinePassedError


_running = threading.local()  # the cancellation of the task that a thread runs
TaskRunner = Callable[[Callable[[Any, Cancellation], Any], Iterable[Any], int | None], list[Any]]  # as ``run_tasks``


def run_tasks(
    function: Callable[[Any, Cancellation], Any],
    tasks: Iterable[Any],
    n_jobs: int | None,
    n_threads: int | None = None,
) -> list[Any]:
    """Call ``function(task, cancellation)`` for every task; results are in the order of the tasks.

    With ``n_threads``, tasks wait for work elsewhere: they run in so many threads of this process, whatever ``n_jobs``.
    """
    tasks = list(tasks)
    cancellation = Cancellation()
    n_workers = min(n_threads or count_jobs(n_jobs), len(tasks))
    if n_workers <= 1:
        return [function(task, cancellation) for task in tasks]
    if n_threads is None and not isinstance(get_active_backend(prefer="threads")[0], ThreadingBackend):
        return list(joblib.Parallel(n_jobs=n_jobs)(joblib.delayed(function)(task, cancellation) for task in tasks))
    with ThreadPoolExecutor(n_workers) as pool:  # joblib's own threads cost tens of milliseconds a call
        try:
            futures = [pool.submit(cancellation.run, function, task) for task in tasks]
            pending = set(futures)
            while pending:
                done, pending = wait(pending, timeout=SIGNAL_SECONDS, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()  # raises what the task raised
            return [future.result() for future in futures]
        except BaseException:
            cancellation.cancel()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class RowThreads:
    """Threads for a ``with`` block; ``run`` distributes work and waits until all of it is done.

    A tree of a large table hands out work a dozen times: a queue does it in a fraction of the time of an executor.
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._tasks: SimpleQueue[Any] | None = None  # a queue cannot be pickled
        self._workers: list[threading.Thread] = []

    def __enter__(self) -> "RowThreads":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._tasks is not None:
            _stop(self._tasks, len(self._workers))
            for worker in self._workers:
                worker.join()
        self._tasks, self._workers = None, []

    def run(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Call ``function(item)`` for every item; results are in order. The calling thread runs the first item."""
        if len(items) == 1:
            return [function(items[0])]
        if self.n_threads < 2 or not items:
            return [function(item) for item in items]
        tasks = self._start() if self._tasks is None else self._tasks
        work = _Work(function, len(items))
        for place in range(1, len(items)):
            tasks.put((work, place, items[place]))
        work.results[0] = function(items[0])
        work.wait()
        return work.results

    def _start(self) -> "SimpleQueue[Any]":
        tasks: SimpleQueue[Any] = SimpleQueue()
        self._tasks = tasks
        for _ in range(self.n_threads - 1):
            self._workers.append(threading.Thread(target=_work, args=(tasks,), daemon=True))
            self._workers[-1].start()
        weakref.finalize(self, _stop, tasks, len(self._workers))  # threads of an object that nobody closes end too
        return tasks

    def each(self, function: Callable[[Any], Any], items: Sequence[Any]) -> None:
        """Call ``function(item)`` for every item, distributed over the threads; results are dropped."""
        self.run(lambda first: [function(item) for item in items[first :: self.n_threads]], range(self.n_threads))


def _stop(tasks: "SimpleQueue[Any]", n_workers: int) -> None:
    for _ in range(n_workers):
        tasks.put(None)


class _Work:
    """A function to be called for several items: all but the first by other threads.

    The caller wakes up once, when the last of them is done: it would wait for each of them to let it run, otherwise.
    """

    def __init__(self, function: Callable[[Any], Any], n_items: int) -> None:
        self.function = function
        self.results: list[Any] = [None] * n_items
        self.error: BaseException | None = None
        self._is_last = [True] + [False] * (n_items - 2)  # threads take from the end: the last of them takes True
        self._end = threading.Lock()
        self._end.acquire()

    def do(self, place: int, item: Any) -> None:
        """Call the function for one of the other items."""
        try:
            self.results[place] = self.function(item)
        except BaseException as error:
            self.error = error
        if self._is_last.pop():
            self._end.release()

    def wait(self) -> None:
        """Wait for the other items; raise what one of them raised."""
        self._end.acquire()
        if self.error is not None:
            raise self.error


def _work(tasks: "SimpleQueue[Any]") -> None:
    """Run tasks until there is None instead of one."""
    while (task := tasks.get()) is not None:
        work, place, item = task
        work.do(place, item)
        del task, work, item  # the last task must not be kept alive while the thread waits


def row_blocks(n_rows: int, size: int = ROW_BLOCK) -> list[tuple[int, int]]:
    """``(start, stop)`` of consecutive blocks; their size does not depend on the number of threads."""
    return [(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def threads_for(n_jobs: int | None, n_cells: int) -> int:
    """The number of threads for one table of ``n_cells``."""
    n_threads = count_jobs(n_jobs)  # for small tables too: an invalid n_jobs is invalid for every table
    return n_threads if n_cells >= THREADED_CELLS else 1
