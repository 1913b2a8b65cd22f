"""Ctrl-C at random moments of fits, predictions, explanations and audits."""

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from contract.registry import each, each_subject, learned, those
from fault_sizes import usual_or_long
from sklearn.base import clone

import surefoot

pytestmark = [
    pytest.mark.alone,
    pytest.mark.fault(number=19),
    pytest.mark.filterwarnings("ignore::surefoot.SurefootWarning"),
]

N_MOMENTS = usual_or_long(1, 50)
MAX_SECONDS = 1.5  # from the signal to the end
N_ROWS = usual_or_long(1_000, 10_000)


def seconds_of(action):
    start = time.monotonic()
    action()
    return time.monotonic() - start


def stop_after(seconds, action):
    """Call ``action``, and press Ctrl-C after some seconds; return how long it went on, or None if it had ended."""
    pressed = []

    def press():
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(seconds, press)
    try:
        timer.start()
        action()
        timer.cancel()
        timer.join()
        time.sleep(0.05)  # it may have been too late to cancel
    except KeyboardInterrupt:
        seconds = time.monotonic() - pressed[0]
        timer.join()
        return seconds
    return None


def assert_no_more_threads(n_threads):
    """A thread that was about to start when the signal came ends by itself."""
    deadline = time.monotonic() + 5
    while threading.active_count() > n_threads and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() <= n_threads


def moments(action, seed=0):
    """Random moments in the time that ``action`` takes."""
    return np.random.default_rng(seed).uniform(0.0, seconds_of(action), N_MOMENTS)


@each_subject
def test_a_fit_stops_and_leaves_the_estimator_as_it_was(subject):
    few, (X, y) = subject.problem(), subject.problem(n_rows=N_ROWS)
    model = subject.make(n_jobs=2).fit(*few)
    whole = clone(model).fit(X, y)  # compiled before the clock starts
    for moment in moments(lambda: clone(model).fit(X, y)):
        model.fit(*few)
        before, n_threads = dict(vars(model)), threading.active_count()
        took = stop_after(moment, lambda: model.fit(X, y))
        assert took is None or took < MAX_SECONDS
        assert_no_more_threads(n_threads)
        # the signal may come when the model is complete, but before fit has returned
        assert (took is not None and vars(model) == before) or learned(model) == learned(whole)


LARGE = usual_or_long(300_000, 1_000_000)
ANSWERS = {
    "predict": ("GradientRegressor", lambda model, X: model.predict(X)),
    "predict_proba": ("MajorityBoost", lambda model, X: model.predict_proba(X)),
    "predict of a V-matrix": ("VMatrixRegressor", lambda model, X: model.predict(X)),
    "predict_uncertainty": ("SGLBRegressor", lambda model, X: model.predict_uncertainty(X)),
    "virtual ensemble": ("VirtualRegressor", lambda model, X: model.virtual_ensemble(4).predict_uncertainty(X)),
    "shap_values": ("GradientRegressor", lambda model, X: model.shap_values(X, "mu")),
    "predict_set": ("ConformalClassifier", lambda model, X: model.predict_set(X)),
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_predictions_of_a_large_table_stop(name, n_jobs):
    subject_name, answer = ANSWERS[name]
    subject = those(name=subject_name)[0]
    X, y = subject.problem(n_rows=500)
    sizes = {"n_estimators": 200, "early_stopping": False} if "early_stopping" in subject.make().get_params() else {}
    model = subject.make(n_jobs=n_jobs, **sizes).fit(X, y)
    large = np.tile(X, (LARGE // len(X), 1))
    n_threads = threading.active_count()
    answer(model, large[: len(large) // 10])
    for moment in moments(lambda: answer(model, large[: len(large) // 10]), seed=1):
        took = stop_after(moment, lambda: answer(model, large))
        assert took is not None
        assert took < MAX_SECONDS
        assert_no_more_threads(n_threads)


@each(usual_or_long((), those(name="AdaBoost") + those(name="GradientRegressor")))
def test_an_audit_stops(subject):
    X, y = subject.problem(n_rows=1_000)
    table = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    for moment in moments(lambda: surefoot.audit(table, target="y")):
        took = stop_after(moment, lambda: surefoot.audit(table, target="y"))
        assert took is None or took < MAX_SECONDS
