"""The log-normal distribution: a normal distribution of the log of the target."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import stats

from surefoot.uncertainty.distribution import LARGEST, Distribution
from surefoot.uncertainty.families.base import check_positive
from surefoot.uncertainty.families.normal import NormalSteps


@dataclass(frozen=True, kw_only=True)
class LogNormal(NormalSteps):
    """Log-normal distribution of a positive target; outputs are mean and log standard deviation of log y.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.uncertainty.families import LogNormal
    >>> y = np.array([1.0, 10.0, 100.0])
    >>> family = LogNormal.for_target(y)
    >>> start = family.start(family.internal(y))
    >>> family.distribution(start[:, np.newaxis]).quantile(0.5).round(6)
    array([10.])
    """

    name: ClassVar[str] = "lognormal"
    reads_logs: ClassVar[bool] = True
    constrained_outputs: ClassVar[tuple[int, ...]] = (0, 1)  # the mean rises with both
    takes_exposure: ClassVar[bool] = True

    def _values(self, y: np.ndarray, name: str = "y") -> np.ndarray:
        return np.log(check_positive(y, name, self.name))

    def nll_offset(self, y: np.ndarray) -> np.ndarray:
        return super().nll_offset(y) + self._values(y)

    def distribution(self, raw: np.ndarray) -> Distribution:
        location, scale = self._user_location_and_scale(raw)
        with np.errstate(over="ignore", under="ignore"):
            median = np.clip(np.exp(location), np.finfo(np.float64).tiny, LARGEST)
        return Distribution(self.name, stats.lognorm, s=scale, scale=median)

    def mean_slopes(self, raw: np.ndarray) -> np.ndarray:
        mean = self.moments(raw)[0]
        scale = self._user_location_and_scale(raw)[1]
        return np.stack([self.spread * mean, scale * scale * mean])
