"""A fit that fails leaves the estimator as it was: unfitted, or with its earlier model whole."""

import numpy as np
import pytest
from reference.models import BOOSTERS, make_frame, small_booster, two_classes
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from surefoot import AdaBoostClassifier

X, y = two_classes()
WIDER = np.hstack([X, X])


class FailsLater(ClassifierMixin, BaseEstimator):
    """A weak learner that gives up in its third round."""

    rounds = 0

    def fit(self, X, y, sample_weight=None):
        type(self).rounds += 1
        if type(self).rounds > 2:
            raise RuntimeError("no more")
        self.tree_ = DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight=sample_weight)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)


BAD_CALLS = {
    "one class": lambda model: model.fit(WIDER, np.zeros(len(X))),
    "missing labels": lambda model: model.fit(WIDER, None),
    "too few labels": lambda model: model.fit(WIDER, y[:-1]),
    "bad weights": lambda model: model.fit(WIDER, y, sample_weight=-np.ones(len(X))),
    "bad parameter": lambda model: model.set_params(n_estimators=0).fit(WIDER, y),
    "a bad column": lambda model: model.fit(make_frame("pandas", {"a": X[:, 0], "b": ["word"] * len(X)}), y),
    "the learner": lambda model: model.set_params(estimator=FailsLater()).fit(WIDER, y),
}


def fail(model, name):
    FailsLater.rounds = 0
    with pytest.raises((ValueError, RuntimeError)):
        BAD_CALLS[name](model)


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("name", BAD_CALLS)
def test_an_unfitted_estimator_stays_unfitted(booster, name):
    model = small_booster(booster)
    before = set(vars(model))
    fail(model, name)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert set(vars(model)) == before


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("name", BAD_CALLS)
def test_a_fitted_estimator_keeps_its_model(booster, name):
    model = small_booster(booster).fit(X, y)
    votes = model.decision_function(X)
    fail(model, name)
    assert model.n_features_in_ == X.shape[1]
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(model.classes_, [0, 1])
    np.testing.assert_array_equal(model.decision_function(X), votes)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_the_names_of_the_earlier_columns_stay(booster):
    frame = make_frame("pandas", {name: X[:, j] for j, name in enumerate("abcd")})
    model = small_booster(booster).fit(frame, y)
    votes = model.decision_function(frame)
    fail(model, "one class")
    assert model.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_array_equal(model.decision_function(frame), votes)


def test_nothing_to_learn():
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    votes = model.decision_function(X)
    with pytest.raises(ValueError, match="chance"):
        model.fit(np.ones((60, 7)), np.arange(60) % 2)
    np.testing.assert_array_equal(model.decision_function(X), votes)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_failed_predictions_leave_the_model_whole(booster):
    model = small_booster(booster).fit(X, y)
    votes = model.decision_function(X)
    for bad in (WIDER, X[:0], np.full_like(X, np.inf)):
        with pytest.raises(ValueError, match=r"features|sample|infinity"):
            model.predict(bad)
    np.testing.assert_array_equal(model.decision_function(X), votes)
