"""SHAP values of our own: against shap's on numbers, against the definition on categories, and additive everywhere."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from reference.gradient_boosters import ENSEMBLES, GRADIENT_BOOSTERS, REGRESSORS, problem, small
from reference.shap_values import background_shap, ensemble_shap, shapley_values
from sklearn.exceptions import NotFittedError

from surefoot import (
    BoostingEnsembleRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ParameterError,
    load,
    save,
)

each_policy = pytest.mark.parametrize("grow_policy", ["symmetric", "depthwise"])
ROWS = 240


@pytest.fixture(scope="module")
def numbers():
    generator = np.random.default_rng(3)
    X = generator.normal(size=(ROWS, 5))
    X[:, 3] = generator.integers(0, 4, ROWS)
    X[generator.random(X.shape) < 0.1] = np.nan
    signal = 2 * np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1], nan=1.5) ** 2 - (X[:, 3] > 1)
    return X, signal + 0.3 * generator.normal(size=ROWS)


@pytest.fixture(scope="module")
def mixed():
    """A number, two columns of few categories and two of many: members read pairs of them."""
    generator = np.random.default_rng(5)
    X = pd.DataFrame({"number": generator.normal(size=ROWS)})
    X.loc[::9, "number"] = np.nan
    for name, n in (("few", 4), ("fewer", 3), ("many", 70), ("more", 60)):
        X[name] = pd.Categorical([f"{name}{code}" for code in generator.integers(0, n, ROWS)])
    X.loc[::11, "few"] = np.nan
    codes = {name: X[name].cat.codes.to_numpy() for name in X.columns[1:]}
    y = np.nan_to_num(X["number"]) + codes["many"] % 3 + 2 * (codes["few"] == codes["more"] % 4)
    return X, y + 0.3 * generator.normal(size=ROWS)


def sums_of_trees(model, X):
    """The mean over the members of the raw outputs before the bound of the scale, (outputs, rows)."""
    columns, totals = model._columns(X), []
    for member in model._members:
        raw = np.repeat(member.trees.start[:, np.newaxis], len(X), axis=1)
        member.trees.forest.add(member.encoding.codes(columns, 0, len(X)), 0, member.trees.forest.n_trees, raw)
        totals.append(raw)
    return np.mean(totals, axis=0)


def assert_additive(model, X):
    explained = model.shap_values(X)
    for one, total in zip(explained.values(), sums_of_trees(model, X), strict=True):
        np.testing.assert_allclose(one.values.sum(axis=1) + one.base_value, total, rtol=0, atol=1e-9)
    return explained


SETTINGS = [
    {},
    {"grow_policy": "depthwise"},
    {"langevin": True, "learning_rate": 0.3},
    {"langevin": True, "grow_policy": "depthwise"},
    {"min_samples_leaf": 40, "grow_policy": "depthwise"},  # many nodes are not split
    {"min_samples_leaf": 20},
    {"max_depth": 1},
    {"max_depth": 1, "grow_policy": "depthwise"},
    {"max_depth": 8, "n_estimators": 4},  # deeper than there are columns: they are read again and again
    {"max_depth": 9, "n_estimators": 4, "grow_policy": "depthwise"},
    {"distribution": "gamma", "max_bins": 4},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_values_of_numeric_models_are_those_of_shap(settings, numbers):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # from packages that shap imports
        shap = pytest.importorskip("shap")
    X, y = numbers
    model = GradientBoostingRegressor(**{"n_estimators": 15, "max_depth": 5, "random_state": 0, **settings})
    model.fit(X, np.exp(y / 3) if "distribution" in settings else y)
    strange = np.random.default_rng(4).normal(scale=3, size=(30, 5))
    rows = np.vstack([X[:100], strange, np.full((1, 5), np.nan)])
    explained = assert_additive(model, rows)
    for name, trees in model.to_shap().items():
        explainer = shap.TreeExplainer(trees)
        np.testing.assert_allclose(explained[name].values, explainer.shap_values(rows), rtol=0, atol=1e-6)
        np.testing.assert_allclose(explained[name].base_value, explainer.expected_value, rtol=0, atol=1e-6)


@each_policy
@pytest.mark.parametrize("n_classes", [2, 3])
def test_values_of_classifiers_are_those_of_shap(grow_policy, n_classes, numbers):
    shap = pytest.importorskip("shap")
    X, y = numbers
    labels = np.array(["a", "b", "c"])[np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)]
    model = GradientBoostingClassifier(n_estimators=10, max_depth=4, grow_policy=grow_policy, random_state=0)
    explained = assert_additive(model.fit(X, labels), X)
    assert list(explained) == (["log_odds"] if n_classes == 2 else ["a", "b", "c"])
    for name, trees in model.to_shap().items():
        values = shap.TreeExplainer(trees).shap_values(X)
        np.testing.assert_allclose(explained[name].values, values, rtol=0, atol=1e-6)
        np.testing.assert_array_equal(model.shap_values(X, name).values, explained[name].values)


@each_policy
@pytest.mark.parametrize("columns", [["number", "few", "fewer"], ["number", "few", "fewer", "many", "more"]])
def test_values_with_categories_are_shapley_values_by_definition(grow_policy, columns, mixed):
    X, y = mixed
    X = X[columns]
    model = BoostingEnsembleRegressor(
        n_members=2, n_estimators=4, max_depth=4, grow_policy=grow_policy, random_state=0, early_stopping=False
    ).fit(X, y)
    sources = [source for member in model._members for source in member.encoding.sources]
    assert any(len(source) > 1 for source in sources) == ("many" in columns)
    values, bases = ensemble_shap(model, X[:6])
    for one, expected, base in zip(model.shap_values(X[:6]).values(), values, bases, strict=True):
        np.testing.assert_allclose(one.values, expected, rtol=0, atol=1e-12)
        assert one.base_value == pytest.approx(base, abs=1e-12)


@each_policy
@pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
def test_values_with_categories_add_up(estimator, grow_policy, mixed):
    X, y = mixed
    target = y if estimator in REGRESSORS else np.digitize(y, np.quantile(y, [0.3, 0.6]))
    model = small(estimator, n_estimators=8, max_depth=5, grow_policy=grow_policy).fit(X, target)
    strange = X[:20].assign(many=pd.Categorical(["never"] * 20), number=np.nan)
    assert_additive(model, pd.concat([X, strange.astype({"many": "category"})]).astype({"many": "category"}))


@pytest.mark.parametrize("estimator", ENSEMBLES)
def test_an_ensemble_has_the_mean_of_its_members(estimator):
    X, y = problem(estimator)
    model = small(estimator, n_members=3).fit(X, y)
    for name, one in model.shap_values(X).items():
        members = [member.shap_values(X, name) for member in model.estimators_]
        np.testing.assert_allclose(one.values, np.mean([each.values for each in members], axis=0), atol=1e-12)
        assert one.base_value == pytest.approx(np.mean([each.base_value for each in members]))


@each_policy
def test_rows_do_not_depend_on_each_other_or_on_threads(grow_policy, mixed, monkeypatch):
    X, y = mixed
    model = small(BoostingEnsembleRegressor, grow_policy=grow_policy).fit(X, y)
    whole = model.shap_values(X, "mu").values
    monkeypatch.setattr("surefoot._parallel.THREADED_CELLS", 1)
    monkeypatch.setattr("surefoot.uncertainty.explanations.member_shap.PREDICT_BLOCK", 37)
    np.testing.assert_array_equal(model.set_params(n_jobs=2).shap_values(X, "mu").values, whole)
    np.testing.assert_array_equal(model.shap_values(X[5:6], "mu").values, whole[5:6])


def test_a_long_table_of_deep_trees_is_divided_into_short_calls(numbers, monkeypatch):
    X, y = numbers
    for grow_policy in ("symmetric", "depthwise"):
        model = small(GradientBoostingRegressor, grow_policy=grow_policy).fit(X, y)
        whole = model.shap_values(X, "mu").values
        monkeypatch.setattr("surefoot.trees.tree_shap.CALL_TERMS", 1)
        np.testing.assert_array_equal(model.shap_values(X, "mu").values, whole)
        monkeypatch.undo()


def test_the_parameter_is_checked_and_so_is_the_model(numbers):
    X, y = numbers
    model = small(GradientBoostingRegressor)
    with pytest.raises(NotFittedError):
        model.shap_values(X)
    with pytest.raises(ParameterError, match=r"parameter must be None or one of 'mu', 'log_sigma', got 'sigma'"):
        model.fit(X, y).shap_values(X, "sigma")
    with pytest.raises(ValueError, match="5 features"):
        model.shap_values(X[:, :2])


def test_results_have_the_names_of_columns_and_rows(mixed):
    X, y = mixed
    X = X.set_index(np.arange(len(X)) + 1000)
    explained = small(GradientBoostingRegressor).fit(X, y).shap_values(X, "mu")
    frame = explained.to_frame()
    assert list(frame.columns) == list(X.columns)
    assert list(frame.index) == list(X.index)
    np.testing.assert_array_equal(frame.to_numpy(), explained.values)
    np.testing.assert_allclose(explained.importances, np.abs(explained.values).mean(axis=0))
    assert explained.feature_names[int(explained.importances.argmax())] in repr(explained)


def test_results_go_to_the_plots_of_shap(mixed):
    shap = pytest.importorskip("shap")
    X, y = mixed
    explained = small(GradientBoostingRegressor).fit(X, y).shap_values(X, "mu")
    explanation = explained.to_explanation()
    assert isinstance(explanation, shap.Explanation)
    assert explanation.feature_names == list(X.columns)
    np.testing.assert_array_equal(explanation.values, explained.values)
    np.testing.assert_array_equal(explanation.base_values, np.full(len(X), explained.base_value))
    assert explanation[0].data[3] == X["many"].iloc[0]


@pytest.mark.parametrize("settings", SETTINGS)
def test_values_against_background_rows_are_those_of_shap(settings, numbers):
    shap = pytest.importorskip("shap")
    X, y = numbers
    model = GradientBoostingRegressor(**{"n_estimators": 15, "max_depth": 5, "random_state": 0, **settings})
    model.fit(X, np.exp(y / 3) if "distribution" in settings else y)
    rows, background = X[:60], X[100:125]
    explained = model.shap_values(rows, background=background)
    totals, bases = sums_of_trees(model, rows), sums_of_trees(model, background).mean(axis=1)
    for k, (name, trees) in enumerate(model.to_shap().items()):
        explainer = shap.TreeExplainer(trees, background, feature_perturbation="interventional")
        values = explained[name].values
        np.testing.assert_allclose(values, explainer.shap_values(rows), rtol=0, atol=1e-6)
        assert explained[name].base_value == pytest.approx(bases[k], abs=1e-9)
        np.testing.assert_allclose(values.sum(axis=1) + explained[name].base_value, totals[k], rtol=0, atol=1e-9)


@each_policy
@pytest.mark.parametrize("columns", [["number", "few", "fewer"], ["number", "few", "fewer", "many", "more"]])
def test_values_against_background_rows_are_shapley_values_by_predictions_for_mixtures(grow_policy, columns, mixed):
    X, y = mixed
    X = X[columns]
    model = BoostingEnsembleRegressor(
        n_members=2, n_estimators=20, max_depth=5, grow_policy=grow_policy, random_state=0, early_stopping=False
    ).fit(X, y)
    rows, background = X[:5], X[50:57]
    values, bases = background_shap(lambda table: sums_of_trees(model, table), rows, background)
    explained = model.shap_values(rows, background=background)
    for one, expected, base in zip(explained.values(), values, bases, strict=True):
        np.testing.assert_allclose(one.values, expected, rtol=0, atol=1e-12)
        assert one.base_value == pytest.approx(base, abs=1e-12)


@pytest.mark.parametrize("settings", [{}, {"max_depth": 1}, {"min_samples_leaf": 20}])
def test_background_rows_counted_in_leaves_are_as_good_as_one_after_the_other(settings, numbers, monkeypatch):
    X, y = numbers
    model = small(GradientBoostingRegressor, **settings).fit(X, y)
    counted = model.shap_values(X[:50], "mu", background=X[100:130])
    monkeypatch.setattr("surefoot.trees.tree_shap.CALL_TERMS", 1)
    short_calls = model.shap_values(X[:50], "mu", background=X[100:130])
    np.testing.assert_array_equal(short_calls.values, counted.values)
    monkeypatch.setattr("surefoot.trees.tree_shap.MAX_COUNTED_DEPTH", 0)
    one_by_one = model.shap_values(X[:50], "mu", background=X[100:130])
    np.testing.assert_allclose(one_by_one.values, counted.values, rtol=0, atol=1e-13)
    assert one_by_one.base_value == counted.base_value


def test_values_of_combinations_of_three_columns_are_exact():
    """Large tables have statistics of combinations, here of three columns that only together say the target."""
    generator = np.random.default_rng(8)
    codes = generator.integers(0, [60, 6, 6], size=(4000, 3))
    X = pd.DataFrame({name: pd.Categorical(code.astype(str)) for name, code in zip("abc", codes.T, strict=True)})
    X["number"] = generator.normal(size=4000)
    y = generator.normal(size=(60, 6, 6))[tuple(codes.T)] + 0.2 * X["number"].to_numpy()
    model = GradientBoostingRegressor(n_estimators=6, max_depth=4, random_state=0, early_stopping=False).fit(X, y)
    member = model._members[0]
    assert (0, 1, 2) in {member.encoding.sources[feature] for feature in member.trees.forest.features.flat}
    rows, background = X[:4], X[20:24]
    values, _ = background_shap(lambda table: sums_of_trees(model, table), rows, background)
    for one, expected in zip(model.shap_values(rows, background=background).values(), values, strict=True):
        np.testing.assert_allclose(one.values, expected, rtol=0, atol=1e-12)
    values, _ = ensemble_shap(model, rows)
    for one, expected in zip(model.shap_values(rows).values(), values, strict=True):
        np.testing.assert_allclose(one.values, expected, rtol=0, atol=1e-12)


@each_policy
def test_saved_and_copied_models_have_the_same_values(grow_policy, mixed, tmp_path):
    X, y = mixed
    model = small(BoostingEnsembleRegressor, grow_policy=grow_policy, n_estimators=3).fit(X, y)
    save(model, tmp_path / "model.surefoot")
    for copy in (load(tmp_path / "model.surefoot"), pickle.loads(pickle.dumps(model))):
        for background in (None, X[:3]):
            explained = copy.shap_values(X[:9], "mu", background=background)
            np.testing.assert_array_equal(
                explained.values, model.shap_values(X[:9], "mu", background=background).values
            )
        np.testing.assert_array_equal(copy.shap_knowledge(X[:9]).values, model.shap_knowledge(X[:9]).values)


def test_the_definition_gives_the_values_of_games_that_are_known():
    weights = np.array([3.0, 1.0, 0.5])
    np.testing.assert_allclose(shapley_values(lambda chosen: sum(weights[list(chosen)]), 3), weights)
    np.testing.assert_allclose(shapley_values(lambda chosen: float(chosen >= {0, 2}), 3), [0.5, 0.0, 0.5])
