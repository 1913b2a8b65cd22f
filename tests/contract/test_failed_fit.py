"""A fit that fails leaves the estimator as it was: unfitted, or with its earlier model whole."""

import numpy as np
import pytest
from reference.models import make_frame
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from contract.registry import SUBJECTS, answers, bits, each, each_classifier, each_subject, learned, those

BAD_CALLS = {
    "missing target": lambda model, subject, X, y: model.fit(X, None),
    "too short a target": lambda model, subject, X, y: model.fit(X, y[:-1]),
    "bad parameter": lambda model, subject, X, y: model.set_params(**subject.bad_parameters).fit(X, y),
    "a bad column": lambda model, subject, X, y: model.fit(make_frame("pandas", {"a": X[:, 0], "b": ["w"] * 80}), y),
    "infinity": lambda model, subject, X, y: model.fit(np.full_like(X, np.inf), y),
    "one class": lambda model, subject, X, y: model.fit(X, np.zeros(80)),
    "bad weights": lambda model, subject, X, y: model.fit(X, y, sample_weight=-np.ones(80)),
    "bad validation rows": lambda model, subject, X, y: model.fit(X, y, X_val=X[:, :2], y_val=y),
}


def calls_for(subject):
    skipped = set()
    if not subject.is_classifier:
        skipped |= {"one class"}
    if subject.weights == "refused":
        skipped |= {"bad weights"}
    if not subject.takes_validation:
        skipped |= {"bad validation rows"}
    return [name for name in BAD_CALLS if name not in skipped]


each_call = pytest.mark.parametrize(
    ("subject", "name"), [(s, name) for s in SUBJECTS for name in calls_for(s)], ids=str
)


def fail(model, subject, name, X, y):
    with pytest.raises((ValueError, RuntimeError)):
        BAD_CALLS[name](model, subject, X, y)


def assert_unfitted(model, X):
    for method in ("predict", "predict_proba", "decision_function", "transform", "set_sizes", "predict_distribution"):
        if hasattr(model, method):
            with pytest.raises(NotFittedError):
                getattr(model, method)(X)
    if hasattr(model, "predict_uncertainty"):
        with pytest.raises(NotFittedError):
            model.predict_uncertainty(X)
    if hasattr(model, "virtual_ensemble"):
        with pytest.raises(NotFittedError):
            model.virtual_ensemble()
    if hasattr(model, "staged_predict"):
        with pytest.raises(NotFittedError):
            list(model.staged_predict(X))
    assert not hasattr(model, "feature_importances_")


@pytest.mark.fault(number=19)
@each_call
def test_an_unfitted_estimator_stays_unfitted(subject, name):
    X, y = subject.problem()
    model = subject.make()
    before = set(vars(model))
    fail(model, subject, name, X, y)
    assert set(vars(model)) == before
    assert_unfitted(model, X)


@pytest.mark.fault(number=19)
@each_call
def test_a_fitted_estimator_keeps_its_model(subject, name):
    X, y = subject.problem()
    model = subject.make().fit(X, y)
    before, attributes = answers(model, X), set(vars(model))
    fail(model, subject, name, np.hstack([X, X[:, ::-1] ** 2]), y)
    assert set(vars(model)) == attributes
    assert model.n_features_in_ == X.shape[1]
    assert not hasattr(model, "feature_names_in_")
    if subject.is_classifier:
        np.testing.assert_array_equal(model.classes_, [0, 1])
    assert [key for key, array in answers(model, X).items() if bits(array) != bits(before[key])] == []


@each_subject
def test_the_names_of_the_earlier_columns_stay(subject):
    X, y = subject.problem()
    frame = make_frame("pandas", {name: X[:, j] for j, name in enumerate("abcd")})
    model = subject.make().fit(frame, y)
    before = learned(model)
    fail(model, subject, "too short a target", X, y)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert learned(model) == before
    answers(model, frame)


@each_subject
def test_failed_predictions_leave_the_model_whole(subject):
    X, y = subject.problem()
    model = subject.make().fit(X, y)
    before, file = answers(model, X), learned(model)
    for bad in (np.hstack([X, X]), X[:0], np.full_like(X, np.inf), X[0], "rows", None):
        with pytest.raises((ValueError, TypeError)):
            model.transform(bad) if subject.selects else model.predict(bad)
    assert learned(model) == file
    assert [key for key, array in answers(model, X).items() if bits(array) != bits(before[key])] == []


@each_subject
def test_there_is_no_partial_fit(subject):
    assert not hasattr(subject.estimator, "partial_fit")


@each_classifier
@pytest.mark.parametrize("fitted", [False, True])
def test_one_class_leaves_the_names_of_the_earlier_columns(subject, fitted):
    X, y = subject.problem()
    frame = make_frame("pandas", {name: X[:, j] for j, name in enumerate("abcd")})
    model = subject.make().fit(frame, y) if fitted else subject.make()
    fail(model, subject, "one class", X, y)
    assert hasattr(model, "feature_names_in_") == fitted


class FailsLater(ClassifierMixin, BaseEstimator):
    """A weak learner that gives up in its third round."""

    rounds = 0

    def fit(self, X, y, sample_weight=None):
        type(self).rounds += 1
        if type(self).rounds > 2:
            raise RuntimeError("no more")
        self.tree_ = DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight=sample_weight)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)


@each(those(ignores_weight_scale=True))
@pytest.mark.parametrize("fitted", [False, True])
def test_a_weak_learner_that_gives_up(subject, fitted):
    X, y = subject.problem()
    model = subject.make()
    if fitted:
        votes = model.fit(X, y).decision_function(X)
    attributes = set(vars(model))
    FailsLater.rounds = 0
    with pytest.raises(RuntimeError):
        model.set_params(estimator=FailsLater()).fit(np.hstack([X, X]), y)
    assert set(vars(model)) == attributes
    if fitted:
        np.testing.assert_array_equal(model.decision_function(X), votes)
    else:
        assert_unfitted(model, X)
