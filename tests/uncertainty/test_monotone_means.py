"""The predicted mean follows a monotone constraint: for all distributions, and beside columns of categories."""

import numpy as np
import pandas as pd
import pytest
from reference.gradient_boosters import CLASSIFIERS, REGRESSORS, small

from surefoot import BoostingEnsembleRegressor, GradientBoostingRegressor, ParameterError

POLICIES = ("symmetric", "depthwise", "leafwise")
DISTRIBUTIONS = ("normal", "lognormal", "laplace", "student_t", "poisson", "negative_binomial", "gamma")
GRID = np.linspace(-3.5, 3.5, 41)
SIGNS = {"rising": 1, "falling": -1}
SETTINGS = {"n_estimators": 20, "max_depth": 4, "monotonic_cst": SIGNS}


def table(n_rows=240):
    """Numbers along which neither the mean nor the noise is monotone, and columns with few and with many categories."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.normal(size=n_rows) for name in (*SIGNS, "free")})
    few, many = rng.integers(0, 5, n_rows), rng.integers(0, 60, n_rows)
    values = np.sin(3 * frame["rising"]) + frame["falling"] ** 2 + frame["free"] * (few - 2.0)
    values += rng.normal(size=n_rows) * (1 + np.abs(frame["rising"]))
    return frame.assign(few=pd.Categorical(few.astype(str)), many=pd.Categorical(many.astype(str))), values.to_numpy()


def target_for(distribution, values):
    if distribution in ("poisson", "negative_binomial"):
        return np.rint(np.exp(values / 2))
    return np.exp(values / 2) if distribution in ("lognormal", "gamma") else values


def assert_monotone(predict, frame):
    rows = frame.iloc[np.repeat(np.arange(15), len(GRID))].reset_index(drop=True)
    for name, sign in SIGNS.items():
        along = predict(rows.assign(**{name: np.tile(GRID, 15)})).reshape(15, len(GRID))
        assert (sign * np.diff(along, axis=1) >= -1e-12 * np.abs(along).max()).all(), name
        assert np.ptp(along, axis=1).max() > 0.01  # it does depend on the column


@pytest.mark.parametrize("estimator", REGRESSORS)
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("grow_policy", POLICIES)
def test_means(estimator, distribution, grow_policy):
    frame, values = table()
    y = target_for(distribution, values)
    methods = [{"method": method, "early_stopping": False} for method in ("sgb", "sglb")]
    variants = methods if estimator is BoostingEnsembleRegressor else [{}]
    for variant in variants:
        settings = {**SETTINGS, **variant, "distribution": distribution, "grow_policy": grow_policy}
        assert_monotone(small(estimator, **settings).fit(frame, y).predict, frame)


@pytest.mark.parametrize("estimator", CLASSIFIERS)
@pytest.mark.parametrize("grow_policy", POLICIES)
def test_probabilities(estimator, grow_policy):
    frame, values = table()
    model = small(estimator, grow_policy=grow_policy, **SETTINGS).fit(frame, values > 0.5)
    assert_monotone(lambda rows: model.predict_proba(rows)[:, 1], frame)


@pytest.mark.parametrize("grow_policy", POLICIES)
@pytest.mark.parametrize("settings", [{"early_stopping": False}, {"langevin": True, "temperature": 1.0}, {}])
def test_the_mean_of_a_lognormal_distribution_rises_with_its_scale(grow_policy, settings):
    """The scale is constrained too, while it is learned; later trees leave it as it is."""
    frame, values = table()
    given = {**SETTINGS, **settings, "distribution": "lognormal", "grow_policy": grow_policy, "n_iter_no_change": 5}
    model = small(GradientBoostingRegressor, **given).fit(frame, np.exp(values / 2))
    assert_monotone(model.predict, frame)
    assert_monotone(lambda rows: model.predict_distribution(rows).quantile(0.5), frame)
    if settings:  # without trial models that choose one scale for all rows
        assert np.ptp(model._raw(frame)[0, 1]) > 0.01


def test_a_mean_that_depends_on_two_outputs_is_refused():
    frame, values = table()
    model = small(GradientBoostingRegressor, distribution="zero_inflated_poisson", **SETTINGS)
    with pytest.raises(ParameterError, match="monotonic_cst is not for distribution='zero_inflated_poisson'"):
        model.fit(frame, target_for("poisson", values))
