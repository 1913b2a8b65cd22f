"""Intervals of the prediction-rejection ratio."""

from dataclasses import replace

import numpy as np

from surefoot.metrics.intervals import Z
from surefoot.report.statistics.auc_intervals import Area, independent_rows
from surefoot.report.statistics.estimates import Estimate, withheld
from surefoot.report.statistics.standard_errors import Spread, is_dominated, mean_of, size_of, spread_of

Weights = np.ndarray | None

MIN_ERRORS = 5.0
MIN_NUMBERS = 100


def rejection_ratio_interval(
    losses: np.ndarray, uncertainty: np.ndarray, groups: np.ndarray | None = None, weights: Weights = None
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
    ratio, influence = _gini_correlation(losses, uncertainty, weights)
    spread = spread_of(influence, groups, weights=weights)
    if spread is None:
        return withheld(ratio)
    if losses.min() >= 0 and losses.max() <= 1:
        return _of_errors(ratio, influence, spread, losses, groups, weights)
    if size_of(losses, weights) < MIN_NUMBERS or is_dominated(spread.dominance):
        return withheld(ratio)
    return _fisher(ratio, spread.widened)


def _gini_correlation(losses: np.ndarray, uncertainty: np.ndarray, weights: Weights) -> tuple[float, np.ndarray]:
    """The ratio, and the influence of each row on it (with a mean of 0)."""
    above, by_uncertainty = _concentration(losses, uncertainty, weights)
    below, by_losses = _concentration(losses, losses, weights)
    ratio = above / below
    return ratio, (by_uncertainty - ratio * by_losses) / below


def _concentration(losses: np.ndarray, order: np.ndarray, weights: Weights) -> tuple[float, np.ndarray]:
    """Mean over pairs of the loss times the sign of the difference in ``order``, and the influence of each row."""
    ranked = np.argsort(order, kind="stable")
    left, right = (np.searchsorted(order[ranked], order, side) for side in ("left", "right"))
    of_rows = np.ones(len(losses)) if weights is None else weights
    mass, sums = (np.concatenate([[0.0], np.cumsum(each[ranked])]) for each in (of_rows, of_rows * losses))
    own = losses * (mass[left] + mass[right] - mass[-1]) / mass[-1]
    others = (sums[-1] - sums[right] - sums[left]) / mass[-1]
    value = mean_of(own, weights)
    return value, own + others - 2 * value


def _of_errors(
    ratio: float,
    influence: np.ndarray,
    spread: Spread,
    losses: np.ndarray,
    groups: np.ndarray | None,
    weights: Weights,
) -> Estimate:
    n_rows, quantile = size_of(losses, weights), Z if groups is None and weights is None else spread.quantile
    n_wrong = float(losses.sum()) if weights is None else mean_of(losses, weights) * n_rows
    n_right = n_rows - n_wrong
    if groups is not None:
        fraction = independent_rows(groups, spread, influence, n_rows, weights) / n_rows
        n_wrong, n_right = n_wrong * fraction, n_right * fraction
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
