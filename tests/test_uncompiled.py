"""Kernels that run uncompiled, as with ``NUMBA_DISABLE_JIT=1``: the same arithmetic, threads and instructions."""

import threading

import numpy as np

from surefoot import _jit, _uncompiled


def test_threads_add_to_the_same_number():
    numbers = np.zeros(2, dtype=np.int64)
    address = numbers.ctypes.data

    def add():
        for _ in range(2000):
            _uncompiled.add_at(address, np.int64(3))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert numbers.tolist() == [24_000, 0]
    assert _uncompiled.add_at(address + 8, -1) == 0
    assert _uncompiled.read_at(address + 8) == -1


def test_a_function_of_the_system_is_called():
    assert _uncompiled.call_at(_jit.address_of_yield()) in (0, 1)  # Windows: whether another thread was waiting


def test_uncompiled_kernels_do_not_warn_where_compiled_ones_do_not(monkeypatch):
    monkeypatch.setattr(_jit, "COMPILES", False)

    @_jit.kernel
    def double_and_divide(number, divisor):
        return number * np.uint64(2), np.float64(1.0) / divisor

    assert double_and_divide(np.uint64(2**63), np.float64(0.0)) == (0, np.inf)
    assert _jit.instruction(_uncompiled.read_at)(double_and_divide) is _uncompiled.read_at
