"""Which pairs of categorical columns are worth statistics of their own."""

from itertools import combinations

import numpy as np

from surefoot._random import random_permutation, stream_key
from surefoot.data.target_statistics import TargetStatistics

MOST_PAIRS = 40
SCREEN_ROWS = 100_000  # above this many rows, pairs are judged by a sample of this size
WARM_UP = 0.1  # the first rows of the order know too little of their categories to be judged by


def choose_pairs(
    codes: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray | None,
    key: np.uint64,
    *,
    most: int = MOST_PAIRS,
) -> np.ndarray:
    """Pairs of columns (n_pairs, 2): all of them, or the ``most`` that tell most beyond what each column tells alone.

    A pair is judged by ordered statistics, which no row's own target is in: by how much of the targets' variance the
    pair's statistic improves a linear fit on those of its two columns. Pairs whose columns merely add up gain nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot._random import stream_key
    >>> from surefoot.data.category_pairs import choose_pairs
    >>> codes = np.random.default_rng(0).integers(0, 4, size=(3, 2000)).astype(np.int32)
    >>> target = (codes[0] == codes[2]).astype(float)  # neither column tells anything alone
    >>> choose_pairs(codes, target[np.newaxis], None, stream_key(0), most=1)
    array([[0, 2]], dtype=int32)
    """
    pairs = np.array(list(combinations(range(codes.shape[0]), 2)), dtype=np.int32).reshape(-1, 2)
    if len(pairs) <= most:
        return pairs
    rows = _sample(weights, codes.shape[1], key)
    gains = _joint_gains(codes[:, rows], targets[:, rows], None if weights is None else weights[rows], pairs, key)
    best = np.argsort(-gains, kind="stable")[:most]
    return pairs[np.sort(best)]


def _sample(weights: np.ndarray | None, n_rows: int, key: np.uint64) -> np.ndarray:
    """Rows with weight; no more than ``SCREEN_ROWS`` of them."""
    counted = np.arange(n_rows) if weights is None else np.flatnonzero(weights > 0)
    if len(counted) <= SCREEN_ROWS:
        return counted
    return counted[np.sort(random_permutation(key, len(counted))[:SCREEN_ROWS])]


def _joint_gains(
    codes: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, pairs: np.ndarray, key: np.uint64
) -> np.ndarray:
    """Share of the targets' variance that each pair explains beyond its columns, added up over the targets."""
    n_targets, n_rows = targets.shape
    key = stream_key(int(key), 1)  # not the order that draws the sample
    alone = TargetStatistics.fit(codes, targets, weights, key)[1].reshape(len(codes), n_targets + 1, n_rows)[:, :-1]
    judged = np.ones(n_rows) if weights is None else weights.copy()
    judged[random_permutation(key, n_rows)[: int(WARM_UP * n_rows)]] = 0.0
    gains = np.zeros(len(pairs))
    for number, pair in enumerate(pairs):
        joint = TargetStatistics.fit(codes[pair], targets, weights, key, pairs=np.array([[0, 1]]))[1]
        for k, target in enumerate(targets):
            gains[number] += _gain(alone[pair[0], k], alone[pair[1], k], joint[2 * (n_targets + 1) + k], target, judged)
    return gains


def _gain(first: np.ndarray, second: np.ndarray, joint: np.ndarray, target: np.ndarray, weights: np.ndarray) -> float:
    """Share of the target's variance that ``joint`` adds to a least-squares fit on ``first`` and ``second``."""
    rows = np.stack([first, second, joint, target])
    rows -= np.average(rows, axis=1, weights=weights)[:, np.newaxis]
    products = (rows * weights) @ rows.T
    if products[3, 3] <= 0:
        return 0.0
    return float((_explained(products, 3) - _explained(products, 2)) / products[3, 3])


def _explained(products: np.ndarray, n_used: int) -> float:
    """Sum of squares of the last variable that the first ``n_used`` explain."""
    cross = products[:n_used, -1]
    return float(cross @ np.linalg.pinv(products[:n_used, :n_used], rcond=1e-10, hermitian=True) @ cross)
