"""Intervals with few errors, few positives, and few or unequal groups."""

import numpy as np
import pytest
from scipy.stats import binomtest
from scipy.stats.contingency import relative_risk
from sklearn.metrics import roc_auc_score

from surefoot.metrics import rejection_curve
from surefoot.report.statistics import (
    Estimate,
    auc_interval,
    is_withheld,
    mean_interval,
    paired_auc_difference,
    paired_rate_difference,
    rate_interval,
    rejection_ratio_interval,
    unpaired_difference,
    unpaired_ratio,
)
from surefoot.report.statistics.standard_errors import spread_of


def held(measure, truth, times=400):
    result = [measure(np.random.default_rng(seed)) for seed in range(times)]
    return np.mean([each.low <= truth <= each.high for each in result])


@pytest.mark.parametrize(("m", "n"), [(3, 8), (3, 200), (10, 100), (50, 150)])
@pytest.mark.parametrize("spread", [1.0, 3.0])
def test_coverage_of_aucs_of_few_positives(m, n, spread):
    shift = 1.6448536 * (1 + spread**2) ** 0.5  # an AUC of 0.95

    def measure(rng):
        return auc_interval(np.append(rng.normal(shift, spread, m), rng.normal(size=n)), np.arange(m + n) < m)

    assert held(measure, 0.95) > 0.92


def test_an_auc_of_1_from_three_rows_has_a_wide_interval():
    result = auc_interval(np.arange(11.0), np.arange(11) >= 8)
    assert (result.value, result.high) == (1.0, 1.0)
    assert result.low < 0.65
    none = auc_interval(-np.arange(11.0), np.arange(11) >= 8)
    assert (none.low, none.high) == pytest.approx((0.0, 1 - result.low))


def test_with_many_rows_the_auc_has_delongs_interval():
    rng = np.random.default_rng(0)
    positive = np.arange(6000) < 2000
    scores = rng.normal(size=6000) + positive
    above, below = scores[positive], scores[~positive]
    compare = (above[:, np.newaxis] > below).astype(np.float64)
    error = (compare.mean(1).var(ddof=1) / 2000 + compare.mean(0).var(ddof=1) / 4000) ** 0.5
    result = auc_interval(scores, positive)
    assert result.value == pytest.approx(roc_auc_score(positive, scores))
    np.testing.assert_allclose([result.value - result.low, result.high - result.value], 1.96 * error, rtol=0.05)


def test_paired_aucs_of_1_are_not_shown_to_be_equal():
    scores, positive = np.arange(12.0), np.arange(12) >= 8
    result = paired_auc_difference(scores, scores**2, positive)
    assert result.value == 0.0
    assert result.low < -0.1
    assert result.high > 0.1


def test_the_rejection_ratio_is_that_of_the_curve():
    rng = np.random.default_rng(0)
    uncertainty = rng.integers(0, 30, 150) * 1.0  # with ties
    for losses, kind in (((rng.random(150) < 0.2) * 1.0, "zero_one"), (rng.normal(size=150) ** 2, "squared_error")):
        shown = losses if kind == "zero_one" else np.sqrt(losses)
        expected = rejection_curve(np.zeros(150), shown, uncertainty, loss=kind).ratio
        result = rejection_ratio_interval(losses, uncertainty)
        assert result.value == pytest.approx(expected)
        assert result.low < result.value < result.high


def test_the_rejection_ratio_of_errors_has_the_interval_of_an_auc():
    rng = np.random.default_rng(0)
    wrong, uncertainty = rng.random(400) < 0.1, rng.normal(size=400)
    result, area = rejection_ratio_interval(wrong, uncertainty + wrong), auc_interval(uncertainty + wrong, wrong)
    np.testing.assert_allclose(
        [result.value, result.low, result.high], [2 * end - 1 for end in (area.value, area.low, area.high)], rtol=0.01
    )


def test_the_rejection_ratio_of_few_errors_is_withheld():
    uncertainty = np.arange(100.0)
    assert rejection_ratio_interval(np.zeros(100), uncertainty) is None
    assert is_withheld(rejection_ratio_interval(uncertainty > 95, uncertainty))
    assert not is_withheld(rejection_ratio_interval(uncertainty > 94, uncertainty))
    assert is_withheld(rejection_ratio_interval(uncertainty[:99] ** 2, uncertainty[:99]))


def test_coverage_of_rejection_ratios_with_heavy_tails():
    def measure(rng):
        return rejection_ratio_interval(rng.standard_t(3, size=200) ** 2, rng.normal(size=200))

    assert held(measure, 0.0) > 0.92


def test_losses_between_0_and_1_have_narrower_intervals_than_wilsons():
    hits = np.arange(40) < 3
    expected = binomtest(3, 40).proportion_ci(method="wilson")
    result = rate_interval(hits)
    np.testing.assert_allclose([result.low, result.high], [expected.low, expected.high])
    even = rate_interval(np.full(40, 3 / 40))
    assert result.low < even.low
    assert even.high < result.high
    assert rate_interval(np.zeros(40)).high == pytest.approx(binomtest(0, 40).proportion_ci(method="wilson").high)


def test_paired_differences_of_0_and_1_are_those_of_bonett_and_price():
    first, second = np.arange(50) < 9, np.arange(50) >= 46
    more, less = 10 / 52, 5 / 52
    reach = 1.959964 * ((more + less - (more - less) ** 2) / 52) ** 0.5
    result = paired_rate_difference(first, second)
    np.testing.assert_allclose(
        [result.value, result.low, result.high], [0.1, more - less - reach, more - less + reach], rtol=1e-6
    )


def test_ratios_of_rates_are_about_those_of_scipy_and_allow_zeros():
    there, here = rate_interval(np.arange(2000) < 300), rate_interval(np.arange(3000) < 300)
    result, expected = unpaired_ratio(there, here), relative_risk(300, 2000, 300, 3000).confidence_interval(0.95)
    np.testing.assert_allclose([result.low, result.high], [expected.low, expected.high], rtol=0.01)
    never, ever, tenth = (
        rate_interval(np.zeros(100)),
        rate_interval(np.arange(50) < 5),
        rate_interval(np.arange(100) < 10),
    )
    none = unpaired_ratio(rate_interval(np.zeros(50)), tenth)
    assert none.value == none.low == 0.0
    assert 0 < none.high < 3
    assert unpaired_ratio(ever, never).high == np.inf
    assert unpaired_ratio(ever, never).low > 1
    assert unpaired_difference(never, never).value == 0.0
    assert unpaired_ratio(Estimate(2.0, 2.0, 2.0), Estimate(1.0, 1.0, 1.0)).low == pytest.approx(2.0)


def test_coverage_of_means_over_unequal_groups():
    def measure(rng):
        groups = np.repeat(np.arange(8), np.maximum(rng.lognormal(0, 1, 8) * 18, 1).astype(int))
        return mean_interval(rng.normal(size=8)[groups] + rng.normal(size=len(groups)), groups)

    assert held(measure, 0.0) > 0.93


def test_degrees_of_freedom_of_groups_are_those_of_their_matrix():
    sizes = np.array([3, 5, 9, 20, 2])
    groups, weights = np.repeat(np.arange(5), sizes), sizes / sizes.sum()
    centre = np.eye(5) - np.ones((5, 1)) * weights
    scale = np.diag(weights**2 / np.diag(centre @ centre.T))
    eigenvalues = np.linalg.eigvals(scale @ centre @ centre.T).real
    expected = eigenvalues.sum() ** 2 / (eigenvalues**2).sum()
    # the largest group has just over half of the rows: without its last two rows it has less
    assert spread_of(np.arange(39.0), groups) is None
    groups = np.delete(groups, [34, 35])
    sizes = np.bincount(groups)
    weights = sizes / sizes.sum()
    centre = np.eye(5) - np.ones((5, 1)) * weights
    scale = np.diag(weights**2 / np.diag(centre @ centre.T))
    eigenvalues = np.linalg.eigvals(scale @ centre @ centre.T).real
    expected = eigenvalues.sum() ** 2 / (eigenvalues**2).sum()
    assert spread_of(np.arange(37.0), groups).dof == pytest.approx(expected)
    assert spread_of(np.arange(40.0), np.repeat(np.arange(5), 8)).dof == pytest.approx(4.0)


@pytest.mark.parametrize("n_groups", [1, 2, 3])
def test_fewer_than_four_groups_have_no_interval(n_groups):
    groups, values = np.arange(60) % n_groups, np.arange(60.0) % 7
    positive = np.arange(60) % 2 == 0
    assert is_withheld(mean_interval(values, groups))
    assert is_withheld(rate_interval(positive, groups))
    assert is_withheld(auc_interval(values, positive, groups))
    assert is_withheld(paired_auc_difference(values, -values, positive, groups))
    assert is_withheld(paired_rate_difference(positive, ~positive, groups))
    assert is_withheld(rejection_ratio_interval(positive, values, groups))
