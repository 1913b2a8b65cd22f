"""Ctrl-C during a fit is honoured within a second and leaves the estimator as it was."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError

import surefoot
from contract.registry import SUBJECTS, answers, bits
from surefoot._progress import BagProgress, MemberProgress
from surefoot.selection import LassoSelector

pytestmark = [pytest.mark.alone, pytest.mark.filterwarnings("ignore::surefoot.CoverageWarning")]

X = np.random.default_rng(0).normal(size=(60_000, 20))
NUMBERS = X[:, 0] + np.random.default_rng(1).normal(size=len(X))
TWO = (NUMBERS > 0).astype(int)
MANY = np.digitize(NUMBERS, np.linspace(-2, 2, 39))
FEW = slice(0, 1_100)
ENDLESS = {"n_estimators": 100_000}
WHOLE = {**ENDLESS, "early_stopping": False}
THREADS = {"n_members": 2, "n_jobs": 2}
MATRIX = {**WHOLE, "orientation": "both"}

# for each: the estimator, the settings that make it endless, the target, the rows
FITS = {
    "AdaBoost": (surefoot.AdaBoostClassifier, ENDLESS, TWO),
    "AdaBoost, threads of one model": (surefoot.AdaBoostClassifier, {**ENDLESS, "n_jobs": 2}, TWO),
    "MajorityBoost, threads of members": (surefoot.MajorityBoostClassifier, {**ENDLESS, "n_jobs": 2}, TWO),
    "MajorityBoost, trees": (  # each of them takes some seconds if missed
        surefoot.MajorityBoostClassifier,
        {"n_estimators": 3_000, "max_depth": 3, "n_jobs": 2},
        TWO,
    ),
    "BaggedBoost": (surefoot.BaggedBoostClassifier, {**ENDLESS, "n_members": 3}, TWO),
    "LarsenRitzert": (surefoot.LarsenRitzertClassifier, {**ENDLESS, "n_members": 3}, TWO),
    "BestBoost": (surefoot.BestBoostClassifier, ENDLESS, TWO),
    "Gradient, one thread": (surefoot.GradientBoostingRegressor, WHOLE, NUMBERS),
    "Gradient, threads of one model": (surefoot.GradientBoostingRegressor, {**WHOLE, "n_jobs": 2}, NUMBERS),
    "Gradient, two classes": (surefoot.GradientBoostingClassifier, WHOLE, TWO),
    "Ensemble, threads of members": (surefoot.BoostingEnsembleRegressor, {**WHOLE, **THREADS}, NUMBERS),
    "Ensemble, forty classes": (surefoot.BoostingEnsembleClassifier, {**WHOLE, **THREADS}, MANY),
    "Ensemble, deep trees": (
        surefoot.BoostingEnsembleRegressor,
        {**WHOLE, **THREADS, "max_depth": 10, "grow_policy": "depthwise"},
        NUMBERS,
    ),
    "Ensemble, sgb": (surefoot.BoostingEnsembleRegressor, {**WHOLE, **THREADS, "method": "sgb"}, NUMBERS),
    "VMatrix, mean": (surefoot.VMatrixBoostingRegressor, {**MATRIX, "kind": "mean"}, NUMBERS),
    "VMatrix, joint in threads": (surefoot.VMatrixBoostingRegressor, {**MATRIX, "kind": "joint", "n_jobs": 2}, NUMBERS),
    "VMatrix, two classes": (surefoot.VMatrixBoostingClassifier, {**MATRIX, "kind": "mean"}, TWO),
    "VMatrix, trial model": (surefoot.VMatrixBoostingRegressor, {**MATRIX, "early_stopping": True}, NUMBERS),
    "StableSelector": (
        surefoot.StableSelector,
        {"selector": LassoSelector(alpha=0.05), "n_bags": 10**7, "bag_size": 1000, "epsilon": 0.3},
        NUMBERS,
    ),
    "StableClassifier": (
        surefoot.StableClassifier,
        {"estimator": RandomForestClassifier(1, max_depth=3), "n_bags": 10**5, "bag_size": 1000, "epsilon": 1.0},
        TWO,
    ),
    "ConformalRegressor": (
        surefoot.ConformalRegressor,
        {"model": surefoot.GradientBoostingRegressor(**WHOLE), "cv": "split"},
        NUMBERS,
    ),
    "ConformalClassifier, folds in threads": (
        surefoot.ConformalClassifier,
        {"model": surefoot.GradientBoostingClassifier(**WHOLE), "cv": 2, "n_jobs": 2},
        TWO,
    ),
}
DELAY = 0.1  # seconds from the first report of progress to the signal
SLACK = 0.5  # of the promised second, on a loaded machine
SMALL = {"n_estimators": 6, "n_bags": 5, "bag_size": 100, "model__n_estimators": 6}


def endless(estimator, settings):
    """The parameters that make a fit endless, in place of those of ``SMALL``."""
    params = estimator(**settings).get_params()
    return {key: params[key] for key in SMALL if key in params}


def small(estimator, settings):
    model = clone(estimator(**settings)).set_params(random_state=0)
    return model.set_params(**{key: SMALL[key] for key in endless(estimator, settings)})


@pytest.fixture
def at_work(monkeypatch):
    """An event: a fit reports progress, so bins and matrices are made, and trees are grown or bags are drawn."""
    reported = threading.Event()
    for kind in (MemberProgress, BagProgress):

        def report(progress, *state, report_on=kind.__call__):
            reported.set()
            report_on(progress, *state)

        monkeypatch.setattr(kind, "__call__", report)
    return reported


def press_ctrl_c(at_work, stopped, times):
    """Send the signal, and again every 30 seconds until the fit has stopped: a fit that misses it fails, not hangs."""
    at_work.wait(30.0)
    delay = DELAY
    while not stopped.wait(delay):
        times.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
        delay = 30.0


@pytest.mark.fault(number=19)
def test_every_estimator_is_interrupted():
    assert {subject.estimator for subject in SUBJECTS} - {estimator for estimator, _, _ in FITS.values()} == set()


@pytest.mark.fault(number=19)
@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("fitted_before", [False, True])
def test_a_fit_stops_at_once_and_leaves_the_estimator_as_it_was(name, fitted_before, at_work):
    estimator, settings, y = FITS[name]
    if estimator in (surefoot.VMatrixBoostingRegressor, surefoot.VMatrixBoostingClassifier):
        settings = settings | {"max_target_rows": 200}
        rows = slice(0, 20_000)
    else:
        rows = slice(None)
    model = small(estimator, settings).fit(X[FEW], y[FEW])  # compiled before the clock starts
    if name.endswith("threads of one model"):
        small(estimator, settings).fit(X, y)  # small tables have no threads, and so other kernels
    before = answers(model, X[FEW])
    model = model if fitted_before else small(estimator, settings)
    model.set_params(**endless(estimator, settings))
    attributes, n_threads = set(vars(model)), threading.active_count()
    at_work.clear()
    stopped, times = threading.Event(), []
    presser = threading.Thread(target=press_ctrl_c, args=(at_work, stopped, times))
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[rows], y[rows])
    stopped.set()
    assert time.monotonic() - times[0] < 1.0 + SLACK
    assert at_work.is_set()
    presser.join()
    assert threading.active_count() <= n_threads
    assert set(vars(model)) == attributes
    if fitted_before:
        after = answers(model, X[FEW])
        assert [key for key, array in after.items() if bits(array) != bits(before[key])] == []
    else:
        with pytest.raises(NotFittedError):
            model.transform(X) if hasattr(model, "transform") else model.predict(X)
