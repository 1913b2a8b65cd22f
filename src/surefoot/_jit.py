"""Compile options: every compiled loop of surefoot is a ``@kernel``.

This is the only file that imports numba. Kernels release the GIL, are cached on disk, never use numba's own
threads, and divide as NumPy does (0/0 is nan, not an exception).

While a kernel compiles, Python does not search for garbage: numba makes so many objects that this takes up to a sixth
of the time, and finds little.
"""

import gc
import threading
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event
from numba.extending import register_jitable

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
PACKAGE = __name__.partition(".")[0]


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` on its first call, and cache it on disk if a folder for the cache is writable.

    A kernel whose caller allocates its arrays compiles faster than one that makes them.
    """
    try:
        return numba.njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # numba found no writable folder: a read-only install without a home folder
        return numba.njit(**OPTIONS)(function)


def inner_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` as a part of the kernels of its file that call it.

    It has no entry from Python, and no file in the cache: that is a quarter of the time that a kernel takes to compile.
    Python that calls it runs it uncompiled; ``kernel(function)`` compiles it alone.
    """
    return register_jitable(**OPTIONS)(function)


class CollectionPause(event.Listener):
    """Pauses the search for garbage while kernels of this package compile, in one or several threads."""

    def __init__(self) -> None:
        self._lock, self._n_kernels, self._resumes = threading.Lock(), 0, False

    def on_start(self, event: event.Event) -> None:
        if self._is_ours(event):
            with self._lock:
                if self._n_kernels == 0:
                    self._resumes = gc.isenabled()
                    gc.disable()
                self._n_kernels += 1

    def on_end(self, event: event.Event) -> None:
        if self._is_ours(event):
            with self._lock:
                self._n_kernels -= 1
                if self._n_kernels == 0 and self._resumes:
                    gc.enable()

    @staticmethod
    def _is_ours(event: event.Event) -> bool:
        module: str = event.data["dispatcher"].py_func.__module__
        return module.partition(".")[0] == PACKAGE


event.register("numba:compile", CollectionPause())
