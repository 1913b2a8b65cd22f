"""The Gamma distribution: logs of mean and shape."""

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from scipy import special, stats

from surefoot._jit import kernel
from surefoot.uncertainty.distribution import LARGEST, Distribution
from surefoot.uncertainty.families.base import (
    RATIO_MAX,
    Z_MAX,
    RegressionFamily,
    centre_and_spread,
    check_positive,
    finest_scale,
    rows_with_weight,
    standardise,
    weighted_sum,
)

FINEST_LOG = 1e-6  # the finest resolution of log y, so that no shape is above 1e12
MIN_LOG_RANGE = 10.0
MAX_EXPONENT = 600.0  # e to this power, times the largest shape, does not overflow
HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)
LARGE = 8.0  # from here on, the errors of the series for large shapes are below 1e-10


@dataclass(frozen=True, kw_only=True)
class Gamma(RegressionFamily):
    """Gamma distribution of a positive target; outputs are the logs of the mean and of the shape.

    The log of the mean is relative to that of the mean of the whole target. The standard deviation is the mean divided
    by the square root of the shape. The internal target is ``log(y) - location``.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.uncertainty.families import Gamma
    >>> y = np.array([1.0, 2.0, 3.0, 6.0])
    >>> family = Gamma.for_target(y)
    >>> start = family.start(family.internal(y))
    >>> family.distribution(start[:, np.newaxis]).mean.round(6)
    array([3.])
    """

    name: ClassVar[str] = "gamma"
    reads_logs: ClassVar[bool] = True
    takes_exposure: ClassVar[bool] = True
    offset_moves_target: ClassVar[bool] = True
    dispersion_sign: ClassVar[float] = -1.0
    parameters: ClassVar[tuple[str, ...]] = ("log_mean", "log_shape")
    floor: float = field(default=-math.log(MIN_LOG_RANGE), repr=False)
    cap: float = field(default=-2 * math.log(FINEST_LOG), repr=False)

    def fitted_to(self, y: np.ndarray, weights: np.ndarray | None = None) -> Self:
        values, fractions = rows_with_weight(np.log(check_positive(y, "y", self.name)), weights)
        centre, spread = centre_and_spread(values, fractions)
        finest = finest_scale(standardise(values, centre, spread)) * spread
        return replace(
            self,
            location=float(special.logsumexp(values, b=fractions)),
            # the standard deviation of log y is about 1 / sqrt(shape) for large shapes, and 1 / shape for small ones
            floor=-math.log(max(float(np.ptp(values)), MIN_LOG_RANGE)),
            cap=-2 * math.log(max(finest, FINEST_LOG)),
        )

    def internal(self, y: np.ndarray, name: str = "y") -> np.ndarray:
        return np.log(check_positive(y, name, self.name)) - self.location

    def start(self, y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        values, fractions = rows_with_weight(y, weights)
        log_mean = float(special.logsumexp(values, b=fractions))
        log_ratios = values - log_mean
        excess = weighted_sum(np.expm1(log_ratios) - log_ratios, fractions)
        return np.array([log_mean, best_log_shape(excess, self.floor, self.cap)])

    def gradients(
        self,
        raw: np.ndarray,
        y: np.ndarray,
        stretch: np.ndarray,
        rows: tuple[int, int],
        steps: np.ndarray,
        scores: np.ndarray,
    ) -> None:
        gamma_steps(raw, y, stretch, self.floor, self.cap, RATIO_MAX, Z_MAX, rows, steps, scores)

    def inverse_information(self, raw: np.ndarray) -> np.ndarray:
        out = np.empty((2, raw.shape[1]))
        gamma_inverse_information(raw, self.floor, self.cap, out)
        return out

    def nll(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        out = np.empty(len(y))
        gamma_nll(raw, y, self.floor, self.cap, out)
        return out

    def nll_offset(self, y: np.ndarray) -> np.ndarray:
        return np.log(y)

    def distribution(self, raw: np.ndarray) -> Distribution:
        log_shape = np.clip(raw[1], self.floor, self.cap)
        with np.errstate(over="ignore", under="ignore"):
            scale = np.clip(np.exp(self.location + raw[0] - log_shape), np.finfo(np.float64).tiny, LARGEST)
        return Distribution(self.name, stats.gamma, a=np.exp(log_shape), scale=scale)

    def mean_slopes(self, raw: np.ndarray) -> np.ndarray:
        mean = self.moments(raw)[0]
        return np.stack([mean, np.zeros_like(mean)])


def best_log_shape(excess: float, floor: float, cap: float) -> float:
    """The log of the shape k with ``log k - digamma(k) = excess``, by Newton's method on 1/k (quadratic and safe)."""
    if excess <= 0:
        return cap
    shape = (3 - excess + math.sqrt((excess - 3) ** 2 + 24 * excess)) / (12 * excess)
    for _ in range(10):
        slope, information = shape_terms(shape)
        shape = shape / (1 - (slope - shape * excess) / information)
    return min(max(math.log(shape), floor), cap)


@kernel
def gamma_steps(raw, y, stretch, floor, cap, ratio_max, z_max, rows, steps, scores):
    """Read outputs, internal targets and stretches of some rows; write natural gradients and their unit-free scores."""
    start, stop = rows
    log_means, log_shapes = raw[0, start:stop], raw[1, start:stop]
    y, stretch = y[start:stop], stretch[start:stop]
    mean_steps, shape_steps = steps[0, start:stop], steps[1, start:stop]
    mean_scores, shape_scores = scores[0, start:stop], scores[1, start:stop]
    max_excess = 0.5 * z_max * z_max
    for i in range(y.shape[0]):
        shape = math.exp(min(max(log_shapes[i], floor), cap))
        log_ratio = min(max(y[i] - log_means[i], -MAX_EXPONENT), MAX_EXPONENT)
        surplus = math.expm1(log_ratio)
        mean_steps[i] = min(surplus, ratio_max)
        mean_scores[i] = min(max(surplus * math.sqrt(shape), -z_max), z_max)
        if stretch[i] != 1.0:
            log_ratio = min(max(stretch[i] * log_ratio, -MAX_EXPONENT), MAX_EXPONENT)
            surplus = math.expm1(log_ratio)
        slope, information = shape_terms(shape)
        slope -= min(shape * (surplus - log_ratio), max_excess)
        if (log_shapes[i] <= floor and slope < 0) or (log_shapes[i] >= cap and slope > 0):
            slope = 0.0
        shape_steps[i] = slope / information
        shape_scores[i] = slope / math.sqrt(information)


@kernel
def gamma_nll(raw, y, floor, cap, out):
    """Read outputs and internal targets; write minus the log of the density."""
    log_means, log_shapes = raw[0], raw[1]
    for i in range(y.shape[0]):
        log_shape = min(max(log_shapes[i], floor), cap)
        shape = math.exp(log_shape)
        log_ratio = min(max(y[i] - log_means[i], -MAX_EXPONENT), MAX_EXPONENT)
        out[i] = shape * (math.expm1(log_ratio) - log_ratio)
        if shape < LARGE:
            out[i] += math.lgamma(shape) - shape * log_shape + shape
        else:  # avoids a difference of large numbers
            square = 1.0 / (shape * shape)
            series = (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0))) / shape
            out[i] += HALF_LOG_TWO_PI - 0.5 * log_shape + series


@kernel
def gamma_inverse_information(raw, floor, cap, out):
    """Read outputs; write the inverse of the information on the logs of mean and shape."""
    for i in range(raw.shape[1]):
        shape = math.exp(min(max(raw[1, i], floor), cap))
        out[0, i] = 1.0 / shape
        out[1, i] = 1.0 / shape_terms(shape)[1]


@kernel
def shape_terms(shape):
    """``k (log k - digamma(k))`` and ``k^2 trigamma(k) - k`` of a shape k; both converge to 1/2 for large k.

    They are computed by series for large arguments; small shapes are increased in steps of 1 by the recurrences.
    """
    x = shape
    steps, squared_steps = 0.0, 0.0
    while x < LARGE:
        inverse = 1.0 / x
        steps += inverse
        squared_steps += inverse * inverse
        x += 1.0
    inverse = 1.0 / x
    square = inverse * inverse
    log_less_digamma = inverse * (
        0.5
        + inverse
        * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square * (1.0 / 240.0 - square / 132.0))))
    )
    trigamma_less_inverse = square * (
        0.5
        + inverse
        * (1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square * (1.0 / 30.0 - square * 5.0 / 66.0))))
    )
    if x == shape:
        return shape * log_less_digamma, shape * shape * trigamma_less_inverse
    log_less_digamma += math.log(shape * inverse) + steps
    trigamma = trigamma_less_inverse + inverse + squared_steps
    return shape * log_less_digamma, shape * (shape * trigamma - 1.0)
