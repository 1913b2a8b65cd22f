"""Tasks and rows run in parallel, with any backend, and results are in order."""

import threading
import time
from itertools import count

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import surefoot
from surefoot import MajorityBoostClassifier, ParameterError
from surefoot._parallel import RowThreads, count_jobs, row_blocks, run_tasks


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3])
def test_results_come_in_the_order_of_the_tasks(n_jobs):
    def slow_first(task, cancellation):
        time.sleep(0.02 * (task == 0))
        return task * task

    assert run_tasks(slow_first, range(7), n_jobs) == [task * task for task in range(7)]


def test_tasks_really_run_at_the_same_time():
    meeting = threading.Barrier(2, timeout=10)
    run_tasks(lambda task, cancellation: meeting.wait(), range(2), 2)


def test_one_failure_stops_the_others():
    def work(task, cancellation):
        if task == 0:
            raise RuntimeError("task 0")
        for _ in range(1000):
            cancellation.check()
            time.sleep(0.01)

    start = time.monotonic()
    with pytest.raises(RuntimeError, match="task 0"):
        run_tasks(work, range(4), 2)
    assert time.monotonic() - start < 5


def test_another_joblib_backend_trains_the_same_members():
    X, y = load_breast_cancer(return_X_y=True)
    model = MajorityBoostClassifier(n_estimators=10, random_state=0)
    threads = model.fit(X, y).decision_function(X)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert count_jobs(None) == 2
        processes = model.fit(X, y).decision_function(X)
    np.testing.assert_array_equal(threads, processes)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_every_item_is_processed_once(n_threads):
    processed = []
    with RowThreads(n_threads) as threads:
        threads.each(processed.append, list(range(23)))
        assert threads.run(lambda item: -item, [1, 2, 3]) == [-1, -2, -3]
    assert sorted(processed) == list(range(23))


def test_blocks_cover_the_rows():
    assert row_blocks(20, 8) == [(0, 8), (8, 16), (16, 20)]
    assert row_blocks(0) == []


@pytest.mark.parametrize(
    "name",
    [
        "AdaBoostClassifier",
        "BaggedBoostClassifier",
        "GradientBoostingClassifier",
        "BoostingEnsembleClassifier",
        "VMatrixBoostingClassifier",
    ],
)
def test_n_jobs_0_is_refused_for_small_tables_too(name):
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(ParameterError, match="n_jobs must not be 0"):
        getattr(surefoot, name)(n_estimators=3, n_jobs=0).fit(X, X[:, 0] > 0)


@pytest.mark.fault(number=19)
def test_no_thread_begins_another_item_after_ctrl_c():
    """Predictions of a large table would go on to its end."""
    started = []

    def work(item):
        started.append(item)
        time.sleep(0.02)
        if item == 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), RowThreads(2) as threads:
        threads.each(work, range(100))
    assert len(started) < 20


@pytest.mark.fault(number=19)
def test_no_thread_begins_another_item_after_an_error():
    started = []

    def work(item):
        started.append(item)
        time.sleep(0.02)
        if item == 1:  # of the other thread
            raise RuntimeError("item 1")

    with pytest.raises(RuntimeError, match="item 1"), RowThreads(2) as threads:
        threads.each(work, range(100))
    assert len(started) < 20


@pytest.mark.fault(number=19)
def test_ctrl_c_while_threads_start(monkeypatch):
    n_threads, start, calls = threading.active_count(), threading.Thread.start, count()

    def interrupted(thread):
        if next(calls) == 1:
            raise KeyboardInterrupt
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt), RowThreads(4) as threads:
        threads.each(time.sleep, [0.0] * 8)
    assert threading.active_count() <= n_threads
