"""AdaBoost with stumps, driven from Python: slices of rounds on one thread, or round by round on several."""

from collections.abc import Callable

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.boosting.stump_kernels import (
    BEGINS,
    BLOCK,
    CHANCE,
    CHANGES,
    ENDS,
    GOING_ON,
    PERFECT,
    START_TOTAL,
    MemberState,
    Rule,
    Scratch,
    StumpRounds,
    change_thread_weights,
    run_rounds,
    sum_member,
)
from surefoot.data import BinnedTable

SLICE_CELLS = 50_000_000  # cells per call, before Python checks for Ctrl-C and reports progress: well under 200 ms


def boost_stumps(
    table: BinnedTable,
    bounds: tuple[int, int, int],
    weights: np.ndarray,
    rule: Rule,
    n_rounds: int,
    *,
    n_threads: int = 1,
    callback: Callable[[int, float], None] = lambda done, error: None,
) -> StumpRounds:
    """Train on weighted rows of the table: ``bounds[0]:bounds[1]`` is class 0, ``bounds[1]:bounds[2]`` is class 1.

    ``callback(rounds done, last error)`` is called between rounds.
    """
    member = new_member(table, bounds, weights, n_threads)
    rounds, scratch = new_rounds(n_rounds), new_scratch(table, n_threads)
    if n_threads == 1:
        done, status = _run_slices(member, rule, scratch, rounds, callback)
    else:
        done, status = _run_threads(member, rule, scratch, rounds, callback)
    if status == PERFECT and rule.star:  # a perfect stump needs no others
        return StumpRounds(*(field[done : done + 1] for field in rounds))
    kept = done + 1 if status == PERFECT or (status == CHANCE and done == 0) else done
    return StumpRounds(*(field[:kept] for field in rounds))


def _run_slices(
    member: MemberState, rule: Rule, scratch: Scratch, rounds: StumpRounds, callback: Callable[[int, float], None]
) -> tuple[int, int]:
    n_rounds = len(rounds.features)
    step = max(1, SLICE_CELLS // max(1, len(member.weights) * len(member.codes)))
    done, status = 0, GOING_ON
    while done < n_rounds and status == GOING_ON:
        last = min(done + step, n_rounds)
        done, status = run_rounds(member, rule, done, last, BEGINS | CHANGES | ENDS, scratch, rounds)
        callback(done, rounds.errors[max(0, done - 1)])
    return done, status


def _run_threads(
    member: MemberState, rule: Rule, scratch: Scratch, rounds: StumpRounds, callback: Callable[[int, float], None]
) -> tuple[int, int]:
    n_rounds, n_threads = len(rounds.features), len(member.segments)
    with RowThreads(n_threads) as threads:
        for t in range(n_rounds):
            _, status = run_rounds(member, rule, t, t + 1, BEGINS, scratch, rounds)
            if status != GOING_ON:
                return t, status
            feature = rounds.features[t]
            threads.run(lambda k: change_thread_weights(member, scratch, feature, k), range(n_threads))  # noqa: B023
            run_rounds(member, rule, t, t + 1, ENDS, scratch, rounds)
            callback(t + 1, rounds.errors[t])
    return n_rounds, GOING_ON


def new_member(table: BinnedTable, bounds: tuple[int, int, int], weights: np.ndarray, n_threads: int) -> MemberState:
    """The rows of one member, with their histograms; ``bounds`` as in ``boost_stumps``."""
    whole, scale = whole_weights(weights)
    first_row, n_bins = bounds[0], int(table.offsets[-1])
    cuts = [np.linspace(bounds[c], bounds[c + 1], n_threads + 1).astype(np.int64) for c in range(2)]
    segments = np.stack([np.stack([cut[:-1], cut[1:]], axis=1) for cut in cuts], axis=1)
    member = MemberState(
        codes=table.codes,
        offsets=table.offsets,
        missing=table.missing,
        is_categorical=table.is_categorical if table.is_categorical.any() else None,
        first_row=first_row,
        segments=np.ascontiguousarray(segments),
        weights=whole,
        histograms=np.zeros((n_threads, 2, n_bins), dtype=np.int64),
        row_counts=np.zeros((2, n_bins), dtype=np.int64),
        totals=np.array([whole[: bounds[1] - first_row].sum(), whole[bounds[1] - first_row :].sum()]),
        scales=np.full(2, scale),
    )
    sum_member(member)
    return member


def whole_weights(weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights as whole numbers that add up to about ``START_TOTAL``, and the power of two that converts them back.

    A power of two keeps ratios exact: a row of weight 3 equals three rows of weight 1. A weight above zero never
    becomes zero.
    """
    unit = np.ldexp(weights, -np.frexp(weights.max())[1])  # at most 1: their sum cannot overflow
    shift = int(np.frexp(START_TOTAL / unit.sum())[1]) - 1
    np.ldexp(unit, shift, out=unit)
    np.rint(unit, out=unit)
    whole = unit.astype(np.int64)
    whole[(whole == 0) & (weights > 0)] = 1
    return whole, 2.0**-shift


def new_rounds(n_rounds: int) -> StumpRounds:
    """Empty arrays for this many stumps."""
    return StumpRounds(
        features=np.full(n_rounds, -1, dtype=np.int32),
        below=np.zeros(n_rounds, dtype=np.int32),
        above=np.zeros(n_rounds, dtype=np.int32),
        missing_right=np.zeros(n_rounds, dtype=np.bool_),
        sets=np.zeros((n_rounds, 4), dtype=np.uint64),
        gains=np.zeros(n_rounds),
        labels=np.zeros((n_rounds, 2), dtype=np.int32),
        errors=np.zeros(n_rounds),
        vote_weights=np.zeros(n_rounds),
    )


def new_scratch(table: BinnedTable, n_threads: int) -> Scratch:
    """Work space for rounds on this table."""
    n_bins = int(table.offsets[-1])
    return Scratch(
        sums=np.zeros((2, n_bins if n_threads > 1 else 0), dtype=np.int64),
        stale=np.ones(1, dtype=np.bool_),
        left=np.zeros((2, n_bins), dtype=np.int64),
        gains=np.zeros((2, n_bins)),
        best=np.zeros((2, table.n_columns)),
        goes_right=np.zeros(int(table.missing.max()) + 1, dtype=np.uint8),
        category_orders=np.zeros((2, 256), dtype=np.int64),
        weights_right=np.zeros(2, dtype=np.int64),
        rows_right=np.zeros(2, dtype=np.int64),
        side=np.zeros(2, dtype=np.int64),
        factor=np.ones(2),
        edge=np.ones(1),
        changed=np.zeros((n_threads, BLOCK), dtype=np.uint16),
        change=np.zeros((n_threads, BLOCK), dtype=np.int64),
        growth=np.zeros((n_threads, 2), dtype=np.int64),
    )
