"""Processes made by fork, spawn and joblib, processes that share an empty kernel cache, and first calls in threads."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import traceback
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import joblib
import pytest
from contract.registry import SUBJECTS, answers, bits, each, each_subject, learned, those
from fault_sizes import usual_or_long

from surefoot import _parallel

pytestmark = pytest.mark.filterwarnings(
    "ignore::surefoot.SurefootWarning", "ignore:.*multi-threaded.*fork:DeprecationWarning"
)

SECONDS = 10  # until a process that hangs is ended
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork here")
FIRST = usual_or_long(["StableSelector"], [str(subject) for subject in SUBJECTS])
FIRST_CALL = """
import sys, threading
sys.path.insert(0, {tests!r})
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from contract.registry import learned, those

subject = those(name={name!r})[0]
X, y = subject.problem()
start = threading.Barrier({n_threads})

def fit(_):
    start.wait()
    return sha256(learned(subject.make().fit(X, y))).hexdigest()

with ThreadPoolExecutor({n_threads}) as pool:
    print(*set(pool.map(fit, range({n_threads}))))
"""


@pytest.fixture(autouse=True)
def rows_in_threads(monkeypatch):
    """Small tables have threads too."""
    monkeypatch.setattr(_parallel, "THREADED_CELLS", 1)


def digests(model, X):
    return {name: bits(array) for name, array in answers(model, X).items()}


def digests_in_threads(models, X):
    """What each of the models says, in two threads."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda model: digests(model, X), models))


def in_fork(check):
    """Whether ``check()`` is true in a forked process, which is ended if it hangs."""
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(SECONDS)
            os._exit(0 if check() else 1)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.fault(number=17)
@needs_fork
@each_subject
def test_a_forked_process_fits_and_predicts_with_threads(subject):
    X, y = subject.problem()
    model = subject.make(n_jobs=2).fit(X, y)
    expected, file = digests(model, X), learned(model)

    def is_equal():
        said = digests_in_threads([model, model], X)
        return said == [expected, expected] and learned(subject.make(n_jobs=2).fit(X, y)) == file

    assert in_fork(is_equal) == 0


@pytest.mark.fault(number=17)
@needs_fork
@each([s for s in SUBJECTS if s.name in ("MajorityBoost", "SGLBRegressor", "VMatrixRegressor", "StableClassifier")])
def test_a_fork_while_other_threads_fit(subject):
    X, y = subject.problem()
    model, stop = subject.make(n_jobs=2).fit(X, y), threading.Event()
    expected = digests(model, X)

    def fit():
        while not stop.is_set():
            subject.make(n_jobs=2).fit(X, y)

    fitting = threading.Thread(target=fit)
    fitting.start()
    try:
        codes = [in_fork(lambda: digests_in_threads([model], X) == [expected]) for _ in range(usual_or_long(3, 100))]
    finally:
        stop.set()
        fitting.join()
    assert set(codes) == {0}


@pytest.mark.fault(number=17)
@pytest.mark.parametrize("method", usual_or_long(["spawn"], ["spawn", "forkserver", "loky"]))
def test_other_processes_predict_with_threads(method):
    X = SUBJECTS[0].problem()[0]
    models = [subject.make(n_jobs=2).fit(X, subject.problem()[1]) for subject in SUBJECTS]
    expected = [digests(model, X) for model in models]
    if method == "loky":
        assert joblib.Parallel(2)([joblib.delayed(digests_in_threads)(models, X)] * 2) == [expected] * 2
        return
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        assert pool.submit(digests_in_threads, models, X).result(60) == expected


@pytest.mark.fault(number=17)
@needs_fork
@each([s for s in SUBJECTS if s.name in usual_or_long(("MajorityBoost", "SGLBRegressor"), tuple(map(str, SUBJECTS)))])
def test_members_are_trained_by_multiprocessing(subject):
    """It pickles as Python does: functions inside of others cannot be sent."""
    X, y = subject.problem()
    expected = learned(subject.make().fit(X, y))
    with joblib.parallel_config("multiprocessing", n_jobs=2):
        assert learned(subject.make(n_jobs=2).fit(X, y)) == expected


def first_call(name, n_threads, cache):
    """A process that fits in several threads at once, with the kernels in ``cache``."""
    script = FIRST_CALL.format(tests=str(Path(__file__).parents[1]), name=name, n_threads=n_threads)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-W", "ignore", "-c", script], env=environment, text=True, **pipes)


@pytest.mark.fault(number=16)
@pytest.mark.fault(number=18)
@pytest.mark.parametrize("name", FIRST)
def test_first_calls_on_an_empty_cache(name, tmp_path):
    """Processes that share it, and many threads of one of them before any kernel is compiled: the same model."""
    subject = those(name=name)[0]
    X, y = subject.problem()
    n_threads = usual_or_long((4, 1), (8, 8, 8, 8))
    runs = [first_call(name, n, tmp_path) for n in n_threads]
    said = [run.communicate(timeout=600) for run in runs]
    assert [run.returncode for run in runs] == [0] * len(runs), said
    expected = sha256(learned(subject.make().fit(X, y))).hexdigest()
    assert [out.split() for out, _ in said] == [[expected]] * len(runs)
