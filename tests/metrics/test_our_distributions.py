"""Metrics give the same values for our own distributions and for scipy's."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import trapezoid
from scipy.special import log_ndtr, ndtr

from surefoot import Distribution
from surefoot.metrics import coverage, crps, nll
from surefoot.uncertainty import MixtureDistribution

GENERATOR = np.random.default_rng(0)
N = 40
SOME, OTHER = GENERATOR.uniform(0.5, 3.0, size=(2, N))
FAMILIES = {
    "normal": (stats.norm, {"loc": SOME, "scale": OTHER}),
    "laplace": (stats.laplace, {"loc": SOME, "scale": OTHER}),
    "student_t": (stats.t, {"df": 5.0, "loc": SOME, "scale": OTHER}),
    "lognormal": (stats.lognorm, {"s": SOME, "scale": OTHER}),
    "gamma": (stats.gamma, {"a": SOME, "scale": OTHER}),
    "poisson": (stats.poisson, {"mu": SOME}),
}


def target(name):
    drawn = np.random.default_rng(1).uniform(0.1, 6.0, size=N)
    return np.floor(drawn) if name == "poisson" else drawn


@pytest.mark.parametrize("name", FAMILIES)
def test_ours_and_scipys_have_the_same_scores(name):
    family, parameters = FAMILIES[name]
    ours, frozen, y = Distribution(name, family, **parameters), family(**parameters), target(name)
    assert nll(y, ours) == pytest.approx(nll(y, frozen), rel=1e-12)
    assert coverage(y, ours, level=0.7) == coverage(y, frozen, level=0.7)
    assert crps(y, ours) == pytest.approx(crps(y, frozen), rel=1e-9)
    unknown = Distribution("unknown family", family, **parameters)  # no closed form: by integration, or by counting
    assert crps(y, ours) == pytest.approx(crps(y, unknown), rel=1e-6)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_mixture_of_equal_members_is_the_member_and_one_of_different_members_is_not(name):
    family, parameters = FAMILIES[name]
    ours, y = Distribution(name, family, **parameters), target(name)
    same, last = MixtureDistribution([ours, ours, ours]), next(reversed(parameters))
    assert crps(y, same) == pytest.approx(crps(y, ours), rel=1e-6)
    assert nll(y, same) == pytest.approx(nll(y, ours), rel=1e-12)
    wider = Distribution(name, family, **{**parameters, last: 3 * parameters[last]})
    assert crps(y, MixtureDistribution([ours, wider])) != pytest.approx(crps(y, ours), rel=1e-3)


def test_draws_from_a_mixture_have_the_same_score():
    members = [Distribution("student_t", stats.t, df=5.0, loc=SOME + shift, scale=OTHER) for shift in (0.0, 1.0, 4.0)]
    mixture, y = MixtureDistribution(members), target("student_t")
    draws, others = mixture.sample(40_000, 0), mixture.sample(40_000, 1)
    by_draws = np.abs(draws - y).mean() - np.abs(draws - others).mean() / 2
    assert crps(y, mixture) == pytest.approx(by_draws, rel=0.01)


def test_a_wide_lognormal_keeps_its_digits():
    y = np.array([0.01, 1.0, 50.0])
    wide = Distribution("lognormal", stats.lognorm, s=[8.0, 12.0, 20.0], scale=[1.0, 2.0, 0.5])
    alike = MixtureDistribution([wide, wide])
    z = np.linspace(-40, 40, 400_001)
    for row in range(3):
        s, median = wide.parameters["s"][row], wide.parameters["scale"][row]
        log_x = np.log(median) + s * z  # the definition, integrated over log x
        log_gap = np.where(log_x >= np.log(y[row]), log_ndtr(-z), log_ndtr(z))
        expected = trapezoid(np.exp(log_x + 2 * log_gap), log_x)
        assert crps(y[[row]], wide[[row]]) == pytest.approx(expected, rel=1e-3)
        assert crps(y[[row]], alike[[row]]) == pytest.approx(crps(y[[row]], wide[[row]]), rel=1e-9)


def test_a_shifted_family_is_not_the_family():
    moved, at_zero = (Distribution("gamma", stats.gamma, a=SOME, loc=start) for start in (2.0, 0.0))
    y = target("gamma")
    assert crps(y + 2.0, moved) == pytest.approx(crps(y, at_zero), rel=1e-6)


def test_student_with_many_degrees_of_freedom_is_normal():
    y = target("normal")
    student = Distribution("student_t", stats.t, df=1e7, loc=SOME, scale=OTHER)
    z = (y - SOME) / OTHER
    normal = OTHER * (z * (2 * ndtr(z) - 1) + 2 * stats.norm.pdf(z) - 1 / np.sqrt(np.pi))
    assert crps(y, student) == pytest.approx(normal.mean(), rel=1e-6)
