"""Targets whose squares are beyond the range of floats: everything in their own unit is right, squares are refused."""

import numpy as np
import pytest

from surefoot import BoostingEnsembleRegressor, DataError, GradientBoostingRegressor, VirtualEnsemble, metrics
from surefoot.uncertainty.decomposition import regression_uncertainty

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(80, 3))
Y = 3.0 * X[:, 0] + GENERATOR.normal(size=80)
SMALL = {"n_estimators": 8, "max_depth": 2, "early_stopping": False, "random_state": 0}
TOO_LARGE = "target squared, and too large for a float: divide y by a constant"


@pytest.mark.fault(number=7)
@pytest.mark.parametrize("unit", [2.0**514, 2.0**1000])  # about 1e154 and 1e301
def test_uncertainty_is_refused_where_its_unit_is_too_large(unit):
    ensemble = BoostingEnsembleRegressor(n_members=2, **SMALL).fit(X, unit * Y)
    single = GradientBoostingRegressor(langevin=True, **SMALL).fit(X, unit * Y)
    for model in (ensemble, VirtualEnsemble(single, 3)):
        with pytest.raises(DataError, match=TOO_LARGE):
            model.predict_uncertainty(X)
    plain = BoostingEnsembleRegressor(n_members=2, **SMALL).fit(X, Y)
    np.testing.assert_allclose(ensemble.predict_distribution(X).std / unit, plain.predict_distribution(X).std)
    scores = [metrics.crps(k * Y, model.predict_distribution(X)) / k for k, model in ((1.0, plain), (unit, ensemble))]
    np.testing.assert_allclose(*scores)


@pytest.mark.fault(number=7)
def test_squares_that_fit_are_right():
    unit = 2.0**500
    models = [BoostingEnsembleRegressor(n_members=2, **SMALL).fit(X, k * Y) for k in (1.0, unit)]
    plain, large = (model.predict_uncertainty(X) for model in models)
    np.testing.assert_allclose(large.total / unit / unit, plain.total)


@pytest.mark.fault(number=7)
def test_one_variance_that_is_too_large_is_enough():
    largest = np.finfo(np.float64).max  # what a distribution has for the variance of such a row
    with pytest.raises(DataError, match=TOO_LARGE):
        regression_uncertainty([[0.0, 0.0], [0.0, 0.0]], [[1.0, largest], [1.0, 1.0]])
    with pytest.raises(DataError, match=TOO_LARGE):
        regression_uncertainty([[0.0, 1e160], [0.0, -1e160]])


@pytest.mark.fault(number=7)
def test_the_mean_score_of_huge_targets_is_finite():
    from scipy.stats import norm

    y = np.full(100, 1e307)
    assert metrics.crps(y, norm(-1e306, 1.0)) == pytest.approx(1.1e307)
