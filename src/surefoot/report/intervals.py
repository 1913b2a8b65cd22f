"""95% intervals of what is measured on held-out rows."""

from collections.abc import Callable

import numpy as np
from scipy.special import stdtrit

from surefoot.metrics.intervals import CONFIDENCE, student_interval, wilson_interval
from surefoot.report.answers import Estimate

Z = 1.959963984540054
BOOTSTRAPS, GROUP_BOOTSTRAPS = 1000, 300
ENOUGH_GROUPS = 20  # to draw from


def share_interval(hits: np.ndarray, groups: np.ndarray | None = None) -> Estimate:
    """Share of the rows that are hits, with Wilson's interval; with that of groups if whole groups were drawn."""
    share = np.mean(hits)
    if groups is not None:
        return within(mean_interval(hits, groups), 0.0, 1.0)
    low, high = wilson_interval(share, len(hits))
    return Estimate(float(share), float(low), float(high))


def paired_share_difference(hits: np.ndarray, others: np.ndarray, groups: np.ndarray | None = None) -> Estimate:
    """Share of ``hits`` less that of ``others`` on the same rows, with the interval of Bonett and Price (2012).

    If whole groups were drawn, with that of groups.
    """
    if groups is not None:
        return within(mean_interval(hits * 1.0 - others, groups), -1.0, 1.0)
    n = len(hits)
    only, only_other = int(np.sum(hits & ~others)), int(np.sum(~hits & others))
    more, less = (only + 1) / (n + 2), (only_other + 1) / (n + 2)
    reach = Z * float(np.sqrt((more + less - (more - less) ** 2) / (n + 2)))
    value = (only - only_other) / n
    return Estimate(value, max(min(more - less - reach, value), -1.0), min(max(more - less + reach, value), 1.0))


def mean_interval(values: np.ndarray, groups: np.ndarray | None = None) -> Estimate:
    """Mean of the rows with Student's interval, for rows or for groups that were drawn; a single one has none."""
    if groups is not None:
        return _grouped_mean_interval(values, groups)
    return Estimate(float(np.mean(values)), *student_interval(values))


def root_of(mean: Estimate) -> Estimate:
    """Root of a mean of squared errors; its interval is the root of the mean's."""
    return Estimate(float(np.sqrt(mean.value)), float(np.sqrt(max(mean.low, 0.0))), float(np.sqrt(mean.high)))


def _grouped_mean_interval(values: np.ndarray, groups: np.ndarray) -> Estimate:
    _, codes = np.unique(groups, return_inverse=True)
    counts, mean = np.bincount(codes), float(np.mean(values))
    n_groups = len(counts)
    if n_groups < 2:
        return Estimate(mean, -np.inf, np.inf)
    off = np.bincount(codes, weights=values) - mean * counts
    error = float(np.sqrt((off**2).sum() * n_groups / (n_groups - 1))) / len(values)
    reach = float(stdtrit(n_groups - 1, (1 + CONFIDENCE) / 2)) * error
    return Estimate(mean, mean - reach, mean + reach)


def within(estimate: Estimate, least: float, most: float) -> Estimate:
    """The same, its interval cut off where no value can be."""
    return Estimate(estimate.value, max(estimate.low, least), min(estimate.high, most))


def bootstrap_interval(
    statistic: Callable[[np.ndarray], float],
    n_rows: int,
    seed: int,
    times: int = BOOTSTRAPS,
    groups: np.ndarray | None = None,
) -> Estimate:
    """``statistic(rows)`` of all rows, with the percentile interval of the same of rows drawn with replacement.

    With ``groups``, whole groups are drawn; if they are few, each is left out once instead.
    """
    value = statistic(np.arange(n_rows))
    generator = np.random.default_rng(seed)
    parts: list[np.ndarray] = []
    if groups is not None:
        codes = np.unique(groups, return_inverse=True)[1]
        parts = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
        if len(parts) < ENOUGH_GROUPS:
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
    """Student's interval by leaving out each group: of so few, a bootstrap draws hardly anything new."""
    n_groups = len(parts)
    if n_groups < 2:
        return Estimate(float(value), -np.inf, np.inf)
    without = np.array([statistic(np.concatenate([*parts[:k], *parts[k + 1 :]])) for k in range(n_groups)])
    error = float(np.sqrt((n_groups - 1) / n_groups * np.square(without - without.mean()).sum()))
    reach = float(stdtrit(n_groups - 1, (1 + CONFIDENCE) / 2)) * error
    if not np.isfinite(reach):
        return Estimate(float(value), -np.inf, np.inf)
    return Estimate(float(value), float(value) - reach, float(value) + reach)


def auc_interval(scores: np.ndarray, positive: np.ndarray, groups: np.ndarray | None = None) -> Estimate | None:
    """Chance that a positive row scores higher than another; None where only one kind is there.

    The interval is DeLong's, on the logit scale, so that it stays between 0 and 1; of groups, a bootstrap's.
    """
    if positive.all() or not positive.any():
        return None
    if groups is not None:
        found = bootstrap_interval(
            lambda rows: _auc(scores[rows], positive[rows]), len(positive), 0, GROUP_BOOTSTRAPS, groups
        )
        return within(found, 0.0, 1.0)
    of_above, of_below = _placements(scores, positive)
    n, m = len(of_above), len(of_below)
    auc, variance = float(of_above.mean()), _variance_of_mean(of_above) + _variance_of_mean(of_below)
    clipped = min(max(auc, 0.5 / (n * m)), 1 - 0.5 / (n * m))
    logit, reach = np.log(clipped / (1 - clipped)), Z * np.sqrt(variance) / (clipped * (1 - clipped))
    low, high = (float(1 / (1 + np.exp(-np.clip(edge, -700, 700)))) for edge in (logit - reach, logit + reach))
    return Estimate(auc, min(low, auc), max(high, auc))


def paired_auc_difference(
    first: np.ndarray, second: np.ndarray, positive: np.ndarray, groups: np.ndarray | None = None
) -> Estimate | None:
    """AUC of the first scores less that of the second, of the same rows, with DeLong's interval; of groups as above."""
    if positive.all() or not positive.any():
        return None
    if groups is not None:

        def apart(rows: np.ndarray) -> float:
            return _auc(first[rows], positive[rows]) - _auc(second[rows], positive[rows])

        return within(bootstrap_interval(apart, len(positive), 0, GROUP_BOOTSTRAPS, groups), -1.0, 1.0)
    of_above, of_below = (
        one - other for one, other in zip(_placements(first, positive), _placements(second, positive), strict=True)
    )
    value, reach = float(of_above.mean()), Z * float(np.sqrt(_variance_of_mean(of_above) + _variance_of_mean(of_below)))
    return Estimate(value, max(value - reach, -1.0), min(value + reach, 1.0))


def _auc(scores: np.ndarray, positive: np.ndarray) -> float:
    """NaN where only one kind is there."""
    both = positive.any() and not positive.all()
    return float(_placements(scores, positive)[0].mean()) if both else float("nan")


def _placements(scores: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each positive row, the share of others that score lower; for each other, of positive ones that do higher."""
    above, below = scores[positive], scores[~positive]
    n, m = len(above), len(below)
    ranks = _mid_ranks(np.concatenate([above, below]))
    return (ranks[:n] - _mid_ranks(above)) / m, 1 - (ranks[n:] - _mid_ranks(below)) / n


def _variance_of_mean(values: np.ndarray) -> float:
    """The most that there can be if there is but one."""
    return float(np.var(values, ddof=1)) / len(values) if len(values) > 1 else 0.25


def _mid_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1, those of equal values shared."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place]
