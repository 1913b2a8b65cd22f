"""The normal distribution: location and log of the standard deviation. Its tails may be those of a Student t."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy import stats
from scipy.special import betaln, ndtr, stdtr

from surefoot._jit import inner_kernel, kernel
from surefoot._parameters import check_number
from surefoot.uncertainty.distribution import FLOAT_RANGE, Distribution
from surefoot.uncertainty.families.base import (
    Z_MAX,
    LocationScaleFamily,
    centre_and_spread,
    rows_with_weight,
    weighted_sum,
)

HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)
LOG_2_E = 1.0 / math.log(2.0)
NO_FRACTION = 1.5 * 2.0**52  # adding it to a number rounds the number and stores it in the last digits
LOG_TWO_HIGH = 0.693145751953125  # the first bits of log 2: its product with any exponent of a float is exact
LOG_TWO_LOW = 1.42860682030941723212e-6  # the remainder of log 2
TERMS = tuple(1.0 / math.factorial(k) for k in range(14))  # of the series, which is used only up to log(2) / 2
MAX_Z = 1e150  # squares of larger numbers may be infinite
MIN_DISPERSION = 1e-3  # below, it is 0: a Student t with 1000 degrees of freedom is as good as normal
MAX_DISPERSION = 1 / 3  # three degrees of freedom: with two there is no variance


@dataclass(frozen=True, kw_only=True)
class NormalSteps(LocationScaleFamily):
    """Gradients and likelihood for the mean and the log of the standard deviation, of the target or of its log."""

    def start(self, y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        values, fractions = rows_with_weight(y, weights)
        mean, _ = centre_and_spread(values, fractions)
        residuals = values - mean
        residuals *= residuals
        return self._start(mean, math.sqrt(weighted_sum(residuals, fractions)))

    def gradients(
        self,
        raw: np.ndarray,
        y: np.ndarray,
        stretch: np.ndarray,
        rows: tuple[int, int],
        steps: np.ndarray,
        scores: np.ndarray,
    ) -> None:
        normal_steps(raw, y, stretch, self.floor, self.cap, Z_MAX, rows, steps, scores)

    def inverse_information(self, raw: np.ndarray) -> np.ndarray:
        return np.stack([self._scale(raw) ** 2, np.full(raw.shape[1], 0.5)])

    def nll(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        out = np.empty(len(y))
        normal_nll(raw, y, self.floor, self.cap, out)
        return out


@dataclass(frozen=True, kw_only=True)
class Normal(NormalSteps):
    """Normal distribution of the target; outputs are the mean and the log of the standard deviation.

    Held-out rows may have heavier tails than a normal distribution: with a ``dispersion``, a fitted model predicts
    Student t distributions with the same means and standard deviations.

    Attributes
    ----------
    dispersion : float
        One over the degrees of freedom, from 0 (exactly normal) to 1/3. Trees are grown as if it were 0.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.uncertainty.families import Normal
    >>> y = np.array([1.0, 2.0, 3.0, 6.0])
    >>> family = Normal.for_target(y)
    >>> raw = np.repeat(family.start(family.internal(y))[:, np.newaxis], 2, axis=1)
    >>> family.distribution(raw).mean
    array([3., 3.])
    >>> Normal(dispersion=0.2)
    Normal(dispersion=0.2)
    """

    name: ClassVar[str] = "normal"
    dispersion: float = field(default=0.0, repr=False)

    def __post_init__(self) -> None:
        check_number("dispersion", self.dispersion, 0, 0.5, include_boundaries="left")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({f'dispersion={self.dispersion:.3g}' if self.has_heavy_tails else ''})"

    @property
    def has_heavy_tails(self) -> bool:
        """Whether predicted distributions are Student t distributions."""
        return self.dispersion >= MIN_DISPERSION

    @property
    def _scale_of_t(self) -> float:
        """The scale of a Student t with a standard deviation of 1."""
        return math.sqrt(1.0 - 2.0 * self.dispersion)

    def distribution(self, raw: np.ndarray) -> Distribution:
        location, scale = self._user_location_and_scale(raw)
        if not self.has_heavy_tails:
            return Distribution(self.name, stats.norm, loc=location, scale=scale)
        df = 1.0 / self.dispersion
        return Distribution("student_t", stats.t, df=df, loc=location, scale=self._scale_of_t * scale)

    def moments(self, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        location, scale = self._user_location_and_scale(raw)
        with np.errstate(over="ignore"):
            return location, np.clip(scale * scale, *FLOAT_RANGE)  # saves a scipy object for every block of rows

    def mean_slopes(self, raw: np.ndarray) -> np.ndarray:
        return self._location_slopes(raw)

    def log_density(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        if not self.has_heavy_tails:
            return super().log_density(raw, y)
        df = 1.0 / self.dispersion
        log_scale = np.clip(raw[1], self.floor, self.cap)
        z = np.minimum(np.abs(y - raw[0]) * np.exp(-log_scale), MAX_Z)
        constant = 0.5 * math.log(df - 2.0) + float(betaln(0.5 * df, 0.5))
        return -0.5 * (df + 1.0) * np.log1p(z * z / (df - 2.0)) - log_scale - constant

    def probabilities_below(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        z = (y - raw[0]) / self._scale(raw)
        return stdtr(1.0 / self.dispersion, z / self._scale_of_t) if self.has_heavy_tails else ndtr(z)


@inner_kernel
def exp(x):
    """The exponential of a moderate number, within one or two units of the last place.

    A loop that calls ``math.exp`` processes one row at a time; with this code it is vectorised.
    """
    shifted = x * LOG_2_E + NO_FRACTION
    power = shifted - NO_FRACTION
    rest = (x - power * LOG_TWO_HIGH) - power * LOG_TWO_LOW
    series = 0.0
    for k in range(13, -1, -1):
        series = TERMS[k] + series * rest
    last_digits = np.float64(shifted).view(np.int64)
    exponent = last_digits + 1023  # of a float: 1023 plus the power
    return series * np.int64(exponent << 52).view(np.float64)


@kernel
def normal_steps(raw, y, stretch, floor, cap, z_max, rows, steps, scores):
    """Read outputs, internal targets and stretches of some rows; write natural gradients and their unit-free scores."""
    start, stop = rows
    means, log_scales = raw[0, start:stop], raw[1, start:stop]
    y, stretch = y[start:stop], stretch[start:stop]
    mean_steps, scale_steps = steps[0, start:stop], steps[1, start:stop]
    mean_scores, scale_scores = scores[0, start:stop], scores[1, start:stop]
    root_two = math.sqrt(2.0)
    for i in range(y.shape[0]):
        residual = y[i] - means[i]
        z = residual * exp(-min(max(log_scales[i], floor), cap))
        mean_steps[i] = residual
        mean_scores[i] = min(max(z, -z_max), z_max)
        z = min(max(stretch[i] * z, -z_max), z_max)
        step = 0.5 * (z * z - 1.0)
        is_stuck = ((log_scales[i] <= floor) & (step < 0)) | ((log_scales[i] >= cap) & (step > 0))
        step = 0.0 if is_stuck else step
        scale_steps[i] = step
        scale_scores[i] = step * root_two


@kernel
def normal_nll(raw, y, floor, cap, out):
    """Read outputs and internal targets; write minus the log of the density."""
    means, log_scales = raw[0], raw[1]
    for i in range(y.shape[0]):
        log_scale = min(max(log_scales[i], floor), cap)
        z = min(abs(y[i] - means[i]) * math.exp(-log_scale), MAX_Z)
        out[i] = 0.5 * z * z + log_scale + HALF_LOG_TWO_PI
