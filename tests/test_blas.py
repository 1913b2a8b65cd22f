"""Limits on the threads of BLAS that overlap, which is one number for the whole process."""

import os
import threading
from contextlib import ExitStack

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from surefoot import VMatrixBoostingRegressor
from surefoot._blas import limited_blas

pytestmark = pytest.mark.fault(number=16)


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def three_threads():
    with threadpool_limits(3, "blas"):
        yield


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


def test_fits_that_overlap_in_threads():
    """The first to begin is not the last to end."""
    X = np.random.default_rng(0).normal(size=(300, 4))
    sizes, seen = [2, 20, 8], []

    def fit(n_estimators):
        VMatrixBoostingRegressor(n_estimators=n_estimators, early_stopping=False, random_state=0).fit(X, X[:, 0])
        seen.append(blas_threads())

    threads = [threading.Thread(target=fit, args=(size,)) for size in sizes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == len(sizes)
    assert blas_threads() == {3}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_process_does_not_wait_for_the_calls_of_other_threads():
    inside, end = threading.Event(), threading.Event()

    def hold():
        with limited_blas(1):
            inside.set()
            end.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    inside.wait(30)
    child = os.fork()
    if child == 0:
        try:
            with limited_blas(2):
                pass
            os._exit(0 if blas_threads() == {3} else 1)
        finally:
            os._exit(2)
    end.set()
    holder.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert blas_threads() == {3}
