"""Simulated data with a known truth, for interval_coverage.py; the names of the cases are seeds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr, ndtri

from surefoot.report.statistics import (
    Estimate,
    auc_interval,
    explained_variance,
    mean_interval,
    mean_loss_interval,
    paired_auc_difference,
    paired_mean_difference,
    paired_rate_difference,
    paired_rms_ratio,
    rate_interval,
    rejection_ratio_interval,
    rms_ratio,
    root_mean_square_interval,
    unpaired_difference,
    unpaired_ratio,
)

Errors = Callable[[np.random.Generator, int], np.ndarray]
LARGE = 2_000_000  # rows for a truth without a formula
TAILS: dict[str, tuple[Errors, float]] = {  # errors and their mean square
    "normal": (lambda rng, n: rng.normal(size=n), 1.0),
    "Laplace": (lambda rng, n: rng.laplace(size=n), 2.0),
    "t5": (lambda rng, n: rng.standard_t(5, size=n), 5 / 3),
    "t3": (lambda rng, n: rng.standard_t(3, size=n), 3.0),
    "lognormal": (lambda rng, n: rng.lognormal(size=n) - np.exp(0.5), (np.e - 1) * np.e),
    "2% outliers": (lambda rng, n: rng.normal(size=n) * np.where(rng.random(n) < 0.02, 10, 1), 2.98),
}


@dataclass(frozen=True)
class Case:
    """A way to draw an estimate of a known truth."""

    name: str
    n: int
    truth: float
    draw: Callable[[np.random.Generator], Estimate | None]


def rmse_cases() -> Iterator[Case]:
    for name, (errors, square) in TAILS.items():
        for n in (20, 50, 300, 500, 1500, 5000):
            yield Case(name, n, square**0.5, lambda rng, e=errors, n=n: root_mean_square_interval(e(rng, n) ** 2))


def grouped_rmse_cases() -> Iterator[Case]:
    for name in ("normal", "Laplace", "t3"):
        errors, square = TAILS[name]
        for n_groups in (5, 10, 40):
            for unequal in (False, True):

                def draw(rng: np.random.Generator, e=errors, g=n_groups, u=unequal) -> Estimate:
                    groups = drawn_groups(rng, g, u)
                    scale = np.exp(0.3 * rng.normal(size=g) - 0.09)[groups]  # its mean square is 1
                    return root_mean_square_interval((scale * e(rng, len(groups))) ** 2, groups)

                sizes = "unequal" if unequal else "equal"
                yield Case(f"{name}, {n_groups} {sizes} groups of 30", 30 * n_groups, square**0.5, draw)


def drawn_groups(rng: np.random.Generator, n_groups: int, unequal: bool, size: int = 30) -> np.ndarray:
    """Groups of equal or of lognormal sizes."""
    sizes = np.maximum(rng.lognormal(0, 1, n_groups) * size / 1.65, 1).astype(int) if unequal else [size] * n_groups
    return np.repeat(np.arange(n_groups), sizes)


def ratio_cases() -> Iterator[Case]:
    """A model that predicts the signal, compared with a constant; and two equally good models."""
    for name, (errors, square) in TAILS.items():
        for signal in (0.3, 1.0, 3.0):
            for n in (30, 100, 300, 500, 2000):

                def draw(rng: np.random.Generator, e=errors, s=signal, n=n, q=square) -> Estimate:
                    noise, known = e(rng, n), rng.normal(size=n) * (s * q) ** 0.5
                    return explained_variance(noise**2, (noise + known) ** 2)

                yield Case(f"R2, {name} noise, signal {signal} of it", n, signal / (1 + signal), draw)
        for n in (30, 300, 500, 2000):

            def two(rng: np.random.Generator, e=errors, n=n, q=square) -> Estimate:
                noise, wrong, other = e(rng, n), *(rng.normal(size=(2, n)) * (0.2 * q) ** 0.5)
                return paired_rms_ratio((noise + wrong) ** 2, (noise + other) ** 2)

            yield Case(f"RMSE ratio of equal models, {name}", n, 1.0, two)


def unpaired_cases() -> Iterator[Case]:
    for name, (errors, _) in TAILS.items():
        for first, second in ((30, 500), (300, 500), (1000, 1000)):

            def draw(rng: np.random.Generator, e=errors, n=first, m=second) -> Estimate:
                return rms_ratio((1.5 * e(rng, n)) ** 2, e(rng, m) ** 2)

            yield Case(f"RMSE ratio there/here, {name}, {first}/{second}", first, 1.5, draw)


def rate_cases() -> Iterator[Case]:
    for rate in (0.01, 0.05, 0.3):
        for n in (20, 100, 1000):
            yield Case(f"error rate {rate}", n, rate, lambda rng, r=rate, n=n: rate_interval(rng.random(n) < r))
            yield Case(f"error rate {rate}, mean of 5 repeats", n, rate, lambda rng, r=rate, n=n: repeats(rng, r, n))

            def paired(rng: np.random.Generator, r=rate, n=n) -> Estimate:
                return paired_rate_difference(*pair_of_errors(rng, r, n))

            def paired_repeats(rng: np.random.Generator, r=rate, n=n) -> Estimate:
                return paired_rate_difference(*fractional_pair(rng, r, n))

            yield Case(f"paired difference, rates {rate} and {rate / 2}", n, rate / 2, paired)
            yield Case("the same, means of 5 repeats", n, rate / 2, paired_repeats)
            for other in (n, 1000):

                def ratio(rng: np.random.Generator, r=rate, n=n, m=other) -> Estimate:
                    return unpaired_ratio(*two_rates(rng, r, n, m))

                def difference(rng: np.random.Generator, r=rate, n=n, m=other) -> Estimate:
                    return unpaired_difference(*two_rates(rng, r, n, m))

                yield Case(f"ratio of rates {rate} and {rate / 2} ({other} rows)", n, 2.0, ratio)
                yield Case(f"difference of rates {rate} and {rate / 2} ({other} rows)", n, rate / 2, difference)


def two_rates(rng: np.random.Generator, rate: float, n: int, m: int) -> tuple[Estimate, Estimate]:
    """Intervals of a rate in some rows, and of half this rate in others."""
    return rate_interval(rng.random(n) < rate), rate_interval(rng.random(m) < rate / 2)


def repeats(rng: np.random.Generator, rate: float, n: int) -> Estimate:
    """Errors of five models, whose probability differs between rows."""
    return rate_interval(rng.binomial(5, rng.beta(0.5 * rate, 0.5 * (1 - rate), n)) / 5)


def pair_of_errors(rng: np.random.Generator, rate: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    hard = rng.random(n)
    return hard < rate, np.where(rng.random(n) < 0.8, hard, rng.random(n)) < rate / 2


def fractional_pair(rng: np.random.Generator, rate: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    hard = rng.beta(0.5 * rate, 0.5 * (1 - rate), n)
    return rng.binomial(5, hard) / 5, rng.binomial(5, hard / 2) / 5


def log_loss_cases() -> Iterator[Case]:
    """Losses of calibrated probabilities, and of probabilities with too extreme log-odds."""
    for name, slope in (("calibrated", 1.0), ("twice too extreme", 2.0), ("four times too extreme", 4.0)):
        truth, constant = log_loss_truth(slope)
        for n in (30, 300, 500, 2000):
            yield Case(
                f"log-loss, {name}", n, truth, lambda rng, s=slope, n=n: mean_loss_interval(losses(rng, s, n)[0])
            )

            def gain(rng: np.random.Generator, s=slope, n=n) -> Estimate:
                own, base = losses(rng, s, n)
                return paired_mean_difference(base, own)

            yield Case(f"log-loss gain over a constant, {name}", n, constant - truth, gain)


def losses(rng: np.random.Generator, slope: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Log-losses of the predicted probabilities and of the constant 1/2 (the base rate)."""
    odds = 2 * rng.normal(size=n)
    sign = np.where(rng.random(n) < expit(odds), 1, -1)
    return np.logaddexp(0, -sign * slope * odds), np.full(n, np.log(2))


def log_loss_truth(slope: float) -> tuple[float, float]:
    normal = np.linspace(-9, 9, 20_001)
    odds, weight = 2 * normal, np.exp(-(normal**2) / 2)
    weight /= weight.sum()
    probability = expit(odds)
    mean = probability * np.logaddexp(0, -slope * odds) + (1 - probability) * np.logaddexp(0, slope * odds)
    return float(weight @ mean), float(np.log(2))


def group_cases() -> Iterator[Case]:
    for n_groups in (4, 6, 10, 30, 100):
        for unequal in (False, True):
            for kind in ("alike", "independent", "half"):
                between = {"alike": 1.0, "independent": 0.0, "half": 0.5}[kind] ** 0.5

                def mean(rng: np.random.Generator, g=n_groups, u=unequal, b=between) -> Estimate:
                    groups = drawn_groups(rng, g, u)
                    return mean_interval(b * rng.normal(size=g)[groups] + rng.normal(size=len(groups)), groups)

                sizes = "unequal" if unequal else "equal"
                yield Case(f"mean, {n_groups} {sizes} groups, rows {kind}", 30 * n_groups, 0.0, mean)

            def rate(rng: np.random.Generator, g=n_groups, u=unequal) -> Estimate:
                groups = drawn_groups(rng, g, u)
                return rate_interval(rng.random(len(groups)) < rng.beta(0.5, 4.5, g)[groups], groups)

            yield Case(f"error rate 0.1, {n_groups} {sizes} groups", 30 * n_groups, 0.1, rate)

            def difference(rng: np.random.Generator, g=n_groups, u=unequal) -> Estimate:
                groups = drawn_groups(rng, g, u)
                hard, draws = rng.beta(0.5, 4.5, g)[groups], rng.random((2, len(groups)))
                return paired_rate_difference(draws[0] < hard, draws[1] < hard / 2, groups)

            yield Case(f"paired difference, {n_groups} {sizes} groups", 30 * n_groups, 0.05, difference)

            def area(rng: np.random.Generator, g=n_groups, u=unequal) -> Estimate | None:
                groups = drawn_groups(rng, g, u)
                positive = rng.random(len(groups)) < 0.3
                shift = 0.7 * rng.normal(size=g)[groups]  # scores depend on the group
                return auc_interval(shift + 0.7141428 * rng.normal(size=len(groups)) + positive, positive, groups)

            yield Case(f"AUC, {n_groups} {sizes} groups", 30 * n_groups, float(ndtr(0.5**0.5)), area)


def auc_cases() -> Iterator[Case]:
    for spread in (1.0, 3.0):
        for area in (0.6, 0.8, 0.95, 0.99):
            for m, n in ((3, 8), (3, 200), (5, 20), (10, 10), (10, 100), (20, 500), (50, 150), (300, 700)):
                shift = float(ndtri(area)) * (1 + spread**2) ** 0.5

                def draw(rng: np.random.Generator, s=spread, d=shift, m=m, n=n) -> Estimate | None:
                    scores = np.concatenate([rng.normal(d, s, m), rng.normal(size=n)])
                    return auc_interval(scores, np.arange(m + n) < m)

                yield Case(f"AUC {area}, {m} of spread {spread:g} v {n}", m + n, area, draw)
    for m, n in ((3, 8), (10, 10), (10, 100), (20, 500), (300, 700)):
        for first, second in ((1.0, 0.5), (2.5, 2.5), (3.0, 2.0)):
            truth = float(ndtr(first / 2**0.5) - ndtr(second / 2**0.5))

            def difference(rng: np.random.Generator, m=m, n=n, f=first, s=second) -> Estimate | None:
                positive, common = np.arange(m + n) < m, 0.8 * rng.normal(size=m + n)
                one, other = common + 0.6 * rng.normal(size=(2, m + n))
                return paired_auc_difference(one + f * positive, other + s * positive, positive)

            yield Case(f"paired AUC difference {truth:.2f}, {m} v {n}", m + n, truth, difference)


def rejection_cases() -> Iterator[Case]:
    """Uncertainty that is correlated with the probability of an error, or with the scale of errors."""
    for rate in (0.01, 0.05, 0.2):
        for n in (50, 200, 1000):
            for repeated in (False, True):
                truth = rejection_truth(lambda rng, m, r=rate, k=repeated: errors_and_uncertainty(rng, r, m, k))

                def of_errors(rng: np.random.Generator, r=rate, n=n, k=repeated) -> Estimate | None:
                    return rejection_ratio_interval(*errors_and_uncertainty(rng, r, n, k))

                yield Case(f"PRR, error rate {rate}{', repeats' if repeated else ''}", n, truth, of_errors)
    for name in ("normal", "Laplace", "t3"):
        for strength in (0.0, 0.5):
            errors = TAILS[name][0]
            truth = rejection_truth(lambda rng, m, e=errors, s=strength: squares_and_uncertainty(rng, e, s, m))
            for n in (50, 100, 200, 1000, 5000):

                def of_squares(rng: np.random.Generator, e=errors, s=strength, n=n) -> Estimate | None:
                    return rejection_ratio_interval(*squares_and_uncertainty(rng, e, s, n))

                yield Case(f"PRR, {name} errors, log-scales differ by {strength}", n, truth, of_squares)


def errors_and_uncertainty(rng: np.random.Generator, rate: float, n: int, repeated: bool) -> tuple[np.ndarray, ...]:
    score = rng.normal(size=n)
    probability = ndtr((ndtri(rate) + 0.6 * score) / 0.8)  # with the mean ``rate``
    return rng.binomial(5, probability) / 5 if repeated else (rng.random(n) < probability) * 1.0, score


def squares_and_uncertainty(
    rng: np.random.Generator, errors: Errors, strength: float, n: int
) -> tuple[np.ndarray, ...]:
    scale = strength * rng.normal(size=n)
    return (errors(rng, n) * np.exp(scale)) ** 2, scale + 0.3 * rng.normal(size=n)


def rejection_truth(draw: Callable[[np.random.Generator, int], tuple[np.ndarray, ...]]) -> float:
    """Mean over ten large samples."""
    ratios = [rejection_ratio_interval(*draw(np.random.default_rng(seed), LARGE // 10)) for seed in range(10)]
    return float(np.mean([each.value for each in ratios if each is not None]))


SECTIONS: dict[str, tuple[str, Callable[[], Iterator[Case]]]] = {
    "rmse": ("RMSE", rmse_cases),
    "grouped_rmse": ("RMSE over groups", grouped_rmse_cases),
    "ratio": ("Paired ratios of RMSEs and explained variance", ratio_cases),
    "unpaired": ("Ratios of RMSEs on different rows", unpaired_cases),
    "rates": ("Error rates", rate_cases),
    "log_loss": ("Log-losses", log_loss_cases),
    "groups": ("Means, rates and areas over groups", group_cases),
    "auc": ("Areas under the ROC curve", auc_cases),
    "rejection": ("Prediction-rejection ratio", rejection_cases),
}
