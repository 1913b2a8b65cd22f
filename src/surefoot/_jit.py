"""Compile options: every compiled loop of surefoot is a ``@kernel``.

This is the only file that imports numba. Kernels release the GIL, are cached on disk, never use numba's own
threads, and divide as NumPy does (0/0 is nan, not an exception).

While a kernel compiles, Python does not search for garbage: numba makes so many objects that this takes up to a sixth
of the time, and finds little.
"""

import ctypes
import gc
import sys
import threading
from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import event
from numba.extending import intrinsic, register_jitable

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


# Three instructions, by which threads inside a kernel see what the others do. Kernels of every file may use them: what
# an instruction does never changes, so that a cached kernel cannot miss a change.


@intrinsic
def add_at(typing_context: Any, address: Any, number: Any) -> Any:
    """Add to the whole number at an address, and return what was there: no other thread can come between."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.atomic_rmw("add", place, arguments[1], "seq_cst")

    return types.int64(types.intp, types.int64), write


@intrinsic
def read_at(typing_context: Any, address: Any) -> Any:
    """Return the whole number at an address; what another thread wrote before it wrote this number can be read, too."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.load_atomic(place, "seq_cst", 8)

    return types.int64(types.intp), write


@intrinsic
def call_at(typing_context: Any, address: Any) -> Any:
    """Call a function of the operating system without arguments: see ``address_of_yield``."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), [])

    return types.int32(types.intp), write


def address_of_yield() -> int:
    """The address of the function by which a thread that waits lets another use its processor."""
    if sys.platform == "win32":
        function = ctypes.windll.kernel32.SwitchToThread
    else:
        function = ctypes.CDLL(None).sched_yield
    return ctypes.cast(function, ctypes.c_void_p).value or 0


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
