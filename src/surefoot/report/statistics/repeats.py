"""Numbers from several draws of the folds: their means, and whether another draw could turn an answer.

Another draw of the folds moves the ends of an interval by up to about a standard error (``benchmarks/audit_seeds.py
--draws 1`` prints by how much). Where that could turn an answer, the folds are drawn again, and every number is the
mean over the draws.
"""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from math import isfinite
from typing import Any, TypeVar

import numpy as np
from scipy.special import ndtri

from surefoot.metrics.intervals import CONFIDENCE
from surefoot.report.statistics.estimates import Estimate

Record = TypeVar("Record")


def mean_record(records: Sequence[Record]) -> Record:
    """The record whose numbers are means over the records; the rest is that of the first.

    A number that most of the records do not have (None, or an open end of an interval) is missing in the mean too.
    Tuples of numbers are averaged place by place.
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
    """Of the finite ones, if most are; else the first that is not: an open end stays open."""
    finite = [value for value in values if isfinite(value)]
    if 2 * len(finite) <= len(values):
        return next(value for value in values if not isfinite(value))
    return float(np.mean(finite))


def narrowed_record(record: Record, by: float) -> Record:
    """The record with both ends of every interval moved inwards by so many standard errors; outwards, if negative.

    An answer that stays the same when intervals are wider and when they are narrower does not depend on where exactly
    they end.
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
    """What the interval stands for, from the wider of its closed sides; 0 if both ends are open."""
    sides = [side for side in (estimate.value - estimate.low, estimate.high - estimate.value) if isfinite(side)]
    return float(max(sides, default=0.0) / ndtri((1 + CONFIDENCE) / 2))
