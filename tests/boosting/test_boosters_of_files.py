"""Boosters of tables in files: the same, to the byte, as those of the same tables in memory."""

import numpy as np
import pandas as pd
import pyarrow.dataset
import pytest
from contract.registry import assert_same_answers, assert_same_model
from sklearn.tree import DecisionTreeClassifier

from surefoot import (
    AdaBoostClassifier,
    BaggedBoostClassifier,
    BestBoostClassifier,
    DataError,
    LarsenRitzertClassifier,
    MajorityBoostClassifier,
    ParameterError,
)
from surefoot.data import binner, stored_columns, table_passes
from surefoot.data.stored_table import StoredTable
from surefoot.trees import classification_grower

SIZES = {"n_estimators": 5, "random_state": 0}
BOOSTERS = [
    AdaBoostClassifier(**SIZES),
    MajorityBoostClassifier(**SIZES, n_members=3),
    BaggedBoostClassifier(**SIZES, n_members=3),
    LarsenRitzertClassifier(**SIZES, n_members=3),
    BestBoostClassifier(**SIZES, candidates=("adaboost", "majority")),
]
each_booster = pytest.mark.parametrize("booster", BOOSTERS, ids=lambda booster: type(booster).__name__)


def frame(n_rows=900, seed=0, n_classes=2):
    """Numbers with missing values, a rare flag, categories, and more categories than there are bins."""
    generator = np.random.default_rng(seed)
    X = pd.DataFrame(generator.normal(size=(n_rows, 3)), columns=list("abc"))
    X.loc[::7, "c"] = np.nan
    X["small"] = generator.integers(0, 9, n_rows).astype(np.int16)
    X["flag"] = np.zeros(n_rows)
    X.loc[n_rows - 3, "flag"] = 1.0
    X["few"] = pd.Categorical(generator.choice(["x", "y", "z", None], n_rows))
    X["many"] = pd.Categorical(np.minimum(generator.geometric(0.01, n_rows), 400).astype(str))
    score = X["a"] + (X["few"] == "x") + generator.normal(size=n_rows)
    labels = np.array(["high", "low", "middle"], dtype=object)[np.digitize(score, [0, 1][: n_classes - 1])]
    weights = generator.integers(0, 3, n_rows) * 0.7
    return X, pd.Series(labels, name="class"), pd.Series(weights, name="w")


def folder_of(tmp_path, *parts, n_files=3):
    table = pd.concat([part for part in parts if part is not None], axis=1)
    for number, rows in enumerate(np.array_split(np.arange(len(table)), n_files)):
        table.iloc[rows].to_parquet(tmp_path / f"{number}.parquet")
    return tmp_path


def copy_of(booster, **parameters):
    return type(booster)(**{**booster.get_params(deep=False), **parameters})


def fitted_both(tmp_path, booster, X, y, weights, n_jobs):
    """The model of a table in memory, and that of the same table in files."""
    expected = copy_of(booster, n_jobs=1).fit(X, y, weights)
    path = folder_of(tmp_path, X, y, weights)
    found = copy_of(booster, n_jobs=n_jobs).fit(path, y.name, None if weights is None else weights.name)
    return expected, found.set_params(n_jobs=1)


@pytest.fixture
def small_parts(monkeypatch):
    """Edges come from 300 rows, values are read in parts of 100, and all trees are grown node by node."""
    monkeypatch.setattr(binner, "EDGE_SAMPLE", 300)
    monkeypatch.setattr(table_passes, "EDGE_SAMPLE", 300)
    monkeypatch.setattr(stored_columns, "PART_ROWS", 100)
    monkeypatch.setattr(classification_grower, "CELLS_AT_ONCE", 0)
    monkeypatch.setattr(classification_grower, "MIN_ROWS_OF_WORDS", 100)


@each_booster
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("calibrate", [False, True])
@pytest.mark.parametrize(("max_depth", "n_jobs"), [(1, 2), (2, 1), (2, 2)])
def test_the_same_model(tmp_path, small_parts, booster, weighted, calibrate, max_depth, n_jobs):
    X, y, weights = frame()
    booster = copy_of(booster, calibrate=calibrate, max_depth=max_depth)
    expected, found = fitted_both(tmp_path, booster, X, y, weights if weighted else None, n_jobs)
    assert_same_model(expected, found)
    assert_same_answers(expected, found, X)


@each_booster
def test_the_same_model_of_three_classes_with_weights_of_classes(tmp_path, small_parts, booster):
    X, y, weights = frame(n_classes=3)
    booster = copy_of(booster, class_weight="balanced", max_bins=11)
    assert_same_model(*fitted_both(tmp_path, booster, X, y, weights, 2))


@pytest.mark.parametrize("max_depth", [1, 3])
def test_a_large_table_on_two_threads(tmp_path, max_depth):
    X, y, weights = frame(200_000)
    assert_same_model(*fitted_both(tmp_path, AdaBoostClassifier(n_estimators=3, max_depth=max_depth), X, y, weights, 2))


@pytest.mark.parametrize("columns", [["few", "many"], ["a", "small"]])
def test_a_table_of_categories_and_one_of_numbers(tmp_path, columns):
    X, y, weights = frame()
    assert_same_model(*fitted_both(tmp_path, BOOSTERS[4], X[columns], y, weights, 1))


def test_labels_that_are_numbers_and_a_data_set_of_pyarrow(tmp_path):
    X, y, _ = frame()
    y = (y == "high").astype(int).rename("y")
    found = AdaBoostClassifier(n_estimators=5).fit(pyarrow.dataset.dataset(folder_of(tmp_path, X, y)), "y")
    assert_same_model(AdaBoostClassifier(n_estimators=5).fit(X, y), found)


@each_booster
def test_a_stored_table_is_used_twice(tmp_path, booster):
    X, y, weights = frame(300)
    path = folder_of(tmp_path, X, y, weights)
    with StoredTable.read(path, target="class", weight="w") as stored:
        for _ in range(2):
            assert_same_model(copy_of(booster).fit(X, y, weights), copy_of(booster).fit(stored, None))


def test_a_folder_of_bins_is_enough_without_calibration(tmp_path):
    X, y, _ = frame(300)
    StoredTable.read(folder_of(tmp_path, X, y), target="class", folder=tmp_path / "bins", keep=True)
    stored = StoredTable.open(tmp_path / "bins")
    model = AdaBoostClassifier(n_estimators=5, calibrate=False)
    assert_same_model(copy_of(model).fit(X, y), copy_of(model).fit(stored, None))
    for wanted in ({"calibrate": True}, {"class_weight": "balanced"}):
        with pytest.raises(DataError, match=r"X was opened from a folder of bins"):
            copy_of(model, **wanted).fit(stored, None)
    again = StoredTable.read(tmp_path, target="class", folder=tmp_path / "bins")
    assert_same_model(AdaBoostClassifier(n_estimators=5).fit(X, y), AdaBoostClassifier(n_estimators=5).fit(again, None))


def test_files_that_have_changed_are_refused(tmp_path):
    X, y, _ = frame(300)
    stored = StoredTable.read(folder_of(tmp_path, X, y), target="class")
    X.to_parquet(tmp_path / "0.parquet")
    with pytest.raises(DataError, match="X has changed"):
        AdaBoostClassifier(n_estimators=5).fit(stored, None)


def test_a_read_only_folder_of_bins_is_enough(tmp_path, monkeypatch):
    X, y, _ = frame(300)
    stored = StoredTable.read(folder_of(tmp_path, X, y), target="class", folder=tmp_path / "bins", keep=True)
    monkeypatch.setattr("surefoot.data.mapped_arrays.os.access", lambda path, mode: False)
    AdaBoostClassifier(n_estimators=5).fit(stored, None)


@each_booster
def test_nothing_is_left_in_the_temporary_folder(tmp_path, monkeypatch, booster):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    X, y, weights = frame(300)
    (tmp_path / "table").mkdir()
    copy_of(booster).fit(folder_of(tmp_path / "table", X, y, weights), "class", "w")
    assert list(temporary.iterdir()) == []


def test_codes_are_not_in_memory(tmp_path, monkeypatch):
    """The codes of a tree of any depth, and the words that it reads, are in files."""
    made = []
    monkeypatch.setattr(classification_grower, "CELLS_AT_ONCE", 0)
    monkeypatch.setattr(
        stored_columns,
        "mapped_zeros",
        lambda *given, to=stored_columns.mapped_zeros: made.append(given[1:]) or to(*given),
    )
    X, y, _ = frame(300)
    AdaBoostClassifier(n_estimators=2, max_depth=2, calibrate=False).fit(folder_of(tmp_path, X, y), "class")
    assert made == [((7, 300), np.uint8), ((1, 300), "<u8")]


@pytest.mark.parametrize(
    ("arguments", "settings", "error", "words"),
    [
        ({"y": np.zeros(300)}, {}, DataError, "y must be the name of a column"),
        ({"y": "class", "sample_weight": np.ones(300)}, {}, DataError, "sample_weight must be the name of a column"),
        ({"y": "z"}, {}, DataError, "z"),
        ({"y": None}, {}, DataError, "y must be the name of a column"),
        ({"y": "class"}, {"estimator": DecisionTreeClassifier()}, ParameterError, "estimator is for tables in memory"),
        ({"y": "class"}, {"max_bins": None}, ParameterError, "max_bins=None is for tables in memory"),
        ({"y": "class"}, {"n_estimators": 0}, ParameterError, "n_estimators"),
    ],
)
def test_what_is_refused(tmp_path, arguments, settings, error, words):
    X, y, _ = frame(300)
    with pytest.raises(error, match=words):
        AdaBoostClassifier(**{**SIZES, **settings}).fit(folder_of(tmp_path, X, y), **arguments)


@pytest.mark.parametrize(
    ("settings", "arguments", "error", "words"),
    [
        ({"max_bins": 9}, {"y": None}, ParameterError, "max_bins=255, but X is a StoredTable .* max_bins=9"),
        ({"max_categories": 50}, {"y": None}, DataError, "X is a StoredTable that was read with max_categories=50"),
        ({"target": None}, {"y": None}, ParameterError, "X is a StoredTable without a target"),
        ({}, {"y": "class"}, DataError, "y and sample_weight of a StoredTable"),
    ],
)
def test_stored_tables_that_are_refused(tmp_path, settings, arguments, error, words):
    X, y, _ = frame(300)
    stored = StoredTable.read(folder_of(tmp_path, X, y), **{"target": "class", **settings})
    with pytest.raises(error, match=words):
        AdaBoostClassifier(**SIZES).fit(stored, **arguments)
