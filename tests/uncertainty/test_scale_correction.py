"""Held-out rows correct predicted distributions: against closed forms and scipy."""

import numpy as np
import pytest
from scipy import stats

from surefoot import BoostingEnsembleClassifier, BoostingEnsembleRegressor, GradientBoostingRegressor
from surefoot.uncertainty.families import REGRESSION_FAMILIES, Poisson
from surefoot.uncertainty.recalibration import Recalibration, fit_recalibration, simulated_ensemble


def test_the_level_of_a_normal_scale_is_the_root_mean_square():
    generator = np.random.default_rng(0)
    y = 1.7 * generator.normal(size=500)
    raw = np.zeros((1, 2, 500))  # mean 0, scale 1
    line = fit_recalibration(REGRESSION_FAMILIES["normal"](), raw, y, np.ones(500))
    assert np.exp(line.shift) == pytest.approx(np.sqrt(np.mean(y**2)), rel=1e-3)


def test_the_scale_of_noise_without_tails():
    """No row is further out than 1.7 standard deviations, and larger scales are not tried."""
    generator = np.random.default_rng(6)
    X, y = generator.normal(size=(300, 3)), generator.uniform(size=300)
    std = GradientBoostingRegressor(random_state=0, n_jobs=1).fit(X, y).predict_distribution(X).std
    assert std.mean() == pytest.approx(y.std(), rel=0.15)


@pytest.mark.parametrize("slope", [0.0, 0.5, 1.0])
def test_the_slope_is_that_of_the_held_out_rows(slope):
    generator = np.random.default_rng(1)
    log_scale = generator.normal(size=20_000) / 2
    y = np.exp(slope * log_scale) * generator.normal(size=20_000)
    raw = np.stack([np.zeros(20_000), log_scale])[np.newaxis]
    line = fit_recalibration(REGRESSION_FAMILIES["normal"](), raw, y, np.ones(20_000))
    assert line.slope == pytest.approx(slope, abs=0.051)
    assert line.shift == pytest.approx(0, abs=0.05)


def test_a_weight_of_k_counts_as_k_copies():
    generator = np.random.default_rng(2)
    y, raw = generator.normal(size=60), generator.normal(size=(1, 2, 60)) / 3
    weights = generator.integers(1, 4, size=60)
    copies = np.repeat(np.arange(60), weights)
    family = REGRESSION_FAMILIES["laplace"]()
    weighted = fit_recalibration(family, raw, y, weights.astype(float))
    copied = fit_recalibration(family, raw[:, :, copies], y[copies], np.ones(len(copies)))
    assert weighted.slope == pytest.approx(copied.slope, abs=0.051)
    assert weighted.shift == pytest.approx(copied.shift, abs=1e-3)


def test_counts_that_vary_more_than_poisson():
    generator = np.random.default_rng(3)
    mean, dispersion = np.exp(generator.normal(1.0, 0.5, size=20_000)), 0.3
    y = generator.poisson(mean * generator.gamma(1 / dispersion, dispersion, size=20_000)).astype(float)
    raw = np.log(mean / 1.4)[np.newaxis, np.newaxis]  # and means that are too low
    line = fit_recalibration(Poisson(), raw, y, np.ones(20_000))
    assert line.dispersion == pytest.approx(dispersion, rel=0.1)
    assert line.mean_shift == pytest.approx(np.log(1.4), abs=0.02)
    plain = fit_recalibration(Poisson(), np.log(mean)[np.newaxis, np.newaxis], generator.poisson(mean) * 1.0, mean**0)
    assert plain.dispersion < 0.02


def test_the_distribution_of_disperse_counts_is_negative_binomial():
    family = Poisson(dispersion=0.25)
    raw = np.log([[0.5, 3.0, 40.0]])
    mean = np.exp(raw[0])
    expected = stats.nbinom(4.0, 4.0 / (4.0 + mean))
    distribution = family.distribution(raw)
    np.testing.assert_allclose(distribution.mean, mean)
    np.testing.assert_allclose(distribution.var, mean + 0.25 * mean**2)
    np.testing.assert_allclose(distribution.logpdf(3.0), expected.logpmf(3.0))
    for one, other in zip(family.moments(raw), (distribution.mean, distribution.var), strict=True):
        np.testing.assert_allclose(one, other)


def test_a_simulated_ensemble_is_as_wide_as_one_of_ten():
    generator = np.random.default_rng(4)
    one, other = generator.normal(size=(2, 2, 50_000))
    members = simulated_ensemble(one, other)
    assert members[:, 0].var(axis=0).mean() == pytest.approx(0.9, rel=0.03)  # of ten normal numbers of variance 1
    np.testing.assert_allclose(members[:, 0].mean(axis=0), (one + other)[0] / 2, atol=1e-12)


def test_a_correction_changes_only_the_scale():
    generator = np.random.default_rng(5)
    X = generator.normal(size=(200, 3))
    y = X[:, 0] + np.exp(X[:, 1] / 2) * generator.normal(size=200)
    model = GradientBoostingRegressor(n_estimators=40, early_stopping=False, random_state=0).fit(X, y)
    member = model._members[0]
    before = model._raw(X)[0]
    model._members = [type(member)(member.encoding, Recalibration(slope=0.5, shift=0.2).applied_to(member.trees))]
    after = model._raw(X)[0]
    np.testing.assert_allclose(after[0], before[0], rtol=1e-12)
    np.testing.assert_allclose(after[1], 0.2 + 0.5 * before[1], rtol=1e-9)


@pytest.mark.parametrize("estimator", [GradientBoostingRegressor, BoostingEnsembleRegressor])
@pytest.mark.parametrize("distribution", ["normal", "poisson", "gamma"])
def test_intervals_have_their_nominal_coverage(estimator, distribution):
    """On new rows, means over five tables; counts by the randomised probability integral transform."""
    inside = []
    for seed in range(5):
        generator = np.random.default_rng(seed)
        X = generator.normal(size=(2300, 4))
        mean = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1]
        draw = {
            "normal": lambda mean=mean, g=generator: mean + 0.5 * g.normal(size=2300),
            "poisson": lambda mean=mean, g=generator: g.poisson(np.exp(1 + mean)).astype(float),
            "gamma": lambda mean=mean, g=generator: g.gamma(4.0, np.exp(mean) / 4.0),
        }
        y = draw[distribution]()
        members = {"n_members": 5} if estimator is BoostingEnsembleRegressor else {}
        model = estimator(distribution=distribution, random_state=seed, **members).fit(X[:300], y[:300])
        predicted, new = model.predict_distribution(X[300:]), y[300:]
        upper = predicted.cdf(new)
        lower = np.where(new > 0, predicted.cdf(new - 1), 0.0) if distribution == "poisson" else upper
        p = lower + generator.random(2000) * (upper - lower)
        inside.append([np.mean(np.abs(p - 0.5) < level / 2) for level in (0.5, 0.8, 0.9, 0.95)])
    np.testing.assert_allclose(np.mean(inside, axis=0), (0.5, 0.8, 0.9, 0.95), atol=0.04)


def test_predicted_standard_deviations_differ_little_if_the_noise_is_the_same_everywhere():
    spreads = []
    for seed in range(3):
        generator = np.random.default_rng(seed)
        X = generator.normal(size=(1500, 5))
        y = X[:, 0] + 0.5 * generator.normal(size=1500)
        std = (
            BoostingEnsembleRegressor(n_members=4, random_state=seed)
            .fit(X[:1000], y[:1000])
            .predict_distribution(X[1000:])
            .std
        )
        spreads.append(np.log(std).std())
    assert np.mean(spreads) < 0.1


def test_a_default_ensemble_of_classifiers_is_likelier_than_a_constant():
    """Weak signal and few rows: chains of a thousand rounds were less likely than the frequencies of the classes."""
    losses = []
    for seed in range(5):
        generator = np.random.default_rng(seed)
        X = generator.normal(size=(2600, 10))
        y = (generator.random(2600) < 1 / (1 + np.exp(1 - 0.7 * X[:, 0]))).astype(int)
        model = BoostingEnsembleClassifier(n_members=4, random_state=seed).fit(X[:600], y[:600])
        new, p = y[600:], y[:600].mean()
        loss = -np.log(model.predict_proba(X[600:])[np.arange(2000), new]).mean()
        losses.append(loss - (-np.log(np.where(new == 1, p, 1 - p)).mean()))
    assert np.max(losses) < 0
