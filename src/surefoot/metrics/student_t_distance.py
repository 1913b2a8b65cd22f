"""The mean distance of Student t variables with the same degrees of freedom."""

from collections.abc import Callable

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import betaln, stdtr

NEGLIGIBLE = 25.0  # e to the power of minus this is negligible
N_KNOTS = 1500
MAX_STEP = 0.25  # of the trapezoidal rule; its error decreases exponentially in one over the step


def student_t_distance(df: float) -> Callable[..., np.ndarray]:
    """The function E|shift + scale T - other_scale T'| of shift, scale and other_scale, with T and T' independent.

    Given the variable with the smaller scale, there is a closed form. Its mean over that variable has none, but it is a
    smooth integral: with ``T = sqrt(df) sinh(x)``, where x has the density ``cosh(x)**-df`` up to a constant, a few
    dozen nodes are enough. The closed form is tabulated, because the distribution function of a Student t is expensive.
    """
    nodes, weights = _nodes(df)
    excess, last = _excess(df)

    def mean_distance(shift: np.ndarray, scale: np.ndarray, other_scale: np.ndarray) -> np.ndarray:
        large, small = np.maximum(scale, other_scale), np.minimum(scale, other_scale)
        centre, ratio = shift / large, small / large
        total = np.zeros(np.broadcast_shapes(centre.shape, ratio.shape))
        for node, weight in zip(nodes, weights, strict=True):
            distance = np.abs(centre - ratio * node)
            total += weight * (distance + excess(np.minimum(np.arcsinh(distance / np.sqrt(df)), last)))
        return large * total

    return mean_distance


def _nodes(df: float) -> tuple[np.ndarray, np.ndarray]:
    """Values of T and their weights, which sum to 1."""
    step = min(MAX_STEP, 0.7 / np.sqrt(df))
    furthest = np.arccosh(np.exp(NEGLIGIBLE / (df - 1.0)))
    n_steps = int(np.ceil(furthest / step))
    x = step * np.arange(-n_steps, n_steps + 1)
    weights = np.cosh(x) ** -df
    return np.sqrt(df) * np.sinh(x), weights / weights.sum()


def _excess(df: float) -> tuple[CubicSpline, float]:
    """The difference of E|T - u| and u as a function of arcsinh(u / sqrt(df)), and where it becomes negligible."""
    x = np.linspace(0.0, np.arccosh(np.exp(NEGLIGIBLE / (df - 1.0))), N_KNOTS)
    u = np.sqrt(df) * np.sinh(x)
    # The density times (df + u^2) in one expression: far in the tail, the product would be 0 times infinity.
    weighted_density = np.exp(np.log(df) / 2 - betaln(0.5, df / 2) - (df - 1) * np.log(np.cosh(x)))
    return CubicSpline(x, 2 * weighted_density / (df - 1) - 2 * u * stdtr(df, -u)), float(x[-1])
