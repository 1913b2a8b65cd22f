"""Intervals of the prediction-rejection ratio."""

from dataclasses import replace

import numpy as np

from surefoot.metrics.intervals import Z
from surefoot.report.statistics.auc_intervals import Area, independent_rows
from surefoot.report.statistics.estimates import Estimate, withheld
from surefoot.report.statistics.spread import Spread, is_dominated, spread_of

MIN_ERRORS = 5.0
MIN_NUMBERS = 100


def rejection_ratio_interval(
    losses: np.ndarray, uncertainty: np.ndarray, groups: np.ndarray | None = None
) -> Estimate | None:
    """Prediction-rejection ratio of row losses; None where every row has the same loss.

    The ratio is the Gini correlation of losses and uncertainty; for losses of 0 and 1 it is twice the AUC of
    uncertainty for errors, minus 1. Losses between 0 and 1 have the interval of such an AUC, withheld below five errors
    (or correct rows). For other losses it is Fisher's interval, withheld below 100 rows or where a single row has most
    of the spread.
    """
    losses = np.asarray(losses, dtype=np.float64)
    if np.ptp(losses) == 0:
        return None
    ratio, influence = _gini_correlation(losses, uncertainty)
    spread = spread_of(influence, groups)
    if spread is None:
        return withheld(ratio)
    if losses.min() >= 0 and losses.max() <= 1:
        return _of_errors(ratio, influence, spread, losses, groups)
    if len(losses) < MIN_NUMBERS or is_dominated(spread.dominance):
        return withheld(ratio)
    return _fisher(ratio, spread.widened)


def _gini_correlation(losses: np.ndarray, uncertainty: np.ndarray) -> tuple[float, np.ndarray]:
    """The ratio, and the influence of each row on it (with a mean of 0)."""
    above, by_uncertainty = _concentration(losses, uncertainty)
    below, by_losses = _concentration(losses, losses)
    ratio = above / below
    return ratio, (by_uncertainty - ratio * by_losses) / below


def _concentration(losses: np.ndarray, order: np.ndarray) -> tuple[float, np.ndarray]:
    """Mean over pairs of the loss times the sign of the difference in ``order``, and the influence of each row."""
    ranked = np.argsort(order, kind="stable")
    left, right = (np.searchsorted(order[ranked], order, side) for side in ("left", "right"))
    n, sums = len(losses), np.concatenate([[0.0], np.cumsum(losses[ranked])])
    own = losses * (left + right - n) / n
    others = (sums[-1] - sums[right] - sums[left]) / n
    value = float(own.mean())
    return value, own + others - 2 * value


def _of_errors(
    ratio: float, influence: np.ndarray, spread: Spread, losses: np.ndarray, groups: np.ndarray | None
) -> Estimate:
    n_wrong, quantile = float(losses.sum()), Z
    n_right = len(losses) - n_wrong
    if groups is not None:
        fraction = independent_rows(groups, spread, influence) / len(losses)
        n_wrong, n_right, quantile = n_wrong * fraction, n_right * fraction, spread.quantile
    if min(n_wrong, n_right) < MIN_ERRORS:
        return withheld(ratio)
    half = Spread(spread.error / 2, spread.dof, 0.0, spread.dominance)
    low, high = Area((ratio + 1) / 2, n_wrong, n_right, half, influence, quantile).ends()
    return Estimate(ratio, 2 * low - 1, 2 * high - 1)


def _fisher(ratio: float, spread: Spread) -> Estimate:
    if abs(ratio) >= 1:
        return withheld(ratio)
    centre, factor = float(np.arctanh(ratio)), 1 / (1 - ratio**2)
    scaled = replace(spread, error=spread.error * factor)
    low, high = np.tanh(np.array(scaled.skewed_ends(centre)))
    return Estimate(ratio, min(float(low), ratio), max(float(high), ratio))
