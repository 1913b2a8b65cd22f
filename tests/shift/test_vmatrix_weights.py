"""A row of weight k counts as k rows, and a row of weight 0 as none."""

import numpy as np
import pandas as pd
import pytest
from reference.vmatrix_boosters import VMATRIX_BOOSTERS, answers, problem, small

from surefoot import VMatrix

each_estimator = pytest.mark.parametrize("estimator", VMATRIX_BOOSTERS)
LEAST = {"min_samples_leaf": 1, "early_stopping": False, "n_estimators": 12, "orientation": "both", "blend": 0.6}


def weighted(estimator, seed=0, n_rows=70):
    X, y, T = problem(estimator, n_rows=n_rows, seed=seed)
    X = X.round(1)
    X[::9, 1] = np.nan
    weights = np.random.default_rng(seed).integers(0, 4, n_rows)
    return X, y, T, weights, np.repeat(np.arange(n_rows), weights)


@each_estimator
@pytest.mark.parametrize("kind", ["mean", "joint", "product"])
@pytest.mark.parametrize("with_target", [True, False])
def test_weights_are_copies_and_weight_0_is_removal(estimator, kind, with_target):
    X, y, T, weights, copies = weighted(estimator)
    target = {"X_target": T} if with_target else {}
    by_weight = small(estimator, kind=kind, **LEAST).fit(X, y, sample_weight=weights, **target)
    by_copies = small(estimator, kind=kind, **LEAST).fit(X[copies], y[copies], **target)
    new = problem(estimator, seed=9)[0]
    for rows in (X, new):
        np.testing.assert_allclose(answers(by_weight, rows), answers(by_copies, rows), atol=1e-8)
    np.testing.assert_allclose(by_weight.feature_importances_, by_copies.feature_importances_, atol=1e-6)


@each_estimator
@pytest.mark.parametrize("with_target", [True, False])
def test_rows_without_weight_change_nothing(estimator, with_target):
    """They change neither bins, categories, coverage nor the target that training rows stand in for."""
    X, y, T, _, _ = weighted(estimator)
    weights = (np.arange(len(X)) % 3 > 0).astype(float)
    X[weights == 0, 0] *= 1e6
    table = pd.DataFrame(X, columns=list("abc")).assign(d=pd.Categorical(np.where(weights > 0, "u", "v")))
    target = {"X_target": pd.DataFrame(T, columns=list("abc")).assign(d=pd.Categorical(["u"] * len(T)))}
    target = target if with_target else {}
    kept = weights > 0
    for kind in ("mean", "joint"):
        one = small(estimator, kind=kind, **LEAST).fit(table, y, sample_weight=weights, **target)
        other = small(estimator, kind=kind, **LEAST).fit(table[kept], y[kept], **target)
        np.testing.assert_allclose(answers(one, table[kept]), answers(other, table[kept]), atol=1e-8)
        assert one.coverage_ == pytest.approx(other.coverage_)


def test_weights_are_copies_with_a_given_matrix():
    X, y, T, weights, copies = weighted(None)
    V = VMatrix.from_target(X, T, orientation="both").dense()
    by_weight = small(**LEAST).fit(X, y, sample_weight=weights, V=V)
    by_copies = small(**LEAST).fit(X[copies], y[copies], V=V[np.ix_(copies, copies)])
    np.testing.assert_allclose(by_weight.predict(X), by_copies.predict(X), atol=1e-8)


@each_estimator
def test_weights_of_one_change_nothing(estimator):
    X, y, T = problem(estimator)
    for kind in ("mean", "joint", "product"):
        one = small(estimator, kind=kind).fit(X, y, X_target=T)
        other = small(estimator, kind=kind).fit(X, y, sample_weight=np.ones(len(X)), X_target=T)
        np.testing.assert_array_equal(answers(one, X), answers(other, X))


def test_fractional_weights_count_in_the_target():
    """Training rows of weight 2.5 and 0.5 that stand in for the target count five to one."""
    X = np.repeat([[0.0], [1.0]], 60, axis=0)
    y = np.random.default_rng(0).normal(size=120)
    weights = np.where(X[:, 0] == 0, 2.5, 0.5)
    settings = LEAST | {"orientation": "lower", "kind": "mean", "blend": 1.0}
    one = small(**settings).fit(X, y, sample_weight=weights)
    T = np.repeat([[0.0], [1.0]], [5, 1], axis=0)
    other = small(**settings).fit(X, y, sample_weight=weights, X_target=T)
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=5e-3)


BAD_WEIGHTS = {
    "too short": np.ones(79),
    "two-dimensional": np.ones((80, 1)),
    "negative": np.where(np.arange(80) == 3, -1.0, 1.0),
    "NaN": np.where(np.arange(80) == 3, np.nan, 1.0),
    "infinite": np.where(np.arange(80) == 3, np.inf, 1.0),
    "all zero": np.zeros(80),
    "a name": "balanced",
    "more than can be counted": np.full(80, 1e300),
}


@each_estimator
@pytest.mark.parametrize("name", BAD_WEIGHTS)
def test_bad_weights_are_refused_by_name(estimator, name):
    X, y, _ = problem(estimator)
    with pytest.raises(ValueError, match="sample_weight"):
        small(estimator).fit(X, y, sample_weight=BAD_WEIGHTS[name])
