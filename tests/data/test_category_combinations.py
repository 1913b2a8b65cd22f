"""Combinations of categorical columns that explain the residuals of a model."""

import numpy as np
import pytest
from reference.category_statistics import in_order, kind_of, make_table

from surefoot._random import random_permutation, stream_key
from surefoot.data.category_combinations import STRENGTH, informative_combinations
from surefoot.data.category_statistics import CategoryStatistics

KEY = stream_key(3)


def pairs_with_first(n_columns):
    return [(0, j) for j in range(1, n_columns)]


def triple_table(n_rows=6000, seed=0):
    """Four columns; three of them together explain the residuals, and no two of them do."""
    codes, noise, weights, train = make_table(n_rows, 6, 4, seed)
    sign = 1.0 - 2.0 * ((codes[0] + codes[1] + codes[3]) % 2)
    return codes, sign[np.newaxis] + noise, weights, train


@pytest.mark.parametrize("seed", range(3))
def test_three_columns_that_explain_the_residuals_are_combined(seed):
    codes, residuals, weights, _ = triple_table(seed=seed)
    assert informative_combinations(codes, pairs_with_first(4), residuals, weights) == [(0, 1, 3)]


@pytest.mark.parametrize("seed", range(5))
def test_uninformative_columns_are_not_combined(seed):
    codes, residuals, weights, _ = make_table(3000, 12, 6, seed)
    assert informative_combinations(codes, pairs_with_first(6), residuals, weights) == []


def test_the_explained_part_is_subtracted_before_the_next_combination():
    codes, residuals, weights, _ = triple_table(12_000)
    residuals = residuals + 2.0 * (1.0 - 2.0 * ((codes[0] + codes[2]) % 2))
    first, second = informative_combinations(codes, pairs_with_first(4), residuals, weights)[:2]
    assert set(first) >= {0, 2}
    assert second == (0, 1, 3)


def test_no_columns_or_zero_residuals_give_no_combinations():
    codes, residuals, weights, _ = triple_table(200)
    assert informative_combinations(codes, [], residuals, weights) == []
    assert informative_combinations(codes, pairs_with_first(4), 0.0 * residuals, weights) == []


def test_columns_with_keys_that_would_overflow_are_not_combined():
    codes, residuals, weights, _ = triple_table(200)
    codes[:, 0] = 2**31 - 3
    assert informative_combinations(codes, pairs_with_first(4), residuals, weights) == []


def test_statistics_of_combinations_against_plain_loops():
    codes, residuals, weights, train = triple_table(3000)
    codes[1, ::9] = -1
    residuals = np.concatenate([residuals, -2.0 * residuals])
    weights[::7] = 2.0
    order = train[random_permutation(KEY, 3000)][:2900]
    combinations = informative_combinations(codes[:, order], pairs_with_first(4), residuals[:, order], weights[order])
    assert combinations == [(0, 1, 3)]
    fitted, values = CategoryStatistics.of_combinations(combinations, codes, residuals, weights, order, STRENGTH)
    assert fitted.sources == ((0, 1, 3), (0, 1, 3))
    kinds = [kind_of(codes, (0, 1, 3), i) for i in range(3000)]
    expected, totals = in_order(
        [kinds[i] for i in order], residuals[:, order].tolist(), weights[order].tolist(), np.zeros((2, 2900)).tolist(),
        STRENGTH,
    )  # fmt: skip
    np.testing.assert_allclose(values[:, order], expected, rtol=1e-10, atol=1e-12)
    full = [[totals[kind][0][k] / (totals[kind][1] + STRENGTH) for kind in kinds] for k in range(2)]
    np.testing.assert_allclose(fitted.transform(codes), full, rtol=1e-10, atol=1e-12)
    others = np.setdiff1d(train, order)
    np.testing.assert_array_equal(values[:, others], fitted.transform(codes)[:, others])
    unknown = np.array([[9], [9], [0], [9]], dtype=np.int32)
    assert fitted.transform(unknown).tolist() == [[0.0], [0.0]]
