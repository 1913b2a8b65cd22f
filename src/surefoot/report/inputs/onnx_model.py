"""Models in ONNX files, as an audit needs them: with ``predict`` and, for classifiers, ``predict_proba``."""

from pathlib import Path
from typing import Any

import numpy as np

from surefoot._exceptions import DataError, ModelFileError
from surefoot._extras import require
from surefoot.export.onnx_file import EXTRA, METADATA
from surefoot.report.inputs.surefoot_onnx import read_surefoot_onnx

TYPES: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": object,
}


def read_onnx(path: str | Path) -> Any:
    """A fitted model in an ONNX file; nothing in the file is run but its graph."""
    require("onnxruntime", "A model in an ONNX file", EXTRA)
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a class of errors for each cause
        reason = " ".join(str(error).split())[:200]
        raise ModelFileError(f"{path} cannot be read as an ONNX model: {reason}") from error
    description = session.get_modelmeta().custom_metadata_map.get(METADATA)
    if description is not None:
        return read_surefoot_onnx(session, description, path)
    kind = OnnxModel if len(session.get_outputs()) == 1 else OnnxClassifier
    return kind(session)


class OnnxModel:
    """A fitted model in an ONNX file.

    Its input is one matrix with all columns in their order, or one column for each input, by name. The first output
    has the predictions.
    """

    def __init__(self, session: Any) -> None:
        self._session = session

    def predict(self, X: Any) -> np.ndarray:
        """Predict a number or a label for each row."""
        return np.asarray(self._outputs(X)[0]).reshape(len(X))

    def _outputs(self, X: Any) -> list[Any]:
        return list(self._session.run(None, self._filled(X)))

    def _filled(self, X: Any) -> dict[str, np.ndarray]:
        """The inputs of the graph."""
        inputs = self._session.get_inputs()
        if len(inputs) == 1 and inputs[0].name not in X.columns:
            return {inputs[0].name: _as_type(X, inputs[0].type, "the columns")}
        missing = [each.name for each in inputs if each.name not in X.columns]
        if missing:
            message = f"model has an input {missing[0]!r}, but X has no column of that name: rename the column."
            raise DataError(message, argument="model")
        return {each.name: _as_type(X[[each.name]], each.type, f"column {each.name!r}") for each in inputs}


class OnnxClassifier(OnnxModel):
    """A classifier in an ONNX file; the second output has the probabilities.

    Attributes
    ----------
    classes_ : array
        The labels, after the first prediction. A graph without names of its probabilities has them in the order of the
        sorted labels; this is checked.
    """

    classes_: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """Predict a label for each row."""
        labels, probabilities = self._outputs(X)[:2]
        if isinstance(probabilities, list) and probabilities:
            self.classes_ = np.array(list(probabilities[0]))
        return np.asarray(labels).reshape(len(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probabilities of the classes."""
        labels, probabilities = self._outputs(X)[:2]
        if isinstance(probabilities, list):
            return np.array([list(row.values()) for row in probabilities], dtype=np.float64)
        table = np.asarray(probabilities, dtype=np.float64)
        _check_order(np.asarray(labels).reshape(len(table)), table)
        return table


def _as_type(columns: Any, name: str, what: str) -> np.ndarray:
    """Columns as a matrix of one type."""
    if name not in TYPES:
        raise DataError(f"model takes {name} for {what}: the audit fills numbers, booleans and text.", argument="model")
    try:
        values = columns.astype(str) if TYPES[name] is object else columns
        return np.ascontiguousarray(values.to_numpy(dtype=TYPES[name]))
    except (TypeError, ValueError) as error:
        message = f"model takes numbers for {what}, but X has other values there ({error}): encode them."
        raise DataError(message, argument="model") from error


def _check_order(labels: np.ndarray, probabilities: np.ndarray) -> None:
    """Refuse probabilities that are not in the order of the sorted labels."""
    likeliest = probabilities.argmax(axis=1)
    is_clear = probabilities.max(axis=1) > np.partition(probabilities, -2, axis=1)[:, -2]
    pairs = sorted(set(zip(labels[is_clear].tolist(), likeliest[is_clear].tolist(), strict=True)))
    columns = [column for _, column in pairs]
    if len({label for label, _ in pairs}) < len(pairs) or columns != sorted(set(columns)):
        message = "model has probabilities in an order that is not that of the sorted labels: export it with names."
        raise DataError(message, argument="model")
