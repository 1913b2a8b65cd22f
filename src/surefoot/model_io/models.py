"""The models that can be saved, and the state of a file."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from surefoot._fitted_state import current_fit
from surefoot.boosting import (
    AdaBoostClassifier,
    BaggedBoostClassifier,
    BestBoostClassifier,
    LarsenRitzertClassifier,
    MajorityBoostClassifier,
)
from surefoot.model_io.archive import Archive
from surefoot.model_io.fields import Record
from surefoot.model_io.gradient import GRADIENT
from surefoot.model_io.model_json import require
from surefoot.model_io.parameters import Parameters
from surefoot.model_io.vmatrix import VMATRIX
from surefoot.model_io.votes import VOTES
from surefoot.shift import VMatrixBoostingClassifier, VMatrixBoostingRegressor
from surefoot.uncertainty import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)

FORMAT, VERSION = "surefoot model", 2  # 2: ranges of columns, and columns of dates
ROOT = "model"
MODELS: dict[type[BaseEstimator], Record] = {
    AdaBoostClassifier: VOTES,
    BaggedBoostClassifier: VOTES,
    BestBoostClassifier: VOTES,
    LarsenRitzertClassifier: VOTES,
    MajorityBoostClassifier: VOTES,
    BoostingEnsembleClassifier: GRADIENT,
    BoostingEnsembleRegressor: GRADIENT,
    GradientBoostingClassifier: GRADIENT,
    GradientBoostingRegressor: GRADIENT,
    VMatrixBoostingClassifier: VMATRIX,
    VMatrixBoostingRegressor: VMATRIX,
}
BY_NAME = {kind.__name__: kind for kind in MODELS}


def write_model(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """A fitted model as JSON and arrays."""
    kind = type(model)
    require(not hasattr(model, "to_local"), "it is for Dask collections: save what its to_local() returns")
    require(kind in MODELS, f"a model file can hold a fitted {', '.join(BY_NAME)}")
    check_is_fitted(model, msg="This %(name)s is not fitted, and only fitted models can be saved: call fit first.")
    model = current_fit(model)
    arrays: dict[str, np.ndarray] = {}
    stored = {
        "format": FORMAT,
        "version": VERSION,
        "class": kind.__name__,
        ROOT: MODELS[kind].write(model, ROOT, arrays),
        "parameters": Parameters(kind).write(model, "parameters", arrays),
    }
    return stored, arrays


def read_model(stored: Any, archive: Archive) -> Any:
    """A fitted model from JSON and arrays, which are all checked before they are used."""
    require(type(stored) is dict and stored.get("format") == FORMAT, "it is not a model file of surefoot")
    version = stored.get("version")
    require(type(version) is int and version >= 1, "it does not say which version of the format it has")
    require(version <= VERSION, f"it was written by a newer surefoot (format {version}): upgrade surefoot to read it")
    require(stored.keys() == {"format", "version", "class", "parameters", ROOT}, "it does not have the expected parts")
    name = stored["class"]
    require(isinstance(name, str) and name in BY_NAME, f"it contains a model of an unknown class: {name!r}")
    kind = BY_NAME[name]
    model = Parameters(kind).read(stored["parameters"], "parameters", archive)
    record = MODELS[kind]
    record.make_at(ROOT, model, **record.read_fields(stored[ROOT], ROOT, archive))
    archive.finish()
    return model
