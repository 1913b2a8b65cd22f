"""Constant, tiny and one-column tables: a documented result, or an error that says what is wrong."""

import numpy as np
import pytest
from reference.models import BOOSTERS, small_booster, two_classes

from surefoot import AdaBoostClassifier, BestBoostClassifier, MajorityBoostClassifier

each_booster = pytest.mark.parametrize("booster", BOOSTERS)


@each_booster
@pytest.mark.parametrize("max_depth", [1, 2])
def test_a_constant_column_is_never_used(booster, max_depth):
    X, y = two_classes(n_rows=150)
    wider = np.insert(X, 0, 3.0, axis=1)
    without = small_booster(booster, max_depth=max_depth).fit(X, y)
    model = small_booster(booster, max_depth=max_depth).fit(wider, y)
    np.testing.assert_array_equal(model.decision_function(wider), without.decision_function(X))
    assert model.feature_importances_[0] == 0.0


@pytest.mark.parametrize("max_depth", [1, 2])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("value", [1.0, np.nan])
def test_nothing_to_learn_from_a_table_of_constants(max_depth, n_classes, value):
    with pytest.raises(ValueError, match="X"):
        AdaBoostClassifier(max_depth=max_depth).fit(np.full((60, 3), value), np.arange(60) % n_classes)


@each_booster
@pytest.mark.parametrize("max_depth", [1, 2])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("value", [1.0, np.nan])
def test_a_table_of_constants_predicts_the_most_frequent_class(booster, max_depth, n_classes, value):
    X, y = np.full((100, 3), value), np.where(np.arange(100) < 80, 1, np.arange(100) % n_classes)
    model = small_booster(booster, max_depth=max_depth).fit(X, y)
    assert set(model.predict(X)) == {1}
    assert np.isfinite(model.decision_function(X)).all()
    np.testing.assert_array_equal(model.feature_importances_, np.zeros(3))


@each_booster
@pytest.mark.parametrize("max_depth", [1, 2])
def test_a_single_column(booster, max_depth):
    X, y = two_classes(n_rows=150, n_columns=1)
    model = small_booster(booster, max_depth=max_depth).fit(X, y)
    assert model.score(X, y) > 0.6
    np.testing.assert_array_equal(model.feature_importances_, [1.0])


@pytest.mark.parametrize("max_depth", [1, 3])
def test_two_rows_are_enough_for_adaboost(max_depth):
    model = AdaBoostClassifier(max_depth=max_depth).fit([[0.0], [1.0]], ["no", "yes"])
    assert model.predict([[0.0], [1.0], [-9.0], [9.0]]).tolist() == ["no", "yes", "no", "yes"]
    assert model.estimators_[0].threshold[0] == 0.5


@each_booster
@pytest.mark.parametrize("n_rows", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_members_of_tiny_tables_may_lack_rows_and_classes(booster, n_rows, n_classes):
    settings = {MajorityBoostClassifier: {"n_members": 2}, BestBoostClassifier: {"candidates": ("adaboost", "bagged")}}
    for seed in range(5):
        generator = np.random.default_rng(seed)
        X = generator.integers(0, 4, size=(n_rows, 2)).astype(float)
        y = np.append([0, 1], generator.integers(0, n_classes, size=n_rows - 2))
        X[:2, 0] = [0.0, 3.0]
        model = small_booster(booster, random_state=seed, **settings.get(booster, {})).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
        assert (np.abs(model.margins(X, y)) <= 1 + 1e-12).all()
        model.set_params(calibrate=False).fit(X, y)  # without a link, the most probable class wins the vote
        np.testing.assert_array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X))
