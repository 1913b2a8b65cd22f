"""The public face: every name is listed, importable, in order, and explained."""

import importlib
import inspect
import re
import types

import pytest
from sklearn.base import ClassifierMixin, TransformerMixin

import surefoot

ROOMS = [
    "surefoot", "surefoot.boosting", "surefoot.conformal", "surefoot.dask", "surefoot.data", "surefoot.export",
    "surefoot.metrics", "surefoot.model_io", "surefoot.plots", "surefoot.report", "surefoot.selection",
    "surefoot.shift", "surefoot.trees", "surefoot.uncertainty",
]  # fmt: skip
CLASSES = [name for name in surefoot.__all__ if inspect.isclass(getattr(surefoot, name))]
ESTIMATORS = [name for name in CLASSES if hasattr(getattr(surefoot, name), "fit")]


def public_names(module):
    """Names of the module that look public and are not modules."""
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }


@pytest.mark.parametrize("room", ROOMS)
def test_all_is_sorted_complete_and_importable(room):
    module = importlib.import_module(room)
    assert list(module.__all__) == sorted(module.__all__)
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        assert hasattr(module, name), name
    assert public_names(module) <= set(module.__all__)


def test_the_check_for_completeness_can_fail():
    module = types.ModuleType("made_up")
    module.forgotten, module._private, module.json = 1, 2, importlib.import_module("json")
    assert public_names(module) == {"forgotten"}


def test_the_version_is_a_version():
    assert all(part.isdigit() for part in surefoot.__version__.split(".")[:2])


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_is_explained(name):
    public = getattr(surefoot, name)
    own = public.__dict__.get("__doc__") or ""
    assert len(own.strip()) > 20
    if not issubclass(public, BaseException):  # an error needs no example
        assert "Examples\n    --------" in own
        assert ">>>" in own


def explained_parameters(text):
    """Names that a docstring, or one that it says to have its other parameters from, has entries for."""
    parameters = text.split("Parameters\n", 1)[-1].split("Attributes\n", 1)[0]
    entries = re.findall(r"^    (\w+(?:, \w+)*) :", parameters, flags=re.MULTILINE)
    names = {name for entry in entries for name in entry.split(", ")}
    for other in re.findall(r"are those of :class:`(\w+)`", parameters):
        names |= explained_parameters(getattr(surefoot, other).__doc__)
    return names


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_of_an_estimator_is_explained(name):
    public = getattr(surefoot, name)
    assert set(inspect.signature(public).parameters) <= explained_parameters(public.__doc__)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_parameter_is_explained_that_the_estimator_itself_does_not_have(name):
    own = re.sub("are those of :class:", "", getattr(surefoot, name).__doc__)
    assert explained_parameters(own) <= set(inspect.signature(getattr(surefoot, name)).parameters)


def test_the_check_of_explanations_can_fail():
    text = "Parameters\n    ----------\n    one, two : int\n        Said of three.\n\n    Attributes\n    four : int\n"
    assert explained_parameters(text) == {"one", "two"}
    inherited = "Parameters\n    one : int\n    The other parameters are those of :class:`AdaBoostClassifier`.\n"
    assert {"one", "variant"} <= explained_parameters(inherited)


METHODS = {
    "classifier": {"fit", "predict", "predict_proba"},
    "regressor": {"fit", "predict"},
    "distribution": {"fit", "predict", "predict_distribution"},
    "transformer": {"fit", "transform", "leave_one_out", "get_support"},
}


def kind(estimator):
    if issubclass(estimator, TransformerMixin):
        return "transformer"
    if issubclass(estimator, ClassifierMixin):
        return "classifier"
    plain = (surefoot.ConformalRegressor, surefoot.VMatrixBoostingRegressor)
    return "regressor" if estimator in plain else "distribution"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_public_method_of_an_estimator_is_explained(name):
    public = getattr(surefoot, name)
    methods = {method for method, value in inspect.getmembers(public, callable) if not method.startswith("_")}
    assert METHODS[kind(public)] <= methods
    for method in methods:
        assert inspect.getdoc(getattr(public, method)), method
