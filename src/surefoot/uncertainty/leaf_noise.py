"""Noise in the values of leaves: how much there is, and in which of them."""

from dataclasses import dataclass
from math import exp, sqrt

import numpy as np

from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.families.base import LocationScaleFamily
from surefoot.uncertainty.fit_spec import TrainingConfig
from surefoot.uncertainty.model_rows import ModelRows

EVEN_ODDS = 0.25  # information of a row for which two classes are equally probable
EMPTY_LEAF_TEMPERATURE = 0.5


@dataclass(frozen=True)
class LeafNoise:
    """Noise in the values of leaves: Langevin noise in all of them, and noise in leaves without training rows.

    The value of a leaf without training rows cannot be learned. If it were 0 in every member, members would agree on
    rows that are unlike all training rows, as if these were well known. Each member draws its own value instead, so
    that members disagree there. Training rows never reach these leaves: what is learned from them, and the distribution
    of a Langevin chain, are the same with and without this noise.
    """

    config: TrainingConfig
    family: RegressionFamily | ClassificationFamily
    n_train: float

    def l2(self, totals: np.ndarray) -> float | np.ndarray:
        """The l2 penalty of each leaf, as a number of rows without a residual.

        The noise of a leaf falls with the information in it. A leaf with next to no information, because it has no rows
        or because its classes are almost certain, would be determined by noise alone: it counts as one row, for noise
        and step. For classification that is the information of a row with even odds, and four times as much if the
        noise has a temperature of its own.
        """
        l2 = self.config.rules.l2
        min_information = EVEN_ODDS if not self.family.natural and self.config.temperature is None else 1.0
        return np.maximum(l2, min_information - totals) if self.config.langevin else l2

    def of_sums(
        self,
        totals: np.ndarray,
        l2: float | np.ndarray,
        normals: np.ndarray,
        typical_scale: float,
        model_rows: ModelRows,
    ) -> np.ndarray:
        """Noise of the sums of each leaf; ``totals`` is the information in each.

        As in the paper: variance ``2 / (rate * N)`` for each row. With a temperature: ``2 * temperature / rate`` in the
        metric of the natural gradient, for which the posterior is the stationary distribution at temperature 1.
        """
        config = self.config
        if config.temperature is None:
            noise = np.sqrt(2.0 / (config.learning_rate * self.n_train) * (totals + l2)) * normals
            if self.shrinks_with_scale:
                noise[:, :-1] *= min(exp(typical_scale), 1.0)
            return noise
        spread = totals
        if isinstance(self.family, RegressionFamily):
            spread, typical = model_rows.sum_inverse_information()
            l2 = l2 * np.where(totals > 0, spread / np.maximum(totals, 1e-300), typical)
        return np.sqrt(2.0 * config.temperature / config.learning_rate * (spread + l2)) * normals

    @property
    def shrinks_with_scale(self) -> bool:
        """Whether the noise of a location shrinks with the typical scale of the residuals.

        The noise of the paper is relative to the spread of the target. Where the columns explain nearly all of it, that
        is far more than the noise of the target, and a mixture of such members would be too wide after any number of
        rounds. A chain that runs its length has the noise of the paper; where trial models end training, the noise is
        relative to that of the data.
        """
        return isinstance(self.family, LocationScaleFamily) and not self.config.runs_its_length

    @property
    def perturbs_empty_leaves(self) -> bool:
        """Whether leaves without training rows get noise.

        For classification they have the value of their sibling. With a temperature they are sampled like all others.
        Where the output is the log of a mean their value is 0: the log of a single rare count is far from that of the
        mean, and noise of this size would add up to means far beyond all training rows.
        """
        is_location = isinstance(self.family, LocationScaleFamily)
        return is_location and self.config.differs_by_seed and self.config.temperature is None

    @property
    def size_in_empty_leaves(self) -> float:
        """The noise in leaves without training rows, as a multiple of the root mean square of the remaining steps.

        It is the Langevin noise, at a temperature of one half, of a leaf with one row: over all rounds it adds up to
        about the same for any number of rounds and any learning rate.
        """
        return sqrt(2.0 * EMPTY_LEAF_TEMPERATURE / (self.config.learning_rate * (1.0 + self.config.rules.l2)))
