"""The area under the ROC curve (AUC) and its intervals."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from surefoot.metrics.auc import auc_of_ranks
from surefoot.metrics.intervals import Z
from surefoot.report.statistics.estimates import Estimate, withheld
from surefoot.report.statistics.standard_errors import Spread, mean_of, size_of, spread_of

Weights = np.ndarray | None

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


def auc_interval(
    scores: np.ndarray, positive: np.ndarray, groups: np.ndarray | None = None, weights: Weights = None
) -> Estimate | None:
    """Probability that a positive row scores higher than a negative one; None if there are rows of one kind only.

    With groups it is withheld where they are too few or one has most of the rows.
    """
    if positive.all() or not positive.any():
        return None
    area = area_of(scores, positive, groups, weights)
    return withheld(_value(scores, positive, weights)) if area is None else Estimate(area.value, *area.ends())


def _value(scores: np.ndarray, positive: np.ndarray, weights: Weights) -> float:
    if weights is None:
        return auc_of_ranks(rankdata(scores), positive)
    return mean_of(placements(scores, positive, weights)[0], weights[positive])


def paired_auc_difference(
    first: np.ndarray,
    second: np.ndarray,
    positive: np.ndarray,
    groups: np.ndarray | None = None,
    weights: Weights = None,
) -> Estimate | None:
    """AUC of the first scores minus that of the second, on the same rows.

    The interval comes from those of the two and their correlation (Zou 2007).
    """
    if positive.all() or not positive.any():
        return None
    one, other = (area_of(scores, positive, groups, weights) for scores in (first, second))
    if one is None or other is None:
        return withheld(_value(first, positive, weights) - _value(second, positive, weights))
    difference = spread_of(one.influence - other.influence, groups, weights=weights)
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


def area_of(
    scores: np.ndarray, positive: np.ndarray, groups: np.ndarray | None, weights: Weights = None
) -> Area | None:
    """The area and its parts; None if the groups are too few or too unequal."""
    of_above, of_below = placements(scores, positive, weights)
    ours, theirs = (None, None) if weights is None else (weights[positive], weights[~positive])
    value, n, m = mean_of(of_above, ours), len(of_above), len(of_below)
    of_all = np.ones(n + m) if weights is None else weights
    total, of_positive, of_negative = of_all.sum(), of_all[positive].sum(), of_all[~positive].sum()
    influence = np.empty(n + m)
    influence[positive] = total / of_positive * (of_above - value)
    influence[~positive] = total / of_negative * (of_below - value)
    if groups is None and weights is None:
        variance = _variance_of_mean(of_above) + _variance_of_mean(of_below)
        return Area(value, n, m, Spread(variance**0.5, n + m - 2, 0.0, 0.0), influence, Z)
    spread = spread_of(influence, groups, weights=weights)
    if spread is None:
        return None
    n_effective, m_effective = size_of(of_above, ours), size_of(of_below, theirs)
    if groups is not None:
        n_effective, m_effective = (
            independent_rows(groups[kind], spread, influence, size, weights)
            for kind, size in ((positive, n_effective), (~positive, m_effective))
        )
    return Area(value, n_effective, m_effective, spread, influence, spread.quantile)


def independent_rows(
    groups: np.ndarray, spread: Spread, influence: np.ndarray, n_rows: float, weights: Weights = None
) -> float:
    """The number of independent rows with the same standard error as the groups: from one per group to all rows."""
    alone = spread_of(influence, weights=weights)
    n_groups = min(float(len(np.unique(groups))), n_rows)
    if alone is None or alone.error == 0 or spread.error == 0:
        return n_groups
    return float(np.clip(n_rows * (alone.error / spread.error) ** 2, n_groups, n_rows))


def placements(scores: np.ndarray, positive: np.ndarray, weights: Weights = None) -> tuple[np.ndarray, np.ndarray]:
    """The fraction of negative rows below each positive row, and of positive rows above each negative row."""
    above, below = scores[positive], scores[~positive]
    ours, theirs = (None, None) if weights is None else (weights[positive], weights[~positive])
    return _fraction_below(above, below, theirs), 1 - _fraction_below(below, above, ours)


def _fraction_below(values: np.ndarray, others: np.ndarray, weights: Weights = None) -> np.ndarray:
    """The fraction of the others below each value; ties count one half."""
    order = np.argsort(others, kind="stable")
    others = others[order]
    mass = np.arange(len(others) + 1.0) if weights is None else np.concatenate([[0.0], np.cumsum(weights[order])])
    below, up_to = (mass[np.searchsorted(others, values, side)] for side in ("left", "right"))
    return np.asarray((below + up_to) / (2 * mass[-1]))


def _variance_of_mean(values: np.ndarray) -> float:
    """The largest possible variance if there is a single value."""
    return float(np.var(values, ddof=1)) / len(values) if len(values) > 1 else 0.25
