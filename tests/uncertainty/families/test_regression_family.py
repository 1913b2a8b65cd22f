"""The values that the parameter ``distribution`` may have."""

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from reference.families import REGRESSION

from surefoot._exceptions import DataError, ParameterError
from surefoot.uncertainty.families import (
    REGRESSION_FAMILIES,
    Laplace,
    Normal,
    RegressionFamily,
    StudentT,
)
from surefoot.uncertainty.families.chosen import regression_family

Y = np.array([1.0, 2.0, 5.0])


@pytest.mark.parametrize("name", REGRESSION_FAMILIES)
def test_names_classes_and_instances_mean_the_same(name):
    by_name = regression_family(name, Y, None)
    assert by_name.name == name
    assert by_name == regression_family(REGRESSION_FAMILIES[name], Y, None)
    assert by_name == regression_family(REGRESSION_FAMILIES[name](), Y, None)
    assert by_name == REGRESSION_FAMILIES[name].for_target(Y)


def test_the_names():
    assert list(REGRESSION_FAMILIES) == [
        *("normal", "lognormal", "laplace", "student_t", "poisson", "gamma"),
        *("negative_binomial", "zero_inflated_poisson", "quantile"),
    ]


def test_settings_are_kept():
    family = regression_family(StudentT(df=4), Y, None)
    assert family.df == 4
    assert family.location == pytest.approx(Y.mean())
    assert regression_family("student_t", Y, None).df == 5


def test_weights_are_used():
    assert regression_family("normal", Y, np.array([0.0, 1.0, 1.0])).location == 3.5


@pytest.mark.parametrize(
    "distribution", ["cauchy", "Normal", "", None, 3, np.array(["normal"]), dict, RegressionFamily]
)
def test_anything_else_is_refused_with_the_choices(distribution):
    with pytest.raises(ParameterError) as error:
        regression_family(distribution, Y, None)
    for name in ("distribution", *REGRESSION_FAMILIES, "StudentT(df=4)"):
        assert name in str(error.value)


def test_targets_are_checked():
    with pytest.raises(DataError, match="gamma"):
        regression_family("gamma", -Y, None)


@pytest.mark.parametrize("df", [2, 1.5, 0, -1, np.inf, np.nan, "4", None, True])
def test_degrees_of_freedom_are_above_2(df):
    with pytest.raises(ParameterError, match="df must be"):
        StudentT(df=df)


@pytest.mark.parametrize("name", REGRESSION)
def test_families_are_immutable_and_compare_by_value(name):
    family = REGRESSION[name].fitted_to(Y)
    assert pickle.loads(pickle.dumps(family)) == family
    assert copy.deepcopy(family) == family
    assert hash(copy.deepcopy(family)) == hash(family)
    with pytest.raises(FrozenInstanceError):
        family.location = 0.0


def test_a_family_shows_its_settings_and_not_what_it_learned():
    assert repr(Normal.for_target(Y)) == "Normal()"
    assert repr(StudentT(4).fitted_to(Y)) == "StudentT(df=4.0)"


@pytest.mark.parametrize("name", [name for name in REGRESSION if name != "poisson"])
def test_the_sign_of_the_dispersion_is_that_of_the_last_output(name):
    family = REGRESSION[name].fitted_to(Y)
    middle = (family.floor + family.cap) / 2
    std, moved = family.distribution(np.array([[0.0, 0.0], [middle, middle + 0.1]])).std
    assert np.sign(moved - std) == family.dispersion_sign


def test_outputs_have_names():
    assert Normal.parameters == ("mu", "log_sigma")
    assert Laplace.parameters == ("mu", "log_b")
    for family in REGRESSION.values():
        assert family.n_outputs == len(family.parameters)
        assert family.natural
