"""The votes of trees against a walk down each tree in plain Python."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.trees import VotingForest


def goes_right(forest, tree, node, value):
    if np.isnan(value):
        return bool(forest.missing_right[tree, node])
    if np.isnan(forest.thresholds[tree, node]):
        words = forest.sets[tree, node]
        return bool(int(words[int(value) // 64]) >> (int(value) % 64) & 1)
    return value > forest.thresholds[tree, node]


def walk(forest, tree, row):
    node = 0
    while node < forest.features.shape[1]:
        feature = forest.features[tree, node]
        node = 2 * node + 1 + (feature >= 0 and goes_right(forest, tree, node, row[feature]))
    return forest.labels[tree, node - forest.features.shape[1]]


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10_000), depth=st.integers(1, 4), n_classes=st.integers(2, 4))
def test_votes_are_those_of_a_plain_walk(seed, depth, n_classes):
    rng = np.random.default_rng(seed)
    shape = (5, 2**depth - 1)
    features = rng.integers(-1, 3, size=shape).astype(np.int32)
    thresholds = np.where(features == 2, np.nan, rng.choice([-0.5, 0.0, 0.5, np.inf], size=shape))
    sets = rng.integers(0, 2**63, size=(*shape, 4)).astype(np.uint64) * np.uint64(2) + np.uint64(1)
    labels = rng.integers(0, n_classes, size=(5, 2**depth)).astype(np.int32)
    forest = VotingForest(features, thresholds, rng.random(shape) < 0.5, sets, np.zeros(shape), labels)
    rows = np.column_stack([rng.choice([-1.0, -0.5, 0.2, np.nan, 9.0], size=(40, 2)), rng.integers(0, 255, size=40)])
    rows[::7, 2] = np.nan
    vote_weights = rng.gamma(1.0, size=5)
    expected = np.zeros((40, n_classes))
    for i, row in enumerate(rows):
        for tree in range(5):
            expected[i, walk(forest, tree, row)] += vote_weights[tree]
    votes = np.zeros((40, n_classes))
    forest.add_votes(np.ascontiguousarray(rows.T), vote_weights, votes)
    np.testing.assert_allclose(votes, expected)
