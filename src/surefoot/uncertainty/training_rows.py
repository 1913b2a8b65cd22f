"""The rows of a fit: which are trained on, which are held out, and the validation rows that the user passed."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from surefoot._exceptions import DataError
from surefoot.data.problem import check_weights
from surefoot.uncertainty.offsets import NO_OFFSETS, GivenOffsets, RowOffsets


@dataclass(frozen=True)
class TrainingRows:
    """The internal target and the weight of every row of the table; which rows are trained on and which held out.

    Weights are those with which trees are grown: where rows have exposures, they are multiplied by them.
    """

    y: np.ndarray
    weights: np.ndarray | None
    train: np.ndarray  # uint32
    held_out: np.ndarray  # uint32
    offsets: RowOffsets | None = None

    def shard(self, first: int, stop: int) -> "TrainingRows":
        """The rows from ``first`` to ``stop``, numbered from 0."""

        def own(rows: np.ndarray) -> np.ndarray:
            return rows[np.searchsorted(rows, first) : np.searchsorted(rows, stop)] - np.uint32(first)

        weights = None if self.weights is None else self.weights[first:stop]
        return TrainingRows(
            y=self.y[first:stop],
            weights=weights,
            train=own(self.train),
            held_out=own(self.held_out),
            offsets=None if self.offsets is None else self.offsets.of_rows(slice(first, stop)),
        )

    @property
    def all_weights(self) -> np.ndarray:
        """The weights as an array."""
        return np.ones(len(self.y)) if self.weights is None else self.weights

    @cached_property
    def held_out_weights(self) -> np.ndarray:
        """The weights of the held-out rows in their likelihood, where exposures do not count."""
        weights = self.all_weights[self.held_out]
        exposures = None if self.offsets is None else self.offsets.exposures
        return weights if exposures is None else weights / exposures[self.held_out]

    @cached_property
    def train_weight(self) -> float:
        """The weight of the rows that are trained on."""
        return float(len(self.train)) if self.weights is None else float(self.weights[self.train].sum())

    @cached_property
    def held_out_weight(self) -> float:
        """The weight of the rows that are held out."""
        return float(len(self.held_out)) if self.weights is None else float(self.held_out_weights.sum())


class ValidationRows(NamedTuple):
    """The validation rows as the user passed them."""

    X: Any
    y: Any
    weights: Any
    offsets: GivenOffsets = NO_OFFSETS


def check_validation(validation: ValidationRows, given: GivenOffsets) -> None:
    """Refuse validation rows with missing parts, and parts without rows; ``given`` are the training rows' offsets."""
    if (validation.X is None) != (validation.y is None):
        raise DataError("X_val and y_val go together: pass both or neither.")
    extra = {"sample_weight_val": validation.weights, "offset_val": validation.offsets.offset}
    extra["exposure_val"] = validation.offsets.exposure
    for name, value in extra.items():
        if validation.X is None and value is not None:
            raise DataError(f"{name} is for X_val and y_val: pass them too.")
    for name, one, other in zip(given._fields, given, validation.offsets, strict=True):
        if validation.X is not None and (one is None) != (other is None):
            raise DataError(f"{name} and {name}_val go together, because there is X_val: pass both or neither.")


def n_validation_rows(validation: ValidationRows) -> int:
    """The number of validation rows, which their offsets must have; columns and target are checked later."""
    try:
        return len(validation.y)
    except TypeError:  # it is refused later
        return 0


def joined_weights(weights: np.ndarray | None, n_rows: int, given_val: Any, n_val: int) -> np.ndarray | None:
    """Weights of the training rows, then of the validation rows."""
    weights_val = check_weights(given_val, n_val, relative=False, name="sample_weight_val")
    if weights is None and weights_val is None:
        return None
    return np.concatenate(
        [np.ones(n_rows) if weights is None else weights, np.ones(n_val) if weights_val is None else weights_val]
    )
