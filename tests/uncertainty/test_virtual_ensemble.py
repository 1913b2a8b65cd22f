"""Virtual ensembles of our own boosters and of scikit-learn's; sizes and warnings with a stand-in."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from reference.gradient_boosters import numbers, problem, small
from scipy.special import softmax
from scipy.stats import entropy, lognorm
from sklearn.base import BaseEstimator
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.exceptions import NotFittedError

import surefoot
from surefoot._exceptions import NoTrainingNoiseWarning, ParameterError
from surefoot.uncertainty.virtual_ensemble import VirtualEnsemble


class StandIn(BaseEstimator):
    """A fitted booster of ours with only its number of trees and its noise, which determine the sizes."""

    def __init__(self, langevin=True, subsample=1.0):
        self.langevin = langevin
        self.subsample = subsample

    @property
    def _differs_by_seed(self):
        return self.langevin or self.subsample < 1.0

    def fit(self, n_trees):
        self.n_iter_ = n_trees
        return self

    def _member_raw(self, X, cuts):
        raise NotImplementedError("only our own models have this method")


@pytest.mark.parametrize(
    ("n_trees", "n_members", "sizes"),
    [
        (1000, 10, (550, 600, 650, 700, 750, 800, 850, 900, 950, 1000)),
        (105, 5, (65, 75, 85, 95, 105)),
        (39, 10, tuple(range(30, 40))),
        (20, 10, tuple(range(11, 21))),
        (4, 2, (3, 4)),
    ],
)
def test_sizes_are_evenly_spaced_in_the_second_half_up_to_the_full_model(n_trees, n_members, sizes):
    ensemble = VirtualEnsemble(StandIn().fit(n_trees), n_members, method="truncation")
    assert ensemble.members_ == sizes
    assert ensemble.n_members == n_members


def test_own_regressor_means_and_variances_are_those_of_its_family():
    X, y = numbers()
    model = small(surefoot.GradientBoostingRegressor, distribution="lognormal", langevin=True, n_estimators=40)
    ensemble = VirtualEnsemble(model.fit(X, np.exp(y / 4)), 5, method="truncation")
    members, parts = ensemble.predict_members(X), ensemble.predict_uncertainty(X)
    family = model.family_
    raw = np.stack([truncated(model, X, size) for size in (24, 28, 32, 36, 40)])
    sigma = family.spread * np.exp(np.clip(raw[:, 1], family.floor, family.cap))
    expected = lognorm(s=sigma, scale=np.exp(family.location + family.spread * raw[:, 0]))
    np.testing.assert_allclose(members.means, expected.mean(), rtol=1e-9)
    np.testing.assert_allclose(members.variances, expected.var(), rtol=1e-9)
    np.testing.assert_allclose(parts.knowledge, expected.mean().var(axis=0), rtol=1e-9)
    np.testing.assert_allclose(parts.data, expected.var().mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(parts.total, expected.mean().var(axis=0) + expected.var().mean(axis=0), rtol=1e-9)
    assert parts.unit == "target squared"


def test_own_classifier_probabilities_are_those_of_its_family():
    X, y = problem(surefoot.GradientBoostingClassifier, n_classes=3)
    labels = np.array(["a", "b", "c"])
    model = small(surefoot.GradientBoostingClassifier, subsample=0.5, n_estimators=40, early_stopping=False)
    ensemble = VirtualEnsemble(model.fit(X, labels[y]), 4, method="truncation")
    members, parts = ensemble.predict_members(X), ensemble.predict_uncertainty(X)
    assert list(members.classes) == ["a", "b", "c"]
    probabilities = np.stack([softmax(truncated(model, X, size), axis=0).T for size in (25, 30, 35, 40)])
    assert members.probabilities.shape == (4, 80, 3)
    np.testing.assert_allclose(members.probabilities, probabilities, rtol=1e-9)
    np.testing.assert_allclose(parts.total, entropy(probabilities.mean(axis=0), axis=1), rtol=1e-9)
    np.testing.assert_allclose(parts.data, entropy(probabilities, axis=2).mean(axis=0), rtol=1e-9)
    assert parts.unit == "nats"


def truncated(model, X, size):
    """Raw outputs (outputs, rows) of a model truncated after ``size`` trees, from the sum of its leaves."""
    member = model._members[0]
    trees, codes = member.trees, member.encoding.codes(model._columns(X), 0, len(X))
    total = np.repeat(trees.start[:, np.newaxis], len(X), axis=1)
    for tree in range(size):
        one = np.zeros_like(total)
        trees.forest.add(codes, tree, tree + 1, one)
        total += one
    total /= trees.shrink ** (trees.forest.n_trees - size)
    total[-1] = np.clip(total[-1], *trees.bounds[size - 1])
    return total


@pytest.mark.parametrize(
    ("langevin", "subsample", "warns"), [(False, 1.0, True), (False, 0.5, False), (True, 1.0, False)]
)
def test_own_model_grown_without_noise_warns(langevin, subsample, warns):
    model = StandIn(langevin=langevin, subsample=subsample).fit(100)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        VirtualEnsemble(model)
    assert [warning.category for warning in caught] == ([NoTrainingNoiseWarning] if warns else [])


def test_the_warning_has_advice_and_the_place_of_the_call():
    model = StandIn(langevin=False).fit(100)
    with pytest.warns(NoTrainingNoiseWarning, match="grown without noise.*Refit it with langevin=True") as caught:
        VirtualEnsemble(model)
    assert caught[0].filename == __file__


def test_own_model_that_is_not_fitted():
    with pytest.raises(NotFittedError, match="call fit on this StandIn"):
        VirtualEnsemble(StandIn())


@pytest.mark.parametrize(
    ("n_trees", "n_members", "message"),
    [
        (19, 10, "at least 20 trees, this StandIn uses 19 trees: ask for at most 9 members"),
        (3, 2, "at least 4 trees, this StandIn uses 3 trees: too few for any virtual ensemble"),
        (1, 10, "uses 1 tree: too few"),
    ],
)
def test_too_few_trees(n_trees, n_members, message):
    with pytest.raises(ParameterError, match=message):
        VirtualEnsemble(StandIn().fit(n_trees), n_members, method="truncation")


def test_without_truncation_four_trees_are_enough():
    assert VirtualEnsemble(StandIn().fit(4), 10).members_ == (4,) * 10
    with pytest.raises(ParameterError, match="at least 4 trees, this StandIn uses 3: refit it"):
        VirtualEnsemble(StandIn().fit(3))


@pytest.mark.parametrize("advised", [9, 2])
def test_as_many_members_as_advised_are_possible(advised):
    assert len(VirtualEnsemble(StandIn().fit(19), advised, method="truncation").members_) == advised


@pytest.mark.parametrize("n_members", [1, 0, -3, 2.5, True, "10", None])
def test_refused_numbers_of_members(n_members):
    with pytest.raises(ParameterError, match="n_members must be"):
        VirtualEnsemble(StandIn().fit(100), n_members)


def test_repr_is_short_and_shows_the_method():
    ensemble = VirtualEnsemble(StandIn().fit(40), 4)
    assert repr(ensemble) == "VirtualEnsemble(StandIn, n_members=4, method='increments')"


def test_rows_keep_their_labels():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X.index = X.index + 1000
    model = GradientBoostingRegressor(n_estimators=20, subsample=0.5, random_state=0).fit(X, y)
    frame = VirtualEnsemble(model).predict_uncertainty(X.iloc[5:9]).to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.index) == [1005, 1006, 1007, 1008]


def test_the_model_is_not_changed_and_the_ensemble_can_be_pickled():
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=20, subsample=0.5, random_state=0).fit(X, y)
    before = pickle.dumps(model)
    ensemble = VirtualEnsemble(model)
    parts = ensemble.predict_uncertainty(X)
    assert pickle.dumps(model) == before
    again = pickle.loads(pickle.dumps(ensemble)).predict_uncertainty(X)
    np.testing.assert_array_equal(again.knowledge, parts.knowledge)


def test_knowledge_uncertainty_is_larger_between_the_classes():
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=100, subsample=0.5, random_state=0).fit(X, y)
    parts = VirtualEnsemble(model).predict_uncertainty(X)
    assert parts.knowledge[y == 0].mean() < parts.knowledge[y != 0].mean()  # setosa is separated from the other two
