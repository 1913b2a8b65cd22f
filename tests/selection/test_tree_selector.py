"""Structures of trees, against scikit-learn's printed trees; parameters of scikit-learn's trees."""

import os
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_text

from surefoot import DataError, ParameterError, StableSelector
from surefoot.selection.bagged_selection import BagPool
from surefoot.selection.rules import Argmax
from surefoot.selection.table import SelectionTable
from surefoot.selection.tree_selector import TreeSelector, tree_text

WINE_X, WINE_LABELS = load_wine(return_X_y=True)
WINE_Y = np.array(["Barolo", "Grignolino", "Barbera"])[WINE_LABELS]


def table_of(X, y):
    X = np.ascontiguousarray(X, dtype=np.float64)
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    return SelectionTable(X, names, np.arange(X.shape[1], dtype=np.int32), np.asarray(y), given=(X, y))


def some_bags(n_rows, size, n_bags):
    return BagPool(n_rows, size, False, 0).bags(0, n_bags)


def structure_of_text(text):
    """The nested tuple of a tree that was printed by scikit-learn's export_text."""
    lines = [re.match(r"((?:\|   )*)\|--- (.*)", line).groups() for line in text.strip().split("\n")]
    lines = [(len(bars) // 4, what) for bars, what in lines]

    def read(at, depth):
        assert lines[at][0] == depth
        what = lines[at][1]
        if what.startswith("class: "):
            return what.removeprefix("class: "), at + 1
        if what.startswith("value: "):
            return "leaf", at + 1
        name = what.split(" <=")[0]
        low, at = read(at + 1, depth + 1)
        assert lines[at][1].startswith(f"{name} > ")
        high, at = read(at + 1, depth + 1)
        return (name, low, high), at

    return read(0, 0)[0]


def printed(tree, X):
    return export_text(tree, feature_names=[f"x{j}" for j in range(X.shape[1])], max_depth=100)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"max_depth": 2},
        {"max_leaf_nodes": 4, "random_state": 3},
        {"ccp_alpha": 0.05},
        {"criterion": "entropy", "min_samples_leaf": 5},
        {"max_features": 3},
        {"class_weight": "balanced"},
    ],
    ids=str,
)
def test_structures_equal_the_printed_trees(params):
    bags = some_bags(178, 60, 20)
    models = TreeSelector(**{"random_state": 0, **params}).prepare(table_of(WINE_X, WINE_Y)).select(bags)
    for bag, model in zip(bags, models, strict=True):
        tree = DecisionTreeClassifier(**{"random_state": 0, **params}).fit(WINE_X[bag], WINE_Y[bag])
        assert model == structure_of_text(printed(tree, WINE_X))
    assert len(set(models)) > 1


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_regression_trees(criterion):
    X, y = load_diabetes(return_X_y=True)  # whole numbers: the criterion implies that they are not classes
    bags = some_bags(len(X), 60, 10)
    models = TreeSelector(max_depth=3, criterion=criterion, random_state=0).prepare(table_of(X, y)).select(bags)
    for bag, model in zip(bags, models, strict=True):
        tree = DecisionTreeRegressor(max_depth=3, criterion=criterion, random_state=0).fit(X[bag], y[bag])
        assert model == structure_of_text(printed(tree, X))
    assert str(models[0]).count("'leaf'") > 2


def leaves(model):
    return leaves(model[1]) | leaves(model[2]) if isinstance(model, tuple) else {model}


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (WINE_LABELS, {0, 1, 2}),
        (WINE_LABELS.astype(float), {0.0, 1.0, 2.0}),
        (WINE_LABELS == 1, {False, True}),
        (pd.Categorical(WINE_Y), {"Barolo", "Grignolino", "Barbera"}),
        (WINE_LABELS + 0.5, {"leaf"}),
    ],
)
def test_classes_or_numbers(y, expected):
    stable = StableSelector(TreeSelector(), n_bags=2, random_state=0, rule=Argmax()).fit(WINE_X, y)
    assert all(leaves(model) == expected for model in stable.models_)
    assert all(type(leaf) in (int, float, bool, str) for model in stable.models_ for leaf in leaves(model))


def test_a_bag_may_lack_classes():
    prepared = TreeSelector(class_weight={"Barbera": 2.0}).prepare(table_of(WINE_X, WINE_Y))
    bags = np.array([np.arange(10), np.arange(125, 135)], dtype=np.int32)  # only Barolo; Grignolino and Barbera
    models = prepared.select(bags)
    assert models[0] == "Barolo"
    assert leaves(models[1]) == {"Grignolino", "Barbera"}


def test_weights_of_classes_are_by_label():
    weights = {"Barolo": 1.0, "Grignolino": 0.01, "Barbera": 5.0}
    bags = some_bags(178, 60, 10)
    models = (
        TreeSelector(max_depth=2, class_weight=weights, random_state=0).prepare(table_of(WINE_X, WINE_Y)).select(bags)
    )
    for bag, model in zip(bags, models, strict=True):
        tree = DecisionTreeClassifier(max_depth=2, class_weight=weights, random_state=0).fit(WINE_X[bag], WINE_Y[bag])
        assert model == structure_of_text(printed(tree, WINE_X))
    unweighted = TreeSelector(max_depth=2, random_state=0).prepare(table_of(WINE_X, WINE_Y)).select(bags)
    assert models != unweighted


def test_thresholds_do_not_count():
    y = np.repeat([0, 1], 10)
    X = np.arange(20.0)[:, np.newaxis]
    moved = np.where(X < 10, X - 50, X)
    for table in (X, moved):
        assert TreeSelector().prepare(table_of(table, y)).select(np.arange(20)[np.newaxis]) == [("x0", 0, 1)]


def test_the_columns_of_a_category_are_one_variable():
    rng = np.random.default_rng(0)
    colours = rng.choice(["red", "green", "blue"], size=60)
    X = pd.DataFrame({"size": rng.normal(size=60), "colour": pd.Categorical(colours)})
    stable = StableSelector(TreeSelector(), n_bags=20, random_state=0, rule=Argmax()).fit(X, colours == "red")
    assert stable.selected_ == (("colour", False, True),)


def test_row_numbers_are_the_seed_if_random_state_is_none():
    X = np.repeat(np.arange(20.0)[:, np.newaxis], 6, axis=1)  # all columns split equally well
    y = np.repeat([0, 1], 10)
    bags = some_bags(20, 16, 60)
    fixed, drawn, again = (TreeSelector(random_state=s).prepare(table_of(X, y)).select(bags) for s in (0, None, None))
    assert len(set(fixed)) == 1
    assert {model[0] for model in drawn} == {f"x{j}" for j in range(6)}
    assert drawn == again
    alone = [TreeSelector(random_state=None).prepare(table_of(X, y)).select(bag[np.newaxis])[0] for bag in bags]
    assert drawn == alone


def test_parameters_are_those_of_scikit_learn():
    selector = TreeSelector(max_depth=3, class_weight={"a": 2.0})
    assert selector.get_params() == {"missing": "error", "max_depth": 3, "class_weight": {"a": 2.0}}
    assert clone(selector).get_params() == selector.get_params()
    assert selector.set_params(max_depth=2, criterion="entropy", missing="bag_median") is selector
    tree_params = {"max_depth": 2, "class_weight": {"a": 2.0}, "criterion": "entropy"}
    assert clone(selector).get_params() == {"missing": "bag_median", **tree_params}
    assert repr(TreeSelector(max_depth=3)) == "TreeSelector(max_depth=3)"
    stable = StableSelector(TreeSelector()).set_params(selector__max_depth=1)
    assert clone(stable).get_params()["selector__max_depth"] == 1
    assert TreeSelector().get_params() == {"missing": "error"}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_dept": 3}, "max_dept is not a parameter"),
        ({"max_depth": -1}, "'max_depth' parameter"),
        ({"criterion": "gin"}, "'criterion' parameter"),
        ({"random_state": -1}, "random_state must be"),
        ({"random_state": np.random.RandomState(0)}, "random_state must be"),
        ({"class_weight": {"Merlot": 1.0}}, "class_weight names classes"),
        ({"criterion": "squared_error", "class_weight": "balanced"}, "class_weight"),
    ],
    ids=lambda value: str(value).split(" at 0x")[0],
)
def test_wrong_parameters_are_refused(params, message):
    y = WINE_LABELS if params.get("criterion") == "squared_error" else WINE_Y
    with pytest.raises(ParameterError, match=message):
        StableSelector(TreeSelector(**params), n_bags=2).fit(WINE_X, y)
    with pytest.raises(ParameterError, match="not a parameter of scikit-learn's trees"):
        TreeSelector().set_params(depth=3)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "y is missing"),
        (np.full(178, "a"), "only one class"),
        (np.where(np.arange(178) == 3, np.nan, 1.0), "contains NaN"),
        (np.where(np.arange(178) == 3, np.inf, 1.0), "infinity"),
        (np.array([None, "a"] * 89, dtype=object), "contains NaN"),
    ],
    ids=["none", "one class", "nan", "infinity", "missing label"],
)
def test_unusable_targets_are_refused(y, message):
    with pytest.raises(DataError, match=message):
        StableSelector(TreeSelector(), n_bags=2).fit(WINE_X, y)


def test_values_beyond_single_precision_are_refused():
    with pytest.raises(DataError, match="too large for dtype"):
        StableSelector(TreeSelector(), n_bags=2).fit(WINE_X * 1e300, WINE_Y)


def test_the_number_of_threads_changes_nothing():
    one, two = (
        StableSelector(TreeSelector(), n_bags=60, n_jobs=n_jobs, random_state=0, rule=Argmax()).fit(WINE_X, WINE_Y)
        for n_jobs in (1, 2)
    )
    assert one.weights_ == two.weights_
    np.testing.assert_array_equal(one.bag_models_, two.bag_models_)


def test_the_outline_has_a_line_for_each_node():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    model = TreeSelector(random_state=0).prepare(table_of(X, y)).select(np.arange(150)[np.newaxis])[0]
    lines = tree_text(model).split("\n")
    assert len(lines) == tree.tree_.node_count
    names = [line.split(": ")[-1].strip() for line in lines]  # in the order of the nodes: depth first
    by_node = [
        f"x{feature}" if feature >= 0 else str(value.argmax())
        for feature, value in zip(tree.tree_.feature, tree.tree_.value[:, 0], strict=True)
    ]
    assert names == by_node
    assert tree_text("only") == "only"
    assert lines[1].startswith("  low: ")


def test_a_chain_of_splits_needs_no_recursion():
    model = "end"
    for depth in range(2000):
        model = (f"x{depth}", "leaf", model)
    assert tree_text(model).count("\n") == 4000


@pytest.fixture(scope="module")
def cells():
    folder = os.environ.get("SUREFOOT_DATA")
    if folder is None:
        pytest.skip("SUREFOOT_DATA does not name the folder of data files")
    table = pd.read_parquet(Path(folder) / "mesc_stumpf2017.parquet")
    rows = np.random.default_rng(0).choice(len(table), size=50, replace=False)
    return table.drop(columns="target").iloc[rows], table["target"].iloc[rows]


def test_cell_fates(cells):
    X, y = cells
    assert X.shape == (50, 96)
    stable = StableSelector(TreeSelector(random_state=0), n_bags=40, bag_size=45, random_state=0, epsilon=0.04).fit(
        X, y
    )
    expected = Counter()
    for bag in BagPool(50, 45, False, stable._bagging.pool.seed).bags(0, 40):
        tree = DecisionTreeClassifier(random_state=0).fit(X.to_numpy(np.float64)[bag], np.asarray(y)[bag])
        expected[structure_of_text(export_text(tree, feature_names=list(X.columns), max_depth=100))] += 1 / 40
    assert stable.weights_.keys() == expected.keys()
    for model, weight in expected.items():
        assert stable.weights_[model] == pytest.approx(weight)
    assert leaves(stable.selected_[0]) == {"ESC", "EPI", "NPC"}
    assert 1 < len(expected) < 40
