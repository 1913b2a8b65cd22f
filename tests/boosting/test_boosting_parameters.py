"""Invalid parameters are refused, and the message names them."""

import numpy as np
import pytest
from reference.models import BOOSTERS, several_classes, small_booster, two_classes
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from surefoot import (
    AdaBoostClassifier,
    BaggedBoostClassifier,
    BestBoostClassifier,
    LarsenRitzertClassifier,
    MajorityBoostClassifier,
)

NAN = float("nan")

FOR_ALL = [
    {"n_estimators": 0},
    {"n_estimators": -3},
    {"n_estimators": 2.5},
    {"n_estimators": "ten"},
    {"n_estimators": None},
    {"n_estimators": True},
    {"learning_rate": 0},
    {"learning_rate": 0.0},
    {"learning_rate": -1.0},
    {"learning_rate": NAN},
    {"learning_rate": float("inf")},
    {"learning_rate": "fast"},
    {"max_depth": 0},
    {"max_depth": 13},
    {"max_depth": None},
    {"max_depth": 1.0},
    {"variant": "x"},
    {"variant": None},
    {"margin_precision": 0.0},
    {"margin_precision": 1.0},
    {"margin_precision": NAN},
    {"learning_rate": 0.5, "variant": "adaboost_star"},
    {"max_bins": 1},
    {"max_bins": 256},
    {"max_bins": 0},
    {"max_bins": "all"},
    {"calibrate": "yes"},
    {"calibrate": None},
    {"class_weight": "balance"},
    {"class_weight": 3},
    {"class_weight": {"no such class": 1.0}},
    {"class_weight": {0: -1.0}},
    {"class_weight": {0: NAN}},
    {"class_weight": {0: float("inf")}},
    {"estimator": KNeighborsClassifier()},
    {"estimator": "tree"},
    {"max_depth": 2, "estimator": DecisionTreeClassifier(max_depth=1)},
]

FOR_SOME = [
    *(
        (booster, parameters)
        for booster in (MajorityBoostClassifier, BaggedBoostClassifier, LarsenRitzertClassifier)
        for parameters in (
            {"n_members": 0},
            {"n_members": -1},
            {"n_members": 2.5},
            {"n_members": "many"},
            {"n_members": True},
            {"voting": "x"},
            {"voting": None},
        )
    ),
    (MajorityBoostClassifier, {"n_members": 81}),
    (MajorityBoostClassifier, {"n_members": None}),
    (BaggedBoostClassifier, {"n_members": None, "failure_probability": 0.0}),
    (BaggedBoostClassifier, {"n_members": None, "failure_probability": 1.0}),
    (BaggedBoostClassifier, {"n_members": None, "failure_probability": NAN}),
    (BaggedBoostClassifier, {"failure_probability": "small"}),
    (BaggedBoostClassifier, {"max_samples": 0.0}),
    (BaggedBoostClassifier, {"max_samples": 1.5}),
    (BaggedBoostClassifier, {"max_samples": NAN}),
    (BaggedBoostClassifier, {"max_samples": "all"}),
    (BestBoostClassifier, {"candidates": ()}),
    (BestBoostClassifier, {"candidates": ("majority", "unknown")}),
    (BestBoostClassifier, {"candidates": "majority"}),
    (BestBoostClassifier, {"candidates": None}),
    (BestBoostClassifier, {"validation_fraction": 0.0}),
    (BestBoostClassifier, {"validation_fraction": 1.0}),
    (BestBoostClassifier, {"validation_fraction": NAN}),
    (BestBoostClassifier, {"validation_fraction": "some"}),
]


def named_at_fault(parameters):
    """The parameter that the message must name: the first one that is not an additional ``n_members=None``."""
    return next(name for name, value in parameters.items() if len(parameters) == 1 or value is not None)


def show(value):
    return ",".join(f"{name}={setting!r}" for name, setting in value.items()) if isinstance(value, dict) else None


def assert_refused(booster, parameters, X, y):
    model = small_booster(booster, **parameters)
    with pytest.raises((ValueError, TypeError), match=named_at_fault(parameters)):
        model.fit(X, y)


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("parameters", FOR_ALL, ids=show)
def test_parameters_of_all_boosters(booster, parameters):
    if booster is BestBoostClassifier and parameters == {"max_depth": None}:
        pytest.skip("it then tries several")
    assert_refused(booster, parameters, *two_classes())


@pytest.mark.parametrize(("booster", "parameters"), FOR_SOME, ids=show)
def test_parameters_of_one_booster(booster, parameters):
    assert_refused(booster, parameters, *two_classes())


@pytest.mark.parametrize("booster", BOOSTERS)
def test_adaboost_star_refuses_three_classes(booster):
    assert_refused(booster, {"variant": "adaboost_star"}, *several_classes(n_classes=3))


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("constructor_only", [{"n_estimators": 0}, {"variant": "x"}, {"learning_rate": -1}])
def test_constructors_refuse_nothing(booster, constructor_only):
    assert booster(**constructor_only).get_params()[next(iter(constructor_only))] == next(
        iter(constructor_only.values())
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_estimators": np.int64(3)},
        {"learning_rate": np.float32(0.5)},
        {"learning_rate": 1},
        {"max_bins": 2},
        {"max_bins": 255},
        {"max_bins": None},
        {"max_depth": 12},
        {"class_weight": {1: 2.0}},
        {"class_weight": "balanced"},
        {"variant": "adaboost_star", "margin_precision": 0.01},
    ],
    ids=show,
)
@pytest.mark.parametrize("booster", BOOSTERS)
def test_parameters_at_the_ends_of_their_ranges_are_fine(booster, parameters):
    X, y = two_classes()
    model = small_booster(booster, **parameters).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()


def test_the_error_for_a_small_table_names_parameters_of_the_booster():
    X, _ = two_classes(n_rows=4)
    with pytest.raises(ValueError, match=r"candidates|rows") as refusal:
        BestBoostClassifier(n_estimators=2, random_state=0).fit(X, [0, 1, 0, 1])
    assert "n_members" not in str(refusal.value) or "candidates" in str(refusal.value)  # BestBoost has no n_members


def test_every_parameter_of_adaboost_is_in_the_table():
    named = {name for parameters in FOR_ALL for name in parameters}
    assert set(AdaBoostClassifier().get_params()) - named <= {"random_state", "n_jobs", "verbose"}
