"""The same stumps, votes and accuracy as scikit-learn's AdaBoostClassifier."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.ensemble import AdaBoostClassifier as Peer
from sklearn.model_selection import ShuffleSplit, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from surefoot import AdaBoostClassifier

LOADERS = {"breast cancer": load_breast_cancer, "iris": load_iris, "wine": load_wine}


def table(n_rows, n_columns, n_distinct=None, n_classes=2, seed=0):
    X, y = make_classification(
        n_rows,
        n_columns,
        n_informative=n_columns // 2,
        n_classes=n_classes,
        flip_y=0.1,
        class_sep=0.7,
        random_state=seed,
    )
    if n_distinct is not None:
        X = np.round((X - X.min()) / (X.max() - X.min()) * (n_distinct - 1))
    return X.astype(np.float32).astype(np.float64), y  # scikit-learn's trees use float32


def check_same_stumps(ours, peer):
    assert len(ours.estimators_) == len(peer.estimators_)
    np.testing.assert_array_equal(
        [tree.feature[0] for tree in ours.estimators_], [tree.tree_.feature[0] for tree in peer.estimators_]
    )
    np.testing.assert_allclose(
        [tree.threshold[0] for tree in ours.estimators_],
        [tree.tree_.threshold[0] for tree in peer.estimators_],
        rtol=1e-7,
        atol=1e-12,
    )
    n_rounds = len(peer.estimators_)  # scikit-learn pads its arrays if it stops early
    np.testing.assert_allclose(ours.estimator_weights_, peer.estimator_weights_[:n_rounds], rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_errors_, peer.estimator_errors_[:n_rounds], rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
def test_same_stumps_on_few_distinct_values(weighted, learning_rate):
    X, y = table(3000, 8, n_distinct=200)
    weights = np.random.default_rng(1).gamma(1.0, size=len(y)) if weighted else None
    ours = AdaBoostClassifier(n_estimators=50, learning_rate=learning_rate, calibrate=False).fit(X, y, weights)
    peer = Peer(n_estimators=50, learning_rate=learning_rate, random_state=0).fit(X, y, weights)
    check_same_stumps(ours, peer)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(ours.feature_importances_, peer.feature_importances_, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_same_stumps_on_any_table_without_bins(weighted):
    X, y = table(2000, 6)
    assert len(np.unique(X[:, 0])) > 255
    weights = np.random.default_rng(1).gamma(1.0, size=len(y)) if weighted else None
    ours = AdaBoostClassifier(n_estimators=50, max_bins=None).fit(X, y, weights)
    check_same_stumps(ours, Peer(n_estimators=50, random_state=0).fit(X, y, weights))


@pytest.mark.parametrize("n_classes", [3, 5])
def test_same_stumps_on_several_classes(n_classes):
    X, y = table(3000, 8, n_distinct=250, n_classes=n_classes)
    weights = np.random.default_rng(1).gamma(1.0, size=len(y))
    ours = AdaBoostClassifier(n_estimators=50, calibrate=False).fit(X, y, weights)
    peer = Peer(n_estimators=50, random_state=0).fit(X, y, weights)
    check_same_stumps(ours, peer)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("max_depth", [2, 3])
def test_same_trees_when_deeper(n_classes, max_depth):
    X, y = table(2000, 6, n_distinct=250, n_classes=n_classes)
    weights = np.random.default_rng(1).gamma(1.0, size=len(y))  # no ties
    ours = AdaBoostClassifier(n_estimators=20, max_depth=max_depth).fit(X, y, weights)
    tree = DecisionTreeClassifier(max_depth=max_depth)
    peer = Peer(tree, n_estimators=20, random_state=0).fit(X, y, weights)
    np.testing.assert_allclose(ours.estimator_weights_, peer.estimator_weights_, rtol=1e-8)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-8)


def test_same_as_scikit_learn_with_its_own_tree():
    X, y = table(1000, 6, n_distinct=100)
    ours = AdaBoostClassifier(estimator=DecisionTreeClassifier(max_depth=1), n_estimators=30, random_state=0).fit(X, y)
    peer = Peer(n_estimators=30, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.estimator_weights_, peer.estimator_weights_, rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))


def test_staged_predictions_are_those_of_scikit_learn():
    X, y = table(1000, 6, n_distinct=100)
    ours = AdaBoostClassifier(n_estimators=20).fit(X, y)
    peer = Peer(n_estimators=20, random_state=0).fit(X, y)
    for mine, theirs in zip(ours.staged_predict(X), peer.staged_predict(X), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_perfect_round_ends_the_fit_as_in_scikit_learn():
    X, y = np.arange(20.0)[:, np.newaxis], np.arange(20) >= 8
    ours, peer = AdaBoostClassifier(calibrate=False).fit(X, y), Peer(random_state=0).fit(X, y)
    check_same_stumps(ours, peer)
    assert len(ours.estimators_) == 1
    assert ours.estimator_weights_[0] == 1.0


def test_a_round_no_better_than_chance_ends_the_fit():
    X, y = np.zeros((10, 1)), np.arange(10) < 3  # after one stump, both classes have the same weight
    model = AdaBoostClassifier().fit(X, y)
    assert len(model.estimators_) == 1
    assert not model.predict(X).any()


def real_tables():
    for name, load in LOADERS.items():
        X, y = load(return_X_y=True)
        yield name, X, y
    folder = os.environ.get("SUREFOOT_DATA")
    if folder:
        import pandas as pd

        for name, classes in (("pima", None), ("higgs_56k", None), ("covertype_177k", (1, 2))):
            frame = pd.read_parquet(Path(folder) / f"{name}.parquet")
            if classes:
                frame = frame[frame["target"].isin(classes)]
            frame = frame.sample(min(len(frame), 4000), random_state=0)
            yield name, frame.drop(columns="target").to_numpy(dtype=np.float64), frame["target"].to_numpy()


@pytest.mark.parametrize(("name", "X", "y"), [pytest.param(*real, id=real[0]) for real in real_tables()])
def test_mean_accuracy_over_20_splits_is_that_of_scikit_learn(name, X, y):
    splits = ShuffleSplit(20, test_size=0.25, random_state=0)
    ours = cross_val_score(AdaBoostClassifier(n_estimators=25, calibrate=False), X, y, cv=splits)
    peer = cross_val_score(Peer(n_estimators=25, random_state=0), X, y, cv=splits)
    assert abs(ours.mean() - peer.mean()) <= 0.003
