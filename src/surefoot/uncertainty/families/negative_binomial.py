"""The negative binomial distribution: logs of mean and dispersion."""

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from scipy import stats
from scipy.optimize import minimize_scalar

from surefoot._jit import kernel
from surefoot.uncertainty.distribution import Distribution
from surefoot.uncertainty.families.base import RATIO_MAX, Z_MAX, RegressionFamily, rows_with_weight, weighted_sum
from surefoot.uncertainty.families.poisson import MAX_COUNT, bounded_log_mean, check_counts, log_rate

MIN_DISPERSION, MAX_DISPERSION = 1e-5, 100.0
LARGE = 8.0  # from here on, the errors of the series are below 1e-10
NO_EXPOSURES = np.empty(0)
MEAN_BOUND = math.log(MAX_COUNT)
MIN_INFORMATION = 1.0 / RATIO_MAX


@dataclass(frozen=True, kw_only=True)
class NegativeBinomial(RegressionFamily):
    """Negative binomial distribution of counts; outputs are the logs of the mean and of the dispersion.

    The variance is ``mean + dispersion * mean**2``. The log of the mean is relative to that of the mean of the target.
    A model of Poisson distributions has one dispersion for all rows, from held-out rows; this family learns which rows
    are dispersed more than others, for which it needs more rows.

    The information on the dispersion has no closed form. The approximation used here is exact for small means, for
    small dispersions and for large means, and within a factor of two for dispersions up to 10. It is never below
    ``1 / RATIO_MAX``, as that on the mean (divided by ``1 + dispersion * mean``): a few rare counts say next to nothing
    about dispersion, and would lead to steps of any size. All steps are 0 on average under the model.

    Attributes
    ----------
    log_mean : float
        Log of the mean of the whole target, for which the first output is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.uncertainty.families import NegativeBinomial
    >>> y = np.array([0.0, 1.0, 1.0, 10.0])
    >>> family = NegativeBinomial.for_target(y)
    >>> family.distribution(family.start(y)[:, np.newaxis]).mean.round(6)
    array([3.])
    """

    name: ClassVar[str] = "negative_binomial"
    parameters: ClassVar[tuple[str, ...]] = ("log_mean", "log_dispersion")
    is_discrete: ClassVar[bool] = True
    takes_exposure: ClassVar[bool] = True
    log_mean: float = field(default=0.0, repr=False)
    floor: float = field(default=math.log(MIN_DISPERSION), repr=False)
    cap: float = field(default=math.log(MAX_DISPERSION), repr=False)

    def fitted_to(self, y: np.ndarray, weights: np.ndarray | None = None) -> Self:
        return replace(self, log_mean=bounded_log_mean(self.internal(y), weights))

    def fitted_with_offset(self, y: np.ndarray, weights: np.ndarray | None, offset: np.ndarray) -> Self:
        return replace(self, log_mean=log_rate(self.internal(y), weights, offset))

    def internal(self, y: np.ndarray, name: str = "y") -> np.ndarray:
        return check_counts(y, name, self.name)

    def start(self, y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """The mean of the target, and the best dispersion for this mean."""
        values, fractions = rows_with_weight(y, weights)
        first = bounded_log_mean(y, weights) - self.log_mean

        def loss(log_dispersion: float) -> float:
            raw = np.repeat([[first], [log_dispersion]], len(values), axis=1)
            return weighted_sum(self.nll(raw, values), fractions)

        return np.array([first, float(minimize_scalar(loss, bounds=(self.floor, self.cap), method="bounded").x)])

    def gradients(
        self,
        raw: np.ndarray,
        y: np.ndarray,
        stretch: np.ndarray,
        rows: tuple[int, int],
        steps: np.ndarray,
        scores: np.ndarray,
    ) -> None:
        self.exposed_gradients(raw, y, stretch, NO_EXPOSURES, rows, steps, scores)

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
        bounds = (self.log_mean, self.floor, self.cap)
        negative_binomial_steps(raw, y, stretch, exposures, bounds, RATIO_MAX, Z_MAX, rows, steps, scores)

    def inverse_information(self, raw: np.ndarray) -> np.ndarray:
        out = np.empty((2, raw.shape[1]))
        negative_binomial_inverse_information(raw, (self.log_mean, self.floor, self.cap), RATIO_MAX, out)
        return out

    def nll(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        out = np.empty(len(y))
        negative_binomial_nll(raw, y, (self.log_mean, self.floor, self.cap), out)
        return out

    def nll_offset(self, y: np.ndarray) -> np.ndarray:
        return np.zeros(len(y))

    def saturated_output(self, y: np.ndarray) -> np.ndarray:
        return np.log(np.maximum(y, 1 / MAX_COUNT)) - self.log_mean

    def distribution(self, raw: np.ndarray) -> Distribution:
        mean, dispersion = self._mean_and_dispersion(raw)
        n = 1 / dispersion
        return Distribution(self.name, stats.nbinom, n=n, p=n / (n + mean))

    def moments(self, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, dispersion = self._mean_and_dispersion(raw)
        return mean, mean + dispersion * mean * mean

    def _mean_and_dispersion(self, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean = np.exp(np.clip(self.log_mean + raw[0], -MEAN_BOUND, MEAN_BOUND))
        return mean, np.exp(np.clip(raw[1], self.floor, self.cap))


@kernel
def negative_binomial_steps(raw, y, stretch, exposures, bounds, ratio_max, z_max, rows, steps, scores):
    """Read outputs, counts, stretches and relative exposures (or none) of some rows; write steps and scores.

    A row of exposure e has the weight e: see ``exposed_poisson_steps``.
    """
    start, stop = rows
    log_mean, floor, cap = bounds
    for i in range(start, stop):
        exposure = exposures[i] if exposures.shape[0] > 0 else 1.0
        log_of_mean = min(max(log_mean + raw[0, i], -MEAN_BOUND), MEAN_BOUND)
        mean, dispersion = math.exp(log_of_mean), math.exp(min(max(raw[1, i], floor), cap))
        information = max(mean / exposure, 1.0 / ratio_max)
        step = min((y[i] - mean) / information, ratio_max)
        if (log_of_mean <= -MEAN_BOUND and step < 0) or (log_of_mean >= MEAN_BOUND and step > 0):
            step = 0.0
        steps[0, i] = step / exposure
        root = math.sqrt(information / (1.0 + dispersion * mean))
        scores[0, i] = min(max(step * root, -z_max), z_max) / exposure
        count = max(mean + stretch[i] * (y[i] - mean), 0.0)
        root = math.sqrt(dispersion_information(mean, dispersion, ratio_max))
        score = min(max(dispersion_gradient(count, mean, dispersion) / root, -z_max), z_max)
        if (raw[1, i] <= floor and score < 0) or (raw[1, i] >= cap and score > 0):
            score = 0.0
        steps[1, i] = score / root
        scores[1, i] = score / math.sqrt(exposure)


@kernel
def negative_binomial_nll(raw, y, bounds, out):
    """Read outputs and counts; write minus the log of the mass."""
    log_mean, floor, cap = bounds
    for i in range(y.shape[0]):
        log_of_mean = min(max(log_mean + raw[0, i], -MEAN_BOUND), MEAN_BOUND)
        log_dispersion = min(max(raw[1, i], floor), cap)
        size, surplus = math.exp(-log_dispersion), math.log1p(math.exp(log_of_mean + log_dispersion))
        out[i] = (size + y[i]) * surplus
        if y[i] > 0:
            binomial = math.lgamma(y[i] + size) - math.lgamma(size) - math.lgamma(y[i] + 1.0)
            out[i] -= binomial + y[i] * (log_of_mean + log_dispersion)


@kernel
def negative_binomial_inverse_information(raw, bounds, ratio_max, out):
    """Read outputs; write the inverse of the information on the logs of mean and dispersion."""
    log_mean, floor, cap = bounds
    for i in range(raw.shape[1]):
        mean = math.exp(min(max(log_mean + raw[0, i], -MEAN_BOUND), MEAN_BOUND))
        dispersion = math.exp(min(max(raw[1, i], floor), cap))
        out[0, i] = (1.0 + dispersion * mean) / max(mean, 1.0 / ratio_max)
        out[1, i] = 1.0 / dispersion_information(mean, dispersion, ratio_max)


@kernel
def dispersion_gradient(count, mean, dispersion):
    """The derivative of the log of the mass by the log of the dispersion."""
    size = 1.0 / dispersion
    digammas = digamma_and_trigamma(count + size)[0] - digamma_and_trigamma(size)[0]
    return -size * (digammas - math.log1p(dispersion * mean) + (mean - count) / (size + mean))


@kernel
def dispersion_information(mean, dispersion, ratio_max):
    """The information on the log of the dispersion, about.

    ``of_squares`` is the information in squared residuals, which is exact for small means; ``of_gamma`` is the limit
    for large means. Inverse informations are added, less what both have in common.
    """
    variance = mean * (1.0 + dispersion * mean)
    excess = 2.0 + 6.0 * dispersion
    noise = variance * variance * excess - 4.0 * dispersion * mean * variance
    signal = dispersion * mean * mean
    size = 1.0 / dispersion
    if size > 1e3:
        of_gamma = 0.5 + dispersion / 6.0
    else:
        of_gamma = size * (size * digamma_and_trigamma(size)[1] - 1.0)
    of_squares = signal * signal / max(noise, 1e-300)
    inverse = 1.0 / max(of_squares, 1e-300) + 1.0 / of_gamma - excess
    return max(1.0 / max(inverse, 1.0), 1.0 / ratio_max)


@kernel
def digamma_and_trigamma(x):
    """Both functions by their series for large arguments; small ones are increased by 1 until they are large."""
    digamma, trigamma = 0.0, 0.0
    while x < LARGE:
        digamma -= 1.0 / x
        trigamma += 1.0 / (x * x)
        x += 1.0
    inverse = 1.0 / x
    square = inverse * inverse
    digamma += math.log(x) - 0.5 * inverse
    digamma -= square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square / 240.0)))
    trigamma += inverse + 0.5 * square
    trigamma += square * inverse * (1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square / 30.0)))
    return digamma, trigamma
