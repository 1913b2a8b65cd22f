"""In Python, the instructions of kernels for threads: for kernels that run uncompiled, with ``NUMBA_DISABLE_JIT=1``."""

import ctypes
import threading

_LOCK = threading.Lock()


def add_at(address: int, number: int) -> int:
    """Add to the whole number at an address, and return what was there: no other thread can come between."""
    place = ctypes.c_int64.from_address(int(address))
    with _LOCK:
        before = place.value
        place.value = before + int(number)
    return before


def read_at(address: int) -> int:
    """Return the whole number at an address."""
    with _LOCK:
        return ctypes.c_int64.from_address(int(address)).value


def call_at(address: int) -> int:
    """Call a function of the operating system without arguments."""
    call: int = ctypes.CFUNCTYPE(ctypes.c_int)(int(address))()
    return call
