"""Models that ``surefoot.to_onnx`` wrote: the file says which output is what, and which columns it reads."""

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from surefoot._exceptions import DataError, ModelFileError
from surefoot._strict_json import UnreadableJsonError, read_json
from surefoot.report.inputs.column_readers import CATEGORY, DATE, NUMBER, ColumnReader
from surefoot.uncertainty import Uncertainty

UNCERTAINTIES = ("total", "data", "knowledge")
TEXT, FLOAT = "tensor(string)", "tensor(float)"


def read_surefoot_onnx(session: Any, description: str, path: Any) -> "SurefootOnnxModel":
    """The model of an open file, with its description in JSON."""
    try:
        content = read_json(description.encode("utf-8"))
        kind = SurefootOnnxModel if content["classes"] is None else SurefootOnnxClassifier
        return kind(session, content)
    except (UnreadableJsonError, KeyError, TypeError) as error:
        raise ModelFileError(
            f"{path} has a description that is not one of surefoot: export the model again."
        ) from error


def _has(*names: str) -> Any:
    """Whether a file has the outputs ``names``."""

    def check(model: "SurefootOnnxModel") -> bool:
        return all(model.has(name) for name in names)

    return check


class SurefootOnnxModel:
    """A regressor in a file of ``to_onnx``; the base of classifiers.

    Parameters
    ----------
    session : onnxruntime.InferenceSession
        The open file.
    content : dict
        The description in the file.
    """

    _predicted = "prediction"

    def __init__(self, session: Any, content: dict[str, Any]) -> None:
        self._session, self._columns = session, content["columns"]
        self._dates = set(content["dates"])
        self._units = {name: output["unit"] for name, output in content["outputs"].items()}

    def has(self, name: str) -> bool:
        """Whether the file has an output."""
        return self._name(name) in self._units

    def _name(self, name: str) -> str:
        """An output has a longer name if an input has its name."""
        return f"{name}_output" if f"{name}_output" in self._units else name

    def predict(self, X: Any) -> np.ndarray:
        """Predict a number or a label for each row."""
        return self._outputs(X, self._predicted)[0]

    @available_if(_has(*UNCERTAINTIES))
    def predict_uncertainty(self, X: Any) -> Uncertainty:
        """Predict total, data and knowledge uncertainty of each row."""
        total, data, knowledge = self._outputs(X, *UNCERTAINTIES)
        return Uncertainty(total=total, data=data, knowledge=knowledge, unit=self._units[self._name("total")])

    def _outputs(self, X: Any, *names: str) -> list[np.ndarray]:
        missing = [name for name in names if not self.has(name)]
        if missing:
            message = f"model has no output {missing[0]!r}: export it again, with this output."
            raise DataError(message, argument="model")
        return list(self._session.run([self._name(name) for name in names], self._filled(X)))

    def _filled(self, X: Any) -> dict[str, np.ndarray]:
        """The inputs of the graph: one matrix, or a column for each."""
        inputs = self._session.get_inputs()
        names = list(X.columns) if self._columns is None else self._columns
        missing = [name for name in names if name not in X.columns]
        if missing:
            message = f"model was fitted to a column {missing[0]!r}, but X has no column of that name: rename it."
            raise DataError(message, argument="model")
        if len(inputs) > 1 or inputs[0].type == TEXT:
            return {each.name: self._column(X[each.name], each.type)[:, np.newaxis] for each in inputs}
        (matrix,) = inputs
        if matrix.shape[1] != len(names):
            message = f"model was fitted to {matrix.shape[1]} columns, but X has {len(names)}: drop or add columns."
            raise DataError(message, argument="model")
        return {matrix.name: np.column_stack([self._column(X[name], matrix.type) for name in names])}

    def _column(self, series: Any, kind: str) -> np.ndarray:
        if kind == TEXT:
            text = ColumnReader(series.name, CATEGORY).read(series).astype(object)
            return np.asarray(text.where(text.notna(), ""), dtype=object)
        reader = ColumnReader(series.name, DATE if str(series.name) in self._dates else NUMBER)
        return reader.read(series).to_numpy(dtype=np.float32 if kind == FLOAT else np.float64)


class SurefootOnnxClassifier(SurefootOnnxModel):
    """A classifier in a file of ``to_onnx``.

    Attributes
    ----------
    classes_ : array
        The labels, in the order of the probabilities.
    """

    _predicted = "label"

    def __init__(self, session: Any, content: dict[str, Any]) -> None:
        super().__init__(session, content)
        self.classes_ = np.array(content["classes"])

    @available_if(_has("probabilities"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probabilities of the classes."""
        return self._outputs(X, "probabilities")[0].astype(np.float64)
