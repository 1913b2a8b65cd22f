"""Models and votes do not depend on the number of threads: they are equal to the last bit."""

import numpy as np
import pytest
from reference.models import (
    assert_identical_models,
    make_frame,
    two_classes,
)

from surefoot import AdaBoostClassifier
from surefoot._parallel import THREADED_CELLS

JOBS = (2, 3)


@pytest.fixture(scope="module")
def large_table():
    X, y = two_classes(n_rows=26_000, n_columns=40)
    assert X.size > THREADED_CELLS
    X[::7, 3] = np.nan
    X[:, 5] = np.round(X[:, 5])
    return X, y


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"variant": "adaboost_star"},
        {"max_depth": 2},
        {"max_bins": None},
    ],
    ids=str,
)
def test_tables_large_enough_for_several_threads(large_table, parameters):
    X, y = large_table
    weights = np.random.default_rng(0).random(len(X))
    one = AdaBoostClassifier(n_estimators=4, n_jobs=1, **parameters).fit(X, y, sample_weight=weights)
    votes = one.decision_function(X)
    for n_jobs in JOBS:
        model = AdaBoostClassifier(n_estimators=4, n_jobs=n_jobs, **parameters).fit(X, y, sample_weight=weights)
        assert_identical_models(one, model)
        assert model.decision_function(X).tobytes() == votes.tobytes()


def test_large_tables_of_three_classes(large_table):
    X, _ = large_table
    y = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])
    one = AdaBoostClassifier(n_estimators=3, n_jobs=1).fit(X, y)
    for n_jobs in JOBS:
        assert_identical_models(one, AdaBoostClassifier(n_estimators=3, n_jobs=n_jobs).fit(X, y))


def test_large_frames_with_categories(large_table):
    X, y = large_table
    frame = make_frame(
        "pandas", {f"x{j}": X[:, j] for j in range(1, 40)}, {"c": np.round(X[:, 0]).astype(int).astype(str)}
    )
    one = AdaBoostClassifier(n_estimators=4, n_jobs=1).fit(frame, y)
    for n_jobs in JOBS:
        model = AdaBoostClassifier(n_estimators=4, n_jobs=n_jobs).fit(frame, y)
        assert_identical_models(one, model)
        assert model.decision_function(frame).tobytes() == one.decision_function(frame).tobytes()
