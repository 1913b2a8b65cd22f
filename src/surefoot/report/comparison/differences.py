"""Differences of the numbers of two audits, with intervals that are valid for how their rows are related.

*Paired*: both audits held out the same rows, and their losses were stored. *Same rows*: both are about the same table,
but only intervals are known. The half-widths are added, which is valid however the two errors depend on each other.
*Independent*: different tables; the half-widths are added in squares (MOVER), which is valid for rows that have nothing
to do with each other, and too wide where rows are in both tables and errors on them are alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any

import numpy as np
from scipy.special import ndtri

from surefoot.metrics.intervals import CONFIDENCE
from surefoot.report.audit import Audit
from surefoot.report.row_losses import RowLosses
from surefoot.report.sections.main_numbers import GOAL, HIGHER, LOWER, MainNumber, main_numbers
from surefoot.report.statistics import (
    Estimate,
    is_withheld,
    paired_mean_difference,
    paired_rate_difference,
    paired_rms_difference,
    unpaired_difference,
)

PAIRED, SAME_ROWS, INDEPENDENT = "paired", "same rows", "independent"
BETTER, WORSE, CHANGED, EQUAL = "better", "worse", "changed", "equal"
NOT_SHOWN, NO_INTERVAL = "not shown", "no interval"
REFOLDED = 2.0  # times as wide as an interval for other rows alone


@dataclass(frozen=True)
class Difference:
    """A main number of two audits, and whether it is shown to differ."""

    name: str
    before: MainNumber
    after: MainNumber
    relation: str  # "paired", "same rows" or "independent"
    estimate: Estimate  # after minus before
    outcome: str = NOT_SHOWN  # "better", "worse", "changed", "equal", "not shown" or "no interval"


def differences(before: Audit, after: Audit, n_pairs: int = 1) -> tuple[Difference, ...]:
    """The numbers that both audits have, of the same kind.

    What is called better or worse is so by intervals that hold simultaneously for all numbers of all ``n_pairs`` pairs
    of audits that are compared (Bonferroni).
    """
    first, second = main_numbers(before), main_numbers(after)
    found = []
    for name in (name for name in first if name in second):
        one, other = first[name], second[name]
        if one.estimate is not None and other.estimate is not None and one.kind == other.kind:
            relation, estimate = _difference(name, one.estimate, other.estimate, before, after)
            found.append(Difference(name, one, other, relation, estimate))
    n_tested = sum(not is_withheld(each.estimate) for each in found) * n_pairs
    return tuple(replace(each, outcome=outcome_of(each, n_tested)) for each in found)


def _difference(name: str, one: Estimate, other: Estimate, before: Audit, after: Audit) -> tuple[str, Estimate]:
    pair = _paired(name, before.row_losses, after.row_losses)
    if pair is not None:
        return PAIRED, _moved_to(pair, other.value - one.value)
    if before.subject.fingerprint == after.subject.fingerprint or _has_same_rows(before, after):
        return SAME_ROWS, _same_rows(one, other)
    return INDEPENDENT, unpaired_difference(other, one)


def _has_same_rows(before: Audit, after: Audit) -> bool:
    first, second = before.row_losses, after.row_losses
    return first is not None and second is not None and first.rows == second.rows


def _same_rows(one: Estimate, other: Estimate) -> Estimate:
    """The difference of two numbers about the same rows, valid for any dependence of their errors."""
    return Estimate(other.value - one.value, other.low - one.high, other.high - one.low)


def _paired(name: str, before: RowLosses | None, after: RowLosses | None) -> Estimate | None:
    """The mean difference of the losses on the same rows; None for numbers that are no means of them."""
    if before is None or after is None or before.rows != after.rows:
        return None
    if before.counts != after.counts or before.weights != after.weights:
        return None
    columns = {"error_rate": "errors", "rmse": "errors", "log_loss": "log_losses"}
    values = [getattr(each, columns[name]) if name in columns else None for each in (after, before)]
    if values[0] is None or values[1] is None:
        return None
    measures: dict[str, Any] = {"error_rate": paired_rate_difference, "rmse": paired_rms_difference}
    first, second, groups = _rows_of(values[0], values[1], before)
    return _refolded(measures.get(name, paired_mean_difference)(first, second, groups))


def _refolded(paired: Estimate) -> Estimate:
    """The interval, wider for the draw of the folds.

    Two audits of one table and model with other seeds differ by their folds alone, and losses move together within a
    fold. Over such audits the variance of a difference of losses was 0.5 to 2.6 times that of the rows
    (benchmarks/fold_differences.py).
    """
    value = paired.value
    return Estimate(value, value - REFOLDED * (value - paired.low), value + REFOLDED * (paired.high - value))


def _rows_of(
    first: Sequence[float], second: Sequence[float], like: RowLosses
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The losses as intervals take them: one for each row of a group, or for each block with its weight."""
    counts, groups = np.asarray(like.counts), None
    sizes = counts if like.weights is None else np.asarray(like.weights)
    weights = sizes / sizes.mean()
    if like.by_groups:
        groups = np.repeat(np.arange(len(counts)), counts)
        weights = (weights / counts)[groups] * counts.mean()
    one, other = (np.asarray(each) if groups is None else np.asarray(each)[groups] for each in (first, second))
    return one * weights, other * weights, groups


def _moved_to(estimate: Estimate, value: float) -> Estimate:
    """The interval around the difference of the two numbers as they are shown."""
    return Estimate(value, value - (estimate.value - estimate.low), value + (estimate.high - estimate.value))


def simultaneous(estimate: Estimate, n_tested: int) -> Estimate:
    """The interval, wider so that ``n_tested`` of them hold together."""
    factor = float(ndtri(1 - (1 - CONFIDENCE) / (2 * max(n_tested, 1))) / ndtri((1 + CONFIDENCE) / 2))
    value = estimate.value
    low = value - factor * (value - estimate.low) if isfinite(estimate.low) else -inf
    return Estimate(value, low, value + factor * (estimate.high - value) if isfinite(estimate.high) else inf)


def outcome_of(each: Difference, n_tested: int) -> str:
    """Whether a number is shown to have changed, and in which direction."""
    if each.before.value == each.after.value:
        return EQUAL
    if is_withheld(each.estimate):
        return NO_INTERVAL
    wide = simultaneous(each.estimate, n_tested)
    if wide.low <= 0 <= wide.high or not isfinite(wide.value):
        return NOT_SHOWN
    rises, better = wide.low > 0, each.after.better
    if better == GOAL:
        better = _direction(each, n_tested)
    if better not in (LOWER, HIGHER):
        return CHANGED
    return BETTER if rises == (better == HIGHER) else WORSE


def _direction(each: Difference, n_tested: int) -> str:
    """Which direction is better for a number with a goal, if both are shown to be on one side of it."""
    goal, sides = each.after.goal, set()
    for number in (each.before, each.after):
        estimate = number.estimate
        wide = None if estimate is None else simultaneous(estimate, n_tested)
        sides.add("" if wide is None or wide.low <= goal <= wide.high else HIGHER if wide.high < goal else LOWER)
    return sides.pop() if len(sides) == 1 else ""
