"""Probabilities by squared loss: the clipped regression of each class."""

import numpy as np
import pandas as pd
import pytest
from reference.vmatrix_boosters import problem, small
from sklearn.utils import compute_sample_weight

from surefoot import DataError, VMatrix, VMatrixBoostingRegressor
from surefoot import VMatrixBoostingClassifier as Classifier

SOME = {"blend": 0.6, "orientation": "both", "n_estimators": 30, "learning_rate": 0.5}


def test_two_classes_are_a_clipped_regression():
    X, y, T = problem(Classifier)
    model = small(Classifier, **SOME).fit(X, y, X_target=T)
    raw = small(VMatrixBoostingRegressor, **SOME).fit(X, y.astype(float), X_target=T).predict(X)
    assert (raw < 0).any()
    assert (raw > 1).any()
    expected = np.clip(raw, 0, 1)
    np.testing.assert_array_equal(model.predict_proba(X), np.stack([1 - expected, expected], axis=1))
    np.testing.assert_array_equal(model.predict(X), (expected > 0.5).astype(int))
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_probabilities_add_up_to_1(n_classes):
    X, y, T = problem(Classifier, n_rows=150, n_classes=n_classes)
    model = small(Classifier, **SOME).fit(X, y, X_target=T)
    for rows in (X, T, 10 * T, np.full((1, 3), np.nan)):
        probabilities = model.predict_proba(rows)
        assert probabilities.shape == (len(rows), n_classes)
        assert ((probabilities >= 0) & (probabilities <= 1)).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.predict(rows), probabilities.argmax(axis=1))
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert (model.feature_importances_ >= 0).all()


def test_each_of_three_classes_has_its_own_regression():
    X, y, T = problem(Classifier, n_rows=120, n_classes=3)
    V = VMatrix.from_target(X, T, orientation="both")
    model = small(Classifier, **SOME).fit(X, y, V=V)
    raw = [small(**SOME).fit(X, (y == k).astype(float), V=V) for k in range(3)]
    clipped = np.clip([one.predict(X) for one in raw], 0, 1)
    np.testing.assert_allclose(model.predict_proba(X), (clipped / clipped.sum(axis=0)).T, atol=1e-12)
    importances = np.mean([one.feature_importances_ for one in raw], axis=0)
    np.testing.assert_allclose(model.feature_importances_, importances)


LABELS = {
    "words": np.array(["no", "yes"]),
    "objects": np.array(["no", "yes"], dtype=object),
    "booleans": np.array([False, True]),
    "numbers": np.array([-3, 7]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_type(kind):
    X, y, T = problem(Classifier)
    plain = small(Classifier).fit(X, y, X_target=T)
    labels = LABELS[kind][y]
    for given in (labels, pd.Series(labels), labels.tolist()):
        model = small(Classifier).fit(X, given, X_target=T)
        assert model.classes_.tolist() == LABELS[kind].tolist()
        np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
        np.testing.assert_array_equal(model.predict(X), LABELS[kind][plain.predict(X)])


@pytest.mark.parametrize("class_weight", [{0: 1.0, 1: 4.0}, {1: 0.25}, "balanced"])
def test_class_weights_multiply_sample_weights(class_weight):
    X, y, T = problem(Classifier)
    y[:25] = 0
    weights = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    model = small(Classifier, class_weight=class_weight).fit(X, y, weights, X_target=T)
    rows = small(Classifier).fit(X, y, weights * compute_sample_weight(class_weight, y), X_target=T)
    np.testing.assert_allclose(model.predict_proba(X), rows.predict_proba(X), atol=1e-12)


def test_a_class_with_more_weight_is_more_probable():
    X, y, T = problem(Classifier)
    plain, heavy = (small(Classifier, class_weight=w).fit(X, y, X_target=T) for w in (None, {1: 5.0}))
    assert heavy.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean() + 0.05


BAD = {
    "one class": ([1] * 80, "y has only one class"),
    "missing": (np.where(np.arange(80) < 3, np.nan, 1.0), "y contains NaN"),
    "infinite": (np.where(np.arange(80) < 3, np.inf, 1.0), "y contains infinity"),
    "none": (None, "y to be passed"),
    "numbers": (np.linspace(0, 1, 80), "Unknown label type"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_labels_are_refused(name):
    X = problem(Classifier)[0]
    y, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        small(Classifier).fit(X, y)


def test_one_class_with_weight_is_refused():
    X, y, _ = problem(Classifier)
    with pytest.raises(DataError, match="y has only one class with weight"):
        small(Classifier).fit(X, y, sample_weight=(y == 1).astype(float))


def test_classes_that_are_all_improbable_get_equal_probabilities():
    """Three classes whose trees all predict less than 0 for some row."""
    X, y, _ = problem(Classifier, n_rows=90, n_classes=3)
    model = small(Classifier).fit(X, y)
    model._raw = lambda X: np.array([[-1.0, 0.2], [-0.5, 0.0], [0.0, 0.2]])
    np.testing.assert_allclose(model.predict_proba(X[:2]), [[1 / 3] * 3, [0.5, 0.0, 0.5]])


@pytest.mark.fault(number=6)
def test_too_many_classes_are_refused():
    """Each class has trees of its own: thousands of them take hours."""
    X = np.arange(202.0)[:, np.newaxis]
    with pytest.raises(DataError, match="y has 101 classes; V-matrix boosting takes at most 100") as error:
        Classifier().fit(X, np.arange(202) % 101)
    assert error.value.argument == "y"
    model = Classifier(n_estimators=1, early_stopping=False).fit(X[:200], np.arange(200) % 100)
    assert model.predict_proba(X).shape == (202, 100)
