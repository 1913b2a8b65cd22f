"""The parameters of an estimator, from ``get_params``, as JSON."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from surefoot._exceptions import ModelFileError, ParameterError
from surefoot.model_io.archive import Archive
from surefoot.model_io.family import Family, family_name, family_of
from surefoot.model_io.labels import LABEL_KINDS, is_plain
from surefoot.model_io.model_json import require
from surefoot.uncertainty.families import RegressionFamily

OF_THE_MACHINE = ("n_jobs", "verbose")  # not saved
OLD_NAMES = {"max_target": "max_target_rows"}  # parameters that were renamed: files may have the old name
ADDED: dict[str, Any] = {
    "interaction_cst": None,
    "max_features": 1.0,
    "max_leaf_nodes": None,
    "split_noise": "auto",
}  # later than the first files, with their defaults, which are not saved: the file of a model without them is as before
OBJECT = "object"
ARRAY_KINDS: dict[str, Any] = {OBJECT: object} | {kind: kind for kind in LABEL_KINDS}
MAKERS: dict[str, Callable[[Any], Any]] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "dict": dict,
    "array": lambda pair: np.array(pair[1], dtype=ARRAY_KINDS[pair[0]]),
    "family class": family_of,
}  # a value that JSON does not have is an object with one of these keys; they make the value from the content


class Parameters:
    """The parameters of an estimator of one class."""

    def __init__(self, kind: type[BaseEstimator]) -> None:
        self.kind = kind

    def write(self, value: BaseEstimator, path: str, arrays: dict[str, np.ndarray]) -> Any:
        kept = value.get_params(deep=False)
        if not isinstance(kept["random_state"], int | np.integer):
            kept["random_state"] = None  # the state of a generator is not saved
        for old in OLD_NAMES.keys() & kept.keys():
            given = kept.pop(old)
            if not isinstance(given, str):  # not "deprecated"
                kept[OLD_NAMES[old]] = given
        return {name: write_value(kept[name], name) for name in kept if not _is_left_out(name, kept[name])}

    def read(self, stored: Any, path: str, archive: Archive) -> BaseEstimator:
        """An unfitted estimator with these parameters; parameters that are not in the file have their defaults."""
        require(type(stored) is dict, f"{path} must be parameters by name")
        stored = {OLD_NAMES.get(name, name): value for name, value in stored.items()}
        unknown = stored.keys() - (inspect.signature(self.kind).parameters.keys() - OF_THE_MACHINE)
        require(not unknown, f"{self.kind.__name__} has no parameters {sorted(unknown)}")
        model = self.kind(**{name: read_value(one, f"{path}.{name}", archive) for name, one in stored.items()})
        try:
            model._check_parameters()
        except ParameterError as error:
            raise ModelFileError(f"{path}: {error}") from error
        return model


def _is_left_out(name: str, value: Any) -> bool:
    """Whether a parameter is not saved."""
    if name in ADDED:
        return value is None if ADDED[name] is None else type(value) is type(ADDED[name]) and value == ADDED[name]
    return name in OF_THE_MACHINE


def write_value(value: Any, name: str) -> Any:
    """The JSON of a parameter."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or is_plain(value):
        return value
    if isinstance(value, list | tuple):
        inner = [write_value(one, name) for one in value]
        return inner if isinstance(value, list) else {"tuple": inner}
    if isinstance(value, set | frozenset):
        kind = "set" if isinstance(value, set) else "frozenset"
        return {kind: [write_value(one, name) for one in sorted(value, key=lambda one: (isinstance(one, str), one))]}
    if isinstance(value, range):
        return write_value(list(value), name)
    if isinstance(value, dict):
        return {"dict": [[write_value(key, name), write_value(value[key], name)] for key in value]}
    if isinstance(value, np.ndarray):
        kind = value.dtype.newbyteorder("<").str
        return {"array": [kind if kind in LABEL_KINDS else OBJECT, write_value(value.tolist(), name)]}
    if isinstance(value, RegressionFamily):
        return {"family": Family().write(value, name, {})}
    if inspect.isclass(value) and issubclass(value, RegressionFamily):
        return {"family class": family_name(value)}
    if hasattr(value, "tolist"):  # a column of a frame, or its column names
        return write_value(value.tolist(), name)
    raise ModelFileError(f"its parameter {name}={value!r} cannot be saved in a model file")


def read_value(stored: Any, path: str, archive: Archive) -> Any:
    """A parameter from its JSON."""
    if isinstance(stored, list):
        return [read_value(one, path, archive) for one in stored]
    if not isinstance(stored, dict):
        return stored
    require(len(stored) == 1, f"{path} is not a parameter")
    ((kind, inner),) = stored.items()
    if kind == "family":
        return Family().read(inner, path, archive)
    require(kind in MAKERS, f"{path} is not a parameter")
    try:
        return MAKERS[kind](read_value(inner, path, archive))
    except (LookupError, OverflowError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path} is not a valid {kind}") from error
