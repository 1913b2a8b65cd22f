"""Fitting and predicting change neither the data nor the parameters."""

import copy

import numpy as np
import pytest
from reference.models import BOOSTERS, FRAMES, make_frame, small_booster, two_classes
from sklearn.tree import DecisionTreeClassifier


def use(model, X, y, weights):
    model.fit(X, y, sample_weight=weights)
    model.predict(X)
    model.predict_proba(X)
    model.margins(X, y)


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("max_depth", [1, 2])
def test_arrays_stay_as_they_were(booster, order, max_depth):
    X, y = two_classes()
    X[3, 1] = np.nan
    X = np.array(X, order=order)
    weights = np.random.default_rng(0).random(len(X))
    before = [array.tobytes() for array in (X, y, weights)]
    use(small_booster(booster, max_depth=max_depth, class_weight="balanced"), X, y, weights)
    assert [array.tobytes() for array in (X, y, weights)] == before


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("kind", FRAMES)
def test_frames_stay_as_they_were(booster, kind):
    X, y = two_classes()
    frame = make_frame(kind, {"a": X[:, 0], "b": X[:, 1]}, {"c": np.where(X[:, 2] > 0, "up", "down")})
    before = copy.deepcopy(frame)
    use(small_booster(booster), frame, y, np.ones(len(y)))
    assert before.equals(frame)


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=1)])
def test_parameters_stay_as_they_were(booster, estimator):
    X, y = two_classes()
    parameters = {"class_weight": {0: 1.0, 1: 2.0}, "estimator": estimator, "n_jobs": 1}
    model = small_booster(booster, **parameters)
    before = model.get_params(deep=False)
    shown = copy.deepcopy(before)
    use(model, X, y, np.ones(len(y)))
    after = model.get_params(deep=False)
    assert all(after[name] is before[name] for name in before)
    assert repr(after) == repr(shown)
    assert estimator is None or not hasattr(estimator, "tree_")
