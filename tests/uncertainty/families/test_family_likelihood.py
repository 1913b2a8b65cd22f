"""Likelihoods in the user's units against scipy's densities."""

import numpy as np
import pytest
from reference.families import REGRESSION, example_target, fitted
from scipy import special, stats

from surefoot.uncertainty.families import Gamma, Poisson

every_family = pytest.mark.parametrize("name", REGRESSION)


def scipy_law(name, family, raw):
    """The distribution in the user's units, from the definition of the outputs."""
    if name == "poisson":
        return stats.poisson(np.exp(family.log_mean + raw[0]))
    if name == "gamma":
        shape = np.exp(raw[1])
        return stats.gamma(shape, scale=np.exp(family.location + raw[0]) / shape)
    location, scale = family.location + family.spread * raw[0], family.spread * np.exp(raw[1])
    if name == "normal":
        return stats.norm(location, scale)
    if name == "lognormal":
        return stats.lognorm(s=scale, scale=np.exp(location))
    if name == "laplace":
        return stats.laplace(location, scale)
    return stats.t(REGRESSION[name].df, location, scale)


def log_density(law, y):
    return law.logpmf(y) if hasattr(law.dist, "logpmf") else law.logpdf(y)


@every_family
@pytest.mark.parametrize("seed", range(3))
def test_nll_and_its_offset_are_the_density_of_scipy(name, seed):
    family, internal, raw = fitted(name, seed=seed)
    y = example_target(name, seed=seed)
    expected = -log_density(scipy_law(name, family, raw), y)
    np.testing.assert_allclose(family.nll(raw, internal) + family.nll_offset(y), expected, rtol=1e-9, atol=1e-9)


@every_family
def test_the_distribution_is_that_of_scipy(name):
    family, _, raw = fitted(name)
    y = example_target(name)
    law, distribution = scipy_law(name, family, raw), family.distribution(raw)
    np.testing.assert_allclose(distribution.mean, law.mean(), rtol=1e-9)
    np.testing.assert_allclose(distribution.std, law.std(), rtol=1e-9)
    np.testing.assert_allclose(family.moments(raw), (law.mean(), law.var()), rtol=1e-9)
    np.testing.assert_allclose(distribution.logpdf(y), log_density(law, y), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(distribution.quantile(0.3), law.ppf(0.3), rtol=1e-9)
    assert distribution.name == family.name


@every_family
def test_nll_of_a_row_does_not_depend_on_other_rows(name):
    family, internal, raw = fitted(name)
    whole = family.nll(raw, internal)
    for i in range(0, len(whole), 37):
        assert family.nll(raw[:, i : i + 1].copy(), internal[i : i + 1])[0] == whole[i]


@pytest.mark.parametrize("count", [1e6, 1e12, 2.0**53])
def test_the_likelihood_of_large_counts_is_precise(count):
    nll = Poisson().nll(np.array([[np.log(count)]]), np.array([count]))[0]
    assert nll == pytest.approx(0.5 * np.log(2 * np.pi * count) + 1 / (12 * count), rel=1e-12)


@pytest.mark.parametrize("shape", [1e4, 1e8, 1e12])
def test_large_shapes_are_normal_in_the_log(shape):
    z = np.array([-2.0, 0.0, 0.5, 3.0])
    raw = np.repeat([[0.3], [np.log(shape)]], 4, axis=1)
    nll = Gamma().nll(raw, raw[0] + z / np.sqrt(shape))
    expected = -stats.norm.logpdf(z, scale=1) - 0.5 * np.log(shape)
    np.testing.assert_allclose(nll, expected, atol=10 / np.sqrt(shape))


def test_probabilities_of_counts_add_up():
    counts = np.arange(400.0)
    nll = Poisson().nll(np.full((1, 400), np.log(100.0)), counts)
    assert special.logsumexp(-nll) == pytest.approx(0, abs=1e-12)
