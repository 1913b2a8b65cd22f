"""A target as its distribution sees it: which rows count, its centre and spread, how finely it is written down."""

import math

import numpy as np

from surefoot.uncertainty.distribution import within_floats

FINEST = 1e-4  # no scale below this share of the target's spread
ROUNDING = 1e-6  # values closer than this share of the spread are one value: they differ by rounding
MIN_SPREAD = 1e-290  # divided by less than this, a target could leave the range of floats


def rows_with_weight(values: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The values that have weight, and each one's share of the whole weight."""
    if weights is None:
        return values, np.full(len(values), 1 / len(values))
    shares = weights[weights > 0] / weights.max()  # weights of any size: only their ratios count
    return values[weights > 0], shares / shares.sum()


def weighted_sum(values: np.ndarray, shares: np.ndarray) -> float:
    """Sum of products; not by BLAS, whose last digits (and so the model's) depend on how many threads it may use."""
    return float((values * shares).sum())


def centre_and_spread(values: np.ndarray, shares: np.ndarray) -> tuple[float, float]:
    """Weighted mean and standard deviation, for values as large as floats can be; the spread of a constant is 1."""
    size = max(float(np.abs(values).max()), MIN_SPREAD)
    unit = values / size
    centre = min(max(weighted_sum(unit, shares), float(unit.min())), float(unit.max()))  # a constant is its own mean
    spread = math.sqrt(min(weighted_sum((unit - centre) ** 2, shares), 1.0))  # rounding must not lift it above the size
    if spread == 0:
        return centre * size, 1.0
    return centre * size, max(spread * size, MIN_SPREAD)


def standardise(values: np.ndarray, location: float, spread: float) -> np.ndarray:
    """``(values - location) / spread``, by halves: the difference of two large numbers may be too large."""
    with np.errstate(over="ignore"):
        return within_floats((0.5 * values - 0.5 * location) / (0.5 * spread))


def finest_scale(standardised: np.ndarray) -> float:
    """The smallest scale that the target can support, as a share of its spread.

    A number written down in steps of ``gap`` is known to no better than ``gap / sqrt(12)``, the standard deviation of
    its rounding. Whatever the gap, the best constant scale (1) must remain possible.
    """
    gaps = np.diff(np.unique(standardised))
    gaps = gaps[gaps > ROUNDING]
    gap = float(gaps.min()) if len(gaps) else 0.0
    return min(max(gap / math.sqrt(12), FINEST), 1.0)
