"""Ctrl-C during a fit is honoured within a second and leaves the estimator unfitted."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from surefoot import AdaBoostClassifier, MajorityBoostClassifier

pytestmark = pytest.mark.alone

rng = np.random.default_rng(0)
X = rng.normal(size=(50_000, 25))
y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)


@pytest.mark.parametrize(
    "booster",
    [
        AdaBoostClassifier(n_estimators=100_000),
        AdaBoostClassifier(n_estimators=100_000, n_jobs=2),
        MajorityBoostClassifier(n_estimators=100_000, n_jobs=2),
        MajorityBoostClassifier(n_estimators=3_000, max_depth=3, n_jobs=2),  # each of them takes some seconds if missed
    ],
    ids=["one thread", "threads of one model", "threads of members", "trees"],
)
def test_a_fit_stops_at_once(booster):
    rounds = booster.n_estimators
    booster.set_params(n_estimators=2).fit(X, y)  # compiled before the clock starts
    booster = type(booster)(**booster.get_params()).set_params(n_estimators=rounds)
    n_threads = threading.active_count()
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        booster.fit(X, y)
    assert time.monotonic() - start < 0.5 + 1.0 + 0.5  # the signal's delay, the promise, and a loaded machine
    assert threading.active_count() <= n_threads + 1  # the timer may still be ending
    with pytest.raises(NotFittedError):
        booster.predict(X)
