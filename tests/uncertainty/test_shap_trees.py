"""Trees exported to shap add up to the sum of the trees of the model, in shap's own code and by a plain walk."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import TargetEncoder

from surefoot import GradientBoostingClassifier, GradientBoostingRegressor
from surefoot._exceptions import DataError
from surefoot.trees.vector_forest import ALL_LEFT

ROWS = 300
TREES = 25


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(ROWS, 5))
    X[:, 3] = rng.integers(0, 4, ROWS)  # ties: thresholds between whole numbers
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 4] = rng.integers(0, 1000, ROWS) / 8  # no missing values in training
    signal = 2 * np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1], nan=1.5) ** 2 - (X[:, 3] > 1) + X[:, 4] / 60
    return X, signal


@pytest.fixture(scope="module")
def rows(table):
    """Training rows; rows unlike all training rows; values at and next to the edges of bins; missing values."""
    X, _ = table
    rng = np.random.default_rng(4)
    strange = rng.normal(scale=3, size=(60, 5))
    strange[rng.random(strange.shape) < 0.3] = np.nan
    edges = np.nan_to_num(X[:60]).copy()
    edges[:, 3] += 0.5
    edges[:, 4] = np.nextafter(edges[:, 4], np.inf)
    return np.vstack([X[:80], strange, edges, np.full((1, 5), np.nan), np.full((1, 5), 1e300)])


def target_for(case, signal):
    rng = np.random.default_rng(5)
    if case == "poisson":
        return rng.poisson(np.exp(signal / 4))
    if case == "gamma":
        return rng.gamma(3.0, np.exp(signal / 4))
    if case == "normal":
        return 40 + 7 * signal + rng.normal(size=len(signal))
    n_classes = {"binary": 2, "three": 3}[case]
    cuts = np.quantile(signal, np.arange(1, n_classes) / n_classes)
    return np.array(["a", "b", "c"])[np.searchsorted(cuts, signal + rng.normal(size=len(signal)))]


def fitted(case, table, **settings):
    X, signal = table
    settings = {"n_estimators": TREES, "max_depth": 5, "random_state": 0, "early_stopping": False, **settings}
    if case in ("binary", "three"):
        return GradientBoostingClassifier(**settings).fit(X, target_for(case, signal))
    return GradientBoostingRegressor(distribution=case, **settings).fit(X, target_for(case, signal))


CASES = [
    ("normal", {}),
    ("normal", {"grow_policy": "depthwise"}),
    ("normal", {"langevin": True, "learning_rate": 0.3}),  # shrunk every round, and noise in empty leaves
    ("normal", {"langevin": True, "grow_policy": "depthwise", "early_stopping": True}),
    ("normal", {"min_samples_leaf": 20}),  # nodes of symmetric trees that keep their rows together
    ("normal", {"min_samples_leaf": 40, "grow_policy": "depthwise"}),  # many nodes are not split
    ("normal", {"max_depth": 1}),
    ("normal", {"grow_policy": "leafwise", "max_leaf_nodes": 7}),
    ("binary", {"grow_policy": "leafwise", "max_depth": 7, "interaction_cst": "pairwise", "max_features": 0.7}),
    ("normal", {"max_bins": 255, "n_estimators": 60, "subsample": 0.5}),
    ("poisson", {}),
    ("poisson", {"grow_policy": "depthwise", "max_bins": 4}),
    ("gamma", {"grow_policy": "depthwise"}),
    ("binary", {}),
    ("binary", {"grow_policy": "depthwise", "langevin": True}),
    ("three", {}),
    ("three", {"grow_policy": "depthwise"}),
]
NAMES = {
    "normal": ["mu", "log_sigma"],
    "poisson": ["log_mean"],
    "gamma": ["log_mean", "log_shape"],
    "binary": ["log_odds"],
    "three": ["a", "b", "c"],
}


def walked(model, X):
    """The sum of the trees of one dictionary, one row and one node at a time."""
    out = np.full(len(X), model["base_offset"])
    for tree in model["trees"]:
        for i, row in enumerate(X):
            node = 0
            while tree["children_left"][node] != -1:
                value = row[tree["features"][node]]
                if np.isnan(value):
                    node = tree["children_default"][node]
                else:
                    side = "children_left" if value <= tree["thresholds"][node] else "children_right"
                    node = tree[side][node]
            out[i] += tree["values"][node, 0]
    return out


def sum_of_trees(model, X):
    """Raw outputs before the bound of the scale."""
    member, columns = model._members[0], model._columns(X)
    raw = np.repeat(member.trees.start[:, np.newaxis], len(X), axis=1)
    member.trees.forest.add(member.encoding.codes(columns, 0, len(X)), 0, model.n_iter_, raw)
    return raw


@pytest.mark.parametrize(("case", "settings"), CASES)
def test_a_plain_walk_gives_the_sum_of_the_trees(case, settings, table, rows):
    model = fitted(case, table, **settings)
    models = model.to_shap()
    assert list(models) == NAMES[case]
    for total, one in zip(sum_of_trees(model, rows), models.values(), strict=True):
        np.testing.assert_allclose(walked(one, rows), total, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("case", "settings"), CASES)
def test_the_model_is_the_sum_of_its_trees_except_for_the_bound_of_the_scale(case, settings, table, rows):
    model = fitted(case, table, **settings)
    total, raw = sum_of_trees(model, rows), model._raw(rows)[0]
    low, high = model._members[0].trees.bounds[-1]
    np.testing.assert_array_equal(raw[:-1], total[:-1])
    np.testing.assert_array_equal(raw[-1], np.clip(total[-1], low, high))
    bounded = {"normal": (True, False), "gamma": (False, True)}.get(case, (False, False))
    assert (np.isfinite(low), np.isfinite(high)) == bounded


def test_the_walk_is_consistent_with_predict(table, rows):
    model = fitted("normal", table)
    models = model.to_shap()
    mean, std = model.predict(rows, return_std=True)
    np.testing.assert_allclose(model.family_.location + model.family_.spread * walked(models["mu"], rows), mean)
    low = max(model.family_.floor, model._members[0].trees.bounds[-1, 0])
    log_sigma = np.clip(walked(models["log_sigma"], rows), low, model.family_.cap)
    np.testing.assert_allclose(model.family_.spread * np.exp(log_sigma), std)
    model = fitted("three", table)
    scores = np.exp(np.stack([walked(one, rows) for one in model.to_shap().values()], axis=1))
    np.testing.assert_allclose(scores / scores.sum(axis=1, keepdims=True), model.predict_proba(rows))


@pytest.mark.parametrize(("case", "settings"), CASES)
def test_trees_are_connected_and_every_node_is_used(case, settings, table):
    for model in fitted(case, table, **settings).to_shap().values():
        for tree in model["trees"]:
            left, right, weight = tree["children_left"], tree["children_right"], tree["node_sample_weight"]
            inner = left >= 0
            assert sorted([0, *left[inner], *right[inner]]) == list(range(len(left)))  # each has one parent
            assert (right[~inner] == -1).all()
            assert (tree["features"][~inner] == -1).all()
            assert (tree["features"][inner] >= 0).all()
            assert (weight > 0).all()
            np.testing.assert_allclose(weight[inner], weight[left[inner]] + weight[right[inner]])


def test_splits_below_a_node_that_does_not_split_are_kept(table, rows):
    model = fitted("normal", table, grow_policy="depthwise")
    member = model._members[0]
    forest = member.trees.forest
    features, shifts, limits = forest.features.copy(), forest.shifts.copy(), forest.limits.copy()
    for tree, node in enumerate(np.resize([0, 1, 2, 4], TREES)):  # a grower would not split below; a forest may
        features[tree, node], shifts[tree, node], limits[tree, node] = -1, 0, ALL_LEFT
    forest = replace(forest, features=features, shifts=shifts, limits=limits)
    model._members = [replace(member, trees=replace(member.trees, forest=forest))]
    for total, one in zip(sum_of_trees(model, rows), model.to_shap().values(), strict=True):
        np.testing.assert_allclose(walked(one, rows), total, rtol=0, atol=1e-9)


def test_trees_that_never_split_are_single_leaves(table):
    X, _ = table
    model = GradientBoostingRegressor(n_estimators=3).fit(X, np.full(len(X), 5.0))
    models = model.to_shap()
    assert [len(tree["values"]) for tree in models["mu"]["trees"]] == [1] * model.n_iter_
    np.testing.assert_allclose(walked(models["log_sigma"], X[:3]), model._raw(X[:3])[0, 1])


def test_splits_on_categories_are_refused_and_the_advice_works(table):
    X, signal = table
    frame = pd.DataFrame(X, columns=list("vwxyz"))
    frame["town"] = pd.Categorical(np.where(signal > np.median(signal), "up", "down"))
    y = target_for("normal", signal)
    model = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(frame, y)
    with pytest.raises(DataError, match=r"'town'.*TargetEncoder"):
        model.to_shap()
    by_position = GradientBoostingRegressor(n_estimators=5, categorical_features=[3], random_state=0)
    with pytest.raises(DataError, match="columns 3"):
        by_position.fit(X[:, :4], np.isin(X[:, 3], [0, 2]) * 1.0).to_shap()

    towns = frame[["town"]].astype(str)
    frame["town"] = TargetEncoder(target_type="continuous").fit(towns, y).transform(towns)[:, 0]
    model.fit(frame, y)
    np.testing.assert_allclose(walked(model.to_shap()["mu"], frame.to_numpy()[:40]), model._raw(frame[:40])[0, 0])


def test_a_categorical_column_without_splits_is_allowed(table):
    X, signal = table
    frame = pd.DataFrame({"town": pd.Categorical(["only"] * len(X)), "number": X[:, 4], "other": X[:, 0]})
    model = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(frame, target_for("normal", signal))
    numbers = frame.assign(town=0.0).to_numpy()
    np.testing.assert_allclose(walked(model.to_shap()["mu"], numbers), model._raw(frame)[0, 0], atol=1e-9)


def test_an_unfitted_model_is_refused():
    with pytest.raises(NotFittedError):
        GradientBoostingRegressor().to_shap()


@pytest.fixture(scope="module")
def shap():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # from packages that shap imports
        return pytest.importorskip("shap")


@pytest.mark.parametrize(("case", "settings"), CASES)
def test_shap_values_and_expected_value_add_up_to_the_sum_of_the_trees(shap, case, settings, table, rows):
    model = fitted(case, table, **settings)
    for total, one in zip(sum_of_trees(model, rows), model.to_shap().values(), strict=True):
        explainer = shap.TreeExplainer(one)
        explained = explainer.shap_values(rows).sum(axis=1) + explainer.expected_value
        np.testing.assert_allclose(explained, total, rtol=0, atol=1e-6)


@pytest.mark.parametrize("grow_policy", ["symmetric", "depthwise"])
def test_expected_value_is_the_mean_over_the_training_rows_by_weight(shap, grow_policy, table):
    X, signal = table
    weights = np.random.default_rng(6).integers(0, 4, len(X)).astype(float)
    model = GradientBoostingRegressor(n_estimators=TREES, early_stopping=False, grow_policy=grow_policy, random_state=0)
    model.fit(X, target_for("normal", signal), weights)
    for total, one in zip(sum_of_trees(model, X), model.to_shap().values(), strict=True):
        expected = shap.TreeExplainer(one).expected_value
        np.testing.assert_allclose(expected, np.average(total, weights=weights), atol=1e-6)


def test_the_only_column_with_splits_has_all_shap_values(shap, table):
    X, _ = table
    model = GradientBoostingRegressor(n_estimators=TREES, early_stopping=False, random_state=0)
    model.fit(X[:, [0, 4]], 3.0 * (X[:, 4] > 60))  # the other column explains nothing
    one = model.to_shap()["mu"]
    explainer = shap.TreeExplainer(one)
    values = explainer.shap_values(X[:, [0, 4]])
    np.testing.assert_allclose(values[:, 1] + explainer.expected_value, model._raw(X[:, [0, 4]])[0, 0], atol=1e-6)
    np.testing.assert_allclose(values[:, 0], 0, atol=1e-6)


def test_background_rows_work_and_do_not_change_the_other_parameter(shap, table, rows):
    model = fitted("normal", table)
    models = model.to_shap()
    before = [tree["node_sample_weight"].copy() for tree in models["log_sigma"]["trees"]]
    explainer = shap.TreeExplainer(models["mu"], table[0][:50])
    total = explainer.shap_values(rows[:40]).sum(axis=1) + explainer.expected_value
    np.testing.assert_allclose(total, model._raw(rows[:40])[0, 0], rtol=0, atol=1e-6)
    for weight, tree in zip(before, models["log_sigma"]["trees"], strict=True):
        np.testing.assert_array_equal(weight, tree["node_sample_weight"])
