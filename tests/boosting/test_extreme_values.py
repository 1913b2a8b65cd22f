"""Values at the ends of the floating-point range: finite votes, no overflow, and the right splits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference.models import BOOSTERS, small_booster

from surefoot import AdaBoostClassifier

TINY, HUGE = 5e-324, 1.7976931348623157e308

TABLES = {
    "both ends": [-HUGE, HUGE],
    "near the ends": [-1e308, 1e308, -1.0000001e308, 1.0000001e308],
    "subnormal": [0.0, TINY, 2 * TINY, 3 * TINY],
    "around zero": [-TINY, -0.0, 0.0, TINY],
    "neighbours": [1.0, np.nextafter(1.0, 2.0)],
    "neighbours at the end": [HUGE, np.nextafter(HUGE, 0.0)],
    "all scales": [-HUGE, -1.0, -TINY, 0.0, TINY, 1.0, HUGE],
}


def assert_finite(model, X):
    for values in (model.decision_function(X), model.predict_proba(X), model.feature_importances_):
        assert np.isfinite(values).all()


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("max_depth", [1, 3])
@pytest.mark.parametrize("name", TABLES)
def test_different_values_are_separated(booster, max_depth, name):
    distinct = np.unique(TABLES[name])
    column = np.repeat(distinct, 60)
    y = (column > distinct[len(distinct) // 2 - 1]).astype(int)
    X = np.stack([column, np.zeros_like(column)], axis=1)
    model = small_booster(booster, max_depth=max_depth).fit(X, y)
    assert model.score(X, y) == 1.0
    assert_finite(model, X)


@pytest.mark.parametrize("max_depth", [1, 2])
def test_more_values_than_bins_at_the_ends_of_the_range(max_depth):
    generator = np.random.default_rng(0)
    X = np.sign(generator.normal(size=(1000, 2))) * 10.0 ** generator.uniform(-320, 308, size=(1000, 2))
    y = (X[:, 0] > 0).astype(int)
    model = AdaBoostClassifier(n_estimators=4, max_depth=max_depth).fit(X, y)
    assert model.score(X, y) > 0.98
    assert_finite(model, X)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_a_table_of_ties(booster):
    generator = np.random.default_rng(0)
    X = np.repeat(generator.integers(0, 2, size=(300, 1)), 5, axis=1).astype(float)
    y = np.where(generator.random(300) < 0.8, X[:, 0], 1 - X[:, 0]).astype(int)
    model = small_booster(booster).fit(X, y)
    assert_finite(model, X)
    assert {tree.feature[0] for tree in small_booster(AdaBoostClassifier).fit(X, y).estimators_} == {0}


@settings(max_examples=60, deadline=None)
@given(
    X=arrays(
        float, (12, 2), elements=st.one_of(st.floats(allow_infinity=False), st.sampled_from([0.0, 1.0, HUGE, TINY]))
    ),
    y=arrays(np.int64, 12, elements=st.integers(0, 2)),
    max_depth=st.sampled_from([1, 3]),
)
def test_any_finite_table_gives_finite_votes_or_a_refusal(X, y, max_depth):
    model = AdaBoostClassifier(n_estimators=6, max_depth=max_depth)
    try:
        model.fit(X, y)
    except ValueError as refusal:
        assert "chance" in str(refusal) or "one class" in str(refusal)  # noqa: PT017
        return
    assert_finite(model, X)
    assert np.isfinite(model.estimator_weights_).all()
    assert np.isfinite(model.margins(X, y)).all()


@pytest.mark.parametrize("learning_rate", [1e-300, 1e-6, 50.0, 1000.0, 1e300])
@pytest.mark.parametrize("max_depth", [1, 2])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_any_learning_rate_gives_finite_votes_or_is_refused(learning_rate, max_depth, n_classes):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(100, 3))
    y = np.digitize(X[:, 0] + generator.normal(size=100), [0.0, 0.8][: n_classes - 1])
    model = AdaBoostClassifier(n_estimators=20, max_depth=max_depth, learning_rate=learning_rate)
    try:
        model.fit(X, y)
    except ValueError as refusal:
        assert "learning_rate" in str(refusal)  # noqa: PT017
        return
    assert_finite(model, X)
    assert np.isfinite(model.estimator_weights_).all()
    assert (model.estimator_weights_ > 0).all()
    assert ((model.estimator_errors_ >= 0) & (model.estimator_errors_ < 1)).all()
