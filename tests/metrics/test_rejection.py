"""The rejection curve and its ratio, against brute force and hand-made cases."""

from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import auc, mean_squared_error, zero_one_loss

from surefoot import DataError, ParameterError
from surefoot.metrics import prediction_rejection_ratio, rejection_curve


def remaining_errors(y_true, y_pred, order, measure):
    """Errors by scikit-learn after replacing the first 0, 1, ..., n predictions of ``order`` by the truth."""
    repaired, errors = np.array(y_pred), []
    for row in [None, *order]:
        if row is not None:
            repaired[row] = y_true[row]
        errors.append(measure(y_true, repaired))
    return np.array(errors)


def naive_ratio(y_true, y_pred, order, measure):
    """The ratio of one order, by scikit-learn's trapezoids."""
    shares = np.linspace(0, 1, len(y_true) + 1)
    losses = [measure(y_true[[row]], y_pred[[row]]) for row in range(len(y_true))]
    own = remaining_errors(y_true, y_pred, order, measure)
    oracle = remaining_errors(y_true, y_pred, np.argsort(losses)[::-1], measure)
    random = own[0] * (1 - shares)
    return (auc(shares, random) - auc(shares, own)) / (auc(shares, random) - auc(shares, oracle))


@pytest.fixture
def regression():
    generator = np.random.default_rng(0)
    y_true = generator.normal(size=60)
    uncertainty = generator.exponential(size=60)
    return y_true, y_true + uncertainty * generator.normal(size=60), uncertainty


@pytest.fixture
def classification():
    generator = np.random.default_rng(1)
    uncertainty = generator.random(80)
    y_true = generator.choice(["a", "b", "c"], size=80)
    return y_true, np.where(generator.random(80) < uncertainty / 2, "a", y_true), uncertainty


def test_against_brute_force(regression, classification):
    for (y_true, y_pred, uncertainty), loss, measure in (
        (regression, "squared_error", mean_squared_error),
        (classification, "zero_one", zero_one_loss),
    ):
        order = np.argsort(-uncertainty)
        ratio = prediction_rejection_ratio(y_true, y_pred, uncertainty, loss=loss)
        assert ratio == pytest.approx(naive_ratio(y_true, y_pred, order, measure), rel=1e-12)
        curve = rejection_curve(y_true, y_pred, uncertainty, loss=loss)
        np.testing.assert_allclose(curve.rejected, np.linspace(0, 1, len(y_true) + 1), rtol=0, atol=1e-15)
        np.testing.assert_allclose(curve.error, remaining_errors(y_true, y_pred, order, measure), atol=1e-14)
        assert (curve.rejected[-1], curve.error[-1], curve.oracle[-1], curve.random[-1]) == (1, 0, 0, 0)


def test_a_case_by_hand():
    # Losses 1, 4, 0, 9 go in the order 4, 9, 1, 0: of 14 quarters this leaves 10, 1, 0, 0, the oracle 5, 1, 0, 0.
    # Trapezoids of a quarter: 18/16, oracle 13/16, random 28/16: (28 - 18) / (28 - 13).
    curve = rejection_curve([1.0, 2.0, 0.0, 3.0], [0.0, 0.0, 0.0, 0.0], [2.0, 4.0, 1.0, 3.0])
    np.testing.assert_allclose(curve.error, [3.5, 2.5, 0.25, 0, 0])
    np.testing.assert_allclose(curve.oracle, [3.5, 1.25, 0.25, 0, 0])
    np.testing.assert_allclose(curve.random, [3.5, 2.625, 1.75, 0.875, 0])
    assert curve.ratio == pytest.approx(10 / 15)


def test_the_error_is_the_best_uncertainty_and_its_negative_the_worst(regression):
    y_true, y_pred, _ = regression
    errors = np.abs(y_true - y_pred)
    assert prediction_rejection_ratio(y_true, y_pred, errors) == 1
    assert prediction_rejection_ratio(y_true, y_pred, -errors) == pytest.approx(-1)
    for uncertainty in np.random.default_rng(2).normal(size=(50, 60)):
        assert -1 <= prediction_rejection_ratio(y_true, y_pred, uncertainty) <= 1


def test_a_random_order_has_ratio_zero_in_expectation(regression):
    y_true, y_pred, _ = regression
    generator = np.random.default_rng(3)
    ratios = [prediction_rejection_ratio(y_true, y_pred, generator.random(60)) for _ in range(2000)]
    assert abs(np.mean(ratios)) < 4 * np.std(ratios) / np.sqrt(len(ratios))
    assert np.std(ratios) > 0.05
    assert prediction_rejection_ratio(y_true, y_pred, np.full(60, 0.3)) == pytest.approx(0, abs=1e-15)


def test_only_the_order_counts(regression):
    y_true, y_pred, uncertainty = regression
    ratio = prediction_rejection_ratio(y_true, y_pred, uncertainty)
    for transformed in (np.log(uncertainty), uncertainty**3, 1e300 * uncertainty, uncertainty.argsort().argsort()):
        assert prediction_rejection_ratio(y_true, y_pred, transformed) == ratio
    infinite = np.where(uncertainty == uncertainty.max(), np.inf, uncertainty)
    assert prediction_rejection_ratio(y_true, y_pred, infinite) == ratio
    assert prediction_rejection_ratio(1e5 * y_true, 1e5 * y_pred, uncertainty) == pytest.approx(ratio)


def test_ties_are_the_mean_over_their_orders():
    y_true, y_pred = np.array([1.0, 0.0, 2.0, 0.5, 3.0, 1.0]), np.zeros(6)
    uncertainty = np.array([1, 2, 1, 1, 2, 0])
    orders = [order for order in permutations(range(6)) if (np.diff(uncertainty[list(order)]) <= 0).all()]
    assert len(orders) == 12
    expected = np.mean([naive_ratio(y_true, y_pred, order, mean_squared_error) for order in orders])
    assert prediction_rejection_ratio(y_true, y_pred, uncertainty) == pytest.approx(expected, rel=1e-12)
    curves = [remaining_errors(y_true, y_pred, order, mean_squared_error) for order in orders]
    curve = rejection_curve(y_true, y_pred, uncertainty)
    shares = np.linspace(0, 1, 7)
    np.testing.assert_allclose(np.interp(shares, curve.rejected, curve.error), np.mean(curves, axis=0), atol=1e-14)


@settings(deadline=None)
@given(seed=st.integers(0, 1000), loss=st.sampled_from(["squared_error", "zero_one"]))
def test_the_order_of_the_rows_does_not_matter(seed, loss):
    generator = np.random.default_rng(seed)
    y_true, y_pred, uncertainty = generator.integers(0, 4, size=(3, 40))
    y_pred[0], y_pred[1], y_true[:2] = 0, 1, 0  # not all equal
    rows = generator.permutation(40)
    shuffled = prediction_rejection_ratio(y_true[rows], y_pred[rows], uncertainty[rows], loss=loss)
    assert shuffled == pytest.approx(prediction_rejection_ratio(y_true, y_pred, uncertainty, loss=loss), abs=1e-12)


@settings(deadline=None)
@given(weights=arrays(np.int64, 60, elements=st.integers(0, 4)))
def test_a_weight_of_k_is_k_copies(weights):
    generator = np.random.default_rng(0)
    y_true, noise = generator.normal(size=(2, 60))
    uncertainty = np.abs(noise + generator.normal(size=60)).round(1)
    if (weights > 0).sum() < 2:
        return
    weighted = rejection_curve(y_true, y_true + noise, uncertainty, sample_weight=weights)
    rows = np.repeat(np.arange(60), weights)
    copied = rejection_curve(y_true[rows], (y_true + noise)[rows], uncertainty[rows])
    assert weighted.ratio == pytest.approx(copied.ratio, abs=1e-12)
    np.testing.assert_allclose(np.interp(copied.rejected, weighted.rejected, weighted.error), copied.error, atol=1e-12)
    np.testing.assert_allclose(
        np.interp(copied.rejected, weighted.rejected, weighted.oracle), copied.oracle, atol=1e-12
    )


@pytest.mark.parametrize("factor", [1e300, 1e-300, 7.0])
def test_only_the_ratios_of_weights_count(regression, factor):
    weights = np.random.default_rng(0).random(60)
    plain = rejection_curve(*regression, sample_weight=weights)
    scaled = rejection_curve(*regression, sample_weight=factor * weights)
    assert scaled.ratio == pytest.approx(plain.ratio)
    np.testing.assert_allclose(scaled.error, plain.error)


def test_labels_and_columns_of_frames(classification):
    y_true, y_pred, uncertainty = classification
    ratio = prediction_rejection_ratio(y_true, y_pred, uncertainty, loss="zero_one")
    for kind in (pd.Series, pl.Series, list):
        asked = (kind(y_true), kind(y_pred), kind(uncertainty))
        assert prediction_rejection_ratio(*asked, loss="zero_one") == ratio
    codes = np.unique(y_true, return_inverse=True)[1], np.searchsorted(np.unique(y_true), y_pred).astype(float)
    assert prediction_rejection_ratio(*codes, uncertainty, loss="zero_one") == ratio
    boolean = rejection_curve([True, False], [1, 1], [0.0, 1.0], loss="zero_one")
    assert boolean.error[0] == 0.5


def test_equal_losses_make_the_ratio_undefined():
    assert rejection_curve([1.0, 2.0], [1.0, 2.0], [0.0, 1.0]).ratio is None
    assert "undefined" in repr(rejection_curve([1.0, 2.0], [1.0, 2.0], [0.0, 1.0]))
    assert rejection_curve([1.0], [2.0], [0.0]).error.tolist() == [1.0, 0.0]
    for y_pred in ([1.0, 2.0], [2.0, 3.0]):
        with pytest.raises(DataError, match="the same squared error"):
            prediction_rejection_ratio([1.0, 2.0], y_pred, [0.0, 1.0])
    with pytest.raises(DataError, match="the same squared error"):
        prediction_rejection_ratio([1.0, 2.0, 5.0], [2.0, 3.0, 5.0], [0, 1, 2], sample_weight=[1, 1, 0])


GOOD = {"y_true": [1.0, 2.0, 3.0], "y_pred": [1.0, 2.0, 4.0], "uncertainty": [0.1, 0.2, 0.3]}


@pytest.mark.parametrize("function", [prediction_rejection_ratio, rejection_curve])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"y_true": [1.0, np.nan, 3.0]}, "y_true contains NaN"),
        ({"y_pred": [1.0, np.inf, 3.0]}, "y_pred contains infinity"),
        ({"uncertainty": [1.0, np.nan, 3.0]}, "uncertainty contains NaN"),
        ({"y_pred": [1.0, 2.0]}, "y_pred has 2 values for 3 rows"),
        ({"uncertainty": [1.0, 2.0]}, "uncertainty has 2 values for 3 rows"),
        ({"sample_weight": [1.0, 2.0]}, "sample_weight has 2 values for 3 rows"),
        ({"sample_weight": [1.0, -2.0, 1.0]}, "sample_weight has negative"),
        ({"sample_weight": [0.0, 0.0, 0.0]}, "sample_weight is zero for every row"),
        ({"sample_weight": [1.0, np.nan, 1.0]}, "sample_weight contains NaN"),
        ({"y_true": []}, "y_true is empty"),
        ({"y_true": [[1.0, 2.0, 3.0]]}, "y_true must be one-dimensional"),
        ({"y_true": ["a", "b", "c"]}, "y_true must be numbers"),
        ({"uncertainty": ["a", "b", "c"]}, "uncertainty must be numbers"),
        ({"uncertainty": [1.0, None, 2.0]}, "uncertainty contains NaN"),
        ({"uncertainty": [1.0, pd.NA, 2.0]}, "uncertainty must be numbers"),
        ({"y_true": [1e308, 0.0, 0.0], "y_pred": [-1e308, 0.0, 0.0]}, "y_true and y_pred differ too much"),
        ({"y_pred": [[0.5, 0.5]] * 3, "loss": "zero_one"}, "y_pred must be one-dimensional"),
        ({"y_pred": [0.5, 0.5, 0.2], "loss": "zero_one"}, "y_pred contains fractions"),
        ({"y_true": ["a", "b", "c"], "loss": "zero_one"}, "no prediction can be right"),
        ({"y_true": np.array(["a", "b", "c"], dtype=object), "loss": "zero_one"}, "no prediction can be right"),
        ({"y_true": np.array(["a", None, "c"]), "loss": "zero_one"}, "y_true contains NaN"),
        ({"y_true": [1.0, np.nan, 2.0], "loss": "zero_one"}, "y_true contains NaN"),
    ],
)
def test_bad_input_is_refused_by_name(function, wrong, message):
    with pytest.raises(DataError, match=message):
        function(**{**GOOD, **wrong})


def test_an_unknown_loss_is_refused():
    with pytest.raises(ParameterError, match="loss must be one of 'squared_error', 'zero_one', got 'mse'"):
        prediction_rejection_ratio(**GOOD, loss="mse")


def test_the_arguments_are_not_changed(regression):
    before = [array.copy() for array in regression]
    for array in regression:
        array.flags.writeable = False
    rejection_curve(*regression, sample_weight=regression[2])
    for array, copy in zip(regression, before, strict=True):
        np.testing.assert_array_equal(array, copy)
