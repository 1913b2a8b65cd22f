"""The option ``--model``: a model of the user's own, in a file or in a module of Python."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from surefoot import DataError, ParameterError, load
from surefoot.cli.predict import rows_of
from surefoot.report.inputs.onnx_model import read_onnx

ONNX, SUREFOOT, PICKLES = ".onnx", ".surefoot", (".joblib", ".pkl", ".pickle")
WITH_ROWS = ("predict_proba", "predict_distribution", "predict_uncertainty")


def read_model(given: str, trust_pickle: bool) -> tuple[Any, bool]:
    """The model that ``--model`` names, and whether it is fitted: models in files are."""
    path = Path(given)
    suffix = path.suffix.lower()
    if suffix in (ONNX, SUREFOOT, *PICKLES):
        if not path.is_file():
            raise DataError(f"there is no file {path}.", argument="model")
        if suffix == SUREFOOT:
            return SavedModel(load(path), path), True
        return read_onnx(path) if suffix == ONNX else _unpickled(path, trust_pickle), True
    module, _, name = given.partition(":")
    if not module or not name:
        known = ", ".join((SUREFOOT, ONNX, *PICKLES))
        message = f"{given!r} is neither a file ({known}) nor the name of an object, such as package.module:model."
        raise ParameterError(message, argument="model")
    return _imported(module, name), False


def _unpickled(path: Path, trust_pickle: bool) -> Any:
    if not trust_pickle:
        message = (
            f"{path} is a pickle. To load a pickle is to run a program that its author wrote. If you trust the author, "
            "pass --trust-pickle; else ask for a .surefoot or ONNX file."
        )
        raise ParameterError(message, argument="model")
    import joblib

    try:
        return joblib.load(path)
    except Exception as error:  # a pickle may raise anything
        message = f"{path} cannot be unpickled: {type(error).__name__}: {error}"
        raise DataError(message, argument="model") from error


def _imported(module: str, name: str) -> Any:
    """The object, or what it returns if it is a class or a function."""
    folder = str(Path.cwd())
    sys.path.insert(0, folder)
    try:
        found = getattr(import_module(module), name)
        return found() if isinstance(found, type) or not hasattr(found, "predict") else found
    except Exception as error:  # the user's own code
        message = f"{module}:{name} cannot be imported: {type(error).__name__}: {error}"
        raise ParameterError(message, argument="model") from error
    finally:
        sys.path.remove(folder)


class SavedModel:
    """A model that ``surefoot fit`` wrote; it reads the columns of a table as ``surefoot predict`` does."""

    def __init__(self, model: Any, path: Path) -> None:
        if not hasattr(model, "feature_names_in_"):
            message = f"{path} was fitted to an array without column names: audit it in Python."
            raise DataError(message, argument="model")
        self._model = model
        self._estimator_type = model.__sklearn_tags__().estimator_type

    def predict(self, X: Any) -> Any:
        """Predict a number or a label for each row."""
        return self._model.predict(self._rows(X))

    def __getattr__(self, name: str) -> Any:
        """``classes_``, and further methods that predict, if the model has them."""
        if name in WITH_ROWS:
            method = getattr(self._model, name)
            return lambda X: method(self._rows(X))
        if name == "classes_":
            return self._model.classes_
        raise AttributeError(name)

    def _rows(self, X: Any) -> Any:
        return rows_of(self._model, X, Path("The table"))
