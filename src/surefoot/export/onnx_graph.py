"""A graph of ONNX that is built by arithmetic."""

from typing import Any

import numpy as np

OPSET, ML_OPSET, IR_VERSION = 18, 5, 10  # the first with reductions over given axes; the first with TreeEnsemble
ML_DOMAIN = "ai.onnx.ml"
MAX_SHARED = 10  # equal constants with fewer entries are stored once
TENSORS = ("_tensor", "nodes_splits", "nodes_modes", "leaf_weights", "membership_values")  # attributes that are tensors


class OnnxGraph:
    """Inputs, constants and nodes; names that users see are never those of values in between.

    Parameters
    ----------
    visible : collection of str
        The names of inputs and outputs.
    """

    def __init__(self, visible: Any) -> None:
        from onnx import helper, numpy_helper

        self._helper, self._numpy_helper = helper, numpy_helper
        self._visible = set(visible)
        self._n_values = 0
        self._constants: dict[str, str] = {}
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.initializers: list[Any] = []
        self.nodes: list[Any] = []

    def _new_name(self) -> str:
        while True:
            self._n_values += 1
            name = f"value_{self._n_values}"
            if name not in self._visible:
                return name

    def input(self, name: str, dtype: Any, n_columns: int) -> "OnnxValue":
        """An input of shape (rows, n_columns)."""
        self.inputs.append(self._helper.make_tensor_value_info(name, _element_type(dtype), ["rows", n_columns]))
        return OnnxValue(self, name)

    def output(self, name: str, value: "OnnxValue", dtype: Any, *sizes: int) -> None:
        """An output of shape (rows, *sizes)."""
        self.nodes.append(self._helper.make_node("Identity", [value.name], [name]))
        self.outputs.append(self._helper.make_tensor_value_info(name, _element_type(dtype), ["rows", *sizes]))

    def constant(self, array: Any) -> "OnnxValue":
        """An array that is stored in the graph; equal small arrays are stored once."""
        array = np.asarray(array)
        key = f"{array.dtype.str} {array.tolist()!r}" if array.size < MAX_SHARED else self._new_name()
        if key not in self._constants:
            self._constants[key] = self._new_name()
            self.initializers.append(self.tensor(array, self._constants[key]))
        return OnnxValue(self, self._constants[key])

    def tensor(self, array: np.ndarray, name: str = "") -> Any:
        """An array as ONNX stores it."""
        return self._numpy_helper.from_array(array.astype(object) if array.dtype.kind == "U" else array, name)

    def node(self, op: str, *inputs: "OnnxValue | Any", **attributes: Any) -> "OnnxValue":
        """The first output of an operator."""
        names = [each.name if isinstance(each, OnnxValue) else self.constant(each).name for each in inputs]
        name = self._new_name()
        self.nodes.append(self._helper.make_node(op, names, [name], **attributes))
        return OnnxValue(self, name)

    def ml_node(self, op: str, value: "OnnxValue", **attributes: Any) -> "OnnxValue":
        """As ``node``, for an operator of machine learning; arrays of the attributes become tensors."""
        stored = {
            key: self.tensor(each) if isinstance(each, np.ndarray) and key.endswith(TENSORS) else each
            for key, each in attributes.items()
        }
        return self.node(op, value, domain=ML_DOMAIN, **stored)

    def concatenated(self, values: "list[OnnxValue]", axis: int = 1) -> "OnnxValue":
        """Values beside each other."""
        return values[0] if len(values) == 1 else self.node("Concat", *values, axis=axis)

    def model(self, name: str, **properties: Any) -> Any:
        """The finished model, without values that no output needs; ``properties`` are those of the file."""
        needed, nodes = {output.name for output in self.outputs}, []
        for node in reversed(self.nodes):
            if needed.intersection(node.output):
                needed.update(node.input)
                nodes.append(node)
        stored = [tensor for tensor in self.initializers if tensor.name in needed]
        graph = self._helper.make_graph(nodes[::-1], name, self.inputs, self.outputs, stored)
        opsets = [self._helper.make_opsetid("", OPSET), self._helper.make_opsetid(ML_DOMAIN, ML_OPSET)]
        return self._helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, **properties)


def _element_type(dtype: Any) -> int:
    """The number by which ONNX calls a dtype."""
    from onnx import TensorProto, helper

    kind = np.dtype(dtype)
    return int(TensorProto.STRING if kind.kind in "OU" else helper.np_dtype_to_tensor_dtype(kind))


class OnnxValue:
    """A value of a graph; arithmetic with it adds operators. Numbers and arrays become constants of type float64."""

    def __init__(self, graph: OnnxGraph, name: str) -> None:
        self.graph, self.name = graph, name

    def _with(self, op: str, other: Any, is_left: bool = True) -> "OnnxValue":
        other = other if isinstance(other, OnnxValue) else np.asarray(other, dtype=np.float64)
        return self.graph.node(op, self, other) if is_left else self.graph.node(op, other, self)

    def __add__(self, other: Any) -> "OnnxValue":
        return self._with("Add", other)

    def __radd__(self, other: Any) -> "OnnxValue":
        return self._with("Add", other)

    def __sub__(self, other: Any) -> "OnnxValue":
        return self._with("Sub", other)

    def __rsub__(self, other: Any) -> "OnnxValue":
        return self._with("Sub", other, is_left=False)

    def __mul__(self, other: Any) -> "OnnxValue":
        return self._with("Mul", other)

    def __rmul__(self, other: Any) -> "OnnxValue":
        return self._with("Mul", other)

    def __truediv__(self, other: Any) -> "OnnxValue":
        return self._with("Div", other)

    def __rtruediv__(self, other: Any) -> "OnnxValue":
        return self._with("Div", other, is_left=False)

    def __neg__(self) -> "OnnxValue":
        return self.graph.node("Neg", self)

    def exp(self) -> "OnnxValue":
        return self.graph.node("Exp", self)

    def log(self) -> "OnnxValue":
        return self.graph.node("Log", self)

    def sqrt(self) -> "OnnxValue":
        return self.graph.node("Sqrt", self)

    def clip(self, low: Any, high: Any) -> "OnnxValue":
        """The value between bounds, which may be infinite or have an entry for each column."""
        value = self
        if np.isfinite(low).any():
            value = value._with("Max", low)
        return value._with("Min", high) if np.isfinite(high).any() else value

    def where(self, condition: "OnnxValue", other: Any) -> "OnnxValue":
        """The value where a condition is true, elsewhere ``other``."""
        return self.graph.node("Where", condition, self, other)

    def above(self, other: float) -> "OnnxValue":
        return self._with("Greater", other)

    def mean(self, axis: int) -> "OnnxValue":
        return self.graph.node("ReduceMean", self, np.array([axis]), keepdims=0)

    def sum(self, axis: int) -> "OnnxValue":
        return self.graph.node("ReduceSum", self, np.array([axis]), keepdims=0)

    def max(self, axis: int) -> "OnnxValue":
        return self.graph.node("ReduceMax", self, np.array([axis]), keepdims=0)

    def abs(self) -> "OnnxValue":
        return self.graph.node("Abs", self)

    def take(self, places: Any, axis: int = 1) -> "OnnxValue":
        """The columns at some places."""
        return self.graph.node("Gather", self, np.asarray(places, dtype=np.int64), axis=axis)

    def expand(self, axis: int) -> "OnnxValue":
        """The value with one more axis, of length 1."""
        return self.graph.node("Unsqueeze", self, np.array([axis]))

    def squeeze(self, axis: int) -> "OnnxValue":
        return self.graph.node("Squeeze", self, np.array([axis]))

    def cast(self, dtype: Any) -> "OnnxValue":
        return self.graph.node("Cast", self, to=_element_type(dtype))

    def log1p(self) -> "OnnxValue":
        """``log(1 + x)``, exact to the last digits: the error of rounding ``1 + x`` is divided out."""
        rounded = 1.0 + self
        step = rounded - 1.0
        is_zero = self.graph.node("Equal", step, 0.0)
        safe = self.graph.node("Where", is_zero, 1.0, step)
        return self.where(is_zero, rounded.log() * (self / safe))
