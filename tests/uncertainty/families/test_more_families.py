"""Negative binomial and zero-inflated counts, quantiles, and exposed counts: twins, scipy and other libraries."""

import re
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference import families as twins
from scipy import optimize, special, stats
from sklearn.datasets import load_diabetes

import surefoot
from surefoot import BoostingEnsembleRegressor, DataError, GradientBoostingRegressor, ParameterError, metrics
from surefoot._exceptions import ModelFileError
from surefoot._jit import kernel
from surefoot.uncertainty import QuantileDistribution, check_family, stored_rows
from surefoot.uncertainty.families import RATIO_MAX, Z_MAX, NegativeBinomial, Poisson, Quantile, ZeroInflatedPoisson
from surefoot.uncertainty.families.negative_binomial import digamma_and_trigamma, dispersion_information
from surefoot.uncertainty.families.quantile import weighted_quantile
from surefoot.uncertainty.families.zero_inflated_poisson import positive_rate, zero_information, zero_terms

zero_terms, zero_information = map(kernel, (zero_terms, zero_information))
FLOOR, CAP = -3.0, 3.0
number = st.floats(-4, 4)
SMALL = {"n_estimators": 40, "max_depth": 3, "random_state": 0}
RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def same_numbers_in_any_order(monkeypatch):
    monkeypatch.setitem(globals(), "RNG", np.random.default_rng(7))


@st.composite
def rows(draw, targets, n_outputs=2):
    """raw, y, stretch and exposures."""
    n = draw(st.integers(0, 30))
    raw = np.array([draw(arrays(np.float64, n, elements=number)) for _ in range(n_outputs)])
    stretch = draw(arrays(np.float64, n, elements=st.one_of(st.just(1.0), st.floats(1, 10))))
    exposures = draw(arrays(np.float64, n, elements=st.floats(0.01, 20)))
    return raw, draw(arrays(np.float64, n, elements=targets)), stretch, exposures


counts = st.integers(0, 60).map(float)


def assert_steps_agree(family, raw, y, stretch, exposures, row):
    steps, scores = np.empty_like(raw), np.empty_like(raw)
    if exposures is None:
        family.gradients(raw, y, stretch, (0, len(y)), steps, scores)
        exposures = np.ones(len(y))
    else:
        family.exposed_gradients(raw, y, stretch, exposures, (0, len(y)), steps, scores)
    for i in range(len(y)):
        expected = row(raw[:, i].tolist(), float(y[i]), float(stretch[i]), float(exposures[i]))
        np.testing.assert_allclose(steps[:, i], expected[0], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(scores[:, i], expected[1], rtol=1e-6, atol=1e-8)


@settings(deadline=None, max_examples=60)
@given(data=rows(counts, n_outputs=1))
def test_exposed_poisson(data):
    family = Poisson(log_mean=0.5, floor=-3.0, cap=3.0)
    assert_steps_agree(
        family,
        *data,
        lambda raw, y, _, e: twins.exposed_poisson_row(raw, y, e, 0.5, -3.0, 3.0, RATIO_MAX, Z_MAX),
    )


@settings(deadline=None, max_examples=60)
@given(data=rows(counts), exposed=st.booleans())
def test_negative_binomial(data, exposed):
    raw, y, stretch, exposures = data
    assert_steps_agree(
        NegativeBinomial(floor=FLOOR, cap=CAP),
        raw,
        y,
        stretch,
        exposures if exposed else None,
        lambda r, y, s, e: twins.negative_binomial_row(r, y, s, e, FLOOR, CAP, RATIO_MAX, Z_MAX),
    )


@settings(deadline=None, max_examples=60)
@given(data=rows(counts), exposed=st.booleans())
def test_zero_inflated_poisson(data, exposed):
    raw, y, stretch, exposures = data
    assert_steps_agree(
        ZeroInflatedPoisson(floor=FLOOR, cap=CAP),
        raw,
        y,
        stretch,
        exposures if exposed else None,
        lambda r, y, _, e: twins.zero_inflated_row(r, y, e, FLOOR, CAP, RATIO_MAX, Z_MAX),
    )


@settings(deadline=None, max_examples=60)
@given(data=rows(number, n_outputs=4))
def test_quantile(data):
    levels = (0.1, 0.5, 0.8)
    raw, y, stretch, _ = data
    assert_steps_agree(
        Quantile(levels, floor=FLOOR, cap=CAP),
        raw,
        y,
        stretch,
        None,
        lambda r, y, s, _: twins.quantile_row(r, y, s, levels, FLOOR, CAP, Z_MAX),
    )


@settings(deadline=None, max_examples=200)
@given(x=st.floats(1e-4, 1e6))
def test_digamma_and_trigamma(x):
    expected = special.digamma(x), special.polygamma(1, x)
    np.testing.assert_allclose(digamma_and_trigamma(x), expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(
    ("dispersion", "low", "high"), [(0.01, 0.98, 1.02), (0.3, 0.8, 1.02), (1, 0.65, 1.02), (10, 0.5, 2.2)]
)
@pytest.mark.parametrize("mean", [0.5, 3.0, 50.0])
def test_the_information_on_dispersion_is_within_a_factor_of_two(mean, dispersion, low, high):
    """Against the exact sum over all counts."""
    size, j = 1 / dispersion, np.arange(60_000)
    above = stats.nbinom.sf(j, size, size / (size + mean))
    exact = size**2 * ((above / (size + j) ** 2).sum() - mean / (size * (size + mean)))
    found = dispersion_information(mean, dispersion, np.inf)
    assert low <= found / exact <= high
    assert dispersion_information(mean, dispersion, 2.0) >= 0.5


@settings(deadline=None, max_examples=100)
@given(log_mean=st.floats(-8, 5), log_odds=st.floats(-10, 10))
def test_terms_of_zeros(log_mean, log_odds):
    mean, zero, no_count = zero_terms(log_mean, log_odds)
    assert (mean, zero) == (pytest.approx(np.exp(log_mean)), pytest.approx(special.expit(log_odds)))
    assert no_count == pytest.approx(zero + (1 - zero) * np.exp(-mean))
    of_mean, of_zero = zero_information(mean, zero, no_count)
    y = np.arange(1.0, 700.0)
    masses = (1 - zero) * stats.poisson.pmf(y, mean)
    additional = zero / no_count
    squares = masses @ (y - mean) ** 2 + no_count * (mean * (1 - additional)) ** 2
    assert of_mean == pytest.approx(squares, rel=1e-6, abs=1e-12)
    assert of_zero == pytest.approx(masses.sum() * zero**2 + no_count * (additional - zero) ** 2, rel=1e-6, abs=1e-12)


def test_likelihoods_and_distributions_are_those_of_scipy():
    y = RNG.poisson(RNG.gamma(1.0, 3.0, 300)).astype(float)
    raw = RNG.normal(size=(2, 300))
    family = NegativeBinomial.for_target(y)
    mean, size = np.exp(family.log_mean + raw[0]), np.exp(-raw[1])
    expected = stats.nbinom(size, size / (size + mean))
    np.testing.assert_allclose(family.nll(raw, y), -expected.logpmf(y), rtol=1e-9)
    found = family.distribution(raw)
    np.testing.assert_allclose(found.quantile(0.3), expected.ppf(0.3))
    np.testing.assert_allclose(family.moments(raw), expected.stats(), rtol=1e-9)
    zip_family = ZeroInflatedPoisson.for_target(y)
    mean, zero = np.exp(zip_family.log_mean + raw[0]), special.expit(raw[1])
    mass = (1 - zero) * stats.poisson.pmf(y, mean) + zero * (y == 0)
    np.testing.assert_allclose(zip_family.nll(raw, y), -np.log(mass), rtol=1e-9)
    found = zip_family.distribution(raw)
    np.testing.assert_allclose(found.pdf(y), mass, rtol=1e-9)
    np.testing.assert_allclose(found.cdf(y), zero + (1 - zero) * stats.poisson.cdf(y, mean), rtol=1e-9)
    np.testing.assert_allclose(zip_family.moments(raw), (found.mean, found.var), rtol=1e-9)
    draws = found.sample(4000, random_state=0)
    np.testing.assert_allclose(draws.mean(axis=0), found.mean, atol=6 * (found.std / np.sqrt(4000)).max())
    np.testing.assert_allclose((draws == 0).mean(axis=0), found.pdf(0.0), atol=0.05)
    for level in (0.05, 0.6, 0.99):
        quantile = found.quantile(level)
        assert (found.cdf(quantile) >= level - 1e-12).all()
        assert (found.cdf(quantile - 1)[quantile > 0] < level).all()


def test_starts_are_the_most_likely_constants():
    y, weights = RNG.poisson(RNG.gamma(1.0, 3.0, 400)).astype(float), RNG.random(400)
    for family in (NegativeBinomial.for_target(y, weights), ZeroInflatedPoisson.for_target(y, weights)):
        start = family.start(y, weights)
        best = optimize.minimize(
            lambda raw, family=family: weights @ family.nll(np.repeat(raw[:, np.newaxis], 400, axis=1), y),
            start + 0.3,
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-10},
        )
        np.testing.assert_allclose(start, best.x, atol=2e-4)
    assert family.start(y, weights)[0] == pytest.approx(0)


@pytest.mark.parametrize("y", [[0.0] * 20, [1.0] * 20, [0.0, 1.0] * 10, [2.0, 3.0, 4.0] * 5, [0.0] * 19 + [50.0]])
@pytest.mark.parametrize("family", [NegativeBinomial(), ZeroInflatedPoisson()])
def test_extreme_counts_have_a_start_and_gradients(family, y):
    y = np.array(y)
    fitted = family.fitted_to(y)
    start = fitted.start(y)
    assert np.isfinite(start).all()
    raw = np.repeat(start[:, np.newaxis], len(y), axis=1)
    steps, scores = np.empty_like(raw), np.empty_like(raw)
    fitted.gradients(raw, y, np.ones(len(y)), (0, len(y)), steps, scores)
    assert np.isfinite(steps).all()
    assert (np.abs(scores) <= Z_MAX).all()
    assert np.isfinite(fitted.nll(raw, y)).all()


def test_the_rate_of_positive_counts():
    for rate in (1e-4, 0.3, 5.0, 80.0):
        assert positive_rate(rate / -np.expm1(-rate)) == pytest.approx(rate, rel=1e-6)


def test_each_count_family_is_the_most_accurate_on_its_own_counts():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 2))
    mean, dispersion = np.exp(0.5 + 0.6 * X[:, 0]), np.exp(-1 + 1.2 * X[:, 1])
    zero = special.expit(-0.5 + 1.5 * X[:, 1])
    targets = {
        "negative_binomial": stats.nbinom.rvs(1 / dispersion, 1 / (1 + dispersion * mean), random_state=2),
        "zero_inflated_poisson": np.where(rng.random(4000) < zero, 0, rng.poisson(2 * mean)),
    }
    losses = {}
    for target, y in targets.items():
        for name in ("poisson", *targets):
            model = GradientBoostingRegressor(distribution=name, **SMALL).fit(X[:2500], y[:2500])
            losses[target, name] = metrics.nll(y[2500:], model.predict_distribution(X[2500:]))
            assert model.predict(X[2500:]).mean() == pytest.approx(y[2500:].mean(), rel=0.2)
    for target in targets:
        assert min(("poisson", *targets), key=lambda name, target=target: losses[target, name]) == target


def test_crps_and_coverage_of_the_new_counts():
    y = RNG.poisson(3.0, 200).astype(float)
    X = RNG.normal(size=(200, 2))
    for name in ("negative_binomial", "zero_inflated_poisson"):
        predicted = GradientBoostingRegressor(distribution=name, **SMALL).fit(X, y).predict_distribution(X)
        grid = np.arange(0.0, 60.0)
        exact = ((predicted.cdf(grid[:, np.newaxis]) - (y <= grid[:, np.newaxis])) ** 2).sum(axis=0).mean()
        assert metrics.crps(y, predicted) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("name", ["negative_binomial", "zero_inflated_poisson"])
def test_ensembles_exposures_and_files(name, tmp_path):
    X, exposure = RNG.normal(size=(400, 2)), RNG.gamma(2.0, 0.5, 400) + 0.05
    y = RNG.poisson(2 * np.exp(0.7 * X[:, 0]) * exposure * RNG.gamma(2.0, 0.5, 400)).astype(float)
    model = BoostingEnsembleRegressor(distribution=name, n_members=2, **SMALL).fit(X, y, exposure=exposure)
    surefoot.save(model, tmp_path / "m.surefoot")
    again = surefoot.load(tmp_path / "m.surefoot")
    assert (again.predict(X, exposure=exposure) == model.predict(X, exposure=exposure)).all()
    other = BoostingEnsembleRegressor(distribution=name, n_members=2, **SMALL).fit(X, y, exposure=8 * exposure)
    np.testing.assert_allclose(8 * other.predict(X), model.predict(X), rtol=1e-2)
    assert np.corrcoef(np.log(model.predict(X)), X[:, 0])[0, 1] > 0.8
    assert np.isfinite(model.predict_uncertainty(X, exposure=exposure).total).all()
    assert (model.family_.fitted_with_offset(y, None, np.log(exposure)).log_mean) == pytest.approx(
        model.family_.log_mean, abs=1e-6
    )


@pytest.mark.parametrize("name", ["negative_binomial", "zero_inflated_poisson"])
def test_targets_that_are_no_counts_are_refused(name):
    with pytest.raises(DataError, match=f"distribution='{name}' does not allow"):
        GradientBoostingRegressor(distribution=name).fit(np.zeros((20, 1)), np.linspace(0, 1, 20))


# --- quantiles -----------------------------------------------------------------------------------------------------


def pinball(y, predicted, level):
    return np.mean(np.maximum(level * (y - predicted), (level - 1) * (y - predicted)))


@pytest.mark.parametrize("level", [0.1, 0.5, 0.75])
def test_weighted_quantiles_have_the_smallest_loss(level):
    values, weights = RNG.normal(size=25), RNG.integers(1, 4, 25).astype(float)
    found = weighted_quantile(values, weights / weights.sum(), level)
    repeated = np.repeat(values, weights.astype(int))
    assert pinball(repeated, found, level) <= min(pinball(repeated, each, level) for each in values) + 1e-12


def test_the_likelihood_of_quantiles_is_the_pinball_loss():
    y, levels = RNG.normal(size=50), (0.2, 0.7)
    family, raw = Quantile(levels, floor=-9.0, cap=9.0), RNG.normal(size=(3, 50))
    scale = np.exp(raw[2])
    densities = [
        level * (1 - level) / scale * np.exp(-np.maximum(level * (y - q), (level - 1) * (y - q)) / scale)
        for level, q in zip(levels, raw, strict=False)
    ]
    np.testing.assert_allclose(family.nll(raw, y), -np.log(densities).mean(axis=0), rtol=1e-9)


def test_quantiles_are_as_accurate_as_those_of_lightgbm():
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 3))
    noisy = np.sin(2 * X[:, 0]) + X[:, 1] + rng.gumbel(size=1500) * np.exp(0.6 * X[:, 2])
    levels = (0.1, 0.5, 0.9)
    for table, y in ((X, noisy), load_diabetes(return_X_y=True)):
        n_train = 2 * len(y) // 3
        train, new = slice(0, n_train), slice(n_train, None)
        model = GradientBoostingRegressor(distribution=Quantile(levels), max_depth=4, random_state=0, n_estimators=150)
        predicted = model.fit(table[train], y[train]).predict_distribution(table[new])
        assert (np.diff(predicted.values, axis=0) >= 0).all()
        own, theirs = 0.0, 0.0
        for level, values in zip(levels, predicted.values, strict=True):
            own += pinball(y[new], values, level)
            other = lightgbm.LGBMRegressor(
                objective="quantile", alpha=level, n_estimators=60, num_leaves=8, verbose=-1, n_jobs=1
            )
            theirs += pinball(y[new], other.fit(table[train], y[train]).predict(table[new]), level)
        assert own < 1.06 * theirs
        coverage = np.mean(y[new] <= predicted.values, axis=1)
        np.testing.assert_allclose(coverage, levels, atol=0.1)


def test_predict_gives_the_quantile_next_to_the_median(tmp_path):
    X = RNG.normal(size=(300, 2))
    y = X[:, 0] + RNG.normal(size=300)
    model = GradientBoostingRegressor(distribution=Quantile((0.9, 0.4, 0.1)), **SMALL).fit(X, y)
    predicted = model.predict_distribution(X)
    assert predicted.levels == (0.1, 0.4, 0.9)
    assert (model.predict(X) == predicted.quantile(0.4)).all()
    assert (predicted.quantile([0.9, 0.1]) == predicted.values[[2, 0]]).all()
    assert (predicted[3:5].values == predicted.values[:, 3:5]).all()
    assert len(predicted[0]) == 1
    assert list(model.to_shap()) == ["quantile_0.1", "quantile_0.4", "quantile_0.9", "log_scale"]
    surefoot.save(model, tmp_path / "m.surefoot")
    again = surefoot.load(tmp_path / "m.surefoot")
    assert (again.predict_distribution(X).values == predicted.values).all()
    assert again.distribution == Quantile((0.1, 0.4, 0.9))
    assert GradientBoostingRegressor(distribution="quantile", **SMALL).fit(X, y).family_.levels == (0.5,)
    offset = 30 * RNG.normal(size=300)
    shifted = GradientBoostingRegressor(distribution=Quantile((0.1, 0.4, 0.9)), **SMALL).fit(
        X, y + offset, offset=offset
    )
    np.testing.assert_allclose(
        shifted.predict_distribution(X, offset=offset).values, predicted.values + offset, rtol=0, atol=1e-9
    )


@pytest.mark.parametrize(
    "ask",
    [
        lambda d: d.mean,
        lambda d: d.std,
        lambda d: d.var,
        lambda d: d.pdf(0.0),
        lambda d: d.logpdf(0.0),
        lambda d: d.cdf(0.0),
        lambda d: d.sample(3),
        lambda d: d.quantile(0.3),
        lambda d: d.interval(0.9),
    ],
)
def test_what_quantiles_do_not_know_is_refused(ask):
    with pytest.raises(ParameterError, match="distribution='quantile'"):
        ask(QuantileDistribution((0.1, 0.5, 0.9), np.zeros((3, 4))))


@pytest.mark.parametrize("levels", [0.0, 1.0, (), (0.5, 0.5), "median", (0.1, np.nan)])
def test_wrong_levels_are_refused(levels):
    with pytest.raises(ParameterError, match="levels must be different numbers between 0 and 1"):
        Quantile(levels)


def test_what_quantiles_cannot_be_used_for_is_refused():
    X = RNG.normal(size=(60, 2))
    with pytest.raises(ParameterError, match="distribution='quantile' is for single models"):
        BoostingEnsembleRegressor(distribution="quantile", **SMALL).fit(X, X[:, 0])
    with pytest.raises(ParameterError, match="monotonic_cst would hold for the lowest quantile only"):
        GradientBoostingRegressor(distribution=Quantile((0.1, 0.9)), monotonic_cst=[1, 0]).fit(X, X[:, 0])
    model = GradientBoostingRegressor(distribution="quantile", monotonic_cst=[1, 0], **SMALL).fit(X, X[:, 0])
    with pytest.raises(ParameterError, match="std is not known"):
        model.predict(X, return_std=True)
    with pytest.raises(ParameterError, match="'quantile' predicts only some quantiles"):
        check_family("quantile")


def test_quantiles_do_not_depend_on_threads_or_shards(monkeypatch, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(17_000, 2)), columns=["a", "b"])
    y = (frame["a"] + np.random.default_rng(1).normal(size=17_000)).rename("y")
    pd.concat([frame, y], axis=1).to_parquet(tmp_path / "t.parquet")
    model = GradientBoostingRegressor(distribution=Quantile((0.1, 0.9)), n_estimators=3, random_state=0, n_jobs=1)
    expected = model.fit(frame, y).predict_distribution(frame).values
    model.set_params(n_jobs=2)
    assert (model.fit(frame, y).predict_distribution(frame).values == expected).all()
    monkeypatch.setattr(stored_rows, "SHARD_ROWS", 1 << 14)
    assert (model.fit(tmp_path / "t.parquet", "y").predict_distribution(frame).values == expected).all()


@pytest.mark.parametrize("levels", ["[0.5, 1.5]", "[]", '"0.5"', '["0.5"]', "[0.5, 0.5]", "[1]"])
def test_model_files_with_wrong_levels_are_refused(levels, tmp_path):
    X = RNG.normal(size=(60, 2))
    model = GradientBoostingRegressor(distribution="quantile", n_estimators=2).fit(X, X[:, 0])
    surefoot.save(model, tmp_path / "m.surefoot")
    with zipfile.ZipFile(tmp_path / "m.surefoot") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    (text,) = [name for name in parts if b'"levels"' in parts[name]]
    changed = re.sub(rb'"levels": ?\[[^\]]*\]', b'"levels": ' + levels.encode(), parts[text])
    assert changed != parts[text]
    with zipfile.ZipFile(tmp_path / "m.surefoot", "w") as archive:
        for name, content in (parts | {text: changed}).items():
            archive.writestr(name, content)
    with pytest.raises(ModelFileError, match="cannot be loaded"):
        surefoot.load(tmp_path / "m.surefoot")
