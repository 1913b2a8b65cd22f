"""Questions about columns that look like groups or times, and about predictions of training rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsRegressor

from surefoot.report.checks import looks_like_counts, question_predictions, suggest_roles
from surefoot.report.inputs.target import Target


def roles(X, y):
    return {(question.column, question.role) for question in suggest_roles(X, Target.read(y, len(y))[0])}


def patients(rng, name, icc, in_target, n_groups=60, size=8):
    group = rng.permutation(np.repeat(np.arange(n_groups), size))
    between, within = rng.normal(size=(n_groups, 4))[group], rng.normal(size=(len(group), 4))
    X = pd.DataFrame(np.sqrt(icc) * between + np.sqrt(1 - icc) * within, columns=list("abcd"))
    y = np.sqrt(in_target) * rng.normal(size=n_groups)[group] + np.sqrt(1 - in_target) * rng.normal(size=len(group))
    return X.assign(**{name: (rng.permutation(1000)[:n_groups])[group]}), y


def ordinary(rng, n=500):
    age = rng.integers(18, 80, n)
    X = pd.DataFrame({
        "age": age, "income": 100 * age + 2000 * rng.normal(size=n), "children": rng.poisson(1.5, n),
        "score": rng.integers(0, 100, n), "city": rng.choice([f"c{i}" for i in range(25)], n),
        "hours_per_week": rng.integers(10, 60, n), "time": rng.integers(5, 300, n), "id": rng.integers(0, 80, n),
    })  # fmt: skip
    return X, age + 2.0 * rng.normal(size=n)


@pytest.mark.parametrize("seed", range(5))
def test_columns_that_look_like_groups_are_questioned(seed):
    rng = np.random.default_rng(seed)
    assert roles(*patients(rng, "patient_no", 0.3, 0.2)) == {("patient_no", "group")}
    assert roles(*patients(rng, "v7", 0.95, 0.2)) == {("v7", "group")}
    X, y = patients(rng, "v7", 0.1, 0.9)
    assert roles(X.assign(v7="p" + X.v7.astype(str)), y) == {("v7", "group")}


@pytest.mark.parametrize("seed", range(5))
def test_times_are_questioned_and_ordinary_columns_are_not(seed):
    rng = np.random.default_rng(seed)
    X, y = ordinary(rng)
    assert roles(X, y) == set()
    assert roles(X.assign(when=pd.date_range("2020-01-01", periods=500)), y) == {("when", "time")}
    assert roles(X.assign(sale_year=rng.integers(2010, 2020, 500)), y) == {("sale_year", "time")}
    assert roles(X.assign(birth_year=rng.integers(1950, 2000, 500)), y) == set()
    assert roles(X.assign(stamp=np.cumsum(rng.exponential(size=500))), y) == {("stamp", "time")}
    (question,) = suggest_roles(X.assign(when=pd.date_range("2020-01-01", periods=500)), Target.read(y, 500)[0])
    assert '--time when (time="when" in Python)' in question.sentence


def problem(rng, n=300):
    X = rng.normal(size=(n, 5))
    signal = 2 * np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    return X, signal, signal + rng.normal(size=n)


@pytest.mark.parametrize("seed", range(5))
def test_predictions_of_training_numbers_are_questioned(seed):
    X, signal, y = problem(np.random.default_rng(seed))
    forest = RandomForestRegressor(20, random_state=0)
    unseen = cross_val_predict(RandomForestRegressor(20, min_samples_leaf=2, random_state=1), X, y)
    target = Target.read(y, len(y))[0]
    assert question_predictions(target, forest.fit(X, y).predict(X), unseen).questioned
    exact = question_predictions(target, KNeighborsRegressor(1).fit(X, y).predict(X), unseen)
    assert exact.questioned
    assert "100.0% of them are exact" in exact.sentence
    oracle = question_predictions(target, signal, unseen)  # far better, but not trained on the rows
    assert oracle.ratio < 0.8
    assert not oracle.questioned
    assert not question_predictions(target, cross_val_predict(forest, X, y, cv=5), unseen).questioned


@pytest.mark.parametrize("seed", range(5))
def test_predictions_of_training_classes_are_questioned(seed):
    X, _, y = problem(np.random.default_rng(seed))
    y = (y > 0).astype(int)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    unseen = cross_val_predict(RandomForestClassifier(20, min_samples_leaf=2), X, y, method="predict_proba")
    target = Target.read(y, len(y))[0]
    assert question_predictions(target, forest.predict_proba(X)[:, 1], unseen).questioned
    assert question_predictions(target, forest.predict(X), unseen).questioned
    honest = cross_val_predict(forest, X, y, cv=5, method="predict_proba")
    assert not question_predictions(target, honest, unseen).questioned
    assert not question_predictions(target, honest.argmax(axis=1), unseen).questioned


def test_few_predictions_are_not_checked():
    y = np.arange(30) / 7
    assert question_predictions(Target.read(y, 30)[0], y, y) is None


@pytest.mark.parametrize("rate", [0.5, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("n", [100, 1000])
def test_small_counts_are_numbers(rate, n):
    draws = [np.random.default_rng(seed).poisson(rate, n).astype(float) for seed in range(40)]
    assert np.mean([looks_like_counts(draw) for draw in draws]) >= 0.95
    target, _ = Target.read(np.minimum(draws[0], 9), n)
    assert target.task == "regression"
    assert "task classes" in target.sentence


def test_overdispersed_counts_and_counts_with_many_zeros_are_numbers():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        assert looks_like_counts(rng.negative_binomial(1, 1 / 1.5, 500).astype(float))
        assert looks_like_counts((rng.poisson(1.5, 500) * (rng.random(500) < 0.6)).astype(float))


@pytest.mark.parametrize("n", [100, 1000])
def test_labels_are_classes(n):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        for k in (3, 4, 7, 10):
            assert Target.read(rng.integers(0, k, n), n)[0].task == "classes"
        assert Target.read(1 + rng.poisson(0.5, n).clip(0, 8), n)[0].task == "classes"  # counts start at 0
        if n == 1000:
            assert Target.read(rng.choice(3, n, p=[0.5, 0.3, 0.2]), n)[0].task == "classes"
    assert Target.read(np.repeat([0, 1, 2], 50), 150)[0].task == "classes"  # as iris
    assert Target.read(np.repeat([0, 1, 2], [59, 71, 48]), 178)[0].task == "classes"  # as wine
