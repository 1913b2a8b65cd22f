"""``dump_model``: a reader of the JSON gets the predictions of the model."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from export.exported import as_dictionaries, categories, numbers
from numpy.testing import assert_allclose, assert_array_equal
from reference import dumped_trees

import surefoot
from surefoot import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ParameterError,
    dump_model,
)
from surefoot._strict_json import read_json

PARAMETERS = {"n_estimators": 12, "random_state": 0}
DISTRIBUTIONS = ("normal", "lognormal", "laplace", "student_t", "poisson", "gamma")


def read_again(model):
    """The content of the file, by a strict reader."""
    return read_json(json.dumps(dump_model(model), allow_nan=False).encode())


def outputs_of(content, X):
    """Raw outputs (members, outputs, rows) by the reader in plain Python."""
    return np.array([dumped_trees.predict(content, row) for row in as_dictionaries(X)]).transpose(1, 2, 0)


@pytest.mark.parametrize("grow_policy", ["symmetric", "depthwise"])
@pytest.mark.parametrize(
    ("make", "n_classes"),
    [
        (GradientBoostingRegressor, 0),
        (BoostingEnsembleRegressor, 0),
        (GradientBoostingClassifier, 2),
        (BoostingEnsembleClassifier, 4),
    ],
)
def test_trees_with_categories_and_missing_values(make, n_classes, grow_policy):
    X, y = categories()
    target = {0: y, 2: y > 0, 4: np.digitize(y, [-1, 0, 1])}[n_classes]
    members = {"n_members": 2} if make in (BoostingEnsembleRegressor, BoostingEnsembleClassifier) else {}
    model = make(grow_policy=grow_policy, **members, **PARAMETERS).fit(X, target)
    content = read_again(model)
    for rows in (X[:60], categories(60, seed=1, unseen=True)[0]):
        assert_array_equal(outputs_of(content, rows), model._raw(rows))
    if n_classes:
        probabilities = [
            np.mean([dumped_trees.probabilities(content, outputs) for outputs in row], axis=0)
            for row in outputs_of(content, X[:60]).transpose(2, 0, 1)
        ]
        assert_allclose(probabilities, model.predict_proba(X[:60]), rtol=1e-12)
        assert content["classes"] == model.classes_.tolist()


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_distributions_follow_from_the_file(distribution):
    X, y = numbers()
    if distribution == "poisson":
        y = np.random.default_rng(1).poisson(np.exp(np.clip(y, -3, 3) / 2))
    elif distribution in ("lognormal", "gamma"):
        y = np.exp(y / 2)
    model = GradientBoostingRegressor(distribution=distribution, **PARAMETERS).fit(X, y)
    content = read_again(model)
    frame = pd.DataFrame(X[:80], columns=[column["name"] for column in content["columns"]])
    found = [dumped_trees.moments(content, row[0]) for row in outputs_of(content, frame).transpose(2, 0, 1)]
    expected = model.predict_distribution(X[:80])
    assert_allclose(found, np.column_stack([expected.mean, expected.var]), rtol=1e-12)


def test_bounds_and_dispersion_are_those_that_predictions_use():
    X, y = numbers()
    model = GradientBoostingRegressor(**PARAMETERS).fit(X, y)
    (member,) = model._members
    bounds = np.repeat([[-0.1, 0.1]], member.trees.forest.n_trees, axis=0)
    model._members = [replace(member, trees=replace(member.trees, bounds=bounds))]
    model.family_ = replace(model.family_, dispersion=5e-4)  # so small that tails are normal
    content = read_again(model)
    assert content["members"][0]["bounds"] == [-0.1, 0.1]
    assert content["distribution"]["dispersion"] == 0.0
    frame = pd.DataFrame(X[:80], columns=["x0", "x1", "x2", "x3"])
    raw = model._raw(X[:80])
    assert {raw[0, 1].min(), raw[0, 1].max()} <= {-0.1, 0.1}
    assert_array_equal(outputs_of(content, frame), raw)


def test_splits_are_in_the_words_of_the_table(tmp_path):
    X, y = categories(2500)
    model = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(X, y)
    content = dump_model(model, tmp_path / "trees.json")
    assert read_json((tmp_path / "trees.json").read_bytes()) == content
    assert content["format"] == "surefoot trees"
    assert content["surefoot"] == surefoot.__version__
    assert content["columns"][2] == {
        "name": "colour",
        "type": "category",
        "categories": ["1.0", "blue", "green", "red"],
    }
    assert content["columns"][0] == {"name": "size", "type": "number"}
    nodes = [node for tree in content["members"][0]["trees"] for node in tree]
    thresholds = [node["threshold"] for node in nodes if node.get("column") == "size"]
    assert X["size"].min() < min(thresholds) < max(thresholds) < X["size"].max()
    sets = [node["left_categories"] for node in nodes if node.get("column") == "floor"]
    assert all(set(each) <= {0, 10, 20, 30, 40} for each in sets)
    assert sets
    statistics = content["members"][0]["statistics"]
    assert {"city"} <= {name for statistic in statistics for name in statistic["columns"]}
    assert {len(statistic["columns"]) for statistic in statistics} >= {1, 2}


def test_where_every_number_goes_left_there_is_no_threshold():
    X = np.where(np.arange(60) % 2, np.nan, 1.0)[:, np.newaxis]
    model = GradientBoostingRegressor(early_stopping=False, **PARAMETERS).fit(X, np.arange(60) % 2)
    content = read_again(model)
    root = content["members"][0]["trees"][0][0]
    assert (root["threshold"], root["missing"]) == (None, "right")
    assert_array_equal(outputs_of(content, pd.DataFrame(X, columns=["x0"])), model._raw(X))


def test_equal_trees_give_equal_files_after_loading(tmp_path):
    X, y = categories(400)
    model = BoostingEnsembleClassifier(n_members=2, **PARAMETERS).fit(X, y > 0)
    surefoot.save(model, tmp_path / "m.surefoot")
    assert dump_model(surefoot.load(tmp_path / "m.surefoot")) == dump_model(model)


def test_what_cannot_be_dumped_is_refused(tmp_path):
    X, y = categories(200)
    X["floor"] = pd.Categorical(pd.Timestamp("2024-01-01") + pd.to_timedelta(X["floor"].astype(int), unit="D"))
    model = GradientBoostingRegressor(**PARAMETERS).fit(X, y)
    with pytest.raises(ParameterError, match="cannot write the category"):
        dump_model(model, tmp_path / "trees.json")
    with pytest.raises(ParameterError, match="dump_model cannot export an object of type dict"):
        dump_model({}, tmp_path / "trees.json")
    assert list(tmp_path.iterdir()) == []
