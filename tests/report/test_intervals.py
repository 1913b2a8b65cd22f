"""Intervals compared with scipy and scikit-learn, and their coverage."""

import numpy as np
import pytest
from reference.bootstrap import bootstrap_interval
from scipy.stats import binomtest, ttest_1samp
from sklearn.metrics import roc_auc_score

from surefoot.report.statistics import (
    auc_interval,
    mean_interval,
    paired_auc_difference,
    paired_rate_difference,
    rate_interval,
    root_of,
    unpaired_difference,
)


@pytest.mark.parametrize(("hits", "n"), [(0, 7), (3, 10), (10, 10), (123, 1000)])
def test_a_fraction_has_wilsons_interval(hits, n):
    result = rate_interval(np.arange(n) < hits)
    expected = binomtest(hits, n).proportion_ci(method="wilson")
    np.testing.assert_allclose(
        [result.value, result.low, result.high], [hits / n, expected.low, expected.high], atol=1e-12
    )


def test_a_mean_has_students_interval():
    values = np.random.default_rng(0).normal(3, 2, 17)
    result, expected = mean_interval(values), ttest_1samp(values, 0.0).confidence_interval(0.95)
    np.testing.assert_allclose([result.low, result.high], [expected.low, expected.high])
    assert mean_interval(values[:1]).high == np.inf


def test_the_interval_of_a_root_is_the_root_of_the_interval():
    squares = np.random.default_rng(0).chisquare(1, 50)
    mean, root = mean_interval(squares), root_of(mean_interval(squares))
    np.testing.assert_allclose([root.value**2, root.low**2, root.high**2], [mean.value, mean.low, mean.high])
    assert root_of(mean_interval(np.array([0.0, 0.0, 30.0]))).low == 0.0


def test_the_auc_is_that_of_scikit_learn_and_inside_its_interval():
    rng = np.random.default_rng(0)
    scores, positive = rng.integers(0, 20, 300), rng.random(300) < 0.3
    result = auc_interval(scores, positive)
    assert result.value == pytest.approx(roc_auc_score(positive, scores))
    assert 0 <= result.low < result.value < result.high <= 1
    assert auc_interval(scores, np.zeros(300, dtype=bool)) is None
    perfect = auc_interval(np.arange(20.0), np.arange(20) >= 10)
    assert perfect.value == perfect.high == 1.0
    assert perfect.low < 1.0


def coverage(measure, truth, times=400):
    return np.mean([low <= truth <= high for low, high in (measure(seed) for seed in range(times))])


def test_coverage_of_paired_differences():
    def measure(seed):
        rng = np.random.default_rng(seed)
        common = rng.random(60)
        first, second = common < 0.3, np.where(rng.random(60) < 0.8, common < 0.2, rng.random(60) < 0.2)
        result = paired_rate_difference(first, second)
        return result.low, result.high

    assert 0.92 < coverage(measure, 0.1) < 0.99


def test_coverage_of_aucs():
    def measure(seed):
        rng = np.random.default_rng(seed)
        positive = np.arange(80) < 30
        result = auc_interval(rng.normal(size=80) + positive, positive)
        return result.low, result.high

    assert 0.92 < coverage(measure, 0.7602499) < 0.99  # P(N(1, 1) > N(0, 1))


def test_coverage_of_differences_of_aucs():
    def measure(seed):
        rng = np.random.default_rng(seed)
        positive, common = np.arange(90) < 30, rng.normal(size=90)
        first, second = common + positive, common + 0.5 * rng.normal(size=90)
        result = paired_auc_difference(first, second, positive)
        assert result.value == pytest.approx(roc_auc_score(positive, first) - roc_auc_score(positive, second))
        return result.low, result.high

    assert 0.92 < coverage(measure, 0.2602499) < 0.99
    assert paired_auc_difference(np.arange(3), np.arange(3), np.zeros(3, dtype=bool)) is None


def test_coverage_of_means_over_groups():
    def measure(seed):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(12), rng.integers(5, 20, 12))
        result = mean_interval(rng.normal(size=12)[groups] + rng.normal(size=len(groups)), groups)
        return result.low, result.high

    def as_rows(seed):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(12), rng.integers(5, 20, 12))
        result = mean_interval(rng.normal(size=12)[groups] + rng.normal(size=len(groups)))
        return result.low, result.high

    assert 0.91 < coverage(measure, 0.0) < 0.99
    assert coverage(as_rows, 0.0) < 0.7


def test_groups_of_one_row_are_rows():
    values = np.random.default_rng(0).normal(3, 2, 17)
    result, expected = mean_interval(values, np.arange(17)), mean_interval(values)
    np.testing.assert_allclose([result.low, result.high], [expected.low, expected.high])
    assert mean_interval(values, np.zeros(17)).high == np.inf

    def mean(rows):
        return float(values[rows].mean())

    few = bootstrap_interval(mean, 17, 0, groups=np.arange(17))  # the jackknife of a mean is Student's interval
    assert (few.low, few.high) == pytest.approx((expected.low, expected.high))
    assert bootstrap_interval(mean, 17, 0, groups=np.zeros(17)).low == -np.inf
    values = np.random.default_rng(1).normal(3, 2, 25)
    assert bootstrap_interval(mean, 25, 0, groups=np.arange(25)) == bootstrap_interval(mean, 25, 0)


def test_the_interval_over_groups_is_about_a_bootstrap():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 6)
    values = rng.normal(size=40)[groups] + 0.1 * rng.normal(size=240)
    drawn = bootstrap_interval(lambda rows: float(values[rows].mean()), 240, 0, groups=groups)
    expected = mean_interval(values, groups)
    np.testing.assert_allclose([drawn.low, drawn.high], [expected.low, expected.high], atol=0.06)


def test_students_interval_is_about_a_bootstrap():
    values = np.random.default_rng(1).normal(size=200)
    result, expected = bootstrap_interval(lambda rows: values[rows].mean(), 200, 0, 2000), mean_interval(values)
    np.testing.assert_allclose([result.low, result.high], [expected.low, expected.high], atol=0.03)
    assert result.value == values.mean()
    assert bootstrap_interval(lambda rows: float("nan"), 5, 0, 10).high == np.inf


def test_the_difference_of_independent_estimates_has_about_welchs_interval():
    rng = np.random.default_rng(0)
    first, second = rng.normal(1, 1, 300), rng.normal(0, 2, 200)
    result = unpaired_difference(mean_interval(first), mean_interval(second))
    error = np.sqrt(first.var(ddof=1) / 300 + second.var(ddof=1) / 200)
    assert result.value == pytest.approx(first.mean() - second.mean())
    np.testing.assert_allclose([result.high - result.value, result.value - result.low], 1.97 * error, rtol=0.01)


@pytest.mark.parametrize("n_groups", [2, 4, 10, 30])
def test_coverage_with_few_groups(n_groups):
    """AUCs of rows in different groups, where groups are drawn rather than rows."""
    truth, held = 0.5, []
    for seed in range(120):
        generator = np.random.default_rng(seed)
        groups = np.repeat(np.arange(n_groups), 30)
        shift = generator.normal(size=n_groups)[groups]  # scores depend on the group, labels do not
        positive = generator.random(len(groups)) < 0.5
        result = auc_interval(shift + generator.normal(size=len(groups)), positive, groups)
        held.append(result.low <= truth <= result.high)
    assert np.mean(held) > 0.88
