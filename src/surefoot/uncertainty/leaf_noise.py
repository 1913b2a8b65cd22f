"""Noise in what leaves say: the Langevin noise of all of them, and that of leaves which no training row reaches.

A leaf that no training row reaches is a guess. Were it to say nothing, members would agree there, on rows that are like
none of the training rows, as if they knew. They guess each for itself, so that their disagreement tells. Training rows
never meet these guesses: what is learned from them, and the law of a Langevin chain, are as they would be without.
"""

from dataclasses import dataclass
from math import exp, sqrt

import numpy as np

from surefoot.trees.leaves import sum_leaves
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.families.base import LocationScaleFamily
from surefoot.uncertainty.fit_spec import TrainingConfig, TrainingRows

EVEN_ODDS = 0.25  # information of a row whose classes are even
GUESS_TEMPERATURE = 0.5


@dataclass(frozen=True)
class LeafNoise:
    """Noise of the leaves of one model."""

    config: TrainingConfig
    family: RegressionFamily | ClassificationFamily
    rows: TrainingRows
    weights: np.ndarray  # of every row of the table
    n_train: float

    def l2(self, totals: np.ndarray) -> float | np.ndarray:
        """Rows without a residual in each leaf.

        The noise of a leaf falls with what it knows. One that knows next to nothing, because it has no rows or because
        its classes are all but certain, would leave the model to noise alone: it counts as one row, for noise and step.
        Of classes, that is as much as a row of even odds tells, and four times as much under noise of its own size.
        """
        l2 = self.config.rules.l2
        least = EVEN_ODDS if not self.family.natural and self.config.temperature is None else 1.0
        return np.maximum(l2, least - totals) if self.config.langevin else l2

    def of_sums(
        self,
        totals: np.ndarray,
        l2: float | np.ndarray,
        raw: np.ndarray,
        leaves: np.ndarray,
        drawn: np.ndarray,
        normals: np.ndarray,
        typical_scale: float,
    ) -> np.ndarray:
        """Noise of each leaf's sums; ``totals`` is what the leaves know, ``leaves`` has the leaf of every row.

        The paper's: variance ``2 / (rate * N)`` for each row. With a temperature of its own: ``2 * temperature / rate``
        in the metric of the natural gradient, which at temperature 1 has the posterior as its stationary law.
        """
        config = self.config
        if config.temperature is None:
            noise = np.sqrt(2.0 / (config.learning_rate * self.n_train) * (totals + l2)) * normals
            if self.shrinks_with_scale:
                noise[:, 0] *= min(exp(typical_scale), 1.0)
            return noise
        spread = totals
        if isinstance(self.family, RegressionFamily):
            metric = self.family.inverse_information(raw)
            spread, rows = np.empty(totals.shape), np.empty(totals.shape)
            sum_leaves(metric, None, self.weights, drawn, leaves, spread, rows, np.empty(len(totals)))
            train = self.rows.train
            typical = np.average(metric[:, train], axis=1, weights=self.weights[train])
            l2 = l2 * np.where(totals > 0, spread / np.maximum(totals, 1e-300), typical)
        return np.sqrt(2.0 * config.temperature / config.learning_rate * (spread + l2)) * normals

    @property
    def shrinks_with_scale(self) -> bool:
        """Whether the noise of a location shrinks with the typical scale of the residuals.

        The paper's noise is measured by the target's own spread. Where the columns explain nearly all of it, that is
        far more than the target's noise, and a mixture of such members would be too wide however long they train. A
        chain that runs its length has the paper's noise; where models on trial end training, it is the noise of the
        data that counts.
        """
        return isinstance(self.family, LocationScaleFamily) and not self.config.runs_its_length

    @property
    def guesses(self) -> bool:
        """Whether leaves that no training row reaches guess.

        Of classes they say what their neighbours say. At a temperature of its own, they are sampled like all others.
        Where the output is the log of a mean they say nothing: of rare counts a single row is far off in logs, and
        guesses would add up to means that no row has come near.
        """
        is_location = isinstance(self.family, LocationScaleFamily)
        return is_location and self.config.differs_by_seed and self.config.temperature is None

    @property
    def guess_size(self) -> float:
        """How large guesses are, as a multiple of the root mean square of the steps that there still are to go.

        They are the Langevin noise, at a temperature of one half, of a leaf with one row: however many the rounds and
        however small the rate, they add up to about the same.
        """
        return sqrt(2.0 * GUESS_TEMPERATURE / (self.config.learning_rate * (1.0 + self.config.rules.l2)))
