"""The record of the deployment data over time: loss, unusual rows and shift of each chunk."""

from dataclasses import dataclass

from surefoot.report.sections.shift.findings import WeightedEstimate
from surefoot.report.statistics import Estimate

LEVEL = 0.05  # of all tests of the section together


@dataclass(frozen=True)
class UnusualFraction:
    """The fraction of a chunk's rows that are unusual, compared with what chance gives."""

    n_rows: int
    n_unusual: int
    fraction: Estimate
    expected: float
    p_value: float  # corrected for all tests of the section; NaN: not tested


@dataclass(frozen=True)
class ChunkFindings:
    """One chunk of the deployment data, compared with the held-out training rows.

    P-values are one-sided, and corrected for all tests of the section; NaN: not tested.
    """

    name: str
    n_rows: int
    n_known: int  # rows with a known target
    measured: Estimate | None  # the loss of the rows with a known target
    expected: WeightedEstimate | None  # the loss of weighted held-out training rows; None: there was not enough time
    loss_p_value: float  # of the measured loss or, without targets, of the loss that is predicted from the columns
    uncertain: UnusualFraction | None  # rows with more knowledge uncertainty than 95% of the held-out training rows
    outside: UnusualFraction  # rows outside the range of the training data
    auc: Estimate | None  # of a classifier that separates the chunk from training rows
    auc_p_value: float
    column: str | None  # the column that differs most, among those that differ significantly by themselves
    distance: float  # of this column: 0 for equal distributions, 1 for disjoint ones
    worse: bool  # whether its loss is shown to be higher
    stranger: bool  # whether it is shown to have more unusual rows
    shifted: bool  # whether its rows are shown to be separable from training rows

    @property
    def differs(self) -> bool:
        return self.worse or self.stranger or self.shifted


@dataclass(frozen=True)
class OverTimeFindings:
    """How the deployment data changes over time."""

    by: str  # "tables" or "time"
    counted: str  # what intervals and tests count: "rows", "groups" or "runs of rows"
    measure: str  # of the losses: "log-loss", "error rate" or "RMSE"
    loss_here: Estimate  # of the audited model on the held-out training rows
    tolerance: float  # by what fraction the loss may rise
    chunks: tuple[ChunkFindings, ...]
    n_tests: int
    n_compared: int  # chunks with an expected and a measured loss, both with intervals
    n_agreeing: int  # of these, how many whose intervals do not exclude that both are equal
