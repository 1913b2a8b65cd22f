"""Offsets and exposures: against closed forms, scikit-learn, LightGBM, and the same model written in another way."""

import pickle

import numpy as np
import pytest
from scipy import optimize, special
from scipy.stats import poisson
from sklearn.linear_model import LogisticRegression, PoissonRegressor

import surefoot
from surefoot import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    DataError,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ParameterError,
)
from surefoot.uncertainty import stored_rows
from surefoot.uncertainty.families import REGRESSION_FAMILIES, Bernoulli, Categorical, Gamma, Poisson
from surefoot.uncertainty.offsets import GivenOffsets, new_offset, row_offsets, times_exposures
from surefoot.uncertainty.training_rows import TrainingRows

N = 500
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
E = RNG.gamma(1.0, 1.0, N) + 0.02
COUNTS = RNG.poisson(0.4 * np.exp(0.8 * X[:, 0]) * E).astype(float)
Y = X[:, 0] + RNG.normal(size=N)
CELLS = RNG.integers(0, 5, N)
SMALL = {"n_estimators": 25, "max_depth": 3, "random_state": 0}
RATES = ["poisson", "gamma", "lognormal"]


@pytest.fixture(autouse=True)
def same_numbers_in_any_order(monkeypatch):
    monkeypatch.setitem(globals(), "RNG", np.random.default_rng(7))


def regressor(distribution="poisson", **settings):
    return GradientBoostingRegressor(distribution=distribution, **(SMALL | settings))


def target_of(name):
    return COUNTS if name == "poisson" else np.exp(0.5 * Y) * E


# --- one constant --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_a_model_of_one_leaf_predicts_all_counts_over_all_exposures(weighted):
    weights = RNG.integers(0, 3, N).astype(float) if weighted else np.ones(N)
    same = np.zeros((N, 1))
    model = regressor(early_stopping=False).fit(same, COUNTS, weights if weighted else None, exposure=E)
    rate = (weights * COUNTS).sum() / (weights * E).sum()
    np.testing.assert_allclose(model.predict(same), rate, rtol=1e-9)
    np.testing.assert_allclose(model.predict(same, exposure=E), rate * E, rtol=1e-9)


def test_the_start_of_two_classes_is_the_intercept_of_a_logistic_regression_with_offsets():
    y, weights, offset = (Y > 0.3).astype(float), RNG.random(N), RNG.normal(size=N) * 3

    def loss(constant):
        return -(weights * np.log(special.expit(np.where(y > 0, 1, -1) * (offset + constant)))).sum()

    expected = optimize.minimize_scalar(loss, bounds=(-20, 20), method="bounded", options={"xatol": 1e-10}).x
    start = Bernoulli().start_with_offset(y, weights, offset[np.newaxis])
    np.testing.assert_allclose(start, expected, atol=1e-6)
    assert special.expit(start + offset) @ weights / weights.sum() == pytest.approx(y @ weights / weights.sum(), 1e-10)


def test_the_start_of_several_classes_gives_each_class_its_fraction():
    codes, weights, offset = CELLS.astype(np.int32), RNG.random(N), RNG.normal(size=(5, N)) * 2
    start = Categorical(n_classes=5).start_with_offset(codes, weights, offset)
    mean = (special.softmax(offset + start[:, np.newaxis], axis=0) * weights).sum(axis=1) / weights.sum()
    np.testing.assert_allclose(mean, np.bincount(codes, weights) / weights.sum(), rtol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_constant_offset_of_classes_starts_where_no_offset_does(n_classes):
    codes = CELLS % n_classes
    family = Bernoulli() if n_classes == 2 else Categorical(n_classes=n_classes)
    codes = codes.astype(float) if n_classes == 2 else codes.astype(np.int32)
    shift = np.linspace(-1, 1, family.n_outputs) + 1.5
    start = family.start_with_offset(codes, None, np.repeat(shift[:, np.newaxis], N, axis=1))
    moved = start + shift
    expected = family.start(codes, None, n_classes)
    np.testing.assert_allclose(moved - (moved - expected).mean() * (n_classes > 2), expected, atol=1e-8)


# --- the same model, written in another way ------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [8.0, 1 / 3])
@pytest.mark.parametrize("name", RATES)
def test_exposures_in_another_unit_only_change_the_unit_of_the_rate(name, factor):
    y = target_of(name)
    one, other = regressor(name).fit(X, y, exposure=E), regressor(name).fit(X, y, exposure=factor * E)
    np.testing.assert_allclose(other.predict(X) * factor, one.predict(X), rtol=1e-9)
    np.testing.assert_allclose(other.predict(X, exposure=factor * E), one.predict(X, exposure=E), rtol=1e-9)


@pytest.mark.parametrize("name", RATES)
def test_an_exposure_is_an_offset_of_the_log(name):
    y = target_of(name)
    one, other = regressor(name).fit(X, y, exposure=E), regressor(name).fit(X, y, offset=np.log(E))
    assert (one.predict(X, exposure=E) == other.predict(X, offset=np.log(E))).all()
    both = regressor(name).fit(X, y, exposure=E**2, offset=-np.log(E))
    np.testing.assert_allclose(both.predict(X), one.predict(X), rtol=1e-9)


@pytest.mark.parametrize("name", list(REGRESSION_FAMILIES))
def test_a_constant_offset_is_the_same_model(name):
    y = COUNTS if REGRESSION_FAMILIES[name].is_discrete else np.exp(Y)
    searched = name in ("negative_binomial", "zero_inflated_poisson")  # their start is the end of a search
    close = 1e-4 if searched else 1e-9
    offset = np.full(N, 0.75)
    plain, moved = regressor(name).fit(X, y), regressor(name).fit(X, y, offset=offset)
    np.testing.assert_allclose(moved.predict(X, offset=offset), plain.predict(X), rtol=close)
    for one, other in zip(moved.staged_predict(X, offset=offset), plain.staged_predict(X), strict=True):
        np.testing.assert_allclose(one, other, rtol=close)
    np.testing.assert_allclose(moved.validation_loss_, plain.validation_loss_, rtol=1e-4 if searched else 1e-6)


@pytest.mark.parametrize("name", ["normal", "laplace", "student_t"])
def test_an_offset_of_a_location_is_a_model_of_the_difference(name):
    offset = 20 * RNG.normal(size=N)
    model, of_difference = regressor(name).fit(X, Y + offset, offset=offset), regressor(name).fit(X, Y)
    np.testing.assert_allclose(model.predict(X, offset=offset), of_difference.predict(X) + offset, rtol=0, atol=1e-9)
    spread = model.predict_distribution(X, offset=offset).std
    np.testing.assert_allclose(spread, of_difference.predict_distribution(X).std, rtol=1e-6)


@pytest.mark.parametrize("name", ["gamma", "lognormal"])
def test_an_exposure_of_a_positive_target_is_a_model_of_the_ratio(name):
    y = target_of(name)
    model, of_ratio = regressor(name).fit(X, y, exposure=E), regressor(name).fit(X, y / E)
    np.testing.assert_allclose(model.predict(X, exposure=E), of_ratio.predict(X) * E, rtol=1e-9)


# --- other code ----------------------------------------------------------------------------------------------------


def test_gradients_are_those_of_rates_whose_weights_are_exposures():
    """The score equations of scikit-learn's PoissonRegressor on y / e with the weights e, and those of the counts."""
    offset = np.log(E)
    family = Poisson().fitted_with_offset(COUNTS, None, offset)
    offsets = row_offsets(family, offset, None, N)
    weights = times_exposures(None, offsets)
    assert weights.sum() == pytest.approx(N)
    raw, steps, scores = 0.3 * RNG.normal(size=(1, N)), np.empty((1, N)), np.empty((1, N))
    family.exposed_gradients(raw + offset, COUNTS, np.ones(N), offsets.exposures, (0, N), steps, scores)
    rate = np.exp(family.log_mean + raw[0])
    unit = E / offsets.exposures
    is_plain = (rate * unit > 1 / 32) & (COUNTS - E * rate < 32 * rate * unit)
    assert is_plain.mean() > 0.95
    of_rates = E * (COUNTS / E - rate)
    np.testing.assert_allclose((weights * steps[0] * rate * unit)[is_plain], of_rates[is_plain], atol=1e-12)
    far = np.abs(of_rates / np.sqrt(rate * unit)) > 7.9
    expected = of_rates / np.sqrt(rate * unit)
    np.testing.assert_allclose((weights * scores[0])[is_plain & ~far], expected[is_plain & ~far], atol=1e-12)


def test_a_row_of_several_exposures_grows_trees_as_several_rows_do():
    """A row of exposure k is k rows of exposure 1, among which its count is divided."""
    table, exposure = X.round(1), RNG.integers(1, 4, N).astype(float)
    counts = RNG.poisson(3 * np.exp(0.25 * X[:, 0]) * exposure).astype(float)  # so that no score is clipped
    rows = np.repeat(np.arange(N), exposure.astype(int))
    place = np.concatenate([np.arange(k) for k in exposure.astype(int)])
    divided = (counts[rows] + place) // exposure[rows]
    assert (np.bincount(rows, divided) == counts).all()
    settings = {"early_stopping": False, "n_estimators": 10, "l2_regularization": 0.0}
    one = regressor(**settings).fit(table, counts, exposure=exposure)
    several = regressor(**settings).fit(table[rows], divided)
    np.testing.assert_allclose(one.predict(table), several.predict(table), rtol=1e-6)
    assert np.ptp(np.log(one.predict(table))) > 0.2


def test_cells_converge_to_counts_over_exposures_as_in_a_poisson_regression():
    table = CELLS[:, np.newaxis].astype(float)
    counts = RNG.poisson((0.2 + 0.3 * CELLS) * E).astype(float)
    settings = {"early_stopping": False, "n_estimators": 300, "l2_regularization": 0.0, "learning_rate": 0.3}
    rates = regressor(**settings).fit(table, counts, exposure=E).predict(np.arange(5.0)[:, np.newaxis])
    np.testing.assert_allclose(rates, np.bincount(CELLS, counts) / np.bincount(CELLS, E), rtol=1e-3)
    dummies = np.eye(5)[CELLS]
    glm = PoissonRegressor(alpha=0, fit_intercept=False, tol=1e-10, max_iter=1000)
    glm.fit(dummies, counts / E, sample_weight=E)
    np.testing.assert_allclose(rates, np.exp(glm.coef_), rtol=1e-3)


def test_rates_are_as_accurate_as_those_of_lightgbm_with_an_initial_score():
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(5)
    table, exposure = rng.normal(size=(3000, 3)), rng.gamma(1.0, 1.0, 3000) + 0.02
    mean = 0.4 * np.exp(0.8 * table[:, 0] * (table[:, 1] > 0)) * exposure
    y, train, new = rng.poisson(mean).astype(float), slice(0, 2000), slice(2000, None)

    def deviance(predicted):
        return 2 * np.mean(special.xlogy(y[new], y[new] / predicted) - y[new] + predicted)

    base = np.log(y[train].sum() / exposure[train].sum())
    theirs = lightgbm.LGBMRegressor(
        objective="poisson", n_estimators=60, num_leaves=8, learning_rate=0.05, verbose=-1, n_jobs=1
    )
    theirs.fit(table[train], y[train], init_score=base + np.log(exposure[train]))
    score = theirs.predict(table[new], raw_score=True)
    model = regressor(n_estimators=300).fit(table[train], y[train], exposure=exposure[train])
    own = deviance(model.predict(table[new], exposure=exposure[new]))
    assert own < 1.03 * deviance(np.exp(score + base) * exposure[new])
    without = regressor(n_estimators=300).fit(table[train], y[train])
    assert own < 0.85 * deviance(without.predict(table[new]))


def test_offsets_of_a_logistic_regression_are_not_learned_again():
    y = (2 * X[:, 0] + X[:, 1] + RNG.logistic(size=N) > 0).astype(int)
    offset = LogisticRegression().fit(X[:, :2], y).decision_function(X[:, :2])
    model = GradientBoostingClassifier(**SMALL).fit(X, y, offset=offset)
    probabilities = model.predict_proba(X, offset=offset)
    np.testing.assert_allclose(probabilities[:, 1], special.expit(model._raw(X)[0, 0] + offset), rtol=1e-12)
    assert (model.predict(X, offset=offset) == model.classes_[probabilities.argmax(axis=1)]).all()
    assert model.feature_importances_[0] < GradientBoostingClassifier(**SMALL).fit(X, y).feature_importances_[0]
    *_, last = model.staged_predict(X, offset=offset)
    assert (last == model.predict(X, offset=offset)).all()


def test_offsets_of_several_classes_are_added_to_their_scores():
    offset = RNG.normal(size=(N, 3))
    y = np.array(["a", "b", "c"])[(offset + RNG.gumbel(size=(N, 3))).argmax(axis=1)]  # only the offset is informative
    model = GradientBoostingClassifier(**SMALL).fit(X, y, offset=offset)
    expected = special.softmax(model._raw(X)[0].T + offset, axis=1)
    np.testing.assert_allclose(model.predict_proba(X, offset=offset), expected, rtol=1e-10)
    loss = -np.log(expected[np.arange(N), np.searchsorted(model.classes_, y)]).mean()
    assert (
        loss < -np.log(special.softmax(offset, axis=1)[np.arange(N), np.searchsorted(model.classes_, y)]).mean() + 0.01
    )


# --- everything around a fit ---------------------------------------------------------------------------------------


def test_dispersion_and_history_are_those_of_counts_with_their_means():
    rng = np.random.default_rng(2)
    n = 3000
    exposure = rng.gamma(1.0, 1.0, n) + 0.1
    mean = 3 * exposure
    y = rng.poisson(mean * rng.gamma(2.0, 0.5, n)).astype(float)  # negative binomial with a dispersion of 1/2
    table = rng.normal(size=(n, 2))
    model = regressor(n_estimators=20).fit(table, y, exposure=exposure)
    assert model.family_.dispersion == pytest.approx(0.5, rel=0.15)
    variance = model.predict_distribution(table[:1], exposure=[4.0]).var
    predicted = model.predict(table[:1], exposure=[4.0])
    np.testing.assert_allclose(variance, predicted + model.family_.dispersion * predicted**2, rtol=1e-9)
    given = regressor(n_estimators=5).fit(
        table, y, exposure=exposure, X_val=table[:400], y_val=y[:400], exposure_val=exposure[:400]
    )
    stages = list(given.staged_predict(table[:400], exposure=exposure[:400]))
    moved = given._members[0].trees.start[0]  # by held-out rows, at the end: the first output starts at 0
    losses = [-poisson.logpmf(y[:400], stage * np.exp(-moved)).mean() for stage in stages]
    np.testing.assert_allclose(losses, given.validation_loss_[: len(losses)], rtol=1e-9)


@pytest.mark.parametrize(
    "settings",
    [{"langevin": True}, {"subsample": 0.7}, {"early_stopping": "scale"}],
)
def test_rates_hold_under_noise(settings):
    model = regressor(**settings).fit(X, COUNTS, exposure=E)
    assert model.predict(X, exposure=E).sum() == pytest.approx(COUNTS.sum(), rel=0.1)


def test_the_information_of_rates_is_that_of_all_counts_together():
    """For noise with a temperature: rows of one rate have, together, the information of their summed count."""
    counts = RNG.poisson(50 * E).astype(float)
    model = regressor(warm_start=True, early_stopping=False, n_estimators=1).fit(np.zeros((N, 1)), counts, exposure=E)
    rows = model._run_so_far[0].monitored.models[0].model_rows
    sums, mean = rows.sum_inverse_information()
    np.testing.assert_allclose(mean, 1 / counts.mean(), rtol=1e-6)
    np.testing.assert_allclose(sums.sum(), N / counts.mean(), rtol=1e-6)


@pytest.mark.parametrize("method", ["sglb", "sgb"])
def test_ensembles_take_exposures(method):
    model = BoostingEnsembleRegressor(method=method, n_members=2, distribution="poisson", **SMALL)
    model.fit(X, COUNTS, exposure=E)
    means = np.array([member.predict(X, exposure=E) for member in model.estimators_])
    np.testing.assert_allclose(model.predict(X, exposure=E), means.mean(axis=0), rtol=1e-10)
    uncertainty = model.predict_uncertainty(X, exposure=E)
    np.testing.assert_allclose(uncertainty.knowledge, means.var(axis=0), rtol=1e-6, atol=1e-15)
    variances = np.array([member.predict_distribution(X, exposure=E).var for member in model.estimators_])
    np.testing.assert_allclose(uncertainty.data, variances.mean(axis=0), rtol=1e-9)


def test_ensembles_of_classifiers_take_offsets():
    y, offset = (Y > 0).astype(int), RNG.normal(size=N)
    model = BoostingEnsembleClassifier(n_members=2, **SMALL).fit(X, y, offset=offset)
    each = np.array([member.predict_proba(X, offset=offset) for member in model.estimators_])
    np.testing.assert_allclose(model.predict_proba(X, offset=offset), each.mean(axis=0), rtol=1e-10)
    mean = each.mean(axis=0)
    np.testing.assert_allclose(model.predict_uncertainty(X, offset=offset).total, special.entr(mean).sum(axis=1))


def test_warm_start_resumes_with_the_same_exposures_only():
    model = regressor(warm_start=True, n_estimators=6).fit(X, COUNTS, exposure=E)
    model.set_params(n_estimators=12).fit(X, COUNTS, exposure=E)
    whole = regressor(warm_start=True, n_estimators=12).fit(X, COUNTS, exposure=E)
    assert (model.predict(X) == whole.predict(X)).all()
    with pytest.raises(DataError, match="exposure"):
        model.set_params(n_estimators=14).fit(X, COUNTS, exposure=E[::-1])
    with pytest.raises(DataError, match="exposure"):
        model.fit(X, COUNTS)


def test_saved_and_pickled_models_predict_with_exposures(tmp_path):
    model = regressor().fit(X, COUNTS, exposure=E)
    surefoot.save(model, tmp_path / "m.surefoot")
    for again in (surefoot.load(tmp_path / "m.surefoot"), pickle.loads(pickle.dumps(model))):
        assert (again.predict(X, exposure=E) == model.predict(X, exposure=E)).all()


def test_tables_in_files_give_the_model_of_the_table_in_memory(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {f"x{j}": X[:, j] for j in range(3)} | {"y": COUNTS}
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    stored = regressor().fit(tmp_path / "t.parquet", "y", exposure=E)
    frame = pa.table(columns).drop_columns("y").to_pandas()
    assert (stored.predict(frame) == regressor().fit(X, COUNTS, exposure=E).predict(X)).all()
    with pytest.raises(DataError, match="exposure must be numbers"):
        regressor().fit(tmp_path / "t.parquet", "y", exposure="days")


def test_shards_get_their_own_offsets():
    offsets = row_offsets(Poisson(), np.log(E), None, N)
    rows = TrainingRows(y=COUNTS, weights=None, train=np.arange(N), held_out=np.arange(0), offsets=offsets)
    part = rows.shard(100, 300).offsets
    assert (part.raw == np.log(E)[np.newaxis, 100:300]).all()
    assert (part.exposures == offsets.exposures[100:300]).all()


def test_statistics_of_categories_are_of_rates():
    pd = pytest.importorskip("pandas")
    place = RNG.integers(0, 80, 2000)
    exposure = np.where(place < 40, 0.3, 4.0) * RNG.gamma(2.0, 0.5, 2000) + 0.01
    rate = np.where(place % 2, 4.0, 0.5)
    frame = pd.DataFrame({"place": pd.Categorical(place)})
    model = regressor(n_estimators=60).fit(frame, RNG.poisson(rate * exposure), exposure=exposure)
    predicted = model.predict(frame)
    assert np.corrcoef(np.log(predicted), np.log(rate))[0, 1] > 0.9


# --- errors --------------------------------------------------------------------------------------------------------

WRONG = [
    ({"exposure": np.where(np.arange(N) == 3, 0.0, E)}, "exposure has values of 0 or below"),
    ({"exposure": -E}, "exposure has values of 0 or below"),
    ({"exposure": np.where(np.arange(N) == 3, np.nan, E)}, "exposure contains NaN"),
    ({"exposure": np.where(np.arange(N) == 3, np.inf, E)}, "exposure contains infinity"),
    ({"exposure": E[:-1]}, r"exposure must have shape \(500,\)"),
    ({"offset": np.ones((N, 2))}, r"offset must have shape \(500,\)"),
    ({"exposure_val": E}, "exposure_val is for X_val"),
    ({"exposure": E, "X_val": X, "y_val": COUNTS}, "exposure and exposure_val go together"),
    ({"offset_val": E, "X_val": X, "y_val": COUNTS}, "offset and offset_val go together"),
]


@pytest.mark.parametrize(("given", "message"), WRONG)
def test_wrong_offsets_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        regressor().fit(X, COUNTS, **given)


@pytest.mark.parametrize("name", ["normal", "laplace", "student_t"])
def test_an_exposure_is_refused_where_there_is_no_mean_to_multiply(name):
    with pytest.raises(ParameterError, match="exposure multiplies a mean") as caught:
        regressor(name).fit(X, Y, exposure=E)
    assert caught.value.argument == "exposure"
    with pytest.raises(ParameterError, match="exposure multiplies a mean"):
        regressor(name).fit(X, Y).predict(X, exposure=E)


def test_offsets_of_several_classes_need_a_number_for_each():
    y = np.digitize(Y, [-0.5, 0.5])
    with pytest.raises(DataError, match=r"offset must have shape \(500, 3\), one number for each row and class"):
        GradientBoostingClassifier(**SMALL).fit(X, y, offset=E)
    with pytest.raises(TypeError, match="exposure"):
        GradientBoostingClassifier(**SMALL).fit(X, y, exposure=E)


def test_offsets_beyond_the_range_of_floats_are_refused():
    with pytest.raises(DataError, match="beyond the range of floats"):
        regressor("gamma").fit(X, np.exp(Y), offset=np.full(N, 800.0))
    with pytest.raises(DataError, match="y has values of 0 or below"):
        regressor("gamma").fit(X, Y, exposure=E)


def test_offsets_of_new_rows_are_in_the_units_of_the_trees():
    family = Gamma().fitted_to(np.exp(Y))
    np.testing.assert_array_equal(new_offset(family, GivenOffsets(exposure=E), N), np.log(E)[np.newaxis])
    assert new_offset(family, GivenOffsets(), N) is None


def test_a_failed_fit_with_an_offset_leaves_the_model_as_it_was():
    model = regressor().fit(X, COUNTS, exposure=E)
    before = model.predict(X)
    with pytest.raises(DataError):
        model.fit(X, COUNTS, exposure=-E)
    assert (model.predict(X) == before).all()


@pytest.mark.parametrize("settings", [{}, {"subsample": 0.6, "langevin": True}])
def test_shards_of_a_large_table_learn_the_model_of_the_table_in_memory(tmp_path, monkeypatch, settings):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(stored_rows, "SHARD_ROWS", 1 << 14)
    rng = np.random.default_rng(0)
    frame = pa.table({"a": rng.normal(size=17_000), "b": rng.normal(size=17_000)}).to_pandas()
    exposure = rng.gamma(1.0, 1.0, 17_000) + 0.05
    y = rng.poisson(np.exp(0.5 * frame["a"]) * exposure).astype(float)
    parquet.write_table(pa.Table.from_pandas(frame.assign(y=y)), tmp_path / "t.parquet")
    model = regressor(n_estimators=4, **settings)
    stored = model.fit(tmp_path / "t.parquet", "y", exposure=exposure).predict(frame)
    assert (stored == model.fit(frame, y, exposure=exposure).predict(frame)).all()


def test_estimators_on_a_cluster_refuse_offsets_by_name():
    pytest.importorskip("distributed")
    from surefoot import dask

    model = dask.GradientBoostingRegressor(distribution="poisson", n_estimators=5)
    with pytest.raises(ParameterError, match="exposure is not for estimators on a Dask cluster: use the local"):
        model.fit(X, COUNTS, exposure=E)
    with pytest.raises(ParameterError, match="offset is not for estimators on a Dask cluster"):
        dask.BoostingEnsembleClassifier(n_members=2).fit(X, CELLS, offset=E)
    model.__dict__.update(regressor().fit(X, COUNTS).__dict__ | {"client": None})
    for method in (model.predict, model.predict_distribution):
        with pytest.raises(ParameterError, match=r"exposure is not .* call this method of to_local\(\)"):
            method(X, exposure=E)
    assert (model.to_local().predict(X, exposure=E) == regressor().fit(X, COUNTS).predict(X, exposure=E)).all()
