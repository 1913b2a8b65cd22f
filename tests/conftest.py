"""Lets tests import the naive twins as ``reference``; draws without a screen; hears Ctrl-C; audits with one draw."""

import os
import signal
import sys
from pathlib import Path

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")
if "PYTEST_XDIST_WORKER" in os.environ:  # there is a worker for every core: threads of BLAS and OpenMP would only wait
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a job that a script put into the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def folds_are_drawn_once():
    """Audits draw their folds once, and take less time; tests/report/test_fold_draws.py lets them draw again."""
    from surefoot.report import run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "MAX_DRAWS", 1)
        yield
