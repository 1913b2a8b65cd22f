"""Parameters at the ends of their ranges, and far beyond: finite predictions, or one error that names the parameter."""

import numpy as np
import pytest

import surefoot
from surefoot import ParameterError

pytestmark = pytest.mark.fault(number=7)
HUGE = 10**30
MODELS = {
    "AdaBoost": surefoot.AdaBoostClassifier,
    "gradient boosting": surefoot.GradientBoostingRegressor,
    "V-matrix": surefoot.VMatrixBoostingRegressor,
}


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        ("AdaBoost", "n_estimators"),
        ("gradient boosting", "n_estimators"),
        ("gradient boosting", "min_samples_leaf"),
        ("V-matrix", "min_samples_leaf"),
    ],
)
def test_numbers_that_no_kernel_takes_are_refused(name, parameter):
    X = np.arange(40.0)[:, np.newaxis]
    with pytest.raises(ParameterError, match=rf"{parameter} must be at most 2\*\*63 - 1") as error:
        MODELS[name](**{parameter: HUGE}).fit(X, np.arange(40) % 2)
    assert error.value.argument == parameter


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("gradient boosting", {"min_samples_leaf": 2**62}),
        ("gradient boosting", {"subsample": 1e-12, "n_estimators": 5}),
        ("gradient boosting", {"l2_regularization": 1e12, "n_estimators": 5}),
        ("gradient boosting", {"learning_rate": 1e-12, "n_estimators": 5}),
        ("V-matrix", {"min_samples_leaf": 2**62, "n_estimators": 5}),
        ("V-matrix", {"learning_rate": 1e-12, "n_estimators": 5}),
        ("V-matrix", {"min_gain": 1e300, "n_estimators": 5}),
    ],
    ids=str,
)
def test_predictions_are_finite(name, settings):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = MODELS[name](random_state=0, **settings).fit(X, X[:, 0])
    assert np.isfinite(model.predict(X)).all()
