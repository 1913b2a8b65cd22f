"""Fitting and predicting leave the data as they were, and take data that must not be written to."""

import copy

import numpy as np
import pytest
from reference.models import FRAMES, make_frame
from sklearn.tree import DecisionTreeClassifier

from contract.registry import answers, assert_same_answers, assert_same_model, each, each_subject, each_variant, those


def fit_arguments(subject, n_rows):
    """Weights, where the estimator takes them."""
    return {} if subject.weights == "refused" else {"sample_weight": np.arange(n_rows) % 3 + 1.0}


def validation(subject, X, y, weights):
    return {"X_val": X, "y_val": y, "sample_weight_val": weights} if subject.takes_validation else {}


def locked(array):
    array = array.copy(order="K")
    array.setflags(write=False)
    return array


def mapped(array, path):
    np.save(path, array)
    return np.load(path, mmap_mode="r")


def table(subject, order):
    X, y = subject.problem()
    if subject.takes_missing:
        X[3, 1] = np.nan
    return np.array(X, order=order), y


@pytest.mark.fault(number=4)
@each_variant
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_and_parameters_stay_as_they_were(subject, order):
    X, y = table(subject, order)
    weights = np.arange(len(X)) % 3 + 0.0
    extra = {} if subject.weights == "refused" else {"sample_weight": weights}
    before = [array.tobytes() for array in (X, y, weights)]
    classes = {"class_weight": "balanced"} if "class_weight" in subject.make().get_params() else {}
    model = subject.make(**classes)
    given = model.get_params(deep=False)
    shown = repr(given)
    model.fit(X, y, **extra, **validation(subject, X, y, weights))
    answers(model, X)
    if hasattr(model, "margins"):
        model.margins(X, y)
    assert [array.tobytes() for array in (X, y, weights)] == before
    assert all(model.get_params()[name] is value for name, value in given.items())
    assert repr(model.get_params(deep=False)) == shown


@pytest.mark.fault(number=4)
@each(those(takes_validation=True))
def test_lists_of_columns_stay_as_they_were(subject):
    X, y = subject.problem()
    X[:, 3] = np.round(X[:, 3])
    model = subject.make(monotonic_cst=[1, 0, 0, 0], categorical_features=[3])
    given = model.get_params()
    shown = copy.deepcopy(given)
    model.fit(X, y)
    assert all(model.get_params()[name] is value for name, value in given.items())
    assert model.get_params() == shown


@pytest.mark.fault(number=4)
@each(those(ignores_weight_scale=True))
@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=1)])
def test_weak_learners_and_weights_of_classes_stay_as_they_were(subject, estimator):
    X, y = subject.problem()
    model = subject.make(class_weight={0: 1.0, 1: 2.0}, estimator=estimator, n_jobs=1)
    before = model.get_params(deep=False)
    shown = copy.deepcopy(before)
    answers(model.fit(X, y), X)
    assert all(model.get_params(deep=False)[name] is value for name, value in before.items())
    assert repr(model.get_params(deep=False)) == repr(shown)
    assert estimator is None or not hasattr(estimator, "tree_")


@pytest.mark.fault(number=4)
@each(those(takes_categories=True))
@pytest.mark.parametrize("kind", FRAMES)
def test_frames_stay_as_they_were(subject, kind):
    X, y = subject.problem()
    frame = make_frame(kind, {"a": X[:, 0], "b": X[:, 1]}, {"c": np.where(X[:, 2] > 0, "up", "down")})
    before = copy.deepcopy(frame)
    answers(subject.make().fit(frame, y), frame)
    assert before.equals(frame)


@pytest.mark.fault(number=4)
@each_variant
@pytest.mark.parametrize("order", ["C", "F"])
def test_read_only_arrays_give_the_same_model(subject, order):
    X, y = table(subject, order)
    extra = fit_arguments(subject, len(X))
    free = subject.make().fit(X, y, **extra)
    model = subject.make().fit(locked(X), locked(y), **{name: locked(array) for name, array in extra.items()})
    assert_same_model(free, model)
    assert_same_answers(free, model, X, locked(X))


@pytest.mark.fault(number=4)
@each_subject
@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_mapped_files_give_the_same_model(subject, order, tmp_path):
    X, y = table(subject, order)
    extra = fit_arguments(subject, len(X))
    files = {name: mapped(array, tmp_path / f"{name}.npy") for name, array in {"X": X, "y": y, **extra}.items()}
    assert isinstance(files["X"], np.memmap)
    X_file, y_file = files.pop("X"), files.pop("y")
    free = subject.make().fit(X, y, **extra, **validation(subject, X, y, None))
    model = subject.make().fit(X_file, y_file, **files, **validation(subject, X_file, y_file, None))
    assert_same_model(free, model)
    assert_same_answers(free, model, X, X_file)


@pytest.mark.fault(number=4)
@each_subject
def test_later_changes_of_the_table_do_not_reach_the_model(subject):
    X, y = subject.problem()
    model = subject.make().fit(X, y)
    rows = X.copy()
    before = answers(model, rows)
    X[:], y[:] = 0, 0
    after = answers(model, rows)
    assert all(after[name].tobytes() == array.tobytes() for name, array in before.items())
