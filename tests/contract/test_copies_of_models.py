"""A model that was pickled, copied, cloned or read from a file answers as the original does."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from reference.models import make_frame
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

import surefoot
from contract.registry import (
    SUBJECTS,
    answers,
    assert_same_answers,
    assert_same_model,
    bits,
    each,
    each_subject,
    each_with_classes,
    those,
)

FOREIGN = those(ignores_weight_scale=True)


@each_with_classes(SUBJECTS)
@pytest.mark.parametrize("predicted_before", [False, True])
def test_pickles_answer_alike(subject, n_classes, predicted_before):
    X, y = subject.problem(n_rows=100, n_classes=n_classes)
    model = subject.make().fit(X, y)
    if predicted_before:
        answers(model, X)
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        again = pickle.loads(pickle.dumps(model, protocol=protocol))
        assert_same_model(model, again)
        assert_same_answers(model, again, X)


@each_subject
def test_files_mapped_into_memory_answer_alike(subject, tmp_path):
    X, y = subject.problem()
    for settings in ({}, {"max_depth": 2}) if "n_estimators" in subject.settings and subject in FOREIGN else ({},):
        model = subject.make(**settings).fit(X, y)
        joblib.dump(model, tmp_path / "model.joblib")
        assert_same_answers(model, joblib.load(tmp_path / "model.joblib", mmap_mode="r"), X)


@each(those(is_saved=True))
def test_saved_models_answer_alike(subject, tmp_path):
    X, y = subject.problem(n_classes=3)
    model = subject.make().fit(X, y)
    surefoot.save(model, tmp_path / "model.surefoot")
    again = surefoot.load(tmp_path / "model.surefoot")
    assert_same_model(model, again)
    assert_same_answers(model, again, X)


@each(those(is_saved=False))
def test_models_that_have_no_file_say_so(subject, tmp_path):
    X, y = subject.problem()
    with pytest.raises(surefoot.ModelFileError, match=f"{subject.estimator.__name__} cannot be saved"):
        surefoot.save(subject.make().fit(X, y), tmp_path / "model.surefoot")
    assert list(tmp_path.iterdir()) == []


@each(those(takes_categories=True))
def test_copies_remember_categories(subject):
    X, y = subject.problem()
    frame = make_frame("pandas", {"a": X[:, 1]}, {"b": np.where(X[:, 0] > 0.5, "up", "down")})
    model = subject.make().fit(frame, y)
    assert_same_answers(model, pickle.loads(pickle.dumps(model)), frame)
    assert_same_answers(model, copy.deepcopy(model), frame)


@each_subject
def test_deep_copies_answer_alike_and_share_nothing(subject):
    X, y = subject.problem()
    model = subject.make().fit(X, y)
    before = answers(model, X)
    twin = copy.deepcopy(model)
    assert_same_model(model, twin)
    twin.fit(-X, y)
    if subject.is_classifier:
        twin.fit(X, 1 - y)
    assert [name for name, array in answers(model, X).items() if bits(array) != bits(before[name])] == []


@each_subject
def test_clones_are_unfitted_and_fit_to_the_same_model(subject):
    X, y = subject.problem()
    model = subject.make().fit(X, y)
    twin = clone(model)
    assert repr(twin.get_params()) == repr(model.get_params())
    with pytest.raises(NotFittedError):
        twin.transform(X) if subject.selects else twin.predict(X)
    assert_same_model(model, twin.fit(X, y))


@each(FOREIGN)
def test_borrowed_learners_survive_pickles_and_clones(subject):
    X, y = subject.problem()
    for depth in (1, 2):
        model = subject.make(estimator=DecisionTreeClassifier(max_depth=depth)).fit(X, y)
        assert_same_answers(model, pickle.loads(pickle.dumps(model)), X)
        assert_same_answers(model, clone(model).fit(X, y), X)
