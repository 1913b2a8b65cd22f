"""The continuous ranked probability score of each row: the integral of (F(x) - 1[y <= x])^2 over x.

With X and X' drawn from the prediction it is E|X - y| - E|X - X'|/2, which equals
y (2 F(y) - 1) + 2 E[X; X < X'] - 2 E[X; X < y]. The families below have closed forms for these (single distributions:
Jordan, Krüger & Lerch 2019), and a mixture has a term for each pair of members. Parameters are computed from the
moments and quantiles that every distribution has. All other distributions are integrated numerically.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import betainc, betaln, gammainc, gammaln, i0e, i1e, log_ndtr, ndtr, pdtr, stdtr, xlogy

from surefoot.metrics.cdf_integration import score_by_counting, score_by_integration
from surefoot.metrics.predicted import Predicted
from surefoot.metrics.student_t_distance import student_t_distance

ONE_SIGMA = float(ndtr(1.0))
NEARLY_EQUAL = 1e-5  # for a smaller relative difference of two scales, a derivative replaces a difference quotient


def ranked_probability_scores(y: np.ndarray, predicted: Predicted) -> np.ndarray:
    """The score of each row, in the units of ``y``."""
    members = predicted.components or [predicted]
    families = {member.family for member in members}
    family = families.pop() if len(families) == 1 else None
    with np.errstate(over="ignore", under="ignore"):  # a target far in the tail has a large but finite score
        if family in MIXTURE_SCORES:
            return MIXTURE_SCORES[family](y, members)
        if family == "poisson" and len(members) == 1:
            return _score_poisson(y, members[0])
        if family == "student_t" and all(np.all(member.parameters.get("df", 0.0) > 2) for member in members):
            if len(members) == 1:
                return _score_student_t(y, members[0])
            if len(np.unique([member.parameters["df"] for member in members])) == 1:
                return _score_student_t_mixture(y, members)
        return score_by_counting(y, predicted) if predicted.is_discrete else score_by_integration(y, predicted)


def _score_normals(y: np.ndarray, members: Sequence[Predicted]) -> np.ndarray:
    means, stds = np.array([member.mean for member in members]), np.array([member.std for member in members])
    return _score_by_distances(y, means, stds, _normal_distance)


def _score_laplaces(y: np.ndarray, members: Sequence[Predicted]) -> np.ndarray:
    means, stds = np.array([member.mean for member in members]), np.array([member.std for member in members])
    return _score_by_distances(y, means, stds / np.sqrt(2), _laplace_distance)


def _score_by_distances(
    y: np.ndarray, locations: np.ndarray, scales: np.ndarray, mean_distance: Callable[..., np.ndarray]
) -> np.ndarray:
    """The score of mixtures of a family with a known ``mean_distance`` E|shift + scale Z - other_scale Z'|."""
    n_members = len(locations)
    to_target = mean_distance(y - locations, scales, np.zeros_like(scales)).mean(axis=0)
    within = mean_distance(np.zeros_like(scales), scales, scales).sum(axis=0)
    for m in range(n_members - 1):
        shifts = locations[m + 1 :] - locations[m]
        within += 2 * mean_distance(shifts, scales[m + 1 :], scales[m]).sum(axis=0)
    return to_target - within / (2 * n_members**2)


def _normal_distance(shift: np.ndarray, scale: np.ndarray, other_scale: np.ndarray) -> np.ndarray:
    std = np.hypot(scale, other_scale)
    z = shift / std
    return shift * (2 * ndtr(z) - 1) + std * np.sqrt(2 / np.pi) * np.exp(-z * z / 2)


def _laplace_distance(shift: np.ndarray, scale: np.ndarray, other_scale: np.ndarray) -> np.ndarray:
    large, small = np.maximum(scale, other_scale), np.minimum(scale, other_scale)
    ratio, distance = small / large, np.abs(shift)
    middle = (large + small) / 2
    alike = np.exp(-distance / middle) * (3 * middle + distance) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        small_tail = np.where(small > 0, ratio**3 * np.exp(-distance / small), 0.0)
        unlike = large * (np.exp(-distance / large) - small_tail) / (1 - ratio**2)
    return distance + np.where(ratio > 1 - NEARLY_EQUAL, alike, unlike)


def _score_lognormals(y: np.ndarray, members: Sequence[Predicted]) -> np.ndarray:
    mu = np.log([member.quantile(0.5) for member in members])
    sigma = np.log([member.quantile(ONE_SIGMA) for member in members]) - mu
    log_mean = mu + sigma**2 / 2  # with logarithms, huge means times tiny probabilities do not overflow
    with np.errstate(divide="ignore"):
        z = (np.log(np.maximum(y, 0.0)) - mu) / sigma
    score = (y * (2 * ndtr(z) - 1) - 2 * np.exp(log_mean + log_ndtr(z - sigma))).mean(axis=0)
    for other_mu, other_sigma in zip(mu, sigma, strict=True):
        z = (other_mu - mu - sigma**2) / np.hypot(sigma, other_sigma)
        score += 2 * np.exp(log_mean + log_ndtr(z)).sum(axis=0) / len(members) ** 2
    return score


def _score_gammas(y: np.ndarray, members: Sequence[Predicted]) -> np.ndarray:
    mean, std = np.array([member.mean for member in members]), np.array([member.std for member in members])
    shape, scale = (mean / std) ** 2, std * (std / mean)
    x = np.maximum(y, 0.0) / scale
    score = (y * (2 * gammainc(shape, x) - 1) - 2 * mean * gammainc(shape + 1, x)).mean(axis=0)
    for other_shape, other_scale in zip(shape, scale, strict=True):
        below_other = betainc(shape + 1, other_shape, other_scale / (scale + other_scale))
        score += 2 * (mean * below_other).sum(axis=0) / len(members) ** 2
    return score


def _score_student_t(y: np.ndarray, predicted: Predicted) -> np.ndarray:
    df = predicted.parameters["df"]
    scale = predicted.std * np.sqrt((df - 2) / df)
    z = (y - predicted.mean) / scale
    # The density times (df + z^2) in one expression: far in the tail, the product would be 0 times infinity.
    weighted_density = np.exp(np.log(df) / 2 - betaln(0.5, df / 2) - (df - 1) / 2 * np.log1p(z * z / df))
    spread = np.sqrt(df) * np.exp(betaln(0.5, df - 0.5) - 2 * betaln(0.5, df / 2))
    return scale * (z * (2 * stdtr(df, z) - 1) + 2 * (weighted_density - spread) / (df - 1))


def _score_student_t_mixture(y: np.ndarray, members: Sequence[Predicted]) -> np.ndarray:
    """The score of mixtures of members with the same degrees of freedom."""
    df = float(members[0].parameters["df"].flat[0])
    means, stds = np.array([member.mean for member in members]), np.array([member.std for member in members])
    return _score_by_distances(y, means, stds * np.sqrt((df - 2) / df), student_t_distance(df))


def _score_poisson(y: np.ndarray, predicted: Predicted) -> np.ndarray:
    mean = predicted.mean
    count = np.floor(np.maximum(y, 0.0))
    mass = np.where(y < 0, 0.0, np.exp(xlogy(count, mean) - mean - gammaln(count + 1)))
    at_most = np.where(y < 0, 0.0, pdtr(count, mean))
    return (y - mean) * (2 * at_most - 1) + 2 * mean * mass - mean * (i0e(2 * mean) + i1e(2 * mean))


MIXTURE_SCORES: dict[str | None, Callable[[np.ndarray, Sequence[Predicted]], np.ndarray]] = {
    "normal": _score_normals,
    "laplace": _score_laplaces,
    "lognormal": _score_lognormals,
    "gamma": _score_gammas,
}
