"""The decomposition of uncertainty, against scipy's entropy and the variance of draws from a mixture."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import entropy

from surefoot._exceptions import DataError
from surefoot.uncertainty.decomposition import (
    Uncertainty,
    classification_uncertainty,
    regression_uncertainty,
    row_index,
)

SHAPES = st.tuples(st.integers(1, 6), st.integers(0, 5))
CLASS_SHAPES = st.tuples(st.integers(1, 6), st.integers(0, 5), st.integers(2, 4))


def draw_probabilities(seed, n_members=7, n_rows=50, n_classes=3, concentration=1.0):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(n_classes, concentration), size=(n_members, n_rows))


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_entropies_are_those_of_scipy(n_classes):
    probabilities = draw_probabilities(0, n_classes=n_classes)
    parts = classification_uncertainty(probabilities)
    total = entropy(probabilities.mean(axis=0), axis=-1)
    data = entropy(probabilities, axis=-1).mean(axis=0)
    assert parts.unit == "nats"
    np.testing.assert_allclose(parts.total, total, rtol=0, atol=1e-12)
    np.testing.assert_allclose(parts.data, data, rtol=0, atol=1e-12)
    np.testing.assert_allclose(parts.knowledge, total - data, rtol=0, atol=1e-12)


def test_the_small_knowledge_uncertainty_of_certain_members_is_precise():
    # Two members with 1e-13 and 3e-13 for the rare class: the difference of entropies near 1e-12 would lose all digits.
    rare = np.array([1e-13, 3e-13])
    parts = classification_uncertainty(np.stack([1 - rare, rare], axis=-1)[:, None, :])
    by_series = np.mean(rare * np.log(rare / rare.mean()))  # the common class adds terms of the order of 1e-26
    np.testing.assert_allclose(parts.knowledge, by_series, rtol=1e-6)


def test_variances_are_those_of_the_mixture():
    rng = np.random.default_rng(0)
    means, variances = rng.normal(size=(5, 3)), rng.uniform(0.2, 2.0, size=(5, 3))
    parts = regression_uncertainty(means, variances)
    draws = means[:, None, :] + np.sqrt(variances)[:, None, :] * rng.normal(size=(5, 200_000, 3))
    assert parts.unit == "target squared"
    np.testing.assert_allclose(parts.total, draws.reshape(-1, 3).var(axis=0), rtol=0.01)
    np.testing.assert_allclose(parts.knowledge, np.var(means, axis=0), rtol=1e-12)
    np.testing.assert_allclose(parts.data, variances.mean(axis=0), rtol=1e-12)


@settings(max_examples=100, deadline=None)
@given(CLASS_SHAPES.flatmap(lambda shape: arrays(np.float64, shape, elements=st.floats(0, 1, allow_subnormal=True))))
def test_parts_of_any_probabilities_add_up_exactly_and_are_never_negative(weights):
    sums = weights.sum(axis=-1, keepdims=True)
    even = np.full_like(weights, 1 / weights.shape[-1])
    probabilities = np.divide(weights, sums, out=even, where=sums > 1e-300)
    parts = classification_uncertainty(probabilities)
    assert (parts.total == parts.data + parts.knowledge).all()
    assert (parts.knowledge >= 0).all()
    assert (parts.data >= 0).all()
    assert (parts.total <= np.log(probabilities.shape[-1]) + 1e-12).all()


@settings(max_examples=100, deadline=None)
@given(SHAPES.flatmap(lambda shape: arrays(np.float64, shape, elements=st.floats(-1e153, 1e153))))
def test_parts_of_any_means_add_up_exactly_and_are_never_negative(means):
    parts = regression_uncertainty(means, np.abs(means))
    assert (parts.total == parts.data + parts.knowledge).all()
    assert (parts.knowledge >= 0).all()
    np.testing.assert_array_equal(regression_uncertainty(means).knowledge, parts.knowledge)


def test_members_that_agree_have_no_knowledge_uncertainty():
    equal = np.full((9, 4), 0.1)
    assert (regression_uncertainty(equal).knowledge == 0).all()
    np.testing.assert_allclose(classification_uncertainty(np.full((9, 4, 3), 1 / 3)).knowledge, 0, atol=1e-15)


def test_certain_members_that_disagree_have_only_knowledge_uncertainty():
    parts = classification_uncertainty(np.eye(3)[:, None, :])
    assert parts.data == 0
    np.testing.assert_allclose(parts.knowledge, np.log(3), rtol=1e-15)


def test_a_probability_that_is_too_small_for_its_mean_is_treated_as_0():
    probabilities = np.array([[[5e-324, 1.0]], [[0.0, 1.0]], [[0.0, 1.0]]])
    assert classification_uncertainty(probabilities).total == 0


def test_point_models_have_only_knowledge_uncertainty():
    parts = regression_uncertainty([[1.0, 2.0], [3.0, 2.0]])
    assert parts.total is None
    assert parts.data is None
    np.testing.assert_array_equal(parts.knowledge, [1.0, 0.0])
    assert list(parts.to_frame().columns) == ["knowledge"]


def test_frame_names_the_parts_and_keeps_the_labels_of_the_rows():
    table = pd.DataFrame({"a": [1.0, 2.0]}, index=["first", "second"])
    frame = regression_uncertainty([[1.0, 2.0]], [[0.5, 0.25]], index=row_index(table)).to_frame()
    assert list(frame.columns) == ["total", "data", "knowledge"]
    assert list(frame.index) == ["first", "second"]
    assert frame.loc["second", "total"] == 0.25


def test_only_a_pandas_frame_has_an_index():
    assert row_index([[1.0]]) is None
    assert row_index(np.zeros((2, 2))) is None


def test_repr_is_one_short_line():
    parts = classification_uncertainty(draw_probabilities(1, n_rows=1000))
    assert repr(parts).startswith("<Uncertainty of 1000 rows in nats; on average total ")
    assert len(repr(parts)) < 120
    none = Uncertainty(None, None, np.empty(0), "nats")
    assert repr(none) == "<Uncertainty of 0 rows in nats>"
    assert len(none) == 0


def test_uncertainty_is_immutable():
    with pytest.raises(AttributeError):
        regression_uncertainty([[1.0]]).knowledge = np.zeros(1)


@pytest.mark.parametrize(
    ("means", "variances", "message"),
    [
        ([1.0, 2.0], None, "means must have shape"),
        (np.empty((0, 3)), None, "at least one member"),
        ([[np.nan]], None, "means must be finite"),
        ([[1.0, 2.0]], [[1.0]], "variances have shape"),
        ([[1.0]], [[-1.0]], "variances must be 0 or more"),
        ([[1.0]], [[np.nan]], "variances must be 0 or more"),
    ],
)
def test_means_and_variances_that_are_refused(means, variances, message):
    with pytest.raises(DataError, match=message):
        regression_uncertainty(means, variances)


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        (np.full((2, 3), 0.5), "must have shape"),
        (np.ones((2, 3, 1)), "two classes"),
        (np.full((1, 1, 2), 0.4), "add up to 1"),
        ([[[1.5, -0.5]]], "between 0 and 1"),
        ([[[np.nan, 0.5]]], "between 0 and 1"),
    ],
)
def test_probabilities_that_are_refused(probabilities, message):
    with pytest.raises(DataError, match=message):
        classification_uncertainty(probabilities)
