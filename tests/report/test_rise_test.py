"""The permutation test of a rise of a mean: against scipy, and its false alarms."""

import numpy as np
import pytest
from scipy.stats import permutation_test, ttest_ind

from surefoot.report.statistics.rise_test import rise_p_value


def welch(new, others, axis):
    return ttest_ind(new, others, equal_var=False, axis=axis).statistic


def test_small_samples_against_scipy():
    generator = np.random.default_rng(0)
    for moved in (0.0, 0.8, 1.5):
        new, others = generator.gamma(2, size=7) + moved, generator.gamma(2, size=9)
        exact = permutation_test((new, others), welch, alternative="greater", n_resamples=np.inf, vectorized=True)
        assert rise_p_value(others, new) == pytest.approx(exact.pvalue, abs=0.05 if exact.pvalue > 0.1 else 0.01)


def test_large_samples_against_welch():
    generator = np.random.default_rng(1)
    for moved in (-0.3, 0.0, 0.05):
        others, new = generator.normal(size=5000), generator.normal(moved, 1.5, size=1000)
        expected = ttest_ind(new, others, equal_var=False, alternative="greater").pvalue
        assert rise_p_value(others, new) == pytest.approx(expected, abs=0.06)


def test_clear_rises_and_constants():
    zeros, ones = np.zeros(50), np.ones(20)
    assert rise_p_value(zeros, ones) == pytest.approx(1e-4, rel=0.01)
    assert rise_p_value(zeros, np.zeros(20)) == 1.0
    assert rise_p_value(ones, np.zeros(20)) == 1.0
    assert np.isnan(rise_p_value(zeros, ones[:3]))
    assert np.isnan(rise_p_value(zeros, ones, None, np.zeros(20)))


def test_false_alarms_with_heavy_tails_and_with_groups():
    generator = np.random.default_rng(2)
    heavy = [rise_p_value(*(generator.standard_t(2.2, size=n) ** 2 for n in (200, 60)), seed=k) for k in range(80)]
    assert np.mean(np.array(heavy) < 0.1) <= 0.2
    groups, new_groups = np.repeat(np.arange(40), 10), np.repeat(np.arange(10), 10)
    hits = {"groups": 0, "rows": 0}
    for seed in range(50):
        others = generator.normal(size=40)[groups] + generator.normal(size=400)
        new = generator.normal(size=10)[new_groups] + generator.normal(size=100)
        hits["groups"] += rise_p_value(others, new, groups, new_groups, seed) < 0.1
        hits["rows"] += rise_p_value(others, new, seed=seed) < 0.1
    assert hits["groups"] <= 11 < hits["rows"]
