"""Extreme numbers, missing values and very few rows give finite predictions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference.gradient_boosters import (
    CLASSIFIERS,
    GRADIENT_BOOSTERS,
    REGRESSORS,
    assert_finite_answers,
    assert_same_answers,
    problem,
    small,
    target_of,
)

from surefoot import GradientBoostingClassifier, GradientBoostingRegressor

each_estimator = pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
each_policy = pytest.mark.parametrize("grow_policy", ["symmetric", "depthwise"])
TINY, HUGE = 5e-324, 1.7976931348623157e308
EXTREMES = {
    "both ends": [-HUGE, HUGE],
    "near the ends": [-1e308, 1e308, -1.0000001e308, 1.0000001e308],
    "subnormal": [0.0, TINY, 2 * TINY, 3 * TINY],
    "around zero": [-TINY, -0.0, 0.0, TINY],
    "neighbours": [1.0, np.nextafter(1.0, 2.0)],
    "all scales": [-HUGE, -1.0, -TINY, 0.0, TINY, 1.0, HUGE],
}


@each_estimator
@each_policy
@pytest.mark.parametrize("name", EXTREMES)
def test_values_that_differ_are_separated(estimator, grow_policy, name):
    distinct = np.unique(EXTREMES[name])
    column = np.repeat(distinct, 40)
    y = (column > distinct[len(distinct) // 2 - 1]).astype(int)
    X = np.stack([column, np.zeros_like(column)], axis=1)
    model = small(estimator, grow_policy=grow_policy, n_estimators=20).fit(X, y)
    assert ((model.predict(X) > 0.5) == y).all()
    assert_finite_answers(model, X)


TARGETS = {
    "both ends": [-HUGE, HUGE],
    "near the ends": [-1e308, 1.0000001e308, 3e307],
    "subnormal": [0.0, TINY, 7 * TINY],
    "one outlier": [*([1.0] * 30), HUGE],
    "far from zero": [1e15, 1e15 + 1, 1e15 + 2],
    "all scales": [-HUGE, -1.0, -TINY, 0.0, TINY, 1.0, HUGE],
    "ties": [5.0, 5.0, 5.0, 6.0],
}


@pytest.mark.parametrize("estimator", REGRESSORS)
@pytest.mark.parametrize("distribution", ["normal", "laplace", "student_t"])
@pytest.mark.parametrize("name", TARGETS)
def test_targets_of_any_size_give_finite_predictions(estimator, distribution, name):
    y = np.resize(TARGETS[name], 60)
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = small(estimator, distribution=distribution).fit(X, y)
    for array in (*model.predict(X, return_std=True), model.predict_distribution(X).quantile(0.9)):
        assert np.isfinite(array).all()
    assert (model.predict(X, return_std=True)[1] >= 0).all()
    half, slack = model.predict(X) / 2, (y.max() / 4 - y.min() / 4) + 1e-280  # halves, so that no sum overflows
    assert (half >= y.min() / 2 - slack).all()
    assert (half <= y.max() / 2 + slack).all()


@pytest.mark.parametrize("distribution", ["lognormal", "gamma", "poisson"])
@pytest.mark.parametrize("values", [[1.0, 2.0**53], [1e-300, 1e300], [TINY, HUGE], [3.0], [1.0, 2.0]], ids=str)
def test_positive_targets_of_any_size_give_finite_predictions(distribution, values):
    if distribution == "poisson" and (min(values) < 1 or max(values) > 2.0**53):
        pytest.skip("no counts")
    y = np.resize(values, 60)
    X = np.stack([np.arange(60.0) % 2, np.arange(60.0)], axis=1)
    model = small(GradientBoostingRegressor, distribution=distribution, n_estimators=50).fit(X, y)
    for array in (*model.predict(X, return_std=True), model.predict_distribution(X).quantile(0.9)):
        assert np.isfinite(array).all()
    assert (model.predict(X) > 0).all()


@settings(max_examples=40, deadline=None)
@given(
    X=arrays(
        float, (12, 2), elements=st.one_of(st.floats(allow_infinity=False), st.sampled_from([0.0, 1.0, HUGE, TINY]))
    ),
    y=arrays(float, 12, elements=st.floats(-1e300, 1e300)),
    langevin=st.booleans(),
    grow_policy=st.sampled_from(["symmetric", "depthwise"]),
)
def test_any_finite_table_gives_finite_numbers(X, y, langevin, grow_policy):
    model = small(GradientBoostingRegressor, langevin=langevin, grow_policy=grow_policy).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()


@settings(max_examples=40, deadline=None)
@given(
    X=arrays(float, (12, 2), elements=st.one_of(st.floats(allow_infinity=False), st.sampled_from([0.0, HUGE, TINY]))),
    y=arrays(np.int64, 12, elements=st.integers(0, 2)).filter(lambda y: len(set(y)) > 1),
    langevin=st.booleans(),
    grow_policy=st.sampled_from(["symmetric", "depthwise"]),
)
def test_any_finite_table_gives_probabilities(X, y, langevin, grow_policy):
    model = small(GradientBoostingClassifier, langevin=langevin, grow_policy=grow_policy).fit(X, y)
    probabilities = model.predict_proba(X)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


@each_estimator
@each_policy
def test_a_table_of_ties(estimator, grow_policy):
    generator = np.random.default_rng(0)
    X = np.repeat(generator.integers(0, 2, size=(200, 1)), 5, axis=1).astype(float)
    y = target_of(estimator, X[:, 0] + generator.normal(size=200))
    model = small(estimator, grow_policy=grow_policy).fit(X, y)
    assert_finite_answers(model, X)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    if estimator is GradientBoostingRegressor:  # the first of equal columns is used, unless splits have noise
        np.testing.assert_allclose(model.feature_importances_, [1, 0, 0, 0, 0])


@each_estimator
@each_policy
def test_missing_values_that_training_does_not_have_go_to_the_larger_side(estimator, grow_policy):
    generator = np.random.default_rng(0)
    X = (generator.random((300, 1)) < 0.2).astype(float)
    y = target_of(estimator, 5 * X[:, 0] + generator.normal(size=300))
    for column in (X, 1 - X):
        model = small(estimator, grow_policy=grow_policy).fit(column, y)
        common = column[X[:, 0] == 0][:1]
        assert_same_answers(model, model, np.array([[np.nan]]), common)


@each_estimator
@each_policy
@pytest.mark.parametrize("filler", [np.nan, 7.0])
def test_constant_columns_are_never_used(estimator, grow_policy, filler):
    X, y = problem(estimator)
    wider = np.insert(X, 1, filler, axis=1)
    model = small(estimator, grow_policy=grow_policy).fit(wider, y)
    assert model.feature_importances_[1] == 0.0
    for later in (np.nan, -1e9, 3.0):
        assert_same_answers(model, model, wider, np.insert(X, 1, later, axis=1))
    if estimator is GradientBoostingRegressor:  # in other models, more columns change the noise
        assert_same_answers(small(estimator, grow_policy=grow_policy).fit(X, y), model, X, wider)


@each_estimator
@each_policy
@pytest.mark.parametrize("filler", [np.nan, 7.0])
def test_a_table_of_constant_columns_predicts_the_mean_of_the_target(estimator, grow_policy, filler):
    X = np.full((60, 2), filler)
    y = np.arange(60) % 3 // 2
    model = small(estimator, grow_policy=grow_policy, early_stopping=False, n_estimators=200).fit(X, y)
    assert_finite_answers(model, X)
    predicted = model.predict(X) if estimator in REGRESSORS else model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(predicted, 1 / 3, atol=0.05)
    np.testing.assert_array_equal(model.feature_importances_, [0.0, 0.0])


@each_estimator
def test_a_single_column(estimator):
    X, y = problem(estimator, n_columns=1)
    model = small(estimator, n_estimators=20).fit(X, y)
    assert model.score(X, y) > 0.5
    np.testing.assert_allclose(model.feature_importances_, [1.0])


@pytest.mark.parametrize("estimator", REGRESSORS)
@pytest.mark.parametrize("langevin", [False, True])
@pytest.mark.parametrize("early_stopping", [False, "auto", True])
@pytest.mark.parametrize("n_rows", [1, 2, 3, 9, 10, 11])
def test_very_few_rows_are_enough_for_regression(estimator, langevin, early_stopping, n_rows):
    settings = {"langevin": langevin} if estimator is GradientBoostingRegressor else {"method": "sgb"}
    X, y = np.arange(n_rows, dtype=float)[:, np.newaxis], np.arange(n_rows) + 5.0
    model = small(estimator, early_stopping=early_stopping, **settings).fit(X, y)
    assert_finite_answers(model, X)
    assert (model.predict(X) >= 4).all()
    assert (model.predict(X) <= n_rows + 5).all()


@pytest.mark.parametrize("estimator", CLASSIFIERS)
@pytest.mark.parametrize("early_stopping", [False, "auto", True])
@pytest.mark.parametrize("n_rows", [2, 3, 9, 10, 11])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_very_few_rows_are_enough_for_classification(estimator, early_stopping, n_rows, n_classes):
    X, y = np.arange(n_rows, dtype=float)[:, np.newaxis], np.arange(n_rows) % min(n_classes, n_rows)
    model = small(estimator, early_stopping=early_stopping).fit(X, y)
    assert_finite_answers(model, X)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("estimator", CLASSIFIERS)
@pytest.mark.filterwarnings("ignore:The number of unique classes is greater")
def test_a_class_for_every_row(estimator):
    X, y = np.arange(40.0)[:, np.newaxis], np.arange(40)
    model = small(estimator).fit(X, y)
    assert model.predict_proba(X).shape == (40, 40)
    assert_finite_answers(model, X)
