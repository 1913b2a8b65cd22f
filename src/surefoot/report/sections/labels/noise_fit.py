"""How many targets are wrong, with an interval, and how probably each: for classes and for numbers."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from surefoot.metrics.intervals import CONFIDENCE
from surefoot.report.sections.labels import label_noise, value_noise
from surefoot.report.statistics import Estimate
from surefoot.report.statistics.standard_errors import spread_of

MAX_CELLS, MIN_SAMPLE = 20_000, 2000  # rows times classes of a fit; larger tables are sampled
OF_TAILS = 0.99  # confidence that numbers are wrong: tails may have another shape than Student's
STEPS = 7  # of the search for the end of an interval


@dataclass(frozen=True)
class NoiseFit:
    """What a model of wrong targets says about every row.

    Attributes
    ----------
    n_wrong : Estimate or None
        None if no target is shown to be wrong.
    wrong, plausibility : arrays of shape (n_rows,)
        The probability that the target is wrong, and that of such a target if none is wrong.
    predicted : array of shape (n_rows,)
        Codes of classes, or numbers.
    rates : array of shape (n_classes,)
        Empty for numbers.
    n_expected : float
        Rows with a plausibility of at most ``level``, if no target is wrong.
    level : float
    """

    n_wrong: Estimate | None
    wrong: np.ndarray
    plausibility: np.ndarray
    predicted: np.ndarray
    rates: np.ndarray
    n_expected: float
    level: float


@dataclass(frozen=True)
class Likelihood:
    """The likelihood of noise rates on the sampled rows, all other parameters fitted anew.

    ``right`` are the log-likelihoods of the rows with no noise, and ``row_gains`` those at the best rates minus these.
    """

    best: np.ndarray
    loss: float
    at: Callable[[np.ndarray], tuple[float, float]]  # penalized loss, and the expected number of wrong rows
    gain_of: Callable[[np.ndarray], float]  # over no noise, both fitted to some of the rows
    right: np.ndarray
    row_gains: np.ndarray
    n_rates: int
    shown_at: float  # confidence

    def number(self, units: np.ndarray | None) -> Estimate | None:
        """The number of wrong rows; None if none is shown.

        The gain over no noise must be significant, and not due to a single row or group: it does not show that others
        are wrong too, rather than that a tail is heavier than assumed. Rows of a group are alike: the gain is divided
        by the design effect. The number is the one that is expected at these rates, and so are its ends: it is about
        rows like these, and wider than what is left unknown about these rows.
        """
        effect = design_effect(self.row_gains, units)
        if effect is None:
            return None
        needed, reach = (chi2.ppf(level, self.n_rates) / 2 * effect for level in (self.shown_at, CONFIDENCE))
        gain = self.at(np.zeros_like(self.best))[0] - self.loss
        if gain <= needed or self.gain_of(without_most_extreme(self.row_gains, self.right, units)) <= needed:
            return None
        value = self.at(self.best)[1]
        low = self._end(lambda t: self.best * (1 - t), 1.0, reach)
        high = self._end(lambda t: self.best + t, label_noise.MAX_RATE, reach)
        return Estimate(value, min(max(low, 1.0), value), max(high, value))

    def _end(self, path: Callable[[float], np.ndarray], farthest: float, reach: float) -> float:
        """The expected number of wrong rows where the loss has risen by ``reach`` along a path of rates."""

        def at(step: float) -> tuple[float, float]:
            return self.at(np.minimum(path(step), label_noise.MAX_RATE))

        near, far = 0.0, farthest
        if at(far)[0] - self.loss <= reach:
            return at(far)[1]
        for _ in range(STEPS):
            middle = (near + far) / 2
            near, far = (middle, far) if at(middle)[0] - self.loss <= reach else (near, middle)
        return at(far)[1]


def design_effect(gains: np.ndarray, units: np.ndarray | None) -> float | None:
    """By how much the variance of a sum is larger because rows of a unit are alike; None: too few units."""
    if units is None:
        return 1.0
    spread, alone = spread_of(gains, units), spread_of(gains)
    if spread is None or alone is None:
        return None
    return max((spread.error / alone.error) ** 2, 1.0) if alone.error > 0 else 1.0


def without_most_extreme(gains: np.ndarray, right: np.ndarray, units: np.ndarray | None) -> np.ndarray:
    """All rows but the one (or its unit) with the largest gain, and the one that is least likely without noise."""
    codes = np.arange(len(gains)) if units is None else np.unique(units, return_inverse=True)[1].ravel()
    return np.asarray((codes != np.bincount(codes, weights=gains).argmax()) & (codes != codes[right.argmin()]))


def sample(n_rows: int, n_classes: int, seed: int) -> np.ndarray:
    """The rows that a model of wrong targets is fitted to: all, or some drawn at random."""
    n_sampled = max(MAX_CELLS // n_classes, MIN_SAMPLE)
    return np.sort(np.random.default_rng(seed).permutation(n_rows)[:n_sampled])


def fit_classes(probabilities: list[np.ndarray], labels: np.ndarray, units: np.ndarray | None, seed: int) -> NoiseFit:
    """Wrong labels, from the probabilities of several models."""
    logs, n_rows, level = label_noise.log_probabilities(probabilities), len(labels), 0.05
    rows = sample(n_rows, logs.shape[1], seed)
    sampled, given = logs[rows], labels[rows]
    groups = label_noise.rate_groups(given, logs.shape[1])
    best = label_noise.fit_noise(sampled, given, groups)

    def at(rates: np.ndarray) -> tuple[float, float]:
        noise = label_noise.fit_given_rates(sampled, given, rates, best)
        return noise.loss, float((noise.clean(sampled) @ rates).sum())

    def gain_of(kept: np.ndarray) -> float:
        right = label_noise.fit_given_rates(sampled[kept], given[kept], np.zeros(logs.shape[1]), none)
        return right.loss - label_noise.fit_noise(sampled[kept], given[kept], groups, right).loss

    none = label_noise.fit_given_rates(sampled, given, np.zeros(logs.shape[1]))
    right = none.row_likelihoods(sampled, given)
    likelihood = Likelihood(
        best=best.rates,
        loss=best.loss,
        at=at,
        gain_of=gain_of,
        right=right,
        row_gains=best.row_likelihoods(sampled, given) - right,
        n_rates=int(groups.max()) + 1,
        shown_at=CONFIDENCE,
    )
    number = likelihood.number(None if units is None else units[rows])
    noise = none if number is None else best
    clean = noise.clean(logs)
    return NoiseFit(
        n_wrong=_scaled(number, n_rows / len(rows)),
        wrong=noise.wrong(logs, labels),
        plausibility=clean[np.arange(n_rows), labels],
        predicted=clean.argmax(axis=1),
        rates=np.asarray(noise.rates),
        n_expected=float(clean[clean <= level].sum()),
        level=level,
    )


def fit_numbers(
    predicted: np.ndarray, scale: np.ndarray, y: np.ndarray, units: np.ndarray | None, seed: int
) -> NoiseFit:
    """Wrong numbers, from predictions and their standard deviations."""
    n_rows, level = len(y), 0.001
    rows = sample(n_rows, 1, seed)
    residuals, elsewhere = (y - predicted) / scale, value_noise.log_density_elsewhere(y, scale)
    sampled, other = residuals[rows], elsewhere[rows]
    best, none = value_noise.fit_noise(sampled, other), value_noise.fit_values(sampled, other, 0.0)

    def at(rates: np.ndarray) -> tuple[float, float]:
        noise = value_noise.fit_values(sampled, other, float(rates[0]))
        return noise.loss, float(rates[0] * len(rows))

    def gain_of(kept: np.ndarray) -> float:
        right = value_noise.fit_values(sampled[kept], other[kept], 0.0)
        return right.loss - value_noise.fit_noise(sampled[kept], other[kept]).loss

    right = none.row_likelihoods(sampled, other)
    likelihood = Likelihood(
        best=np.array([best.rate]),
        loss=best.loss,
        at=at,
        gain_of=gain_of,
        right=right,
        row_gains=best.row_likelihoods(sampled, other) - right,
        n_rates=1,
        shown_at=OF_TAILS,
    )
    number = likelihood.number(None if units is None else units[rows])
    noise = none if number is None else best
    return NoiseFit(
        n_wrong=_scaled(number, n_rows / len(rows)),
        wrong=noise.wrong(residuals, elsewhere),
        plausibility=noise.right.tails(residuals),
        predicted=predicted,
        rates=np.empty(0),
        n_expected=level * n_rows,
        level=level,
    )


def _scaled(number: Estimate | None, factor: float) -> Estimate | None:
    """The number of rows of the whole table."""
    if number is None:
        return None
    return Estimate(factor * number.value, factor * number.low, factor * number.high)
