"""Lets tests import the naive twins as ``reference``; draws without a screen; hears Ctrl-C; makes audits short."""

import os
import signal
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")
if "PYTEST_XDIST_WORKER" in os.environ:  # there is a worker for every core: threads of BLAS and OpenMP would only wait
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that a test asks for would wait in a loop
sys.path.insert(0, str(Path(__file__).parent))
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a job that a script put into the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def audits_are_short():
    """Audits draw their folds once, and fewer bags; tests/report/test_fold_draws.py lets them draw folds again."""
    from surefoot.report import run
    from surefoot.report.sections.stability import column_selection, measure

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "MAX_DRAWS", 1)
        patch.setattr(measure, "N_BAGS", 400)
        patch.setattr(column_selection, "N_LASSO_BAGS", 400)
        patch.setattr(column_selection, "N_TREE_BAGS", 24)
        yield


@contextmanager
def usual_bags():
    """Audits draw as many bags as those of users."""
    from surefoot.report.sections.stability import column_selection, measure

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "N_BAGS", 10_000)
        patch.setattr(column_selection, "N_LASSO_BAGS", 5000)
        patch.setattr(column_selection, "N_TREE_BAGS", 300)
        yield


@pytest.fixture(scope="module")
def all_bags():
    """For tests of question 3."""
    with usual_bags():
        yield


@pytest.fixture
def several_tasks():
    """For tests of jobs: a few bags are one task."""
    with usual_bags():
        yield


@pytest.fixture(scope="session")
def fresh_process():
    """A function that runs a script in a process that has not imported surefoot."""
    from fresh_process import fresh_processes

    with fresh_processes() as run:
        yield run


@pytest.fixture(scope="module")
def small_candidates():
    """Audits compare all candidates, each of them small."""
    from surefoot.report import run
    from surefoot.report.sections.own_measure import metric
    from surefoot.report.sections.shift import deployment_models
    from surefoot.shift import VMatrixBoostingClassifier, VMatrixBoostingRegressor

    sizes = {"n_members": 2, "n_estimators": 10}
    every = run.candidate_models

    def small(*given):
        candidates = every(*given)
        for candidate in candidates:
            model = candidate.model[-1] if hasattr(candidate.model, "steps") else candidate.model
            model.set_params(**{name: size for name, size in sizes.items() if name in model.get_params()})
        return candidates

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "candidate_models", small)
        patch.setattr(metric, "N_DRAWS", (100, 100))
        for booster in (VMatrixBoostingClassifier, VMatrixBoostingRegressor):
            patch.setattr(deployment_models, booster.__name__, partial(booster, n_estimators=20))
        yield
