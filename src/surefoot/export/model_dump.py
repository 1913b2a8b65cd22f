"""``dump_model``: the trees of a gradient booster as JSON, from which any program can compute its predictions."""

import json
import os
from dataclasses import asdict
from math import isfinite
from typing import Any

import numpy as np

from surefoot._atomic_io import write_text
from surefoot._exceptions import ParameterError
from surefoot.export.category_values import check_labels
from surefoot.export.exported_model import ExportedModel
from surefoot.export.tree_dump import member_dump
from surefoot.model_io.labels import is_plain
from surefoot.uncertainty.families import ClassificationFamily, Normal, Poisson, RegressionFamily
from surefoot.uncertainty.families.poisson import MIN_DISPERSION

FORMAT, VERSION = "surefoot trees", 1


def dump_model(model: Any, path: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Return the trees of a fitted gradient booster as a dictionary, and write it as JSON.

    It has everything that a prediction needs, in the units of the table: splits by the name of a column, thresholds,
    categories by their labels, the side of missing values, leaves, and the distribution. The guide explains each field.
    Numbers have all their digits, so that a reader gets the predictions of surefoot. Unlike a file of ``save``, it
    cannot be loaded again.

    Parameters
    ----------
    model : fitted model
        A GradientBoostingRegressor, GradientBoostingClassifier, BoostingEnsembleRegressor or
        BoostingEnsembleClassifier.
    path : str or path, default=None
        The file to write, in standard JSON (without NaN or infinity), completely or not at all. None: no file is
        written.

    Returns
    -------
    dict
        The content of the file.

    Raises
    ------
    ParameterError
        The model, or a part of it, cannot be exported; the message says what to do.

    See Also
    --------
    to_onnx : a file that predicts without Python.
    save : a file from which surefoot can load the model again.

    Examples
    --------
    >>> import surefoot
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = surefoot.GradientBoostingRegressor(n_estimators=20, max_depth=2, random_state=0).fit(X, y)
    >>> content = surefoot.dump_model(model)
    >>> content["distribution"]["parameters"]
    ['mu', 'log_sigma']
    >>> sorted(content["members"][0]["trees"][0][0])
    ['column', 'left', 'missing', 'right', 'threshold']
    """
    exported = ExportedModel.of(model, "dump_model")
    check_labels(exported.schema, exported.names, "dump_model")
    content = {
        "format": FORMAT,
        "version": VERSION,
        "surefoot": exported.version,
        "model": exported.kind,
        "columns": [_column(exported, j) for j in range(len(exported.names))],
        "classes": _labels(exported.classes),
        "distribution": _distribution(exported.family),
        "members": [member_dump(member, exported.schema, exported.names) for member in exported.members],
    }
    if path is not None:
        write_text(path, json.dumps(content, allow_nan=False))
    return content


def _column(exported: ExportedModel, j: int) -> dict[str, Any]:
    name, schema = exported.names[j], exported.schema
    if j in schema.categories:
        return {"name": name, "type": "category", "categories": list(schema.categories[j])}
    return {"name": name, "type": "date" if j in (schema.dates or ()) else "number"}


def _labels(classes: np.ndarray | None) -> list[Any] | None:
    """The labels of a classifier as JSON has them."""
    if classes is None:
        return None
    labels = classes.tolist()
    if not all(map(is_plain, labels)):
        message = f"dump_model cannot write labels such as {labels[0]!r}: make them text or numbers before fit."
        raise ParameterError(message, argument="model")
    return labels


def _distribution(family: RegressionFamily | ClassificationFamily) -> dict[str, Any]:
    """The name of a distribution, its parameters in the order of the raw outputs, and its constants."""
    constants = {key: value for key, value in asdict(family).items() if key != "n_classes"}
    if isinstance(family, Normal) and not family.has_heavy_tails:
        constants["dispersion"] = 0.0
    if isinstance(family, Poisson) and family.dispersion < MIN_DISPERSION:
        constants["dispersion"] = 0.0
    assert all(isfinite(value) for value in constants.values())
    return {"name": family.name, "parameters": list(family.parameters), **constants}
