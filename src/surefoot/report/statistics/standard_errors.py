"""The standard error of a mean over rows, or over groups of rows that were drawn together."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from surefoot.metrics.intervals import CONFIDENCE

MIN_ROWS = 300  # of an error that 2% of the rows have, 98% of samples of this size contain at least two
MIN_PAIRED_ROWS = 20
MIN_GROUPS = 4
MAX_GROUP_FRACTION = 0.5  # of the rows: a larger group dominates the mean, and its own error cannot be measured
MIN_SKEW_GROUPS = 10  # the skewness of fewer groups is mostly noise
MAX_DOMINANCE = 0.7  # fraction of the sum of squared deviations in one row
WIDENING = 2.0


def is_dominated(dominance: float) -> bool:
    """Whether a single row accounts for so much of the spread that no interval can be trusted."""
    return dominance > MAX_DOMINANCE


def tail_factor(dominance: float) -> float:
    """How much wider an interval must be because rows even larger than the largest one may exist.

    With a finite variance the fraction of the squared deviations in one row falls to 0 as rows are added, and the
    factor to 1; with an infinite variance neither does. The power was chosen by simulation
    (benchmarks/interval_coverage.py).
    """
    return (1 - dominance) ** -WIDENING


@dataclass(frozen=True)
class Spread:
    """Standard error of a mean, its degrees of freedom and its skewness.

    ``skewness`` is the skewness of one row (or group) divided by the root of their number. ``dominance`` is the
    fraction of the sum of squared deviations in a single row. ``confidence`` is that of the intervals.
    """

    error: float
    dof: float
    skewness: float
    dominance: float
    confidence: float = CONFIDENCE

    @property
    def quantile(self) -> float:
        """Quantile of Student's t distribution, for a two-sided interval."""
        return float(stdtrit(self.dof, (1 + self.confidence) / 2))

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
        """The spread with a larger error where a single row accounts for much of it, as with heavy tails."""
        return replace(self, error=self.error * tail_factor(min(self.dominance, MAX_DOMINANCE)))

    def _hall(self, quantile: float) -> float:
        k = self.skewness
        if abs(k) < 1e-6:
            return quantile
        return float(3 / k * (np.cbrt(1 + k * (quantile - k / 6)) - 1))


def mean_of(values: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The mean of rows that may have weights."""
    return float(np.mean(values)) if weights is None else float(np.average(values, weights=weights))


def size_of(values: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The number of rows; of rows with weights, the number of equal ones with as much information (Kish 1965)."""
    return float(len(values)) if weights is None else float(weights.sum() ** 2 / (weights @ weights))


def spread_of(
    values: np.ndarray,
    groups: np.ndarray | None = None,
    confidence: float = CONFIDENCE,
    weights: np.ndarray | None = None,
) -> Spread | None:
    """The spread of the mean of ``values``, for intervals of this confidence.

    A weighted mean is linearised: the deviation of a row counts with its weight. Rows of different weights are treated
    as groups of different sizes, so that the variance allows for the few rows that have most of the weight.

    None where it cannot be measured: a single row, fewer than four groups, or one group with most of the rows.
    """
    if len(values) < 2:
        return None
    deviations = values - mean_of(values, weights)
    if weights is not None:
        deviations = deviations * (weights / weights.mean())
        groups = np.arange(len(values)) if groups is None else groups
    squares = float(deviations @ deviations)
    dominance = float(np.max(deviations**2)) / squares if squares > 0 else 0.0
    if groups is not None:
        return _group_spread(deviations, groups, dominance, confidence, weights)
    n = len(values)
    error = float(np.sqrt(squares / (n - 1) / n))
    skewness = float((deviations**3).sum() / squares**1.5) if squares > 0 else 0.0
    return Spread(error, n - 1, skewness, dominance, confidence)


def _group_spread(
    deviations: np.ndarray, groups: np.ndarray, dominance: float, confidence: float, row_weights: np.ndarray | None
) -> Spread | None:
    """Spread over groups.

    Each group's squared deviation is divided by the fraction of its variance that remains after subtracting the mean.
    This makes the variance unbiased where rows of a group are alike, as CR2 is where they are independent; the
    degrees of freedom are Satterthwaite's for the same case (Bell and McCaffrey 2002).
    """
    codes = np.unique(groups, return_inverse=True)[1]
    counts = np.bincount(codes, row_weights)
    weights = counts / counts.sum()
    if len(counts) < MIN_GROUPS or weights.max() > MAX_GROUP_FRACTION:
        return None
    sums, concentration = np.bincount(codes, weights=deviations) / len(deviations), float(weights @ weights)
    remaining = 1 - 2 * weights + concentration
    variance = float((sums**2 / remaining).sum())
    squares = float(sums @ sums)
    skewness = float((sums**3).sum() / squares**1.5) if squares > 0 and len(counts) >= MIN_SKEW_GROUPS else 0.0
    dof = _degrees_of_freedom(weights, remaining, concentration)
    return Spread(variance**0.5, dof, skewness, dominance, confidence)


def _degrees_of_freedom(weights: np.ndarray, remaining: np.ndarray, concentration: float) -> float:
    """Squared trace divided by the trace of the square of the matrix whose quadratic form is the variance."""
    scale = weights**2 / remaining
    zero, one, two = (float((scale * weights**power).sum()) for power in range(3))
    trace = float((scale * remaining).sum())
    diagonal = float((scale**2 * (1 + 2 * (concentration - 2 * weights))).sum())
    rest = concentration**2 * zero**2 + 2 * two * zero - 4 * concentration * one * zero + 2 * one**2
    return trace**2 / (diagonal + rest)
