"""The number of threads of BLAS: one number for the whole process, whatever the thread that sets it.

Calls that limit it may overlap, in several threads, and end in any order. So they are counted: the lowest limit holds,
and the last call to end restores what was there before the first. A thread of its own holds the limit, because
threadpoolctl lets one thread at a time change the number, and it must be the one that restores it.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

_lock = threading.Lock()
_limits: dict[object, tuple[int, int]] = {}  # for each call that runs: its limit, and the thread that made it
_holder: "_Holder | None" = None


class _Holder(threading.Thread):
    """Limits BLAS from its start until ``stop``."""

    def __init__(self, limit: int) -> None:
        super().__init__(daemon=True)
        self.limit = limit
        self._limited, self._end = threading.Event(), threading.Event()

    def run(self) -> None:
        with _controller().limit(limits=self.limit, user_api="blas"):
            self._limited.set()
            self._end.wait()

    def begin(self) -> "_Holder":
        self.start()
        self._limited.wait()
        return self

    def stop(self) -> None:
        self._end.set()
        self.join()


@contextmanager
def limited_blas(n_threads: int) -> Iterator[None]:
    """Let BLAS use so many threads at most, in all threads of this process, until the code inside ends.

    Where the program limits BLAS itself at that time, its own limit holds.
    """
    call = object()
    try:
        with _lock:
            _limits[call] = (n_threads, threading.get_ident())
            _apply()
        yield
    finally:
        with _lock:
            _limits.pop(call, None)  # Ctrl-C may have come before it was there
            _apply()


def _apply() -> None:
    """Limit BLAS to the lowest of the limits; without limits, restore what was there."""
    global _holder
    lowest = min((limit for limit, _ in _limits.values()), default=None)
    if lowest == (None if _holder is None else _holder.limit):
        return
    if _holder is not None:
        _holder.stop()
        _holder = None
    if lowest is not None:
        _holder = _Holder(lowest).begin()


@cache
def _controller() -> ThreadpoolController:
    """Finding the libraries takes longer than a limit; those that we call are loaded before the first."""
    return ThreadpoolController()


def _forget_other_threads() -> None:
    """In a forked process only the thread that forked lives on: nobody else will end a call, or hold a limit."""
    global _lock, _holder
    _lock, _holder = threading.Lock(), None
    for call in [call for call, (_, thread) in _limits.items() if thread != threading.get_ident()]:
        del _limits[call]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)
