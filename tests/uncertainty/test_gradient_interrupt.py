"""Ctrl-C during a fit is honoured within a second and leaves the estimator as it was."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from reference.gradient_boosters import answers, bits
from sklearn.exceptions import NotFittedError

from surefoot import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)

pytestmark = pytest.mark.alone

X = np.random.default_rng(0).normal(size=(60_000, 20))
NUMBERS = X[:, 0] + np.random.default_rng(1).normal(size=len(X))
TWO = (NUMBERS > 0).astype(int)
MANY = np.digitize(NUMBERS, np.linspace(-2, 2, 39))
ENDLESS = {"n_estimators": 100_000, "early_stopping": False}

FITS = {
    "one thread": (GradientBoostingRegressor(**ENDLESS), NUMBERS),
    "threads of one model": (GradientBoostingRegressor(**ENDLESS, n_jobs=2), NUMBERS),
    "two classes": (GradientBoostingClassifier(**ENDLESS), TWO),
    "threads of members": (BoostingEnsembleRegressor(**ENDLESS, n_members=2, n_jobs=2), NUMBERS),
    "threads of members, forty classes": (BoostingEnsembleClassifier(**ENDLESS, n_members=2, n_jobs=2), MANY),
    "threads of members, deep trees": (
        BoostingEnsembleRegressor(**ENDLESS, n_members=2, n_jobs=2, max_depth=10, grow_policy="depthwise"),
        NUMBERS,
    ),
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("fitted_before", [False, True])
def test_a_fit_stops_at_once_and_leaves_the_estimator_as_it_was(name, fitted_before):
    endless, y = FITS[name]
    model = type(endless)(**endless.get_params())
    small_X, small_y = X[:100, :5], y[:100]
    model.set_params(n_estimators=2).fit(small_X, small_y)  # compiled before the clock starts
    before = answers(model, small_X)
    model = model if fitted_before else type(endless)(**endless.get_params())
    model.set_params(n_estimators=100_000)
    n_threads = threading.active_count()
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    start = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.monotonic() - start < 0.4 + 1.0 + 0.5  # the signal's delay, the promise, and a loaded machine
    timer.join()
    assert threading.active_count() <= n_threads
    if fitted_before:
        assert all(bits(before[key]) == bits(array) for key, array in answers(model, small_X).items())
    else:
        with pytest.raises(NotFittedError):
            model.predict(X)
