"""The area under the ROC curve (AUC) and its intervals."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from surefoot.metrics.auc import auc_of_ranks
from surefoot.metrics.intervals import Z
from surefoot.report.statistics.estimates import Estimate, withheld
from surefoot.report.statistics.spread import Spread, spread_of

BOUND_ROWS = 3.0  # rows of the smaller class, as the weight of the largest possible variance
MODEL_MISSES = 10.0  # misranked rows of the smaller class, as the weight of the model's variance
BISECTIONS = 60


@dataclass(frozen=True)
class Area:
    """An AUC and what its interval is made of: rows (or groups) of either class, and the influence of each row."""

    value: float
    n_positive: float
    n_negative: float
    spread: Spread
    influence: np.ndarray
    quantile: float

    def ends(self) -> tuple[float, float]:
        """The interval, by the variance that the area would have at each end of it.

        The variance is a mixture of three: the measured one (DeLong et al. 1988), which is unreliable where few rows
        are misranked; that of a model (Newcombe 2006), of the same size; and the largest that any scores can have.
        """
        clipped = min(max(self.value, 0.5 / self._pairs), 1 - 0.5 / self._pairs)
        smaller = min(self.n_positive, self.n_negative)
        measured = self.spread.error**2 / self._model_variance(clipped)
        doubt = MODEL_MISSES / (MODEL_MISSES + smaller * min(clipped, 1 - clipped))
        factor = measured + max(1 - measured, 0.0) * doubt
        trust = smaller / (smaller + BOUND_ROWS)

        def reach(area: float) -> float:
            bound = area * (1 - area) / smaller
            return self.quantile * (trust * factor * self._model_variance(area) + (1 - trust) * bound) ** 0.5

        return self._end(0.0, reach), self._end(1.0, reach)

    @property
    def _pairs(self) -> float:
        return self.n_positive * self.n_negative

    def _model_variance(self, area: float) -> float:
        others = (self.n_positive + self.n_negative) / 2 - 1
        return area * (1 - area) / self._pairs * (1 + others * ((1 - area) / (2 - area) + area / (1 + area)))

    def _end(self, far: float, reach: Callable[[float], float]) -> float:
        near = self.value
        for _ in range(BISECTIONS):
            middle = (far + near) / 2
            far, near = (middle, near) if abs(middle - self.value) > reach(middle) else (far, middle)
        return near


def auc_interval(scores: np.ndarray, positive: np.ndarray, groups: np.ndarray | None = None) -> Estimate | None:
    """Probability that a positive row scores higher than a negative one; None if there are rows of one kind only.

    With groups it is withheld where they are too few or one has most of the rows.
    """
    if positive.all() or not positive.any():
        return None
    area = area_of(scores, positive, groups)
    return withheld(auc_of_ranks(rankdata(scores), positive)) if area is None else Estimate(area.value, *area.ends())


def paired_auc_difference(
    first: np.ndarray, second: np.ndarray, positive: np.ndarray, groups: np.ndarray | None = None
) -> Estimate | None:
    """AUC of the first scores minus that of the second, on the same rows.

    The interval comes from those of the two and their correlation (Zou 2007).
    """
    if positive.all() or not positive.any():
        return None
    one, other = area_of(first, positive, groups), area_of(second, positive, groups)
    if one is None or other is None:
        return withheld(auc_of_ranks(rankdata(first), positive) - auc_of_ranks(rankdata(second), positive))
    difference = spread_of(one.influence - other.influence, groups)
    assert difference is not None
    product = one.spread.error * other.spread.error
    squares = one.spread.error**2 + other.spread.error**2
    correlation = min(max((squares - difference.error**2) / (2 * product), -1.0), 1.0) if product > 0 else 0.0
    (low, high), (low_other, high_other) = one.ends(), other.ends()
    value = one.value - other.value
    below = _distance(one.value - low, high_other - other.value, correlation)
    above = _distance(high - one.value, other.value - low_other, correlation)
    measured = one.quantile * difference.error
    return Estimate(value, max(value - max(below, measured), -1.0), min(value + max(above, measured), 1.0))


def _distance(first: float, second: float, correlation: float) -> float:
    return max(first**2 + second**2 - 2 * correlation * first * second, 0.0) ** 0.5


def area_of(scores: np.ndarray, positive: np.ndarray, groups: np.ndarray | None) -> Area | None:
    """The area and its parts; None if the groups are too few or too unequal."""
    of_above, of_below = placements(scores, positive)
    value, n, m = float(of_above.mean()), len(of_above), len(of_below)
    influence = np.empty(n + m)
    influence[positive], influence[~positive] = (n + m) / n * (of_above - value), (n + m) / m * (of_below - value)
    if groups is None:
        variance = _variance_of_mean(of_above) + _variance_of_mean(of_below)
        return Area(value, n, m, Spread(variance**0.5, n + m - 2, 0.0, 0.0), influence, Z)
    spread = spread_of(influence, groups)
    if spread is None:
        return None
    n_effective, m_effective = (independent_rows(groups[kind], spread, influence) for kind in (positive, ~positive))
    return Area(value, n_effective, m_effective, spread, influence, spread.quantile)


def independent_rows(groups: np.ndarray, spread: Spread, influence: np.ndarray) -> float:
    """The number of independent rows with the same standard error as the groups: from one per group to all rows."""
    alone = spread_of(influence)
    n_groups = float(len(np.unique(groups)))
    if alone is None or alone.error == 0 or spread.error == 0:
        return n_groups
    return float(np.clip(len(groups) * (alone.error / spread.error) ** 2, n_groups, len(groups)))


def placements(scores: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The fraction of negative rows below each positive row, and of positive rows above each negative row."""
    above, below = scores[positive], scores[~positive]
    return _fraction_below(above, below), 1 - _fraction_below(below, above)


def _fraction_below(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The fraction of the others below each value; ties count one half."""
    others = np.sort(others)
    return (np.searchsorted(others, values, "left") + np.searchsorted(others, values, "right")) / (2 * len(others))


def _variance_of_mean(values: np.ndarray) -> float:
    """The largest possible variance if there is a single value."""
    return float(np.var(values, ddof=1)) / len(values) if len(values) > 1 else 0.25
