"""The arrays that a run of stump rounds works on; weights as whole numbers."""

import numpy as np

from surefoot.boosting.stump_kernels import BLOCK, START_TOTAL, MemberState, Scratch, StumpRounds, add_rows, count_rows
from surefoot.data import BinnedTable


def whole_weights(weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights as whole numbers that add up to about ``START_TOTAL``, and the power of two that leads back.

    A power of two keeps ratios exact: a row of weight 3 stays exactly three rows of weight 1. A weight above zero never
    becomes zero.
    """
    unit = np.ldexp(weights, -np.frexp(weights.max())[1])  # at most 1: their sum cannot overflow
    shift = int(np.frexp(START_TOTAL / unit.sum())[1]) - 1
    np.ldexp(unit, shift, out=unit)
    np.rint(unit, out=unit)
    whole = unit.astype(np.int64)
    whole[(whole == 0) & (weights > 0)] = 1
    return whole, 2.0**-shift


def new_member(table: BinnedTable, bounds: tuple[int, int, int], weights: np.ndarray, n_threads: int) -> MemberState:
    """The rows of one member: class 0 is ``bounds[0]:bounds[1]`` of the table, class 1 up to ``bounds[2]``."""
    whole, scale = whole_weights(weights)
    first_row, n_bins = bounds[0], int(table.offsets[-1])
    cuts = [np.linspace(bounds[c], bounds[c + 1], n_threads + 1).astype(np.int64) for c in range(2)]
    segments = np.stack([np.stack([cut[:-1], cut[1:]], axis=1) for cut in cuts], axis=1)
    member = MemberState(
        table.codes,
        table.offsets,
        table.missing,
        table.is_categorical,
        first_row,
        np.ascontiguousarray(segments),
        whole,
        np.zeros((n_threads, 2, n_bins), dtype=np.int64),
        np.zeros((2, n_bins), dtype=np.int64),
        np.array([whole[: bounds[1] - first_row].sum(), whole[bounds[1] - first_row :].sum()]),
        np.full(2, scale),
    )
    count_rows(member)
    for thread in range(n_threads):
        add_rows(member, thread, 0)
        add_rows(member, thread, 1)
    return member


def new_rounds(n_rounds: int) -> StumpRounds:
    """Room for this many stumps."""
    return StumpRounds(
        np.full(n_rounds, -1, dtype=np.int32),
        np.zeros(n_rounds, dtype=np.int32),
        np.zeros(n_rounds, dtype=np.int32),
        np.zeros(n_rounds, dtype=np.bool_),
        np.zeros((n_rounds, 4), dtype=np.uint64),
        np.zeros(n_rounds),
        np.zeros((n_rounds, 2), dtype=np.int32),
        np.zeros(n_rounds),
        np.zeros(n_rounds),
    )


def new_scratch(table: BinnedTable, n_threads: int) -> Scratch:
    """Work space for rounds on this table."""
    n_bins = int(table.offsets[-1])
    return Scratch(
        np.zeros((2, n_bins if n_threads > 1 else 0), dtype=np.int64),
        np.ones(1, dtype=np.bool_),
        np.zeros((2, n_bins), dtype=np.int64),
        np.zeros((2, n_bins)),
        np.zeros((2, table.n_columns)),
        np.zeros(int(table.missing.max()) + 1, dtype=np.uint8),
        np.zeros(256, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
        np.ones(2),
        np.ones(1),
        np.zeros((n_threads, BLOCK), dtype=np.uint16),
        np.zeros((n_threads, BLOCK), dtype=np.int64),
    )
