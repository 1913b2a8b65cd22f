"""Models of leafwise trees: the number of leaves, what they share with other trees, and how accurate they are."""

import numpy as np
import pytest
from lightgbm import LGBMRegressor
from reference.gradient_boosters import (
    GRADIENT_BOOSTERS,
    SINGLE,
    assert_identical_boosters,
    forests,
    problem,
    small,
)
from threadpoolctl import threadpool_limits

from surefoot import GradientBoostingRegressor, ParameterError, load, save

each_estimator = pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)


def count_leaves(model):
    return [int((features >= 0).sum()) + 1 for forest in forests(model) for features in forest.features]


@each_estimator
@pytest.mark.parametrize("max_leaf_nodes", [2, 5, None])
def test_trees_have_as_many_leaves_as_asked_for(estimator, max_leaf_nodes):
    X, y = problem(estimator, n_rows=900)
    settings = {"grow_policy": "leafwise", "max_depth": 8, "early_stopping": False}
    model = small(estimator, max_leaf_nodes=max_leaf_nodes, **settings).fit(X, y)
    assert max(count_leaves(model)) == (max_leaf_nodes or 31)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


@each_estimator
@pytest.mark.parametrize("noise", [{}, {"split_noise": 1.0}])
def test_trees_with_leaves_enough_are_depthwise_trees(estimator, noise):
    X, y = problem(estimator)
    X[::9, 1] = np.nan
    settings = {"early_stopping": False, "max_depth": 3, "monotonic_cst": [1, 0, 0, 0], **noise}
    depthwise = small(estimator, grow_policy="depthwise", **settings).fit(X, y)
    leafwise = small(estimator, grow_policy="leafwise", max_leaf_nodes=8, **settings).fit(X, y)
    assert_identical_boosters(depthwise, leafwise)


@each_estimator
@pytest.mark.parametrize("grow_policy", ["symmetric", "depthwise"])
def test_a_number_of_leaves_is_refused_for_other_trees(estimator, grow_policy):
    X, y = problem(estimator)
    with pytest.raises(ParameterError, match="max_leaf_nodes is for grow_policy='leafwise'") as error:
        small(estimator, grow_policy=grow_policy, max_leaf_nodes=31).fit(X, y)
    assert error.value.argument == "max_leaf_nodes"


@pytest.mark.parametrize("estimator", SINGLE)
def test_leaves_have_at_least_min_samples_leaf_rows(estimator):
    X, y = problem(estimator, n_rows=300)
    settings = {"grow_policy": "leafwise", "max_depth": 7, "max_leaf_nodes": 12, "early_stopping": False}
    covers = small(estimator, min_samples_leaf=15, **settings).fit(X, y)._members[0].trees.forest.covers
    assert covers[covers > 0].min() >= 15
    assert (covers.sum(axis=1) == 300).all()


def test_as_accurate_as_lightgbm():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 6))
    y = np.where(X[:, 0] > 0, X[:, 1] * X[:, 2], np.sin(3 * X[:, 3])) + 0.3 * rng.normal(size=2500)
    settings = {"n_estimators": 150, "max_leaf_nodes": 15, "max_depth": 8, "l2_regularization": 1.0}
    rows = slice(2000)
    model = GradientBoostingRegressor(
        grow_policy="leafwise", early_stopping=False, min_samples_leaf=20, random_state=0, **settings
    ).fit(X[rows], y[rows])
    with threadpool_limits(1):
        peer = LGBMRegressor(n_estimators=150, num_leaves=15, reg_lambda=1.0, n_jobs=1, verbose=-1)
        peer.fit(X[rows], y[rows])
    ours, theirs = (np.mean((m.predict(X[2000:]) - y[2000:]) ** 2) for m in (model, peer))
    assert ours < 1.1 * theirs


@each_estimator
def test_models_are_saved(estimator, tmp_path):
    X, y = problem(estimator)
    limits = {"interaction_cst": [{0, 1}], "max_features": 0.75, "split_noise": 0.25}
    model = small(estimator, grow_policy="leafwise", max_leaf_nodes=4, **limits).fit(X, y)
    save(model, tmp_path / "model.surefoot")
    again = load(tmp_path / "model.surefoot")
    np.testing.assert_array_equal(again._raw(X), model._raw(X))
    assert {name: again.get_params()[name] for name in limits} == limits
    assert again._differs_by_seed
