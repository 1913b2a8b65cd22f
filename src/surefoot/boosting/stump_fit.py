"""Drive the rounds of stump AdaBoost from Python: slices of rounds on one thread, or round by round on several."""

from collections.abc import Callable

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.boosting.stump_kernels import (
    CHANCE,
    GOING_ON,
    PERFECT,
    MemberState,
    Rule,
    Scratch,
    StumpRounds,
    begin_round,
    change_weights,
    end_round,
    run_rounds,
)
from surefoot.boosting.stump_state import new_member, new_rounds, new_scratch
from surefoot.data import BinnedTable

SLICE_CELLS = 50_000_000  # cells a call may touch before Python looks at Ctrl-C and progress: well under 200 ms


def boost_stumps(
    table: BinnedTable,
    bounds: tuple[int, int, int],
    weights: np.ndarray,
    rule: Rule,
    n_rounds: int,
    *,
    n_threads: int = 1,
    between: Callable[[int, float], None] = lambda done, error: None,
) -> StumpRounds:
    """Train on the rows ``bounds`` with their ``weights``; call ``between(rounds done, last error)`` on the way."""
    member = new_member(table, bounds, weights, n_threads)
    rounds, scratch = new_rounds(n_rounds), new_scratch(table, n_threads)
    if n_threads == 1:
        done, status = _in_slices(member, rule, scratch, rounds, between)
    else:
        done, status = _in_threads(member, rule, scratch, rounds, between)
    if status == PERFECT and rule.star:  # a stump that is always right needs no others
        return StumpRounds(*(field[done : done + 1] for field in rounds))
    kept = done + 1 if status == PERFECT or (status == CHANCE and done == 0) else done
    return StumpRounds(*(field[:kept] for field in rounds))


def _in_slices(
    member: MemberState, rule: Rule, scratch: Scratch, rounds: StumpRounds, between: Callable[[int, float], None]
) -> tuple[int, int]:
    n_rounds = len(rounds.features)
    step = max(1, SLICE_CELLS // max(1, len(member.weights) * len(member.codes)))
    done, status = 0, GOING_ON
    while done < n_rounds and status == GOING_ON:
        done, status = run_rounds(member, rule, done, min(done + step, n_rounds), scratch, rounds)
        between(done, rounds.errors[max(0, done - 1)])
    return done, status


def _in_threads(
    member: MemberState, rule: Rule, scratch: Scratch, rounds: StumpRounds, between: Callable[[int, float], None]
) -> tuple[int, int]:
    n_rounds, n_threads = len(rounds.features), len(member.segments)
    with RowThreads(n_threads) as threads:
        for t in range(n_rounds):
            status = begin_round(member, rule, t, scratch, rounds)
            if status != GOING_ON:
                return t, status
            feature = rounds.features[t]
            growths = threads.run(lambda k: change_weights(member, scratch, feature, k), range(n_threads))  # noqa: B023
            end_round(member, sum(growths), scratch)
            between(t + 1, rounds.errors[t])
    return n_rounds, GOING_ON
