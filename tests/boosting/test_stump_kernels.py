"""The stump kernels against naive loops, and one thread against several."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import boosting as naive

from surefoot import AdaBoostClassifier
from surefoot.boosting.stump_boosting import boost_stumps, whole_weights
from surefoot.boosting.stump_kernels import GINI, Rule
from surefoot.data import BinnedTable, Columns


def make_table(seed, n_rows, missing, n_categories):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(n_rows, 3)).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    categories = rng.integers(0, n_categories, size=n_rows)
    X[:, 2] = np.where(np.isnan(X[:, 2]), np.nan, categories)
    y = (rng.random(n_rows) < 0.3 + 0.4 * (np.nan_to_num(X[:, 0]) > 2)).astype(int)
    y[:2] = [0, 1]
    weights = rng.gamma(1.0, size=n_rows) * (rng.random(n_rows) > 0.1)  # some rows have no weight
    weights[:2] = 1.0
    return X, y, weights


def as_frame(X):
    kinds = pd.Categorical([None if np.isnan(v) else f"kind {v:.0f}" for v in X[:, 2]])
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": kinds})


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(12, 60),
    missing=st.sampled_from([0.0, 0.2]),
    n_categories=st.integers(1, 4),
)
def test_every_round_equals_that_of_the_naive_twin(seed, n_rows, missing, n_categories):
    X, y, weights = make_table(seed, n_rows, missing, n_categories)
    rounds = naive.adaboost(X, y, weights, 8, categorical=(2,))
    model = AdaBoostClassifier(n_estimators=8)
    if not rounds:
        return
    model.fit(as_frame(X), y, weights)
    for t, (_, error, vote, _, ties) in enumerate(rounds):
        np.testing.assert_allclose(model.estimator_errors_[t], error, rtol=1e-9)
        np.testing.assert_allclose(model.estimator_weights_[t], vote, rtol=1e-9)
        if ties > 1:  # the twin may choose another, equally good split
            return
    np.testing.assert_array_equal(
        (model.decision_function(as_frame(X)) > 0)[weights > 0],
        (sum(vote * (2 * predictions - 1) for _, _, vote, predictions, _ in rounds) > 0)[weights > 0],
    )


@pytest.mark.parametrize("n_threads", [2, 3, 8])
def test_any_number_of_threads_gives_the_same_rounds(n_threads):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 4))
    y = (X[:, 0] + rng.normal(size=5000) > 0).astype(int)
    order = np.argsort(y, kind="stable")
    table = BinnedTable.from_columns(Columns.from_array(X))
    table.reorder(order)
    bounds = (0, int((y == 0).sum()), len(y))
    rule = Rule(GINI, False, 1.0, 0.1)
    weights = rng.gamma(1.0, size=5000)
    one = boost_stumps(table, bounds, weights, rule, 60)
    many = boost_stumps(table, bounds, weights, rule, 60, n_threads=n_threads)
    for mine, theirs in zip(one, many, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_hundreds_of_rounds_do_not_drift_from_scikit_learn():
    from sklearn.ensemble import AdaBoostClassifier as Peer

    rng = np.random.default_rng(3)
    X = rng.integers(0, 100, size=(500, 5)).astype(float)
    y = (X[:, 0] + X[:, 1] + 20 * rng.normal(size=500) > 100).astype(int)
    weights = rng.gamma(1.0, size=500)
    ours, peer = AdaBoostClassifier(n_estimators=400), Peer(n_estimators=400, random_state=0)
    ours.fit(X, y, weights)
    peer.fit(X, y, weights)
    np.testing.assert_allclose(ours.estimator_weights_, peer.estimator_weights_, rtol=1e-6)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=50).filter(any), st.integers(-900, 900))
def test_whole_weights_keep_ratios_and_zeros(weights, exponent):
    scaled = np.ldexp(np.array(weights, dtype=float), exponent)
    whole, scale = whole_weights(scaled)
    assert ((whole == 0) == (scaled == 0)).all()
    assert 2**56 < whole.sum() <= 2**59
    unit = np.gcd.reduce(whole)
    np.testing.assert_array_equal(whole // unit, np.array(weights) // np.gcd.reduce(weights))
    assert scale > 0
