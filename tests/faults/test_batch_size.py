"""Rows asked one by one get the answers they get together, to the last bit."""

import numpy as np
import pytest
from reference.models import BOOSTERS, make_frame, several_classes, small_booster, two_classes
from sklearn.tree import DecisionTreeClassifier

METHODS = ("decision_function", "predict_proba", "predict")


def in_batches(method, X, size):
    return np.concatenate([method(X[start : start + size]) for start in range(0, len(X), size)])


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("max_depth", [1, 2])
@pytest.mark.parametrize("problem", [two_classes, several_classes])
@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_one_by_one_and_together(booster, max_depth, problem, voting):
    X, y = problem(n_rows=60)
    X[::5, 0] = np.nan
    model = small_booster(booster, max_depth=max_depth)
    if "voting" in model.get_params():
        model.set_params(voting=voting)
    model.fit(X, y)
    for name in METHODS:
        method = getattr(model, name)
        for size in (1, 7):
            assert in_batches(method, X, size).tobytes() == method(X).tobytes()


@pytest.mark.parametrize("booster", BOOSTERS)
def test_across_blocks_of_rows(booster):
    X, y = two_classes(n_rows=20_000)
    model = small_booster(booster).fit(X[:500], y[:500])
    assert in_batches(model.decision_function, X, 3001).tobytes() == model.decision_function(X).tobytes()


@pytest.mark.parametrize("booster", BOOSTERS)
def test_borrowed_learners(booster):
    X, y = two_classes(n_rows=60)
    model = small_booster(booster, estimator=DecisionTreeClassifier(max_depth=2)).fit(X, y)
    assert in_batches(model.decision_function, X, 1).tobytes() == model.decision_function(X).tobytes()


@pytest.mark.parametrize("booster", BOOSTERS)
def test_frames_with_categories(booster):
    X, y = two_classes(n_rows=60)
    frame = make_frame("pandas", {"a": X[:, 0]}, {"b": np.where(X[:, 1] > 0, "up", "down")})
    model = small_booster(booster).fit(frame, y)
    assert in_batches(model.decision_function, frame, 1).tobytes() == model.decision_function(frame).tobytes()
