"""Threads predict with a model while another thread fits it again: each prediction is that of one of the fits."""

import inspect
import sys
import threading
import time

import numpy as np
import pytest
from contract.registry import SUBJECTS, answers, bits, each_subject, those
from fault_sizes import usual_or_long

import surefoot
from surefoot import _fitted_state
from surefoot._fitted_state import current_fit
from surefoot.uncertainty.virtual_ensemble import VirtualEnsemble

pytestmark = [pytest.mark.fault(number=15), pytest.mark.filterwarnings("ignore::surefoot.SurefootWarning")]

N_READERS, SECONDS = usual_or_long(2, 32), usual_or_long(0.2, 10.0)
NOT_READING = {"fit", "get_params", "set_params", "set_output", "get_metadata_routing"}
ONE_CALL = {"score", "fit_transform"}  # scikit-learn's: they call one method of ours
ONE_VALUE = {"n_trees_", "validation_nll_"}  # they read the attribute of the new name, and no other


class ReadLate:
    """A table that is read in the middle of a prediction: at that moment ``action`` is called."""

    def __init__(self, X, action):
        self.X, self.action, self.shape, self.dtype = X, action, X.shape, X.dtype

    def __len__(self):
        return len(self.X)

    def __array__(self, dtype=None, copy=None):
        action, self.action = self.action, lambda: None
        action()
        return np.array(self.X, dtype=dtype)


def two_problems(subject):
    """Two tables with the same columns: other targets, and of classifiers other classes, in another number."""
    X, y = subject.problem()
    other_X, other = subject.problem(seed=1, n_classes=3)
    return (X, y), (other_X[:, ::-1].copy(), 5 + other if subject.is_classifier else 100.0 * other)


@each_subject
def test_a_fit_changes_all_attributes_at_once(subject):
    (X, y), (other_X, other_y) = two_problems(subject)
    model = subject.make().fit(X, y)
    changed = []

    def record(self, name, value):
        if self is model:
            changed.append(name)
        object.__setattr__(self, name, value)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subject.estimator, "__setattr__", record, raising=False)
        model.fit(other_X, other_y)
    assert changed == ["__dict__"]


@each_subject
def test_a_prediction_that_is_overtaken_by_a_fit_is_that_of_the_old_model(subject):
    (X, y), (other_X, other_y) = two_problems(subject)
    names = ["predict_proba", "decision_function", "set_sizes", "predict", "transform", "predict_uncertainty"]
    for name in filter(lambda name: hasattr(subject.estimator, name), names):
        model = subject.make().fit(X, y)
        expected = getattr(model, name)(X)
        overtaken = getattr(model, name)(ReadLate(X, lambda model=model: model.fit(other_X, other_y)))
        for part in ("total", "data", "knowledge") if name == "predict_uncertainty" else (None,):
            pair = [values if part is None else getattr(values, part) for values in (expected, overtaken)]
            assert bits(np.asarray(pair[0])) == bits(np.asarray(pair[1])), (name, part)


def estimators():
    dask = pytest.importorskip("surefoot.dask")
    return sorted({subject.estimator for subject in SUBJECTS} | {getattr(dask, n) for n in dask.__all__}, key=repr)


@pytest.mark.parametrize("estimator", estimators(), ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_public_method_reads_one_fit(estimator):
    """The marks of methods: those above try some of them, in one interleaving."""
    names = {n for n in dir(estimator) if not n.startswith("_") and not n.endswith("_request")}
    unmarked = set()
    for name in names - NOT_READING - ONE_CALL - ONE_VALUE:
        member = inspect.getattr_static(estimator, name)
        function = member.fget if isinstance(member, property) else member
        if inspect.isfunction(function) and function.__code__.co_filename != _fitted_state.__file__:
            unmarked.add(name)
    assert unmarked == set()


@each_subject
def test_threads_predict_while_another_fits(subject):
    problems = two_problems(subject)
    rows = problems[0][0]
    model, expected = subject.make(), []
    for X, y in reversed(problems):
        said = answers(model.fit(X, y), rows)
        expected.append({name: bits(array) for name, array in said.items()})
    methods = [name for name in ("predict", "predict_proba", "set_sizes", "transform") if name in expected[0]]
    torn, errors, stop = [], [], threading.Event()

    def predict():
        try:
            while not stop.is_set():
                for name in methods:
                    found = np.asarray(getattr(model, name)(rows))
                    found = found.astype(float) if name == "transform" else found
                    if bits(found) not in {fit[name] for fit in expected}:
                        torn.append(name)
        except BaseException as error:
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    readers = [threading.Thread(target=predict) for _ in range(N_READERS)]
    try:
        for reader in readers:
            reader.start()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            for X, y in problems:
                model.fit(X, y)
    finally:
        stop.set()
        for reader in readers:
            reader.join()
        sys.setswitchinterval(interval)
    assert errors == []
    assert torn == []


def test_tables_of_other_widths_are_refused_or_predicted():
    """Trees of a wide table would read beyond the codes of a narrow one."""
    subject = those(name="GradientRegressor")[0]
    wide, narrow = (subject.problem(n_rows=300, n_columns=n) for n in (40, 2))
    model, errors, stop = subject.make().fit(*narrow), [], threading.Event()

    def predict():
        while not stop.is_set():
            for X, _ in (wide, narrow):
                try:
                    model.predict(X)
                except ValueError as error:
                    if "features" not in str(error):
                        errors.append(error)
                except BaseException as error:
                    errors.append(error)

    reader = threading.Thread(target=predict)
    reader.start()
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        for X, y in (wide, narrow):
            model.fit(X, y)
    stop.set()
    reader.join()
    assert errors == []


def test_parameters_that_are_set_during_a_fit_stay():
    X, y = those(name="GradientRegressor")[0].problem()
    model = surefoot.GradientBoostingRegressor(n_estimators=3, random_state=0)
    model.fit(X, y, callbacks=lambda _: setattr(model, "n_estimators", 7))
    assert model.n_estimators == 7
    assert model.n_iter_ <= 3


def test_a_virtual_ensemble_keeps_the_model_that_it_was_made_from():
    subject = those(name="VirtualRegressor")[0]
    (X, y), (other_X, other_y) = two_problems(subject)
    model = subject.make().fit(X, y)
    ensemble = VirtualEnsemble(model, 3)
    before = ensemble.predict_uncertainty(X).knowledge
    model.fit(other_X, other_y)
    assert bits(ensemble.predict_uncertainty(X).knowledge) == bits(before)


@pytest.mark.parametrize("name", ["GradientRegressor", "SGLBClassifier"])
def test_trees_that_a_warm_start_adds_are_not_those_of_the_old_model(name):
    subject = those(name=name)[0]
    X, y = subject.problem()
    model = subject.make(warm_start=True, early_stopping=False).fit(X, y)
    old, before = current_fit(model), answers(model, X)
    model.set_params(n_estimators=12).fit(X, y)
    after = answers(old, X)
    assert [key for key, array in before.items() if bits(array) != bits(after[key])] == []
    assert bits(model.predict(X)) != bits(before["predict"]) or name != "GradientRegressor"
