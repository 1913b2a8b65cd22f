"""Monotone constraints hold on any table, for all kinds of trees and noise."""

import numpy as np
import pandas as pd
import pytest
from reference.gradient_boosters import (
    CLASSIFIERS,
    GRADIENT_BOOSTERS,
    REGRESSORS,
    assert_same_answers,
    problem,
    small,
    target_of,
)
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from surefoot import GradientBoostingClassifier, GradientBoostingRegressor

each_policy = pytest.mark.parametrize("grow_policy", ["symmetric", "depthwise", "leafwise"])
each_estimator = pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)

VARIANTS = {
    "plain": {},
    "langevin": {"langevin": True},
    "hot": {"langevin": True, "temperature": 1.0},
    "subsample": {"subsample": 0.5},
    "large leaves": {"min_samples_leaf": 9},
    "large leaves with noise": {"min_samples_leaf": 9, "langevin": True},
    "no regularisation": {"l2_regularization": 0.0},
    "no regularisation, large leaves": {"l2_regularization": 0.0, "min_samples_leaf": 9},
    "fast": {"learning_rate": 1.0},
}


def table(estimator, seed, has_missing=False):
    """A target that often violates the constraints on the columns 0 (rising) and 1 (falling)."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(120, 4))
    X[:, 2] = np.round(X[:, 2])
    values = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + X[:, 2] * X[:, 3] + generator.normal(size=120)
    y = target_of(estimator, values)
    if has_missing:
        X[generator.random(X.shape) < 0.1] = np.nan
    return X, y


def first_parameter(model, X):
    """The raw output of each member that the constraint applies to."""
    return model._raw(X)[:, 0]


def is_monotone(model, X, column, sign):
    grid = np.concatenate([[-1e9], np.linspace(-3, 3, 41), [1e9]])
    rows = np.repeat(X[:25], len(grid), axis=0)
    rows[:, column] = np.tile(grid, 25)
    along = first_parameter(model, rows).reshape(-1, 25, len(grid))
    return (sign * np.diff(along, axis=2) >= 0).all()


@pytest.mark.parametrize("estimator", [GradientBoostingRegressor, GradientBoostingClassifier])
@each_policy
@pytest.mark.parametrize("variant", VARIANTS)
def test_constraints_hold_on_random_tables(estimator, grow_policy, variant):
    settings = {"n_estimators": 25, "max_depth": 4, "grow_policy": grow_policy, **VARIANTS[variant]}
    for seed in range(3):
        X, y = table(estimator, seed, has_missing=seed == 2)
        model = small(estimator, monotonic_cst=[1, -1, 0, 0], **settings).fit(X, y)
        assert np.isfinite(first_parameter(model, X)).all()
        assert is_monotone(model, X, 0, 1)
        assert is_monotone(model, X, 1, -1)
    X, y = table(estimator, 0)
    free = small(estimator, **settings).fit(X, y)
    assert not (is_monotone(free, X, 0, 1) and is_monotone(free, X, 1, -1))  # without constraints they do not hold


@pytest.mark.parametrize("method", ["sglb", "sgb"])
@each_policy
@pytest.mark.parametrize("estimator", [e for e in GRADIENT_BOOSTERS if "Ensemble" in e.__name__])
def test_constraints_hold_for_every_member(estimator, grow_policy, method):
    X, y = table(estimator, 0)
    settings = {"n_estimators": 25, "max_depth": 4, "grow_policy": grow_policy, "method": method}
    model = small(estimator, monotonic_cst=[1, -1, 0, 0], **settings).fit(X, y)
    assert is_monotone(model, X, 0, 1)
    assert is_monotone(model, X, 1, -1)


@pytest.mark.parametrize("distribution", ["laplace", "student_t", "poisson", "gamma", "lognormal"])
def test_constraints_hold_for_every_distribution(distribution):
    X, y = table(GradientBoostingRegressor, 0)
    y = np.round(np.exp(y / 2)) + 1
    settings = {"n_estimators": 25, "max_depth": 4, "distribution": distribution}
    model = small(GradientBoostingRegressor, monotonic_cst=[1, -1, 0, 0], **settings).fit(X, y)
    assert is_monotone(model, X, 0, 1)
    assert is_monotone(model, X, 1, -1)


@pytest.mark.parametrize("estimator", REGRESSORS)
@each_policy
def test_predicted_means_and_probabilities_follow_the_constraint(estimator, grow_policy):
    X, y = table(estimator, 0)
    line = np.zeros((50, 4))
    line[:, 0] = np.linspace(-3, 3, 50)
    model = small(estimator, monotonic_cst=[1, 0, 0, 0], grow_policy=grow_policy).fit(X, y)
    assert (np.diff(model.predict(line)) >= 0).all()
    for classifier in CLASSIFIERS:
        X, y = table(classifier, 0)
        model = small(classifier, monotonic_cst=[1, 0, 0, 0], grow_policy=grow_policy).fit(X, y)
        assert (np.diff(model.predict_proba(line)[:, 1]) >= 0).all()


@each_estimator
def test_names_and_positions_mean_the_same(estimator):
    X, y = table(estimator, 0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    by_position = small(estimator, monotonic_cst=[0, -1, 0, 1]).fit(frame, y)
    for named in ({"b": -1, "d": 1}, {"d": 1, "b": -1, "a": 0}):
        assert_same_answers(by_position, small(estimator, monotonic_cst=named).fit(frame, y), frame)
    by_array = small(estimator, monotonic_cst=np.array([0, -1, 0, 1])).fit(frame, y)
    assert_same_answers(by_position, by_array, frame)


@each_estimator
def test_constraints_of_zero_are_none(estimator):
    X, y = problem(estimator)
    assert_same_answers(small(estimator, monotonic_cst=[0, 0, 0, 0]).fit(X, y), small(estimator).fit(X, y), X)


@each_policy
def test_a_correct_constraint_costs_no_accuracy(grow_policy):
    generator = np.random.default_rng(0)
    X = generator.uniform(-2, 2, size=(600, 3))
    y = X[:, 0] ** 3 - np.exp(X[:, 1]) + np.sin(3 * X[:, 2]) + 0.3 * generator.normal(size=600)
    settings = {"n_estimators": 150, "max_depth": 4, "grow_policy": grow_policy, "early_stopping": False}
    model = small(GradientBoostingRegressor, monotonic_cst=[1, -1, 0], **settings).fit(X[:400], y[:400])
    with threadpool_limits(1):
        peer = HistGradientBoostingRegressor(monotonic_cst=[1, -1, 0], random_state=0).fit(X[:400], y[:400])
        ours, theirs = (np.mean((m.predict(X[400:]) - y[400:]) ** 2) for m in (model, peer))
    assert ours < 1.2 * theirs


@each_policy
@pytest.mark.parametrize("estimator", [GradientBoostingRegressor, GradientBoostingClassifier])
def test_constraints_hold_beside_columns_of_many_categories(estimator, grow_policy):
    """Trees read such columns at other positions than those in the table."""
    X, y = table(estimator, 0)
    labels = np.array([f"c{code}" for code in np.arange(len(X)) % 60])
    numbers = {"a": X[:, 0], "b": X[:, 1]}

    def frame(columns, rows):
        many = pd.Categorical(labels[rows], categories=np.unique(labels))
        return pd.DataFrame({"many": many, **{name: values[rows] for name, values in columns.items()}})

    settings = {"n_estimators": 25, "max_depth": 4, "grow_policy": grow_policy}
    model = small(estimator, monotonic_cst={"a": 1, "b": -1}, **settings).fit(frame(numbers, np.arange(len(X))), y)
    grid = np.linspace(-3, 3, 41)
    rows = np.repeat(np.arange(25), len(grid))
    for name, sign in (("a", 1), ("b", -1)):
        moved = {**numbers, name: np.empty(len(X))}
        moved_rows = frame(moved, rows).assign(**{name: np.tile(grid, 25)})
        along = first_parameter(model, moved_rows).reshape(-1, 25, len(grid))
        assert (sign * np.diff(along, axis=2) >= 0).all()
