"""Targets: which are refused, how they are standardised, and how fine a scale they support."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference.families import REGRESSION, example_target, gradients_of

from surefoot._exceptions import DataError
from surefoot.uncertainty.families import Gamma, LogNormal, Normal, Poisson, StudentT

every_family = pytest.mark.parametrize("name", REGRESSION)
location_scale = pytest.mark.parametrize("name", ["normal", "laplace", "student_t"])
LARGEST = np.finfo(np.float64).max


@pytest.mark.parametrize("kind", [LogNormal, Gamma])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan])
def test_a_target_that_must_be_positive(kind, value):
    y = np.array([1.0, value, 2.0])
    with pytest.raises(
        DataError, match=rf"y has values of 0 or below, which distribution='{kind.name}' does not allow"
    ):
        kind.for_target(y)
    with pytest.raises(DataError, match="y_val has values of 0 or below"):
        kind.for_target(np.array([1.0, 2.0])).internal(y, "y_val")


@pytest.mark.parametrize("value", [-1.0, 0.5, 2.0**53 + 2, np.nan])
def test_a_target_that_must_be_a_count(value):
    y = np.array([1.0, value, 2.0])
    with pytest.raises(
        DataError, match="y has values that are not counts, which distribution='poisson' does not allow"
    ):
        Poisson.for_target(y)
    with pytest.raises(DataError, match="y_val has values that are not counts"):
        Poisson().internal(y, "y_val")


@location_scale
def test_the_internal_target_has_mean_0_and_variance_1(name):
    y = example_target(name)
    internal = REGRESSION[name].fitted_to(y).internal(y)
    assert internal.mean() == pytest.approx(0, abs=1e-12)
    assert internal.std() == pytest.approx(1, abs=1e-12)


def test_lognormal_standardises_the_log():
    y = example_target("lognormal")
    family = LogNormal.for_target(y)
    assert family.location == pytest.approx(np.log(y).mean())
    assert family.spread == pytest.approx(np.log(y).std())


@pytest.mark.parametrize("name", [name for name in REGRESSION if name != "poisson"])
@pytest.mark.parametrize("factor", [1e-200, 1e-3, 1e3, 1e200])
def test_units_of_the_target_do_not_matter(name, factor):
    y = example_target(name)
    plain, scaled = REGRESSION[name].fitted_to(y), REGRESSION[name].fitted_to(y * factor)
    np.testing.assert_allclose(plain.internal(y), scaled.internal(y * factor), rtol=1e-9, atol=1e-11)
    assert (plain.floor, plain.cap) == pytest.approx((scaled.floor, scaled.cap), rel=1e-6)


@location_scale
@pytest.mark.parametrize("step", [0.1, 1.0, 50.0])
def test_the_floor_is_the_rounding_of_the_target(name, step):
    y = np.round(np.random.default_rng(0).normal(0, 10 * step, 500) / step) * step
    family = REGRESSION[name].fitted_to(y)
    assert np.exp(family.floor) * family.spread == pytest.approx(step / np.sqrt(12), rel=1e-9)


def test_values_that_differ_by_rounding_errors_count_as_equal():
    exact = np.arange(50.0) % 10
    noisy = exact * (1 + 1e-15 * np.arange(50))
    assert Normal.for_target(noisy).floor == pytest.approx(Normal.for_target(exact).floor, rel=1e-6)


@location_scale
def test_the_floor_is_never_below_a_ten_thousandth_nor_above_the_spread(name):
    continuous = np.random.default_rng(0).normal(size=5000)
    assert REGRESSION[name].fitted_to(continuous).floor == pytest.approx(np.log(1e-4))
    rare = np.zeros(10_000)
    rare[0] = 1.0  # a resolution of a hundred standard deviations
    assert REGRESSION[name].fitted_to(rare).floor == 0


@location_scale
def test_the_cap_is_half_the_range(name):
    y = example_target(name)
    family = REGRESSION[name].fitted_to(y)
    assert np.exp(family.cap) * family.spread == pytest.approx(np.ptp(y) / 2)


def test_the_shape_of_gamma_is_bounded_by_the_resolution_of_the_log():
    y = np.exp(np.round(np.random.default_rng(0).normal(0, 1, 500), 1))
    assert np.exp(-Gamma.for_target(y).cap / 2) == pytest.approx(0.1 / np.sqrt(12), rel=1e-6)
    precise = 1000 + 1e-8 * np.arange(50)
    assert np.exp(Gamma.for_target(precise).cap) == pytest.approx(1e12)


@every_family
def test_the_floor_is_below_the_cap(name):
    for y in (np.ones(3), np.array([1.0, 2.0]), np.array([1.0] * 99 + [7.0]), example_target(name)):
        family = REGRESSION[name].fitted_to(y)
        assert family.floor < family.cap


@every_family
def test_rows_without_weight_are_not_used(name):
    y = example_target(name, 50)
    odd = np.concatenate([y, [7777.0, 1.0]])
    weights = np.concatenate([np.full(50, 2.0), [0.0, 0.0]])
    assert REGRESSION[name].fitted_to(odd, weights) == pytest.approx(REGRESSION[name].fitted_to(y, weights[:50]))


@every_family
def test_the_target_is_not_changed(name):
    y = example_target(name)
    before = y.copy()
    y.setflags(write=False)
    family = REGRESSION[name].fitted_to(y, np.ones(len(y)))
    internal = family.internal(y)
    family.nll_offset(y)
    np.testing.assert_array_equal(y, before)
    internal.setflags(write=False)
    family.start(internal)


extreme = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([LARGEST, -LARGEST, 1e308, -1e308, 5e-324, 1e-300, 0.0, 1.0]),
)
extreme_output = st.one_of(st.floats(-10, 10), st.sampled_from([1e6, -1e6, 700.0, -700.0, 1e300, -1e300]))


@every_family
@settings(deadline=None, max_examples=40)
@given(data=st.data(), n=st.integers(1, 8))
def test_finite_inputs_give_finite_outputs(name, data, n):
    y = data.draw(arrays(np.float64, n, elements=extreme))
    if name in ("lognormal", "gamma"):
        y = np.maximum(np.abs(y), 5e-324)
    elif name == "poisson":
        y = np.floor(np.minimum(np.abs(y), 2.0**53))
    family = REGRESSION[name].fitted_to(y)
    internal = family.internal(y)
    raw = data.draw(arrays(np.float64, (family.n_outputs, n), elements=extreme_output))
    for outputs in (raw, np.repeat(family.start(internal)[:, np.newaxis], n, axis=1)):
        steps, scores = gradients_of(family, outputs, internal, np.linspace(1, 5, n))
        distribution = family.distribution(outputs)
        parts = [steps, scores, family.inverse_information(outputs), family.nll(outputs, internal)]
        parts += [family.nll_offset(y), distribution.mean, distribution.std, distribution.var]
        parts += [distribution.quantile(0.2), distribution.sample(2, random_state=0)]
        for part in parts:
            assert np.isfinite(part).all()
        assert not np.isnan(distribution.logpdf(y)).any()
        assert not np.isnan(distribution.cdf(y)).any()


@location_scale
@pytest.mark.parametrize("target", [1e308, -1e308, LARGEST])
@pytest.mark.parametrize("output", [1e6, -1e6, 0.0])
def test_new_targets_far_from_the_training_targets(name, target, output):
    family = REGRESSION[name].fitted_to(np.array([1.0, 1.001, 1.002]))
    internal = family.internal(np.array([target]))
    raw = np.full((2, 1), output)
    steps, scores = gradients_of(family, raw, internal, np.array([3.0]))
    assert np.isfinite(internal).all()
    assert np.isfinite(scores).all()
    assert np.isfinite(steps).all()
    assert np.isfinite(family.nll(raw, internal)).all()


@settings(deadline=None)
@given(y=arrays(np.float64, st.integers(1, 20), elements=st.floats(-1e6, 1e6)))
def test_standardising_undoes_itself(y):
    family = StudentT().fitted_to(y)
    raw = np.stack([family.internal(y), np.zeros(len(y))])
    np.testing.assert_allclose(family.distribution(raw).mean, y, rtol=1e-9, atol=1e-9 * np.abs(y).max() + 1e-290)
