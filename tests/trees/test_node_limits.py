"""Limits of columns: every split is the best of the columns that its node may use, and of these only."""

from copy import deepcopy
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import gradient_trees as naive
from scipy.stats import chisquare
from trees.test_gradient_grower import Audit

from surefoot._parallel import RowThreads
from surefoot._random import stream_key
from surefoot.trees.gradient_grower import GradientTreeGrower
from surefoot.trees.growth_rules import GrowthRules
from surefoot.trees.node_limits import NodeLimits
from surefoot.trees.row_blocks import BlockRows

KEY = np.uint64(7)
GROUPS = {
    "none": 1,
    "pairs": 2,
    "groups": ((0, 1), (2, 3)),
    "overlapping": ((0, 1, 2), (1, 3)),
    "one group of few": ((0, 2), (1,), (3,)),
}


def make_grower(table, rules, n_threads=1):
    return GradientTreeGrower(table.words(), len(table.scores), rules, table.weights, RowThreads(n_threads))


def tree_of(grower, table, key=KEY):
    n_rows = table.codes.shape[1]
    grower.begin_tree(key)
    return deepcopy(grower.grow(table.scores, BlockRows.of(np.arange(n_rows), n_rows), KEY))


def may_follow(column, used, groups):
    """By the definition: the columns of the path are in one group."""
    path = used | {column}
    return len(path) <= groups if isinstance(groups, int) else any(path <= set(group) for group in groups)


@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 10_000),
    symmetric=st.booleans(),
    missing=st.sampled_from([0.0, 0.2]),
    groups=st.sampled_from(sorted(GROUPS)),
    many_codes=st.booleans(),
)
def test_every_split_is_the_best_of_the_allowed_columns(seed, symmetric, missing, groups, many_codes):
    """With many codes, symmetric trees read sorted rows."""
    table = naive.draw_table(seed, 40, [120, 90, 20, 60] if many_codes else [7, 30, 2, 5], missing=missing)
    rules = GrowthRules(4, symmetric, 1, 1.0, interactions=GROUPS[groups])

    def allowed(used):
        return [column for column in range(4) if may_follow(column, used, GROUPS[groups])]

    grower = make_grower(table, rules)
    for _ in range(2):  # nothing is left over from the first tree
        Audit(table, tree_of(grower, table), rules, weights=table.weights, allowed=allowed).run()


@settings(deadline=None, max_examples=8)
@given(seed=st.integers(0, 10_000), symmetric=st.booleans(), many_codes=st.booleans())
def test_every_split_is_the_best_of_the_drawn_columns(seed, symmetric, many_codes):
    table = naive.draw_table(seed, 40, [120, 90, 20, 60] if many_codes else [7, 30, 2, 5], n_scores=2)
    rules = GrowthRules(3, symmetric, 1, 1.0, max_features=0.5)
    grower, used = make_grower(table, rules), set()
    for number in range(4):
        tree = tree_of(grower, table, stream_key(seed, number))
        drawn = np.flatnonzero(grower._limits.allowed[0]).tolist()
        assert len(drawn) == 2
        Audit(table, tree, rules, weights=table.weights, allowed=lambda _, drawn=drawn: drawn).run()
        used |= set(drawn)
    assert len(used) > 1


@pytest.mark.parametrize(("fraction", "n_drawn"), [(1e-9, 1), (0.2, 1), (0.5, 3), (0.7, 4), (0.99, 6)])
def test_number_of_drawn_columns(fraction, n_drawn):
    limits = NodeLimits(GrowthRules(max_features=fraction), 6)
    limits.begin_tree(KEY)
    assert limits.allowed.sum() == n_drawn


def test_all_sets_of_columns_are_drawn_equally_often():
    limits, seen = NodeLimits(GrowthRules(max_features=0.4), 5), []
    for number in range(2000):
        limits.begin_tree(stream_key(3, number))
        seen.append(tuple(np.flatnonzero(limits.allowed[0])))
    counts = [seen.count(pair) for pair in combinations(range(5), 2)]
    assert sum(counts) == 2000
    assert chisquare(counts).pvalue > 0.001


@settings(deadline=None, max_examples=60)
@given(
    used=st.frozensets(st.integers(0, 4), max_size=3),
    groups=st.one_of(st.integers(1, 3), st.lists(st.frozensets(st.integers(0, 4), min_size=1), min_size=1, max_size=4)),
)
def test_a_column_made_from_others_counts_as_all_of_them(used, groups):
    sources = ((0,), (1,), (2,), (3,), (4,), (0, 1), (2, 3), (0, 2, 4))
    rules = GrowthRules(interactions=groups if isinstance(groups, int) else tuple(groups), sources=sources)
    limits = NodeLimits(rules, len(sources))
    for column, source in enumerate(sources):
        path = used | set(source)
        expected = len(path) <= groups if isinstance(groups, int) else any(path <= group for group in groups)
        assert limits._mask(used)[column] == expected


def test_a_column_made_from_others_is_drawn_with_all_of_them():
    sources = ((0,), (1,), (2,), (3,), (0, 1), (2, 3))
    limits = NodeLimits(GrowthRules(max_features=0.5, sources=sources), len(sources))
    pairs = set()
    for number in range(60):
        limits.begin_tree(stream_key(0, number))
        drawn = set(np.flatnonzero(limits.allowed[0, :4]).tolist())
        assert len(drawn) == 2
        assert limits.allowed[0, 4:].tolist() == [drawn == {0, 1}, drawn == {2, 3}]
        pairs.add(frozenset(drawn))
    assert len(pairs) == 6


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("limits", [{"interactions": ((0, 1), (2, 3))}, {"max_features": 0.5}])
def test_any_number_of_threads_grows_the_same_tree(symmetric, limits):
    table = naive.draw_table(1, 300, [30, 9, 30, 20], n_scores=2, missing=0.1)
    rules = GrowthRules(4, symmetric, 3, 1.0, **limits)
    one = tree_of(make_grower(table, rules), table)
    for n_threads in (2, 3):
        other = tree_of(make_grower(table, rules, n_threads), table)
        for name in ("features", "codes", "missing_left", "gains", "leaves"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_masks_are_forgotten_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr("surefoot.trees.node_limits.MAX_MASKS", 3)
    limits = NodeLimits(GrowthRules(interactions=2), 6)
    for pair in combinations(range(6), 2):
        assert set(np.flatnonzero(limits._mask(frozenset(pair)))) == set(pair)
        assert len(limits._masks) <= 3
