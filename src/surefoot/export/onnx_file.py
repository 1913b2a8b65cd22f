"""``to_onnx``: a gradient booster as a model of ONNX."""

import json
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from surefoot._atomic_io import whole_file
from surefoot._exceptions import ParameterError
from surefoot._extras import needs
from surefoot._numbers import naming
from surefoot._parameters import check_choice, check_number
from surefoot.export.category_values import check_labels
from surefoot.export.exported_model import ExportedModel
from surefoot.export.onnx_graph import OnnxGraph
from surefoot.export.onnx_inputs import OnnxInputs, input_names
from surefoot.export.onnx_outputs import OnnxOutput, default_outputs, outputs_of, quantile_name, raw_outputs
from surefoot.export.onnx_trees import tree_sums

EXTRA = "onnx"
METADATA = "surefoot"  # the key of the description in metadata_props
MAX_BYTES = 2**31 - 1  # of a file, because ONNX files are messages of protobuf
DTYPES = {"float64": np.float64, "float32": np.float32}


@needs("onnx", extra=EXTRA)
def to_onnx(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    outputs: str | Iterable[str] | None = None,
    quantiles: float | Iterable[float] = (),
    dtype: str = "float64",
) -> Any:
    """Write a fitted gradient booster as an ONNX model, which predicts without Python.

    A table of numbers is one input, ``X``, with missing values as NaN. A table with categories of text has one input of
    shape (rows, 1) for each column, by its name; text is a string, with "" for a missing value.

    Needs the extra ``onnx``. The file is for runtimes with version 5 of ``ai.onnx.ml``, such as onnxruntime from 1.21
    on.

    Parameters
    ----------
    model : fitted model
        A GradientBoostingRegressor, GradientBoostingClassifier, BoostingEnsembleRegressor or
        BoostingEnsembleClassifier.
    path : str or path, default=None
        The file to write, completely or not at all. None: no file is written.
    outputs : str or list of str, default=None
        Names of the outputs, in their order. Regressors: ``"prediction"`` (the mean), ``"std"``, and, for a single
        model, each parameter of the distribution by its name in ``predict_distribution(X).parameters``. Classifiers:
        ``"label"`` and ``"probabilities"``. Ensembles also: ``"total"``, ``"data"`` and ``"knowledge"``. None:
        prediction and std, or label and probabilities, and the three uncertainties of an ensemble.
    quantiles : float or list of float, default=()
        Levels of quantiles of the predicted distribution, which are further outputs: ``quantile_0.05`` for 0.05. For
        single models with a normal, log-normal, Laplace or Student t distribution.
    dtype : {"float64", "float32"}, default="float64"
        Type of numbers in inputs and outputs. Trees and distributions are computed in float64 in either case: with
        ``"float32"``, predictions are those for the rows rounded to float32.

    Returns
    -------
    onnx.ModelProto
        The model; its ``SerializeToString()`` is what the file contains.

    Raises
    ------
    ParameterError
        The model, or a part of it, cannot be exported; the message says what to do.

    See Also
    --------
    dump_model : the trees as JSON.
    save : a file from which surefoot can load the model again.

    Examples
    --------
    >>> import onnxruntime
    >>> import surefoot
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = surefoot.GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> file = surefoot.to_onnx(model, quantiles=[0.05, 0.95])
    >>> session = onnxruntime.InferenceSession(file.SerializeToString())
    >>> [output.name for output in session.get_outputs()]
    ['prediction', 'std', 'quantile_0.05', 'quantile_0.95']
    >>> prediction, *_ = session.run(None, {"X": X})
    >>> bool(abs(prediction - model.predict(X)).max() < 1e-9)
    True
    """
    exported = ExportedModel.of(model, "to_onnx")
    check_choice("dtype", dtype, tuple(DTYPES))
    check_labels(exported.schema, exported.names, "to_onnx")
    with naming("quantiles"):
        given = list(quantiles) if np.iterable(quantiles) else [quantiles]
    levels = [check_number("quantiles", level, 0, 1, include_boundaries="neither") for level in given]
    chosen = [outputs] if isinstance(outputs, str) else outputs
    with naming("outputs"):
        names = [*(default_outputs(exported) if chosen is None else chosen), *map(quantile_name, levels)]
        hash(tuple(names))
    proto = _model(exported, names, levels, DTYPES[dtype])
    if path is not None:
        with whole_file(path) as stream:
            stream.write(proto.SerializeToString())
    return proto


def _model(exported: ExportedModel, names: list[str], levels: list[float], dtype: type) -> Any:
    """The graph with the outputs ``names``, and its description."""
    inputs = input_names(exported)
    graph = OnnxGraph({*inputs, *(_name_in_file(name, inputs) for name in names)})
    matrix, places = OnnxInputs(graph, exported, dtype).matrix()
    raw = raw_outputs(exported, tree_sums(graph, matrix, exported.members, places))
    known = outputs_of(exported, raw, levels)
    _check_names(names, known)
    for name in names:
        output = known[name]
        value = output.value()
        if output.dtype is None and dtype is not np.float64:
            value = value.cast(dtype)
        graph.output(_name_in_file(name, inputs), value, output.dtype or dtype, *output.sizes)
    proto = graph.model(exported.kind, producer_name="surefoot", producer_version=exported.version)
    written = {_name_in_file(name, inputs): known[name] for name in names}
    proto.metadata_props.add(key=METADATA, value=json.dumps(_description(exported, written), allow_nan=False))
    if proto.ByteSize() > MAX_BYTES:
        n_trees = sum(member.trees.forest.n_trees for member in exported.members)
        message = (
            f"the model has {n_trees:,} trees, too many for a file of ONNX (2 GiB): use fewer, or less deep, trees."
        )
        raise ParameterError(message, argument="model")
    return proto


def _check_names(names: list[str], known: dict[str, OnnxOutput]) -> None:
    unknown = [name for name in names if name not in known]
    if unknown or not names or len(set(names)) < len(names):
        problem = f"{unknown[0]!r} is not one" if unknown else "pass at least one, and each only once"
        message = f"outputs of this model are {', '.join(known)}: {problem}."
        raise ParameterError(message, argument="outputs")


def _name_in_file(name: str, inputs: tuple[str, ...]) -> str:
    """The name of an output; a column may have that name too, and a graph has each name only once."""
    return f"{name}_output" if name in inputs else name


def _description(exported: ExportedModel, outputs: dict[str, OnnxOutput]) -> dict[str, Any]:
    """What a reader of the file should know, as JSON."""
    dates = exported.schema.dates or ()
    return {
        "version": exported.version,
        "model": exported.kind,
        "columns": list(exported.names) if exported.has_names else None,
        "dates": [exported.names[j] for j in sorted(dates)],
        "distribution": exported.family.name,
        "classes": None if exported.classes is None else exported.classes.tolist(),
        "outputs": {name: {"description": output.description, "unit": output.unit} for name, output in outputs.items()},
    }
