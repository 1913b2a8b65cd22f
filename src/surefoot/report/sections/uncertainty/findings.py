"""The record of question 2: does it know what it does not know?"""

from dataclasses import dataclass

from surefoot.report.statistics.estimates import Estimate

WELL_CALIBRATED = 0.05  # acceptable difference of predicted and observed fractions


@dataclass(frozen=True)
class Rejection:
    """What is left of the loss when the most uncertain held-out rows are handed to someone who knows."""

    rejected: tuple[float, ...]  # fractions of the rows
    error: tuple[float, ...]  # mean loss that is left over all rows: errors, or squared errors
    kept_error: tuple[float, ...]  # error rate or RMSE of the rows that are kept; 0 where none are
    threshold: tuple[float, ...]  # rows of at least this much uncertainty are rejected
    random: tuple[float, ...]
    oracle: tuple[float, ...]
    ratio: Estimate | None  # prediction-rejection ratio; None where every row has the same loss
    claimed: Estimate | None = None  # the same, were targets drawn from the predicted distributions; of 95% of draws


@dataclass(frozen=True)
class Coverage:
    """How many held-out targets lie in the intervals of a level, and how many on either side."""

    level: float
    observed: Estimate
    below: Estimate
    above: Estimate
    width: float | None  # mean width; None where it is not known


@dataclass(frozen=True)
class Calibration:
    """Do probabilities and intervals mean what they say?"""

    gap: Estimate | None  # mean probability less the fraction that came true: of one of two classes, or the predicted
    coverage: tuple[Coverage, ...]  # of numbers
    expected: tuple[float, ...]  # points of the curve: predicted probabilities, or levels of intervals
    observed: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    counts: tuple[int, ...]
    xlabel: str
    ylabel: str
    of_class: str | None = None  # of two classes, the one whose probabilities these are: the rarer, if it is rare
    share: float | None = None  # fraction of the held-out rows that are of it
    room: float = WELL_CALIBRATED  # gap or change that is acceptable; for a rare class less
    slope: Estimate | None = None  # of what came true on the log-odds promised; below 1 these are too extreme
    change: float | None = None  # by how much probabilities would move on average, were they set right by it


@dataclass(frozen=True)
class UncertainRow:
    """A held-out (or new) row that the ensemble knows little about."""

    row: str
    prediction: str
    truth: str  # empty where it is not known
    knowledge: float
    total: float
    behind: tuple[str, ...]  # "column = value" of those whose replacement by a usual value lowers knowledge most


@dataclass(frozen=True)
class UncertaintyFindings:
    """Question 2: does it know what it does not know?

    ``by_total`` and ``calibration`` are those of the audited model itself. A model that gives neither probabilities nor
    intervals has ``own`` False: then they are those of an ensemble beside it, and of intervals as wide for every row.
    """

    model: str
    own: bool
    unit: str  # "nats" or "target squared"
    n_rows: int
    loss: Estimate
    by_total: Rejection | None
    by_knowledge: Rejection | None  # of the ensemble
    calibration: Calibration | None
    columns_behind: tuple[tuple[str, float], ...]  # column, by how much of its knowledge uncertainty it accounts for
    rows: tuple[UncertainRow, ...]
    by_groups: bool = False  # whether whole groups were held out
