"""Whether a target of a few whole numbers contains counts, or labels of classes."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, xlogy
from scipy.stats import nbinom, poisson

MIN_EVIDENCE = -3.0  # log of the Bayes factor of counts against labels; undecided targets are treated as counts
MIN_ROWS = 100  # with fewer rows, the evidence must favour counts
CLOSE = 0.02  # total variation distance to a distribution of counts that counts as a good fit


def looks_like_counts(numbers: np.ndarray) -> bool:
    """Whether whole numbers from 0, with three to ten distinct values, are distributed like counts.

    Poisson, negative binomial and zero-inflated distributions are compared with those of labels, which have arbitrary
    frequencies (with a uniform prior) or nearly equal ones. Counts fall off towards large values; labels need not.
    """
    if numbers.min() != 0 or not np.all(numbers == np.floor(numbers)) or numbers.max() > 50:
        return False
    counts = np.bincount(numbers.astype(np.int64)).astype(float)
    if not _falls_from_one_peak(counts):
        return False
    fits = _count_distributions(counts)
    if len(numbers) >= MIN_ROWS and min(_distance(counts, fit) for fit, _ in fits) < CLOSE:
        return True
    evidence = max(float(xlogy(counts, fit).sum()) - penalty for fit, penalty in fits)
    return evidence - _evidence_of_labels(counts) > (MIN_EVIDENCE if len(numbers) >= MIN_ROWS else 0.0)


def _falls_from_one_peak(counts: np.ndarray) -> bool:
    """Whether frequencies rise to one peak and fall from it, within their noise."""
    peak = int(counts.argmax())
    rises = np.r_[-np.diff(counts[: peak + 1]), np.diff(counts[peak:])]
    pairs = np.r_[counts[:peak] + counts[1 : peak + 1], counts[peak:-1] + counts[peak + 1 :]]
    return bool(np.all(rises <= 3 * np.sqrt(pairs + 1)))


def _count_distributions(counts: np.ndarray) -> list[tuple[np.ndarray, float]]:
    """Probabilities of 0, 1, 2, ... by Poisson, negative binomial and zero-inflated distributions, with penalties."""
    values, n = np.arange(len(counts)), counts.sum()
    mean = float((counts * values).sum() / n)
    variance = float((counts * (values - mean) ** 2).sum() / n)
    each = 0.5 * np.log(n)
    fits = [(poisson.pmf(values, mean), each)]
    if variance > 1.02 * mean:
        fits.append((nbinom.pmf(values, mean**2 / (variance - mean), mean / variance), 2 * each))
    if len(counts) > 3 and counts[0] < n:  # with three values, a free frequency of 0 would fit anything
        fits.append((_zero_inflated(counts, mean), 2 * each))
    return fits


def _zero_inflated(counts: np.ndarray, mean: float) -> np.ndarray:
    """The observed fraction of zeros, and a Poisson distribution without 0 with the mean of the rest."""
    values, zeros = np.arange(len(counts)), counts[0] / counts.sum()
    positive_mean = mean / (1 - zeros)
    if positive_mean <= 1:
        return np.asarray(poisson.pmf(values, mean))
    rate = brentq(lambda each: each / -np.expm1(-each) - positive_mean, 1e-9, positive_mean + 1)
    fit = poisson.pmf(values, rate) * (1 - zeros) / -np.expm1(-rate)
    fit[0] = zeros
    return np.asarray(fit)


def _distance(counts: np.ndarray, probabilities: np.ndarray) -> float:
    """Total variation between frequencies and a distribution, including values that do not occur."""
    beyond = max(0.0, 1.0 - float(probabilities.sum()))
    return 0.5 * (float(np.abs(counts / counts.sum() - probabilities).sum()) + beyond)


def _evidence_of_labels(counts: np.ndarray) -> float:
    """Log of the probability of the frequencies of labels, which are arbitrary or nearly equal."""
    seen = counts[counts > 0]

    def dirichlet(alpha: float) -> float:
        total = alpha * len(seen)
        parts = gammaln(alpha + seen).sum() - len(seen) * gammaln(alpha)
        return float(gammaln(total) - gammaln(total + seen.sum()) + parts)

    return float(np.logaddexp(dirichlet(1.0), dirichlet(100.0)) - np.log(2))
