"""The calibration slope against scikit-learn's logistic regression, and its interval by simulation."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from surefoot.report.sections.uncertainty.calibration import recalibration


def calibration_slope(*arguments):
    found = recalibration(*arguments)
    return None if found is None else found.slope


def promises(n_rows, slope, seed):
    """Probabilities, and outcomes whose log-odds are so many times those promised."""
    generator = np.random.default_rng(seed)
    promised = expit(generator.normal(scale=1.5, size=n_rows))
    return promised, generator.random(n_rows) < expit(slope * logit(promised) + 0.2)


@pytest.mark.parametrize("slope", [0.3, 1.0, 2.0])
def test_it_is_the_coefficient_of_a_logistic_regression(slope):
    promised, came_true = promises(800, slope, 0)
    model = LogisticRegression(C=1e12, tol=1e-10, max_iter=1000).fit(logit(promised)[:, np.newaxis], came_true)
    found = recalibration(promised, came_true)
    assert found.slope.value == pytest.approx(model.coef_[0, 0], rel=1e-5)
    right = model.predict_proba(logit(promised)[:, np.newaxis])[:, 1]
    assert found.change == pytest.approx(np.abs(right - promised).mean(), rel=1e-5)


@pytest.mark.parametrize("slope", [0.5, 1.0])
def test_the_interval_holds_the_truth_as_often_as_it_says(slope):
    found = [calibration_slope(*promises(300, slope, seed)) for seed in range(400)]
    held = np.mean([each.low <= slope <= each.high for each in found])
    assert 0.92 < held < 0.98


def test_rows_that_were_drawn_together_count_once():
    promised, came_true = promises(300, 1.0, 3)
    alone = calibration_slope(promised, came_true)
    groups = np.repeat(np.arange(300), 4)
    four = calibration_slope(np.repeat(promised, 4), np.repeat(came_true, 4), groups)
    assert four.value == pytest.approx(alone.value)
    assert (four.low, four.high) == pytest.approx((alone.low, alone.high))
    assert calibration_slope(np.repeat(promised, 4), np.repeat(came_true, 4)).high < alone.high


def test_certain_probabilities_have_odds():
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
def test_where_there_is_no_slope(promised, came_true):
    assert calibration_slope(np.array(promised), np.array(came_true, dtype=bool)) is None
