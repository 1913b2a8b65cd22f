"""The held-out splitter: which rows are held out of training, to decide when to stop."""

import numpy as np

from surefoot._random import random_permutation

MIN_ROWS_TO_SPLIT = 10  # smaller tables are trained on whole: one row would decide when to stop


def split_held_out(
    rows: np.ndarray, key: np.uint64, fraction: float, *, strata: np.ndarray | None = None, part: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Split ``rows`` into rows to train on and rows to hold out, both in ascending order.

    The same fraction of every class is held out, and never a whole class; ``strata`` are the classes of all rows of the
    table. Each ``part`` holds out other rows, as far as there are enough. Tables of fewer than ``MIN_ROWS_TO_SPLIT``
    rows hold none out.
    """
    if fraction <= 0 or len(rows) < MIN_ROWS_TO_SPLIT:
        return rows, rows[:0]
    shuffled = rows[random_permutation(key, len(rows))]
    is_held_out = np.zeros(len(rows), dtype=np.bool_)
    labels = np.zeros(len(rows), dtype=np.int64) if strata is None else strata[shuffled]
    order = np.argsort(labels, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        n_held_out = min(int(fraction * len(group) + 0.5), len(group) - 1)
        is_held_out[group[(part * n_held_out + np.arange(n_held_out)) % len(group)]] = True
    if not is_held_out.any():
        last = order[-1]
        is_held_out[last] = np.bincount(labels)[labels[last]] > 1
    return np.sort(shuffled[~is_held_out]), np.sort(shuffled[is_held_out])
