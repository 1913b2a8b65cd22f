"""The sub-samples of Larsen and Ritzert, each built from its path, without making the list of all."""

import numpy as np

from surefoot._random import random_integers

BATCH = 64


def subsample_levels(n_rows: int) -> int:
    """How often SUBSAMPLE divides ``n_rows`` rows: there are ``3 ** levels`` sub-samples."""
    levels = 0
    while n_rows >= 4:
        n_rows //= 4
        levels += 1
    return levels


def subsample_positions(n_rows: int, path: int) -> np.ndarray:
    """Which of ``n_rows`` positions belong to sub-sample number ``path``, as booleans.

    On every level the positions at hand are cut into S0, S1, S2, S3; S0 holds a quarter of them, rounded down, and the
    others share the rest. The path's base-3 digits, the highest first, say which of S1, S2, S3 is left out; the next
    level divides S0.
    """
    inside = np.ones(n_rows, dtype=np.bool_)
    size = n_rows
    for level in reversed(range(subsample_levels(n_rows))):
        quarter = size // 4
        cuts = quarter + np.arange(4) * (size - quarter) // 3
        left_out = path // 3**level % 3
        inside[cuts[left_out] : cuts[left_out + 1]] = False
        size = quarter
    return inside


def choose_paths(key: np.uint64, n_paths: int, n_chosen: int) -> list[int]:
    """``n_chosen`` different numbers below ``n_paths``, drawn one after the other, repeats left out.

    More of them only add to fewer: batches have a fixed size.
    """
    chosen: dict[int, None] = {}
    batch = 0
    while len(chosen) < n_chosen:
        chosen.update(dict.fromkeys(random_integers(key + np.uint64(batch), BATCH, n_paths).tolist()))
        batch += 1
    return list(chosen)[:n_chosen]
