"""The theorems' bounds: as printed, compared with exact probabilities of scipy, and in simulation."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, kstwo

from surefoot import DataError, ParameterError
from surefoot.shift.v_matrix_bounds import vmatrix_error, vmatrix_target_size

LOSSES = st.lists(st.floats(-100, 100, allow_subnormal=False), min_size=1, max_size=12)


def estimated(X, X_target):
    """Vhat by its definition: the fraction of target rows that lie at or above both rows in every column."""
    V = np.zeros((len(X), len(X)))
    for i in range(len(X)):
        for j in range(len(X)):
            for t in X_target:
                V[i, j] += all(t[k] >= max(X[i, k], X[j, k]) for k in range(X.shape[1])) / len(X_target)
    return V


def rho_squared(losses, V):
    """The loss on the target."""
    n = len(losses)
    return sum(losses[i] * losses[j] * V[i, j] for i in range(n) for j in range(n)) / n**2


@pytest.mark.parametrize("n_target", [3, 10, 400, 10_000])
def test_theorem_3_2_as_printed(n_target):
    losses = np.array([0.3, -1.5, 0.0, 2.0])
    printed = sum(abs(a * b) for a in losses for b in losses) / len(losses) ** 2 * sqrt(log(n_target) / n_target)
    bound = vmatrix_error(losses, n_target=n_target, one_feature=True, confidence=1 - 2 / n_target**2)
    assert bound == pytest.approx(printed, rel=1e-6)


@pytest.mark.parametrize("n_target", [3, 10, 400, 10_000])
def test_theorem_3_3_as_printed(n_target):
    losses = np.array([0.3, -1.5, 0.0, 2.0])
    delta = vmatrix_error(losses, n_target=n_target, confidence=0.9) / max(abs(a * b) for a in losses for b in losses)
    assert 1 - 4 * 5 * np.exp(-2 * n_target * delta**2) == pytest.approx(0.9)


@pytest.mark.parametrize("n_target", [20, 500])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_massart_is_close_to_the_exact_law_of_the_distance(n_target, confidence):
    """scipy has the probability of a larger Kolmogorov-Smirnov distance: at most the bound's, and not far below."""
    distance = vmatrix_error([-1.0], n_target=n_target, one_feature=True, confidence=confidence)
    missed = kstwo.sf(distance, n_target)
    assert 0.5 * (1 - confidence) < missed <= 1 - confidence


@pytest.mark.parametrize("n_target", [7, 100])
@pytest.mark.parametrize("fraction", [0.5, 0.1])
def test_hoeffding_against_the_exact_law_of_one_row(n_target, fraction):
    """A single training row with residual 1: Vhat is the fraction of target rows above it, a binomial."""
    bound = vmatrix_error([1.0], n_target=n_target, confidence=0.8)
    counts = np.arange(n_target + 1)
    above = np.abs(counts / n_target - fraction) > bound
    assert binom.pmf(counts[above], n_target, fraction).sum() <= 0.2


@pytest.mark.parametrize("decimals", [None, 1], ids=["continuous", "ties"])
def test_the_bound_for_one_feature_holds_in_simulation(decimals):
    rng = np.random.default_rng(0)
    X, losses = np.round(rng.uniform(size=(6, 1)), 1), rng.normal(size=6)
    places = np.maximum(X, X.T)
    truth = 1 - places  # of the uniform distribution; a value on the grid of tenths is rounded from 0.05 below it
    if decimals is not None:
        truth = np.clip(1 - places + 0.05, 0, 1)
    errors = []
    for _ in range(300):
        target = rng.uniform(size=(20, 1))
        target = target if decimals is None else np.round(target, decimals)
        errors.append(abs(rho_squared(losses, truth) - rho_squared(losses, estimated(X, target))))
    bounds = [vmatrix_error(losses, n_target=20, one_feature=True, confidence=level) for level in (0.5, 0.9)]
    assert np.mean(np.array(errors) > bounds[0]) <= 0.5
    assert np.mean(np.array(errors) > bounds[1]) <= 0.1
    assert max(errors) > bounds[1] / 50  # the errors are not negligible


def test_the_bound_for_several_features_holds_in_simulation():
    rng = np.random.default_rng(1)
    X, losses = rng.uniform(size=(6, 3)) / 2, rng.normal(size=6)
    truth = np.prod(1 - np.maximum(X[:, None], X[None]), axis=2)  # independent and uniform
    errors = [
        abs(rho_squared(losses, truth) - rho_squared(losses, estimated(X, rng.uniform(size=(15, 3)))))
        for _ in range(200)
    ]
    bound = vmatrix_error(losses, n_target=15, confidence=0.5)
    assert np.mean(np.array(errors) > bound) <= 0.5
    assert max(errors) > bound / 50


@given(LOSSES, st.floats(1e-3, 1e3), st.floats(0.01, 0.999), st.booleans())
def test_the_size_is_the_smallest(losses, error, confidence, one_feature):
    options = {"one_feature": one_feature, "confidence": confidence}
    size = vmatrix_target_size(error, losses, **options)
    assert vmatrix_error(losses, n_target=size, **options) <= error
    if size > 2:
        assert vmatrix_error(losses, n_target=size - 1, **options) > error


def test_sizes_where_rounding_decides():
    for n_target in (2, 3, 1000, 123_456_789, 2**45):
        exact = vmatrix_error([1.0, 2.0], n_target=n_target)
        size = vmatrix_target_size(exact, [1.0, 2.0])
        assert size <= n_target
        assert size == pytest.approx(n_target, rel=1e-14, abs=0)
        assert vmatrix_error([1.0, 2.0], n_target=size) <= exact


@given(LOSSES, st.integers(2, 10**6), st.floats(0.01, 0.999))
def test_the_bound_for_one_feature_is_never_larger(losses, n_target, confidence):
    one, many = (
        vmatrix_error(losses, n_target=n_target, one_feature=alone, confidence=confidence) for alone in (True, False)
    )
    assert one <= many * (1 + 1e-12)


def test_sizes_for_extreme_losses():
    assert vmatrix_error([0.0, 0.0], n_target=2) == 0.0
    assert vmatrix_target_size(1e-9, [0.0]) == 2
    assert np.isfinite(vmatrix_error([1e153] * 1000, n_target=2, one_feature=True))
    assert vmatrix_error([5e-324, 0.0], n_target=2, one_feature=True) == 0.0
    with pytest.raises(DataError, match="losses are too large"):
        vmatrix_error([1e200, 1.0], n_target=2)


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        ([], "one row or more"),
        ([[1.0]], "one residual per training row"),
        ([1.0, float("nan")], "losses contain NaN or infinity"),
        ([float("inf")], "losses contain NaN or infinity"),
        (["a"], "losses must be numbers"),
    ],
)
def test_losses_that_cannot_be_used_are_refused(losses, message):
    with pytest.raises(DataError, match=message):
        vmatrix_error(losses, n_target=10)
    with pytest.raises(DataError, match=message):
        vmatrix_target_size(0.1, losses)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_target": 1}, "n_target must be 2 or more"),
        ({"n_target": 2.5}, "n_target must be a whole number"),
        ({"confidence": 0.0}, "confidence must be above 0 and below 1"),
        ({"confidence": 1.0}, "confidence must be above 0 and below 1"),
        ({"confidence": float("nan")}, "confidence must be a finite number"),
        ({"one_feature": "yes"}, "one_feature must be True or False"),
    ],
)
def test_parameters_out_of_range_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        vmatrix_error([1.0], **{"n_target": 10, **options})


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (0.0, "error must be above 0"),
        (-1.0, "error must be above 0"),
        (float("inf"), "error must be a finite number"),
        (1e-200, "error is too small"),
    ],
)
def test_errors_that_no_sample_reaches_are_refused(error, message):
    with pytest.raises(ParameterError, match=message):
        vmatrix_target_size(error, [1.0])
