"""The choice of pairs: interactions are found, sums of columns are not taken for them."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from surefoot._random import stream_key
from surefoot.data import category_pairs
from surefoot.data.category_pairs import _gain, choose_pairs

KEY = stream_key(5)


def make_codes(n_columns=4, n_rows=3000, seed=0):
    return np.random.default_rng(seed).integers(0, 5, size=(n_columns, n_rows)).astype(np.int32)


def test_few_pairs_are_all_kept():
    codes = make_codes()
    pairs = choose_pairs(codes, np.zeros((1, 3000)), None, KEY)
    assert pairs.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]


def test_one_column_has_no_pairs():
    assert choose_pairs(make_codes(1), np.zeros((1, 3000)), None, KEY, most=1).shape == (0, 2)


def test_an_interaction_is_found_among_stronger_columns():
    codes = make_codes()
    noise = np.random.default_rng(1).normal(size=3000)
    target = 3.0 * codes[0] + 2.0 * codes[1] + 2.0 * ((codes[2] + codes[3]) % 2) + noise
    target = (target - target.mean()) / target.std()
    assert choose_pairs(codes, target[np.newaxis], None, KEY, most=1).tolist() == [[2, 3]]


def test_rows_without_weight_have_no_say():
    codes = make_codes()
    target = np.where(np.arange(3000) < 1500, codes[0] == codes[1], codes[2] == codes[3]).astype(float)[np.newaxis]
    weights = (np.arange(3000) < 1500).astype(float)
    assert choose_pairs(codes, target, weights, KEY, most=1).tolist() == [[0, 1]]
    assert choose_pairs(codes, target, 1.0 - weights, KEY, most=1).tolist() == [[2, 3]]


def test_gains_of_all_targets_count():
    codes = make_codes()
    targets = np.stack([codes[0] == codes[1], codes[2] == codes[3]]).astype(float)
    assert choose_pairs(codes, targets, None, KEY, most=2).tolist() == [[0, 1], [2, 3]]


def test_a_sample_of_the_rows_is_enough(monkeypatch):
    monkeypatch.setattr(category_pairs, "SCREEN_ROWS", 1000)
    codes = make_codes(n_rows=20_000)
    target = (codes[1] == codes[3]).astype(float)[np.newaxis]
    assert choose_pairs(codes, target, None, KEY, most=1).tolist() == [[1, 3]]


def test_a_constant_target_is_no_error():
    assert len(choose_pairs(make_codes(), np.ones((1, 3000)), None, KEY, most=2)) == 2


@pytest.mark.parametrize("seed", range(3))
def test_the_gain_against_scikit_learn(seed):
    generator = np.random.default_rng(seed)
    columns = generator.normal(size=(3, 200))
    target = columns.sum(axis=0) + generator.normal(size=200)
    weights = generator.integers(0, 3, size=200).astype(float)

    def fit(n):
        model = LinearRegression().fit(columns[:n].T, target, weights)
        return model.score(columns[:n].T, target, weights)

    assert _gain(*columns, target, weights) == pytest.approx(fit(3) - fit(2), rel=1e-9)
