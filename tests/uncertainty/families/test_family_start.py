"""The best constant outputs, against scipy's fits and optimisers."""

import numpy as np
import pytest
from reference.families import REGRESSION, example_target
from scipy import optimize, stats

from surefoot.uncertainty.families import Gamma, Laplace, LogNormal, Normal, Poisson, StudentT

every_family = pytest.mark.parametrize("name", REGRESSION)


def whole_target(family, y, weights=None):
    fitted = family.fitted_to(y, weights)
    return fitted, fitted.internal(y)


def mean_nll(family, outputs, internal, weights):
    raw = np.repeat(np.asarray(outputs)[:, np.newaxis], len(internal), axis=1)
    return np.average(family.nll(raw, internal), weights=weights)


@every_family
@pytest.mark.parametrize("weighted", [False, True])
def test_no_optimiser_finds_a_better_constant(name, weighted):
    y = example_target(name, 150)
    weights = np.random.default_rng(3).gamma(1.0, 1.0, 150) if weighted else None
    family, internal = whole_target(REGRESSION[name], y, weights)
    start = family.start(internal, weights)
    assert start.shape == (family.n_outputs,)
    result = optimize.minimize(
        lambda outputs: mean_nll(family, outputs, internal, weights),
        start + 0.2,
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 4000},
    )
    assert mean_nll(family, start, internal, weights) <= result.fun + 1e-10
    if name != "laplace":  # any median is best
        np.testing.assert_allclose(start, result.x, atol=1e-5)


def law_of(family, y, weights=None):
    fitted, internal = whole_target(family, y, weights)
    return fitted.distribution(fitted.start(internal, weights)[:, np.newaxis]).parameters


def test_normal_as_scipy_fits_it():
    y = example_target("normal", 101)
    law = law_of(Normal(), y)
    assert (law["loc"][0], law["scale"][0]) == pytest.approx(stats.norm.fit(y), rel=1e-12)


def test_lognormal_as_scipy_fits_it():
    y = example_target("lognormal", 101)
    law = law_of(LogNormal(), y)
    shape, _, scale = stats.lognorm.fit(y, floc=0)
    assert (law["s"][0], law["scale"][0]) == pytest.approx((shape, scale), rel=1e-5)


@pytest.mark.parametrize("n", [100, 101])
def test_laplace_as_scipy_fits_it(n):
    y = example_target("laplace", n)
    law = law_of(Laplace(), y)
    assert (law["loc"][0], law["scale"][0]) == pytest.approx(stats.laplace.fit(y), rel=1e-12)


@pytest.mark.parametrize("df", [2.1, 4, 50])
def test_student_t_as_scipy_fits_it(df):
    y = example_target("student_t", 300)
    law = law_of(StudentT(df), y)
    _, location, scale = stats.t.fit(y, fdf=df)
    assert (law["loc"][0], law["scale"][0]) == pytest.approx((location, scale), rel=1e-3)


def test_gamma_as_scipy_fits_it():
    y = example_target("gamma", 300)
    law = law_of(Gamma(), y)
    shape, _, scale = stats.gamma.fit(y, floc=0)
    assert (law["a"][0], law["scale"][0]) == pytest.approx((shape, scale), rel=1e-6)


def test_poisson_starts_at_the_mean():
    y = example_target("poisson", 300)
    assert law_of(Poisson(), y)["mu"][0] == pytest.approx(y.mean(), rel=1e-12)


@every_family
def test_a_weight_of_k_counts_as_k_copies(name):
    y = example_target(name, 60)
    weights = np.random.default_rng(1).integers(0, 4, 60)
    family, internal = whole_target(REGRESSION[name], y, weights.astype(float))
    copied, copied_internal = whole_target(REGRESSION[name], np.repeat(y, weights))
    for attribute in ("location", "spread", "floor", "cap"):
        assert getattr(family, attribute) == pytest.approx(getattr(copied, attribute), rel=1e-9)
    np.testing.assert_allclose(
        family.start(internal, weights.astype(float)), copied.start(copied_internal), rtol=1e-7, atol=1e-9
    )


@every_family
@pytest.mark.parametrize("factor", [1e-300, 1e-6, 1e6, 1e300])
def test_only_the_ratios_of_weights_count(name, factor):
    y = example_target(name, 60)
    weights = np.random.default_rng(1).gamma(1.0, 1.0, 60)
    family, internal = whole_target(REGRESSION[name], y, weights)
    scaled, scaled_internal = whole_target(REGRESSION[name], y, weights * factor)
    assert scaled.floor == pytest.approx(family.floor, rel=1e-9)
    expected = family.start(internal, weights)
    np.testing.assert_allclose(scaled.start(scaled_internal, weights * factor), expected, rtol=1e-7, atol=1e-9)


@every_family
@pytest.mark.parametrize("value", [1.0, 3.0, 1e6])
@pytest.mark.parametrize("n", [1, 5])
def test_a_constant_target_starts_at_that_constant(name, value, n):
    y = np.full(n, value)
    family, internal = whole_target(REGRESSION[name], y)
    start = family.start(internal)
    assert np.isfinite(start).all()
    distribution = family.distribution(np.repeat(start[:, np.newaxis], n, axis=1))
    np.testing.assert_allclose(distribution.mean, value, rtol=1e-7)
    assert (distribution.std > 0).all()


def test_without_events_the_mean_is_very_small():
    family, internal = whole_target(Poisson(), np.zeros(10))
    mean = family.distribution(family.start(internal)[:, np.newaxis]).mean[0]
    assert 0 < mean < 1e-15
    assert family.start(internal)[0] == 0


@pytest.mark.parametrize("fraction_of_ties", [0.5, 0.9, 0.999])
def test_ties_do_not_shrink_the_scale_of_student_t_to_zero(fraction_of_ties):
    y = np.where(np.arange(1000) < 1000 * fraction_of_ties, 0.0, 1.0 + np.arange(1000) % 7)
    family, internal = whole_target(StudentT(), y)
    start = family.start(internal)
    assert start[1] >= family.floor
    assert family.floor > np.log(1e-3)


def test_the_start_is_near_0_in_internal_units():
    """Langevin boosting shrinks all outputs towards 0, so 0 must be sensible for every unit of the target."""
    for name, family in REGRESSION.items():
        for factor in (1.0, 1e6):
            fitted, internal = whole_target(family, example_target(name) * factor)
            assert abs(fitted.start(internal)[0]) < 0.5
