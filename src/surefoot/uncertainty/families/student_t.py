"""Student's t distribution with fixed degrees of freedom: location and log of the scale."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import special, stats

from surefoot._jit import kernel
from surefoot._parameters import check_number
from surefoot.uncertainty.distribution import Distribution
from surefoot.uncertainty.families.base import (
    Z_MAX,
    LocationScaleFamily,
    centre_and_spread,
    rows_with_weight,
    weighted_sum,
)

MAX_Z = 1e150  # squares of larger numbers may be infinite
MAX_STEPS = 200
PRECISION = 1e-10  # of the start, in scales


@dataclass(frozen=True)
class StudentT(LocationScaleFamily):
    """Student's t distribution of the target, for targets with outliers; outputs are location and log of the scale.

    Parameters
    ----------
    df : float, default=5.0
        Degrees of freedom, above 2 (below, there is no variance). The fewer, the less influence outliers have.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.uncertainty.families import StudentT
    >>> StudentT(df=4)
    StudentT(df=4.0)
    >>> y = np.array([1.0, 2.0, 3.0, 4.0, 90.0])
    >>> family = StudentT(df=4).fitted_to(y)
    >>> start = family.start(family.internal(y))
    >>> bool(family.distribution(start[:, np.newaxis]).mean[0] < 4)
    True
    """

    df: float = 5.0
    name: ClassVar[str] = "student_t"

    def __post_init__(self) -> None:
        object.__setattr__(self, "df", check_number("df", self.df, 2, math.inf, include_boundaries="neither"))

    def start(self, y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """By expectation maximisation, in the faster form that divides by the summed weights of the rows."""
        values, fractions = rows_with_weight(y, weights)
        location, scale = centre_and_spread(values, fractions)
        for _ in range(MAX_STEPS):
            influence = fractions / (self.df + ((values - location) / scale) ** 2)  # outliers have less weight
            influence /= influence.sum()
            moved = weighted_sum(values, influence)
            spread = math.sqrt(weighted_sum((values - moved) ** 2, influence))
            spread = min(max(spread, math.exp(self.floor)), math.exp(self.cap))
            change = max(abs(moved - location), abs(spread - scale)) / spread
            location, scale = moved, spread
            if change < PRECISION:
                break
        return self._start(location, scale)

    def gradients(
        self,
        raw: np.ndarray,
        y: np.ndarray,
        stretch: np.ndarray,
        rows: tuple[int, int],
        steps: np.ndarray,
        scores: np.ndarray,
    ) -> None:
        student_t_steps(raw, y, stretch, self.df, self.floor, self.cap, Z_MAX, rows, steps, scores)

    def inverse_information(self, raw: np.ndarray) -> np.ndarray:
        of_location = (self.df + 3) / (self.df + 1) * self._scale(raw) ** 2
        return np.stack([of_location, np.full(raw.shape[1], (self.df + 3) / (2 * self.df))])

    def nll(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        out = np.empty(len(y))
        constant = 0.5 * math.log(self.df) + float(special.betaln(0.5 * self.df, 0.5))
        student_t_nll(raw, y, self.df, constant, self.floor, self.cap, out)
        return out

    def distribution(self, raw: np.ndarray) -> Distribution:
        location, scale = self._user_location_and_scale(raw)
        return Distribution(self.name, stats.t, df=self.df, loc=location, scale=scale)

    def mean_slopes(self, raw: np.ndarray) -> np.ndarray:
        return self._location_slopes(raw)


@kernel
def student_t_steps(raw, y, stretch, df, floor, cap, z_max, rows, steps, scores):
    """Read outputs, internal targets and stretches of some rows; write natural gradients and their unit-free scores."""
    start, stop = rows
    locations, log_scales = raw[0, start:stop], raw[1, start:stop]
    y, stretch = y[start:stop], stretch[start:stop]
    location_steps, scale_steps = steps[0, start:stop], steps[1, start:stop]
    location_scores, scale_scores = scores[0, start:stop], scores[1, start:stop]
    location_root = math.sqrt((df + 1.0) / (df + 3.0))
    scale_root = math.sqrt(2.0 * df / (df + 3.0))
    scale_factor = (df + 3.0) / (2.0 * df)
    for i in range(y.shape[0]):
        log_scale = min(max(log_scales[i], floor), cap)
        per_scale = math.exp(-log_scale)
        z = min(max((y[i] - locations[i]) * per_scale, -MAX_Z), MAX_Z)
        pulled = z * (df + 3.0) / (df + z * z)
        location_steps[i] = pulled / per_scale
        location_scores[i] = min(max(pulled * location_root, -z_max), z_max)
        z = min(max(stretch[i] * z, -z_max), z_max)
        step = ((df + 1.0) * z * z / (df + z * z) - 1.0) * scale_factor
        if (log_scales[i] <= floor and step < 0) or (log_scales[i] >= cap and step > 0):
            step = 0.0
        scale_steps[i] = step
        scale_scores[i] = step * scale_root


@kernel
def student_t_nll(raw, y, df, constant, floor, cap, out):
    """Read outputs and internal targets; write minus the log of the density."""
    locations, log_scales = raw[0], raw[1]
    for i in range(y.shape[0]):
        log_scale = min(max(log_scales[i], floor), cap)
        z = min(abs(y[i] - locations[i]) * math.exp(-log_scale), MAX_Z)
        out[i] = 0.5 * (df + 1.0) * math.log1p(z * z / df) + log_scale + constant
