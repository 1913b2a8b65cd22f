"""A model that was pickled, copied or cloned answers as the original does."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from reference.models import (
    BOOSTERS,
    assert_identical_models,
    make_frame,
    several_classes,
    small_booster,
    two_classes,
)
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

each_booster = pytest.mark.parametrize("booster", BOOSTERS)


def assert_same_answers(one, other, X):
    for method in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(one, method)(X), getattr(other, method)(X))


@each_booster
@pytest.mark.parametrize("problem", [two_classes, several_classes])
@pytest.mark.parametrize("predicted_before", [False, True])
def test_pickles_answer_alike(booster, problem, predicted_before):
    X, y = problem()
    model = small_booster(booster).fit(X, y)
    if predicted_before:
        model.predict(X)
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        again = pickle.loads(pickle.dumps(model, protocol=protocol))
        assert_identical_models(model, again)
        assert_same_answers(model, again, X)


@each_booster
def test_files_mapped_into_memory_answer_alike(booster, tmp_path):
    X, y = two_classes()
    model = small_booster(booster, max_depth=2).fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    assert_same_answers(model, joblib.load(tmp_path / "model.joblib", mmap_mode="r"), X)


@each_booster
def test_pickles_remember_categories(booster):
    X, y = two_classes()
    frame = make_frame("pandas", {"a": X[:, 1]}, {"b": np.where(X[:, 0] > 0.5, "up", "down")})
    model = small_booster(booster).fit(frame, y)
    assert_same_answers(model, pickle.loads(pickle.dumps(model)), frame)


@each_booster
def test_deep_copies_share_nothing(booster):
    X, y = two_classes()
    model = small_booster(booster).fit(X, y)
    votes = model.decision_function(X)
    copy.deepcopy(model).fit(X, 1 - y)
    np.testing.assert_array_equal(model.decision_function(X), votes)


@each_booster
@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=1)])
def test_clones_fit_to_the_same_model(booster, estimator):
    X, y = two_classes()
    model = small_booster(booster, estimator=estimator).fit(X, y)
    twin = clone(model)
    with pytest.raises(NotFittedError):
        twin.predict(X)
    assert_same_answers(model, twin.fit(X, y), X)


@each_booster
def test_borrowed_learners_survive_a_pickle(booster):
    X, y = two_classes()
    model = small_booster(booster, estimator=DecisionTreeClassifier(max_depth=2)).fit(X, y)
    assert_same_answers(model, pickle.loads(pickle.dumps(model)), X)
