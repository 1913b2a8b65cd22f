"""Ctrl-C during a fit is honoured within a second and leaves the estimator as it was."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from reference.vmatrix_boosters import small
from sklearn.exceptions import NotFittedError

from surefoot import VMatrixBoostingClassifier, VMatrixBoostingRegressor

pytestmark = pytest.mark.alone

X = np.random.default_rng(0).normal(size=(60_000, 20))
NUMBERS = X[:, 0] + np.random.default_rng(1).normal(size=len(X))
ENDLESS = {"n_estimators": 100_000, "early_stopping": False, "orientation": "both", "max_target": 200}
DELAY = 1.0  # bins and the matrix are made before: the signal comes while trees are grown

FITS = {
    "mean": (VMatrixBoostingRegressor, {"kind": "mean"}),
    "joint, in threads": (VMatrixBoostingRegressor, {"kind": "joint", "n_jobs": 2}),
    "two classes": (VMatrixBoostingClassifier, {"kind": "mean"}),
}


@pytest.mark.filterwarnings("ignore::surefoot.CoverageWarning")
@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("fitted_before", [False, True])
def test_a_fit_stops_at_once_and_leaves_the_estimator_as_it_was(name, fitted_before):
    estimator, settings = FITS[name]
    y = NUMBERS if estimator is VMatrixBoostingRegressor else (NUMBERS > 0).astype(int)
    few = slice(0, 1_500)  # not written out: the kernels of the large table, compiled before the clock starts
    model = small(estimator, **settings).fit(X[few], y[few])
    before = model.predict(X[few])
    model = model if fitted_before else small(estimator, **settings)
    model.set_params(**ENDLESS)
    n_threads = threading.active_count()
    timer = threading.Timer(DELAY, os.kill, (os.getpid(), signal.SIGINT))
    start = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.monotonic() - start < DELAY + 1.0 + 0.7  # the signal's delay, the promise, and a loaded machine
    timer.join()
    assert threading.active_count() <= n_threads
    if fitted_before:
        np.testing.assert_array_equal(model.predict(X[few]), before)
    else:
        with pytest.raises(NotFittedError):
            model.predict(X)
