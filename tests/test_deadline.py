"""A deadline stops whatever runs in its thread: fits of surefoot, fits of other libraries, and slow Python code."""

import contextlib
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor as OtherBoosting

import surefoot
from surefoot._deadline import Deadline, DeadlinePassedError

pytestmark = pytest.mark.fault(number=19)
ENDLESS = {"n_estimators": 10**6, "early_stopping": False}
MODELS = {
    "booster": surefoot.GradientBoostingRegressor(**ENDLESS),
    "ensemble": surefoot.BoostingEnsembleRegressor(n_members=2, n_jobs=2, **ENDLESS),
    "conformal": surefoot.ConformalRegressor(surefoot.GradientBoostingRegressor(**ENDLESS), cv=2, n_jobs=2),
    "selector": surefoot.StableSelector(surefoot.selection.LassoSelector(), n_bags=10**8, epsilon=0.1),
}


def in_seconds(seconds):
    return Deadline(time.perf_counter() + seconds)


def wait_for_ever():
    while True:
        time.sleep(0.01)


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_is_stopped(name):
    X = np.random.default_rng(0).normal(size=(300, 4))
    with pytest.raises(DeadlinePassedError):
        in_seconds(0.2).run(lambda: MODELS[name].fit(X, X[:, 0]))
    assert not [thread for thread in threading.enumerate() if "Pool" in thread.name]  # no member is still trained


def test_a_fit_of_another_library_is_stopped():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.normal(size=200)
    with pytest.raises(DeadlinePassedError):
        in_seconds(0.2).run(lambda: OtherBoosting(n_estimators=10**6).fit(X, y))


def test_code_that_handles_errors_is_stopped():
    def stubborn():
        while True:
            with contextlib.suppress(Exception):
                wait_for_ever()

    with pytest.raises(DeadlinePassedError):
        in_seconds(0.05).run(stubborn)


def test_what_ends_in_time_is_returned_and_nothing_is_raised_later():
    for _ in range(200):  # the end of the function and that of its time nearly coincide
        with contextlib.suppress(DeadlinePassedError):
            assert in_seconds(0.001).run(lambda: time.sleep(0.001) or 7) == 7
    time.sleep(0.05)


def test_errors_of_the_function_are_raised():
    with pytest.raises(ZeroDivisionError):
        in_seconds(60.0).run(lambda: 1 / 0)


def test_only_its_own_thread_is_stopped():
    results = []
    other = threading.Thread(target=lambda: results.append(time.sleep(0.3) or "done"))
    other.start()
    with pytest.raises(DeadlinePassedError):
        in_seconds(0.05).run(wait_for_ever)
    other.join()
    assert results == ["done"]


def test_an_earlier_deadline_inside_a_later_one():
    def inside():
        with pytest.raises(DeadlinePassedError):
            in_seconds(0.05).run(wait_for_ever)
        return "went on"

    assert in_seconds(60.0).run(inside) == "went on"


def test_an_import_is_not_cut_off(tmp_path):
    """A module of compiled code whose import was cut off may not be importable again."""
    (tmp_path / "slow_module.py").write_text("import time\nfor _ in range(100):\n    time.sleep(0.01)\n")
    code = (
        "import time, sys\n"
        "from surefoot._deadline import Deadline, DeadlinePassedError\n"
        "try:\n"
        "    Deadline(time.perf_counter() + 0.1).run(lambda: __import__('slow_module') and time.sleep(2.0))\n"
        "except DeadlinePassedError:\n"
        "    print('slow_module' in sys.modules)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "True"


@pytest.mark.parametrize(("error", "n_shown"), [(DeadlinePassedError, 0), (ValueError, 1)])
def test_where_python_ignores_errors_only_the_deadline_is_not_printed(error, n_shown, monkeypatch):
    shown = []
    monkeypatch.setattr(sys, "unraisablehook", shown.append)
    ignored = SimpleNamespace(exc_type=error)
    in_seconds(60).run(lambda: sys.unraisablehook(ignored))
    assert len(shown) == n_shown
    sys.unraisablehook(ignored)  # afterwards it is as before
    assert len(shown) == n_shown + 1
