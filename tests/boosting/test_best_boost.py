"""BestBoostClassifier: the booster and the depth that are chosen on held-out rows."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeClassifier

import surefoot
from surefoot.boosting.trials import Candidate, CandidateComparison, CandidateResult, Trials, is_decided, log_loss_gain
from surefoot.data import Columns
from surefoot.data.held_out import HeldOutSplit, random_splits
from surefoot.data.problem import Problem

ALL = ("adaboost", "majority", "bagged", "larsen_ritzert")


def problem_of(n_rows):
    codes = (np.arange(n_rows) < n_rows // 2).astype(np.int32)
    return Problem(Columns.from_array(np.zeros((n_rows, 1))), np.array([0, 1]), codes, None, None)


def interactions(n_rows=1500, seed=0):
    """Labels that depend on the product of two columns."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 4))
    return X, ((X[:, 0] * X[:, 1] > 0) ^ (generator.random(n_rows) < 0.1)).astype(int)


def test_predictions_are_those_of_the_winner():
    X, y = load_breast_cancer(return_X_y=True)
    model = surefoot.BestBoostClassifier(candidates=ALL, max_depth=1, n_estimators=20, random_state=0).fit(X, y)
    assert set(model.scores_) == set(model.log_losses_) == set(ALL)
    assert list(model.depth_log_losses_) == [1]
    assert type(model.best_estimator_).__name__.lower().startswith(model.best_name_.replace("_", ""))
    np.testing.assert_array_equal(model.predict(X), model.best_estimator_.predict(X))
    np.testing.assert_array_equal(model.predict_proba(X), model.best_estimator_.predict_proba(X))
    assert model.score(X, y) > 0.95


def test_trees_are_deeper_where_columns_interact_and_stumps_where_they_do_not():
    X, y = interactions()
    model = surefoot.BestBoostClassifier(candidates=["adaboost"], n_estimators=30, random_state=0).fit(X, y)
    assert model.best_depth_ >= 2
    assert model.best_estimator_.max_depth == model.best_depth_
    assert model.depth_log_losses_[2] < model.depth_log_losses_[1]
    added = (X[:, 0] + X[:, 1] + np.random.default_rng(1).logistic(size=len(X)) > 0).astype(int)
    model.fit(X, added)
    assert model.best_depth_ == 1
    assert set(model.depth_log_losses_) == {1, 2}  # depth 2 does not help, so depth 3 is not tried


def test_an_ensemble_that_wins_is_tried_with_deeper_trees_than_adaboost(monkeypatch):
    losses = {("adaboost", 1): 0.6, ("adaboost", 2): 0.61, ("bagged", 1): 0.5, ("bagged", 2): 0.4, ("bagged", 3): 0.45}

    def compare(trials, one, other):
        return CandidateComparison(other, losses[other] - losses[one], 1e-6, 0.0)

    monkeypatch.setattr(Trials, "compare", compare)
    X, y = interactions(n_rows=200)
    model = surefoot.BestBoostClassifier(candidates=["adaboost", "bagged"], n_estimators=3, random_state=0).fit(X, y)
    assert (model.best_name_, model.best_depth_) == ("bagged", 2)
    assert list(model.depth_log_losses_) == [1, 2]
    assert model.log_losses_["adaboost"] - model.log_losses_["bagged"] == pytest.approx(0.2)


def test_only_the_given_depths_are_tried():
    X, y = interactions(n_rows=300)
    shared = {"candidates": ["adaboost"], "n_estimators": 5, "random_state": 0}
    assert surefoot.BestBoostClassifier(max_depth=3, **shared).fit(X, y).best_depth_ == 3
    tried = surefoot.BestBoostClassifier(max_depth=(4, 2), **shared).fit(X, y).depth_log_losses_
    assert list(tried) == [2, 4]


@pytest.mark.parametrize("depth", [0, 13, (), (1, 0), "2", 1.5])
def test_other_depths_are_refused(depth):
    X, y = interactions(n_rows=100)
    with pytest.raises(surefoot.ParameterError, match="max_depth"):
        surefoot.BestBoostClassifier(max_depth=depth).fit(X, y)


def test_an_estimator_has_a_depth_of_its_own():
    X, y = interactions(n_rows=100)
    stump = DecisionTreeClassifier(max_depth=1)
    model = surefoot.BestBoostClassifier(estimator=stump, candidates=["adaboost"], n_estimators=3).fit(X, y)
    assert list(model.depth_log_losses_) == [1]
    with pytest.raises(surefoot.ParameterError, match="set the depth on the estimator"):
        surefoot.BestBoostClassifier(estimator=stump, max_depth=(1, 2)).fit(X, y)


def test_better_means_by_two_standard_errors_and_a_row_held_out_twice_counts_once():
    problem, rows = problem_of(100), np.arange(100)
    gains = np.random.default_rng(0).normal(size=100)
    gains -= gains.mean()
    error = gains.std() / 10
    zero = CandidateResult(0.0, 0.0, np.zeros(100))
    for factor, expected in ((1.9, False), (2.1, True)):
        worse = CandidateResult(0.0, 0.0, gains + factor * error)
        once = log_loss_gain(problem, [HeldOutSplit(rows, rows)], zero, worse)
        assert CandidateComparison(Candidate("adaboost", 1), *once, 0.0).is_better is expected
        twice = CandidateResult(0.0, 0.0, np.tile(worse.losses, 2))
        assert log_loss_gain(
            problem, [HeldOutSplit(rows, rows)] * 2, CandidateResult(0.0, 0.0, np.zeros(200)), twice
        ) == pytest.approx(once)


@pytest.mark.parametrize("drift", [-3.0, 0.0, 1.0, 2.0, 3.0, 6.0])
def test_skipping_splits_rarely_reverses_a_decision(drift):
    generator = np.random.default_rng(0)
    parts = np.arange(1, 11) / 10
    n_reversed = n_early = 0
    for _ in range(2000):
        gains = np.cumsum(generator.normal(drift / 10, np.sqrt(0.1), 10))  # the last is normal, with mean ``drift``
        decided = next(k for k in range(10) if is_decided(gains[k] / parts[k], 1 / np.sqrt(parts[k]), parts[k]))
        n_early += decided < 9
        n_reversed += (gains[decided] / np.sqrt(parts[decided]) > 2) != (gains[9] > 2)
    assert n_reversed < 0.03 * 2000
    assert n_early > 0.2 * 2000


class FixedVotes:
    """A booster with the votes of a column."""

    def __init__(self, column):
        self.column = column

    def _mean_vote(self, columns):
        return columns.block(0, columns.n_rows)[self.column : self.column + 1]

    _tally = _mean_vote

    def _decide(self, tally):
        return tally[0]

    def _labels(self, decision):
        return (decision > 0).astype(int)


def test_splits_are_skipped_once_a_decision_is_certain():
    generator = np.random.default_rng(0)
    codes = generator.integers(0, 2, 500).astype(np.int32)
    truth = 2.0 * codes - 1
    votes = 0.1 * np.stack([truth + generator.normal(scale=s, size=500) for s in (1.0, 1.02, 8.0)], axis=1)
    problem = Problem(Columns.from_array(votes), np.array([0, 1]), codes, None, None)
    candidates = [Candidate("adaboost", depth) for depth in (0, 1, 2)]
    n_fits = dict.fromkeys(candidates, 0)

    def fit(candidate, rows):
        n_fits[candidate] += 1
        return FixedVotes(candidate.depth)

    trials = Trials(problem, random_splits(np.arange(500), 0.2, 0, strata=codes), fit)
    worse = trials.compare(candidates[2], candidates[0])
    assert worse.gain < 0
    assert not worse.is_better
    assert n_fits[candidates[2]] == n_fits[candidates[0]] < 5
    reverse = trials.compare(candidates[0], candidates[2])
    assert reverse.is_better
    assert reverse.gain > 0
    assert n_fits[candidates[0]] < 10
    results = trials.results(candidates[0], {candidates[2]: worse})
    assert results[candidates[2]].log_loss == pytest.approx(results[candidates[0]].log_loss - worse.gain)
    full = {one: trials.result(one, 10).log_loss for one in candidates}
    assert list(n_fits.values()) == [10, 10, 10]  # once per split
    gain, _ = log_loss_gain(problem, trials.splits, trials.result(candidates[1], 10), trials.result(candidates[0], 10))
    assert gain == pytest.approx(full[candidates[0]] - full[candidates[1]])


def test_rows_without_weight_do_not_affect_the_choice():
    X, y = interactions(n_rows=400)
    weights = (np.arange(400) < 200).astype(float)
    flipped = np.where(weights > 0, y, 1 - y)
    shared = {"candidates": ["adaboost", "majority"], "n_estimators": 5, "max_depth": (1, 2), "random_state": 0}
    one = surefoot.BestBoostClassifier(**shared).fit(X, y, sample_weight=weights)
    other = surefoot.BestBoostClassifier(**shared).fit(X, flipped, sample_weight=weights)
    assert (one.log_losses_, one.depth_log_losses_) == (other.log_losses_, other.depth_log_losses_)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@pytest.mark.skipif("SUREFOOT_DATA" not in os.environ, reason="needs the folder of datasets, SUREFOOT_DATA")
def test_majority_is_not_chosen_on_768_rows():
    table = pd.read_parquet(Path(os.environ["SUREFOOT_DATA"]) / "pima.parquet")
    X, y = table.drop(columns="target"), table["target"].to_numpy()
    for seed in range(5):
        model = surefoot.BestBoostClassifier(max_depth=1, random_state=seed).fit(X, y)
        assert model.best_name_ != "majority"
        constant = log_loss(y, np.full(len(y), y.mean()))
        assert max(model.log_losses_.values()) < constant
