"""The effect of the draw of the folds: wider intervals of cross-fitted losses, and means over several draws.

Another draw of the folds moves the ends of an interval by up to about a standard error (``benchmarks/audit_seeds.py
--draws 1`` prints by how much). Where that could change an answer, the folds are drawn again, and every number is the
mean over the draws.
"""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from math import inf, isfinite, sqrt
from typing import Any, TypeVar

import numpy as np

from surefoot.metrics.intervals import Z
from surefoot.report.statistics.estimates import Estimate

OVERLAP_ROWS = 90.0  # by simulation (benchmarks/cross_fitting_coverage.py), five folds
REDRAWN = 0.9  # by seeds (benchmarks/audit_seeds.py --draws 1: the square of the column "doubling", times 1 + REDRAWN)
Record = TypeVar("Record")


def cross_fitted(estimate: Estimate, n_rows: int, minimum: float = -inf, maximum: float = inf) -> Estimate:
    """The estimate with a wider interval, for the overlap of the training sets, cut off at ``minimum`` and ``maximum``.

    Models of different folds share most of their training rows, so their losses go up and down together, more so with
    fewer rows. No estimate of this variance from the same folds is unbiased (Bengio and Grandvalet 2004): the factor
    is the root of 1 + 90 / rows, set by simulation. With it 90% or more of the intervals contain the error of the
    model fitted to all rows, for every model and number of rows tried.
    """
    wider = _widened(estimate, sqrt(1 + OVERLAP_ROWS / n_rows))
    return Estimate(
        estimate.value,
        max(wider.low, minimum) if wider.low > -inf else wider.low,
        min(wider.high, maximum) if wider.high < inf else wider.high,
    )


def redrawn(estimate: Estimate) -> Estimate:
    """A difference of models trained on different rows, with a wider interval for the draw of these training rows.

    An interval of paired losses covers the draw of the held-out rows. With other halves of the rows to train on, the
    difference changes too. Over ten seeds the variance of this change was 0.6 times that of the held-out rows on
    average of ten tables, and 1.0 times on the five whose intervals were narrow enough to decide anything.
    """
    return _widened(estimate, sqrt(1 + REDRAWN))


def _widened(estimate: Estimate, factor: float) -> Estimate:
    low = estimate.value - factor * (estimate.value - estimate.low)
    return Estimate(estimate.value, low, estimate.value + factor * (estimate.high - estimate.value))


def mean_record(records: Sequence[Record]) -> Record:
    """The record whose numbers are means over the records; everything else is that of the first.

    A number that most of the records do not have (None, or an open end of an interval) is missing in the mean too.
    Tuples of numbers are averaged element by element.
    """
    return records[0] if len(records) == 1 else _mean(records)


def _mean(values: Sequence[Any]) -> Any:
    known = [value for value in values if value is not None]
    if 2 * len(known) <= len(values):
        return None
    first = known[0]
    if is_dataclass(first):
        return _mean_dataclass(known)
    if isinstance(first, bool):
        return 2 * sum(known) > len(known)
    if isinstance(first, float):
        return _mean_number(known)
    if isinstance(first, tuple) and len({len(one) for one in known}) == 1:
        return tuple(_mean(parts) for parts in zip(*known, strict=True))
    return first


def _mean_dataclass(records: Sequence[Any]) -> Any:
    names = [each.name for each in fields(records[0])]
    return replace(records[0], **{name: _mean([getattr(one, name) for one in records]) for name in names})


def _mean_number(values: Sequence[float]) -> float:
    """Mean of the finite values, if most are finite; else the first that is not: an open end stays open."""
    finite = [value for value in values if isfinite(value)]
    if 2 * len(finite) <= len(values):
        return next(value for value in values if not isfinite(value))
    return float(np.mean(finite))


def narrowed_record(record: Record, by: float) -> Record:
    """The record with both ends of every interval moved inwards by ``by`` standard errors; outwards if negative.

    An answer that is the same with wider and with narrower intervals does not depend on where exactly they end.
    """
    return _narrowed(record, by)


def _narrowed(value: Any, by: float) -> Any:
    if isinstance(value, Estimate):
        step = by * standard_error(value)
        return Estimate(value.value, min(value.low + step, value.value), max(value.high - step, value.value))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{each.name: _narrowed(getattr(value, each.name), by) for each in fields(value)})
    return tuple(_narrowed(part, by) for part in value) if isinstance(value, tuple) else value


def standard_error(estimate: Estimate) -> float:
    """The standard error behind an interval, from the wider of its closed sides; 0 if both ends are open."""
    sides = [side for side in (estimate.value - estimate.low, estimate.high - estimate.value) if isfinite(side)]
    return float(max(sides, default=0.0) / Z)
