"""The lines of the two files of results: bounds with measured errors, and scores of the methods."""

from dataclasses import dataclass
from typing import NamedTuple

BOUNDS_FILE = "bounds.csv"


class BoundUnit(NamedTuple):
    """The key of a line of the bounds."""

    case: str
    residuals: str
    n_target: int


@dataclass(frozen=True)
class BoundLine:
    """The error of rho^2 by ``n_target`` rows, over many draws of these rows.

    ``bound_3_2`` and ``bound_3_3`` are the bounds of the theorems at the confidence of the protocol, ``printed_3_2`` is
    that of theorem 3.2 with its own probability, 1 - 2 / M^2; ``above_...`` are the fractions of draws with a larger
    error. NaN where a theorem does not apply: 3.2 is about one feature.
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
    """The key of a line of the results."""

    dataset: str
    split: int
    selection: str
    budget: str
    method: str


@dataclass(frozen=True)
class ResultLine:
    """The scores of a method on one biased sample.

    ``rmse`` is that of all test rows, ``source_rmse`` that of held-out rows drawn like the training rows; both are NaN
    if the method refused the sample, and ``refusal`` is the reason. ``coverage`` is the fraction of training rows that
    a target row dominates, 1 for methods without a V-matrix. ``effective_rows`` is the size of the sample after
    weighting. ``shift`` is the Kolmogorov-Smirnov distance between the drawn rows and all rows to draw from, along the
    score that they were drawn by. ``seconds`` is the time to fit.
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
