"""Compile options: every compiled loop of surefoot is a ``@kernel``.

This is the only file that imports numba. Kernels release the GIL, are cached on disk, never use numba's own
threads, and divide as NumPy does (0/0 is nan, not an exception).
"""

from collections.abc import Callable
from typing import Any

import numba
from numba.extending import register_jitable

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` on its first call, and cache it on disk if a folder for the cache is writable."""
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
