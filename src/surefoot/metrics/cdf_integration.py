"""The ranked probability score of any distribution, from its distribution function."""

from itertools import pairwise

import numpy as np

from surefoot.metrics.predicted import Predicted

# Between neighbouring quantiles a distribution function is smooth; beyond the last ones its square is negligible.
UPPER_KNOTS = (0.5, 0.8, 0.95, 0.995, 1 - 1e-4, 1 - 1e-6, 1 - 1e-9)
UPPER_MEMBER_KNOTS = (0.5, 0.8, 0.99, 1 - 1e-5, 1 - 1e-9)  # fewer in a mixture, as other members have knots between
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(10)


def score_by_integration(y: np.ndarray, predicted: Predicted) -> np.ndarray:
    """Integrate with Gauss-Legendre between quantiles, split at y: F squared below y, (1 - F) squared above it."""
    members = predicted.components or [predicted]
    upper = UPPER_KNOTS if len(members) == 1 else UPPER_MEMBER_KNOTS
    probabilities = sorted({*upper, *(1 - probability for probability in upper)})
    # A mixture has steps where a member has one, so the integral is split at each member's quantiles.
    knots = np.array([[member.quantile(probability) for probability in probabilities] for member in members])
    centre = knots[:, len(upper) - 1].mean(axis=0)
    bulk = knots[:, len(upper) - 2].min(axis=0), knots[:, len(upper)].max(axis=0)
    score = np.zeros(len(y))
    for left, right in pairwise(np.sort([*knots.reshape(-1, len(y)), y], axis=0)):
        in_tail = (right <= bulk[0]) | (left >= bulk[1])
        step = (left >= y).astype(np.float64)
        for node, node_weight in zip(NODES, NODE_WEIGHTS, strict=True):
            x, width = _place(left - centre, right - centre, in_tail, node)
            score += node_weight * width * (predicted.cdf(centre + x) - step) ** 2
    return score


def _place(left: np.ndarray, right: np.ndarray, in_tail: np.ndarray, node: float) -> tuple[np.ndarray, np.ndarray]:
    """The position of a node of [-1, 1] between two ends, and its width.

    In the tails, which may be very long, the nodes are spaced evenly in the logarithm of the distance to the centre.
    """
    half = (right - left) / 2
    with np.errstate(all="ignore"):
        log_ratio = np.log(right / left)
        far = left * np.exp(log_ratio * (1 + node) / 2)
        usable = in_tail & np.isfinite(far) & (left != right)
        return np.where(usable, far, left + half * (1 + node)), np.where(usable, far * log_ratio / 2, half)


def score_by_counting(y: np.ndarray, predicted: Predicted) -> np.ndarray:
    """Sum over whole numbers, between which the distribution function of counts is constant."""
    first, last = predicted.quantile(1 - UPPER_KNOTS[-1]), predicted.quantile(UPPER_KNOTS[-1])
    score = np.maximum(first - y, 0.0) + np.maximum(y - last - 1, 0.0)
    for step in range(int((last - first).max()) + 1):
        count = first + step
        at_most = predicted.cdf(count)
        below = np.clip(y - count, 0.0, 1.0)  # the part of [count, count + 1) that is below y
        score += np.where(count <= last, below * at_most**2 + (1 - below) * (1 - at_most) ** 2, 0.0)
    return score
