"""The loss of the audited model on deployment data with known targets: its rise, its bias and its tolerances."""

from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from surefoot.report.inputs.target import BINARY, Target
from surefoot.report.models.scoring import ERROR_RATE, LOG_LOSS, RMSE, Outcome, has_both_classes, loss_of
from surefoot.report.sections.shift.findings import DeploymentLoss
from surefoot.report.sections.uncertainty.findings import WELL_CALIBRATED
from surefoot.report.statistics import (
    INSIDE,
    OUTSIDE,
    UNDECIDED,
    Estimate,
    decide,
    is_one_sided,
    is_withheld,
    mean_interval,
    mean_loss_interval,
    mean_of,
    rate_interval,
    root_of,
    rows_needed,
    unpaired_difference,
    unpaired_ratio,
    withheld,
)

ALL_ROWS, SEEN_GROUPS, NEW_GROUPS = "all rows", "groups seen in training", "new groups"
MAX_BIAS = 0.25  # standard deviations of the target
MAX_AUC_FALL = 0.05
FAR = 4.0  # times the distance to the lower end, where the size of rare errors leaves the upper end open
MIN_PART = 0.1  # of the rows: smaller parts cannot prevent a yes


@dataclass(frozen=True)
class Tolerances:
    """The acceptable rise of the loss (a fraction), the acceptable bias, and the acceptable fall of the AUC."""

    rise: float
    bias: float
    auc: float = MAX_AUC_FALL

    @classmethod
    def of(cls, target: Target, rows: np.ndarray, rise: float) -> "Tolerances":
        """The bias may be a quarter of a standard deviation for numbers; for classes 5 points, less for a rare one."""
        if not target.is_classes:
            return cls(rise, MAX_BIAS * target.spread(rows))
        if target.task != BINARY:
            return cls(rise, WELL_CALIBRATED)
        spread = 2 * target.spread(rows)  # 1 for classes of equal size
        return cls(rise, WELL_CALIBRATED * spread)


def measure_of_rise(target: Target, training: Outcome, deployment: Outcome) -> str:
    """The loss that is compared: a proper score, if the model predicts probabilities."""
    if not target.is_classes:
        return RMSE
    return ERROR_RATE if training.log_losses is None or deployment.log_losses is None else LOG_LOSS


def rise_of(deployment: Outcome, training: Outcome, measure: str) -> Estimate:
    """By what fraction the loss on the deployment data is above that on held-out training rows."""
    if measure == ERROR_RATE:
        first, second = (
            rate_interval(each.losses, each.units, weights=each.weights) for each in (deployment, training)
        )
        ratio = unpaired_ratio(first, second)
    else:
        above, below = (
            mean_loss_interval(each.proper, each.units, weights=each.weights) for each in (deployment, training)
        )
        if is_withheld(above) or is_withheld(below):
            return withheld(loss_of(deployment, measure).value / loss_of(training, measure).value - 1)
        ratio = unpaired_ratio(above, _closed(below))
        ratio = root_of(ratio) if measure == RMSE else ratio
    return Estimate(ratio.value - 1, ratio.low - 1, ratio.high - 1)


def _closed(loss: Estimate) -> Estimate:
    """A training loss with a far upper end where its own is open: otherwise no rise could ever be shown."""
    if isfinite(loss.high):
        return loss
    return Estimate(loss.value, loss.low, loss.value + FAR * (loss.value - loss.low))


def bias_of(outcome: Outcome) -> Estimate | None:
    """Mean prediction minus mean truth, for numbers or for the probabilities of the second of two classes."""
    if outcome.errors is None:
        return None
    bias = mean_interval(outcome.errors, outcome.units, outcome.weights)
    if outcome.is_second is None or outcome.units is not None or has_both_classes(outcome.is_second):
        return bias
    predicted = mean_of(outcome.errors + outcome.is_second, outcome.weights)
    rate = rate_interval(outcome.is_second, weights=outcome.weights)
    return Estimate(bias.value, min(bias.low, predicted - rate.high), max(bias.high, predicted - rate.low))


def auc_change(target: Target, deployment: Outcome, training: Outcome) -> Estimate | None:
    """Change of the AUC, if a class is rare: the loss then says little about how rows are ranked."""
    if target.rare is None or training.auc is None:
        return None
    if deployment.is_second is None or not has_both_classes(deployment.is_second) or deployment.auc is None:
        return withheld(float("nan"))
    return unpaired_difference(deployment.auc, training.auc)


def deployment_losses(
    target: Target,
    deployment: Outcome,
    training: Outcome,
    in_seen_group: np.ndarray | None,
    tolerances: Tolerances,
    measure: str,
) -> tuple[DeploymentLoss, ...]:
    """The losses of all rows and, if only some are of groups seen in training, of both parts."""
    parts = [(ALL_ROWS, np.ones(len(deployment.losses), dtype=bool))]
    if in_seen_group is not None and in_seen_group.any() and not in_seen_group.all():
        parts += [(SEEN_GROUPS, in_seen_group), (NEW_GROUPS, ~in_seen_group)]
    return tuple(_loss_of_part(name, target, deployment[rows], training, tolerances, measure) for name, rows in parts)


def _loss_of_part(
    name: str, target: Target, part: Outcome, training: Outcome, tolerances: Tolerances, measure: str
) -> DeploymentLoss:
    rise, bias, ranking = rise_of(part, training, measure), bias_of(part), auc_change(target, part, training)
    checks = [(rise, (-inf, tolerances.rise))]
    checks += [] if bias is None else [(bias, (-tolerances.bias, tolerances.bias))]
    checks += [] if ranking is None else [(ranking, (-tolerances.auc, inf))]
    n_rows = len(part.losses)
    n_units = None if part.units is None else len(np.unique(part.units))
    outcomes = [decide(*check) for check in checks]
    needed = [_rows_needed(estimate, n_units or n_rows, limits) for estimate, limits in checks]
    known = [each for each in needed if each is not None]
    return DeploymentLoss(
        name=name,
        n_rows=n_rows,
        n_units=n_units,
        loss=loss_of(part, measure),
        rise=rise,
        bias=bias,
        auc_change=ranking,
        outcome=OUTSIDE if OUTSIDE in outcomes else UNDECIDED if UNDECIDED in outcomes else INSIDE,
        rows_needed=max(known) if len(known) == len(needed) else None,
    )


def _rows_needed(estimate: Estimate, n_rows: int, limits: tuple[float, float]) -> int | None:
    """Rows that would decide; an open upper end counts as being as far from the value as the lower end."""
    if not is_one_sided(estimate):
        return rows_needed(estimate, n_rows, limits)
    if decide(estimate, limits) != UNDECIDED:
        return n_rows
    closed = Estimate(estimate.value, estimate.low, 2 * estimate.value - estimate.low)
    needed = rows_needed(closed, n_rows, limits)
    return None if needed is None else max(needed, 2 * n_rows)  # the rows so far are too few for rare errors


def decisive(losses: tuple[DeploymentLoss, ...]) -> DeploymentLoss:
    """The part that decides: the worst one; a part with hardly any rows counts only if it is outside."""
    n_rows = losses[0].n_rows
    order = {OUTSIDE: 0, UNDECIDED: 1, INSIDE: 2}
    counted = [part for part in losses if part.outcome == OUTSIDE or part.n_rows >= MIN_PART * n_rows]
    return min(counted, key=lambda part: (order[part.outcome], -part.rise.value))
