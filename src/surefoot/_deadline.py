"""A time limit for whatever runs in a thread: not only for fits of surefoot, which look for Ctrl-C themselves."""

import ctypes
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

IMPORTING = "<frozen importlib._bootstrap>"  # an import that is cut off may fail for good
RETRY_SECONDS = 0.05  # while something is imported
REPEAT_SECONDS = 2.0  # code that cleans up has so long; code that ignored the error gets it again
Result = TypeVar("Result")


class DeadlinePassedError(BaseException):
    """The time is over. Like Ctrl-C it is no ``Exception``: code that handles errors must not handle it."""


class Deadline:
    """Stops what runs in it when its time is over, as Ctrl-C would, between two steps of its Python code.

    A call of compiled code ends first: those of surefoot are short, those of other libraries may not be.
    """

    def __init__(self, end: float) -> None:
        """``end`` is a time of ``time.perf_counter``."""
        self.end = end

    def run(self, function: Callable[[], Result]) -> Result:
        """What the function returns; raises `DeadlinePassedError` if it does not end in time."""
        watch, shown = _Watch(self.end, threading.get_ident()), sys.unraisablehook
        sys.unraisablehook = _all_but_the_deadline(shown)
        try:
            watch.start()
            return function()
        finally:
            try:
                watch.stop()
            except DeadlinePassedError:  # it came just now: too late to stop anything
                watch.stop()
            sys.unraisablehook = shown


class _Watch(threading.Thread):
    """Waits for the end, and then raises the error in another thread."""

    def __init__(self, end: float, thread: int) -> None:
        super().__init__(daemon=True)
        self.end, self.thread = end, thread
        self._lock, self._is_over, self._stopped = threading.Lock(), False, threading.Event()

    def run(self) -> None:
        delay = self.end - time.perf_counter()
        while not self._stopped.wait(max(delay, 0.0)):
            delay = RETRY_SECONDS if _is_importing(self.thread) else self._interrupt()

    def _interrupt(self) -> float:
        """Raise the error, unless the function has ended; return after how many seconds to do it again."""
        with self._lock:
            if not self._is_over:
                _raise_in(self.thread, ctypes.py_object(DeadlinePassedError))
        return REPEAT_SECONDS

    def stop(self) -> None:
        """Raise nothing from now on, not even an error that is on its way."""
        with self._lock:
            self._is_over = True
            _raise_in(self.thread, None)
        self._stopped.set()


def _all_but_the_deadline(show: Callable[[Any], object]) -> Callable[[Any], object]:
    """Python ignores errors in callbacks of weak references, and prints them: the deadline is raised again later."""

    def hook(unraisable: Any) -> None:
        if unraisable.exc_type is not DeadlinePassedError:
            show(unraisable)

    return hook


def _raise_in(thread: int, error: Any) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)


def _is_importing(thread: int) -> bool:
    frame = sys._current_frames().get(thread)
    while frame is not None:
        if frame.f_code.co_filename == IMPORTING:
            return True
        frame = frame.f_back
    return False
