"""What columns add to knowledge uncertainty: exact sums, covariances by definition, integrals by small steps."""

import numpy as np
import pandas as pd
import pytest
from reference.gradient_boosters import ENSEMBLES, problem, small
from reference.shap_values import variance_shap
from sklearn.ensemble import GradientBoostingRegressor as OtherBooster
from sklearn.exceptions import NotFittedError

from surefoot import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ParameterError,
    VirtualEnsemble,
)
from surefoot.uncertainty.decomposition import classification_uncertainty
from surefoot.uncertainty.explanations.knowledge import _scale_to_bounds
from surefoot.uncertainty.families import REGRESSION_FAMILIES, RegressionFamily

ROWS = 200
DISTRIBUTIONS = ("gamma", "laplace", "lognormal", "normal", "poisson", "student_t")


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(1)
    X = pd.DataFrame(generator.normal(size=(ROWS, 3)), columns=list("abc"))
    X["many"] = pd.Categorical(generator.integers(0, 60, ROWS).astype(str))
    X.loc[::7, "b"] = np.nan
    signal = X["a"] + X["many"].cat.codes % 4 + (X["c"] > 0)
    return X, (signal + 0.3 * generator.normal(size=ROWS)).to_numpy()


def target_of(distribution, y):
    if distribution in ("lognormal", "gamma"):
        return np.exp(y / 2)
    return np.random.default_rng(2).poisson(np.exp(y / 3)) if distribution == "poisson" else y


def assert_adds_up(explained, knowledge):
    total = explained.values.sum(axis=1) + explained.base_value
    np.testing.assert_allclose(total, knowledge, rtol=1e-9, atol=1e-9 * knowledge.max())


@pytest.mark.parametrize("grow_policy", ["symmetric", "depthwise"])
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_regressors_add_up(distribution, grow_policy, table):
    X, y = table
    model = small(BoostingEnsembleRegressor, distribution=distribution, grow_policy=grow_policy, n_members=3)
    model.fit(X, target_of(distribution, y))
    assert_adds_up(model.shap_knowledge(X), model.predict_uncertainty(X).knowledge)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", ["sglb", "sgb"])
def test_classifiers_add_up(method, n_classes, table):
    X, y = table
    labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = small(BoostingEnsembleClassifier, n_members=3, n_estimators=60, learning_rate=0.5, early_stopping=False)
    model.set_params(method=method).fit(X, labels)
    probabilities = model.predict_proba(X)
    assert probabilities.max() > 0.99  # outputs go a long way from their bases
    assert_adds_up(model.shap_knowledge(X), model.predict_uncertainty(X).knowledge)


def test_the_base_is_the_same_for_all_rows_and_the_knowledge_of_the_mean_outputs(table):
    X, y = table
    model = small(BoostingEnsembleRegressor, n_members=3).fit(X, y)
    bases = [member.shap_values(X[:1], "mu").base_value for member in model.estimators_]
    assert model.shap_knowledge(X).base_value == pytest.approx(np.var(bases) * model.family_.spread**2)


@pytest.mark.parametrize("distribution", ["normal", "laplace", "student_t"])
def test_of_a_location_they_are_the_shapley_values_of_the_variance_of_sums(distribution, table):
    X, y = table
    model = small(BoostingEnsembleRegressor, distribution=distribution, n_members=4).fit(X, y)
    explained = model.shap_knowledge(X[:5])
    members = [member.shap_values(X[:5], "mu") for member in model.estimators_]
    components = model.family_.spread * np.stack([member.values for member in members])
    bases = model.family_.spread * np.array([member.base_value for member in members])
    for i in range(5):
        expected = variance_shap(components[:, i], bases)
        np.testing.assert_allclose(explained.values[i], expected, rtol=1e-9, atol=1e-12)
        outputs = bases + components[:, i].sum(axis=1)
        covariances = np.cov(components[:, i].T, outputs + bases, bias=True)[:-1, -1]
        np.testing.assert_allclose(explained.values[i], covariances, rtol=1e-9, atol=1e-12)


def small_steps(model, X, n_steps=4000):
    """The integral for classifiers as a sum of small changes, one column at a time."""
    members = [member.shap_values(X) for member in model.estimators_]
    values = np.stack([np.stack([one.values for one in member.values()]) for member in members])  # (m, k, rows, j)
    bases = np.array([[one.base_value for one in member.values()] for member in members])
    out = np.zeros(values.shape[2:])
    for step in range(n_steps):
        raw = bases[:, :, np.newaxis] + (step + 0.5) / n_steps * values.sum(axis=3)
        for j in range(values.shape[3]):
            part = 0.5 / n_steps * values[:, :, :, j]
            ends = [[model.family_.probabilities(one) for one in raw + sign * part] for sign in (-1, 1)]
            low, high = (classification_uncertainty(end).knowledge for end in ends)
            out[:, j] += high - low
    return out


@pytest.mark.parametrize("n_classes", [2, 3])
def test_of_classes_they_are_sums_of_small_changes(n_classes):
    X, y = problem(BoostingEnsembleClassifier, n_classes=n_classes, n_columns=3)
    model = small(BoostingEnsembleClassifier, n_members=3, learning_rate=0.5).fit(X, y)
    expected = small_steps(model, X[:4], n_steps=300)
    np.testing.assert_allclose(model.shap_knowledge(X[:4]).values, expected, rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_slopes_of_the_mean_are_differences_of_means(name):
    generator = np.random.default_rng(0)
    family = REGRESSION_FAMILIES[name].for_target(target_of(name, generator.normal(size=50)))
    raw, step = 0.3 * generator.normal(size=(family.n_outputs, 6)), 1e-6
    for k, slopes in enumerate(family.mean_slopes(raw)):
        low, high = raw.copy(), raw.copy()
        low[k] -= step
        high[k] += step
        differences = (family.moments(high)[0] - family.moments(low)[0]) / (2 * step)
        np.testing.assert_allclose(slopes, differences, rtol=1e-6, atol=1e-8)


def test_a_family_without_slopes_is_refused(table, monkeypatch):
    X, y = table
    model = small(BoostingEnsembleRegressor, distribution="poisson").fit(X, target_of("poisson", y))
    monkeypatch.delattr(type(model.family_), "mean_slopes")
    with pytest.raises(ParameterError, match=r"distribution='poisson'.*shap_values"):
        model.shap_knowledge(X)
    assert RegressionFamily.mean_slopes is type(model.family_).mean_slopes


def test_values_of_outputs_beyond_their_bounds_lead_to_the_bounds():
    bases, bounds = np.array([[0.0], [5.0]]), np.array([[-1.0, 2.0], [-1.0, 2.0]])
    values = np.array([[[[3.0, 1.0, -4.0], [1.0, 0.5, 2.0]]], [[[-1.0, -8.0, -4.0], [-1.0, 0.0, 0.5]]]])
    before = values.copy()
    _scale_to_bounds(values, bases, bounds)
    starts = np.clip(bases, -1.0, 2.0)
    ends = np.clip(bases[:, :, np.newaxis] + before.sum(axis=2), -1.0, 2.0)
    np.testing.assert_allclose(starts[:, :, np.newaxis] + values.sum(axis=2), ends)
    np.testing.assert_array_equal(values[0, 0, :, 1], before[0, 0, :, 1])  # within the bounds: as they were
    np.testing.assert_allclose(values[0, 0, :, 0], before[0, 0, :, 0] * 0.5)


@pytest.mark.parametrize("langevin", [False, True])
def test_virtual_ensembles_add_up(langevin, table):
    X, y = table
    settings = {"n_estimators": 20, "early_stopping": False, "langevin": langevin, "subsample": 0.5, "random_state": 0}
    for model, target in ((GradientBoostingRegressor(**settings), y), (GradientBoostingClassifier(**settings), y > 1)):
        ensemble = VirtualEnsemble(model.fit(X, target), n_members=4, method="truncation")
        assert_adds_up(ensemble.shap_knowledge(X), ensemble.predict_uncertainty(X).knowledge)


def test_virtual_ensembles_of_other_libraries_are_refused():
    X, y = np.random.default_rng(0).normal(size=(2, 50, 2))
    model = OtherBooster(n_estimators=10, subsample=0.5, random_state=0).fit(X, y[:, 0])
    with pytest.raises(ParameterError, match=r"GradientBoostingRegressor.*predict_uncertainty"):
        VirtualEnsemble(model, n_members=2).shap_knowledge(X)


def test_virtual_ensembles_that_are_not_truncated_are_refused():
    X, y = np.random.default_rng(0).normal(size=(2, 50, 2))
    model = GradientBoostingRegressor(n_estimators=10, langevin=True, early_stopping=False).fit(X, y[:, 0])
    with pytest.raises(ParameterError, match="is for method='truncation'"):
        model.virtual_ensemble(2).shap_knowledge(X)


@pytest.mark.parametrize("estimator", ENSEMBLES)
def test_an_ensemble_that_agrees_has_no_knowledge_to_divide(estimator):
    X, y = problem(estimator)
    model = small(estimator, n_members=1)
    with pytest.raises(NotFittedError):
        model.shap_knowledge(X)
    explained = model.fit(X, y).shap_knowledge(X)
    np.testing.assert_allclose(explained.values, 0.0, atol=1e-15)
    assert explained.base_value == 0.0
    assert explained.output == "knowledge"


def test_the_column_on_which_members_disagree_is_found():
    """Few rows beyond 1 in one column: there, members disagree, and this column is the reason."""
    generator = np.random.default_rng(7)
    X = generator.normal(size=(400, 3))
    X[:, 0] = np.where(np.arange(400) < 390, -np.abs(X[:, 0]), 1 + np.abs(X[:, 0]))
    y = X[:, 1] + 3 * (X[:, 0] > 0) * generator.normal(size=400) + 0.1 * generator.normal(size=400)
    model = small(BoostingEnsembleRegressor, method="sgb", n_members=5, n_estimators=40, early_stopping=False).fit(X, y)
    rare = model.shap_knowledge(X[390:])
    assert rare.values.mean(axis=0).argmax() == 0
    assert rare.values[:, 0].mean() > 5 * model.shap_knowledge(X[:390]).values[:, 0].mean()


def test_against_background_rows_they_add_up_too(table):
    X, y = table
    background = X[::20]
    model = small(BoostingEnsembleRegressor, n_members=3, distribution="gamma").fit(X, target_of("gamma", y))
    explained = model.shap_knowledge(X[:40], background=background)
    assert_adds_up(explained, model.predict_uncertainty(X[:40]).knowledge)
    means = [model.family_.moments(raw.mean(axis=1, keepdims=True))[0] for raw in model._raw(background)]
    assert explained.base_value == pytest.approx(np.var(means))
    single = GradientBoostingRegressor(n_estimators=20, early_stopping=False, langevin=True, random_state=0).fit(X, y)
    ensemble = VirtualEnsemble(single, n_members=4, method="truncation")
    explained = ensemble.shap_knowledge(X[:40], background=background)
    assert_adds_up(explained, ensemble.predict_uncertainty(X[:40]).knowledge)
