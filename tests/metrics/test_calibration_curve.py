"""Points of calibration curves, against scikit-learn and scipy."""

import numpy as np
import pytest
from metrics.predictions import Mixture, Rows
from scipy.stats import binomtest, norm, poisson
from sklearn.calibration import calibration_curve

from surefoot import DataError, ParameterError
from surefoot.metrics import coverage
from surefoot.metrics.calibration import interval_calibration, probability_calibration

GENERATOR = np.random.default_rng(0)
PROBABILITY = GENERATOR.beta(0.5, 1.0, size=1000)
HAPPENED = GENERATOR.random(1000) < PROBABILITY**2
WEIGHTS = GENERATOR.integers(0, 3, size=1000)
LEVELS = [0.1, 0.5, 0.9]


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("n_bins", [1, 5, 10])
def test_bins_against_scikit_learn(strategy, n_bins):
    curve = probability_calibration(HAPPENED, PROBABILITY, n_bins, strategy)
    observed, expected = calibration_curve(HAPPENED, PROBABILITY, n_bins=n_bins, strategy=strategy)
    np.testing.assert_allclose(curve.observed, observed)
    np.testing.assert_allclose(curve.expected, expected)
    assert curve.counts.sum() == 1000
    assert (curve.edges[:, 0] <= curve.expected).all()
    assert (curve.expected <= curve.edges[:, 1]).all()


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_weights_are_copies(strategy):
    rows = np.repeat(np.arange(1000), WEIGHTS)
    weighted = probability_calibration(HAPPENED, PROBABILITY, 7, strategy, sample_weight=WEIGHTS)
    copied = probability_calibration(HAPPENED[rows], PROBABILITY[rows], 7, strategy)
    np.testing.assert_allclose(weighted.observed, copied.observed)
    np.testing.assert_allclose(weighted.expected, copied.expected)
    y = GENERATOR.normal(size=1000)
    weighted = interval_calibration(y, norm(), LEVELS, sample_weight=WEIGHTS)
    np.testing.assert_allclose(weighted.observed, interval_calibration(y[rows], norm(), LEVELS).observed)


def test_few_distinct_probabilities_share_bins():
    probability = np.repeat([0.2, 0.7], [90, 10])
    curve = probability_calibration(np.ones(100, dtype=bool), probability, 10, "quantile")
    assert curve.counts.tolist() == [90, 10]
    np.testing.assert_allclose(curve.expected, [0.2, 0.7])


def test_the_confidence_interval_is_that_of_wilson():
    curve = probability_calibration(HAPPENED, PROBABILITY, 10, "uniform")
    for low, high, share, count in zip(curve.low, curve.high, curve.observed, curve.counts, strict=True):
        expected = binomtest(round(share * count), int(count)).proportion_ci(0.95, method="wilson")
        assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_interval_fractions_equal_coverage():
    y = GENERATOR.normal(size=500)
    wide = Rows("normal", norm(np.zeros(500), 1.2), 500)
    for prediction in (norm(0.1, 1.5), wide, Mixture(wide, Rows("normal", norm(np.ones(500), 0.5), 500))):
        curve = interval_calibration(y, prediction, LEVELS)
        assert curve.observed.tolist() == pytest.approx([coverage(y, prediction, level=level) for level in LEVELS])
    counts = GENERATOR.poisson(2.0, size=500)
    for prediction in (poisson(2.0), Rows("poisson", poisson(2.0), 500)):
        curve = interval_calibration(counts, prediction, LEVELS)
        assert curve.observed.tolist() == pytest.approx([coverage(counts, prediction, level=level) for level in LEVELS])
    assert curve.counts.tolist() == [500] * 3


def test_a_true_distribution_is_calibrated():
    y = GENERATOR.normal(size=20_000)
    np.testing.assert_allclose(interval_calibration(y, norm(), LEVELS).observed, LEVELS, atol=0.015)


def test_bad_levels_are_refused():
    with pytest.raises(ParameterError, match="levels must be"):
        interval_calibration([0.0], norm(), [0.5, 1.5])
    with pytest.raises(DataError, match="levels is empty"):
        interval_calibration([0.0], norm(), [])
