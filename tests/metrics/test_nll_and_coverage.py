"""Negative log-likelihood and coverage, against scikit-learn and scipy."""

import numpy as np
import pandas as pd
import pytest
from metrics.predictions import Mixture, Rows
from scipy.stats import lognorm, norm, poisson
from sklearn.metrics import log_loss

from surefoot import DataError, ParameterError
from surefoot.metrics import coverage, nll

GENERATOR = np.random.default_rng(0)
PROBABILITIES = GENERATOR.dirichlet([1.0, 2.0, 0.5], size=50)
NAMES = np.array(["cat", "dog", "eel"])
LABELS = NAMES[GENERATOR.integers(0, 3, size=50)]
WEIGHTS = GENERATOR.integers(0, 4, size=50)
Y, MU, SIGMA = GENERATOR.normal(size=50), GENERATOR.normal(size=50), GENERATOR.uniform(0.5, 2, size=50)


@pytest.mark.parametrize("weights", [None, WEIGHTS, 1e300 * WEIGHTS])
def test_probabilities_against_scikit_learn(weights):
    expected = log_loss(LABELS, PROBABILITIES, sample_weight=None if weights is None else WEIGHTS)
    assert nll(LABELS, PROBABILITIES, sample_weight=weights) == pytest.approx(expected, rel=1e-12)
    codes = np.searchsorted(NAMES, LABELS)
    assert nll(codes, PROBABILITIES, sample_weight=weights) == pytest.approx(expected, rel=1e-12)


def test_labels_are_the_classes_of_the_columns():
    order = [2, 0, 1]
    expected = log_loss(LABELS, PROBABILITIES)
    assert nll(LABELS, PROBABILITIES[:, order], labels=NAMES[order]) == pytest.approx(expected)
    assert nll(pd.Series(LABELS), pd.DataFrame(PROBABILITIES), labels=list(NAMES)) == pytest.approx(expected)
    few = LABELS != "eel"
    expected = log_loss(LABELS[few], PROBABILITIES[few], labels=NAMES)
    assert nll(LABELS[few], PROBABILITIES[few], labels=NAMES) == pytest.approx(expected)
    single = nll([True], [[0.2, 0.8]], labels=[False, True])
    assert single == pytest.approx(-np.log(0.8))


def test_targets_of_probability_zero_make_it_infinite():
    assert nll(["a", "b"], [[1.0, 0.0], [1.0, 0.0]]) == np.inf
    assert nll(["a", "b"], [[1.0, 0.0], [1.0, 0.0]], sample_weight=[1, 0]) == 0
    assert nll([-1.0], lognorm(1.0)) == np.inf


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_distributions_against_scipy(weights):
    for prediction in (norm(MU, SIGMA), Rows("normal", norm(MU, SIGMA), 50)):
        expected = np.average(-norm.logpdf(Y, MU, SIGMA), weights=weights)
        assert nll(Y, prediction, sample_weight=weights) == pytest.approx(expected, rel=1e-12)
    counts = np.random.default_rng(0).poisson(3.0, size=50)
    for prediction in (poisson(3.0), Rows("poisson", poisson(3.0), 50)):
        expected = np.average(-poisson.logpmf(counts, 3.0), weights=weights)
        assert nll(counts, prediction, sample_weight=weights) == pytest.approx(expected, rel=1e-12)


def test_a_mixture_has_the_log_of_the_mean_density():
    parts = [norm(MU, SIGMA), norm(MU + 1, 2 * SIGMA)]
    expected = -np.log(np.mean([part.pdf(Y) for part in parts], axis=0)).mean()
    assert nll(Y, Mixture(*(Rows("normal", part, 50) for part in parts))) == pytest.approx(expected)


def test_a_larger_unit_subtracts_its_logarithm():
    assert nll(Y / 10, norm(MU / 10, SIGMA / 10)) == pytest.approx(nll(Y, norm(MU, SIGMA)) - np.log(10))


@pytest.mark.parametrize(
    ("y_true", "prediction", "labels", "message"),
    [
        (LABELS[:2], PROBABILITIES, None, "prediction has 50 rows, but y_true has 2"),
        (["a", "a"], [[0.5, 0.5]] * 2, None, "y_true has 1 classes for 2 columns"),
        (["a", "b"], [[0.5, 0.5]] * 2, ["a", "b", "c"], "labels has 3 classes for 2 columns"),
        (["a", "b"], [[0.5, 0.5]] * 2, ["a", "a"], "labels contains a class twice"),
        (["a", "z"], [[0.5, 0.5]] * 2, ["a", "b"], "y_true contains 'z'"),
        (["a", "b"], [[0.5, 0.5]] * 2, [0, 1], "which is not in labels"),
        (np.array(["a", 1], dtype=object), [[0.5, 0.5]] * 2, None, "y_true mixes labels"),
        (["a", "b"], [[0.5, 0.6]] * 2, None, "prediction must be probabilities"),
        (["a", "b"], [[1.5, -0.5]] * 2, None, "prediction must be probabilities"),
        (["a", "b"], [[0.5, np.nan]] * 2, None, "prediction must be probabilities"),
        (["a", "b"], [0.5, 0.6], None, "prediction must be a distribution or probabilities"),
        (["a", "b"], "normal", None, "prediction must be a distribution or probabilities"),
        ([0.5, 1.5], [[0.5, 0.5]] * 2, None, "y_true contains fractions"),
        ([], np.zeros((0, 2)), None, "y_true is empty"),
        ([np.nan], norm(), None, "y_true contains NaN"),
        (["a"], norm(), None, "y_true must be numbers"),
        ([0.0], norm(np.nan, 1.0), None, "distribution returns NaN"),
        ([0.0], Rows("normal", norm(), 3), None, "distribution has 3 rows"),
    ],
)
def test_bad_input_is_refused_by_name(y_true, prediction, labels, message):
    with pytest.raises(DataError, match=message):
        nll(y_true, prediction, labels=labels)


def test_labels_are_refused_with_a_distribution():
    with pytest.raises(ParameterError, match="labels"):
        nll([0.0], norm(), labels=[0, 1])


def test_coverage_of_a_distribution():
    y = np.random.default_rng(0).normal(size=20_000)
    for level in (0.1, 0.5, 0.9):
        assert coverage(y, norm(), level=level) == pytest.approx(level, abs=0.015)
    assert coverage(y, norm()) == coverage(y, norm(), level=0.9)
    ends = tuple(np.full(len(y), end) for end in norm.interval(0.5))
    assert coverage(y, Rows("normal", norm(), len(y)), level=0.5) == coverage(y, ends)


def test_coverage_of_intervals_by_hand():
    assert coverage([0.0, 1.0, 2.0, 3.0], ([0, 0, 3, -np.inf], [0, 0.5, 4, np.inf])) == 0.5
    assert coverage([0.0, 1.0, 2.0], np.array([[0, 0, 3], [0, 2, 4]]), sample_weight=[1, 2, 5]) == pytest.approx(3 / 8)


@pytest.mark.parametrize(
    ("prediction", "message"),
    [
        (([1.0, 1.0], [0.0, 2.0]), "low is above high"),
        (([1.0], [2.0]), "low has 1 values for 2 rows"),
        (([1.0, np.nan], [2.0, 2.0]), "low contains NaN"),
        (([1.0, 1.0], [2.0, np.nan]), "high contains NaN"),
        (np.zeros((2, 3)), "low has 3 values for 2 rows"),
        (np.zeros((5, 2)), r"prediction must be a distribution or a pair \(low, high\)"),
        (0.5, r"prediction must be a distribution or a pair \(low, high\)"),
    ],
)
def test_bad_intervals_are_refused_by_name(prediction, message):
    with pytest.raises(DataError, match=message):
        coverage([1.0, 2.0], prediction)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 90, np.nan, "high"])
def test_impossible_levels_are_refused(level):
    with pytest.raises(ParameterError, match="level must be"):
        coverage([1.0], norm(), level=level)


def test_a_level_is_refused_with_intervals():
    with pytest.raises(ParameterError, match="level is for a distribution"):
        coverage([1.0], ([0.0], [2.0]), level=0.9)
