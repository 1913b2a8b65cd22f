"""The Poisson distribution with more zeros: log of the mean, and log-odds of an additional zero."""

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import special, stats
from scipy.optimize import brentq

from surefoot._jit import inner_kernel, kernel
from surefoot.uncertainty.distribution import Distribution
from surefoot.uncertainty.families.base import RATIO_MAX, Z_MAX, RegressionFamily, rows_with_weight, weighted_sum
from surefoot.uncertainty.families.poisson import MAX_COUNT, check_counts

MAX_LOG_ODDS = 12.0  # of an additional zero, either way
MIN_MEAN = 1e-9  # of the Poisson distribution at the start
NO_EXPOSURES = np.empty(0)
MEAN_BOUND = math.log(MAX_COUNT)


@dataclass(frozen=True, kw_only=True)
class ZeroInflatedPoisson(RegressionFamily):
    """Counts that are 0 for a reason of their own in some rows, and Poisson otherwise.

    The outputs are the log of the mean of the Poisson distribution, relative to the best constant, and the log-odds
    that a row is 0 whatever this mean. The mean of a row is that of the Poisson distribution times the probability of
    no additional zero. An exposure multiplies the mean; the probability of an additional zero does not depend on it.

    Informations are never below ``1 / RATIO_MAX``: steps are then shorter than natural gradients.

    Attributes
    ----------
    log_mean : float
        The best constant log of the mean of the Poisson distribution, for which the first output is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.uncertainty.families import ZeroInflatedPoisson
    >>> y = np.array([0.0, 0.0, 0.0, 3.0, 5.0])
    >>> family = ZeroInflatedPoisson.for_target(y)
    >>> family.distribution(family.start(y)[:, np.newaxis]).mean.round(6)
    array([1.6])
    """

    name: ClassVar[str] = "zero_inflated_poisson"
    constrained_outputs: ClassVar[tuple[int, ...]] = ()  # the mean falls with the probability of additional zeros
    parameters: ClassVar[tuple[str, ...]] = ("log_mean", "log_odds_of_zero")
    is_discrete: ClassVar[bool] = True
    takes_exposure: ClassVar[bool] = True
    has_scale: ClassVar[bool] = False
    log_mean: float = field(default=0.0, repr=False)
    floor: float = field(default=-MAX_LOG_ODDS, repr=False)
    cap: float = field(default=MAX_LOG_ODDS, repr=False)

    def fitted_to(self, y: np.ndarray, weights: np.ndarray | None = None) -> Self:
        return replace(self, log_mean=self.log_mean + float(self.start(self.internal(y), weights)[0]))

    def fitted_with_offset(self, y: np.ndarray, weights: np.ndarray | None, offset: np.ndarray) -> Self:
        fitted = self.fitted_to(y, weights)
        start = fitted.start_with_offset(fitted.internal(y), weights, offset[np.newaxis])
        return replace(fitted, log_mean=fitted.log_mean + float(start[0]))

    def internal(self, y: np.ndarray, name: str = "y") -> np.ndarray:
        return check_counts(y, name, self.name)

    def start(self, y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """The mean for which positive counts have their mean, and the zeros that are left."""
        values, fractions = rows_with_weight(y, weights)
        mean, positive = weighted_sum(values, fractions), weighted_sum((values > 0).astype(float), fractions)
        rate, log_odds = max(mean, MIN_MEAN), self.floor
        if mean > positive * (1.0 + MIN_MEAN):
            rate = positive_rate(mean / positive)
            extra = 1.0 - positive / -math.expm1(-rate)
            if extra <= special.expit(self.floor):
                rate = mean
            else:
                log_odds = float(min(special.logit(extra), self.cap))
        elif 0 < positive < 1:  # no count above 1: the fewest additional zeros fit best
            rate = max(-math.log1p(-positive), MIN_MEAN)
        return np.array([math.log(rate) - self.log_mean, log_odds])

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
        zero_inflated_steps(raw, y, exposures, bounds, RATIO_MAX, Z_MAX, rows, steps, scores)

    def inverse_information(self, raw: np.ndarray) -> np.ndarray:
        out = np.empty((2, raw.shape[1]))
        zero_inflated_inverse_information(raw, (self.log_mean, self.floor, self.cap), RATIO_MAX, out)
        return out

    def nll(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        out = np.empty(len(y))
        zero_inflated_nll(raw, y, (self.log_mean, self.floor, self.cap), out)
        return out

    def nll_offset(self, y: np.ndarray) -> np.ndarray:
        return np.zeros(len(y))

    def distribution(self, raw: np.ndarray) -> Distribution:
        mean, zero = self._mean_and_zero(raw)
        return Distribution(self.name, ZERO_INFLATED_POISSON, mu=mean, zero=zero)

    def moments(self, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, zero = self._mean_and_zero(raw)
        return (1 - zero) * mean, (1 - zero) * mean * (1 + zero * mean)

    def _mean_and_zero(self, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean = np.exp(np.clip(self.log_mean + raw[0], -MEAN_BOUND, MEAN_BOUND))
        return mean, special.expit(np.clip(raw[1], self.floor, self.cap))


def positive_rate(mean: float) -> float:
    """The mean of a Poisson distribution whose positive counts have this mean, which is above 1."""
    return float(brentq(lambda rate: rate / -math.expm1(-rate) - mean, min(mean - 1.0, 1e-9), mean + 1.0, xtol=1e-14))


class ZeroInflatedPoissonOfScipy(stats.rv_discrete):
    """The distribution in the form of scipy: ``mu`` is the Poisson mean, ``zero`` the probability of another zero."""

    def _argcheck(self, mu: Any, zero: Any) -> Any:
        return (mu >= 0) & (zero >= 0) & (zero <= 1)

    def _logpmf(self, k: Any, mu: Any, zero: Any) -> Any:
        with np.errstate(divide="ignore"):
            logs = np.log1p(-zero) + special.xlogy(k, mu) - special.gammaln(k + 1) - mu
            return np.where(k == 0, np.logaddexp(np.log(zero), logs), logs)

    def _pmf(self, k: Any, mu: Any, zero: Any) -> Any:
        return np.exp(self._logpmf(k, mu, zero))

    def _cdf(self, k: Any, mu: Any, zero: Any) -> Any:
        return zero + (1 - zero) * special.pdtr(np.floor(k), mu)

    def _sf(self, k: Any, mu: Any, zero: Any) -> Any:
        return (1 - zero) * special.pdtrc(np.floor(k), mu)

    def _ppf(self, q: Any, mu: Any, zero: Any) -> Any:
        level = np.clip((q - zero) / (1 - zero), 0.0, 1.0)
        return np.where(q <= zero, 0.0, stats.poisson.ppf(level, mu))

    def _stats(self, mu: Any, zero: Any) -> Any:
        return (1 - zero) * mu, (1 - zero) * mu * (1 + zero * mu), None, None

    def _rvs(self, mu: Any, zero: Any, size: Any = None, random_state: Any = None) -> Any:
        return np.where(random_state.uniform(size=size) < zero, 0, random_state.poisson(mu, size))


ZERO_INFLATED_POISSON = ZeroInflatedPoissonOfScipy(name="zero_inflated_poisson")


@kernel
def zero_inflated_steps(raw, y, exposures, bounds, ratio_max, z_max, rows, steps, scores):
    """Read outputs, counts and relative exposures (or none) of some rows; write steps and scores.

    A row of exposure e has the weight e: see ``exposed_poisson_steps``.
    """
    start, stop = rows
    log_mean, floor, cap = bounds
    for i in range(start, stop):
        exposure = exposures[i] if exposures.shape[0] > 0 else 1.0
        log_of_mean = min(max(log_mean + raw[0, i], -MEAN_BOUND), MEAN_BOUND)
        mean, zero, no_count = zero_terms(log_of_mean, min(max(raw[1, i], floor), cap))
        of_mean, of_zero = zero_information(mean, zero, no_count)
        if y[i] > 0:
            gradient, gradient_of_zero = y[i] - mean, -zero
        else:
            additional = zero / no_count
            gradient, gradient_of_zero = -mean * (1.0 - additional), additional - zero
        information = max(of_mean / exposure, 1.0 / ratio_max)
        step = min(gradient / information, ratio_max)
        if (log_of_mean <= -MEAN_BOUND and step < 0) or (log_of_mean >= MEAN_BOUND and step > 0):
            step = 0.0
        steps[0, i] = step / exposure
        scores[0, i] = min(max(step * math.sqrt(information), -z_max), z_max) / exposure
        root = math.sqrt(max(of_zero, 1.0 / ratio_max))
        score = min(max(gradient_of_zero / root, -z_max), z_max)
        if (raw[1, i] <= floor and score < 0) or (raw[1, i] >= cap and score > 0):
            score = 0.0
        steps[1, i] = score / root
        scores[1, i] = score / math.sqrt(exposure)


@kernel
def zero_inflated_nll(raw, y, bounds, out):
    """Read outputs and counts; write minus the log of the mass."""
    log_mean, floor, cap = bounds
    for i in range(y.shape[0]):
        log_of_mean = min(max(log_mean + raw[0, i], -MEAN_BOUND), MEAN_BOUND)
        log_odds, mean = min(max(raw[1, i], floor), cap), math.exp(log_of_mean)
        if y[i] > 0:
            out[i] = max(log_odds, 0.0) + math.log1p(math.exp(-abs(log_odds)))
            out[i] += mean - y[i] * log_of_mean + math.lgamma(y[i] + 1.0)
        else:
            out[i] = -math.log(zero_terms(log_of_mean, log_odds)[2])


@kernel
def zero_inflated_inverse_information(raw, bounds, ratio_max, out):
    """Read outputs; write the inverse of the information on both."""
    log_mean, floor, cap = bounds
    for i in range(raw.shape[1]):
        log_of_mean = min(max(log_mean + raw[0, i], -MEAN_BOUND), MEAN_BOUND)
        mean, zero, no_count = zero_terms(log_of_mean, min(max(raw[1, i], floor), cap))
        of_mean, of_zero = zero_information(mean, zero, no_count)
        out[0, i] = 1.0 / max(of_mean, 1.0 / ratio_max)
        out[1, i] = 1.0 / max(of_zero, 1.0 / ratio_max)


@inner_kernel
def zero_terms(log_of_mean, log_odds):
    """The Poisson mean, the probability of an additional zero, and that of any zero."""
    mean, zero = math.exp(log_of_mean), 1.0 / (1.0 + math.exp(-log_odds))
    return mean, zero, zero + (1.0 - zero) * math.exp(-mean)


@inner_kernel
def zero_information(mean, zero, no_count):
    """The information on the log of the mean and on the log-odds of an additional zero."""
    of_mean = (1.0 - zero) * mean * (1.0 - mean * math.exp(-mean) * zero / no_count)
    return of_mean, zero * zero * (1.0 - no_count) / no_count
