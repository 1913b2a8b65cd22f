"""Leafwise trees: those that a grower of one leaf after the other would grow."""

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import gradient_trees as naive
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from surefoot._parallel import RowThreads
from surefoot.trees import gradient_grower
from surefoot.trees.gradient_grower import GradientTreeGrower
from surefoot.trees.growth_rules import GrowthRules
from surefoot.trees.row_blocks import BlockRows

KEY = np.uint64(7)
SPLITS = ("features", "codes", "missing_left", "gains", "tables", "kept", "leaves")


def grow(table, rules, *, n_threads=1, noise=0.0):
    n_rows = table.codes.shape[1]
    with RowThreads(n_threads) as threads:
        grower = GradientTreeGrower(table.words(), len(table.scores), rules, table.weights, threads)
        return deepcopy(grower.grow(table.scores, BlockRows.of(np.arange(n_rows), n_rows), KEY, noise))


def rows_of_leaves(leaves):
    """The rows of each leaf that has some."""
    return sorted(np.flatnonzero(leaves == leaf).tolist() for leaf in np.unique(leaves))


def assert_same_trees(one, other):
    for name in SPLITS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 10_000),
    n_scores=st.integers(1, 2),
    categorical=st.booleans(),
    max_leaf_nodes=st.integers(2, 9),
    depth=st.integers(1, 4),
    min_rows=st.sampled_from([1, 3]),
    l2=st.sampled_from([0.5, 3.0]),
)
def test_splits_are_those_of_one_leaf_after_the_other(
    seed, n_scores, categorical, max_leaf_nodes, depth, min_rows, l2
):  # fmt: skip
    drawn = {"missing": 0.2, "categorical": (1,) if categorical else (), "largest": 10**6, "heaviest": 2}
    table = naive.draw_table(seed, 40, [7, 5, 30], n_scores=n_scores, **drawn)
    rules = GrowthRules(depth, False, min_rows, l2, max_leaf_nodes=max_leaf_nodes)
    tree, has_missing = grow(table, rules), table.words().has_missing
    assert rows_of_leaves(tree.leaves) == naive.best_first_leaves(
        table, max_leaf_nodes, depth, l2, min_rows, has_missing
    )
    for row in range(40):  # new rows go where training rows have gone
        assert naive.leaf_of(tree, table.codes[:, row], table.n_codes, table.is_categorical) == tree.leaves[row]


@pytest.mark.parametrize("max_leaf_nodes", [2, 5, 16, 40])
@pytest.mark.parametrize("noise", [0.0, 2.0])
@pytest.mark.parametrize("levels_in_a_call", ["one", "all"])
def test_nodes_that_cannot_be_split_are_left_out_of_searches_without_effect(
    monkeypatch, max_leaf_nodes, noise, levels_in_a_call
):
    """The same tree as if all levels had been grown first."""
    if levels_in_a_call == "one":
        monkeypatch.setattr(gradient_grower, "CELLS_AT_ONCE", 0)
    table = naive.draw_table(3, 600, [60, 9, 30, 200], n_scores=2, missing=0.1, categorical=(1,), largest=1000)
    whole = grow(table, GrowthRules(6, False, 2, 1.0), noise=noise)
    whole.move_rows(whole.keep_best_splits(max_leaf_nodes))
    rules = GrowthRules(6, False, 2, 1.0, max_leaf_nodes=max_leaf_nodes)
    tree = grow(table, rules, noise=noise)
    assert (tree.features >= 0).sum() == max_leaf_nodes - 1
    assert_same_trees(tree, whole)
    for n_threads in (2, 3):
        assert_same_trees(grow(table, rules, n_threads=n_threads, noise=noise), tree)


@pytest.mark.parametrize("max_leaf_nodes", [2, 6, 14])
@pytest.mark.parametrize("interaction_cst", [None, "no_interactions", "pairwise", [{0, 1}, {1, 2, 3}]])
def test_the_same_leaves_as_scikit_learn(max_leaf_nodes, interaction_cst):
    """The trees of its squared error have the same gains."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, size=(700, 5)).astype(np.float64)
    y = X[:, 0] * X[:, 1] / 10 + np.sin(X[:, 2]) * X[:, 3] / 4 + X[:, 4] + rng.normal(size=700)
    settings = {"max_depth": 6, "max_iter": 1, "learning_rate": 1.0, "min_samples_leaf": 5, "early_stopping": False}
    with threadpool_limits(1):
        peer = HistGradientBoostingRegressor(
            max_leaf_nodes=max_leaf_nodes, interaction_cst=interaction_cst, **settings
        ).fit(X, y)
        theirs = np.unique(peer.predict(X), return_inverse=True)[1]
    names = {"no_interactions": 1, "pairwise": 2, None: None}
    limits = names[interaction_cst] if not isinstance(interaction_cst, list) else ((0, 1), (1, 2, 3), (4,))
    rules = GrowthRules(6, False, 5, 0.0, max_leaf_nodes=max_leaf_nodes, interactions=limits)
    codes = X.T.astype(np.uint8)
    table = naive.CodedTable(codes, np.full(5, 41), (y - y.mean())[np.newaxis], np.zeros(5, dtype=bool), np.ones(700))
    assert rows_of_leaves(grow(table, rules).leaves) == rows_of_leaves(theirs)
