"""The outputs of an ONNX model: what each is, and how it follows from the raw outputs of the trees."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot.export.exported_model import ExportedModel
from surefoot.export.onnx_distributions import OnnxDistribution, distribution_of
from surefoot.export.onnx_graph import OnnxValue
from surefoot.uncertainty.decomposition import NATS, TARGET_SQUARED
from surefoot.uncertainty.distribution import FLOAT_RANGE
from surefoot.uncertainty.families import Bernoulli, RegressionFamily

TINY = float(np.finfo(np.float64).tiny)
UNCERTAINTY = {
    "total": "total uncertainty: the sum of data and knowledge uncertainty",
    "data": "data uncertainty: the noise of the target",
    "knowledge": "knowledge uncertainty: the disagreement of the members",
}
TARGET = "target"


@dataclass(frozen=True)
class OnnxOutput:
    """One output: its value, when it is asked for, and what a reader should know about it."""

    value: Callable[[], OnnxValue]
    description: str
    unit: str | None = None
    dtype: Any = None  # None: that of the inputs
    sizes: tuple[int, ...] = ()


def outputs_of(exported: ExportedModel, raw: list[OnnxValue], quantiles: Sequence[float]) -> dict[str, OnnxOutput]:
    """All outputs that a model can have, by name; ``raw`` has each raw output (rows, members), within its bounds."""
    if isinstance(exported.family, RegressionFamily):
        return _regression(exported, raw, quantiles)
    if len(quantiles):
        message = "quantiles are of a predicted distribution: a classifier has none, leave them out."
        raise ParameterError(message, argument="quantiles")
    return _classification(exported, raw)


def default_outputs(exported: ExportedModel) -> tuple[str, ...]:
    """What a file gives unless its writer chooses."""
    first = ("prediction", "std") if exported.classes is None else ("label", "probabilities")
    return (*first, *UNCERTAINTY) if exported.is_ensemble else first


def raw_outputs(exported: ExportedModel, sums: list[OnnxValue]) -> list[OnnxValue]:
    """The raw outputs (rows, members): sums of trees, the last output of each member within its bounds."""
    bounds = [member.trees.bounds[member.trees.forest.n_trees - 1] for member in exported.members]
    low, high = np.array(bounds)[:, np.newaxis].T
    return [*sums[:-1], sums[-1].clip(low, high)]


def _regression(exported: ExportedModel, raw: list[OnnxValue], quantiles: Sequence[float]) -> dict[str, OnnxOutput]:
    assert isinstance(exported.family, RegressionFamily)
    distribution = distribution_of(exported.family, raw)
    mean = distribution.mean.mean(1).clip(*FLOAT_RANGE)
    outputs = {
        "prediction": OnnxOutput(lambda: mean, "mean of the predicted distribution", TARGET),
        "std": OnnxOutput(
            lambda: distribution.std.squeeze(1) if len(exported.members) == 1 else _mixture_std(distribution, mean),
            "standard deviation of the predicted distribution",
            TARGET,
        ),
    }
    if exported.is_ensemble:
        _refuse_quantiles(quantiles, "that of an ensemble is a mixture, whose quantiles have no closed form")
        data, knowledge = _data_variance(distribution), _variance_of_means(distribution)
        return outputs | _uncertainties(data, knowledge, TARGET_SQUARED)
    return outputs | _parameters(distribution) | _quantiles(distribution, exported.family.name, quantiles)


def _parameters(distribution: OnnxDistribution) -> dict[str, OnnxOutput]:
    """The parameters of the distribution in scipy, one number for each row."""

    def value_of(parameter: OnnxValue | float) -> Callable[[], OnnxValue]:
        if isinstance(parameter, OnnxValue):
            return lambda: parameter.squeeze(1)
        return lambda: (distribution.mean * 0.0 + parameter).squeeze(1)

    return {
        name: OnnxOutput(value_of(parameter), f"parameter {name!r} of the predicted distribution in scipy.stats")
        for name, parameter in distribution.parameters.items()
    }


def _quantiles(distribution: OnnxDistribution, family: str, levels: Sequence[float]) -> dict[str, OnnxOutput]:
    quantile = distribution.quantile
    if quantile is None:
        _refuse_quantiles(levels, f"those of distribution={family!r} have no closed form")
        return {}

    def value_at(level: float) -> Callable[[], OnnxValue]:
        return lambda: quantile(level).squeeze(1)

    return {
        quantile_name(level): OnnxOutput(
            value_at(level), f"the value that is not exceeded with probability {level:g}", TARGET
        )
        for level in levels
    }


def quantile_name(level: float) -> str:
    """The name of the output with a quantile."""
    return f"quantile_{level!r}"


def _refuse_quantiles(levels: Sequence[float], reason: str) -> None:
    if len(levels):
        message = f"quantiles cannot be exported: {reason}. Leave them out, or use predict_distribution in Python."
        raise ParameterError(message, argument="quantiles")


def _uncertainties(data: OnnxValue, knowledge: OnnxValue, unit: str) -> dict[str, OnnxOutput]:
    values = {"total": lambda: data + knowledge, "data": lambda: data, "knowledge": lambda: knowledge}
    return {name: OnnxOutput(values[name], text, unit) for name, text in UNCERTAINTY.items()}


def _data_variance(distribution: OnnxDistribution) -> OnnxValue:
    return distribution.variance.mean(1)


def _variance_of_means(distribution: OnnxDistribution) -> OnnxValue:
    """Relative to the first member, so that equal members give exactly 0; infinite where squares overflow."""
    means = distribution.mean - distribution.mean.take([0])
    centred = means - means.mean(1).expand(1)
    variance = (centred * centred).mean(1)
    is_number = variance.graph.node("Not", variance.graph.node("IsNaN", variance))
    return variance.where(is_number, np.inf)


def _mixture_std(distribution: OnnxDistribution, mean: OnnxValue) -> OnnxValue:
    """From squares relative to the largest part, which do not overflow."""
    distances = (distribution.mean - mean.expand(1)).clip(*FLOAT_RANGE)
    parts = mean.graph.concatenated([distances, distribution.std])
    size = parts.abs().max(1).clip(TINY, np.inf)
    relative = parts / size.expand(1)
    return (size * (2.0 * (relative * relative).mean(1)).sqrt()).clip(*FLOAT_RANGE)


def _classification(exported: ExportedModel, raw: list[OnnxValue]) -> dict[str, OnnxOutput]:
    assert exported.classes is not None
    members = _probabilities(exported, raw)
    mean = members.mean(1)
    labels = _plain_labels(exported.classes)
    best = mean.graph.node("ArgMax", mean, axis=1, keepdims=0)
    outputs = {
        "label": OnnxOutput(
            lambda: mean.graph.node("Gather", labels, best, axis=0), "most probable class", dtype=labels.dtype
        ),
        "probabilities": OnnxOutput(lambda: mean, "probability of each class, in their order", sizes=(len(labels),)),
    }
    if not exported.is_ensemble:
        return outputs
    members = members.where(members.above(TINY), 0.0)
    data = _entropy(members).mean(1)
    return outputs | _uncertainties(data, _mean_divergence(members), NATS)


def _plain_labels(classes: np.ndarray) -> np.ndarray:
    """The labels in a type that ONNX has: text, 64-bit whole numbers, truth values or floats."""
    plain = np.array(classes.tolist())
    kinds = {"U": object, "b": np.bool_, "i": np.int64, "f": np.float64}
    if plain.dtype.kind not in kinds:
        message = f"to_onnx cannot write labels such as {classes[0]!r}: make them text or whole numbers before fit."
        raise ParameterError(message, argument="model")
    return plain.astype(kinds[plain.dtype.kind])


def _probabilities(exported: ExportedModel, raw: list[OnnxValue]) -> OnnxValue:
    """The probabilities (rows, members, classes) of each member."""
    graph = raw[0].graph
    if isinstance(exported.family, Bernoulli):
        both = [1.0 / (1.0 + raw[0].exp()), 1.0 / (1.0 + (-raw[0]).exp())]
        return graph.concatenated([each.expand(2) for each in both], axis=2)
    return graph.node("Softmax", graph.concatenated([each.expand(2) for each in raw], axis=2), axis=2)


def _entropy(probabilities: OnnxValue) -> OnnxValue:
    """The entropy (rows, members) of probabilities."""
    return (-probabilities * probabilities.clip(TINY, np.inf).log()).sum(2)


def _mean_divergence(probabilities: OnnxValue) -> OnnxValue:
    """Mean divergence of the members from their mean, without subtracting close numbers: as in ``decomposition``."""
    mean = probabilities.mean(1).expand(1)
    d = (probabilities - mean) / mean.clip(TINY, np.inf)
    is_certain = probabilities.graph.node("Equal", probabilities, 0.0)  # 1 + d is 0, and 0 * log(0) is 0
    logs = probabilities.graph.node("Where", is_certain, 0.0, d).log1p()
    divergence = mean * ((1.0 + d) * logs - d)
    return divergence.sum(2).mean(1).clip(0.0, np.inf)
