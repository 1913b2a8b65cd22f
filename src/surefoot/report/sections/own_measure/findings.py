"""The record of the user's own measure: a metric, the costs of errors, or both."""

from dataclasses import dataclass

from surefoot.report.statistics import Estimate


@dataclass(frozen=True)
class MetricScore:
    """A model by the user's metric, on the held-out rows."""

    name: str
    value: float
    chosen: bool  # whether the audit is about this model
    yours: bool


@dataclass(frozen=True)
class MetricFindings:
    """The user's metric."""

    name: str
    larger_is_better: bool
    audited: Estimate
    models: tuple[MetricScore, ...]  # the best first; a model that lacks what the metric needs is left out
    rival: str | None  # the best of the other models
    ahead: Estimate | None  # by how much the audited model is better than the rival, on the same rows


@dataclass(frozen=True)
class CostFindings:
    """What errors cost, for two classes; costs are means over the held-out rows."""

    positive: str  # the class whose rows are to be found
    negative: str
    false_positive: float  # the cost of predicting the positive class for a row of the other
    false_negative: float
    threshold: float  # of the probability of the positive class: right if probabilities are calibrated
    at_threshold: Estimate
    at_half: Estimate  # at a threshold of one half
    saving: Estimate  # the cost at one half minus that at the threshold
    n_false_positive: int  # at the threshold
    n_false_negative: int
    n_positive: int
    n_rows: int
    always: tuple[float, float]  # the cost of always predicting the other class, and of always the positive one
    chosen_threshold: float  # the best on the held-out rows: the median over the parts that chose it
    at_chosen: Estimate  # the cost if each part of the rows has the threshold that is best on the others
    models: tuple[tuple[str, Estimate], ...]  # the cost of each model at the threshold, the smallest first
    thresholds: tuple[float, ...]  # of the curve
    curve: tuple[float, ...]


@dataclass(frozen=True)
class OwnMeasureFindings:
    """How good it is by the user's own measure."""

    metric: MetricFindings | None
    cost: CostFindings | None
    without_probabilities: bool = False  # costs were passed, but the audited model predicts labels only
