"""The split search for any number of classes against every possible split."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import boosting as naive

from surefoot._parallel import RowThreads
from surefoot.boosting.stump_boosting import whole_weights
from surefoot.data import BinnedTable, Columns, Schema
from surefoot.trees import TreeGrower, classification_grower
from surefoot.trees.split_kernels import ERROR, GINI, GrownTree, predict_rows

DROPS = {GINI: naive.gini_drop, ERROR: naive.error_drop}


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), n_rows=st.integers(6, 40), criterion=st.sampled_from([GINI, ERROR]))
def test_the_split_of_two_classes_is_the_best_of_all(seed, n_rows, criterion):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(n_rows, 3)).astype(float)
    X[rng.random(X.shape) < 0.15] = np.nan
    y = rng.integers(0, 2, size=n_rows).astype(np.int32)
    y[:2] = [0, 1]
    whole, scale = whole_weights(rng.gamma(1.0, size=n_rows))
    schema = Schema(3, {2: tuple("abcde")})
    table = BinnedTable.from_columns(Columns([X[:, 0], X[:, 1], X[:, 2]], schema, n_rows))
    grower = TreeGrower(table, y, 2, 0, 1, criterion, RowThreads(1))
    tree = grower.grow(np.arange(n_rows, dtype=np.int32), whole)
    right = np.zeros(n_rows, dtype=bool)
    right[tree.rows[tree.leaf_ends[0] :]] = True
    drop = DROPS[criterion]
    weights = whole * scale
    best = max((gain for gain, _, _ in naive.every_split(X, y, weights, drop, categorical=(2,))), default=-1.0)
    if best < 0:
        assert tree.features[0] == -1
        return
    chosen = drop(naive.class_weights(y, weights, ~right), naive.class_weights(y, weights, right))
    assert chosen == pytest.approx(best, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("criterion", [GINI, ERROR])
@pytest.mark.parametrize("depth", [1, 4])
@pytest.mark.parametrize("min_rows", [1, 500, 10**6])
def test_any_number_of_threads_grows_the_same_tree(depth, criterion, min_rows, monkeypatch):
    """One thread grows the tree in one call; several node by node, in large nodes eight columns at a time."""
    monkeypatch.setattr(classification_grower, "MIN_ROWS_OF_WORDS", min_rows)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 9))
    X[rng.random(X.shape) < 0.1] = np.nan
    categories = rng.integers(0, 80, 3000).astype(float)
    categories[rng.random(3000) < 0.05] = np.nan
    y = (rng.integers(0, 3, size=3000) * (np.nan_to_num(categories) % 3 < 2)).astype(np.int32)
    whole, _ = whole_weights(rng.gamma(1.0, size=2990))
    schema = Schema(10, {9: tuple(map(str, range(80)))})
    table = BinnedTable.from_columns(Columns([*X.T.copy(), categories], schema, 3000))
    trees = []
    for n_threads in (1, 2, 3):
        with RowThreads(n_threads) as threads:
            grower = TreeGrower(table, y, 3, 10, depth, criterion, threads)
            trees.append(grower.grow(np.arange(10, 3000, dtype=np.int32), whole))
    assert trees[0].sets.any()
    for tree in trees[1:]:
        for mine, theirs in zip(trees[0], tree, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_rows_get_the_labels_of_their_leaves():
    rows = np.array([7, 5, 9, 6], dtype=np.int32)
    empty = np.empty(0)
    tree = GrownTree(*[empty] * 6, np.array([2, 0, 1]), rows, np.array([1, 1, 4]))
    labels = np.full(6, -1, dtype=np.int32)
    predict_rows(tree, 5, labels)
    assert labels.tolist() == [1, 1, 2, -1, 1, -1]
