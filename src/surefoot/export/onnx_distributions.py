"""The distributions of regressors in a graph of ONNX: moments, parameters and quantiles from raw outputs of trees."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from scipy import stats

from surefoot.export.onnx_graph import OnnxValue
from surefoot.uncertainty.distribution import FLOAT_RANGE, LARGEST
from surefoot.uncertainty.families import Gamma, Laplace, LogNormal, Normal, Poisson, RegressionFamily, StudentT
from surefoot.uncertainty.families.base import LocationScaleFamily
from surefoot.uncertainty.families.poisson import MIN_DISPERSION

SMALLEST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class OnnxDistribution:
    """Values (rows, members) of predicted distributions.

    ``parameters`` are those of the distribution of scipy that ``predict_distribution`` uses; those that are the same
    for all rows are numbers. ``quantile`` is None where quantiles have no closed form.
    """

    mean: OnnxValue
    std: OnnxValue
    variance: OnnxValue
    parameters: dict[str, OnnxValue | float]
    quantile: Callable[[float], OnnxValue] | None = None


def distribution_of(family: RegressionFamily, outputs: list[OnnxValue]) -> OnnxDistribution:
    """The distribution of a family from its raw outputs, each (rows, members)."""
    if isinstance(family, Poisson):
        return _counts(family, outputs[0])
    if isinstance(family, Gamma):
        return _gamma(family, *outputs)
    assert isinstance(family, LocationScaleFamily)
    location, scale = _location_and_scale(family, *outputs)
    if isinstance(family, LogNormal):
        return _lognormal(location, scale)
    if isinstance(family, Normal) and family.has_heavy_tails:
        freedom = 1.0 / family.dispersion
        return _around(location, sqrt(1.0 - 2.0 * family.dispersion) * scale, stats.t(freedom), df=freedom)
    if isinstance(family, StudentT):
        return _around(location, scale, stats.t(family.df), df=family.df)
    return _around(location, scale, stats.laplace() if isinstance(family, Laplace) else stats.norm())


def _location_and_scale(
    family: LocationScaleFamily, location: OnnxValue, log_scale: OnnxValue
) -> tuple[OnnxValue, OnnxValue]:
    """In the target's units, or in those of its log."""
    shifted = family.location + (family.spread * location).clip(*FLOAT_RANGE)
    scale = family.spread * log_scale.clip(family.floor, family.cap).exp()
    return shifted.clip(*FLOAT_RANGE), scale.clip(*FLOAT_RANGE)


def _around(location: OnnxValue, scale: OnnxValue, unit: Any, **shape: float) -> OnnxDistribution:
    """A symmetric distribution; ``unit`` is the one with location 0 and scale 1."""
    std = (float(unit.std()) * scale).clip(*FLOAT_RANGE)
    return OnnxDistribution(
        mean=location,
        std=std,
        variance=(std * std).clip(*FLOAT_RANGE),
        parameters={**shape, "loc": location, "scale": scale},
        quantile=lambda level: (location + float(unit.ppf(level)) * scale).clip(*FLOAT_RANGE),
    )


def _lognormal(location: OnnxValue, scale: OnnxValue) -> OnnxDistribution:
    median = location.exp().clip(SMALLEST, LARGEST)
    square = scale * scale
    growth = square.exp()
    std = (median * (growth * (growth - 1.0)).sqrt()).clip(*FLOAT_RANGE)
    return OnnxDistribution(
        mean=(median * growth.sqrt()).clip(*FLOAT_RANGE),
        std=std,
        variance=(std * std).clip(*FLOAT_RANGE),
        parameters={"s": scale, "scale": median},
        quantile=lambda level: (median * (float(stats.norm.ppf(level)) * scale).exp()).clip(*FLOAT_RANGE),
    )


def _counts(family: Poisson, log_mean: OnnxValue) -> OnnxDistribution:
    mean = (family.log_mean + log_mean.clip(family.floor, family.cap)).exp()
    variance = mean + family.dispersion * mean * mean
    if family.dispersion < MIN_DISPERSION:
        return OnnxDistribution(mean=mean, std=mean.sqrt(), variance=variance, parameters={"mu": mean})
    n = 1.0 / family.dispersion
    return OnnxDistribution(mean=mean, std=variance.sqrt(), variance=variance, parameters={"n": n, "p": n / (n + mean)})


def _gamma(family: Gamma, log_mean: OnnxValue, log_shape: OnnxValue) -> OnnxDistribution:
    log_shape = log_shape.clip(family.floor, family.cap)
    shape = log_shape.exp()
    scale = (family.location + log_mean - log_shape).exp().clip(SMALLEST, LARGEST)
    std = (shape.sqrt() * scale).clip(*FLOAT_RANGE)
    return OnnxDistribution(
        mean=(shape * scale).clip(*FLOAT_RANGE),
        std=std,
        variance=(std * std).clip(*FLOAT_RANGE),
        parameters={"a": shape, "scale": scale},
    )
