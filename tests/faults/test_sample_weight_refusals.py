"""Weights that cannot be meant are refused by name."""

import numpy as np
import pytest
from reference.models import BOOSTERS, assert_identical_models, small_booster, two_classes

X, y = two_classes()
ONES = np.ones(len(X))

BAD = {
    "too short": ONES[:-1],
    "too long": np.ones(len(X) + 1),
    "two-dimensional": np.ones((len(X), 1)),
    "negative": np.where(np.arange(len(X)) == 3, -1.0, 1.0),
    "NaN": np.where(np.arange(len(X)) == 3, np.nan, 1.0),
    "infinite": np.where(np.arange(len(X)) == 3, np.inf, 1.0),
    "all zero": 0 * ONES,
    "words": np.full(len(X), "heavy"),
    "negative scalar": -1.0,
}


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("name", BAD)
def test_bad_weights_are_refused_by_name(booster, name):
    with pytest.raises(ValueError, match=r"sample_weight|sample weight|heavy"):
        small_booster(booster).fit(X, y, sample_weight=BAD[name])


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("weights", [ONES, ONES.tolist(), np.ones(len(X), dtype=int), 1.0, ONES.astype(bool)])
def test_weights_of_one_are_no_weights(booster, weights):
    plain = small_booster(booster).fit(X, y)
    assert_identical_models(small_booster(booster).fit(X, y, sample_weight=weights), plain)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_class_weights_multiply_sample_weights(booster):
    weights = np.random.default_rng(0).random(len(X))
    by_class = small_booster(booster, class_weight={0: 1.0, 1: 4.0}).fit(X, y, sample_weight=weights)
    by_row = small_booster(booster).fit(X, y, sample_weight=weights * np.where(y == 1, 4.0, 1.0))
    assert_identical_models(by_class, by_row)
