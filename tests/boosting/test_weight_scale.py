"""Models depend on the ratios of weights only."""

import numpy as np
import pytest
from reference.models import BOOSTERS, difference_in_trees, several_classes, small_booster, two_classes

from surefoot import AdaBoostClassifier

FACTORS = [1e6, 1e-6, 1e300, 1e-300]


def tables(kind, seed):
    if kind == "more values than bins":
        return two_classes(n_rows=700, seed=seed)
    X, y = several_classes(n_rows=50, seed=seed) if kind == "three classes" else two_classes(n_rows=50, seed=seed)
    return (np.round(X), y) if kind != "missing values" else (np.where(X > 1, np.nan, X), y)


@pytest.mark.fault(number=3)
@pytest.mark.parametrize("kind", ["many ties", "missing values", "three classes", "more values than bins"])
@pytest.mark.parametrize("max_depth", [1, 3])
@pytest.mark.parametrize("factor", FACTORS)
def test_scaled_weights_grow_the_same_trees(kind, max_depth, factor):
    differences = {}
    for seed in range(20):
        X, y = tables(kind, seed)
        weights = np.random.default_rng(seed).integers(1, 4, size=len(X)).astype(float)
        settings = {"n_estimators": 5, "max_depth": max_depth, "calibrate": False}  # only trees are compared
        model = AdaBoostClassifier(**settings).fit(X, y, sample_weight=weights)
        scaled = AdaBoostClassifier(**settings).fit(X, y, sample_weight=weights * factor)
        if difference := difference_in_trees(model, scaled):
            differences[seed] = difference
    assert differences == {}


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("factor", FACTORS)
def test_every_booster_ignores_the_scale_of_weights(booster, factor):
    X, y = two_classes(n_rows=200)
    weights = np.random.default_rng(0).random(200)
    model = small_booster(booster).fit(X, y, sample_weight=weights)
    scaled = small_booster(booster).fit(X, y, sample_weight=weights * factor)
    assert difference_in_trees(model, scaled) is None


@pytest.mark.parametrize("weight", [1e308, 1e-320])
@pytest.mark.parametrize("max_depth", [1, 2])
@pytest.mark.parametrize("n_rows", [60, 600])
def test_equal_weights_at_the_ends_of_the_range_have_no_effect(weight, max_depth, n_rows):
    X, y = two_classes(n_rows=n_rows)
    plain = AdaBoostClassifier(n_estimators=4, max_depth=max_depth).fit(X, y)
    model = AdaBoostClassifier(n_estimators=4, max_depth=max_depth).fit(X, y, sample_weight=np.full(n_rows, weight))
    assert difference_in_trees(plain, model) is None


@pytest.mark.parametrize("booster", BOOSTERS)
def test_weights_of_all_magnitudes_at_once_give_finite_votes(booster):
    X, y = two_classes(n_rows=200)
    weights = 10.0 ** np.linspace(-300, 300, 200)
    model = small_booster(booster).fit(X, y, sample_weight=weights)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()
