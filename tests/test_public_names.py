"""The public face: every name is listed, importable, in order, and explained."""

import importlib
import inspect
import types

import pytest

import surefoot

ROOMS = ["surefoot", "surefoot.boosting", "surefoot.data", "surefoot.metrics", "surefoot.trees"]
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


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_and_public_method_of_an_estimator_is_explained(name):
    public = getattr(surefoot, name)
    explained = public.__doc__
    if "are those of :class:`AdaBoostClassifier`" in explained:
        explained += surefoot.AdaBoostClassifier.__doc__
    for parameter in inspect.signature(public).parameters:
        assert parameter in explained, parameter
    for method in ("fit", "predict", "predict_proba", "decision_function", "margins"):
        assert inspect.getdoc(getattr(public, method)), method
