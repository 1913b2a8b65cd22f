"""Weights as whole numbers."""

import numpy as np

from surefoot.boosting.stump_rounds import START_TOTAL


def whole_weights(weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights as whole numbers that add up to about ``START_TOTAL``, and the power of two that leads back.

    A power of two keeps ratios exact: a row of weight 3 stays exactly three rows of weight 1. A weight above zero never
    becomes zero.
    """
    unit = np.ldexp(weights, -np.frexp(weights.max())[1])  # at most 1: their sum cannot overflow
    shift = int(np.frexp(START_TOTAL / unit.sum())[1]) - 1
    np.ldexp(unit, shift, out=unit)
    np.rint(unit, out=unit)
    whole = unit.astype(np.int64)
    whole[(whole == 0) & (weights > 0)] = 1
    return whole, 2.0**-shift
