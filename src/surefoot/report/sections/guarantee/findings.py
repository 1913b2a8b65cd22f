"""The record of conformal intervals or label sets on top of the audited model."""

from dataclasses import dataclass

from surefoot.report.statistics import Estimate

LEVEL = 0.9
UNSEEN, PREDICTIONS, WEIGHTED = "unseen", "predictions", "weighted"
ROWS, GROUPS, COPIES, TIME = "rows", "groups", "copies", "time"  # what is assumed to be a random sample


@dataclass(frozen=True)
class CoverageOfPart:
    """The fraction of the rows of a group, or of a class, whose target is covered.

    The interval is corrected for the number of parts: all of them hold together in 95% of audits.
    """

    name: str
    kind: str  # "group" or "class"
    n_rows: int
    observed: Estimate


@dataclass(frozen=True)
class DeploymentCoverage:
    """Intervals or sets of the deployment rows.

    Attributes
    ----------
    where : str
        Name of the deployment data.
    n_rows : int
        Rows that were looked at.
    observed : Estimate or None
        The fraction of these rows whose target is covered; None where targets are not known.
    estimated : Estimate or None
        The same for held-out rows, with weights that make them look like the deployment rows.
    effective_rows : float or None
        The number of rows of equal weight that carry as much information as the weighted rows.
    size : float or None
        Mean width, or mean number of labels, with weights where they are used.
    infinite : float
        The fraction of rows whose interval is infinite, or whose set has all labels because no row is like them.
    reason : str
        Why there is no estimate; empty if there is one, or if it is not needed.
    """

    where: str
    n_rows: int
    observed: Estimate | None
    estimated: Estimate | None
    effective_rows: float | None
    size: float | None
    infinite: float
    reason: str = ""


@dataclass(frozen=True)
class GuaranteeFindings:
    """With what guarantee do intervals or label sets of the audited model contain the target?

    Attributes
    ----------
    model : str
        The audited model.
    of_labels : bool
        Whether the model predicts sets of labels, not intervals.
    level : float
        The level of the intervals or sets.
    guaranteed : float or None
        The fraction of new rows, or of rows of new groups, that is guaranteed to be covered. None: nothing is.
    doubt : str
        Why nothing is guaranteed, though the rows are a random sample: "unseen" (it is not known which rows the model
        was trained on), "predictions" (it is not known which models made them) or "weighted" (rows have weights). Empty
        otherwise.
    unit : str
        What is assumed to be a random sample: "rows", "groups" or "copies" (rows with their copies). "time": nothing.
    is_chosen : bool
        Whether the model was chosen on the same rows, among several.
    is_adaptive : bool
        Whether widths follow the model's own standard deviations.
    n_rows, n_units : int
        Held-out rows, and their groups (rows, if there are none).
    needed_units : int
        The smallest number of them with a finite interval at this level.
    observed : Estimate or None
        The fraction of held-out rows that are covered, by calibration on others (on earlier ones, by time).
    size : float or None
        Mean width, or mean number of labels; None where it is infinite.
    single : float or None
        The fraction of sets with one label.
    own_observed : Estimate or None
        The same for the model's own intervals, or for the most probable labels up to this total probability.
    own_size : float or None
        Mean width or number of labels of these.
    parts : tuple of CoverageOfPart
        Groups and classes with enough rows, the lowest coverage first.
    deployment : DeploymentCoverage or None
    """

    model: str
    of_labels: bool
    level: float
    guaranteed: float | None
    doubt: str
    unit: str
    is_chosen: bool
    is_adaptive: bool
    n_rows: int
    n_units: int
    needed_units: int
    observed: Estimate | None
    size: float | None
    single: float | None
    own_observed: Estimate | None
    own_size: float | None
    parts: tuple[CoverageOfPart, ...]
    deployment: DeploymentCoverage | None
