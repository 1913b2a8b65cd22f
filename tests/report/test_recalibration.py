"""The calibration slope compared with scikit-learn's logistic regression, and the coverage of its interval."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from surefoot.report.sections.uncertainty.calibration import recalibration


def calibration_slope(*arguments):
    result = recalibration(*arguments)
    return None if result is None else result.slope


def promises(n_rows, slope, seed):
    """Probabilities, and outcomes whose log-odds are ``slope`` times the predicted ones."""
    generator = np.random.default_rng(seed)
    promised = expit(generator.normal(scale=1.5, size=n_rows))
    return promised, generator.random(n_rows) < expit(slope * logit(promised) + 0.2)


@pytest.mark.parametrize("slope", [0.3, 1.0, 2.0])
def test_the_slope_is_the_coefficient_of_a_logistic_regression(slope):
    promised, came_true = promises(800, slope, 0)
    model = LogisticRegression(C=1e12, tol=1e-10, max_iter=1000).fit(logit(promised)[:, np.newaxis], came_true)
    result = recalibration(promised, came_true)
    assert result.slope.value == pytest.approx(model.coef_[0, 0], rel=1e-5)
    right = model.predict_proba(logit(promised)[:, np.newaxis])[:, 1]
    assert result.change == pytest.approx(np.abs(right - promised).mean(), rel=1e-5)


@pytest.mark.parametrize("slope", [0.5, 1.0])
def test_coverage_of_the_interval(slope):
    result = [calibration_slope(*promises(300, slope, seed)) for seed in range(400)]
    held = np.mean([each.low <= slope <= each.high for each in result])
    assert 0.92 < held < 0.98


def test_groups_of_equal_rows_count_once():
    promised, came_true = promises(300, 1.0, 3)
    alone = calibration_slope(promised, came_true)
    groups = np.repeat(np.arange(300), 4)
    four = calibration_slope(np.repeat(promised, 4), np.repeat(came_true, 4), groups)
    assert four.value == pytest.approx(alone.value)
    assert (four.low, four.high) == pytest.approx((alone.low, alone.high))
    assert calibration_slope(np.repeat(promised, 4), np.repeat(came_true, 4)).high < alone.high


def test_probabilities_of_0_and_1_have_finite_odds():
    promised, came_true = promises(400, 1.0, 5)
    promised = np.where(promised > 0.9, 1.0, promised)
    assert np.isfinite(calibration_slope(promised, came_true).value)


@pytest.mark.parametrize(
    ("promised", "came_true"),
    [
        ([0.2, 0.3, 0.8, 0.9], [1, 1, 1, 1]),  # one outcome
        ([0.5, 0.5, 0.5, 0.5], [0, 1, 0, 1]),  # one probability
        ([0.2, 0.3, 0.8, 0.9], [0, 0, 1, 1]),  # separated
    ],
)
def test_cases_without_a_slope(promised, came_true):
    assert calibration_slope(np.array(promised), np.array(came_true, dtype=bool)) is None
