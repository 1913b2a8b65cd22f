"""Two classes: the log-odds of the second."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import optimize, special

from surefoot._jit import kernel
from surefoot.uncertainty.families.base import rows_with_weight, weighted_sum
from surefoot.uncertainty.families.classification import ClassificationFamily, class_fractions

SLACK = 1e-3  # so that rounding does not move the solution out of its bounds


@dataclass(frozen=True, kw_only=True)
class Bernoulli(ClassificationFamily):
    """Two classes, coded 0.0 and 1.0; the output is the log-odds of the second.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.uncertainty.families import Bernoulli
    >>> start = Bernoulli().start(np.array([0.0, 1.0, 1.0, 1.0]), None)
    >>> Bernoulli().probabilities(start[:, np.newaxis]).round(6)
    array([[0.25, 0.75]])
    """

    name: ClassVar[str] = "bernoulli"
    n_classes: ClassVar[int] = 2

    @property
    def parameters(self) -> tuple[str, ...]:
        return ("log_odds",)

    def start(self, y: np.ndarray, weights: np.ndarray | None, n_classes: int = 2) -> np.ndarray:
        fractions = class_fractions(y, weights, n_classes)
        return np.array([math.log(fractions[1] / fractions[0])])

    def start_with_offset(self, y: np.ndarray, weights: np.ndarray | None, offset: np.ndarray) -> np.ndarray:
        """The log-odds with which the mean probability is the fraction of the second class."""
        fractions = class_fractions(y, weights, 2)
        log_odds, shares = rows_with_weight(offset[0], weights)
        centre, expected = math.log(fractions[1] / fractions[0]), fractions[1] / fractions.sum()
        low, high = centre - float(log_odds.max()) - SLACK, centre - float(log_odds.min()) + SLACK

        def excess(constant: float) -> float:
            return weighted_sum(special.expit(log_odds + constant), shares) - expected

        return np.array([optimize.brentq(excess, low, high, xtol=1e-13, rtol=1e-14)])

    def gradients(
        self, raw: np.ndarray, y: np.ndarray, rows: tuple[int, int], steps: np.ndarray, information: np.ndarray
    ) -> None:
        bernoulli_steps(raw, y, rows, steps, information)

    def nll(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        out = np.empty(len(y))
        bernoulli_nll(raw, y, out)
        return out

    def probabilities(self, raw: np.ndarray) -> np.ndarray:
        return np.stack([special.expit(-raw[0]), special.expit(raw[0])], axis=1)


@kernel
def bernoulli_steps(raw, y, rows, steps, information):
    """Read log-odds and codes of some rows; write gradients and information."""
    start, stop = rows
    y, log_odds = y[start:stop], raw[0, start:stop]
    gradients, informations = steps[0, start:stop], information[0, start:stop]
    for i in range(y.shape[0]):
        odds = math.exp(-abs(log_odds[i]))  # of the less likely class
        likely = 1.0 / (1.0 + odds)
        unlikely = odds * likely
        if y[i] > 0.5:
            gradients[i] = unlikely if log_odds[i] >= 0 else likely
        else:
            gradients[i] = -likely if log_odds[i] >= 0 else -unlikely
        informations[i] = unlikely * likely


@kernel
def bernoulli_nll(raw, y, out):
    """Read log-odds and codes; write minus the log of the probability."""
    log_odds = raw[0]
    for i in range(y.shape[0]):
        against = -log_odds[i] if y[i] > 0.5 else log_odds[i]
        out[i] = max(against, 0.0) + math.log1p(math.exp(-abs(against)))
