"""The record of question 4: does it hold where it will be used?"""

from dataclasses import dataclass

from surefoot.report.sections.accuracy.findings import ModelScore
from surefoot.report.sections.uncertainty.findings import UncertainRow
from surefoot.report.statistics import Estimate
from surefoot.shift.column_shift import LEVEL

SEPARABLE_AUC = 0.95  # of a classifier of the two tables: from here on they hardly overlap


@dataclass(frozen=True)
class NewRows:
    """How many deployment rows have more knowledge uncertainty than all but 5% of the held-out training rows."""

    n_rows: int
    n_above: int
    share: Estimate
    expected: float
    p_value: float  # of as many rows or more, if deployment data and training data were alike; NaN for too few groups
    rows: tuple[UncertainRow, ...]


@dataclass(frozen=True)
class ShiftedColumn:
    """The difference of one column between the training data and the deployment data."""

    name: str
    distance: float  # 0: equal distributions, 1: disjoint distributions
    p_value: float
    outcome: str  # "shifted" (a distance of 0.1 or more), "differs slightly", "not shifted" or "not tested"
    text: str
    interval: tuple[float, float] = (float("nan"), float("nan"))  # 95% interval of the distance; NaN for groups


@dataclass(frozen=True)
class WeightedEstimate:
    """The expected loss on the deployment data, from held-out rows weighted to look like it."""

    loss: Estimate | None  # None: it cannot be estimated, and ``sentence`` has the reason
    plain: Estimate
    effective_rows: float
    n_rows: int
    sentence: str
    rise: Estimate | None = None  # by what fraction the loss is expected to rise


@dataclass(frozen=True)
class OutsideRange:
    """Deployment rows with a value outside the range of the training data, or with an unknown category."""

    n_rows: int  # of the deployment data
    n_outside: int
    fraction: Estimate
    expected: float  # fraction of the training rows that lie outside the range of the others, which is by chance
    p_value: float  # of as many rows or more, if both were alike; NaN for too few groups
    columns: tuple[tuple[str, int], ...]  # columns with such values and their number, in descending order


@dataclass(frozen=True)
class DeploymentLoss:
    """The audited model on deployment rows with a known target, compared with the held-out training rows."""

    name: str  # "all rows", "groups seen in training" or "new groups"
    n_rows: int
    n_units: int | None  # groups, or runs of rows in time, that intervals count; None: rows
    loss: Estimate
    rise: Estimate  # by what fraction the loss is above that of the held-out training rows
    bias: Estimate | None  # mean prediction minus mean truth; for classes of probabilities; None without any
    auc_change: Estimate | None  # for a rare class: AUC minus that of the held-out training rows
    outcome: str  # "inside" all tolerances, "outside" one of them, or "undecided"
    rows_needed: int | None  # about how many rows (or units) in all would decide; None: not known


@dataclass(frozen=True)
class ShiftFindings:
    """Question 4: does it hold where it will be used?"""

    where: str | None  # "the new rows", "the last part by TIME"; None: no deployment data
    verdict: str  # of the shift report
    auc: Estimate | None
    p_value: float | None
    columns: tuple[ShiftedColumn, ...]
    models: tuple[ModelScore, ...]  # on the deployment data, if its target is known
    loss_here: Estimate | None  # of the audited model, on the held-out training rows
    loss_there: Estimate | None  # and on the deployment data, if its target is known
    weighted: WeightedEstimate | None
    measure: str  # of these losses: "log-loss", "error rate" or "RMSE"
    target: ShiftedColumn | None = None  # the target itself, if it is known in the deployment data
    n_known: int = 0  # deployment rows with a known target
    n_rows: int = 0  # deployment rows
    losses: tuple[DeploymentLoss, ...] = ()  # for all rows, then for groups seen in training and for new ones
    tolerance: float = 0.25  # rise of the loss
    bias_tolerance: float = float("nan")
    outside: OutsideRange | None = None
    new: NewRows | None = None
    by_groups: bool = False  # whether tests permute groups
    without_targets: tuple[str, ...] = ()  # chunks of the deployment data without any target, where others have some


def is_more_than_chance(rows: NewRows | OutsideRange) -> bool:
    """Whether more deployment rows are unusual than chance explains: the one limit of the verdict and the page."""
    fraction = rows.share if isinstance(rows, NewRows) else rows.fraction
    return rows.p_value < LEVEL and fraction.value > rows.expected
