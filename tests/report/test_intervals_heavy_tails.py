"""Intervals of squared errors and other skewed losses: closed forms, open ends and coverage."""

import numpy as np
import pytest
from scipy.stats import chi2, ttest_1samp
from sklearn.metrics import r2_score, root_mean_squared_error

from surefoot.report.statistics import (
    explained_variance,
    is_one_sided,
    is_withheld,
    mean_loss_interval,
    paired_mean_difference,
    paired_rms_difference,
    paired_rms_ratio,
    rms_ratio,
    root_mean_square_interval,
)
from surefoot.report.statistics.standard_errors import Spread, spread_of


def drawn(kind, rng, n):
    if kind == "outliers":
        return rng.normal(size=n) * np.where(rng.random(n) < 0.02, 10, 1)
    return {"normal": rng.normal, "laplace": rng.laplace}[kind](size=n) if kind != "t3" else rng.standard_t(3, size=n)


MEAN_SQUARES = {"normal": 1.0, "laplace": 2.0, "t3": 3.0, "outliers": 2.98}


def misses(measure, truth, times):
    """Fractions of intervals above and below the truth."""
    ends = np.array([(result.low, result.high) for result in map(measure, map(np.random.default_rng, range(times)))])
    return np.mean(ends[:, 0] > truth), np.mean(ends[:, 1] < truth)


def test_the_rmse_of_normal_errors_has_about_the_interval_of_chi_squared():
    errors = np.random.default_rng(0).normal(size=5000)
    result = root_mean_square_interval(errors**2)
    assert result.value == pytest.approx(root_mean_squared_error(errors, np.zeros(5000)))
    low, high = ((np.sum(errors**2) / chi2.ppf(level, 5000)) ** 0.5 for level in (0.975, 0.025))
    np.testing.assert_allclose([result.low, result.high], [low, high], rtol=0.004)


@pytest.mark.parametrize("kind", MEAN_SQUARES)
@pytest.mark.parametrize("n", [30, 300, 1000])
def test_coverage_of_rmses(kind, n):
    truth = MEAN_SQUARES[kind] ** 0.5
    above, below = misses(lambda rng: root_mean_square_interval(drawn(kind, rng, n) ** 2), truth, 500)
    assert above < 0.05
    assert below < 0.08


def test_upper_ends_are_open_where_rare_errors_may_be_missing():
    rng = np.random.default_rng(0)
    few, many = rng.normal(size=299) ** 2, rng.normal(size=300) ** 2
    assert is_one_sided(root_mean_square_interval(few))
    assert not is_one_sided(root_mean_square_interval(many))
    assert is_one_sided(root_mean_square_interval(np.append(many, 100.0)))
    assert is_withheld(root_mean_square_interval(np.append(many, 1e4)))  # only known to be positive
    assert is_withheld(root_mean_square_interval(many[:1]))


@pytest.mark.parametrize("kind", MEAN_SQUARES)
@pytest.mark.parametrize("n", [30, 300, 1000])
def test_coverage_of_explained_variance(kind, n):
    def measure(rng):
        noise = drawn(kind, rng, n)
        return explained_variance(noise**2, (noise + rng.normal(size=n) * MEAN_SQUARES[kind] ** 0.5) ** 2)

    above, below = misses(measure, 0.5, 300)
    assert above < 0.08
    assert below < 0.08


def test_explained_variance_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    y = rng.normal(size=400)
    predicted = y + rng.normal(size=400)
    result = explained_variance((y - predicted) ** 2, (y - y.mean()) ** 2)
    assert result.value == pytest.approx(r2_score(y, predicted))
    assert result.low < result.value < result.high < 1


def test_ratios_of_few_rows_reach_to_1():
    rng = np.random.default_rng(0)
    noise, signal = rng.normal(size=(2, 100))
    result = paired_rms_ratio(noise**2, (noise + 2 * signal) ** 2)
    assert 0 < result.low < result.value < result.high == 1.0
    turned = paired_rms_ratio((noise + 2 * signal) ** 2, noise**2)
    assert (turned.low, turned.value, turned.high) == pytest.approx((1.0, 1 / result.value, 1 / result.low))
    assert is_withheld(paired_rms_ratio(noise[:19] ** 2, signal[:19] ** 2))
    assert paired_rms_ratio(noise**2, noise**2).high == 1.0
    difference = paired_rms_difference(noise**2, (noise + 2 * signal) ** 2)
    assert difference.value == pytest.approx(np.sqrt((noise**2).mean()) - np.sqrt(((noise + 2 * signal) ** 2).mean()))
    assert difference.high == 0.0


def test_coverage_of_ratios_on_different_rows():
    def measure(rng):
        return rms_ratio((1.5 * rng.normal(size=300)) ** 2, rng.normal(size=500) ** 2)

    above, below = misses(measure, 1.5, 400)
    assert above < 0.05
    assert below < 0.05
    few = rms_ratio(np.full(12, 1.2), np.ones(500))
    assert few.high == np.inf


def test_without_skewness_the_interval_is_students():
    values = np.array([-2.0, -1.0, 0.0, 1.0, 2.0] * 6) + 3
    expected = ttest_1samp(values, 0.0).confidence_interval(0.95)
    spread = spread_of(values)
    np.testing.assert_allclose(spread.skewed_ends(3.0), [expected.low, expected.high])
    right = Spread(1.0, 100, 0.3, 0.0).skewed_ends(0.0)
    assert right[1] > -right[0]  # the mean of right-skewed values is more often too low


def test_a_single_row_with_most_of_the_spread_withholds_a_difference():
    first, second = np.zeros(100), np.zeros(100)
    first[0] = 50.0
    assert is_withheld(paired_mean_difference(first, second))
    assert is_withheld(paired_mean_difference(np.arange(19.0), np.zeros(19)))
    assert paired_mean_difference(np.arange(20.0), np.zeros(20)).low > 0


def test_coverage_of_log_losses():
    odds = np.linspace(-8, 8, 20_001)
    chance, weight = 1 / (1 + np.exp(-odds)), np.exp(-((odds / 2) ** 2) / 2)
    truth = np.average(-(chance * np.log(chance) + (1 - chance) * np.log1p(-chance)), weights=weight)

    def measure(rng):
        drawn_odds = 2 * rng.normal(size=300)
        sign = np.where(rng.random(300) < 1 / (1 + np.exp(-drawn_odds)), 1, -1)
        return mean_loss_interval(np.logaddexp(0, -sign * drawn_odds))

    above, below = misses(measure, truth, 400)
    assert 0 < above < 0.06
    assert 0 < below < 0.06
