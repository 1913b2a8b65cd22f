"""The Laplace distribution: median and log of the mean absolute deviation."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import stats

from surefoot._jit import kernel
from surefoot.uncertainty.distribution import LARGEST, Distribution
from surefoot.uncertainty.families.base import Z_MAX, LocationScaleFamily, rows_with_weight, weighted_sum

LOG_TWO = math.log(2.0)
TIE = 1e-12  # a fraction this close to one half is one half


@dataclass(frozen=True, kw_only=True)
class Laplace(LocationScaleFamily):
    """Laplace distribution of the target; outputs are the median and the log of the mean absolute deviation from it.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.uncertainty.families import Laplace
    >>> y = np.array([1.0, 2.0, 3.0, 4.0, 90.0])
    >>> family = Laplace.for_target(y)
    >>> start = family.start(family.internal(y))
    >>> family.distribution(start[:, np.newaxis]).mean.round(6)
    array([3.])
    """

    name: ClassVar[str] = "laplace"
    parameters: ClassVar[tuple[str, ...]] = ("mu", "log_b")

    def start(self, y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        values, fractions = rows_with_weight(y, weights)
        median = weighted_median(values, fractions)
        return self._start(median, weighted_sum(np.abs(values - median), fractions))

    def gradients(
        self,
        raw: np.ndarray,
        y: np.ndarray,
        stretch: np.ndarray,
        rows: tuple[int, int],
        steps: np.ndarray,
        scores: np.ndarray,
    ) -> None:
        laplace_steps(raw, y, stretch, self.floor, self.cap, Z_MAX, rows, steps, scores)

    def inverse_information(self, raw: np.ndarray) -> np.ndarray:
        return np.stack([self._scale(raw) ** 2, np.ones(raw.shape[1])])

    def nll(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        out = np.empty(len(y))
        laplace_nll(raw, y, self.floor, self.cap, LARGEST, out)
        return out

    def distribution(self, raw: np.ndarray) -> Distribution:
        location, scale = self._user_location_and_scale(raw)
        return Distribution(self.name, stats.laplace, loc=location, scale=scale)

    def mean_slopes(self, raw: np.ndarray) -> np.ndarray:
        return self._location_slopes(raw)


def weighted_median(values: np.ndarray, fractions: np.ndarray) -> float:
    """The middle of the first value with half of the weight at or below it and the first with more than half."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(fractions[order])
    last = len(values) - 1
    lower = min(int(np.searchsorted(below, 0.5 - TIE)), last)
    upper = min(int(np.searchsorted(below, 0.5 + TIE)), last)
    return float(0.5 * values[order[lower]] + 0.5 * values[order[upper]])


@kernel
def laplace_steps(raw, y, stretch, floor, cap, z_max, rows, steps, scores):
    """Read outputs, internal targets and stretches of some rows; write natural gradients and their unit-free scores."""
    start, stop = rows
    medians, log_scales = raw[0, start:stop], raw[1, start:stop]
    y, stretch = y[start:stop], stretch[start:stop]
    median_steps, scale_steps = steps[0, start:stop], steps[1, start:stop]
    median_scores, scale_scores = scores[0, start:stop], scores[1, start:stop]
    for i in range(y.shape[0]):
        log_scale = min(max(log_scales[i], floor), cap)
        scale = math.exp(log_scale)
        residual = y[i] - medians[i]
        sign = np.sign(residual)
        median_steps[i] = sign * scale
        median_scores[i] = sign
        step = min(stretch[i] * (abs(residual) / scale), z_max) - 1.0
        if (log_scales[i] <= floor and step < 0) or (log_scales[i] >= cap and step > 0):
            step = 0.0
        scale_steps[i] = step
        scale_scores[i] = step


@kernel
def laplace_nll(raw, y, floor, cap, largest, out):
    """Read outputs and internal targets; write minus the log of the density."""
    medians, log_scales = raw[0], raw[1]
    for i in range(y.shape[0]):
        log_scale = min(max(log_scales[i], floor), cap)
        out[i] = min(abs(y[i] - medians[i]) * math.exp(-log_scale), largest) + log_scale + LOG_TWO
