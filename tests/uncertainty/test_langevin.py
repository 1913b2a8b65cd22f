"""The Langevin sampler against closed forms, on tables with a partition into leaves that never changes.

With the normal family, the location of a leaf of n rows follows, with the rate e, s = 1 - e/(2N) and k = e n/(n + l2),

    mu' = (1 - k) s mu + k ybar + noise,   noise ~ Normal(0, v)

where v = 2 e / (N (n + l2)) at the paper's scale and v = 2 e T sigma^2 / (n + l2) at temperature T: an AR(1) of the
stationary mean k ybar / (1 - a) and variance v / (1 - a^2), with a = (1 - k) s. For small rates the variance is
1 / (N n) or T sigma^2 / n; the latter at T = 1 is the posterior of the mean of n rows.
"""

import numpy as np
import pytest
from reference.gradient_boosters import (
    CLASSIFIERS,
    GRADIENT_BOOSTERS,
    assert_finite_answers,
    problem,
    small,
    with_classes,
)
from scipy import stats

from surefoot import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)

MIN_P_VALUE = 1e-3  # of tests of a distribution; seeds are fixed


def chain(model, X):
    """Raw outputs after each tree, (trees, outputs, rows)."""
    return model._member_raw(X, range(1, model.n_iter_ + 1))


def step_of(mu, ybar, n, N, rate, l2):
    """The noise of each step, the factor on the previous value, and the factor on the mean of the targets."""
    pull = rate * n / (n + l2)
    factor = (1 - pull) * (1 - rate / (2 * N))
    return mu[1:] - factor * mu[:-1] - pull * ybar, factor, pull


def assert_normal(sample, std):
    assert stats.kstest(sample, stats.norm(0, std).cdf).pvalue > MIN_P_VALUE
    lag = np.corrcoef(sample[1:], sample[:-1])[0, 1]
    assert abs(lag) < 4 / np.sqrt(len(sample))


def one_leaf(rate, l2, temperature, n_trees=2500, n_rows=40):
    """A chain on a column that cannot be split, and the standardised target."""
    X, y = np.zeros((n_rows, 1)), np.random.default_rng(1).normal(5.0, 3.0, size=n_rows)
    model = GradientBoostingRegressor(
        n_estimators=n_trees, learning_rate=rate, l2_regularization=l2, max_depth=1, langevin=True,
        temperature=temperature, early_stopping=False, random_state=0,
    ).fit(X, y)  # fmt: skip
    return model, chain(model, X[:1])[:, :, 0], (y - y.mean()) / y.std()


@pytest.mark.parametrize("rate", [0.1, 0.5])
@pytest.mark.parametrize("l2", [0.0, 3.0, 40.0])
def test_every_step_at_the_scale_of_the_paper_equals_the_closed_form(rate, l2):
    _, raw, y = one_leaf(rate, l2, None)
    noise, factor, pull = step_of(raw[:, 0], y.mean(), 40, 40, rate, l2)
    variance = 2 * rate / (40 * (40 + l2))
    assert_normal(noise, np.sqrt(variance))
    late = raw[200:, 0]
    stationary = variance / (1 - factor**2)
    assert late.mean() == pytest.approx(pull * y.mean() / (1 - factor), abs=6 * np.sqrt(stationary / 120))
    assert late.var() == pytest.approx(stationary, rel=0.35)


@pytest.mark.parametrize(("rate", "l2", "temperature"), [(0.1, 3.0, 1.0), (0.5, 0.0, 1.0), (0.5, 3.0, 0.25)])
def test_every_step_at_a_temperature_equals_the_closed_form(rate, l2, temperature):
    model, raw, y = one_leaf(rate, l2, temperature)
    noise, factor, _ = step_of(raw[:, 0], y.mean(), 40, 40, rate, l2)
    shrunk = raw[:-1, 1] * (1 - rate / 80)
    sigma = np.exp(np.clip(shrunk, model.family_.floor, model.family_.cap))
    scale = np.sqrt(2 * rate * temperature / (40 + l2))
    assert_normal(noise / sigma, scale)
    late, typical = raw[200:, 0], np.mean(sigma[200:] ** 2)
    assert late.var() == pytest.approx(typical * scale**2 / (1 - factor**2), rel=0.4)


def test_a_shrunk_model_forgets_its_start():
    """The start is shrunk to 0 too: if the internal target is far from 0, the stationary mean shows the prior."""
    rate, l2, n_rows = 0.5, 400.0, 40
    X = np.zeros((n_rows, 1))
    y = np.where(np.arange(n_rows) < 36, 1.0, 9.0)  # no rows are held out, so the standardised mean is 0
    weights = np.where(np.arange(n_rows) < 36, 1, 3)
    model = GradientBoostingRegressor(
        n_estimators=2000, learning_rate=rate, l2_regularization=l2, max_depth=1, langevin=True, early_stopping=False,
        random_state=0,
    ).fit(X, y, sample_weight=weights)  # fmt: skip
    mu = chain(model, X[:1])[:, 0, 0]
    total = weights.sum()
    target = np.average((y - model.family_.location) / model.family_.spread, weights=weights)
    noise, _, _ = step_of(mu, target, total, total, rate, l2)
    assert_normal(noise, np.sqrt(2 * rate / (total * (total + l2))))


CELLS = {(0, 0): 5, (0, 1): 12, (1, 0): 20, (1, 1): 43}


@pytest.mark.parametrize("grow_policy", ["symmetric", "depthwise"])
@pytest.mark.parametrize("temperature", [None, 1.0])
def test_every_leaf_of_a_fixed_partition_has_a_chain_of_its_own(grow_policy, temperature):
    X = np.array([cell for cell, n in CELLS.items() for _ in range(n)], dtype=float)
    y = X @ [1.0, 2.0] + np.random.default_rng(0).normal(size=len(X))
    rate, N = 0.3, len(X)
    model = GradientBoostingRegressor(
        n_estimators=2000, learning_rate=rate, l2_regularization=0.0, max_depth=2, grow_policy=grow_policy,
        langevin=True, temperature=temperature, early_stopping=False, random_state=0,
    ).fit(X, y)  # fmt: skip
    covers = np.sort(model._members[0].trees.forest.covers, axis=1)
    np.testing.assert_array_equal(covers, np.tile(sorted(CELLS.values()), (2000, 1)))  # the partition never changes
    cells = np.array(list(CELLS), dtype=float)
    raw, standardised = chain(model, cells), (y - y.mean()) / y.std()
    noises = []
    for j, (cell, n) in enumerate(CELLS.items()):
        ybar = standardised[(cell == X).all(axis=1)].mean()
        noise, _, _ = step_of(raw[:, 0, j], ybar, n, N, rate, 0.0)
        if temperature is None:
            scale = np.sqrt(2 * rate / (N * n))
        else:
            shrunk = raw[:-1, 1, j] * (1 - rate / (2 * N))
            scale = np.sqrt(2 * rate / n) * np.exp(np.clip(shrunk, model.family_.floor, model.family_.cap))
        noises.append(noise / scale)
        assert_normal(noises[-1], 1.0)
    between = np.corrcoef(noises)[np.triu_indices(4, 1)]
    assert np.abs(between).max() < 4 / np.sqrt(2000)


def test_at_temperature_one_an_ensemble_is_a_sample_of_the_posterior():
    """The mean of n rows of known variance, under a flat prior: normal with mean ybar and variance sigma^2 / n."""
    n_rows = 50
    X, y = np.zeros((n_rows, 1)), np.random.default_rng(0).normal(5.0, 3.0, size=n_rows)
    ensemble = BoostingEnsembleRegressor(
        n_members=120, n_estimators=50, learning_rate=0.1, max_depth=1, temperature=1.0, early_stopping=False,
        random_state=0,
    ).fit(X, y)  # fmt: skip
    distributions = [member.predict_distribution(X[:1]) for member in ensemble.estimators_]
    means = np.array([distribution.mean[0] for distribution in distributions])
    variance = np.mean([distribution.var[0] for distribution in distributions])
    posterior = stats.norm(y.mean(), np.sqrt(variance / n_rows))
    assert stats.kstest(means, posterior.cdf).pvalue > MIN_P_VALUE
    assert means.var() == pytest.approx(variance / n_rows, rel=0.4)
    assert ensemble.predict_uncertainty(X[:1]).knowledge[0] == pytest.approx(means.var(), rel=1e-9)


def test_the_variance_at_the_scale_of_the_paper_is_smaller_by_the_number_of_rows():
    knowledge = {}
    X, y = np.zeros((50, 1)), np.random.default_rng(0).normal(5.0, 3.0, size=50)
    for temperature in (None, 1.0):
        ensemble = BoostingEnsembleRegressor(
            n_members=60, n_estimators=50, max_depth=1, temperature=temperature, early_stopping=False, random_state=0
        ).fit(X, y)
        knowledge[temperature] = ensemble.predict_uncertainty(X[:1]).knowledge[0]
    sigma2 = ensemble.predict_uncertainty(X[:1]).data[0]
    assert knowledge[None] == pytest.approx(knowledge[1.0] / 50 * y.var() / sigma2, rel=0.5)


@pytest.mark.parametrize("temperature", [None, 1.0])
def test_the_noise_of_the_first_step_of_the_log_scale(temperature):
    n, rate, l2 = 40, 0.1, 3.0
    X, y = np.zeros((n, 1)), np.random.default_rng(0).normal(size=n)
    ensemble = BoostingEnsembleRegressor(
        n_members=300, n_estimators=1, learning_rate=rate, l2_regularization=l2, max_depth=1, temperature=temperature,
        early_stopping=False, random_state=0,
    ).fit(X, y)  # fmt: skip
    mu, log_sigma = ensemble._raw(X[:1])[:, :, 0].T
    # the Fisher information of the log of a scale is 2, so its metric is 1/2; that of the location sigma^2, here 1
    expected = [2 * rate / (n * (n + l2))] * 2 if temperature is None else [2 * rate / (n + l2), rate / (n + l2)]
    for sample, variance in zip((mu, log_sigma), expected, strict=True):
        assert stats.kstest(sample, stats.norm(sample.mean(), np.sqrt(variance)).cdf).pvalue > MIN_P_VALUE
        assert sample.var() == pytest.approx(variance, rel=0.25)
    assert abs(np.corrcoef(mu, log_sigma)[0, 1]) < 4 / np.sqrt(300)


@pytest.mark.parametrize("temperature", [None, 1.0])
def test_the_noise_of_the_first_step_of_the_log_odds(temperature):
    n, rate, l2, fraction = 100, 0.1, 3.0, 0.3
    X, y = np.zeros((n, 1)), (np.arange(n) < fraction * n).astype(int)
    ensemble = BoostingEnsembleClassifier(
        n_members=300, n_estimators=1, learning_rate=rate, l2_regularization=l2, max_depth=1, temperature=temperature,
        early_stopping=False, random_state=0,
    ).fit(X, y)  # fmt: skip
    log_odds = ensemble._raw(X[:1])[:, 0, 0]
    known = n * fraction * (1 - fraction) + l2
    variance = 2 * rate / (n * known) if temperature is None else 2 * rate / known
    assert (
        stats.kstest(log_odds, stats.norm(np.log(fraction / (1 - fraction)), np.sqrt(variance)).cdf).pvalue
        > MIN_P_VALUE
    )


def test_at_temperature_one_log_odds_are_a_sample_of_their_posterior():
    """120 of 400 rows are of one class: the posterior of log-odds is nearly normal, with variance 1 / (n p (1 - p))."""
    X, y = np.zeros((400, 1)), (np.arange(400) < 120).astype(int)
    ensemble = BoostingEnsembleClassifier(
        n_members=120, n_estimators=50, max_depth=1, temperature=1.0, early_stopping=False, random_state=0
    ).fit(X, y)
    log_odds = ensemble._raw(X[:1])[:, 0, 0]
    assert log_odds.mean() == pytest.approx(np.log(120 / 280), abs=0.04)
    assert log_odds.var() == pytest.approx(1 / (400 * 0.3 * 0.7), rel=0.4)


@pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
def test_an_ensemble_is_wider_at_a_higher_temperature(estimator):
    if estimator not in (BoostingEnsembleRegressor, BoostingEnsembleClassifier):
        pytest.skip("a single model")
    X, y = problem(estimator)
    spreads = []
    for temperature in (0.01, 0.1, 1.0):
        model = small(estimator, n_members=6, n_estimators=20, temperature=temperature).fit(X, y)
        spreads.append(model._raw(X)[:, 0].std(axis=0).mean())
    assert spreads[0] < spreads[1] < spreads[2]


@pytest.mark.parametrize("estimator", [GradientBoostingRegressor, GradientBoostingClassifier])
def test_models_differ_by_seed_only_with_langevin_noise(estimator):
    X, y = problem(estimator)

    def spread(**settings):
        models = [small(estimator, early_stopping=False, random_state=s, **settings).fit(X, y) for s in range(3)]
        return np.ptp([model._raw(X) for model in models], axis=0).max()

    assert spread(langevin=False) == 0.0
    assert spread(langevin=True) > 1e-4


@pytest.mark.parametrize(("estimator", "n_classes"), with_classes(GRADIENT_BOOSTERS, 2, 4))
@pytest.mark.parametrize("temperature", [None, 1.0])
def test_noise_stays_finite_without_regularisation(estimator, n_classes, temperature):
    """Leaves with almost certain rows have almost no information: their noise must stay finite."""
    X, y = problem(estimator, n_classes=n_classes)
    settings = {"langevin": True} if estimator in (GradientBoostingRegressor, GradientBoostingClassifier) else {}
    settings |= {"temperature": temperature, "l2_regularization": 0.0, "n_estimators": 300, "learning_rate": 0.3}
    model = small(estimator, **settings).fit(X, y)
    assert_finite_answers(model, X)
    if estimator in CLASSIFIERS:
        assert np.abs(model._raw(X)).max() < 50


@pytest.mark.parametrize("estimator", [GradientBoostingRegressor, GradientBoostingClassifier])
@pytest.mark.parametrize("temperature", [None, 1.0])
def test_noise_is_bounded_as_regularisation_goes_to_zero(estimator, temperature):
    """Also in leaves without rows, where the divisor is l2 alone: l2 = 0 is the limit of small l2."""
    X, y = problem(estimator)
    far = 3.0 * np.random.default_rng(1).normal(size=(300, 4))

    def fitted(l2):
        settings = {"langevin": True, "temperature": temperature, "n_estimators": 200, "max_depth": 6}
        return small(estimator, l2_regularization=l2, **settings).fit(X, y)._raw(far)[0]

    one_row, none = fitted(1.0), fitted(0.0)
    np.testing.assert_allclose(fitted(1e-9), none, rtol=1e-4, atol=1e-5)
    assert none[0].std() < 5 * one_row[0].std()


@pytest.mark.parametrize(
    ("temperature", "l2"), [(None, 0.0), (None, 0.3), (None, 4.0), (1.0, 0.0), (1.0, 0.3), (1.0, 4.0)]
)
def test_a_leaf_without_rows_has_the_noise_of_one_row_or_of_its_regularisation(temperature, l2, monkeypatch):
    monkeypatch.setattr(
        "surefoot.uncertainty.leaf_noise.EMPTY_LEAF_TEMPERATURE", 0.0
    )  # without the additional noise of such leaves
    rate, cells = 0.1, [cell for cell in CELLS if cell != (1, 1)]
    X = np.repeat(np.array(cells, dtype=float), 12, axis=0)
    N, y = len(X), X @ [1.0, 2.0] + np.random.default_rng(0).normal(size=len(X))
    model = GradientBoostingRegressor(
        n_estimators=2000, learning_rate=rate, l2_regularization=l2, max_depth=2, langevin=True,
        temperature=temperature, early_stopping=False, random_state=0,
    ).fit(X, y)  # fmt: skip
    forest = model._members[0].trees.forest
    split = np.flatnonzero((forest.covers == 0).sum(axis=1) == 1)  # trees that split on both columns
    assert len(split) > 300
    shrunk = (1 - rate / (2 * N)) ** (1999 - split)
    steps = forest.leaves[split][forest.covers[split] == 0] / shrunk[:, np.newaxis]
    if temperature is None:
        assert_normal(steps[:, 0], np.sqrt(2 * rate / N / max(l2, 1.0)))
    # the log-scale has no unit; at a temperature its metric is 1/2
    assert_normal(steps[:, 1], np.sqrt(2 * rate / max(l2, 1.0) * (1 / N if temperature is None else 0.5)))


@pytest.mark.parametrize("settings", [{"langevin": True}, {"early_stopping": False}], ids=str)
@pytest.mark.parametrize(("n_rows", "n_trees"), [(60, 300), (60, 1000), (300, 1000), (300, 3000)])
def test_the_scale_is_that_of_the_data_for_any_number_of_trees(settings, n_rows, n_trees):
    """Two groups of rows that cannot be split further: nothing can be overfitted, and the spread is known."""
    X = (np.arange(n_rows) % 2).astype(float)[:, np.newaxis]
    y = np.random.default_rng(0).normal(size=n_rows) * np.where(X[:, 0] == 1, 2.0, 1.0)
    model = GradientBoostingRegressor(n_estimators=n_trees, max_depth=2, random_state=0, **settings).fit(X, y)
    std = model.predict(np.array([[0.0], [1.0]]), return_std=True)[1]
    expected = [y[X[:, 0] == group].std() for group in (0, 1)]
    np.testing.assert_allclose(std, expected, rtol=0.3)
