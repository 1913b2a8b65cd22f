"""The virtual ensemble itself, on a stand-in for our own models and on scikit-learn's boosters."""

import pickle
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from scipy.stats import lognorm
from sklearn.base import BaseEstimator
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.exceptions import NotFittedError

from surefoot._exceptions import ParameterError, QuietEnsembleWarning
from surefoot.uncertainty.virtual_ensemble import VirtualEnsemble


@dataclass
class Moments:
    mean: np.ndarray
    var: np.ndarray


class LogNormalFamily:
    def distribution(self, raw):
        law = lognorm(s=np.exp(raw[1]), scale=np.exp(raw[0]))
        return Moments(law.mean(), law.var())


class SoftmaxFamily:
    def probabilities(self, raw):
        return softmax(raw, axis=0).T


class StandIn(BaseEstimator):
    """What a fitted booster of ours offers: raw outputs of the truncated models, and a family to read them."""

    def __init__(self, n_outputs=2, langevin=True, subsample=1.0):
        self.n_outputs = n_outputs
        self.langevin = langevin
        self.subsample = subsample

    def fit(self, family, n_trees):
        self.family_ = family
        self.n_trees_ = n_trees
        self.classes_ = np.array(["a", "b", "c"])[: self.n_outputs]
        return self

    def _member_raw(self, X, n_members):
        member = np.linspace(0.5, 1.0, n_members)[:, None, None]
        return member * np.resize(X[:, 0], (self.n_outputs, len(X)))


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(20, 2))


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
def test_members_lie_evenly_in_the_last_half_and_end_with_the_whole_model(n_trees, n_members, sizes):
    ensemble = VirtualEnsemble(StandIn().fit(LogNormalFamily(), n_trees), n_members)
    assert ensemble.members_ == sizes
    assert ensemble.n_members == n_members


def test_own_regressor_means_and_variances_are_those_of_its_family(rows):
    model = StandIn().fit(LogNormalFamily(), 100)
    ensemble = VirtualEnsemble(model)
    members, parts = ensemble.predict_members(rows), ensemble.predict_uncertainty(rows)
    raw = model._member_raw(rows, 10)
    sigma2 = np.exp(raw[:, 1]) ** 2  # the closed form of the log-normal's moments
    mean = np.exp(raw[:, 0] + sigma2 / 2)
    var = (np.exp(sigma2) - 1) * mean**2
    np.testing.assert_allclose(members.means, mean, rtol=1e-9)
    np.testing.assert_allclose(members.variances, var, rtol=1e-9)
    np.testing.assert_allclose(parts.knowledge, mean.var(axis=0), rtol=1e-9)
    np.testing.assert_allclose(parts.total, mean.var(axis=0) + var.mean(axis=0), rtol=1e-9)
    assert parts.unit == "target squared"


def test_own_classifier_probabilities_are_those_of_its_family(rows):
    model = StandIn(n_outputs=3).fit(SoftmaxFamily(), 100)
    members = VirtualEnsemble(model, 4).predict_members(rows)
    assert members.probabilities.shape == (4, 20, 3)
    assert list(members.classes) == ["a", "b", "c"]
    np.testing.assert_allclose(members.probabilities[-1], softmax(model._member_raw(rows, 4)[-1].T, axis=1), rtol=1e-12)
    assert VirtualEnsemble(model, 4).predict_uncertainty(rows).unit == "nats"


@pytest.mark.parametrize(
    ("langevin", "subsample", "quiet"), [(False, 1.0, True), (False, 0.5, False), (True, 1.0, False)]
)
def test_own_model_grown_without_noise_warns(langevin, subsample, quiet):
    model = StandIn(langevin=langevin, subsample=subsample).fit(LogNormalFamily(), 100)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        VirtualEnsemble(model)
    assert [warning.category for warning in caught] == ([QuietEnsembleWarning] if quiet else [])


def test_the_warning_says_what_to_do_and_where_it_came_from():
    model = StandIn(langevin=False).fit(LogNormalFamily(), 100)
    with pytest.warns(QuietEnsembleWarning, match="grown without noise.*Refit it with langevin=True") as caught:
        VirtualEnsemble(model)
    assert caught[0].filename == __file__


def test_own_model_that_is_not_fitted():
    with pytest.raises(NotFittedError, match="call fit on this StandIn"):
        VirtualEnsemble(StandIn())


@pytest.mark.parametrize(
    ("n_trees", "n_members", "says"),
    [
        (19, 10, "at least 20 trees, this StandIn uses 19 trees: ask for at most 9 members"),
        (3, 2, "at least 4 trees, this StandIn uses 3 trees: too few for any virtual ensemble"),
        (1, 10, "uses 1 tree: too few"),
    ],
)
def test_too_few_trees(n_trees, n_members, says):
    with pytest.raises(ParameterError, match=says):
        VirtualEnsemble(StandIn().fit(LogNormalFamily(), n_trees), n_members)


@pytest.mark.parametrize("advised", [9, 2])
def test_as_many_members_as_advised_are_possible(advised):
    assert len(VirtualEnsemble(StandIn().fit(LogNormalFamily(), 19), advised).members_) == advised


@pytest.mark.parametrize("n_members", [1, 0, -3, 2.5, True, "10", None])
def test_refused_numbers_of_members(n_members):
    with pytest.raises(ParameterError, match="n_members must be"):
        VirtualEnsemble(StandIn().fit(LogNormalFamily(), 100), n_members)


def test_repr_is_short_and_tells_the_sizes():
    ensemble = VirtualEnsemble(StandIn().fit(LogNormalFamily(), 40), 4)
    assert repr(ensemble) == "VirtualEnsemble(StandIn, n_members=4, members_=(25, 30, 35, 40))"


def test_rows_keep_their_labels():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X.index = X.index + 1000
    model = GradientBoostingRegressor(n_estimators=20, subsample=0.5, random_state=0).fit(X, y)
    frame = VirtualEnsemble(model).predict_uncertainty(X.iloc[5:9]).to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.index) == [1005, 1006, 1007, 1008]


def test_the_model_is_left_as_it_was_and_the_ensemble_can_be_pickled():
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=20, subsample=0.5, random_state=0).fit(X, y)
    before = pickle.dumps(model)
    ensemble = VirtualEnsemble(model)
    parts = ensemble.predict_uncertainty(X)
    assert pickle.dumps(model) == before
    again = pickle.loads(pickle.dumps(ensemble)).predict_uncertainty(X)
    np.testing.assert_array_equal(again.knowledge, parts.knowledge)


def test_doubt_grows_between_the_classes():
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=100, subsample=0.5, random_state=0).fit(X, y)
    parts = VirtualEnsemble(model).predict_uncertainty(X)
    assert parts.knowledge[y == 0].mean() < parts.knowledge[y != 0].mean()  # setosa stands apart from the other two
