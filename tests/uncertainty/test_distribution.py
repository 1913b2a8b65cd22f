"""Distributions of rows against scipy's, and mixtures against numerical integrals."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from surefoot._exceptions import DataError, ParameterError
from surefoot.uncertainty import Distribution, MixtureDistribution

N_ROWS = 5
GENERATOR = np.random.default_rng(0)
LOC, SCALE = GENERATOR.normal(0, 5, N_ROWS), GENERATOR.uniform(0.5, 3, N_ROWS)
SHAPE = GENERATOR.uniform(0.8, 4, N_ROWS)
DISTRIBUTIONS = {
    "normal": (stats.norm, {"loc": LOC, "scale": SCALE}),
    "lognormal": (stats.lognorm, {"s": SCALE / 3, "scale": np.exp(LOC / 5)}),
    "laplace": (stats.laplace, {"loc": LOC, "scale": SCALE}),
    "student_t": (stats.t, {"df": 4.0, "loc": LOC, "scale": SCALE}),
    "gamma": (stats.gamma, {"a": SHAPE, "scale": SCALE}),
    "poisson": (stats.poisson, {"mu": 3 * SCALE}),
}
every_distribution = pytest.mark.parametrize("name", DISTRIBUTIONS)
LARGEST = np.finfo(np.float64).max


def pair(name):
    """(our distribution, scipy's)."""
    law, parameters = DISTRIBUTIONS[name]
    return Distribution(name, law, **parameters), law(**parameters)


def members(name, n=4):
    """Members that differ in every parameter except the degrees of freedom."""
    law, parameters = DISTRIBUTIONS[name]
    generator = np.random.default_rng(7)
    drawn = [
        {
            key: value + {"df": 0.0, "s": 0.1}.get(key, 1.0) * generator.uniform(0.1, 3, N_ROWS)
            for key, value in parameters.items()
        }
        for _ in range(n)
    ]
    return [Distribution(name, law, **draw) for draw in drawn]


def points(distribution):
    return np.floor(distribution.quantile(0.7))


@every_distribution
def test_every_method_is_that_of_scipy(name):
    ours, theirs = pair(name)
    y = points(ours)
    density = theirs.pmf if ours.is_discrete else theirs.pdf
    log_density = theirs.logpmf if ours.is_discrete else theirs.logpdf
    np.testing.assert_allclose(ours.mean, theirs.mean(), rtol=1e-12)
    np.testing.assert_allclose(ours.std, theirs.std(), rtol=1e-12)
    np.testing.assert_allclose(ours.var, theirs.var(), rtol=1e-12)
    np.testing.assert_allclose(ours.pdf(y), density(y), rtol=1e-12)
    np.testing.assert_allclose(ours.logpdf(y), log_density(y), rtol=1e-12)
    np.testing.assert_allclose(ours.cdf(y), theirs.cdf(y), rtol=1e-12)
    np.testing.assert_allclose(ours.quantile(0.9), theirs.ppf(0.9), rtol=1e-12)
    np.testing.assert_allclose(ours.interval(0.8), (theirs.ppf(0.1), theirs.ppf(0.9)), rtol=1e-9)
    assert ours.mean.shape == ours.std.shape == ours.var.shape == ours.pdf(y).shape == (N_ROWS,)


def both(name):
    return [pair(name)[0], MixtureDistribution(members(name))]


def test_normal_probabilities_are_those_of_scipy_at_every_limit():
    location, scale = np.meshgrid(
        [-np.inf, -1e308, 0.0, 2.5, np.inf, np.nan], [0.0, 1e-300, 0.7, 1e308, np.inf, np.nan]
    )
    parameters = {"loc": location.ravel(), "scale": scale.ravel()}
    ours = Distribution("normal", stats.norm, **parameters)
    for y in (-np.inf, -1e308, -3.0, 0.0, 2.5, 1e308, np.inf, np.nan):
        with np.errstate(all="ignore"):
            expected = stats.norm.cdf(y, **parameters)
        np.testing.assert_array_equal(ours.cdf(y), expected)


@every_distribution
def test_shapes(name):
    for distribution in both(name):
        assert len(distribution) == N_ROWS
        assert distribution.quantile(0.5).shape == (N_ROWS,)
        assert distribution.quantile([0.1, 0.5, 0.9]).shape == (3, N_ROWS)
        assert distribution.quantile([]).shape == (0, N_ROWS)
        np.testing.assert_array_equal(distribution.quantile([0.1, 0.5])[1], distribution.quantile(0.5))
        grid = np.arange(1.0, 8.0)[:, np.newaxis]
        for method in (distribution.pdf, distribution.logpdf, distribution.cdf):
            assert method(2.0).shape == (N_ROWS,)
            assert method(grid).shape == (7, N_ROWS)
            np.testing.assert_array_equal(method(grid)[2], method(3.0))
            np.testing.assert_array_equal(method(np.full(N_ROWS, 3.0)), method(3.0))
        assert distribution.sample(3, random_state=0).shape == (3, N_ROWS)
        assert distribution.sample(0, random_state=0).shape == (0, N_ROWS)


@every_distribution
@pytest.mark.parametrize(
    "rows", [2, -1, slice(1, 4), slice(None, None, 2), [3, 0, 0], np.arange(N_ROWS) > 2, np.empty(0, int)]
)
def test_indexing_takes_rows(name, rows):
    for distribution in both(name):
        taken = distribution[rows]
        kept = np.atleast_1d(np.arange(N_ROWS)[rows])
        assert len(taken) == len(kept)
        assert type(taken) is type(distribution)
        np.testing.assert_array_equal(taken.mean, distribution.mean[kept])
        np.testing.assert_array_equal(taken.std, distribution.std[kept])
        np.testing.assert_array_equal(taken.logpdf(3.0), distribution.logpdf(3.0)[kept])
        np.testing.assert_allclose(taken.quantile(0.3), distribution.quantile(0.3)[kept], rtol=1e-9)
        assert taken.sample(2, random_state=0).shape == (2, len(kept))


def test_rows_can_be_iterated_over():
    distribution, _ = pair("normal")
    assert [row.mean[0] for row in distribution] == list(distribution.mean)
    with pytest.raises(IndexError):
        distribution[N_ROWS]


@every_distribution
def test_a_seed_determines_the_samples(name):
    for distribution in both(name):
        first = distribution.sample(20, random_state=3)
        np.testing.assert_array_equal(first, distribution.sample(20, random_state=3))
        assert not np.array_equal(first, distribution.sample(20, random_state=4))
        assert first.dtype == np.float64
        for kind in (np.random.default_rng, np.random.RandomState):
            np.testing.assert_array_equal(
                distribution.sample(5, random_state=kind(1)), distribution.sample(5, random_state=kind(1))
            )


@every_distribution
def test_samples_follow_the_distribution(name):
    for distribution in both(name):
        samples = distribution.sample(20_000, random_state=0)
        for level in (0.1, 0.5, 0.9):
            quantile = distribution.quantile(level)
            np.testing.assert_allclose((samples <= quantile).mean(axis=0), distribution.cdf(quantile), atol=0.015)


@every_distribution
def test_levels_at_the_ends_are_the_ends_of_the_support(name):
    for distribution in both(name):
        law, parameters = DISTRIBUTIONS[name]
        low, high = law(**{key: np.ravel(value)[0] for key, value in parameters.items()}).support()
        np.testing.assert_array_equal(distribution.quantile(1.0), high)
        if name != "poisson":  # for which scipy returns -1: the largest value below all
            np.testing.assert_array_equal(distribution.quantile(0.0), low)


NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(50)


def integral(function, edges):
    """Gauss-Legendre quadrature between the edges."""
    half_widths, middles = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    values = function((middles[:, np.newaxis] + half_widths[:, np.newaxis] * NODES).ravel())
    return float(values @ (half_widths[:, np.newaxis] * NODE_WEIGHTS).ravel())


@pytest.mark.parametrize("name", [name for name in DISTRIBUTIONS if name != "poisson"])
def test_a_mixture_against_numerical_integrals(name):
    row = MixtureDistribution(members(name))[1]
    levels = np.concatenate([np.logspace(-12, -2, 12), np.linspace(0.01, 0.99, 60), 1 - np.logspace(-2, -12, 12)])
    edges = np.unique(row.quantile(levels)[:, 0])

    def density(y):
        return row.pdf(y[:, np.newaxis])[:, 0]

    assert integral(density, edges) == pytest.approx(1, abs=1e-7)
    assert integral(lambda y: y * density(y), edges) == pytest.approx(row.mean[0], rel=1e-6)
    # for Student's t, the tails beyond the edges have a small part of the variance
    variance = integral(lambda y: (y - row.mean[0]) ** 2 * density(y), edges)
    assert variance == pytest.approx(row.var[0], rel=1e-4)
    middle = row.quantile(0.35)[0]
    assert integral(density, np.append(edges[edges < middle], middle)) == pytest.approx(0.35, abs=1e-7)


def test_a_mixture_of_counts_against_its_sums():
    mixture = MixtureDistribution(members("poisson"))
    counts = np.arange(200.0)[:, np.newaxis]
    mass = mixture.pdf(counts)
    np.testing.assert_allclose(mass.sum(axis=0), 1, rtol=1e-12)
    np.testing.assert_allclose((mass * counts).sum(axis=0), mixture.mean, rtol=1e-12)
    np.testing.assert_allclose((mass * (counts - mixture.mean) ** 2).sum(axis=0), mixture.var, rtol=1e-10)
    np.testing.assert_allclose(mixture.cdf(7.0), mass[:8].sum(axis=0), rtol=1e-12)
    for level in (0.01, 0.3, 0.5, 0.99):
        smallest = (np.cumsum(mass, axis=0) >= level).argmax(axis=0)
        np.testing.assert_array_equal(mixture.quantile(level), smallest)


@every_distribution
def test_a_mixture_is_the_mean_of_its_members(name):
    components = members(name)
    mixture = MixtureDistribution(components)
    y = points(mixture)
    means = np.array([member.mean for member in components])
    np.testing.assert_allclose(mixture.mean, means.mean(axis=0), rtol=1e-12)
    expected = np.mean([member.var for member in components], axis=0) + means.var(axis=0)
    np.testing.assert_allclose(mixture.var, expected, rtol=1e-12)
    np.testing.assert_allclose(mixture.std, np.sqrt(expected), rtol=1e-12)
    np.testing.assert_allclose(mixture.pdf(y), np.mean([member.pdf(y) for member in components], axis=0), rtol=1e-12)
    np.testing.assert_allclose(mixture.cdf(y), np.mean([member.cdf(y) for member in components], axis=0), rtol=1e-12)
    assert mixture.is_discrete == (name == "poisson")


@every_distribution
def test_a_mixture_of_equal_members_is_that_member(name):
    single, _ = pair(name)
    mixture = MixtureDistribution([single] * 3)
    y = points(single)
    np.testing.assert_allclose(mixture.mean, single.mean, rtol=1e-12)
    np.testing.assert_allclose(mixture.std, single.std, rtol=1e-12)
    np.testing.assert_allclose(mixture.logpdf(y), single.logpdf(y), rtol=1e-12)
    np.testing.assert_allclose(mixture.quantile(0.2), single.quantile(0.2), rtol=1e-9)


@settings(deadline=None, max_examples=50)
@given(
    level=st.floats(1e-6, 1 - 1e-6),
    locations=st.lists(st.floats(-100, 100), min_size=1, max_size=5),
    scale=st.floats(1e-3, 10),
)
def test_quantiles_of_mixtures_invert_the_cdf(level, locations, scale):
    mixture = MixtureDistribution(
        [Distribution("normal", stats.norm, loc=[location, 0.0], scale=scale) for location in locations]
    )
    quantile = mixture.quantile(level)
    step = 2e-10 * mixture.std
    assert (mixture.cdf(quantile - step) <= level + 1e-12).all()
    assert (mixture.cdf(quantile + step) >= level - 1e-12).all()


def test_a_low_quantile_is_precise_even_if_the_standard_deviation_is_enormous():
    members = [Distribution("lognormal", stats.lognorm, s=s, scale=1.0) for s in (1.0, 5.0)]
    mixture = MixtureDistribution(members)
    assert mixture.std[0] > 1e9
    assert mixture.cdf(mixture.quantile(0.01))[0] == pytest.approx(0.01, rel=1e-6)


def test_densities_far_out_are_0_and_their_logs_are_finite():
    far = Distribution("normal", stats.norm, loc=[0.0, 0.0], scale=1.0)
    mixture = MixtureDistribution([far, Distribution("normal", stats.norm, loc=[1.0, 1.0], scale=1.0)])
    assert mixture.pdf(100.0)[0] == 0
    assert mixture.logpdf(100.0)[0] == pytest.approx(stats.norm.logpdf(99.0) - np.log(2))
    assert mixture.logpdf(1e300)[0] == -np.inf
    assert Distribution("gamma", stats.gamma, a=2.0, scale=1e-300).logpdf(1e300)[0] == -np.inf
    assert np.isnan(far.logpdf([np.nan, 0.0])[0])


@pytest.mark.parametrize("size", [1e300, 1e308])
def test_large_numbers_stay_finite(size):
    components = [Distribution("normal", stats.norm, loc=[sign * size], scale=size) for sign in (-1, 1, 1)]
    for distribution in (components[0], MixtureDistribution(components)):
        for value in (distribution.mean, distribution.std, distribution.var, *distribution.interval(0.99)):
            assert np.isfinite(value).all()
    assert components[0].std[0] == size
    assert components[0].var[0] == LARGEST
    mixture = MixtureDistribution(components)
    assert mixture.mean[0] == pytest.approx(size / 3)
    assert mixture.std[0] == pytest.approx(min(size * np.sqrt(1 + 8 / 9), LARGEST))


@pytest.mark.parametrize("mean", [1e11, 1e13, 2.0**50, 2.0**53, 1e17])
def test_quantiles_of_counts_too_large_for_scipy(mean):
    counts = Distribution("poisson", stats.poisson, mu=[3.0, mean])
    for level in (1e-6, 0.2, 0.5, 0.999):
        small, large = counts.quantile(level)
        assert small == stats.poisson.ppf(level, 3.0)
        assert (large - mean) / np.sqrt(mean) == pytest.approx(stats.norm.ppf(level), abs=1e-4)
        assert stats.poisson.cdf(large, mean) == pytest.approx(level, rel=1e-3)


@pytest.mark.parametrize("mean", [1e13, 2.0**53 - 1e9, 2.0**53, 1e17])
def test_the_search_ends_for_counts_too_large_for_floats(mean, monkeypatch):
    calls = []
    cdf = Distribution.cdf
    monkeypatch.setattr(Distribution, "cdf", lambda self, y: calls.append(y) or cdf(self, y))
    for level in (0.2, 0.4, 0.77):
        Distribution("poisson", stats.poisson, mu=[mean])._bisect_counts(
            level, np.array([mean - 40 * np.sqrt(mean)]), np.array([mean + 40 * np.sqrt(mean)])
        )
    assert len(calls) < 3 * 60


def test_no_rows():
    for distribution in (
        Distribution("normal", stats.norm, loc=np.empty(0), scale=1.0),
        MixtureDistribution([Distribution("normal", stats.norm, loc=np.empty(0), scale=1.0)] * 2),
    ):
        assert len(distribution) == 0
        for value in (distribution.mean, distribution.std, distribution.quantile(0.5), distribution.logpdf(1.0)):
            assert value.shape == (0,)
        assert distribution.sample(2).shape == (2, 0)


def test_mixtures_without_members_or_of_different_families_are_refused():
    normal, laplace = pair("normal")[0], pair("laplace")[0]
    with pytest.raises(ParameterError, match="at least one"):
        MixtureDistribution([])
    with pytest.raises(ParameterError, match="one family"):
        MixtureDistribution([normal, laplace])
    with pytest.raises(ParameterError, match="same rows"):
        MixtureDistribution([normal, normal[:2]])


@pytest.mark.parametrize("q", [-0.1, 1.1, np.nan, [0.5, 2.0], [[0.5]]])
def test_levels_are_probabilities(q):
    for distribution in both("normal"):
        with pytest.raises(ParameterError, match="q must be a number from 0 to 1"):
            distribution.quantile(q)


@pytest.mark.parametrize("level", [0, 1, -1, 95, "0.9", None])
def test_intervals_have_a_level_between_0_and_1(level):
    for distribution in both("normal"):
        with pytest.raises(ParameterError, match="level must be"):
            distribution.interval(level)


def test_targets_have_one_value_per_row():
    for distribution in both("normal"):
        for method in (distribution.pdf, distribution.logpdf, distribution.cdf):
            with pytest.raises(DataError, match="one for each of the 5 rows"):
                method(np.zeros(3))


@pytest.mark.parametrize("n", [-1, 1.5, "3"])
def test_numbers_of_draws_that_are_refused(n):
    for distribution in both("normal"):
        with pytest.raises(ParameterError, match="n must be"):
            distribution.sample(n)


def test_parameters_are_one_number_or_one_per_row():
    with pytest.raises(ParameterError, match="one dimension"):
        Distribution("normal", stats.norm, loc=np.zeros((2, 2)), scale=1.0)


@every_distribution
def test_distributions_can_be_pickled(name):
    for distribution in both(name):
        copied = pickle.loads(pickle.dumps(distribution))
        np.testing.assert_array_equal(copied.mean, distribution.mean)
        assert repr(copied) == repr(distribution)


def test_reprs():
    assert repr(pair("gamma")[0]) == "Distribution(gamma, 5 rows)"
    assert repr(MixtureDistribution(members("gamma"))) == "MixtureDistribution(4 x gamma, 5 rows)"
