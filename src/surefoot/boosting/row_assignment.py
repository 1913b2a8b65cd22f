"""Which rows each member of an ensemble is trained on."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

import numpy as np

from surefoot._random import random_permutation, stream_key

N_FOLDS = 10
MIN_HELD_OUT = 1000  # rows outside the largest class: a link fitted to so many is known to within about 5%
FOLD_SEED = 0x5EED  # not the user's: AdaBoost with native trees does not depend on chance


@dataclass(frozen=True)
class MemberRows:
    """Rows ``start:stop`` of the reordered table; ``counts()``, if given, says how often each of them is drawn."""

    index: int
    start: int
    stop: int
    counts: Callable[[], np.ndarray] | None = None


@dataclass(frozen=True)
class RowAssignment:
    """The order in which rows are laid out, each member's rows together and sorted by class; and the members."""

    order: np.ndarray
    members: list[MemberRows]


def assign_all_rows(codes: np.ndarray, rows: np.ndarray) -> RowAssignment:
    """One member with all rows."""
    return RowAssignment(_small(rows[_stable_order(codes[rows])]), [MemberRows(0, 0, len(rows))])


def assign_parts(codes: np.ndarray, rows: np.ndarray, n_members: int, shuffled: np.ndarray) -> RowAssignment:
    """Disjoint parts of equal size: ``shuffled`` is a permutation of ``arange(len(rows))``."""
    ends = np.arange(1, n_members + 1) * len(rows) // n_members
    part = np.empty(len(rows), dtype=np.int32)
    part[shuffled] = np.repeat(np.arange(n_members, dtype=np.int32), np.diff(ends, prepend=0))
    order = rows[_stable_order(part * (int(codes.max()) + 1) + codes[rows])]
    starts = np.append(0, ends[:-1])
    members = [MemberRows(k, int(a), int(b)) for k, (a, b) in enumerate(zip(starts, ends, strict=True))]
    return RowAssignment(_small(order), members)


def assign_draws(
    codes: np.ndarray, rows: np.ndarray, n_members: int, draw: Callable[[int], np.ndarray]
) -> RowAssignment:
    """Overlapping members: ``draw(k)`` gives, for each of ``rows``, how often member ``k`` has it."""
    order = _stable_order(codes[rows])

    def counts_of(k: int) -> Callable[[], np.ndarray]:
        return lambda: draw(k)[order]  # drawn when the member is trained: never all members' counts at once

    members = [MemberRows(k, 0, len(rows), counts_of(k)) for k in range(n_members)]
    return RowAssignment(_small(rows[order]), members)


def hold_out_folds(codes: np.ndarray) -> list[MemberRows]:
    """Members that each leave out another tenth of the rows, stratified; ``codes`` are in the order of the assignment.

    All ten on small tables; on larger ones as many as hold out enough rows to fit a link to.
    """
    n_rows = len(codes)
    fold = np.empty(n_rows, dtype=np.int8)
    shuffled = random_permutation(stream_key(FOLD_SEED), n_rows)
    fold[shuffled[_stable_order(codes[shuffled])]] = np.arange(n_rows) % N_FOLDS
    outside = n_rows - int(np.bincount(codes).max())
    n_used = min(N_FOLDS, n_rows, max(1, ceil(N_FOLDS * MIN_HELD_OUT / max(outside, 1))))

    def counts_of(k: int) -> Callable[[], np.ndarray]:
        return lambda: (fold != k).astype(np.int64)

    return [MemberRows(-1 - k, 0, n_rows, counts_of(k)) for k in range(n_used)]


def _stable_order(keys: np.ndarray) -> np.ndarray:
    """Indices that sort ``keys`` and keep the order of equal ones; small whole numbers sort in linear time."""
    return np.argsort(keys.astype(np.min_scalar_type(int(keys.max()))), kind="stable")


def _small(order: np.ndarray) -> np.ndarray:
    return order.astype(np.int32)  # tables have fewer than 2**31 rows
