"""Numbers that are wrong: how many there are, and which, from their residuals.

A large residual is not thereby an error: noise may have heavy tails. So the residuals, in units of the predicted
standard deviation, have Student tails whose heaviness is fitted, on each side by itself. A wrong number does not depend
on the columns of its row: its distribution is that of the target as a whole. The fraction of such rows is fitted with
the tails, by maximum likelihood; heavy tails alone leave it at 0.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import betaln, expit, logit
from scipy.stats import t as student

MAX_RATE = 0.4
FIRST_RATES = (0.02, 0.1)
MIN_FREEDOM, MAX_FREEDOM = 0.5, 200.0
MIN_RATE = 1e-6  # of a search; smaller ones are 0


@dataclass(frozen=True)
class TwoPieceStudent:
    """A density with another scale and another tail on each side of its mode.

    Attributes
    ----------
    centre : float
    scales, freedoms : array of shape (2,)
        Below and above the centre.
    """

    centre: float
    scales: np.ndarray
    freedoms: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray) -> "TwoPieceStudent":
        return cls(centre=float(values[0]), scales=np.exp(values[1:3]), freedoms=np.exp(values[3:5]))

    @property
    def areas(self) -> np.ndarray:
        """Areas below and above the centre under the density before it is normalized to a height of 1."""
        return np.asarray(self.scales * np.sqrt(self.freedoms) * np.exp(betaln(self.freedoms / 2, 0.5)) / 2)

    def log_density(self, x: np.ndarray) -> np.ndarray:
        side = (x >= self.centre).astype(int)
        freedom, z = self.freedoms[side], (x - self.centre) / self.scales[side]
        return np.asarray(-(freedom + 1) / 2 * np.log1p(z**2 / freedom) - np.log(self.areas.sum()))

    def tails(self, x: np.ndarray) -> np.ndarray:
        """The probability of a value at least as far out on the same side, times 2."""
        side = (x >= self.centre).astype(int)
        beyond = student.sf(np.abs(x - self.centre) / self.scales[side], self.freedoms[side])
        return np.asarray(np.minimum(4 * beyond * (self.areas / self.areas.sum())[side], 1.0))


@dataclass(frozen=True)
class ValueNoise:
    """The distribution of residuals of right numbers, and the fraction of wrong ones."""

    right: TwoPieceStudent
    rate: float
    loss: float  # minus the log-likelihood

    def wrong(self, residuals: np.ndarray, elsewhere: np.ndarray) -> np.ndarray:
        """The probability that each number is wrong."""
        if self.rate == 0:
            return np.zeros(len(residuals))
        odds = np.log1p(-self.rate) + self.right.log_density(residuals) - np.log(self.rate) - elsewhere
        return np.asarray(expit(-odds))

    def row_likelihoods(self, residuals: np.ndarray, elsewhere: np.ndarray) -> np.ndarray:
        """The log-likelihood of each number."""
        right = self.right.log_density(residuals)
        if self.rate == 0:
            return right
        return np.asarray(np.logaddexp(np.log1p(-self.rate) + right, np.log(self.rate) + elsewhere))


def log_density_elsewhere(y: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The log-density of each target if it was that of another row, in units of ``scale``."""
    typical = max(float(np.std(y)), 1e-300)
    whole = fit_values(y / typical, np.zeros(len(y)), 0.0)
    return np.asarray(whole.right.log_density(y / typical) + np.log(scale / typical))


def fit_noise(residuals: np.ndarray, elsewhere: np.ndarray) -> ValueNoise:
    """The tails and the fraction of wrong numbers of the largest likelihood."""
    fits = [fit_values(residuals, elsewhere, 0.0)]
    fits += [fit_values(residuals, elsewhere, rate, is_free=True) for rate in FIRST_RATES]
    return min(fits, key=lambda each: each.loss)


def fit_values(residuals: np.ndarray, elsewhere: np.ndarray, rate: float, is_free: bool = False) -> ValueNoise:
    """The tails of the largest likelihood for a known rate, or beginning with it."""
    low, centre, high = np.quantile(residuals, [0.25, 0.5, 0.75])
    spread = np.log(np.maximum([centre - low, high - centre], 1e-3 * max(float(np.std(residuals)), 1e-12)))
    begin = np.concatenate([[centre], spread, np.log([4.0, 4.0]), [logit(rate)] if is_free else []])

    def noise_of(values: np.ndarray, loss: float = 0.0) -> ValueNoise:
        fraction = float(expit(values[5])) if is_free else rate
        return ValueNoise(TwoPieceStudent.of(values), fraction if fraction > MIN_RATE else 0.0, loss)

    def loss_of(values: np.ndarray) -> float:
        return -float(noise_of(values).row_likelihoods(residuals, elsewhere).sum())

    freedom = (np.log(MIN_FREEDOM), np.log(MAX_FREEDOM))
    bounds = [(low, high), *[(each - 4, each + 4) for each in spread], freedom, freedom]
    bounds += [(logit(MIN_RATE), logit(MAX_RATE))] if is_free else []
    found = minimize(loss_of, begin, method="L-BFGS-B", bounds=bounds)
    return noise_of(found.x, float(found.fun))
