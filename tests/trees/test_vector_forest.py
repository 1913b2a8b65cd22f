"""The sum of the leaves of a forest against a walk down each tree, row by row."""

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import gradient_trees as naive

from surefoot._parallel import RowThreads
from surefoot.trees.gradient_grower import GradientTreeGrower, GrowthRules
from surefoot.trees.row_blocks import BlockRows
from surefoot.trees.vector_forest import ForestBuilder, VectorForest, add_symmetric, add_trees

seeds = st.integers(0, 10_000)


def random_forest(seed, depth, n_columns, *, symmetric, n_sets=0, n_outputs=2, n_trees=3):
    """A forest with random splits and limits."""
    rng = np.random.default_rng(seed)
    shape = (n_trees, 2**depth - 1)
    features = rng.integers(-1, n_columns, size=shape).astype(np.int32)
    shifts, limits = (rng.integers(0, 256, size=shape).astype(np.uint8) for _ in range(2))
    sets = rng.integers(-1, n_sets, size=shape).astype(np.int32) if n_sets else np.full(shape, -1, dtype=np.int32)
    if symmetric:
        level = np.floor(np.log2(np.arange(1, 2**depth))).astype(int)
        features, shifts, limits, sets = (part[:, 2**level - 1] for part in (features, shifts, limits, sets))
    unsplit = features < 0
    shifts[unsplit], limits[unsplit], sets[unsplit] = 0, 255, -1
    tables = rng.integers(0, 2, size=(n_sets, 256)).astype(np.uint8)
    gains = rng.random(shape).astype(np.float32)
    leaves = rng.normal(size=(n_trees, 2**depth, n_outputs))
    covers = np.ones((n_trees, 2**depth), dtype=np.float32)
    return VectorForest(symmetric, features, shifts, limits, sets, tables, gains, covers, leaves)


def walked(forest, codes, start, stop, raw):
    for i in range(codes.shape[1]):
        for tree in range(start, stop):
            raw[:, i] += forest.leaves[tree, naive.walk_forest(forest, tree, codes[:, i])]
    return raw


@settings(deadline=None, max_examples=60)
@given(seed=seeds, depth=st.integers(1, 6), symmetric=st.booleans(), n_sets=st.sampled_from([0, 3]))
def test_a_forest_adds_the_leaves_of_a_plain_walk(seed, depth, symmetric, n_sets):
    rng = np.random.default_rng(seed)
    forest = random_forest(seed, depth, 3, symmetric=symmetric, n_sets=n_sets)
    codes = rng.integers(0, 256, size=(3, 40)).astype(np.uint8)
    raw = rng.normal(size=(2, 40))
    expected = walked(forest, codes, 1, 3, raw.copy())
    forest.add(codes, 1, 3, raw)
    np.testing.assert_array_equal(raw, expected)


@settings(deadline=None, max_examples=40)
@given(seed=seeds, depth=st.integers(1, 10), n_outputs=st.integers(1, 3))
def test_the_fast_walk_of_symmetric_trees_is_the_general_one(seed, depth, n_outputs):
    forest = random_forest(seed, depth, 4, symmetric=True, n_outputs=n_outputs)
    codes = np.random.default_rng(seed).integers(0, 256, size=(4, 50)).astype(np.uint8)
    fast, general = np.zeros((n_outputs, 50)), np.zeros((n_outputs, 50))
    add_symmetric(codes, forest.features, forest.shifts, forest.limits, forest.leaves, 0, 3, fast)
    add_trees(
        codes, forest.features, forest.shifts, forest.limits, forest.sets, forest.tables, forest.leaves, 0, 3, general
    )
    np.testing.assert_array_equal(fast, general)
    np.testing.assert_array_equal(fast, walked(forest, codes, 0, 3, np.zeros((n_outputs, 50))))


def grown(seed, symmetric, categorical=(), depth=4, n_trees=4, n_codes=(256, 2, 6, 9), missing=(0.0, 0.3)):
    """Trees grown on a table with missing values in some columns, and a builder with these trees."""
    rng = np.random.default_rng(seed)
    table = naive.draw_table(seed, 60, n_codes, n_scores=2, missing=missing[seed % 2], categorical=categorical)
    grower = GradientTreeGrower(table.words(), 2, GrowthRules(depth, symmetric, 3, 1.0), None, RowThreads(1))
    builder = ForestBuilder(table.n_codes, table.is_categorical)
    trees, leaves = [], []
    for key in range(n_trees):
        table.scores[:] = rng.integers(-9, 10, size=table.scores.shape) if key else 0  # the first tree has no splits
        trees.append(deepcopy(grower.grow(table.scores, BlockRows.of(np.arange(60), 60), np.uint64(key))))
        leaves.append(rng.normal(size=(2**depth, 2)))
        builder.add(trees[-1], leaves[-1], np.bincount(trees[-1].leaves, minlength=2**depth).astype(float))
    return table, trees, leaves, builder


def any_codes(table, n_rows=80):
    """Any codes, also some that no training row has, and missing values."""
    rng = np.random.default_rng(0)
    return np.array([rng.integers(0, n, size=n_rows) for n in table.n_codes]).astype(np.uint8)


@settings(deadline=None, max_examples=30)
@given(seed=seeds, symmetric=st.booleans(), categorical=st.sampled_from([(), (2, 3)]))
def test_a_built_forest_predicts_the_leaves_of_the_grown_trees(seed, symmetric, categorical):
    table, trees, leaves, builder = grown(seed, symmetric, categorical)
    forest = builder.forest(len(builder))
    assert (forest.n_trees, forest.depth, forest.n_outputs) == (4, 4, 2)
    assert (trees[0].features == -1).all()
    codes = any_codes(table)
    raw, expected = np.zeros((2, 80)), np.zeros((2, 80))
    forest.add(codes, 0, 4, raw)
    for i in range(80):
        for tree, values in zip(trees, leaves, strict=True):
            expected[:, i] += values[naive.leaf_of(tree, codes[:, i], table.n_codes, table.is_categorical)]
    np.testing.assert_array_equal(raw, expected)


def test_missing_values_go_to_both_sides_in_these_tests():
    directions = set()
    for seed in range(1, 9, 2):
        for tree in grown(seed, False)[1]:
            directions |= set(tree.missing_left[tree.features >= 0].tolist())
    assert directions == {True, False}


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_forest_of_the_first_trees(symmetric):
    table, _, _, builder = grown(3, symmetric, (2,))
    forest = builder.forest(4)
    codes = any_codes(table)
    expected = np.zeros((2, 80))
    forest.add(codes, 0, 2, expected)
    for fewer in (forest.first(2), builder.forest(2)):
        assert fewer.n_trees == 2
        raw = np.zeros((2, 80))
        fewer.add(codes, 0, 2, raw)
        np.testing.assert_array_equal(raw, expected)
    assert forest.n_trees == 4


def test_a_forest_without_trees_adds_nothing():
    """This happens if held-out rows are most likely under the starting value."""
    table, _, _, builder = grown(3, True)
    raw = np.ones((2, 80))
    for forest in (builder.forest(4).first(0), builder.forest(0)):
        forest.add(any_codes(table), 0, 0, raw)
        assert forest.n_trees == 0
        assert (raw == 1.0).all()
        assert (forest.feature_importances(4) == 0.0).all()


@pytest.mark.parametrize("symmetric", [True, False])
def test_importances_are_fractions_of_the_gains(symmetric):
    _, trees, _, builder = grown(5, symmetric, (3,))
    importances = builder.forest(4).feature_importances(4)
    expected = np.zeros(4)
    for tree in trees:
        for feature, gain in zip(tree.features, tree.gains, strict=True):
            if feature >= 0:
                expected[feature] += gain
    assert importances.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(importances, expected / expected.sum(), rtol=1e-5)


def test_importances_of_trees_without_splits_are_zero():
    _, _, _, builder = grown(5, True)
    assert builder.forest(1).feature_importances(4).tolist() == [0.0] * 4
