"""Models of tables in files: the same, to the byte, as those of the same tables in memory."""

import numpy as np
import pandas as pd
import pyarrow.dataset
import pytest
from contract.registry import assert_same_answers, assert_same_model

from surefoot import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    DataError,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ParameterError,
)
from surefoot.data.stored_table import StoredTable
from surefoot.uncertainty import stored_rows, training

SETTINGS = {"n_estimators": 4, "random_state": 0, "max_depth": 3}


def frame(n_rows, n_categories=90, seed=0):
    generator = np.random.default_rng(seed)
    X = pd.DataFrame(generator.normal(size=(n_rows, 5)), columns=list("abcde"))
    X.loc[::7, "c"] = np.nan
    X["many"] = pd.Categorical(generator.integers(0, n_categories, n_rows).astype(str))
    X["few"] = pd.Categorical(generator.integers(0, 4, n_rows).astype(str))
    y = X["a"] + generator.normal(size=n_rows) * (1 + X["b"].abs())
    classes = pd.Series(np.digitize(y, [0, 1]), name="class").map({0: "low", 1: "middle", 2: "high"}).astype(object)
    return X, y.rename("y"), classes, pd.Series(generator.integers(0, 3, n_rows), name="w")


def folder_of(tmp_path, *parts, n_files=3):
    table = pd.concat([part for part in parts if part is not None], axis=1)
    for number, rows in enumerate(np.array_split(np.arange(len(table)), n_files)):
        table.iloc[rows].to_parquet(tmp_path / f"{number}.parquet")
    return tmp_path


@pytest.mark.parametrize(
    ("model", "n_rows"),
    [
        (GradientBoostingRegressor(**SETTINGS), 17_000),
        (GradientBoostingRegressor(**SETTINGS, subsample=0.5, early_stopping=False), 17_000),
        (GradientBoostingClassifier(**SETTINGS), 17_000),
        (BoostingEnsembleRegressor(**SETTINGS, n_members=2), 300),
        (BoostingEnsembleClassifier(**SETTINGS, n_members=2, early_stopping=False), 17_000),
    ],
)
@pytest.mark.parametrize(("weighted", "n_jobs"), [(False, 2), (True, 1)])
def test_the_same_model(tmp_path, monkeypatch, model, n_rows, weighted, n_jobs):
    monkeypatch.setattr(stored_rows, "SHARD_ROWS", 1 << 14)
    monkeypatch.setattr(training, "FIRST_TREES", 10)
    X, numbers, classes, weights = frame(n_rows)
    y, weights = (classes if "Classifier" in type(model).__name__ else numbers), weights if weighted else None
    path = folder_of(tmp_path, X, y, weights)
    expected = model.set_params(n_jobs=1).fit(X, y, weights)
    found = (
        type(model)(**model.get_params())
        .set_params(n_jobs=n_jobs)
        .fit(path, y.name, weights.name if weighted else None)
    )
    assert_same_model(expected, found.set_params(n_jobs=1))
    assert_same_answers(expected, found, X)


def test_columns_without_many_categories(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_rows, "SHARD_ROWS", 1 << 14)
    X, y, _, _ = frame(17_000, n_categories=9)
    source = pyarrow.dataset.dataset(folder_of(tmp_path, X, y))
    model = GradientBoostingRegressor(**SETTINGS)
    assert_same_model(GradientBoostingRegressor(**SETTINGS).fit(X, y), model.fit(source, "y"))


def test_a_small_table_of_numbers(tmp_path):
    X, y, _, _ = frame(200)
    X = X[["a", "b"]]
    model = GradientBoostingRegressor(**SETTINGS)
    assert_same_model(GradientBoostingRegressor(**SETTINGS).fit(X, y), model.fit(folder_of(tmp_path, X, y), "y"))


def test_a_stored_table_is_used_twice(tmp_path):
    X, y, _, _ = frame(300)
    path = folder_of(tmp_path, X, y)
    with StoredTable.read(path, target="y", max_categories=50) as stored:
        one, two = (GradientBoostingRegressor(**SETTINGS).fit(stored, None) for _ in range(2))
    assert_same_model(one, two)


def test_nothing_is_left_in_the_temporary_folder(tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    X, y, _, _ = frame(300)
    (tmp_path / "table").mkdir()
    GradientBoostingRegressor(**SETTINGS).fit(folder_of(tmp_path / "table", X, y), "y")
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "settings", "error", "words"),
    [
        ({"y": np.zeros(300)}, {}, DataError, "y must be the name of a column"),
        ({"y": "y", "sample_weight": np.ones(300)}, {}, DataError, "sample_weight must be the name of a column"),
        ({"y": "z"}, {}, DataError, "z"),
        ({"y": "y", "X_val": np.zeros((2, 7)), "y_val": np.zeros(2)}, {}, DataError, "X_val is for tables in memory"),
        ({"y": "y"}, {"warm_start": True}, ParameterError, "warm_start is for tables in memory"),
        ({"y": "y"}, {"categorical_features": ["a"]}, ParameterError, "categorical_features is for tables in memory"),
    ],
)
def test_what_is_refused(tmp_path, arguments, settings, error, words):
    X, y, _, _ = frame(300)
    with pytest.raises(error, match=words):
        GradientBoostingRegressor(**SETTINGS, **settings).fit(folder_of(tmp_path, X, y), **arguments)


def test_weights_of_classes_are_refused(tmp_path):
    X, _, classes, _ = frame(300)
    with pytest.raises(ParameterError, match="class_weight is for tables in memory"):
        GradientBoostingClassifier(**SETTINGS, class_weight="balanced").fit(folder_of(tmp_path, X, classes), "class")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"max_categories": 50, "max_bins": 9}, ParameterError, "max_bins=255, but X is a StoredTable .* max_bins=9"),
        ({}, DataError, "X is a StoredTable that was read with max_categories=None"),
        ({"max_categories": 50, "shard_rows": 100}, DataError, "X is a StoredTable in shards of 100 rows"),
        ({"max_categories": 50, "target": None}, ParameterError, "X is a StoredTable without a target"),
    ],
)
def test_stored_tables_that_are_refused(tmp_path, options, error, words):
    X, y, _, _ = frame(300)
    stored = StoredTable.read(folder_of(tmp_path, X, y), **{"target": "y", **options})
    with pytest.raises(error, match=words):
        GradientBoostingRegressor(**SETTINGS).fit(stored, None)
