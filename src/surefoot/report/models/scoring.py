"""Losses of predictions, as the numbers that an audit reports."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.stats import wilcoxon

from surefoot.metrics.intervals import CONFIDENCE
from surefoot.report.inputs.target import BINARY, Target
from surefoot.report.models.predictions import ModelPredictions
from surefoot.report.models.row_record import RowRecord
from surefoot.report.statistics import (
    auc_interval,
    explained_variance,
    mean_loss_interval,
    paired_rms_ratio,
    paired_share_difference,
    root_mean_square_interval,
    share_interval,
    withheld,
    within,
)
from surefoot.report.statistics.estimates import Estimate

ERROR_RATE, RMSE, RANKING_ERROR, LOG_LOSS = "error rate", "RMSE", "ranking error", "log-loss"
RATES = (ERROR_RATE, RANKING_ERROR)  # measures that are fractions
MIN_CHANCE = 0.001  # of the true class, for its log-loss
MIN_RARE = 10  # rows of a rare class, for models to be compared by how they rank them


@dataclass(frozen=True)
class Outcome(RowRecord):
    """What a model makes of some rows.

    Attributes
    ----------
    losses : array
        Whether the label is wrong, or the squared error.
    log_losses : array or None
        Minus the log of the probability of the true class; None for numbers, and for models without probabilities.
    errors : array
        What is predicted less what is true: numbers, or for two classes probabilities (labels, if there are none) of
        the second. None for several classes.
    second, said_second, scores : arrays or None
        Of two classes: which rows are of the second, which are predicted to be, and what ranks them.
    units : array or None
        What was drawn, if not single rows.
    """

    losses: np.ndarray
    log_losses: np.ndarray | None = None
    errors: np.ndarray | None = None
    second: np.ndarray | None = None
    said_second: np.ndarray | None = None
    scores: np.ndarray | None = None
    units: np.ndarray | None = None

    @classmethod
    def of(
        cls, target: Target, predictions: ModelPredictions, rows: np.ndarray, units: np.ndarray | None = None
    ) -> "Outcome":
        """That of predictions for ``rows`` of the table."""
        return cls.of_truth(target, predictions, target.labels[rows], units)

    @classmethod
    def of_truth(
        cls, target: Target, predictions: ModelPredictions, truth: np.ndarray, units: np.ndarray | None = None
    ) -> "Outcome":
        """That of predictions for rows whose target may have classes that the table does not have."""
        values = predictions.values
        losses = target.losses_there(values, truth)
        if not target.is_classes:
            return cls(losses, errors=values.astype(np.float64) - truth.astype(np.float64), units=units)
        chances = predictions.probabilities
        log_losses = None if chances is None else log_losses_of(chances, class_places(target, truth))
        if target.task != BINARY:
            return cls(losses, log_losses, units=units)
        second, said = target.is_second(truth), target.is_second(values)
        chance = said.astype(np.float64) if predictions.probabilities is None else predictions.probabilities[:, 1]
        return cls(losses, log_losses, chance - second, second, said, predictions.scores, units)

    @classmethod
    def mean_of(cls, outcomes: Sequence["Outcome"]) -> "Outcome":
        """That of several models on the same rows: the mean of their losses; the rest is the first one's."""
        first = outcomes[0]
        if first.is_number:
            return replace(first, losses=np.mean([each.losses for each in outcomes], axis=0))
        logs = [each.log_losses for each in outcomes if each.log_losses is not None]
        return replace(first, log_losses=np.mean(logs, axis=0)) if logs else first

    @property
    def proper(self) -> np.ndarray:
        """The loss by which models are chosen: log-loss or squared error; errors if that is all there is."""
        return np.asarray(self.losses if self.log_losses is None else self.log_losses, dtype=np.float64)

    @property
    def is_number(self) -> bool:
        """Whether the target is a number, so that losses are squared errors."""
        return self.losses.dtype != bool

    @property
    def auc(self) -> Estimate | None:
        """Chance that a row of the second class scores higher than one of the first; None if either has no row."""
        return None if self.scores is None else self.ranking_auc

    @cached_property
    def ranking_auc(self) -> Estimate | None:
        """The same for labels too; for groups it is a bootstrap, so that it is kept."""
        return auc_interval(*self.ranking, self.units)

    @property
    def ranking(self) -> tuple[np.ndarray, np.ndarray]:
        """Scores, and which rows are of the second class; without scores, labels make two heaps."""
        assert self.second is not None
        assert self.said_second is not None
        return self.said_second if self.scores is None else self.scores, self.second


def class_places(target: Target, truth: np.ndarray) -> np.ndarray:
    """The column of probabilities of each row's true class; -1 for classes that the table does not have."""
    places = {str(label): place for place, label in enumerate(target.classes)}
    return np.array([places.get(label, -1) for label in target.text_of(truth)])


def log_losses_of(probabilities: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Minus the log of the probability of each row's true class, which is never less than the least chance.

    A smaller one counts as that: few tables have the rows to show it, and the log of 0 has no end.
    """
    chance = np.where(places >= 0, probabilities[np.arange(len(places)), places], 0.0)
    return -np.log(np.clip(chance, MIN_CHANCE, 1.0))


def measure_of(target: Target) -> str:
    """What the loss of rows is called."""
    return ERROR_RATE if target.is_classes else RMSE


def main_measure(target: Target, rows: np.ndarray) -> str:
    """What models are shown by: for a rare class, errors say little, and the order in which rows are put more."""
    if target.rare is not None and enough(target.y[rows] == 1):
        return RANKING_ERROR
    return measure_of(target)


def enough(second: np.ndarray) -> bool:
    """Whether the rows of either class are enough to tell how they are ranked, or how likely they were."""
    return bool(min(np.sum(second), np.sum(~second)) >= MIN_RARE)


def loss_of(outcome: Outcome, measure: str) -> Estimate:
    """Fraction of errors, fraction of pairs in the wrong order, root mean squared error, or mean log-loss."""
    if measure == RANKING_ERROR:
        auc = outcome.ranking_auc
        return withheld(np.nan) if auc is None else Estimate(1 - auc.value, 1 - auc.high, 1 - auc.low)
    if measure == LOG_LOSS:
        return withheld(np.nan) if outcome.log_losses is None else mean_loss_interval(outcome.log_losses, outcome.units)
    if measure == ERROR_RATE:
        return share_interval(outcome.losses, outcome.units)
    return root_mean_square_interval(outcome.losses, outcome.units)


def excess_of(first: Outcome, second: Outcome) -> Estimate:
    """By what fraction the first model's loss is above that of the second on the same rows.

    The loss is the log-loss or the RMSE; the error rate, if one of the models gives no probabilities.
    """
    one, other = _comparable(first, second)
    if first.is_number:
        ratio = paired_rms_ratio(one, other, first.units)
        return Estimate(ratio.value - 1, ratio.low - 1, ratio.high - 1)
    gain = explained_variance(one, other, first.units)
    return Estimate(-gain.value, -gain.high, -gain.low)


def gain_of(outcome: Outcome, constant: Outcome) -> Estimate:
    """The fraction of the constant's log-loss (or mean squared error: R2) that a model removes.

    Where the interval reaches below -100%, that is all there is to know about its lower end.
    """
    gain = explained_variance(*_comparable(outcome, constant), outcome.units)
    return within(gain, min(gain.value, -1.0), 1.0)


def is_better(outcome: Outcome, constant: Outcome) -> bool:
    """Whether a model is shown to be better than a constant: by its gain, by its errors, or by how it ranks rows.

    The gain of losses in which few rows count for much has no interval, or a wide one; errors and ranks always have.
    """
    gain = gain_of(outcome, constant)
    if gain.low >= 0 and gain.value > 0:
        return True
    if outcome.is_number:
        return gain.value > 0 and _is_mostly_smaller(outcome.losses, constant.losses, outcome.units)
    fewer = paired_share_difference(constant.losses, outcome.losses, outcome.units).low > 0
    auc = outcome.auc
    return bool(fewer or (auc is not None and auc.low > 0.5))


def _is_mostly_smaller(first: np.ndarray, second: np.ndarray, units: np.ndarray | None) -> bool:
    """Whether losses are clearly smaller in most rows (or units), by Wilcoxon's test of signed ranks.

    A few large ones do not count for more than their rank. Predictions that are a constant and noise fail it: they are
    further from the truth than the constant in most rows.
    """
    apart = first - second
    if units is not None:
        apart = np.bincount(np.unique(units, return_inverse=True)[1], weights=apart)
    if not apart.any():
        return False
    return bool(wilcoxon(apart, alternative="less").pvalue < (1 - CONFIDENCE) / 2)


def _comparable(first: Outcome, second: Outcome) -> tuple[np.ndarray, np.ndarray]:
    """Losses of one kind: errors, if one of the models gives no probabilities."""
    if (first.log_losses is None) != (second.log_losses is None):
        return first.losses.astype(np.float64), second.losses.astype(np.float64)
    return first.proper, second.proper
