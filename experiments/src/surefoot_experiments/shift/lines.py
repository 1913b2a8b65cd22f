"""The lines of the two files that a run fills: bounds beside measured errors, and what methods reached."""

from dataclasses import dataclass
from typing import NamedTuple

BOUNDS_FILE = "bounds.csv"


class BoundUnit(NamedTuple):
    """What one line of the bounds is about."""

    case: str
    residuals: str
    n_target: int


@dataclass(frozen=True)
class BoundLine:
    """How far rho^2 by ``n_target`` rows was from its true value, over many draws of these rows.

    ``bound_3_2`` and ``bound_3_3`` are those of the theorems at the confidence of the protocol, ``printed_3_2`` that
    of theorem 3.2 with its own probability, 1 - 2 / M^2; ``above_...`` are the shares of draws that went beyond. NaN
    where a theorem says nothing: 3.2 is about one feature.
    """

    case: str
    residuals: str
    n_target: int
    n_rows: int
    n_features: int
    draws: int
    rho: float
    mean_error: float
    error_95: float
    largest_error: float
    bound_3_2: float
    above_3_2: float
    printed_3_2: float
    above_printed_3_2: float
    bound_3_3: float
    above_3_3: float
    seconds: float

    @property
    def unit(self) -> BoundUnit:
        return BoundUnit(self.case, self.residuals, self.n_target)


class SampleUnit(NamedTuple):
    """What one line of the results is about."""

    dataset: str
    split: int
    selection: str
    budget: str
    method: str


@dataclass(frozen=True)
class ResultLine:
    """What a method reached on one biased sample.

    ``rmse`` is that of all test rows, ``source_rmse`` that of held-out rows drawn like the training rows; NaN where the
    method refused the sample, and ``refusal`` says why. ``coverage`` is the share of training rows with a target row at
    or above them, NaN for methods without a V-matrix. ``effective_rows`` is the size of the sample after weighting.
    ``shift`` is the Kolmogorov-Smirnov distance between the drawn rows and all that they were drawn from, along the
    score that they were drawn by. ``seconds`` are those of fitting.
    """

    dataset: str
    split: int
    selection: str
    budget: str
    method: str
    rmse: float
    source_rmse: float
    coverage: float
    effective_rows: float
    shift: float
    train_rows: int
    target_rows: int
    test_rows: int
    seconds: float
    refusal: str

    @property
    def unit(self) -> SampleUnit:
        return SampleUnit(self.dataset, self.split, self.selection, self.budget, self.method)
