"""Percentile intervals of any statistic: a check of the intervals of the audit that have formulas."""

from collections.abc import Callable

import numpy as np
from scipy.special import stdtrit

from surefoot.metrics.intervals import CONFIDENCE
from surefoot.report.statistics import Estimate
from surefoot.report.statistics.standard_errors import MIN_GROUPS

BOOTSTRAPS = 1000
MIN_DRAWN_GROUPS = 20


def bootstrap_interval(
    statistic: Callable[[np.ndarray], float],
    n_rows: int,
    seed: int,
    times: int = BOOTSTRAPS,
    groups: np.ndarray | None = None,
) -> Estimate:
    """``statistic(rows)`` for all rows, with the percentile interval from rows drawn with replacement.

    With ``groups``, whole groups are drawn; if there are few groups, each is left out once instead.
    """
    value = statistic(np.arange(n_rows))
    generator = np.random.default_rng(seed)
    parts: list[np.ndarray] = []
    if groups is not None:
        codes = np.unique(groups, return_inverse=True)[1]
        parts = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
        if len(parts) < MIN_DRAWN_GROUPS:
            return _jackknife_interval(statistic, value, parts)

    def draw() -> np.ndarray:
        n_units = len(parts) or n_rows
        chosen = generator.integers(n_units, size=n_units)
        return np.concatenate([parts[k] for k in chosen]) if parts else chosen

    drawn = np.array([statistic(draw()) for _ in range(times)])
    drawn = drawn[np.isfinite(drawn)]
    low, high = np.quantile(drawn, [0.025, 0.975]) if len(drawn) else (-np.inf, np.inf)
    return Estimate(float(value), float(min(low, value)), float(max(high, value)))


def _jackknife_interval(statistic: Callable[[np.ndarray], float], value: float, parts: list[np.ndarray]) -> Estimate:
    """Student's interval by leaving out each group: a bootstrap of so few groups hardly draws anything new."""
    n_groups = len(parts)
    if n_groups < MIN_GROUPS:
        return Estimate(float(value), -np.inf, np.inf)
    without = np.array([statistic(np.concatenate([*parts[:k], *parts[k + 1 :]])) for k in range(n_groups)])
    error = float(np.sqrt((n_groups - 1) / n_groups * np.square(without - without.mean()).sum()))
    reach = float(stdtrit(n_groups - 1, (1 + CONFIDENCE) / 2)) * error
    if not np.isfinite(reach):
        return Estimate(float(value), -np.inf, np.inf)
    return Estimate(float(value), float(value) - reach, float(value) + reach)
