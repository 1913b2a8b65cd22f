"""The continuous ranked probability score, against numerical integration of its definition."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from metrics.predictions import Mixture, Rows
from scipy.integrate import quad
from scipy.special import beta
from scipy.stats import cauchy, gamma, laplace, lognorm, nbinom, norm, poisson, t

from surefoot import DataError
from surefoot.metrics import crps

TARGETS = np.array([-3.0, -0.4, 0.0, 0.1, 0.9, 2.5, 7.0, 40.0])


def integrated(y, cdf, low, high):
    """The definition, integrated in pieces around the target and the bulk of the distribution."""
    knots = np.unique(np.clip([low, y, high, *np.linspace(-40, 40, 41)], low, high))
    pieces = pairwise(knots)
    return sum(quad(lambda x: (cdf(x) - (x >= y)) ** 2, *piece, epsabs=1e-13, limit=200)[0] for piece in pieces)


CONTINUOUS = {
    "normal": norm(1.0, 2.0),
    "laplace": laplace(0.5, 1.5),
    "lognormal": lognorm(0.7, scale=2.0),
    "gamma": gamma(2.5, scale=0.8),
    "student_t": t(5, loc=0.3, scale=1.2),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_against_the_definition(name):
    frozen = CONTINUOUS[name]
    expected = [integrated(y, frozen.cdf, -200.0, 400.0) for y in TARGETS]
    for y, score in zip(TARGETS, expected, strict=True):
        for prediction in (frozen, Rows(name, frozen, 1), Rows("unknown family", frozen, 1)):
            assert crps([y], prediction) == pytest.approx(score, rel=1e-7)
    assert crps(TARGETS, frozen) == pytest.approx(np.mean(expected), rel=1e-7)


@pytest.mark.parametrize("rate", [0.01, 0.7, 3.3, 250.0])
def test_poisson_against_the_sum_over_counts(rate):
    counts = np.arange(2000)
    for y in (0, 1, 4, 260, 1500):
        expected = ((poisson(rate).cdf(counts) - (counts >= y)) ** 2).sum()
        for prediction in (
            poisson(rate),
            Rows("poisson", poisson(rate), 1),
            Mixture(Rows("poisson", poisson(rate), 1)),
        ):
            assert crps([y], prediction) == pytest.approx(expected, rel=1e-7)


def test_other_counts_and_shifted_families():
    counts = np.arange(2000)
    for frozen in (nbinom(3, 0.2), poisson(4.0, loc=2)):
        expected = ((frozen.cdf(counts) - (counts >= 7)) ** 2).sum()
        assert crps([7], frozen) == pytest.approx(expected, rel=1e-7)
    for frozen in (gamma(2.5, loc=-1.0), lognorm(0.5, loc=3.0)):
        assert crps([2.0], frozen) == pytest.approx(integrated(2.0, frozen.cdf, -50.0, 200.0), rel=1e-7)


@pytest.mark.parametrize("df", [2.1, 3.0, 30.0])
def test_student_against_its_closed_form(df):
    z = np.array([-50.0, -1.0, 0.0, 0.3, 1000.0])
    constant = 2 * np.sqrt(df) / (df - 1) * beta(0.5, df - 0.5) / beta(0.5, df / 2) ** 2
    closed = z * (2 * t(df).cdf(z) - 1) + 2 * t(df).pdf(z) * (df + z**2) / (df - 1) - constant
    for y, expected in zip(z, closed, strict=True):
        assert crps([y], t(df)) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("name", ["normal", "laplace", "student_t", "poisson"])
def test_mixtures_against_the_definition(name):
    family = {"normal": norm, "laplace": laplace, "student_t": partial(t, 4), "poisson": poisson}[name]
    arguments = [(1.0,), (4.0,), (9.0,)] if name == "poisson" else [(-1.0, 0.5), (0.0, 2.0), (30.0, 0.1)]
    parts = [family(*argument) for argument in arguments]

    def cdf(x):
        return np.mean([part.cdf(x) for part in parts], axis=0)

    mixture = Mixture(*(Rows(name, part, 1) for part in parts))
    for y in (-2.0, 0.0, 1.0, 3.0, 30.0):
        counts = np.arange(-50, 200)
        expected = (
            ((cdf(counts) - (counts >= y)) ** 2).sum() if name == "poisson" else integrated(y, cdf, -300.0, 300.0)
        )
        assert crps([y], mixture) == pytest.approx(expected, rel=1e-7)


def test_a_mixture_of_three_equal_normals_is_that_normal():
    normal = Rows("normal", norm([0.0, 1.0], [1.0, 0.1]), 2)
    assert crps([0.3, 2.0], Mixture(normal, normal, normal)) == pytest.approx(crps([0.3, 2.0], normal), rel=1e-12)


def test_without_spread_it_is_the_absolute_error():
    assert crps([3.0, 0.0], norm([1.0, 1.0], 1e-12)) == pytest.approx(1.5)


def test_units_and_shifts():
    y, mu, sigma = np.random.default_rng(0).random((3, 50)) + 0.1
    plain = crps(y, norm(mu, sigma))
    assert crps(1000 * y, norm(1000 * mu, 1000 * sigma)) == pytest.approx(1000 * plain)
    assert crps(y + 5, norm(mu + 5, sigma)) == pytest.approx(plain)


def test_the_true_distribution_scores_best():
    y = np.random.default_rng(0).normal(size=2000)
    best = crps(y, norm(0, 1))
    assert best < min(crps(y, norm(0, 1.3)), crps(y, norm(0, 0.7)), crps(y, norm(0.3, 1)))


def test_weights_are_copies_and_zero_is_removal():
    generator = np.random.default_rng(0)
    y, mu = generator.normal(size=(2, 30))
    weights = generator.integers(0, 3, size=30)
    rows = np.repeat(np.arange(30), weights)
    assert crps(y, norm(mu, 1.0), sample_weight=weights) == pytest.approx(crps(y[rows], norm(mu[rows], 1.0)))


def test_far_targets_stay_finite():
    for frozen in CONTINUOUS.values():
        assert np.isfinite(crps([1e200, -1e200], frozen))
    assert np.isfinite(crps([1e200], cauchy()))


@pytest.mark.parametrize(
    ("y_true", "distribution", "message"),
    [
        ([0.0, np.nan], norm(), "y_true contains NaN"),
        ([np.inf], norm(), "y_true contains infinity"),
        ([], norm(), "y_true is empty"),
        ([0.0], [0.5], "distribution must be what predict_distribution returns"),
        ([0.0], Rows("normal", norm([0.0, 1.0], 1.0), 2), "distribution has 2 rows, but y_true has 1"),
        ([0.0, 1.0], norm([0.0, 1.0, 2.0], 1.0), "distribution returns values of shape"),
        ([0.0, 1.0], norm([0.0, np.nan], 1.0), "distribution returns NaN"),
        ([0.0], norm(0.0, -1.0), "distribution returns NaN"),
    ],
)
def test_bad_input_is_refused_by_name(y_true, distribution, message):
    with pytest.raises(DataError, match=message):
        crps(y_true, distribution)
