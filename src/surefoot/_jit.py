"""Compile options: every compiled loop of surefoot is a ``@kernel``.

This is the only file that imports numba. Kernels release the GIL, are cached on disk, never use numba's own
threads, and divide as NumPy does (0/0 is nan, not an exception).
"""

from collections.abc import Callable
from typing import Any

import numba

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` on its first call, and cache it on disk if a folder for the cache is writable."""
    try:
        return numba.njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # numba found no writable folder: a read-only install without a home folder
        return numba.njit(**OPTIONS)(function)
