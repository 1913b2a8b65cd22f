"""Compile options: every compiled loop of surefoot is a ``@kernel``.

This is the only file that imports numba. Kernels release the GIL, are cached on disk, never use numba's own
threads, and divide as NumPy does (0/0 is nan, not an exception).

While a kernel compiles, Python does not search for garbage: numba makes so many objects that this takes up to a sixth
of the time, and finds little.
"""

import ctypes
import gc
import hashlib
import inspect
import os
import pickle
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, NullCache
from numba.core.serialize import dumps
from numba.extending import intrinsic, register_jitable

from surefoot import _uncompiled
from surefoot._kernel_files import KernelFile

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
SETTINGS = ("BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT")  # these change compiled code
PACKAGE = __name__.partition(".")[0]
COMPILES = not vars(numba.config)["DISABLE_JIT"]  # it is off to find mistakes in kernels


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` on its first call, and cache it on disk if a folder for the cache is writable.

    A kernel whose caller allocates its arrays compiles faster than one that makes them.
    """
    if not COMPILES:
        return np.errstate(all="ignore")(function)  # NumPy warns where compiled code does not
    compiled = numba.njit(**OPTIONS)(function)
    compiled._cache = KernelCache(function)  # where numba puts its own, which fails if a file is damaged
    return compiled


class KernelCache(NullCache):
    """The kernels that were compiled before: a file per kernel and signature, which is checked before it is read.

    numba's own cache lets the errors of damaged files and full disks reach the user, gives processes that share it the
    code of another signature if they write at the same time, and mixes kernels with and without checked indices.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function, self._source = function, inspect.getfile(function)
        self._imported = _times(self._source)

    @cached_property
    def _numbas(self) -> CompileResultCacheImpl | None:
        """numba's choice of a folder, and its way to turn compiled code into bytes; None if there is no such folder.

        This is so in a read-only install without a home folder. A function with values from around it is not stored.
        """
        if self._function.__closure__:
            return None
        try:
            return CompileResultCacheImpl(self._function)
        except RuntimeError:
            return None

    @property
    def cache_path(self) -> str | None:
        return None if self._numbas is None else self._numbas.locator.get_cache_path()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Called by numba: the compiled kernel, or None if it must be compiled."""
        target_context.refresh()
        if self._numbas is None or self._is_outdated():
            return None
        try:
            content = self._file(self._numbas, sig, target_context.codegen()).read()
            if content is None:
                return None
            stored, data = pickle.loads(content)
            return self._numbas.rebuild(target_context, data) if stored == sig else None
        except Exception:  # whatever an earlier version left: the kernel is compiled again
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Called by numba after it compiled a kernel, which works even if it cannot be stored."""
        if self._numbas is None or self._is_outdated() or not self._numbas.check_cachable(data):
            return
        with suppress(OSError):
            self._numbas.locator.ensure_cache_path()
            self._file(self._numbas, sig, data.codegen).write(dumps((sig, self._numbas.reduce(data))))

    def _is_outdated(self) -> bool:
        """Whether the source changed after it was imported, as in an upgrade under a running notebook."""
        return _times(self._source) != self._imported

    def _file(self, numbas: CompileResultCacheImpl, sig: Any, codegen: Any) -> KernelFile:
        version = sys.modules[PACKAGE].__version__  # not known yet when this file is imported
        function, settings = self._function, [getattr(numba.config, name, None) for name in SETTINGS]
        name = f"{Path(self._source).stem}.{function.__qualname__}".replace("<locals>", "locals")
        return KernelFile(
            folder=numbas.locator.get_cache_path(),
            kernel=f"{name}.{sys.implementation.cache_tag}-{version}",
            build=_digest(numbas.locator.get_source_stamp()),
            call=_digest(
                sig, function.__code__.co_firstlineno, codegen.magic_tuple(), numba.__version__, OPTIONS, settings
            ),
            source=self._source,
        )


def _times(path: str) -> tuple[int, int] | None:
    try:
        info = os.stat(path)
    except OSError:  # in an archive
        return None
    return info.st_mtime_ns, info.st_size


def _digest(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


def inner_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` as a part of the kernels of its file that call it.

    It has no entry from Python, and no file in the cache: that is a quarter of the time that a kernel takes to compile.
    Python that calls it runs it uncompiled; ``kernel(function)`` compiles it alone.
    """
    return register_jitable(**OPTIONS)(function)


# Three instructions, by which threads inside a kernel see what the others do. Kernels of every file may use them: what
# an instruction does never changes, so that a cached kernel cannot miss a change.


def instruction(in_python: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function that writes an instruction, or the same in Python for kernels that run uncompiled."""
    return intrinsic if COMPILES else lambda write: in_python


@instruction(_uncompiled.add_at)
def add_at(typing_context: Any, address: Any, number: Any) -> Any:
    """Add to the whole number at an address, and return what was there: no other thread can come between."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.atomic_rmw("add", place, arguments[1], "seq_cst")

    return types.int64(types.intp, types.int64), write


@instruction(_uncompiled.read_at)
def read_at(typing_context: Any, address: Any) -> Any:
    """Return the whole number at an address; what another thread wrote before it wrote this number can be read, too."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.load_atomic(place, "seq_cst", 8)

    return types.int64(types.intp), write


@instruction(_uncompiled.call_at)
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
        module: str | None = event.data["dispatcher"].py_func.__module__  # None in code that was made by exec
        return module is not None and module.partition(".")[0] == PACKAGE


event.register("numba:compile", CollectionPause())
