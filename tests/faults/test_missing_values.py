"""Missing values have a side in every split, whether or not they were seen when the model was fitted."""

import numpy as np
import pytest
from reference.models import BOOSTERS, FRAMES, make_frame, several_classes, small_booster, two_classes

from surefoot import AdaBoostClassifier


def assert_finite(model, X):
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.feature_importances_).all()


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("max_depth", [1, 2])
@pytest.mark.parametrize("problem", [two_classes, several_classes])
def test_holes_in_the_training_table(booster, max_depth, problem):
    X, y = problem(n_rows=150)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    model = small_booster(booster, max_depth=max_depth).fit(X, y)
    assert_finite(model, X)
    assert model.score(X, y) > 1.2 / len(np.unique(y))


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("max_depth", [1, 2])
def test_missing_values_that_come_later(booster, max_depth):
    X, y = two_classes(n_rows=150)
    model = small_booster(booster, max_depth=max_depth).fit(X, y)
    X[::2] = np.nan
    assert_finite(model, X)
    assert len(np.unique(model.decision_function(X[::2]))) == 1


@pytest.mark.parametrize("max_depth", [1, 2])
def test_being_missing_can_be_all_that_tells_the_classes_apart(max_depth):
    X = np.full((40, 2), 5.0)
    X[::2, 1] = np.nan
    y = np.arange(40) % 2
    model = AdaBoostClassifier(n_estimators=3, max_depth=max_depth).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.predict([[5.0, 1e9], [5.0, -1e9], [5.0, np.nan]]).tolist() == [1, 1, 0]


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("max_depth", [1, 2])
def test_a_column_without_any_value_is_never_used(booster, max_depth):
    X, y = two_classes(n_rows=150)
    wider = np.insert(X, 1, np.nan, axis=1)
    without = small_booster(booster, max_depth=max_depth).fit(X, y)
    model = small_booster(booster, max_depth=max_depth).fit(wider, y)
    np.testing.assert_array_equal(model.decision_function(wider), without.decision_function(X))
    assert model.feature_importances_[1] == 0.0
    filled = np.insert(X, 1, 7.0, axis=1)
    np.testing.assert_array_equal(model.decision_function(filled), without.decision_function(X))


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["array", *FRAMES])
def test_infinity_is_refused_when_fitting_and_when_predicting(booster, infinity, kind):
    X, y = two_classes(n_columns=2)
    broken = X.copy()
    broken[3, 1] = infinity

    def table(values):
        return values if kind == "array" else make_frame(kind, {"a": values[:, 0], "b": values[:, 1]})

    with pytest.raises(ValueError, match="X contains infinity"):
        small_booster(booster).fit(table(broken), y)
    model = small_booster(booster).fit(table(X), y)
    with pytest.raises(ValueError, match="X contains infinity"):
        model.predict(table(broken))
