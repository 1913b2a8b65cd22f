"""The number of threads of BLAS: one number for the whole process, whatever the thread that sets it.

Calls that limit it may overlap, in several threads, and end in any order. So they are counted: the lowest limit holds,
and the last call to end restores what was there before the first.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

_lock = threading.Lock()
_limits: dict[object, tuple[int, int]] = {}  # for each call that runs: its limit, and the thread that made it
_limiter: Any = None  # what BLAS was limited with, and can be restored by
_lowest: int | None = None


@contextmanager
def limited_blas(n_threads: int) -> Iterator[None]:
    """Let BLAS use so many threads at most, in all threads of this process, until the code inside ends."""
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
    global _limiter, _lowest
    lowest = min((limit for limit, _ in _limits.values()), default=None)
    if lowest == _lowest:
        return
    if _limiter is not None:
        _limiter.restore_original_limits()
    _limiter = None if lowest is None else _controller().limit(limits=lowest, user_api="blas")
    _lowest = lowest


@cache
def _controller() -> ThreadpoolController:
    """Finding the libraries takes longer than many a fit; those that we call are loaded before the first."""
    return ThreadpoolController()


def _forget_other_threads() -> None:
    """In a forked process only the thread that forked lives on: no other will end its call."""
    global _lock
    _lock = threading.Lock()
    for call in [call for call, (_, thread) in _limits.items() if thread != threading.get_ident()]:
        del _limits[call]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)
