"""The record of wrong labels: rows whose target is contradicted by models that were not trained on them."""

from dataclasses import dataclass

from surefoot.report.statistics import Estimate


@dataclass(frozen=True)
class SuspectRow:
    """A held-out row whose target is contradicted."""

    row: str  # its number from 0, or its label
    given: str
    predicted: str  # by the models together
    plausibility: float  # probability of the given class, or of a value so far out, if no target is wrong
    probability: float | None  # of being wrong; None if no row is shown to be wrong


@dataclass(frozen=True)
class LabelFindings:
    """Which targets are probably wrong, or unlike the others with these columns."""

    models: tuple[str, ...]  # the cross-fitted models that contradict together
    n_rows: int  # held-out rows
    n_wrong: Estimate | None  # estimated number of rows with a wrong target; None if none is shown to be wrong
    rates: tuple[tuple[str, float], ...]  # by class, the estimated fraction of its rows that have another label
    rows: tuple[SuspectRow, ...]  # the most probable first: a twentieth of the rows, at most 200
    level: float  # a target with a smaller probability, or further out in the tails, is contradicted with confidence
    n_contradicted: int  # such rows
    n_expected: float  # such rows if no target was wrong, by the calibrated models
    loss: float  # error rate or RMSE of the audited model on all held-out rows
    loss_of_right: float | None  # each row weighted by the probability that its target is right
    loss_without: float | None  # without the rows that are most probably wrong, as many as estimated: too small
    note: str  # why there is no number of rows; empty if there is one
