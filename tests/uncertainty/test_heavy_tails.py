"""Held-out rows give a normal distribution the tails of a Student t: against scipy, and on new rows."""

import pickle

import numpy as np
import pytest
from scipy import stats

from surefoot import BoostingEnsembleRegressor, GradientBoostingRegressor
from surefoot.metrics import coverage
from surefoot.uncertainty import recalibration
from surefoot.uncertainty.families import LogNormal, Normal
from surefoot.uncertainty.recalibration import MIN_GAIN, RecalibrationSearch, fit_recalibration

LEVELS = (0.5, 0.8, 0.9, 0.95)
FAST = {"max_depth": 3, "random_state": 0, "n_jobs": 1}


def outputs(n_rows, seed=0):
    generator = np.random.default_rng(seed)
    return np.stack([generator.normal(size=n_rows), generator.normal(size=n_rows) / 3])


def heavy_table(seed, n_rows=600):
    """Noise of a Student t with three degrees of freedom."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows + 2000, 3))
    y = X[:, 0] + 0.5 * generator.standard_t(3, size=len(X))
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


@pytest.fixture(scope="module")
def heavy_model():
    X, y, *_ = heavy_table(0)
    return GradientBoostingRegressor(**FAST).fit(X, y)


@pytest.mark.parametrize("dispersion", [0.0, 0.001, 0.02, 0.2, 1 / 3])
def test_the_density_is_that_of_scipy(dispersion):
    family = Normal(location=3.0, spread=2.0, dispersion=dispersion)
    raw, y = outputs(200), 5 * np.random.default_rng(1).normal(size=200)
    scale = np.exp(raw[1])
    expected = stats.norm(raw[0], scale)
    if dispersion > 0:
        df = 1 / dispersion
        expected = stats.t(df, raw[0], scale * np.sqrt((df - 2) / df))
    internal = family.internal(y)
    np.testing.assert_allclose(family.log_density(raw, internal), expected.logpdf(internal), rtol=1e-9)
    np.testing.assert_allclose(family.probabilities_below(raw, internal), expected.cdf(internal), rtol=1e-9)
    distribution = family.distribution(raw)
    np.testing.assert_allclose(distribution.logpdf(y), expected.logpdf(internal) - np.log(2.0), rtol=1e-9)
    np.testing.assert_allclose(distribution.cdf(y), expected.cdf(internal), rtol=1e-9)


def test_the_shape_changes_neither_means_nor_variances():
    raw = outputs(50)
    plain, heavy = Normal(spread=2.0), Normal(spread=2.0, dispersion=0.3)
    assert (plain.distribution(raw).name, heavy.distribution(raw).name) == ("normal", "student_t")
    for name in ("mean", "std", "var"):
        np.testing.assert_allclose(getattr(heavy.distribution(raw), name), getattr(plain.distribution(raw), name))
    for one, other in zip(heavy.moments(raw), plain.moments(raw), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(heavy.nll(raw, raw[0] + 1), plain.nll(raw, raw[0] + 1))  # on which trees are grown


def test_the_repr_of_a_family_shows_heavy_tails():
    assert repr(Normal(dispersion=0.25)) == "Normal(dispersion=0.25)"
    assert repr(Normal()) == "Normal()"


def test_tails_and_scale_are_fitted_together():
    generator = np.random.default_rng(2)
    log_scale = generator.normal(size=20_000) / 2
    y = 1.5 * np.exp(0.5 * log_scale) * generator.standard_t(5, size=20_000) * np.sqrt(3 / 5)
    raw = np.stack([np.zeros(20_000), log_scale])[np.newaxis]
    line = fit_recalibration(Normal(), raw, y, np.ones(20_000), calibrates_intervals=True)
    assert line.dispersion == pytest.approx(0.2, abs=0.03)
    assert line.slope == pytest.approx(0.5, abs=0.05)
    assert line.shift == pytest.approx(np.log(1.5), abs=0.05)
    assert fit_recalibration(Normal(), raw, y, np.ones(20_000)).dispersion == 0


def test_a_weight_of_k_counts_as_k_copies():
    generator = np.random.default_rng(3)
    y, raw = generator.standard_t(3, size=200), outputs(200)[np.newaxis] / 3
    weights = generator.integers(1, 4, size=200)
    copies = np.repeat(np.arange(200), weights)
    weighted = fit_recalibration(Normal(), raw, y, weights.astype(float), calibrates_intervals=True)
    copied = fit_recalibration(Normal(), raw[:, :, copies], y[copies], np.ones(len(copies)), calibrates_intervals=True)
    assert weighted.dispersion == copied.dispersion > 0
    assert weighted.shift == pytest.approx(copied.shift, abs=1e-5)


def test_a_single_outlier_does_not_determine_the_scale():
    generator = np.random.default_rng(4)
    y = generator.normal(size=300)
    y[0] = 40.0
    raw = np.zeros((1, 2, 300))
    rows = RecalibrationSearch(Normal(), raw, y, np.ones(300))
    plain, heavy = rows.best(calibrates_intervals=False), rows.with_tails(rows.best(calibrates_intervals=False))
    assert plain.shift > 0.8
    assert heavy.shift < 0.5
    assert rows.loss(heavy) < rows.loss(plain) - 0.3


def test_normal_noise_stays_exactly_normal():
    """One of 24 tables gains enough by chance; each has 300 held-out rows."""
    n_heavy = 0
    for seed in range(40):
        y = np.random.default_rng(seed).normal(size=300)
        raw = np.zeros((1, 2, 300))
        n_heavy += fit_recalibration(Normal(), raw, y, np.ones(300), calibrates_intervals=True).dispersion > 0
    assert n_heavy <= 5


def test_a_model_of_normal_noise_predicts_normal_distributions():
    n_normal = 0
    for seed in range(5):
        generator = np.random.default_rng(seed)
        X = generator.normal(size=(300, 3))
        y = X[:, 0] + 0.5 * generator.normal(size=300)
        model = GradientBoostingRegressor(**FAST).fit(X, y)
        distribution = model.predict_distribution(X)
        assert (
            (distribution.name == "normal") == (model.family_.dispersion == 0) == ("df" not in distribution.parameters)
        )
        n_normal += model.family_.dispersion == 0
    assert n_normal >= 4


@pytest.mark.parametrize(
    ("estimator", "more"), [(GradientBoostingRegressor, {}), (BoostingEnsembleRegressor, {"n_members": 3})]
)
def test_heavy_tails_improve_the_coverage_of_intervals(estimator, more, monkeypatch):
    coverages = {"heavy": [], "normal": []}
    for seed in range(2):
        X, y, X_new, y_new = heavy_table(seed)
        for name, min_gain in (("heavy", MIN_GAIN), ("normal", np.inf)):
            monkeypatch.setattr(recalibration, "MIN_GAIN", min_gain)
            model = estimator(**FAST, **more).fit(X, y)
            assert (model.family_.dispersion > 0) == (name == "heavy")
            distribution = model.predict_distribution(X_new)
            coverages[name].append([coverage(y_new, distribution, level=level) for level in LEVELS])
    off = {name: np.abs(np.mean(values, axis=0) - LEVELS).max() for name, values in coverages.items()}
    assert off["heavy"] < off["normal"] / 1.5


def test_all_parts_of_a_model_have_the_same_tails():
    X, y, *_ = heavy_table(0, n_rows=400)
    ensemble = BoostingEnsembleRegressor(n_members=2, **FAST).fit(X, y)
    mixture = ensemble.predict_distribution(X[:5])
    assert mixture.name == "2 x student_t"
    df = {float(part.parameters["df"][0]) for part in mixture.components}
    df |= {1 / part.family_.dispersion for part in ensemble.estimators_}
    assert len(df) == 1
    np.testing.assert_allclose(mixture.var, ensemble.predict_uncertainty(X[:5]).total)


def test_a_virtual_ensemble_has_the_same_variances():
    X, y, *_ = heavy_table(0, n_rows=400)
    model = GradientBoostingRegressor(langevin=True, **FAST).fit(X, y)
    assert model.family_.dispersion > 0
    virtual = model.virtual_ensemble(3)
    members = virtual.predict_members(X[:5]).uncertainty()
    np.testing.assert_allclose(members.total, virtual.predict_uncertainty(X[:5]).total)


def test_a_copy_has_the_same_tails(heavy_model):
    X = heavy_table(0)[2][:5]
    again = pickle.loads(pickle.dumps(heavy_model))
    assert again.family_ == heavy_model.family_
    np.testing.assert_array_equal(
        again.predict_distribution(X).quantile(0.9), heavy_model.predict_distribution(X).quantile(0.9)
    )


def test_quantiles_and_draws_are_those_of_the_distribution(heavy_model):
    X = heavy_table(0)[2]
    distribution = heavy_model.predict_distribution(X)
    low, high = distribution.interval(0.8)
    np.testing.assert_allclose(distribution.cdf(high) - distribution.cdf(low), 0.8, rtol=1e-9)
    draws = distribution.sample(50, random_state=0)
    assert np.mean((low < draws) & (draws < high)) == pytest.approx(0.8, abs=0.01)


def test_validation_rows_and_warm_starts_fit_tails_too():
    X, y, X_new, y_new = heavy_table(0)
    validated = GradientBoostingRegressor(**FAST).fit(X, y, X_val=X_new[:500], y_val=y_new[:500])
    assert validated.family_.dispersion > 0
    warm = GradientBoostingRegressor(warm_start=True, validation_fraction=0.4, n_estimators=60, **FAST).fit(X, y)
    assert warm.family_.dispersion > 0
    warm.set_params(n_estimators=80).fit(X, y)
    assert warm.predict_distribution(X).name == "student_t"


@pytest.mark.parametrize(
    "settings",
    [{"early_stopping": False}, {"early_stopping": "scale"}, {"temperature": 0.01}, {"distribution": "lognormal"}],
)
def test_models_without_fitted_tails(settings):
    """Without held-out rows, with a chain that runs its length, and in other families."""
    X, y, *_ = heavy_table(0, n_rows=300)
    langevin = "temperature" in settings
    model = GradientBoostingRegressor(n_estimators=100, langevin=langevin, **settings, **FAST).fit(X, np.exp(y / 10))
    distribution = model.predict_distribution(X)
    assert distribution.name == settings.get("distribution", "normal")
    assert getattr(model.family_, "dispersion", 0.0) == 0
    assert not hasattr(LogNormal(), "dispersion")


@pytest.mark.parametrize("kind", ["constant", "steps"])
def test_tails_are_not_fitted_to_residuals_below_the_resolution_of_the_target(kind):
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = np.full(300, 3.0) if kind == "constant" else np.round(X[:, 0])
    assert GradientBoostingRegressor(**FAST).fit(X, y).family_.dispersion == 0


def test_a_fitted_family_as_distribution_is_fitted_again(heavy_model):
    assert heavy_model.family_.dispersion > 0
    X = heavy_table(0)[0]
    y = X[:, 0] + 0.5 * np.random.default_rng(0).normal(size=len(X))
    model = GradientBoostingRegressor(distribution=heavy_model.family_, **FAST).fit(X, y)
    assert model.family_.dispersion == 0
