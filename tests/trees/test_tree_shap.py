"""The kernels of SHAP values: each against the definition, and against the others on trees that several can explain."""

from dataclasses import replace

import numpy as np
import pytest
from reference.shap_values import shapley_values, tree_worth

from surefoot import GradientBoostingRegressor
from surefoot.trees.background_shap import leaf_weights
from surefoot.trees.tree_shap import ShapForest

COLUMNS = 4


def forest_of(grow_policy, depth, seed, **settings):
    """Trees of few rows, with missing values and two categorical columns; some leaves have no rows."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(60, COLUMNS))
    X[generator.random(X.shape) < 0.15] = np.nan
    X[:, 2:] = generator.integers(0, 5, size=(60, 2))
    y = np.nan_to_num(X[:, 0]) + (X[:, 2] == 3) * X[:, 3] + 0.2 * generator.normal(size=60)
    model = GradientBoostingRegressor(
        n_estimators=3,
        max_depth=depth,
        grow_policy=grow_policy,
        categorical_features=[2, 3],
        early_stopping=False,
        random_state=seed,
        **settings,
    ).fit(X, y)
    member, columns = model._members[0], model._columns(X)
    return member.trees.forest, member.encoding.codes(columns, 0, len(X))


def values_of(shap_forest, codes):
    values = np.zeros((2, COLUMNS, codes.shape[1]))
    shap_forest.add(codes, 0, len(shap_forest.means), values)
    return values


CASES = [
    (grow_policy, depth, seed, settings)
    for seed, (depth, settings) in enumerate([(1, {}), (3, {}), (4, {"min_samples_leaf": 8}), (6, {"max_bins": 3})])
    for grow_policy in ("symmetric", "depthwise")
]


@pytest.mark.parametrize(("grow_policy", "depth", "seed", "settings"), CASES)
def test_all_kernels_give_the_values_of_the_definition(grow_policy, depth, seed, settings):
    forest, codes = forest_of(grow_policy, depth, seed, **settings)
    single = tuple((j,) for j in range(COLUMNS))
    several = tuple((j, j) for j in range(COLUMNS))  # the same columns, for the kernel that goes path by path
    by_leaves = ShapForest.of(forest, single, [0, 1])
    by_edges = replace(by_leaves, symmetric=False)
    by_paths = replace(ShapForest.of(forest, several, [0, 1]), symmetric=False)
    values = values_of(by_edges, codes)
    for i in range(3):
        expected = shapley_values(
            lambda known, i=i: sum(tree_worth(forest, single, t, codes[:, i], known) for t in range(3)), COLUMNS
        )
        np.testing.assert_allclose(values[:, :, i].T, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(values_of(by_paths, codes), values, rtol=0, atol=1e-12)
    if grow_policy == "symmetric":
        np.testing.assert_allclose(values_of(by_leaves, codes), values, rtol=0, atol=1e-12)
    means = sum(tree_worth(forest, single, t, codes[:, 0], frozenset()) for t in range(3))
    np.testing.assert_allclose(by_leaves.means.sum(axis=0), means, rtol=0, atol=1e-12)


@pytest.mark.parametrize("sources", [((0, 1), (1,), (2, 3), (3, 0)), ((0, 1, 2), (1, 2), (2,), (3, 1))])
@pytest.mark.parametrize("grow_policy", ["symmetric", "depthwise"])
def test_features_of_several_columns_have_the_values_of_the_definition(grow_policy, sources):
    forest, codes = forest_of(grow_policy, 5, seed=9)
    values = values_of(ShapForest.of(forest, sources, [0, 1]), codes)
    for i in range(3):
        expected = shapley_values(
            lambda known, i=i: sum(tree_worth(forest, sources, t, codes[:, i], known) for t in range(3)), COLUMNS
        )
        np.testing.assert_allclose(values[:, :, i].T, expected, rtol=0, atol=1e-12)


def test_weights_of_leaves_are_shapley_values_of_games_with_and_without_columns():
    gains, losses = leaf_weights(5)
    for p in range(4):
        for q in range(5 - p):
            own, other = set(range(p)), set(range(p, p + q))
            values = shapley_values(lambda known, own=own, other=other: float(known >= own and not known & other), 5)
            np.testing.assert_allclose(values[:p], gains[p, q])
            np.testing.assert_allclose(values[p : p + q], -losses[p, q])
            np.testing.assert_allclose(values[p + q :], 0.0, atol=1e-15)
