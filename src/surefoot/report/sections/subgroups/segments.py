"""A search for the segment of the rows with the largest errors, on one half of them; the other half measures it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.report.sections.subgroups.columns import SliceColumn
from surefoot.report.sections.subgroups.conditions import Condition, Part, candidates
from surefoot.report.sections.subgroups.findings import Segment
from surefoot.report.sections.subgroups.row_errors import RowErrors
from surefoot.report.statistics import mean_of

MIN_SEARCH_ROWS = 400  # held-out rows; each half has 200
MIN_FRACTION, MAX_FRACTION = 0.05, 0.5  # of the rows, in a segment
MAX_SEARCHED_ROWS = 20_000  # of a half
MAX_CROSSED = 300  # conditions that are combined with each other: those that raise the loss most
CLIPPED = 0.99  # quantile of the losses: larger ones are cut off, so that a few rows do not decide
PAIR_LEAD = 0.75  # standard errors by which two conditions must be clearer than one
N_TRIED = 20  # rules, the clearest first, until one has enough rows and units


@dataclass(frozen=True, eq=False)
class Search:
    """All pairs of conditions on one half of the rows.

    A greedy tree misses segments in which each condition by itself hardly raises the loss; trying all pairs finds them.
    """

    conditions: list[Condition]
    met: np.ndarray  # (n_rows, n_conditions), as float32
    deviations: np.ndarray  # of the losses from their mean, in standard deviations

    @classmethod
    def of(cls, columns: Sequence[SliceColumn], rows: np.ndarray, errors: RowErrors) -> "Search":
        """The conditions that raise the loss most, and the losses in standard deviations."""
        losses = errors.losses
        clipped = losses if errors.is_rate else np.minimum(losses, np.quantile(losses, CLIPPED))
        deviations = clipped - mean_of(clipped, errors.weights)
        deviations = deviations if errors.weights is None else deviations * errors.weights
        spread = deviations.std()
        deviations = deviations / (spread if spread > 0 else 1.0)
        conditions = [each for column in columns for each in candidates(column, rows)]
        if not conditions:
            return cls([], np.empty((len(rows), 0), dtype=np.float32), deviations)
        met = np.column_stack([each.of_rows(rows) for each in conditions]).astype(np.float32)
        clearest = np.argsort(-evidence(met.sum(axis=0), deviations @ met, len(rows), 1 - MIN_FRACTION), kind="stable")
        kept = np.sort(clearest[:MAX_CROSSED])
        return cls([conditions[k] for k in kept], met[:, kept], deviations)

    def rules(self) -> list[tuple[Condition, ...]]:
        """The clearest rules of one or two conditions; a single condition wins unless two are clearly better.

        None where no rule raises the loss, because it is the same in all rows, say.
        """
        weighted = self.met * self.deviations[:, np.newaxis].astype(np.float32)
        scores = evidence(self.met.T @ self.met, self.met.T @ weighted, len(self.met), MAX_FRACTION)
        scores = np.triu(scores - PAIR_LEAD, 1) + np.diag(np.diag(scores))
        scores[np.tril_indices(len(scores), -1)] = -np.inf
        order = np.argsort(-scores, axis=None, kind="stable")[:N_TRIED]
        pairs = [np.unravel_index(place, scores.shape) for place in order if scores.flat[place] > 0]
        return [tuple(self.conditions[k] for k in dict.fromkeys(map(int, pair))) for pair in pairs]


def evidence(counts: np.ndarray, sums: np.ndarray, n_rows: int, max_fraction: float) -> np.ndarray:
    """Standard errors by which the mean loss of a segment lies above that of all rows; -inf for other sizes."""
    is_usable = (counts >= MIN_FRACTION * n_rows) & (counts <= max_fraction * n_rows)
    safe = np.where(is_usable, counts, 1.0)
    error = np.sqrt(np.maximum(1 / safe - 1 / n_rows, 1e-12))
    return np.where(is_usable, sums / safe / error, -np.inf)


def find_segments(
    columns: Sequence[SliceColumn], errors: RowErrors, held_out: np.ndarray, confidence: float, seed: int
) -> tuple[Segment, ...]:
    """A segment for each half of the rows (of whole units): found on that half, measured on the other.

    Each interval is honest by itself, as its rows had no part in the search. Both hold together with ``confidence`` for
    each, whatever their dependence (Bonferroni). A mean over both halves would need their unknown correlation.
    """
    in_first = halves(errors, seed)
    found = [
        _measured(columns, errors, held_out, is_searched, confidence, seed) for is_searched in (in_first, ~in_first)
    ]
    return tuple(segment for segment in found if segment is not None)


def halves(errors: RowErrors, seed: int) -> np.ndarray:
    """Which rows are in the first half; the rows of a unit are together."""
    generator = np.random.default_rng([seed, 2])
    codes = np.arange(len(errors.losses)) if errors.units is None else errors.units
    places = generator.permutation(int(codes.max()) + 1)
    return np.asarray((places % 2 == 0)[codes])


def _measured(
    columns: Sequence[SliceColumn],
    errors: RowErrors,
    held_out: np.ndarray,
    is_searched: np.ndarray,
    confidence: float,
    seed: int,
) -> Segment | None:
    """The segment of one half; None if no rule has enough rows in both halves."""
    searched = np.flatnonzero(is_searched)
    searched = np.sort(np.random.default_rng([seed, 3]).permutation(searched)[:MAX_SEARCHED_ROWS])
    measured, others = errors[~is_searched], held_out[~is_searched]
    found = errors[searched]
    for rule in Search.of(columns, held_out[searched], found).rules():
        part = _part(rule, others)
        is_known = found.is_large_enough(_part(rule, held_out[searched]).is_inside)
        if is_known and measured.is_large_enough(part.is_inside):
            return _segment(part, measured, confidence)
    return None


def _part(rule: tuple[Condition, ...], rows: np.ndarray) -> Part:
    return Part(rule, np.logical_and.reduce([each.of_rows(rows) for each in rule]))


def _segment(part: Part, measured: RowErrors, confidence: float) -> Segment:
    interval, rest_error, ratio = measured.compared(part.is_inside, confidence)
    return Segment(
        name=part.name,
        columns=part.columns,
        n_rows=int(part.is_inside.sum()),
        n_measured=len(part.is_inside),
        error=interval.value,
        interval=interval,
        rest_error=rest_error,
        ratio=ratio,
        expected=measured.claimed_of(part.is_inside),
    )
