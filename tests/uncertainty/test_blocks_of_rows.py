"""Models of tables of many blocks of rows: the same for any number of threads, and as good as from one block."""

import numpy as np
import pytest
from contract.registry import assert_same_answers, assert_same_model
from reference.families import MORE, REGRESSION, example_target
from reference.gradient_boosters import numbers, small

from surefoot import BoostingEnsembleRegressor, GradientBoostingClassifier, GradientBoostingRegressor
from surefoot.trees import row_blocks

SETTINGS = {
    "defaults": {"early_stopping": True, "n_estimators": 30},
    "rows drawn": {"subsample": 0.5, "early_stopping": False},
    "one row drawn, or none": {"subsample": 0.002, "early_stopping": False},
    "noise": {"langevin": True, "early_stopping": False},
    "noise at a temperature": {"langevin": True, "temperature": 1.0},
    "deep trees": {"grow_policy": "depthwise", "max_depth": 6, "min_samples_leaf": 3, "early_stopping": False},
    "categories": {"categorical_features": [3], "early_stopping": False},
    "monotone": {"monotonic_cst": [1, 0, 0, 0], "early_stopping": False},
    "interactions": {"interaction_cst": [[0, 1]], "early_stopping": False},
    "columns drawn": {"max_features": 0.5, "split_noise": 0.7, "grow_policy": "depthwise", "early_stopping": False},
    "leafwise": {"grow_policy": "leafwise", "max_leaf_nodes": 6, "max_depth": 5, "subsample": 0.7},
    "leafwise, limited": {
        "grow_policy": "leafwise",
        "max_leaf_nodes": 5,
        "interaction_cst": "pairwise",
        "max_features": 0.8,
        "monotonic_cst": [0, 1, 0, 0],
        "categorical_features": [3],
        "early_stopping": False,
    },
}


def table(n_rows=500):
    X, y = numbers(n_rows)
    X[::7, 2] = np.nan
    X[:, 3] = np.arange(n_rows) % 9
    return X, y


def same_for_any_number_of_threads(make, X, y, weights=None):
    one = make(1).fit(X, y, weights)
    for n_jobs in (2, 5):
        other = make(n_jobs).fit(X, y, weights)
        assert_same_model(one, other)
        assert_same_answers(one, other, X)
    return one


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("weighted", [False, True])
def test_any_number_of_threads_learns_the_same(small_blocks, name, weighted):
    X, y = table()
    weights = np.random.default_rng(1).gamma(1.0, size=len(y)) if weighted else None

    def make(n_jobs):
        return small(GradientBoostingRegressor, n_jobs=n_jobs, **SETTINGS[name])

    same_for_any_number_of_threads(make, X, y, weights)


@pytest.mark.parametrize("name", REGRESSION | MORE)
def test_any_number_of_threads_learns_the_same_distribution(small_blocks, name):
    X, _ = table()
    y = example_target(name, len(X))

    def make(n_jobs):
        return small(GradientBoostingRegressor, distribution=(REGRESSION | MORE)[name], n_jobs=n_jobs)

    same_for_any_number_of_threads(make, X, y)


@pytest.mark.parametrize("n_classes", [2, 3, 12])
def test_any_number_of_threads_learns_the_same_classes(small_blocks, n_classes):
    X, y = table()
    classes = np.argsort(np.argsort(y)) * n_classes // len(y)

    def make(n_jobs):
        return small(GradientBoostingClassifier, n_jobs=n_jobs, early_stopping=True)

    same_for_any_number_of_threads(make, X, classes)


@pytest.mark.parametrize("settings", [{}, {"grow_policy": "depthwise", "min_samples_leaf": 5}])
def test_blocks_change_nothing_but_the_last_digits(monkeypatch, settings):
    X, y = table()
    model = small(GradientBoostingRegressor, early_stopping=False, **settings)
    whole = model.fit(X, y).predict(X)
    monkeypatch.setattr(row_blocks, "BLOCK_ROWS", 64)
    np.testing.assert_allclose(model.fit(X, y).predict(X), whole, rtol=1e-9)


def test_members_of_an_ensemble_are_the_same_models(small_blocks):
    X, y = table()
    ensemble = small(BoostingEnsembleRegressor, method="sglb", early_stopping=False, n_jobs=2).fit(X, y)
    again = small(BoostingEnsembleRegressor, method="sglb", early_stopping=False, n_jobs=1).fit(X, y)
    assert_same_model(ensemble, again)


def test_a_resumed_model_may_use_other_threads(small_blocks):
    X, y = table()
    model = small(GradientBoostingRegressor, n_estimators=4, warm_start=True, n_jobs=3).fit(X, y)
    model.set_params(n_estimators=9, n_jobs=2).fit(X, y)
    whole = small(GradientBoostingRegressor, n_estimators=9, warm_start=True, n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
