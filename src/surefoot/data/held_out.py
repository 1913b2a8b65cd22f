"""Rows that are held out of training: one stratified split, several random splits, or stratified folds."""

from math import ceil
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from surefoot._exceptions import ParameterError
from surefoot._random import random_permutation, stream_key

MIN_ROWS_TO_SPLIT = 10  # smaller tables are trained on whole: a single row would decide when to stop
MIN_HELD_OUT_TO_STOP = 400  # fewer rows cannot decide when to stop: further trials hold out others
MAX_TRIALS = 5
MIN_HELD_OUT = 1000  # rows outside the largest class, over all splits or folds together
MAX_SPLITS = N_FOLDS = 10
FOLD_SEED = 0x5EED  # fixed, because AdaBoost with native trees does not depend on random_state


class HeldOutSplit(NamedTuple):
    """Rows to train on, and rows that are held out."""

    train: np.ndarray
    held_out: np.ndarray


def split_held_out(
    rows: np.ndarray, key: np.uint64, fraction: float, *, strata: np.ndarray | None = None, part: int = 0
) -> HeldOutSplit:
    """Split ``rows`` once, to decide when to stop; both parts are in ascending order.

    The same fraction of every class is held out, and never a whole class; ``strata`` are the classes of all rows of the
    table. Each ``part`` holds out other rows, as far as there are enough. Tables of fewer than ``MIN_ROWS_TO_SPLIT``
    rows hold none out.
    """
    if fraction <= 0 or len(rows) < MIN_ROWS_TO_SPLIT:
        return HeldOutSplit(rows, rows[:0])
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
    return HeldOutSplit(np.sort(shuffled[~is_held_out]), np.sort(shuffled[is_held_out]))


def count_trials(n_held_out: int, fraction: float) -> int:
    """The number of trial models that decide when to stop, if each holds out ``n_held_out`` rows of its own."""
    return min(ceil(MIN_HELD_OUT_TO_STOP / n_held_out), int(min(MAX_TRIALS, 1.0 / fraction)))


def random_splits(rows: np.ndarray, fraction: float, seed: int, *, strata: np.ndarray) -> list[HeldOutSplit]:
    """Split ``rows`` several times, to compare models: once if there are many rows, up to ten times if there are few.

    The splits are stratified if every class has enough rows; ``strata`` are the classes of all rows of the table.
    """
    labels = strata[rows]
    counts = np.bincount(labels)
    n_held_out = ceil(fraction * len(rows))
    if n_held_out >= len(rows):
        raise ParameterError(f"validation_fraction={fraction} holds out all {len(rows)} rows with weight: lower it.")
    outside = n_held_out * (len(rows) - counts.max()) / len(rows)
    n_splits = min(MAX_SPLITS, ceil(MIN_HELD_OUT / outside))
    has_enough = counts[counts > 0].min() >= 2 and min(n_held_out, len(rows) - n_held_out) >= np.count_nonzero(counts)
    stratify = labels if has_enough else None
    seeds = [(seed + k) % 2**32 for k in range(n_splits)]
    return [
        HeldOutSplit(*train_test_split(rows, test_size=n_held_out, random_state=k, stratify=stratify)) for k in seeds
    ]


def stratified_folds(strata: np.ndarray) -> np.ndarray:
    """For each row, the number of the fold that holds it out, or -1; each fold is a tenth of the rows.

    Small tables use all ten folds; large ones only as many as hold out ``MIN_HELD_OUT`` rows outside the largest class.
    """
    n_rows = len(strata)
    folds = np.empty(n_rows, dtype=np.int8)
    shuffled = random_permutation(stream_key(FOLD_SEED), n_rows)
    folds[shuffled[stable_order(strata[shuffled])]] = np.arange(n_rows) % N_FOLDS
    outside = n_rows - int(np.bincount(strata).max())
    n_used = min(N_FOLDS, max(1, ceil(N_FOLDS * MIN_HELD_OUT / max(outside, 1))))
    folds[folds >= n_used] = -1
    return folds


def stable_order(keys: np.ndarray) -> np.ndarray:
    """Indices that sort ``keys`` and keep the order of equal ones; small whole numbers sort in linear time."""
    return np.argsort(keys.astype(np.min_scalar_type(int(keys.max()))), kind="stable")
