"""The numbers of the subgroups: who is compared, with intervals that hold together."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from surefoot.metrics.intervals import CONFIDENCE
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.sections.subgroups.columns import Slice, SliceColumn, columns_of
from surefoot.report.sections.subgroups.conditions import Part, parts_of
from surefoot.report.sections.subgroups.findings import Segment, Subgroup, SubgroupFindings
from surefoot.report.sections.subgroups.row_errors import MIN_UNITS, RowErrors
from surefoot.report.sections.subgroups.segments import MIN_SEARCH_ROWS, find_segments
from surefoot.report.sections.subgroups.verdict import is_clearly_worse

MISSES = 1 - CONFIDENCE  # in how many tables an interval of one kind may miss the truth
OF_SEGMENTS = (
    0.5  # fraction of these that the two segments may have: they need it most, as half of the rows measure them
)
N_SEGMENTS = 2
HALF = 0.5


def measure_subgroups(audited: CrossFitted, named: Sequence[Slice], seed: int) -> SubgroupFindings:
    """All numbers of the section."""
    table = audited.table
    columns, n_columns = columns_of(table, named)
    errors, held_out = RowErrors.of(audited), audited.splits.held_out
    found = measure_errors(errors, held_out, named, columns, n_columns, seed)
    is_rare = table.target.rare is not None
    return replace(found, model=audited.name, is_rare=is_rare, clearly_worse=() if is_rare else found.clearly_worse)


def measure_errors(
    errors: RowErrors,
    held_out: np.ndarray,
    named: Sequence[Slice],
    columns: Sequence[SliceColumn],
    n_columns: int,
    seed: int,
) -> SubgroupFindings:
    """The subgroups by the columns and by those that were named, and the segments."""
    every = list({column.name: column for column in (*chain.from_iterable(named), *columns)}.values())
    parts, n_withheld = _large_enough(chain(named, ((column,) for column in columns)), held_out, errors)
    groups, n_comparisons = compare(errors, parts)
    segments: tuple[Segment, ...] = ()
    if not (reason := _why_not_searched(errors)):
        segments = find_segments(every, errors, held_out, 1 - OF_SEGMENTS * MISSES / N_SEGMENTS, seed)
        reason = "" if segments else "no rule of one or two conditions has larger errors and enough rows"
    return SubgroupFindings(
        measure=errors.measure,
        model="",
        n_rows=len(held_out),
        error=errors.overall,
        worst_group=groups[0] if groups else None,
        clearly_worse=_clearly_worse([*groups, *segments]),
        groups=groups,
        segments=segments,
        n_comparisons=n_comparisons,
        n_withheld=n_withheld,
        columns=tuple(column.name for column in every),
        n_columns=n_columns + sum(len(each) == 1 for each in named),
        is_rare=False,
        not_searched=reason,
    )


def _clearly_worse(found: Sequence[Subgroup | Segment]) -> tuple[str, ...]:
    """Names of those whose error is clearly larger, the clearest first."""
    worse = sorted((each for each in found if is_clearly_worse(each.ratio)), key=lambda each: -each.ratio.low)
    return tuple(dict.fromkeys(each.name for each in worse))


def _large_enough(slices: Iterator[Slice], held_out: np.ndarray, errors: RowErrors) -> tuple[list[Part], int]:
    """The parts that have enough rows, and how many have not; what is left beside a small part is not counted."""
    enough, n_withheld = [], 0
    for part in (part for each in slices for part in parts_of(each, held_out)):
        if errors.is_large_enough(part.is_inside):
            enough.append(part)
        else:
            n_withheld += bool(part.is_inside.mean() <= HALF)
    return enough, n_withheld


def compare(errors: RowErrors, parts: Sequence[Part]) -> tuple[tuple[Subgroup, ...], int]:
    """Each part compared with all other rows, the largest error first; and the number of comparisons.

    By Bonferroni, all intervals of one kind miss the truth in at most 5% of tables; those of errors and of ratios in
    2.5%, as the segments have the other half. Parts of the same rows are one subgroup. The ratios of two parts that
    are each other's complement are one comparison: their intervals are reciprocal, and miss together.
    """
    distinct = list({part.is_inside.tobytes(): part for part in reversed(parts)}.values())[::-1]
    n_comparisons = len({(part.is_inside ^ part.is_inside[0]).tobytes() for part in distinct})
    groups = [_subgroup(errors, part, len(distinct), n_comparisons) for part in distinct]
    return tuple(sorted(groups, key=lambda group: -group.error)), n_comparisons


def _subgroup(errors: RowErrors, part: Part, n_groups: int, n_comparisons: int) -> Subgroup:
    inside, units, of_groups = part.is_inside, errors.units_of(part.is_inside), (1 - OF_SEGMENTS) * MISSES
    interval, confidence = errors.error_of(inside, 1 - of_groups / n_groups), 1 - MISSES / n_groups
    _, rest_error, ratio = errors.compared(inside, 1 - of_groups / n_comparisons)
    return Subgroup(
        name=part.name,
        columns=part.columns,
        n_rows=int(inside.sum()),
        n_units=None if units is None else len(np.unique(units)),
        error=interval.value,
        interval=interval,
        rest_error=rest_error,
        ratio=ratio,
        expected=errors.claimed_of(inside),
        bias=errors.bias_of(inside, confidence),
        coverage=errors.coverage_of(inside, confidence),
    )


def _why_not_searched(errors: RowErrors) -> str:
    """Why there is no search for segments; empty if there is one."""
    if len(errors.losses) < MIN_SEARCH_ROWS:
        return f"a search needs {MIN_SEARCH_ROWS} held-out rows"
    n_units = errors.n_units
    if n_units is not None and n_units < 4 * MIN_UNITS:
        return f"a search needs {4 * MIN_UNITS} groups, or runs of rows in time"
    return ""
