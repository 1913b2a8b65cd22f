"""Offsets of rows: a known part of their first output, which trees do not learn.

An exposure is the offset of a log: a row that was observed for twice the time has twice the mean. Where the offset only
moves or stretches the target (all families with a location, and the Gamma distribution), models are trained on the
target without it. Counts and classes keep it beside the outputs of the trees.

A count with a large exposure holds more information about its rate than one with a small exposure. Rows therefore count
in proportion to their exposure when trees are grown, as in a Poisson regression, and equally when their likelihood is
measured.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._numbers import finite_numbers
from surefoot.uncertainty.families import REGRESSION_FAMILIES, ClassificationFamily, RegressionFamily
from surefoot.uncertainty.families.base import rows_with_weight, weighted_sum

AnyFamily = RegressionFamily | ClassificationFamily
MAX_LOG_EXPOSURE = 230.0  # of an exposure relative to the mean: beyond e to this power, weights could become 0
SAME = 1e-12  # exposures this close to each other are equal


class GivenOffsets(NamedTuple):
    """Offset and exposure as the user passed them."""

    offset: Any = None
    exposure: Any = None

    @property
    def are_missing(self) -> bool:
        return self.offset is None and self.exposure is None


NO_OFFSETS = GivenOffsets()


@dataclass(frozen=True)
class RowOffsets:
    """What the outputs of rows have added, and how much each row counts when trees are grown.

    Attributes
    ----------
    raw : array of shape (n, n_rows)
        Added to the first n outputs.
    exposures : array of shape (n_rows,) or None
        Relative to the mean exposure of the training rows; None: all rows have the same.
    """

    raw: np.ndarray
    exposures: np.ndarray | None = None

    def of_rows(self, rows: Any) -> "RowOffsets":
        """The offsets of a slice or an array of rows."""
        return RowOffsets(self.raw[:, rows].copy(), None if self.exposures is None else self.exposures[rows].copy())

    def moved(self, move: Callable[[np.ndarray], np.ndarray]) -> "RowOffsets":
        """The same with copies of the arrays elsewhere."""
        return RowOffsets(move(self.raw), None if self.exposures is None else move(self.exposures))


def read_offset(family: AnyFamily, given: GivenOffsets, n_rows: int, suffix: str = "") -> np.ndarray | None:
    """The offset of every row in the terms of the target, (n_rows,) or, for several classes, (n_classes, n_rows).

    ``suffix`` is that of the arguments, for error messages. The log of an exposure is added to an offset.
    """
    if given.are_missing:
        return None
    n_outputs = family.n_outputs if isinstance(family, ClassificationFamily) else 1
    offset = None if given.offset is None else _read(given.offset, n_rows, n_outputs, f"offset{suffix}")
    if given.exposure is None:
        return offset
    if not (isinstance(family, RegressionFamily) and family.takes_exposure):
        known = ", ".join(repr(name) for name, one in REGRESSION_FAMILIES.items() if one.takes_exposure)
        raise ParameterError(
            f"exposure{suffix} multiplies a mean, which distribution={family.name!r} has no output for: choose one of "
            f"{known}, or pass an offset.",
            argument=f"exposure{suffix}",
        )
    exposure = _read(given.exposure, n_rows, 1, f"exposure{suffix}")
    if not (exposure > 0).all():
        message = f"exposure{suffix} has values of 0 or below: leave out rows that were not observed."
        raise DataError(message, argument=f"exposure{suffix}")
    return np.log(exposure) if offset is None else offset + np.log(exposure)


def _read(values: Any, n_rows: int, n_outputs: int, name: str) -> np.ndarray:
    """Finite numbers, one for each row or, for several outputs, one for each output of each row."""
    if isinstance(values, str):
        message = f"{name} must be numbers, one for each row, got {values!r}: columns of a file cannot be named here."
        raise DataError(message, argument=name)
    array = finite_numbers(name, values)
    expected = (n_rows,) if n_outputs == 1 else (n_rows, n_outputs)
    if n_outputs == 1 and array.shape == (n_rows, 1):
        array = array[:, 0]
    if array.shape != expected:
        each = "one number for each row" if n_outputs == 1 else "one number for each row and class"
        raise DataError(f"{name} must have shape {expected}, {each}, got {array.shape}.", argument=name)
    return np.ascontiguousarray(array.T)


def without_offset(family: RegressionFamily, y: np.ndarray, offset: np.ndarray | None, name: str = "y") -> np.ndarray:
    """The target that trees are trained on: less the offset, if this is all that an offset does in the family."""
    if offset is None or not family.offset_moves_target:
        return y
    moved = family.without_offset(y, offset, name)
    if not np.isfinite(moved).all() or (family.reads_logs and not (moved > 0).all()):
        of = "y" if name == "y" else name
        raise DataError(f"offset or exposure moves {of} beyond the range of floats: rescale it.", argument="offset")
    return moved


def fitted_family(
    family: RegressionFamily, y: np.ndarray, weights: np.ndarray | None, offset: np.ndarray | None
) -> RegressionFamily:
    """The family fitted to a target; ``y`` is already without an offset that moves it."""
    if offset is None or family.offset_moves_target:
        return family.fitted_to(y, weights)
    return family.fitted_with_offset(y, weights, offset)


def row_offsets(
    family: AnyFamily, offset: np.ndarray | None, weights: np.ndarray | None, n_training_rows: int
) -> RowOffsets | None:
    """What training keeps of the offsets of all rows; the first ``n_training_rows`` decide the mean exposure."""
    if offset is None or (isinstance(family, RegressionFamily) and family.offset_moves_target):
        return None
    raw = offset[np.newaxis] if offset.ndim == 1 else offset
    if isinstance(family, RegressionFamily):
        raw = raw / family.spread
    if not getattr(family, "takes_exposure", False):
        return RowOffsets(raw)
    own, own_weights = offset[:n_training_rows], None if weights is None else weights[:n_training_rows]
    logs, fractions = rows_with_weight(own, own_weights)
    largest = float(logs.max())
    mean = np.log(weighted_sum(np.exp(logs - largest), fractions)) + largest
    exposures = np.exp(np.clip(offset - mean, -MAX_LOG_EXPOSURE, MAX_LOG_EXPOSURE))
    is_same = bool((np.abs(exposures - 1.0) <= SAME).all())
    return RowOffsets(raw, None if is_same else exposures)


def new_offset(family: AnyFamily, given: GivenOffsets, n_rows: int) -> np.ndarray | None:
    """What is added to the first outputs of rows to predict, (n, n_rows), or None."""
    offset = read_offset(family, given, n_rows)
    if offset is None:
        return None
    if isinstance(family, RegressionFamily):
        return np.tile(offset / family.spread, (family.n_locations, 1))
    return offset[np.newaxis] if offset.ndim == 1 else offset


def same_offsets(one: RowOffsets | None, other: RowOffsets | None) -> bool:
    """Whether the rows of two fits have the same offsets; exposures follow from them and from the weights."""
    if one is None or other is None:
        return one is other
    return np.array_equal(one.raw, other.raw)


def times_exposures(weights: np.ndarray | None, offsets: RowOffsets | None) -> np.ndarray | None:
    """How much each row counts when trees are grown."""
    if offsets is None or offsets.exposures is None:
        return weights
    return offsets.exposures.copy() if weights is None else weights * offsets.exposures
