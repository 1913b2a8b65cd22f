"""Limits on the threads of BLAS that overlap, which is one number for the whole process."""

import os
import threading
from contextlib import ExitStack

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from surefoot._blas import limited_blas

pytestmark = pytest.mark.fault(number=16)


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def in_thread(action):
    """Call ``action`` in a thread that ends: threadpoolctl leaves BLAS to the thread that changed it, while it runs."""
    thread = threading.Thread(target=action)
    thread.start()
    thread.join()


@pytest.fixture(autouse=True)
def three_threads():
    before = []
    in_thread(lambda: before.append(threadpool_limits(3, "blas")))
    assert blas_threads() == {3}
    yield
    in_thread(before[0].restore_original_limits)


@pytest.mark.parametrize("ends_first", [0, 1])
def test_the_last_call_to_end_restores_what_was_before(ends_first):
    calls = [ExitStack(), ExitStack()]
    for call in calls:
        call.enter_context(limited_blas(1))
    assert blas_threads() == {1}
    calls[ends_first].close()
    assert blas_threads() == {1}
    calls[1 - ends_first].close()
    assert blas_threads() == {3}


def test_calls_of_other_threads():
    entered, leave, seen = threading.Event(), threading.Event(), []

    def first():
        with limited_blas(1):
            entered.set()
            leave.wait(30)

    thread = threading.Thread(target=first)
    thread.start()
    entered.wait(30)
    with limited_blas(1):
        leave.set()
        thread.join()
        seen.append(blas_threads())
    assert [*seen, blas_threads()] == [{1}, {3}]


def test_the_lowest_limit_holds():
    with ExitStack() as first:
        first.enter_context(limited_blas(2))
        assert blas_threads() == {2}
        with limited_blas(1):
            assert blas_threads() == {1}
            first.close()
            assert blas_threads() == {1}
    assert blas_threads() == {3}


def test_an_error_restores_it():
    with pytest.raises(KeyboardInterrupt), limited_blas(1):
        raise KeyboardInterrupt
    assert blas_threads() == {3}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_process_does_not_wait_for_the_calls_of_other_threads():
    inside, end = threading.Event(), threading.Event()

    def hold():
        with limited_blas(2):
            inside.set()
            end.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    inside.wait(30)
    child = os.fork()
    if child == 0:
        try:
            with limited_blas(3):
                os._exit(0 if blas_threads() == {3} else 1)
        finally:
            os._exit(2)
    end.set()
    holder.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert blas_threads() == {3}
