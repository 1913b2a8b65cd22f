"""Families of distributions, row by row in plain Python, and examples of them for the tests.

The twins give (steps, scores) or a likelihood for one row, straight from the textbook formulas.
"""

import math

import numpy as np
from scipy import special

from surefoot.uncertainty.families import (
    Gamma,
    Laplace,
    LogNormal,
    NegativeBinomial,
    Normal,
    Poisson,
    StudentT,
    ZeroInflatedPoisson,
)

REGRESSION = {
    "normal": Normal(),
    "lognormal": LogNormal(),
    "laplace": Laplace(),
    "student_t": StudentT(),
    "student_t_3": StudentT(df=3),
    "poisson": Poisson(),
    "gamma": Gamma(),
}


MORE = {  # their informations are bounded or approximate
    "negative_binomial": NegativeBinomial(),
    "zero_inflated_poisson": ZeroInflatedPoisson(),
}


def example_target(name, n=400, seed=0):
    """A target of the kind that the family ``name`` is for."""
    generator = np.random.default_rng(seed)
    if name in ("poisson", "negative_binomial", "zero_inflated_poisson"):
        return generator.poisson(generator.gamma(2.0, 2.0, n)).astype(float)
    if name == "gamma":
        return generator.gamma(2.5, 30.0, n)
    if name == "lognormal":
        return np.exp(generator.normal(3.0, 0.7, n))
    return generator.standard_t(5, n) * 20 + 150


def fitted(name, n=400, seed=0):
    """(family fitted to an example, internal target, raw outputs scattered around its start)."""
    y = example_target(name, n, seed)
    family = REGRESSION[name].fitted_to(y)
    internal = family.internal(y)
    noise = np.random.default_rng(seed + 1).normal(scale=0.3, size=(family.n_outputs, n))
    return family, internal, family.start(internal)[:, np.newaxis] + noise


def gradients_of(family, raw, y, stretch=None):
    """What the family writes into new arrays."""
    steps, scores = np.full_like(raw, np.nan), np.full_like(raw, np.nan)
    family.gradients(raw, y, np.ones(len(y)) if stretch is None else stretch, (0, len(y)), steps, scores)
    return steps, scores


def clip(value, least, most):
    return least if value < least else most if value > most else value


def inside(output, step, floor, cap):
    """The step, unless it leads further out of the bounds."""
    if (output <= floor and step < 0) or (output >= cap and step > 0):
        return 0.0
    return step


def normal_row(raw, y, stretch, floor, cap, z_max):
    sigma = math.exp(clip(raw[1], floor, cap))
    z = (y - raw[0]) / sigma
    scale_step = inside(raw[1], (clip(stretch * z, -z_max, z_max) ** 2 - 1) / 2, floor, cap)
    return (y - raw[0], scale_step), (clip(z, -z_max, z_max), scale_step * math.sqrt(2))


def normal_row_nll(raw, y, floor, cap):
    sigma = math.exp(clip(raw[1], floor, cap))
    return math.log(sigma * math.sqrt(2 * math.pi)) + ((y - raw[0]) / sigma) ** 2 / 2


def laplace_row(raw, y, stretch, floor, cap, z_max):
    b = math.exp(clip(raw[1], floor, cap))
    sign = 0.0 if y == raw[0] else math.copysign(1.0, y - raw[0])
    scale_step = inside(raw[1], min(stretch * abs(y - raw[0]) / b, z_max) - 1, floor, cap)
    return (b * sign, scale_step), (sign, scale_step)


def laplace_row_nll(raw, y, floor, cap):
    b = math.exp(clip(raw[1], floor, cap))
    return math.log(2 * b) + abs(y - raw[0]) / b


def student_t_row(raw, y, stretch, df, floor, cap, z_max):
    sigma = math.exp(clip(raw[1], floor, cap))
    z = (y - raw[0]) / sigma
    location_gradient = (df + 1) / (df + z * z) * z / sigma
    location_information = (df + 1) / ((df + 3) * sigma**2)
    z = clip(stretch * z, -z_max, z_max)
    scale_information = 2 * df / (df + 3)
    scale_step = inside(raw[1], ((df + 1) * z * z / (df + z * z) - 1) / scale_information, floor, cap)
    steps = location_gradient / location_information, scale_step
    location_score = location_gradient / math.sqrt(location_information)
    return steps, (clip(location_score, -z_max, z_max), scale_step * math.sqrt(scale_information))


def student_t_row_nll(raw, y, df, floor, cap):
    sigma = math.exp(clip(raw[1], floor, cap))
    z = (y - raw[0]) / sigma
    constant = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    return -constant + math.log(sigma) + (df + 1) / 2 * math.log(1 + z * z / df)


def poisson_row(raw, y, log_mean, floor, cap, ratio_max, z_max):
    mean = math.exp(log_mean + clip(raw[0], floor, cap))
    information = max(mean, 1 / ratio_max)
    step = inside(raw[0], min((y - mean) / information, ratio_max), floor, cap)
    return (step,), (clip(step * math.sqrt(information), -z_max, z_max),)


def poisson_row_nll(raw, y, log_mean, floor, cap):
    log_of_mean = log_mean + clip(raw[0], floor, cap)
    return math.exp(log_of_mean) - y * log_of_mean + math.lgamma(y + 1)


def exposed_poisson_row(raw, y, exposure, log_mean, floor, cap, ratio_max, z_max):
    """The step of a rate, y / exposure, whose weight is the exposure; counts and not rates are clipped."""
    mean = math.exp(log_mean + clip(raw[0], floor, cap))
    information = max(mean / exposure, 1 / ratio_max)
    step = inside(raw[0], min((y - mean) / information, ratio_max), floor, cap)
    return (step / exposure,), (clip(step * math.sqrt(information), -z_max, z_max) / exposure,)


def negative_binomial_row(raw, y, stretch, exposure, floor, cap, ratio_max, z_max):
    mean, alpha = math.exp(raw[0]), math.exp(clip(raw[1], floor, cap))
    base = max(mean / exposure, 1 / ratio_max)
    step = min((y - mean) / base, ratio_max)
    score = clip(step * math.sqrt(base / (1 + alpha * mean)), -z_max, z_max)
    k, count = 1 / alpha, max(mean + stretch * (y - mean), 0.0)
    by_size = special.digamma(count + k) - special.digamma(k) + math.log(k / (k + mean)) + 1 - (k + count) / (k + mean)
    root = math.sqrt(max(dispersion_information(mean, alpha), 1 / ratio_max))
    second = inside(raw[1], clip(-k * by_size / root, -z_max, z_max), floor, cap)
    return (step / exposure, second / root), (score / exposure, second / math.sqrt(exposure))


def dispersion_information(mean, alpha):
    """That of squared residuals (by the fourth moment of the distribution), and the limit for large means."""
    variance = mean + alpha * mean**2
    fourth = variance**2 * (3 + 6 * alpha) + variance
    third = variance * (1 + 2 * alpha * mean)
    noise = fourth - variance**2 + variance - 2 * third  # the variance of (y - mean)**2 - y
    of_squares = (alpha * mean**2) ** 2 / noise
    k = 1 / alpha
    of_gamma = k * k * special.polygamma(1, k) - k
    return 1 / (1 / of_squares + 1 / of_gamma - (2 + 6 * alpha))


def zero_inflated_row(raw, y, exposure, floor, cap, ratio_max, z_max):
    mean, zero = math.exp(raw[0]), special.expit(clip(raw[1], floor, cap))
    no_count = zero + (1 - zero) * math.exp(-mean)
    chances = [zero, (1 - zero) * math.exp(-mean)]
    gradient = y - mean if y > 0 else -mean * chances[1] / no_count
    of_zero = -zero if y > 0 else chances[0] / no_count - zero
    square = (1 - zero) * (mean - mean**2 * math.exp(-mean)) + no_count * (mean * chances[1] / no_count) ** 2
    square_of_zero = (1 - no_count) * zero**2 + no_count * (chances[0] / no_count - zero) ** 2
    base = max(square / exposure, 1 / ratio_max)
    step = min(gradient / base, ratio_max)
    root = math.sqrt(max(square_of_zero, 1 / ratio_max))
    second = inside(raw[1], clip(of_zero / root, -z_max, z_max), floor, cap)
    first_score = clip(step * math.sqrt(base), -z_max, z_max) / exposure
    return (step / exposure, second / root), (first_score, second / math.sqrt(exposure))


def quantile_row(raw, y, stretch, levels, floor, cap, z_max):
    """The steps of asymmetric Laplace distributions with one scale."""
    scale = math.exp(clip(raw[-1], floor, cap))
    signs = [0.0 if y == q else level - (y < q) for q, level in zip(raw, levels, strict=False)]
    losses = [(y - q) * sign for q, sign in zip(raw, signs, strict=False)]
    step = inside(raw[-1], sum(min(stretch * loss / scale, z_max) for loss in losses) / len(levels) - 1, floor, cap)
    steps = [scale * s / (level * (1 - level)) for s, level in zip(signs, levels, strict=True)]
    scores = [s / math.sqrt(level * (1 - level)) for s, level in zip(signs, levels, strict=True)]
    return (*steps, step), (*scores, step * math.sqrt(len(levels)))


def gamma_row(raw, y, stretch, floor, cap, ratio_max, z_max):
    k = math.exp(clip(raw[1], floor, cap))
    log_ratio = clip(y - raw[0], -600.0, 600.0)
    surplus = math.exp(log_ratio) - 1
    stretched = clip(stretch * log_ratio, -600.0, 600.0)
    excess = min(k * (math.exp(stretched) - 1 - stretched), z_max**2 / 2)
    gradient = inside(raw[1], k * (math.log(k) - special.digamma(k)) - excess, floor, cap)
    information = k * k * special.polygamma(1, k) - k
    steps = min(surplus, ratio_max), gradient / information
    return steps, (clip(math.sqrt(k) * surplus, -z_max, z_max), gradient / math.sqrt(information))


def gamma_row_nll(raw, y, floor, cap):
    """Of log(y / mean of the whole target)."""
    k = math.exp(clip(raw[1], floor, cap))
    log_ratio = clip(y - raw[0], -600.0, 600.0)
    return -(k * math.log(k) - math.lgamma(k) + k * log_ratio - k * math.exp(log_ratio))


def gamma_row_inverse_information(raw, floor, cap):
    k = math.exp(clip(raw[1], floor, cap))
    return 1 / k, 1 / (k * k * special.polygamma(1, k) - k)


def bernoulli_row(raw, y):
    """(step, information, minus the log of the probability)."""
    p = 1 / (1 + math.exp(-raw[0]))
    return y - p, p * (1 - p), -math.log(p if y == 1 else 1 - p)


def categorical_row(raw, y):
    """(steps, information, probabilities, minus the log of the probability)."""
    exponentials = [math.exp(score) for score in raw]
    probabilities = [exponential / sum(exponentials) for exponential in exponentials]
    steps = [(1 if k == y else 0) - p for k, p in enumerate(probabilities)]
    return steps, [p * (1 - p) for p in probabilities], probabilities, -math.log(probabilities[y])
