"""The Poisson distribution: log of the mean."""

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from scipy import stats

from surefoot._exceptions import DataError
from surefoot._jit import inner_kernel, kernel
from surefoot.uncertainty.distribution import Distribution
from surefoot.uncertainty.families.base import RATIO_MAX, Z_MAX, RegressionFamily, rows_with_weight, weighted_sum

MAX_COUNT = 2.0**53  # beyond it, floats cannot represent every whole number
HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)
MIN_DISPERSION = 1e-6  # below, it is 0
LARGE = 16.0  # from here on, Stirling's series is exact to the last digit


@dataclass(frozen=True, kw_only=True)
class Poisson(RegressionFamily):
    """Poisson distribution of counts; the output is the log of the mean, relative to that of the mean of the target.

    Where the mean is below ``1 / RATIO_MAX``, the Fisher information is that of this bound, because rare counts would
    lead to steps of any size. Steps are then shorter than natural gradients, but still 0 on average under the model.

    The predicted mean of a row has an error, and counts may vary more than a Poisson distribution does. Held-out rows
    show both: with a ``dispersion``, a fitted model predicts negative binomial distributions. These are Poisson
    distributions with means from a Gamma distribution, and ``dispersion`` is its squared coefficient of variation.

    Attributes
    ----------
    log_mean : float
        Log of the mean of the whole target, for which the output is 0.
    dispersion : float
        The variance is ``mean + dispersion * mean**2``. Trees are grown as if it were 0.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.uncertainty.families import Poisson
    >>> y = np.array([0.0, 1.0, 1.0, 6.0])
    >>> family = Poisson.for_target(y)
    >>> family.distribution(family.start(y)[:, np.newaxis]).mean
    array([2.])
    """

    name: ClassVar[str] = "poisson"
    parameters: ClassVar[tuple[str, ...]] = ("log_mean",)
    is_discrete: ClassVar[bool] = True
    takes_exposure: ClassVar[bool] = True
    log_mean: float = field(default=0.0, repr=False)
    dispersion: float = field(default=0.0, repr=False)
    floor: float = field(default=-math.log(MAX_COUNT), repr=False)
    cap: float = field(default=math.log(MAX_COUNT), repr=False)

    def fitted_to(self, y: np.ndarray, weights: np.ndarray | None = None) -> Self:
        return self._with_log_mean(bounded_log_mean(self.internal(y), weights))

    def fitted_with_offset(self, y: np.ndarray, weights: np.ndarray | None, offset: np.ndarray) -> Self:
        return self._with_log_mean(log_rate(self.internal(y), weights, offset))

    def _with_log_mean(self, log_mean: float) -> Self:
        limit = math.log(MAX_COUNT)
        return replace(self, log_mean=log_mean, floor=-limit - log_mean, cap=limit - log_mean)

    def internal(self, y: np.ndarray, name: str = "y") -> np.ndarray:
        return check_counts(y, name, self.name)

    def start(self, y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        return np.array([bounded_log_mean(y, weights) - self.log_mean])

    def start_with_offset(self, y: np.ndarray, weights: np.ndarray | None, offset: np.ndarray) -> np.ndarray:
        return np.array([log_rate(y, weights, offset[0]) - self.log_mean])

    def gradients(
        self,
        raw: np.ndarray,
        y: np.ndarray,
        stretch: np.ndarray,
        rows: tuple[int, int],
        steps: np.ndarray,
        scores: np.ndarray,
    ) -> None:
        """As in every family; ``stretch`` is not used, because there is no scale."""
        poisson_steps(raw, y, self.log_mean, self.floor, self.cap, RATIO_MAX, Z_MAX, rows, steps, scores)

    def exposed_gradients(
        self,
        raw: np.ndarray,
        y: np.ndarray,
        stretch: np.ndarray,
        exposures: np.ndarray,
        rows: tuple[int, int],
        steps: np.ndarray,
        scores: np.ndarray,
    ) -> None:
        """Steps and scores, divided by exposures, are those of rates: their weights are multiplied by exposures."""
        bounds = (self.log_mean, self.floor, self.cap)
        exposed_poisson_steps(raw, y, exposures, bounds, RATIO_MAX, Z_MAX, rows, steps, scores)

    def inverse_information(self, raw: np.ndarray) -> np.ndarray:
        return 1 / np.maximum(self._mean(raw), 1 / RATIO_MAX)[np.newaxis]

    def nll(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        out = np.empty(len(y))
        poisson_nll(raw, y, self.log_mean, self.floor, self.cap, out)
        return out

    def nll_offset(self, y: np.ndarray) -> np.ndarray:
        return np.zeros(len(y))

    def distribution(self, raw: np.ndarray) -> Distribution:
        mean = self._mean(raw)
        if self.dispersion < MIN_DISPERSION:
            return Distribution(self.name, stats.poisson, mu=mean)
        n = 1.0 / self.dispersion
        return Distribution(self.name, stats.nbinom, n=n, p=n / (n + mean))

    def log_density(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self.distribution(raw).logpdf(y) if self.dispersion > 0 else super().log_density(raw, y)

    def moments(self, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean = self._mean(raw)
        return mean, mean + self.dispersion * mean * mean

    def mean_slopes(self, raw: np.ndarray) -> np.ndarray:
        return self._mean(raw)[np.newaxis]

    def _mean(self, raw: np.ndarray) -> np.ndarray:
        return np.exp(self.log_mean + np.clip(raw[0], self.floor, self.cap))


def check_counts(y: np.ndarray, name: str, family: str) -> np.ndarray:
    """The target as floats; a DataError if it is not counts."""
    values = np.ascontiguousarray(y, dtype=np.float64)
    if not ((values >= 0) & (values <= MAX_COUNT) & (values == np.floor(values))).all():
        raise DataError(
            f"{name} has values that are not counts, which distribution={family!r} does not allow: pass whole "
            "numbers from 0 to 2**53, or choose distribution='normal' or, for positive fractions, 'gamma'."
        )
    return values


def bounded_log_mean(y: np.ndarray, weights: np.ndarray | None) -> float:
    """Log of the weighted mean; if all counts are 0, of a negligible mean."""
    values, fractions = rows_with_weight(y, weights)
    return math.log(min(max(weighted_sum(values, fractions), 1 / MAX_COUNT), MAX_COUNT))


def log_rate(y: np.ndarray, weights: np.ndarray | None, offset: np.ndarray) -> float:
    """Log of the sum of all counts over the sum of all exposures, which are the exponentials of offsets."""
    counts, fractions = rows_with_weight(y, weights)
    logs, _ = rows_with_weight(offset, weights)
    largest = float(logs.max())
    log_exposure = math.log(weighted_sum(np.exp(logs - largest), fractions)) + largest
    count = min(max(weighted_sum(counts, fractions), 1 / MAX_COUNT), MAX_COUNT)
    return math.log(count) - log_exposure


@kernel
def poisson_steps(raw, y, log_mean, floor, cap, ratio_max, z_max, rows, steps, scores):
    """Read outputs and counts of some rows; write natural gradients and their unit-free scores."""
    start, stop = rows
    y, outputs = y[start:stop], raw[0, start:stop]
    mean_steps, mean_scores = steps[0, start:stop], scores[0, start:stop]
    for i in range(y.shape[0]):
        mean = math.exp(log_mean + min(max(outputs[i], floor), cap))
        information = max(mean, 1.0 / ratio_max)
        step = min((y[i] - mean) / information, ratio_max)
        if (outputs[i] <= floor and step < 0) or (outputs[i] >= cap and step > 0):
            step = 0.0
        mean_steps[i] = step
        mean_scores[i] = min(max(step * math.sqrt(information), -z_max), z_max)


@kernel
def exposed_poisson_steps(raw, y, exposures, bounds, ratio_max, z_max, rows, steps, scores):
    """Read outputs, counts and relative exposures of some rows; write natural gradients of rates, and their scores.

    A row of exposure e has the weight e: its sums are those of its count, without the noise of a rate of few counts.
    """
    start, stop = rows
    log_mean, floor, cap = bounds
    y, outputs, exposures = y[start:stop], raw[0, start:stop], exposures[start:stop]
    mean_steps, mean_scores = steps[0, start:stop], scores[0, start:stop]
    for i in range(y.shape[0]):
        mean = math.exp(log_mean + min(max(outputs[i], floor), cap))
        information = max(mean / exposures[i], 1.0 / ratio_max)
        step = min((y[i] - mean) / information, ratio_max)
        if (outputs[i] <= floor and step < 0) or (outputs[i] >= cap and step > 0):
            step = 0.0
        mean_steps[i] = step / exposures[i]
        mean_scores[i] = min(max(step * math.sqrt(information), -z_max), z_max) / exposures[i]


@kernel
def poisson_nll(raw, y, log_mean, floor, cap, out):
    """Read outputs and counts; write minus the log of the mass.

    For y > 0 that is ``y (r - 1 - log r)``, with r the ratio of mean to y, plus the excess of the factorial over
    Stirling's formula. This avoids a difference of large numbers.
    """
    outputs = raw[0]
    for i in range(y.shape[0]):
        log_of_mean = log_mean + min(max(outputs[i], floor), cap)
        if y[i] == 0:
            out[i] = math.exp(log_of_mean)
        else:
            log_ratio = log_of_mean - math.log(y[i])
            out[i] = y[i] * (math.expm1(log_ratio) - log_ratio) + log_factorial_excess(y[i])


@inner_kernel
def log_factorial_excess(x):
    """``log(x!) - x log(x) + x``."""
    if x < LARGE:
        return math.lgamma(x + 1.0) - x * math.log(x) + x
    square = 1.0 / (x * x)
    series = (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0))) / x
    return HALF_LOG_TWO_PI + 0.5 * math.log(x) + series
