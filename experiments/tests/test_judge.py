"""Verdicts over seeds against tests of scipy."""

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp

from surefoot_experiments.skeleton import judge as verdict


@pytest.mark.parametrize("seed", range(30))
def test_a_mean_is_above_a_threshold_if_a_t_test_agrees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(0.4, 1.0, size=int(rng.integers(5, 30)))
    low, high = ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert verdict.is_above(values) == (True if low > 0 else False if high < 0 else None)
    assert verdict.is_at_least(-values) == (False if low > 0 else True if high < 0 else None)
    shifted = values - values.mean() + 0.1
    expected = True if high - low < 1.0 else None  # half of it, and 0.1, within 0.6
    assert verdict.is_within(shifted, 0.0, 0.6) == expected
    assert verdict.is_within(shifted + 100, 0.0, 0.6) is False


def test_fewer_than_five_values_are_inconclusive() -> None:
    for judge in (verdict.is_above, verdict.is_at_least):
        assert judge([1.0] * 4) is None
        assert judge([1.0] * 5) is True
        assert judge([-1.0] * 5) is False
    assert verdict.is_above([0.0] * 5) is False
    assert verdict.is_at_least([0.0] * 5) is True
    assert verdict.is_unanimous([True] * 4) is None
    assert verdict.is_majority(4, 4) is None


def test_seeds_must_be_unanimous() -> None:
    assert verdict.is_unanimous([True] * 5) is True
    assert verdict.is_unanimous([False] * 5) is False
    assert verdict.is_unanimous([True] * 4 + [False]) is None


@pytest.mark.parametrize("count", range(21))
def test_a_majority_is_more_than_half_by_a_binomial_test(count: int) -> None:
    p = binomtest(count, 20, 0.5).pvalue
    expected = None if p > 0.05 else count > 10
    assert verdict.is_majority(count, 20) == expected


def test_several_statements() -> None:
    assert verdict.all_of([True, True]) is True
    assert verdict.all_of([True, None]) is None
    assert verdict.all_of([True, None, False]) is False
    assert verdict.all_of([]) is None


def test_a_spread_as_text() -> None:
    assert verdict.spread([0.1, 0.2, 0.6]) == "0.300 (0.100 to 0.600)"
