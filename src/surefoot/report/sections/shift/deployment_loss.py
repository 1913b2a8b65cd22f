"""The audited model on deployment data whose target is known: by how much its loss rises, and its bias."""

from dataclasses import dataclass, fields
from math import inf, isfinite
from typing import Any

import numpy as np

from surefoot.report.inputs.target import BINARY, Target
from surefoot.report.models.scoring import ERROR_RATE, LOG_LOSS, RMSE, Outcome, enough
from surefoot.report.sections.shift.findings import DeploymentLoss
from surefoot.report.sections.uncertainty.findings import WELL_CALIBRATED
from surefoot.report.statistics import (
    INSIDE,
    OUTSIDE,
    UNDECIDED,
    decide,
    is_one_sided,
    is_withheld,
    mean_interval,
    mean_loss_interval,
    rate_ratio,
    root_mean_square_interval,
    root_of,
    rows_needed,
    share_interval,
    unpaired_difference,
    unpaired_ratio,
    withheld,
)
from surefoot.report.statistics.estimates import Estimate

ALL_ROWS, SEEN_GROUPS, NEW_GROUPS = "all rows", "groups seen in training", "new groups"
MAX_BIAS = 0.25  # of the standard deviation of a number
MAX_AUC_FALL = 0.05
FAR = 4.0  # times the distance of the lower end: where rare errors are unseen, the upper end is far
MIN_PART = 0.1  # of the rows: groups of fewer cannot rule out a yes


@dataclass(frozen=True)
class Tolerances:
    """What the loss may rise by (a fraction), how large the bias may be, and by how much the AUC may fall."""

    rise: float
    bias: float
    auc: float = MAX_AUC_FALL

    @classmethod
    def of(cls, target: Target, rows: np.ndarray, rise: float) -> "Tolerances":
        """Bias: a quarter of a standard deviation of a number; 5 points for classes, and less for a rare one."""
        if not target.is_classes:
            return cls(rise, MAX_BIAS * float(np.std(target.y[rows])))
        if target.task != BINARY:
            return cls(rise, WELL_CALIBRATED)
        return cls(rise, WELL_CALIBRATED * 2 * float(np.std(target.y[rows] == 1)))  # 2: as for classes of equal size


def measure_there(target: Target, here: Outcome, there: Outcome) -> str:
    """What rises: a proper score, if the model gives probabilities."""
    if not target.is_classes:
        return RMSE
    return ERROR_RATE if here.log_losses is None or there.log_losses is None else LOG_LOSS


def loss_interval(outcome: Outcome, measure: str) -> Estimate:
    """The loss of some rows."""
    if measure == RMSE:
        return root_mean_square_interval(outcome.losses, outcome.units)
    if measure == ERROR_RATE:
        return share_interval(outcome.losses, outcome.units)
    assert outcome.log_losses is not None
    return mean_loss_interval(outcome.log_losses, outcome.units)


def rise_of(there: Outcome, here: Outcome, measure: str) -> Estimate:
    """By what fraction the loss there is above that here; the rows are different ones."""
    if measure == ERROR_RATE:
        ratio = rate_ratio(there.losses, here.losses, there.units, here.units)
    else:
        above, below = (mean_loss_interval(each.proper, each.units) for each in (there, here))
        if is_withheld(above) or is_withheld(below):
            return withheld(loss_interval(there, measure).value / loss_interval(here, measure).value - 1)
        ratio = unpaired_ratio(above, _with_an_end(below))
        ratio = root_of(ratio) if measure == RMSE else ratio
    return Estimate(ratio.value - 1, ratio.low - 1, ratio.high - 1)


def _with_an_end(loss: Estimate) -> Estimate:
    """The loss here with a far upper end where its own is open: else no rise, however large, could be shown."""
    if isfinite(loss.high):
        return loss
    return Estimate(loss.value, loss.low, loss.value + FAR * (loss.value - loss.low))


def bias_of(outcome: Outcome) -> Estimate | None:
    """Mean prediction less mean truth: of numbers, or of the probabilities of the second of two classes."""
    if outcome.errors is None:
        return None
    found = mean_interval(outcome.errors, outcome.units)
    if outcome.second is None or outcome.units is not None or enough(outcome.second):
        return found
    promised, rate = float(np.mean(outcome.errors + outcome.second)), share_interval(outcome.second)
    return Estimate(found.value, min(found.low, promised - rate.high), max(found.high, promised - rate.low))


def auc_change(target: Target, there: Outcome, here: Outcome) -> Estimate | None:
    """AUC there less AUC here, if a class is rare: the loss says little of how its rows are ranked."""
    if target.rare is None or here.auc is None:
        return None
    if there.second is None or not enough(there.second) or there.auc is None:
        return withheld(float("nan"))
    return unpaired_difference(there.auc, here.auc)


def deployment_losses(
    target: Target, there: Outcome, here: Outcome, seen: np.ndarray | None, tolerances: Tolerances, measure: str
) -> tuple[DeploymentLoss, ...]:
    """Of all rows and, if some are of groups seen in training and some of new ones, of both parts."""
    every = np.ones(len(there.losses), dtype=bool)
    parts = [(ALL_ROWS, every)]
    if seen is not None and seen.any() and not seen.all():
        parts += [(SEEN_GROUPS, seen), (NEW_GROUPS, ~seen)]
    return tuple(_loss_of_part(name, target, rows_of(there, rows), here, tolerances, measure) for name, rows in parts)


def rows_of(outcome: Outcome, rows: np.ndarray) -> Outcome:
    """The outcome of some rows."""
    kept: dict[str, Any] = {}
    for field in fields(outcome):
        values = getattr(outcome, field.name)
        kept[field.name] = None if values is None else values[rows]
    return Outcome(**kept)


def _loss_of_part(
    name: str, target: Target, there: Outcome, here: Outcome, tolerances: Tolerances, measure: str
) -> DeploymentLoss:
    rise, bias, ranking = rise_of(there, here, measure), bias_of(there), auc_change(target, there, here)
    checks = [(rise, (-inf, tolerances.rise))]
    checks += [] if bias is None else [(bias, (-tolerances.bias, tolerances.bias))]
    checks += [] if ranking is None else [(ranking, (-tolerances.auc, inf))]
    n_rows = len(there.losses)
    n_units = None if there.units is None else len(np.unique(there.units))
    outcomes = [decide(*check) for check in checks]
    outcome = OUTSIDE if OUTSIDE in outcomes else UNDECIDED if UNDECIDED in outcomes else INSIDE
    needed = [_rows_needed(found, n_units or n_rows, limits) for found, limits in checks]
    return DeploymentLoss(
        name,
        n_rows,
        n_units,
        loss_interval(there, measure),
        rise,
        bias,
        ranking,
        outcome,
        None if any(each is None for each in needed) else max(each for each in needed if each is not None),
    )


def _rows_needed(estimate: Estimate, n_rows: int, limits: tuple[float, float]) -> int | None:
    """The same for an interval whose upper end is open, as if it were as far from the value as the lower one."""
    if not is_one_sided(estimate):
        return rows_needed(estimate, n_rows, limits)
    if decide(estimate, limits) != UNDECIDED:
        return n_rows
    closed = Estimate(estimate.value, estimate.low, 2 * estimate.value - estimate.low)
    needed = rows_needed(closed, n_rows, limits)
    return None if needed is None else max(needed, 2 * n_rows)  # too few to see rare errors


def decisive(losses: tuple[DeploymentLoss, ...]) -> DeploymentLoss:
    """The part that decides: the worst, where a part with hardly any rows can only rule out, not be too small."""
    n_rows = losses[0].n_rows
    order = {OUTSIDE: 0, UNDECIDED: 1, INSIDE: 2}
    counted = [part for part in losses if part.outcome == OUTSIDE or part.n_rows >= MIN_PART * n_rows]
    return min(counted, key=lambda part: (order[part.outcome], -part.rise.value))
