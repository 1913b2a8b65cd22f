"""Compile options: every compiled loop of surefoot is a ``@kernel``.

This is the only file that imports numba. Kernels release the GIL, are cached on disk, never use numba's own
threads, and divide as NumPy does (0/0 is nan, not an exception).

A kernel reads and writes the arrays that its caller has allocated. It needs no reference counts then, and without them
a third less code is compiled. A kernel that makes arrays says so: ``@kernel(allocates=True)``. Only such kernels may
call it, because the others would never free its arrays; a test checks this.

While a kernel compiles, Python does not search for garbage: numba makes so many objects that this takes a sixth of the
time, and finds little.
"""

import gc
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event
from numba.extending import register_jitable

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
PACKAGE = __name__.partition(".")[0]

Function = Callable[..., Any]


def options(allocates: bool) -> dict[str, Any]:
    """The options of a kernel that makes arrays, or of one that does not."""
    return {**OPTIONS, "_nrt": allocates}


def kernel(function: Function | None = None, *, allocates: bool = False) -> Any:
    """Compile ``function`` on its first call, and cache it on disk if a folder for the cache is writable."""
    if function is None:
        return lambda decorated: kernel(decorated, allocates=allocates)
    try:
        return numba.njit(cache=True, **options(allocates))(function)
    except RuntimeError:  # numba found no writable folder: a read-only install without a home folder
        return numba.njit(**options(allocates))(function)


def inner_kernel(function: Function | None = None, *, allocates: bool = False) -> Any:
    """Compile ``function`` as a part of the kernels of its file that call it.

    It has no entry from Python, and no file in the cache: that is a quarter of the time that a kernel takes to compile.
    Python that calls it runs it uncompiled; ``kernel(function)`` compiles it alone.
    """
    if function is None:
        return lambda decorated: inner_kernel(decorated, allocates=allocates)
    return register_jitable(**options(allocates))(function)


class CollectionPause(event.Listener):
    """Pauses the search for garbage while a kernel of this package compiles; numba compiles one at a time."""

    def __init__(self) -> None:
        self._depth, self._resumes = 0, False

    def on_start(self, event: event.Event) -> None:
        if self._is_ours(event):
            if self._depth == 0:
                self._resumes = gc.isenabled()
                gc.disable()
            self._depth += 1

    def on_end(self, event: event.Event) -> None:
        if self._is_ours(event):
            self._depth -= 1
            if self._depth == 0 and self._resumes:
                gc.enable()

    @staticmethod
    def _is_ours(event: event.Event) -> bool:
        module: str = event.data["dispatcher"].py_func.__module__
        return module.partition(".")[0] == PACKAGE


event.register("numba:compile", CollectionPause())
