"""The continuous ranked probability score of each row: the integral of (F(x) - 1[y <= x])^2 over x.

Closed forms are those collected by Jordan, Krüger & Lerch (2019); the parameters are read off the moments and quantiles
that every distribution offers. Everything else is integrated from its distribution function.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy.special import beta, gammainc, gammaln, i0e, i1e, log_ndtr, ndtr, pdtr, xlogy

from surefoot.metrics.predicted import Predicted

ONE_SIGMA = float(ndtr(1.0))
# Between neighbouring quantiles a distribution function is smooth; beyond the last ones its square is negligible.
UPPER_KNOTS = (0.5, 0.8, 0.95, 0.995, 1 - 1e-4, 1 - 1e-6, 1 - 1e-9)
UPPER_MEMBER_KNOTS = (0.5, 0.9, 0.999, 1 - 1e-6, 1 - 1e-9)  # of a mixture, where those of the others lie between
N_NODES, N_MEMBER_NODES = 12, 8


def ranked_probability_scores(y: np.ndarray, predicted: Predicted) -> np.ndarray:
    """Score of each row, in the units of ``y``."""
    components = predicted.components
    with np.errstate(over="ignore", under="ignore"):  # a target far out makes a large score, nothing worse
        if components and all(component.family == "normal" for component in components):
            return _of_normal_mixture(y, components)
        if predicted.family in CLOSED_FORMS:
            return CLOSED_FORMS[predicted.family](y, predicted)
        if predicted.is_discrete:
            return _by_counting(y, predicted)
        return _by_integration(y, predicted)


def _of_normal(y: np.ndarray, predicted: Predicted) -> np.ndarray:
    std = predicted.std
    return _mean_distance(y - predicted.mean, std) - std / np.sqrt(np.pi)


def _of_normal_mixture(y: np.ndarray, components: list[Predicted]) -> np.ndarray:
    """E|X - y| - E|X - X'|/2, where X and X' may come from any two components."""
    means = np.array([component.mean for component in components])
    stds = np.array([component.std for component in components])
    to_target = _mean_distance(y - means, stds).mean(axis=0)
    within = stds.sum(axis=0) * 2 / np.sqrt(np.pi)
    for m in range(len(components) - 1):
        within += 2 * _mean_distance(means[m + 1 :] - means[m], np.hypot(stds[m + 1 :], stds[m])).sum(axis=0)
    return to_target - within / (2 * len(components) ** 2)


def _mean_distance(shift: np.ndarray, std: np.ndarray) -> np.ndarray:
    """E|shift + std Z| of a standard normal Z."""
    z = shift / std
    return shift * (2 * ndtr(z) - 1) + std * np.sqrt(2 / np.pi) * np.exp(-z * z / 2)


def _of_laplace(y: np.ndarray, predicted: Predicted) -> np.ndarray:
    b = predicted.std / np.sqrt(2)
    z = np.abs(y - predicted.mean) / b
    return b * (z + np.exp(-z) - 0.75)


def _of_lognormal(y: np.ndarray, predicted: Predicted) -> np.ndarray:
    mu = np.log(predicted.quantile(0.5))
    sigma = np.log(predicted.quantile(ONE_SIGMA)) - mu
    with np.errstate(divide="ignore"):
        z = (np.log(np.maximum(y, 0.0)) - mu) / sigma
    log_mean = mu + sigma**2 / 2  # products with tiny probabilities are made as sums of logarithms: no overflow
    below = np.exp(log_mean + log_ndtr(z - sigma))
    spread = np.exp(log_mean + log_ndtr(-sigma / np.sqrt(2)))
    return y * (2 * ndtr(z) - 1) - 2 * below + 2 * spread


def _of_gamma(y: np.ndarray, predicted: Predicted) -> np.ndarray:
    mean = predicted.mean
    shape = (mean / predicted.std) ** 2
    x = np.maximum(y, 0.0) * shape / mean
    spread = mean / (shape * beta(0.5, shape))
    return y * (2 * gammainc(shape, x) - 1) - mean * (2 * gammainc(shape + 1, x) - 1) - spread


def _of_poisson(y: np.ndarray, predicted: Predicted) -> np.ndarray:
    mean = predicted.mean
    count = np.floor(np.maximum(y, 0.0))
    mass = np.where(y < 0, 0.0, np.exp(xlogy(count, mean) - mean - gammaln(count + 1)))
    at_most = np.where(y < 0, 0.0, pdtr(count, mean))
    return (y - mean) * (2 * at_most - 1) + 2 * mean * mass - mean * (i0e(2 * mean) + i1e(2 * mean))


def _by_integration(y: np.ndarray, predicted: Predicted) -> np.ndarray:
    """Gauss-Legendre between quantiles, cut at y: the square of F up to y, that of 1 - F from there on."""
    members = predicted.components
    upper = UPPER_MEMBER_KNOTS if members else UPPER_KNOTS
    probabilities = sorted({*upper, *(1 - probability for probability in upper)})
    # A mixture has steps wherever a member has one, so each member's quantiles cut the line.
    knots = [member.quantile(probability) for member in members or [predicted] for probability in probabilities]
    nodes, node_weights = np.polynomial.legendre.leggauss(N_MEMBER_NODES if members else N_NODES)
    score = np.zeros(len(y))
    for left, right in pairwise(np.sort([*knots, y], axis=0)):
        half = (right - left) / 2
        step = (left >= y).astype(np.float64)
        for node, node_weight in zip(nodes, node_weights, strict=True):
            score += node_weight * half * (predicted.cdf(left + half * (1 + node)) - step) ** 2
    return score


def _by_counting(y: np.ndarray, predicted: Predicted) -> np.ndarray:
    """Sum over whole numbers, between which the distribution function stands still."""
    first = predicted.quantile(1 - UPPER_KNOTS[-1])
    last = predicted.quantile(UPPER_KNOTS[-1])
    score = np.maximum(first - y, 0.0) + np.maximum(y - last - 1, 0.0)
    for step in range(int((last - first).max()) + 1):
        count = first + step
        at_most = predicted.cdf(count)
        below = np.clip(y - count, 0.0, 1.0)  # the part of [count, count + 1) that lies below y
        score += np.where(count <= last, below * at_most**2 + (1 - below) * (1 - at_most) ** 2, 0.0)
    return score


CLOSED_FORMS: dict[str | None, Callable[[np.ndarray, Predicted], np.ndarray]] = {
    "normal": _of_normal,
    "laplace": _of_laplace,
    "lognormal": _of_lognormal,
    "gamma": _of_gamma,
    "poisson": _of_poisson,
}
