"""The standard error of a mean over rows, or over groups of rows that were drawn together."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from surefoot.metrics.intervals import CONFIDENCE
from surefoot.report.statistics.tails import MAX_DOMINANCE, tail_factor

MIN_GROUPS = 4
MAX_GROUP_FRACTION = 0.5  # of the rows: with more, one group decides, and its own error cannot be measured
MIN_SKEW_GROUPS = 10  # the skewness of fewer is noise


@dataclass(frozen=True)
class Spread:
    """Standard error of a mean, its degrees of freedom, and its skewness (that of a unit by the root of their number).

    ``dominance`` is the part of the sum of squared deviations that a single row accounts for.
    """

    error: float
    dof: float
    skewness: float
    dominance: float

    @property
    def quantile(self) -> float:
        """Student's, of a two-sided interval."""
        return float(stdtrit(self.dof, (1 + CONFIDENCE) / 2))

    def ends(self, value: float) -> tuple[float, float]:
        """Student's interval."""
        reach = self.quantile * self.error
        return value - reach, value + reach

    def skewed_ends(self, value: float) -> tuple[float, float]:
        """Student's interval with Hall's (1992) cubic correction for skewness."""
        low, high = (self._hall(side) for side in (self.quantile, -self.quantile))
        return value - self.error * low, value - self.error * high

    @property
    def widened(self) -> "Spread":
        """The same for heavy tails: its error grows with the part that a single row accounts for."""
        return replace(self, error=self.error * tail_factor(min(self.dominance, MAX_DOMINANCE)))

    def _hall(self, quantile: float) -> float:
        k = self.skewness
        if abs(k) < 1e-6:
            return quantile
        return float(3 / k * (np.cbrt(1 + k * (quantile - k / 6)) - 1))


def spread_of(values: np.ndarray, groups: np.ndarray | None = None) -> Spread | None:
    """That of the mean of ``values``; None where it cannot be measured.

    That is a single row, fewer than four groups, or one group with most of the rows.
    """
    if len(values) < 2:
        return None
    off = values - values.mean()
    squares = float(off @ off)
    dominance = float(np.max(off**2)) / squares if squares > 0 else 0.0
    if groups is not None:
        return _group_spread(off, groups, dominance)
    n = len(values)
    error = float(np.sqrt(squares / (n - 1) / n))
    return Spread(error, n - 1, float((off**3).sum() / squares**1.5) if squares > 0 else 0.0, dominance)


def _group_spread(off: np.ndarray, groups: np.ndarray, dominance: float) -> Spread | None:
    """Each group's squared deviation is divided by what is left of its variance once the mean is taken away.

    This makes the variance unbiased where rows of a group are alike, as CR2 is where they are independent; the
    degrees of freedom are Satterthwaite's for the same case (Bell and McCaffrey 2002).
    """
    codes = np.unique(groups, return_inverse=True)[1]
    counts = np.bincount(codes)
    weights = counts / len(off)
    if len(counts) < MIN_GROUPS or weights.max() > MAX_GROUP_FRACTION:
        return None
    sums, concentration = np.bincount(codes, weights=off) / len(off), float(weights @ weights)
    left = 1 - 2 * weights + concentration
    variance = float((sums**2 / left).sum())
    squares = float(sums @ sums)
    skewness = float((sums**3).sum() / squares**1.5) if squares > 0 and len(counts) >= MIN_SKEW_GROUPS else 0.0
    return Spread(variance**0.5, _degrees_of_freedom(weights, left, concentration), skewness, dominance)


def _degrees_of_freedom(weights: np.ndarray, left: np.ndarray, concentration: float) -> float:
    """Squared trace by trace of the square of the matrix whose quadratic form is the variance."""
    scale = weights**2 / left
    zero, one, two = (float((scale * weights**power).sum()) for power in range(3))
    trace = float((scale * left).sum())
    diagonal = float((scale**2 * (1 + 2 * (concentration - 2 * weights))).sum())
    rest = concentration**2 * zero**2 + 2 * two * zero - 4 * concentration * one * zero + 2 * one**2
    return trace**2 / (diagonal + rest)
