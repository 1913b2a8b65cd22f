"""What a run of stump rounds works on and what it leaves behind, as arrays that kernels read and write."""

from typing import NamedTuple

import numpy as np

from surefoot.boosting.stump_rounds import BLOCK, add_rows, count_rows
from surefoot.boosting.weights import whole_weights
from surefoot.data import BinnedTable


class Rule(NamedTuple):
    """How stumps are chosen and what their votes weigh."""

    criterion: int  # GINI or ERROR
    star: bool  # AdaBoost*_v instead of AdaBoost
    learning_rate: float
    precision: float  # v


class Member(NamedTuple):
    """One member's rows and what is known about their weights; class c is [segments[0, c, 0], segments[-1, c, 1])."""

    codes: np.ndarray
    offsets: np.ndarray
    missing: np.ndarray
    is_categorical: np.ndarray
    first_row: int
    segments: np.ndarray  # (threads, 2 classes, 2): table rows of each thread and class
    weights: np.ndarray  # whole numbers, one per row from first_row on
    histograms: np.ndarray  # (threads, 2 classes, bins): summed weights
    row_counts: np.ndarray  # (2 classes, bins): rows with a weight
    totals: np.ndarray  # (2,): summed weights of each class
    scales: np.ndarray  # (2,): true weight = scale * whole number


class Rounds(NamedTuple):
    """What the rounds leave behind: one stump each."""

    features: np.ndarray  # -1: no split, every row goes left
    below: np.ndarray  # the last bin on the left that holds rows ...
    above: np.ndarray  # ... and the first on the right
    missing_right: np.ndarray
    sets: np.ndarray  # (rounds, 4): a bit per category code, 1 goes right
    labels: np.ndarray  # (rounds, 2): left, right
    gains: np.ndarray
    errors: np.ndarray
    vote_weights: np.ndarray


class Scratch(NamedTuple):
    """Work space of one member."""

    sums: np.ndarray  # (2, bins): histograms of all threads together
    stale: np.ndarray  # (1,): whether the histograms have changed since ``sums`` and ``left`` were made
    left: np.ndarray  # (2, bins): class weights in a bin and the bins before it
    gains: np.ndarray  # (2, bins): gain of a split after a bin; missing values right, left
    best: np.ndarray  # (2, features): largest of these
    goes_right: np.ndarray  # per code of the chosen feature
    category_order: np.ndarray
    weights_right: np.ndarray  # (2,): per class, what goes right ...
    rows_right: np.ndarray  # ... and how many rows
    side: np.ndarray  # per class: the side whose rows change (-1: none)
    factor: np.ndarray  # per class: what their weights are multiplied by
    edge: np.ndarray  # (1,): smallest edge so far
    changed: np.ndarray  # (threads, block): rows of a block that change ...
    change: np.ndarray  # ... and by how much


def new_member(table: BinnedTable, bounds: tuple[int, int, int], weights: np.ndarray, n_threads: int) -> Member:
    """The rows of one member: class 0 is ``bounds[0]:bounds[1]`` of the table, class 1 up to ``bounds[2]``."""
    whole, scale = whole_weights(weights)
    first_row, n_bins = bounds[0], int(table.offsets[-1])
    cuts = [np.linspace(bounds[c], bounds[c + 1], n_threads + 1).astype(np.int64) for c in range(2)]
    segments = np.stack([np.stack([cut[:-1], cut[1:]], axis=1) for cut in cuts], axis=1)
    member = Member(
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


def new_rounds(n_rounds: int) -> Rounds:
    """Room for this many stumps."""
    return Rounds(
        np.full(n_rounds, -1, dtype=np.int32),
        np.zeros(n_rounds, dtype=np.int32),
        np.zeros(n_rounds, dtype=np.int32),
        np.zeros(n_rounds, dtype=np.bool_),
        np.zeros((n_rounds, 4), dtype=np.uint64),
        np.zeros((n_rounds, 2), dtype=np.int32),
        np.zeros(n_rounds),
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
        np.zeros(int(np.diff(table.offsets).max()), dtype=np.uint8),
        np.zeros(256, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
        np.ones(2),
        np.ones(1),
        np.zeros((n_threads, BLOCK), dtype=np.uint16),
        np.zeros((n_threads, BLOCK), dtype=np.int64),
    )
