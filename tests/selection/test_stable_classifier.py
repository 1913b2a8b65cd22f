"""The bagged classifier against a plain loop, its sets against the definition, and scikit-learn's checks."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from surefoot import DataError, ParameterError
from surefoot.selection import inflated_argmax, stability_delta, stability_epsilon
from surefoot.selection.bagged_selection import BagPool
from surefoot.selection.stable_classifier import StableClassifier


def hard_problem(n_classes=3, n_rows=150, seed=0):
    X, y = make_classification(
        n_rows, n_features=6, n_informative=4, n_classes=n_classes, class_sep=0.6, random_state=seed
    )
    return X, np.array(["ash", "beech", "cedar", "dogwood", "elm"])[y]


def bags_of(model, n_rows):
    """The bags that a model with random_state=0 draws."""
    seed = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))
    size = int(model.bag_size * n_rows + 0.5) if isinstance(model.bag_size, float) else model.bag_size
    return BagPool(n_rows, size, False, seed).bags(0, model.n_bags)


@pytest.mark.parametrize(
    "estimator", [GaussianNB(), DecisionTreeClassifier(random_state=1), make_pipeline(StandardScaler(), GaussianNB())]
)
def test_probabilities_equal_those_of_a_plain_loop(estimator):
    X, y = hard_problem()
    model = StableClassifier(estimator, n_bags=20, bag_size=0.3, random_state=0).fit(X, y)
    parts = [clone(estimator).fit(X[bag], y[bag]).predict_proba(X) for bag in bags_of(model, len(X))]
    np.testing.assert_allclose(model.predict_proba(X), np.mean(parts, axis=0), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(model.predict(X), np.unique(y)[np.mean(parts, axis=0).argmax(axis=1)])


def test_without_probabilities_members_vote():
    X, y = hard_problem()
    model = StableClassifier(RidgeClassifier(), n_bags=20, random_state=0).fit(X, y)
    assert not hasattr(RidgeClassifier(), "predict_proba")
    votes = np.array([RidgeClassifier().fit(X[bag], y[bag]).predict(X) for bag in bags_of(model, len(X))])
    expected = np.stack([(votes == label).mean(axis=0) for label in np.unique(y)], axis=1)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12)


def test_a_class_that_a_bag_lacks_has_probability_zero():
    X, y = hard_problem(n_rows=60)
    X, y = np.vstack([X, [[9.0] * 6] * 2]), np.append(y, ["zelkova"] * 2)  # in only a few bags
    model = StableClassifier(GaussianNB(), n_bags=30, bag_size=0.2, random_state=0).fit(X, y)
    expected, classes = np.zeros((len(X), 4)), np.unique(y).tolist()
    lacking = 0
    for bag in bags_of(model, len(X)):
        member = GaussianNB().fit(X[bag], y[bag])
        lacking += len(member.classes_) < 4
        for column, label in enumerate(member.classes_):
            expected[:, classes.index(label)] += member.predict_proba(X)[:, column] / 30
    assert 0 < lacking < 30
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("estimator", [LogisticRegression(solver="liblinear"), RidgeClassifier()])
def test_a_bag_of_one_class_votes_for_it(estimator):
    X, y = np.arange(40.0)[:, np.newaxis], np.repeat(["a", "b"], [37, 3])
    model = StableClassifier(estimator, n_bags=30, bag_size=0.3, random_state=0).fit(X, y)
    alone = [isinstance(member, DummyClassifier) for member in model.estimators_]
    assert alone == [len(set(y[bag])) == 1 for bag in bags_of(model, 40)]
    assert 0 < sum(alone) < 30
    assert model.predict_proba(X)[:, 0].min() >= sum(alone) / 30 - 1e-12


def distance_to_winning(weights, label, epsilon):
    """The distance to the nearest weights on the simplex with which the label wins by epsilon / sqrt(2), by scipy."""
    others = [j for j in range(len(weights)) if j != label]
    result = minimize(
        lambda v: ((v - weights) ** 2).sum(),
        np.eye(len(weights))[label],
        jac=lambda v: 2 * (v - weights),
        bounds=[(0, 1)] * len(weights),
        constraints=[
            {"type": "eq", "fun": lambda v: v.sum() - 1},
            {"type": "ineq", "fun": lambda v: v[label] - v[others] - epsilon / np.sqrt(2)},
        ],
        options={"ftol": 1e-15, "maxiter": 500},
        method="SLSQP",
    )
    return np.sqrt(result.fun)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_sets_equal_the_definition(n_classes):
    X, y = hard_problem(n_classes)
    model = StableClassifier(GaussianNB(), n_bags=25, bag_size=0.4, epsilon=0.5, random_state=0).fit(X, y)
    probabilities, sets = model.predict_proba(X), model.predict_set(X)
    classes = np.unique(y)
    for weights, labels in zip(probabilities, sets, strict=True):
        assert labels == tuple(classes[inflated_argmax(weights, 0.5)])
    for weights, labels in zip(probabilities[:40], sets[:40], strict=True):
        distances = np.array([distance_to_winning(weights, j, 0.5) for j in range(n_classes)])
        clear = np.abs(distances - 0.5) > 1e-4  # scipy is not exact
        np.testing.assert_array_equal(np.isin(classes, labels)[clear], (distances < 0.5)[clear])
        ordered = [weights[classes.tolist().index(label)] for label in labels]
        assert ordered == sorted(ordered, reverse=True)
    np.testing.assert_array_equal(model.set_sizes(X), [len(labels) for labels in sets])
    np.testing.assert_array_equal(model.predict(X), [labels[0] for labels in sets])
    assert len({len(labels) for labels in sets}) > 1
    assert all(type(label) is str for labels in sets for label in labels)


def test_two_labels_are_returned_if_they_are_close():
    X, y = hard_problem(2)
    model = StableClassifier(GaussianNB(), n_bags=10, epsilon=0.3, random_state=0).fit(X, y)
    gaps = np.abs(np.diff(model.predict_proba(X), axis=1)[:, 0])
    np.testing.assert_array_equal(model.set_sizes(X) == 2, gaps < 0.3 / np.sqrt(2))


def test_the_guarantee():
    X, y = hard_problem()
    setting = {"n_samples": 150, "bag_size": 75, "n_models": 3}
    default = StableClassifier(GaussianNB(), n_bags=5).fit(X, y)
    assert default.epsilon_ == stability_epsilon(0.05, **setting)
    assert default.epsilon_ == pytest.approx(
        np.sqrt((1 - 1 / 3) / 149 / 0.05)
    )  # theorem 4.2, half of the rows in a bag
    assert default.delta_ == pytest.approx(0.05)
    assert default.delta_monte_carlo_ == 1.0
    assert default.guarantee_ == (
        "For each row to predict, and with very many bags: for at most a share 0.05 of the training rows, removing "
        "that row would give a set of labels that shares none with this one. It does not say that any of them is right."
    )
    by_delta = StableClassifier(GaussianNB(), n_bags=5, delta=0.01).fit(X, y)
    assert by_delta.epsilon_ == stability_epsilon(0.01, **setting)
    by_epsilon = StableClassifier(GaussianNB(), n_bags=5, epsilon=0.01).fit(X, y)
    assert stability_delta(0.01, **setting) > 1
    assert by_epsilon.delta_ == 1.0
    assert by_epsilon.guarantee_ == "This epsilon carries no guarantee."


def fraction_of_rows_that_overturn(everything, without, epsilon):
    """The fraction of the rows without which the set of labels has none in common with that of all rows."""
    for model in (everything, *without):
        model.epsilon_ = epsilon
    labels = set(everything.predict_set([[0.0]])[0])
    return np.mean([labels.isdisjoint(model.predict_set([[0.0]])[0]) for model in without])


def test_the_guarantee_holds_when_rows_are_removed():
    # The majority of a bag, with equally many rows of both classes: without a row of one class, the other wins.
    X, y = np.zeros((10, 1)), np.array(["a", "b"] * 5)
    model = StableClassifier(
        DummyClassifier(strategy="most_frequent"), n_bags=80, bag_size=3, delta=0.3, random_state=0
    )
    everything = clone(model).fit(X, y)
    without = [clone(model).fit(np.delete(X, i, axis=0), np.delete(y, i)) for i in range(10)]
    promised = everything.epsilon_
    assert fraction_of_rows_that_overturn(everything, without, 1e-6) > 0.3
    assert fraction_of_rows_that_overturn(everything, without, promised) <= 0.3


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_the_number_of_threads_changes_nothing(n_jobs):
    X, y = hard_problem()
    model = StableClassifier(RandomForestClassifier(3), n_bags=7, random_state=0)
    one, more = clone(model).fit(X, y), clone(model).set_params(n_jobs=n_jobs).fit(X, y)
    np.testing.assert_array_equal(one.predict_proba(X), more.predict_proba(X))
    with joblib.parallel_config("threading", n_jobs=2):
        np.testing.assert_array_equal(one.predict_proba(X), clone(model).fit(X, y).predict_proba(X))


def test_random_states_that_are_none_are_set():
    X, y = hard_problem()
    model = StableClassifier(DecisionTreeClassifier(splitter="random"), n_bags=6, random_state=0)
    first, again, other = model.fit(X, y).predict_proba(X), clone(model).fit(X, y), clone(model)
    np.testing.assert_array_equal(first, again.predict_proba(X))
    assert len({member.random_state for member in again.estimators_}) == 6
    assert (first != other.set_params(random_state=1).fit(X, y).predict_proba(X)).any()
    given = StableClassifier(DecisionTreeClassifier(random_state=4), n_bags=3).fit(X, y)
    assert {member.random_state for member in given.estimators_} == {4}
    inside = StableClassifier(make_pipeline(StandardScaler(), DecisionTreeClassifier()), n_bags=3).fit(X, y)
    assert len({member[-1].random_state for member in inside.estimators_}) == 3


def trees_and_leaves(n_rows=60):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"height": rng.normal(size=n_rows), "leaf": rng.choice(["round", "long"], size=n_rows)})


class FrameClassifier(ClassifierMixin, BaseEstimator):
    """Raises an error unless it gets a frame of the given kind."""

    def __init__(self, kind):
        self.kind = kind

    def fit(self, X, y):
        assert type(X) is self.kind, type(X)
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        assert type(X) is self.kind, type(X)
        return np.tile([0.25, 0.75], (len(X), 1))


@pytest.mark.parametrize("make", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"])
def test_frames_stay_frames(make):
    X = make(trees_and_leaves())
    model = StableClassifier(FrameClassifier(type(X)), n_bags=4, random_state=0).fit(X, np.arange(60) % 2)
    np.testing.assert_array_equal(model.predict_proba(X), np.tile([0.25, 0.75], (60, 1)))
    assert model.feature_names_in_.tolist() == ["height", "leaf"]
    assert model.n_features_in_ == 2


def test_strings_in_frames_reach_the_estimator():
    X = trees_and_leaves()
    y = np.where(X["leaf"] == "round", "alder", "willow")
    model = StableClassifier(make_pipeline(OneHotEncoder(handle_unknown="ignore"), GaussianNBDense()), n_bags=4)
    model.fit(X[["leaf"]], y)
    assert model.predict_set(X[["leaf"]]) == [(label,) for label in y]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X[["height"]])


class GaussianNBDense(GaussianNB):
    """Accepts the sparse table of an encoder."""

    def fit(self, X, y):
        return super().fit(X.toarray(), y)

    def predict_proba(self, X):
        return super().predict_proba(X.toarray())


def test_many_rows_are_predicted_in_blocks():
    X, y = hard_problem()
    model = StableClassifier(GaussianNB(), n_bags=66, random_state=0).fit(X, y)
    many = np.tile(X, (55, 1))
    np.testing.assert_allclose(model.predict_proba(many), np.tile(model.predict_proba(X), (55, 1)), rtol=1e-12)
    frame = pd.DataFrame(many)
    by_frame = StableClassifier(GaussianNB(), n_bags=66, random_state=0).fit(frame.iloc[:150], y)
    np.testing.assert_allclose(by_frame.predict_proba(frame), model.predict_proba(many), rtol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"delta": 0.05, "epsilon": 0.1}, "delta and epsilon are both given"),
        ({"delta": 0.0}, "delta must be"),
        ({"epsilon": 2.0}, "epsilon must be at most"),
        ({"n_bags": 0}, "n_bags must be"),
        ({"bag_size": 1.5}, "bag_size must be"),
        ({"bag_size": 150}, "bag_size=150"),
        ({"estimator": DecisionTreeRegressor()}, "estimator must be a scikit-learn classifier"),
        ({"estimator": DecisionTreeClassifier}, "estimator must be a scikit-learn classifier"),
        ({"estimator": None}, "estimator must be a scikit-learn classifier"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        StableClassifier(**{"estimator": GaussianNB(), **parameters}).fit(*hard_problem())


def test_an_impossible_delta_is_refused():
    X, y = hard_problem(n_rows=150)
    with pytest.raises(ParameterError, match=r"delta=0.05 would need an epsilon above.*smallest possible delta"):
        StableClassifier(GaussianNB(), bag_size=145).fit(X, y)
    assert StableClassifier(GaussianNB(), bag_size=145, epsilon=0.1, n_bags=2).fit(X, y).delta_ == 1.0


def test_unusable_data_are_refused():
    X, y = hard_problem()
    with pytest.raises(DataError, match="only one class"):
        StableClassifier(GaussianNB()).fit(X, np.zeros(150))
    with pytest.raises(DataError, match="y is None"):
        StableClassifier(GaussianNB()).fit(X, None)
    with pytest.raises(DataError, match="n_samples=2"):
        StableClassifier(GaussianNB()).fit(X[:2], ["a", "b"])
    with pytest.raises(TypeError, match="sample_weight"):
        StableClassifier(GaussianNB()).fit(X, y, sample_weight=np.ones(150))
    model = StableClassifier(GaussianNB(), n_bags=2).fit(pd.DataFrame(X), y)
    with pytest.raises(DataError, match="0 sample"):
        model.predict(pd.DataFrame(X[:0]))


def test_missing_values_are_left_to_the_estimator():
    X, y = hard_problem()
    X[3, 2] = np.nan
    assert StableClassifier(DecisionTreeClassifier(), n_bags=3).fit(X, y).predict(X).shape == (150,)
    with pytest.raises(ValueError, match="NaN"):
        StableClassifier(GaussianNB(), n_bags=3).fit(X, y)


class Unsure(GaussianNB):
    """Its numbers are not probabilities."""

    def predict_proba(self, X):
        return 0.5 * super().predict_proba(X)


def test_numbers_that_are_not_probabilities_are_refused():
    X, y = hard_problem()
    with pytest.raises(DataError, match="predict_proba of Unsure"):
        StableClassifier(Unsure(), n_bags=3).fit(X, y).predict_set(X)


class Failing(GaussianNB):
    """Fails or is interrupted on bags with the first row."""

    def __init__(self, error=ValueError):
        self.error = error
        super().__init__()

    def fit(self, X, y):
        if X[0, 0] == 0:
            raise self.error("no")
        return super().fit(X, y)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failing_fit_names_the_bag_and_does_not_change_the_model(error, n_jobs):
    X, y = np.arange(40.0)[:, np.newaxis], np.array(["a", "b"] * 20)
    model = StableClassifier(Failing(error), n_bags=8, random_state=0, n_jobs=n_jobs)
    first = int(np.flatnonzero(bags_of(model, 40)[:, 0] == 0)[0])
    with pytest.raises(error) as caught:
        model.fit(X, y)
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "n_features_in_")
    if error is ValueError and n_jobs == 1:
        assert caught.value.__notes__ == [f"The estimator failed on bag {first}."]
    with pytest.raises(ValueError, match="not fitted"):
        check_is_fitted(model)


def test_pickles_and_many_labels():
    X, y = load_iris(return_X_y=True)
    model = StableClassifier(GaussianNB(), n_bags=5, random_state=0).fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.predict_set(X) == model.predict_set(X)
    assert all(type(label) is int for labels in model.predict_set(X) for label in labels)
    assert model.score(X, y) > 0.9
