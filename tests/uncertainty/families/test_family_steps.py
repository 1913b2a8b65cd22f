"""Natural gradients: against finite differences of the likelihood, and against averages over scipy's distributions."""

import numpy as np
import pytest
from reference.families import REGRESSION, fitted, gradients_of
from scipy import special, stats

from surefoot.uncertainty.families import RATIO_MAX, Z_MAX, Poisson

every_family = pytest.mark.parametrize("name", REGRESSION)
with_scale = pytest.mark.parametrize("name", [name for name in REGRESSION if name != "poisson"])


def information(name, raw):
    """The Fisher information in closed form."""
    if name in ("normal", "lognormal"):
        return np.stack([np.exp(-2 * raw[1]), np.full(raw.shape[1], 2.0)])
    if name == "laplace":
        return np.stack([np.exp(-2 * raw[1]), np.ones(raw.shape[1])])
    if name.startswith("student_t"):
        df = REGRESSION[name].df
        return np.stack([(df + 1) / (df + 3) * np.exp(-2 * raw[1]), np.full(raw.shape[1], 2 * df / (df + 3))])
    if name == "gamma":
        k = np.exp(raw[1])
        return np.stack([k, k**2 * special.polygamma(1, k) - k])
    raise AssertionError(name)


def true_information(name, family, raw):
    return np.exp(family.log_mean + raw) if name == "poisson" else information(name, raw)


def slopes(family, raw, y, h=1e-6):
    """Minus the derivatives of the likelihood's negative logarithm by each output, by central differences."""
    rows = []
    for k in range(family.n_outputs):
        shift = np.zeros((family.n_outputs, 1))
        shift[k] = h
        rows.append((family.nll(raw - shift, y) - family.nll(raw + shift, y)) / (2 * h))
    return np.array(rows)


@every_family
@pytest.mark.parametrize("seed", range(3))
def test_steps_are_gradients_divided_by_the_information(name, seed):
    family, y, raw = fitted(name, seed=seed)
    expected = slopes(family, raw, y) / true_information(name, family, raw)
    steps, scores = gradients_of(family, raw, y)
    plain = (np.abs(scores) < Z_MAX - 1e-9).all(axis=0) & (steps[0] < RATIO_MAX)
    if name not in ("poisson", "gamma"):
        plain &= np.abs(y - raw[0]) < Z_MAX * np.exp(raw[1])
    assert plain.mean() > 0.95
    np.testing.assert_allclose(steps[:, plain], expected[:, plain], rtol=2e-5, atol=1e-7)


@every_family
def test_scores_are_steps_times_the_root_of_the_information(name):
    family, y, raw = fitted(name)
    steps, scores = gradients_of(family, raw, y)
    plain = (np.abs(scores) < Z_MAX - 1e-9).all(axis=0)
    assert plain.mean() > 0.95
    expected = steps * np.sqrt(true_information(name, family, raw))
    np.testing.assert_allclose(scores[:, plain], expected[:, plain], rtol=1e-9, atol=1e-12)


@every_family
def test_inverse_information_is_the_inverse_of_the_closed_form(name):
    family, _, raw = fitted(name)
    np.testing.assert_allclose(
        family.inverse_information(raw), 1 / true_information(name, family, raw), rtol=1e-9, atol=0
    )


def outcomes(distribution, n=400_001):
    """Values and weights that represent one distribution (a row)."""
    if distribution.is_discrete:
        values = np.arange(0.0, distribution.quantile(1 - 1e-13)[0] + 20)
        return values, distribution.pdf(values[:, np.newaxis])[:, 0]
    levels = special.expit(np.linspace(-32, 32, n))  # dense in both tails
    weights = levels * (1 - levels) * 64 / (n - 1)
    return distribution._scipy.ppf(levels, **{key: value[0] for key, value in distribution.parameters.items()}), weights


@every_family
def test_information_is_the_mean_square_of_the_score_and_has_no_mixed_terms(name):
    family, _, raw = fitted(name)
    raw = raw[:, :1]
    values, weights = outcomes(family.distribution(raw))
    h = 1e-5
    derivatives = []
    for k in range(family.n_outputs):
        shift = np.zeros((family.n_outputs, 1))
        shift[k] = h
        ahead, behind = family.distribution(raw + shift), family.distribution(raw - shift)
        column = values[:, np.newaxis]
        derivatives.append((ahead.logpdf(column) - behind.logpdf(column))[:, 0] / (2 * h))
    matrix = np.array([[weights @ (a * b) for a in derivatives] for b in derivatives])
    expected = np.diag(1 / family.inverse_information(raw)[:, 0])
    np.testing.assert_allclose(matrix, expected, rtol=2e-4, atol=2e-4 * expected.max())


@every_family
def test_under_the_model_steps_have_mean_0_and_scores_variance_1(name):
    family, _, raw = fitted(name)
    values, weights = outcomes(family.distribution(raw[:, :1]))
    wide = np.repeat(raw[:, :1], len(values), axis=1)
    steps, scores = gradients_of(family, wide, family.internal(values))
    # residuals are clipped to 8 scales, which removes some of the mean and variance of heavy tails
    tolerance = 0.1 if name == "student_t_3" else 0.02
    np.testing.assert_allclose(scores @ weights, 0, atol=tolerance)
    np.testing.assert_allclose(scores**2 @ weights, 1, rtol=tolerance)
    assert steps.shape == scores.shape


@with_scale
def test_stretch_changes_only_the_residual_of_the_scale(name):
    family, y, raw = fitted(name)
    stretch = np.random.default_rng(5).uniform(1, 4, len(y))
    plain_steps, plain_scores = gradients_of(family, raw, y)
    steps, scores = gradients_of(family, raw, y, stretch)
    np.testing.assert_array_equal(steps[0], plain_steps[0])
    np.testing.assert_array_equal(scores[0], plain_scores[0])
    moved_steps, moved_scores = gradients_of(family, raw, raw[0] + stretch * (y - raw[0]))
    np.testing.assert_allclose(steps[1], moved_steps[1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(scores[1], moved_scores[1], rtol=1e-9, atol=1e-12)
    assert (np.abs(steps[1] - plain_steps[1]) > 1e-6).mean() > 0.9


def test_poisson_has_no_scale_to_stretch():
    family, y, raw = fitted("poisson")
    np.testing.assert_array_equal(gradients_of(family, raw, y, np.full(len(y), 3.0)), gradients_of(family, raw, y))


@pytest.mark.parametrize("mean", [1e-8, 1e-4, 1e-2, 1 / RATIO_MAX, 0.5])
def test_rare_counts_make_bounded_steps_that_cancel(mean):
    family = Poisson()
    counts = np.arange(30.0)
    raw = np.full((1, 30), np.log(mean))
    steps, scores = gradients_of(family, raw, counts)
    assert np.abs(steps).max() <= RATIO_MAX
    assert np.abs(scores).max() <= Z_MAX
    mass = stats.poisson(mean).pmf(counts)
    assert steps[0] @ mass == pytest.approx(0, abs=0.02 * np.sqrt(mean * family.inverse_information(raw)[0, 0]))


@pytest.mark.parametrize("name", ["poisson", "gamma"])
def test_one_row_cannot_throw_the_mean(name):
    family, _, raw = fitted(name)
    y = np.full(raw.shape[1], 1e15 if name == "poisson" else 600.0)
    steps, scores = gradients_of(family, raw, y)
    np.testing.assert_array_equal(steps[0], RATIO_MAX)
    np.testing.assert_array_equal(scores[0], Z_MAX)


@pytest.mark.parametrize("name", ["normal", "lognormal", "laplace", "student_t"])
def test_outliers_count_as_much_as_one_at_the_limit(name):
    family, _, raw = fitted(name)
    scale = np.exp(raw[1])
    far = gradients_of(family, raw, raw[0] + 1e9 * scale)
    at_limit = gradients_of(family, raw, raw[0] + Z_MAX * scale)
    np.testing.assert_allclose(far[0][1], at_limit[0][1], rtol=1e-9)
    np.testing.assert_allclose(far[1][1], at_limit[1][1], rtol=1e-9)
    assert np.abs(far[1][0]).max() <= Z_MAX * (1 + 1e-12)


@every_family
def test_following_the_steps_reaches_the_most_likely_constant(name):
    family, y, raw = fitted(name)
    output = raw[:, :1].copy()
    for _ in range(1500):
        output += 0.1 * gradients_of(family, np.repeat(output, len(y), axis=1), y)[0].mean(axis=1, keepdims=True)
    best = family.nll(np.repeat(family.start(y)[:, np.newaxis], len(y), axis=1), y).mean()
    assert family.nll(np.repeat(output, len(y), axis=1), y).mean() == pytest.approx(best, abs=2e-3)
