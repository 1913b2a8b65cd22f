"""The record of question 2: does it know what it does not know?"""

from dataclasses import dataclass

from surefoot.report.statistics import Estimate

WELL_CALIBRATED = 0.05  # acceptable difference of predicted and observed fractions


@dataclass(frozen=True)
class Rejection:
    """The loss that remains when the most uncertain held-out rows are rejected, that is, predicted by an expert."""

    rejected: tuple[float, ...]  # fractions of the rows
    error: tuple[float, ...]  # remaining mean loss over all rows: errors, or squared errors
    kept_error: tuple[float, ...]  # error rate or RMSE of the rows that are kept; 0 where none are
    threshold: tuple[float, ...]  # rows with at least this uncertainty are rejected
    random: tuple[float, ...]
    oracle: tuple[float, ...]
    ratio: Estimate | None  # prediction-rejection ratio; None where every row has the same loss
    claimed: Estimate | None = None  # the ratio of targets drawn from the predicted distributions, with 95% of draws


@dataclass(frozen=True)
class Coverage:
    """The fractions of held-out targets inside, below and above the predicted intervals of a level."""

    level: float
    observed: Estimate
    below: Estimate
    above: Estimate
    width: float | None  # mean width; None where it is not known


@dataclass(frozen=True)
class Calibration:
    """Calibration of the predicted probabilities or intervals."""

    gap: Estimate | None  # mean probability minus observed fraction, of one of two classes or of the predicted class
    coverage: tuple[Coverage, ...]  # for regression
    expected: tuple[float, ...]  # points of the curve: predicted probabilities, or levels of intervals
    observed: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    counts: tuple[int, ...]
    xlabel: str
    ylabel: str
    of_class: str | None = None  # for two classes, the class of these probabilities: the second, or the rare one
    share: float | None = None  # fraction of the held-out rows that belong to it
    room: float = WELL_CALIBRATED  # acceptable gap, and twice the acceptable change; smaller for a rare class
    slope: Estimate | None = None  # calibration slope; below 1, the probabilities are too extreme
    change: float | None = None  # mean absolute change of the probabilities by recalibration


@dataclass(frozen=True)
class UncertainRow:
    """A held-out row, or a row of the deployment data, with a high knowledge uncertainty."""

    row: str
    prediction: str
    truth: str  # empty where it is not known
    knowledge: float
    total: float
    behind: tuple[str, ...]  # "column = value" of the columns whose usual value would lower knowledge most


@dataclass(frozen=True)
class UncertaintyFindings:
    """Question 2: does it know what it does not know?

    ``by_total`` and ``calibration`` are those of the audited model itself. For a model that predicts neither
    probabilities nor intervals, ``own`` is False; they are then those of an ensemble, and of intervals of equal width.
    """

    model: str
    own: bool
    unit: str  # "nats" or "target squared"
    n_rows: int
    loss: Estimate
    by_total: Rejection | None
    by_knowledge: Rejection | None  # of the ensemble
    calibration: Calibration | None
    columns_behind: tuple[tuple[str, float], ...]  # column, and the fraction of knowledge uncertainty that it explains
    rows: tuple[UncertainRow, ...]
    by_groups: bool = False  # whether whole groups were held out
