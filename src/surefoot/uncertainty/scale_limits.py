"""How much a row can have done to its own residual, and how small a scale may be."""

from math import exp, inf, log, sqrt

import numpy as np

MOST_LEVERAGE = log(10.0)  # a residual is stretched at most tenfold (at honesty 1)
LEAST_ROOM = 1.3  # a scale may be below the typical one by this factor, however few the rows
ROOM, ROOM_ROWS = 1.5, 1000.0  # and among so many rows by this one: it grows with the root of their number


def scale_bounds(typical: float, n_train: float, dispersion_sign: float) -> tuple[float, float]:
    """Least and most of the last output: no row is much more precise than the typical one, unless rows are many.

    A small scale is learned from the few rows of its kind, and the next of that kind may be the first outlier.
    ``dispersion_sign`` is that of the family: where it is -1, the output is the log of a shape, which counts twice.
    """
    step = log(max(LEAST_ROOM, ROOM * sqrt(n_train / ROOM_ROWS)))
    return (typical - step, inf) if dispersion_sign > 0 else (-inf, typical + 2.0 * step)


def most_leverage(twins: np.ndarray) -> np.ndarray:
    """Most leverage that a row can have which is one of so many alike."""
    alone = np.minimum(1.0 / np.maximum(twins, 1.0), 1.0 - exp(-MOST_LEVERAGE))
    return -np.log1p(-alone)
