"""Combinations of categorical columns that tell what a model has left of its target."""

import numpy as np
import pytest
from reference.category_statistics import in_order, kind_of, make_table

from surefoot._random import random_permutation, stream_key
from surefoot.data.category_combinations import STRENGTH, telling_combinations
from surefoot.data.category_statistics import CategoryStatistics

KEY = stream_key(3)


def pairs_with_first(n_columns):
    return [(0, j) for j in range(1, n_columns)]


def triple_table(n_rows=6000, seed=0):
    """Four columns; three of them together tell what is left, and no two of them do."""
    codes, noise, weights, train = make_table(n_rows, 6, 4, seed)
    sign = 1.0 - 2.0 * ((codes[0] + codes[1] + codes[3]) % 2)
    return codes, sign[np.newaxis] + noise, weights, train


@pytest.mark.parametrize("seed", range(3))
def test_three_columns_that_tell_what_is_left_are_combined(seed):
    codes, left, weights, _ = triple_table(seed=seed)
    assert telling_combinations(codes, pairs_with_first(4), left, weights) == [(0, 1, 3)]


@pytest.mark.parametrize("seed", range(5))
def test_columns_that_tell_nothing_are_not_combined(seed):
    codes, left, weights, _ = make_table(3000, 12, 6, seed)
    assert telling_combinations(codes, pairs_with_first(6), left, weights) == []


def test_what_a_combination_explains_is_taken_away_before_the_next():
    codes, left, weights, _ = triple_table(12_000)
    left = left + 2.0 * (1.0 - 2.0 * ((codes[0] + codes[2]) % 2))
    first, second = telling_combinations(codes, pairs_with_first(4), left, weights)[:2]
    assert set(first) >= {0, 2}
    assert second == (0, 1, 3)


def test_no_columns_and_nothing_left_have_no_combinations():
    codes, left, weights, _ = triple_table(200)
    assert telling_combinations(codes, [], left, weights) == []
    assert telling_combinations(codes, pairs_with_first(4), 0.0 * left, weights) == []


def test_columns_whose_keys_would_overflow_are_not_combined():
    codes, left, weights, _ = triple_table(200)
    codes[:, 0] = 2**31 - 3
    assert telling_combinations(codes, pairs_with_first(4), left, weights) == []


def test_statistics_of_combinations_against_plain_loops():
    codes, left, weights, train = triple_table(3000)
    codes[1, ::9] = -1
    left = np.concatenate([left, -2.0 * left])
    weights[::7] = 2.0
    order = train[random_permutation(KEY, 3000)][:2900]
    found = telling_combinations(codes[:, order], pairs_with_first(4), left[:, order], weights[order])
    assert found == [(0, 1, 3)]
    fitted, values = CategoryStatistics.of_combinations(found, codes, left, weights, order, STRENGTH)
    assert fitted.sources == ((0, 1, 3), (0, 1, 3))
    kinds = [kind_of(codes, (0, 1, 3), i) for i in range(3000)]
    expected, seen = in_order(
        [kinds[i] for i in order], left[:, order].tolist(), weights[order].tolist(), np.zeros((2, 2900)).tolist(),
        STRENGTH,
    )  # fmt: skip
    np.testing.assert_allclose(values[:, order], expected, rtol=1e-10, atol=1e-12)
    full = [[seen[kind][0][k] / (seen[kind][1] + STRENGTH) for kind in kinds] for k in range(2)]
    np.testing.assert_allclose(fitted.transform(codes), full, rtol=1e-10, atol=1e-12)
    others = np.setdiff1d(train, order)
    np.testing.assert_array_equal(values[:, others], fitted.transform(codes)[:, others])
    unseen = np.array([[9], [9], [0], [9]], dtype=np.int32)
    assert fitted.transform(unseen).tolist() == [[0.0], [0.0]]
