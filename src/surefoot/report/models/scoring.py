"""Losses of predictions, and the numbers that an audit reports about them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.stats import wilcoxon

from surefoot.metrics.intervals import CONFIDENCE
from surefoot.report.inputs.target import BINARY, Target
from surefoot.report.models.predictions import ModelPredictions, RowRecord
from surefoot.report.statistics import (
    Estimate,
    auc_interval,
    explained_variance,
    mean_loss_interval,
    mean_of,
    paired_rate_difference,
    paired_rms_ratio,
    rate_interval,
    root_mean_square_interval,
    withheld,
    within,
)

ERROR_RATE, RMSE, RANKING_ERROR, LOG_LOSS = "error rate", "RMSE", "ranking error", "log-loss"
COVERAGE = "coverage"  # not a loss: the fraction of targets in their intervals or sets
RATES = (ERROR_RATE, RANKING_ERROR, COVERAGE)  # measures that are fractions
MIN_PROBABILITY = 0.001  # of the true class, for its log-loss
MIN_RARE = 10  # rows of a rare class, for models to be compared by how they rank them


@dataclass(frozen=True)
class Outcome(RowRecord):
    """Losses of a model on some rows.

    Attributes
    ----------
    losses : array
        Whether the label is wrong, or the squared error.
    log_losses : array or None
        Minus the log of the probability of the true class; None for numbers, and for models without probabilities.
    errors : array or None
        Prediction minus truth: for numbers, or for the probabilities of the second of two classes (for labels, if there
        are no probabilities). None for several classes.
    is_second, predicted_second, scores : arrays or None
        For two classes: which rows are of the second class, which are predicted to be, and the scores that rank them.
    units : array or None
        What was drawn (groups, or runs of rows in time), if not single rows.
    weights : array or None
        How much each row counts; None: every row the same.
    """

    losses: np.ndarray
    log_losses: np.ndarray | None = None
    errors: np.ndarray | None = None
    is_second: np.ndarray | None = None
    predicted_second: np.ndarray | None = None
    scores: np.ndarray | None = None
    units: np.ndarray | None = None
    weights: np.ndarray | None = None

    @classmethod
    def of_truth(
        cls,
        target: Target,
        predictions: ModelPredictions,
        truth: np.ndarray,
        units: np.ndarray | None = None,
        weights: np.ndarray | None = None,
    ) -> "Outcome":
        """The outcome of predictions for any rows; their target may have classes that the table does not have."""
        values = predictions.values
        losses = target.losses(values, truth)
        if not target.is_classes:
            errors = values.astype(np.float64) - truth.astype(np.float64)
            return cls(losses, errors=errors, units=units, weights=weights)
        probabilities = predictions.probabilities
        log_losses = None if probabilities is None else log_losses_of(probabilities, class_positions(target, truth))
        if target.task != BINARY:
            return cls(losses, log_losses, units=units, weights=weights)
        is_second, predicted_second = target.is_second(truth), target.is_second(values)
        of_second = predicted_second.astype(np.float64) if probabilities is None else probabilities[:, 1]
        errors = of_second - is_second
        return cls(losses, log_losses, errors, is_second, predicted_second, predictions.scores, units, weights)

    @classmethod
    def mean_of(cls, outcomes: Sequence["Outcome"]) -> "Outcome":
        """The mean losses of several models on the same rows; everything else is that of the first."""
        first = outcomes[0]
        if first.is_number:
            return replace(first, losses=np.mean([each.losses for each in outcomes], axis=0))
        logs = [each.log_losses for each in outcomes if each.log_losses is not None]
        return replace(first, log_losses=np.mean(logs, axis=0)) if logs else first

    @property
    def proper(self) -> np.ndarray:
        """The loss by which models are chosen: log-loss or squared error; errors if there are no probabilities."""
        return np.asarray(self.losses if self.log_losses is None else self.log_losses, dtype=np.float64)

    @property
    def mean_loss(self) -> float:
        """The error rate, or the mean squared error."""
        return mean_of(self.losses, self.weights)

    @property
    def mean_proper(self) -> float:
        """The mean of the loss by which models are chosen."""
        return mean_of(self.proper, self.weights)

    @property
    def is_number(self) -> bool:
        """Whether the target is a number, so that losses are squared errors."""
        return self.losses.dtype != bool

    @property
    def auc(self) -> Estimate | None:
        """AUC of the scores, for the second class; None without scores, or if a class has no row."""
        return None if self.scores is None else self.ranking_auc

    @cached_property
    def ranking_auc(self) -> Estimate | None:
        """AUC of the scores or, without scores, of the labels."""
        return auc_interval(*self.ranking, self.units, self.weights)

    @property
    def ranking(self) -> tuple[np.ndarray, np.ndarray]:
        """Scores (labels, if there are none), and which rows are of the second class."""
        assert self.is_second is not None
        assert self.predicted_second is not None
        return self.predicted_second if self.scores is None else self.scores, self.is_second


def class_positions(target: Target, truth: np.ndarray) -> np.ndarray:
    """The column of probabilities of each row's true class; -1 for classes that the table does not have."""
    positions = {str(label): position for position, label in enumerate(target.classes)}
    return np.array([positions.get(label, -1) for label in target.text_of(truth)])


def log_losses_of(probabilities: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Minus the log of the probability of each row's true class; a probability below 0.001 counts as 0.001.

    Few tables have enough rows to measure a smaller probability, and the log of 0 is infinite.
    """
    of_truth = np.where(positions >= 0, probabilities[np.arange(len(positions)), positions], 0.0)
    return -np.log(np.clip(of_truth, MIN_PROBABILITY, 1.0))


def measure_of(target: Target) -> str:
    """The name of the loss: "error rate" or "RMSE"."""
    return ERROR_RATE if target.is_classes else RMSE


def main_measure(target: Target, rows: np.ndarray) -> str:
    """The loss that models are shown with: for a rare class the error rate says little, so it is the ranking error."""
    if target.rare is not None and has_both_classes(target.y[rows] == 1):
        return RANKING_ERROR
    return measure_of(target)


def has_both_classes(is_second: np.ndarray) -> bool:
    """Whether both classes have enough rows to measure how they are ranked, or how probable they were."""
    return bool(min(np.sum(is_second), np.sum(~is_second)) >= MIN_RARE)


def loss_of(outcome: Outcome, measure: str) -> Estimate:
    """Fraction of errors, fraction of pairs in the wrong order, root mean squared error, or mean log-loss."""
    if measure == RANKING_ERROR:
        auc = outcome.ranking_auc
        return withheld(np.nan) if auc is None else Estimate(1 - auc.value, 1 - auc.high, 1 - auc.low)
    if measure == LOG_LOSS:
        logs = outcome.log_losses
        return withheld(np.nan) if logs is None else mean_loss_interval(logs, outcome.units, weights=outcome.weights)
    if measure == ERROR_RATE:
        return rate_interval(outcome.losses, outcome.units, weights=outcome.weights)
    return root_mean_square_interval(outcome.losses, outcome.units, outcome.weights)


def excess_of(first: Outcome, second: Outcome) -> Estimate:
    """By what fraction the first model's loss is higher than that of the second, on the same rows.

    The loss is the log-loss or the RMSE; the error rate, if one of the models gives no probabilities.
    """
    one, other = _comparable(first, second)
    if first.is_number:
        ratio = paired_rms_ratio(one, other, first.units, first.weights)
        return Estimate(ratio.value - 1, ratio.low - 1, ratio.high - 1)
    gain = explained_variance(one, other, first.units, first.weights)
    return Estimate(-gain.value, -gain.high, -gain.low)


def gain_of(outcome: Outcome, constant: Outcome) -> Estimate:
    """The fraction of the constant's log-loss (or mean squared error: R2) that a model removes.

    The lower end is cut off at -100% (or at the value, if it is lower).
    """
    gain = explained_variance(*_comparable(outcome, constant), outcome.units, outcome.weights)
    return within(gain, min(gain.value, -1.0), 1.0)


def is_better(outcome: Outcome, constant: Outcome) -> bool:
    """Whether a model is shown to be better than a constant: by its gain, by its errors, or by how it ranks rows.

    Where few rows dominate the losses, their gain has no interval, or a wide one; errors and ranks always have one.
    """
    gain = gain_of(outcome, constant)
    if gain.low >= 0 and gain.value > 0:
        return True
    if outcome.is_number:
        return gain.value > 0 and _is_mostly_smaller(outcome, constant)
    fewer = paired_rate_difference(constant.losses, outcome.losses, outcome.units, outcome.weights).low > 0
    auc = outcome.auc
    return bool(fewer or (auc is not None and auc.low > 0.5))


def _is_mostly_smaller(first: Outcome, second: Outcome) -> bool:
    """Whether losses are clearly smaller in most rows (or units), by Wilcoxon's signed-rank test.

    Large losses count by their rank only. A constant plus noise fails the test: its predictions are further from the
    truth than the constant in most rows.
    """
    differences = first.losses - second.losses
    if first.weights is not None:
        differences = differences * first.weights
    if first.units is not None:
        differences = np.bincount(np.unique(first.units, return_inverse=True)[1], weights=differences)
    if not differences.any():
        return False
    return bool(wilcoxon(differences, alternative="less").pvalue < (1 - CONFIDENCE) / 2)


def _comparable(first: Outcome, second: Outcome) -> tuple[np.ndarray, np.ndarray]:
    """Losses of one kind: errors, if one of the models gives no probabilities."""
    if (first.log_losses is None) != (second.log_losses is None):
        return first.losses.astype(np.float64), second.losses.astype(np.float64)
    return first.proper, second.proper
