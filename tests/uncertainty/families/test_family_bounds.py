"""Outputs are clipped to their bounds, and steps never lead further out."""

import numpy as np
import pytest
from reference.families import REGRESSION, fitted, gradients_of

every_family = pytest.mark.parametrize("name", REGRESSION)
with_scale = pytest.mark.parametrize("name", [name for name in REGRESSION if name != "poisson"])


def bounded_at(family, raw, value):
    outputs = raw.copy()
    outputs[-1] = value
    return outputs


@every_family
@pytest.mark.parametrize("beyond", [0.1, 5.0, 1e6])
@pytest.mark.parametrize("side", ["floor", "cap"])
def test_outputs_beyond_a_bound_count_as_the_bound(name, beyond, side):
    family, y, raw = fitted(name)
    at = bounded_at(family, raw, getattr(family, side))
    out = bounded_at(family, raw, getattr(family, side) + (beyond if side == "cap" else -beyond))
    np.testing.assert_array_equal(family.nll(out, y), family.nll(at, y))
    np.testing.assert_array_equal(family.inverse_information(out), family.inverse_information(at))
    np.testing.assert_array_equal(family.distribution(out).std, family.distribution(at).std)
    np.testing.assert_array_equal(gradients_of(family, out, y), gradients_of(family, at, y))


@with_scale
@pytest.mark.parametrize("side", ["floor", "cap"])
def test_at_a_bound_steps_lead_back_inside_or_are_zero(name, side):
    family, y, raw = fitted(name)
    inwards = 1 if side == "floor" else -1
    just_inside = bounded_at(family, raw, getattr(family, side) + inwards * 1e-9)
    y = raw[0] - np.where(np.arange(len(y)) % 2, 0, 50)  # no residual at all, and large ones
    free, _ = gradients_of(family, just_inside, y)
    steps, scores = gradients_of(family, bounded_at(family, raw, getattr(family, side)), y)
    outwards = inwards * free[1] < 0
    assert outwards.any()
    assert (steps[1][outwards] == 0).all()
    assert (scores[1][outwards] == 0).all()
    np.testing.assert_allclose(steps[1][~outwards], free[1][~outwards], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(steps[0], free[0], rtol=1e-6)


def test_the_mean_of_counts_is_bounded_too():
    family, y, raw = fitted("poisson")
    assert (gradients_of(family, bounded_at(family, raw, family.floor), np.zeros(len(y)))[0] == 0).all()
    assert (gradients_of(family, bounded_at(family, raw, family.floor), np.ones(len(y)))[0] > 0).all()
    assert family.distribution(np.array([[1e9]])).mean[0] == pytest.approx(2.0**53)
    assert family.distribution(np.array([[-1e9]])).mean[0] == pytest.approx(2.0**-53)


@with_scale
def test_a_scale_out_of_bounds_is_stepped_back_inside(name):
    family, y, raw = fitted(name)
    for value in (family.floor - 3, family.cap + 3):
        outputs = bounded_at(family, raw, value)
        steps, _ = gradients_of(family, outputs, y)
        assert (steps[1] * (0.5 * (family.floor + family.cap) - value) >= 0).all()
