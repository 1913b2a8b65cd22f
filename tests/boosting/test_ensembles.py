"""Majority, Bagged and Larsen-Ritzert: the training rows of the members, and their votes."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import boosting as naive
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.tree import DecisionTreeClassifier

import surefoot
from surefoot._random import bootstrap_counts, stream_key
from surefoot.boosting.larsen_ritzert import choose_paths, subsample_levels, subsample_positions

ENSEMBLES = [
    surefoot.MajorityBoostClassifier(random_state=0, n_estimators=20),
    surefoot.BaggedBoostClassifier(random_state=0, n_estimators=20),
    surefoot.LarsenRitzertClassifier(random_state=0, n_estimators=20, n_members=5),
]


class Recorder(ClassifierMixin, BaseEstimator):
    """A weak learner that records its training rows; column 0 of X is the number of the row."""

    def fit(self, X, y, sample_weight):
        self.rows_, self.weights_ = X[:, 0].astype(int), sample_weight
        self.classes_ = np.unique(y)
        self.tree_ = DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight)
        return self

    def predict(self, X):
        return self.tree_.predict(X)


def rows_of_members(ensemble, n_rows=103):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(n_rows), rng.normal(size=n_rows)])
    y = (X[:, 1] + rng.normal(size=n_rows) > 0).astype(int)
    fitted = clone(ensemble).set_params(estimator=Recorder(), n_estimators=2).fit(X, y)
    return [member.estimators_[0] for member in fitted.estimators_]


def test_majority_parts_are_disjoint_and_cover_the_rows():
    members = rows_of_members(surefoot.MajorityBoostClassifier(n_members=5, random_state=3))
    parts = [set(member.rows_) for member in members]
    assert sorted(row for part in parts for row in part) == list(range(103))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert parts[0] != set(range(len(parts[0])))  # shuffled


def test_bagged_members_weigh_rows_by_their_draws():
    members = rows_of_members(surefoot.BaggedBoostClassifier(n_members=3, max_samples=0.95, random_state=3))
    draws = round(0.95 * 103)
    for member in members:
        counts = member.weights_ * draws
        np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
        assert round(counts.sum()) == draws
    assert set(members[0].rows_) != set(members[1].rows_)


def test_number_of_bagged_members_follows_from_the_failure_probability():
    X, y = load_breast_cancer(return_X_y=True)
    for probability in (0.5, 0.05, 1e-4):
        model = surefoot.BaggedBoostClassifier(failure_probability=probability, n_estimators=1).fit(X, y)
        needed = np.ceil(np.log(len(y) / probability))
        assert len(model.estimators_) == needed + (needed % 2 == 0)


def test_the_first_bagged_members_do_not_depend_on_their_number():
    few = rows_of_members(surefoot.BaggedBoostClassifier(n_members=3, random_state=3))
    many = rows_of_members(surefoot.BaggedBoostClassifier(n_members=7, random_state=3))
    for one, other in zip(few, many, strict=False):
        np.testing.assert_array_equal(one.weights_, other.weights_)


@pytest.mark.parametrize("n_rows", [1, 3, 4, 5, 15, 16, 17, 63, 64, 100, 257])
def test_sub_samples_from_their_paths_are_those_of_the_recursion(n_rows):
    expected = naive.subsample_list(list(range(n_rows)))
    assert len(expected) == 3 ** subsample_levels(n_rows)
    for path, rows in enumerate(expected):
        assert np.flatnonzero(subsample_positions(n_rows, path)).tolist() == rows


def test_400_000_rows_have_19_683_sub_samples_of_two_thirds_of_the_rows():
    assert 3 ** subsample_levels(400_000) == 19_683
    assert subsample_positions(400_000, 12_345).mean() == pytest.approx(2 / 3, abs=0.01)


@given(st.integers(0, 2**32), st.integers(1, 200))
def test_chosen_paths_are_different(seed, n_chosen):
    key = stream_key(seed)
    chosen = choose_paths(key, 300, n_chosen)
    assert len(set(chosen)) == n_chosen
    assert all(0 <= path < 300 for path in chosen)


@pytest.mark.parametrize("n_paths", [27, 19_683])
def test_the_first_sub_samples_do_not_depend_on_their_number(n_paths):
    for seed in range(20):
        all_of_them = choose_paths(stream_key(seed), n_paths, 27)
        for few in (3, 23):
            assert choose_paths(stream_key(seed), n_paths, few) == all_of_them[:few]


def test_the_number_of_all_sub_samples_is_reported():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(surefoot.ManyMembersWarning, match="27 sub-samples"):
        model = surefoot.LarsenRitzertClassifier(n_members=None, n_estimators=2).fit(X[50:], y[50:])
    assert len(model.estimators_) == 27


@pytest.mark.parametrize("ensemble", ENSEMBLES, ids=lambda e: type(e).__name__)
def test_hard_votes_count_members(ensemble):
    X, y = load_breast_cancer(return_X_y=True)
    model = clone(ensemble).set_params(calibrate=False).fit(X, y)
    votes = np.mean([np.where(member.decision_function(X) > 0, 1, -1) for member in model.estimators_], axis=0)
    np.testing.assert_allclose(model.decision_function(X), votes)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], (1 + votes) / 2)
    np.testing.assert_array_equal(model.predict(X), (votes > 0).astype(int))
    np.testing.assert_allclose(model.margins(X, y), votes * (2 * y - 1))


@pytest.mark.parametrize("ensemble", ENSEMBLES, ids=lambda e: type(e).__name__)
def test_several_classes_vote_by_plurality(ensemble):
    X, y = load_iris(return_X_y=True)
    model = clone(ensemble).set_params(calibrate=False).fit(X, y)
    votes = np.stack([member.predict(X) for member in model.estimators_])
    fractions = np.stack([(votes == c).mean(axis=0) for c in range(3)], axis=1)
    np.testing.assert_allclose(model.predict_proba(X), fractions)
    np.testing.assert_array_equal(model.predict(X), fractions.argmax(axis=1))


def test_soft_votes_average_the_members():
    X, y = load_breast_cancer(return_X_y=True)
    model = surefoot.MajorityBoostClassifier(voting="soft", random_state=0, n_estimators=20).fit(X, y)
    mean = np.mean([member.decision_function(X) / 2 for member in model.estimators_], axis=0)
    np.testing.assert_allclose(model.decision_function(X), mean)


def test_a_tie_is_the_positive_class_and_the_smallest_positive_number():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] + 2 * rng.normal(size=200) > 0).astype(int)
    model = surefoot.MajorityBoostClassifier(n_members=2, random_state=0, n_estimators=20, calibrate=False).fit(X, y)
    decision = model.decision_function(X)
    tied = decision == np.finfo(float).tiny
    assert tied.any()
    assert (model.predict(X[tied]) == 1).all()
    assert (model.predict_proba(X[tied]).argmax(axis=1) == 1).all()


def test_members_know_the_classes_that_their_part_lacks():
    X = np.arange(30.0)[:, np.newaxis]
    y = np.array(["a"] * 28 + ["b"] + ["c"])
    model = surefoot.MajorityBoostClassifier(n_members=5, n_estimators=5, random_state=0).fit(X, y)
    for member in model.estimators_:
        assert member.classes_.tolist() == ["a", "b", "c"]
        assert member.decision_function(X).shape == (30, 3)


def test_members_predict_frames_with_the_names_of_the_fit():
    data = load_breast_cancer(as_frame=True)
    model = surefoot.MajorityBoostClassifier(n_estimators=5).fit(data.data, data.target)
    assert model.estimators_[0].predict(data.data).shape == (569,)
    assert isinstance(data.data, pd.DataFrame)


def test_bootstrap_counts_are_multinomial():
    counts = np.array([bootstrap_counts(stream_key(seed), 50, 100) for seed in range(2000)])
    assert (counts.sum(axis=1) == 100).all()
    np.testing.assert_allclose(counts.mean(axis=0), 2.0, atol=0.2)
    np.testing.assert_allclose(counts.var(), 2 * (1 - 1 / 50), rtol=0.05)
