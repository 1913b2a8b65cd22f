"""A row of weight k counts as k copies of the row, and a row of weight 0 as no row."""

import numpy as np
import pytest
from reference.models import difference_in_trees, make_frame
from sklearn.base import clone

from surefoot import AdaBoostClassifier

COLUMNS = ("a", "b", "c")


def weighted_problem(kind, n_classes, seed):
    """Values, labels and weights 0 to 3; 60% of the labels depend on the first column."""
    generator = np.random.default_rng(seed)
    n_rows = 700 if kind == "more values than bins" else 50
    if kind in ("many ties", "categories"):
        X = generator.integers(0, 5, size=(n_rows, 3)).astype(float)
    else:
        X = generator.normal(size=(n_rows, 3))
    first = X[:, 0].copy()
    if kind == "missing values":
        X[generator.random(X.shape) < 0.2] = np.nan
    dependent = np.searchsorted(np.quantile(first, np.arange(1, n_classes) / n_classes), first)
    y = np.where(generator.random(n_rows) < 0.6, dependent, generator.integers(0, n_classes, size=n_rows))
    return X, y, generator.integers(0, 4, size=n_rows)


def as_table(X, kind):
    if kind != "categories":
        return X
    return make_frame("pandas", categories={name: X[:, j].astype(int).astype(str) for j, name in enumerate(COLUMNS)})


@pytest.mark.parametrize("kind", ["many ties", "categories", "missing values", "more values than bins"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("max_depth", [1, 3])
def test_copies_of_rows_grow_the_same_trees_as_their_weights(kind, n_classes, max_depth):
    differences = {}
    for seed in range(30):
        X, y, weights = weighted_problem(kind, n_classes, seed)
        model = AdaBoostClassifier(n_estimators=6, max_depth=max_depth, calibrate=False)  # only trees are compared
        copies = np.repeat(np.arange(len(X)), weights)
        copied = clone(model).fit(as_table(X[copies], kind), y[copies])
        weighted = model.fit(as_table(X, kind), y, sample_weight=weights)
        if difference := difference_in_trees(weighted, copied):
            differences[seed] = difference
    assert differences == {}


@pytest.mark.parametrize("max_depth", [1, 3])
def test_the_variant_that_maximises_margins_counts_copies_too(max_depth):
    differences = {}
    for seed in range(30):
        X, y, weights = weighted_problem("many ties", 2, seed)
        copies = np.repeat(np.arange(len(X)), weights)
        parameters = {"n_estimators": 6, "max_depth": max_depth, "variant": "adaboost_star", "calibrate": False}
        weighted = AdaBoostClassifier(**parameters).fit(X, y, sample_weight=weights)
        copied = AdaBoostClassifier(**parameters).fit(X[copies], y[copies])
        if difference := difference_in_trees(weighted, copied):
            differences[seed] = difference
    assert differences == {}


def test_rare_categories_are_rare_by_weight():
    generator = np.random.default_rng(0)
    labels = np.repeat([f"{k:03d}" for k in range(400)], 2)
    weights = np.repeat(generator.integers(1, 5, size=400), 2)
    y = np.repeat(generator.integers(0, 2, size=400), 2)
    copies = np.repeat(np.arange(800), weights)
    weighted = AdaBoostClassifier(n_estimators=5).fit(
        make_frame("pandas", categories={"a": labels}), y, sample_weight=weights
    )
    copied = AdaBoostClassifier(n_estimators=5).fit(make_frame("pandas", categories={"a": labels[copies]}), y[copies])
    everything = make_frame("pandas", categories={"a": labels})
    np.testing.assert_allclose(
        weighted.decision_function(everything), copied.decision_function(everything), rtol=1e-8, atol=1e-12
    )
