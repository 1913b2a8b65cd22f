"""Fitting needs about a byte per cell and a few numbers per row, never a copy of the table."""

import tracemalloc

import numpy as np
import pytest

from surefoot import AdaBoostClassifier, MajorityBoostClassifier

N_ROWS, N_COLUMNS = 300_000, 20
ALLOWED = 1.2 * N_ROWS * N_COLUMNS + 40 * N_ROWS + 2_000_000


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("booster", [AdaBoostClassifier, MajorityBoostClassifier])
def test_peak_memory_of_a_fit(booster, order):
    X = np.array(np.random.default_rng(0).random((N_ROWS, N_COLUMNS)), order=order)
    y = (X[:, 0] + X[:, 1] > 1.2).astype(int)
    assert X.nbytes / 2 > ALLOWED
    booster(n_estimators=3, n_jobs=1, random_state=0).fit(X[:1000], y[:1000])  # compiled kernels are not counted
    tracemalloc.start()
    try:
        booster(n_estimators=5, n_jobs=1, random_state=0).fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < ALLOWED
