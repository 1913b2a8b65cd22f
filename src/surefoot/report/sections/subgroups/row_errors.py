"""What is known about each held-out row, and comparisons of some of the rows with all others."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot.report.inputs.splits import Splits
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.models.predictions import ModelPredictions
from surefoot.report.models.scoring import ERROR_RATE, measure_of
from surefoot.report.sections.subgroups.columns import Slice
from surefoot.report.sections.subgroups.conditions import MIN_ROWS, parts_of
from surefoot.report.sections.uncertainty.calibration import position_in_distribution
from surefoot.report.statistics import (
    Estimate,
    cross_fitted,
    mean_loss_interval,
    mean_of,
    paired_mean_difference,
    rate_interval,
    root_of,
    unpaired_ratio,
)

MIN_UNITS = 10  # groups, or runs of rows in time, of a part and of the rows outside it
LEVEL = 0.9  # of the predicted intervals


@dataclass(frozen=True, eq=False)
class RowErrors:
    """Losses of the held-out rows, and what else is compared between their parts.

    Attributes
    ----------
    measure : str
        "error rate" or "RMSE".
    losses : array
        1 for a wrong label, or the squared error.
    units : array of int or None
        What was drawn, if not single rows.
    n_cross_fitted : int
        The number of held-out rows that the models were tested on: intervals are wider with fewer.
    residuals : array or None
        Observed minus predicted: numbers, the second of two classes, or whether the predicted class is right.
    is_covered : array or None
        Whether the target lies in the predicted 90% interval.
    claimed : array or None
        The loss that the model expects by its own probabilities or distributions.
    weights : array or None
        How much each row counts; None: every row the same.
    """

    measure: str
    losses: np.ndarray
    units: np.ndarray | None
    n_cross_fitted: int
    residuals: np.ndarray | None = None
    is_covered: np.ndarray | None = None
    claimed: np.ndarray | None = None
    weights: np.ndarray | None = None

    @classmethod
    def of(cls, audited: CrossFitted) -> "RowErrors":
        """The rows of a model."""
        outcome, predictions, target = audited.outcome, audited.predictions, audited.table.target
        units = audited.splits.held_out_units
        claimed = _claimed(predictions, target)
        residuals = None if outcome.errors is None else -outcome.errors
        if residuals is None and claimed is not None:
            residuals = (1.0 - outcome.losses) - (1.0 - claimed)
        is_covered = None
        if predictions.below is not None:
            is_covered = np.abs(2 * position_in_distribution(predictions) - 1) <= LEVEL
        return cls(
            measure=measure_of(target),
            losses=outcome.losses.astype(np.float64),
            units=_codes(units),
            n_cross_fitted=len(outcome.losses),
            residuals=residuals,
            is_covered=is_covered,
            claimed=claimed,
            weights=outcome.weights,
        )

    def __getitem__(self, rows: np.ndarray) -> "RowErrors":
        """The losses of some of the rows, as a search for segments needs them."""
        optional = {"units": self.units, "claimed": self.claimed, "weights": self.weights}
        chosen: dict[str, Any] = {name: None if each is None else each[rows] for name, each in optional.items()}
        return RowErrors(self.measure, self.losses[rows], n_cross_fitted=self.n_cross_fitted, **chosen)

    @property
    def is_rate(self) -> bool:
        return self.measure == ERROR_RATE

    @cached_property
    def n_units(self) -> int | None:
        return None if self.units is None else len(np.unique(self.units))

    @property
    def overall(self) -> float:
        """The error of all rows."""
        mean = mean_of(self.losses, self.weights)
        return mean if self.is_rate else mean**0.5

    def units_of(self, inside: np.ndarray) -> np.ndarray | None:
        """The units of some of the rows."""
        return None if self.units is None else self.units[inside]

    def weights_of(self, inside: np.ndarray) -> np.ndarray | None:
        """The weights of some of the rows."""
        return None if self.weights is None else self.weights[inside]

    def is_large_enough(self, inside: np.ndarray) -> bool:
        """Whether the rows, and those outside, are enough for an interval."""
        n_inside = int(inside.sum())
        if min(n_inside, len(inside) - n_inside) < MIN_ROWS:
            return False
        if self.units is None:
            return True
        return min(len(np.unique(self.units[inside])), len(np.unique(self.units[~inside]))) >= MIN_UNITS

    def error_of(self, inside: np.ndarray, confidence: float) -> Estimate:
        """The error rate, or the RMSE."""
        return self._error(self._mean_loss(inside, confidence))

    def compared(self, inside: np.ndarray, confidence: float) -> tuple[Estimate, float, Estimate]:
        """The error of the rows inside, that of the rows outside, and their ratio.

        Units may have rows inside and outside. Where their losses then go in opposite directions, the interval of the
        ratio is wider; where they go in the same direction, which makes it more certain, it stays as it is.
        """
        first, second = (self._mean_loss(rows, confidence) for rows in (inside, ~inside))
        ratio = unpaired_ratio(first, second, min(self._correlation(inside), 0.0))
        return self._error(first), self._error(second).value, ratio if self.is_rate else _root(ratio)

    def _error(self, mean: Estimate) -> Estimate:
        return mean if self.is_rate else root_of(mean)

    def _mean_loss(self, rows: np.ndarray, confidence: float) -> Estimate:
        given = self.losses[rows], self.units_of(rows), confidence, self.weights_of(rows)
        if self.is_rate:
            return cross_fitted(rate_interval(*given), self.n_cross_fitted, 0.0, 1.0)
        return cross_fitted(mean_loss_interval(*given), self.n_cross_fitted, 0.0)

    def _correlation(self, inside: np.ndarray) -> float:
        """The correlation of both means over the units that have rows inside and outside."""
        if self.units is None:
            return 0.0
        sums = []
        for rows in (inside, ~inside):
            weights = self.weights_of(rows)
            deviations = self.losses[rows] - mean_of(self.losses[rows], weights)
            deviations = deviations if weights is None else deviations * weights
            sums.append(np.bincount(self.units[rows], deviations, self.units.max() + 1))
        size = float(np.linalg.norm(sums[0]) * np.linalg.norm(sums[1]))
        return float(sums[0] @ sums[1]) / size if size > 0 else 0.0

    def bias_of(self, inside: np.ndarray, confidence: float) -> Estimate | None:
        """The mean residual."""
        if self.residuals is None:
            return None
        residuals, given = self.residuals[inside], (self.units_of(inside), confidence, self.weights_of(inside))
        mean = paired_mean_difference(residuals, np.zeros(len(residuals)), *given)
        return cross_fitted(mean, self.n_cross_fitted)

    def coverage_of(self, inside: np.ndarray, confidence: float) -> Estimate | None:
        """The fraction of targets in the predicted intervals."""
        if self.is_covered is None:
            return None
        covered = rate_interval(self.is_covered[inside], self.units_of(inside), confidence, self.weights_of(inside))
        return cross_fitted(covered, self.n_cross_fitted, 0.0, 1.0)

    def claimed_of(self, inside: np.ndarray) -> float | None:
        """The error that the model expects; None if it predicts neither probabilities nor distributions."""
        if self.claimed is None:
            return None
        mean = mean_of(self.claimed[inside], self.weights_of(inside))
        return mean if self.is_rate else mean**0.5


def _root(ratio: Estimate) -> Estimate:
    return Estimate(*(float(part) ** 0.5 for part in (ratio.value, ratio.low, ratio.high)))


def _claimed(predictions: ModelPredictions, target: Any) -> np.ndarray | None:
    """One minus the probability of the predicted class, or the predicted variance."""
    if predictions.probabilities is None:
        return None if predictions.std is None else np.square(predictions.std)
    predicted = np.searchsorted(target.classes, predictions.values)
    return np.asarray(1.0 - predictions.probabilities[np.arange(len(predicted)), predicted])


def check_sizes(slices: Sequence[Slice], splits: Splits) -> None:
    """Refuse columns and crossings of which no part has enough held-out rows."""
    blank = RowErrors("", np.zeros(len(splits.held_out)), _codes(splits.held_out_units), len(splits.held_out))
    for columns in slices:
        if not any(blank.is_large_enough(part.is_inside) for part in parts_of(columns, splits.held_out)):
            name = " x ".join(column.name for column in columns)
            units = "" if blank.units is None else f" of {MIN_UNITS} groups (or runs in time)"
            message = f"slices names {name!r}, and no part of it has {MIN_ROWS} held-out rows{units}: name another."
            raise DataError(message, argument="slices")


def _codes(units: np.ndarray | None) -> np.ndarray | None:
    return None if units is None else np.unique(units, return_inverse=True)[1].ravel()
