"""Which categorical columns to combine: those that together tell what a model without them has left of the target."""

from dataclasses import dataclass
from math import prod

import numpy as np

from surefoot.data.category_statistics import key_factors, keys_of, order_statistics

MAX_COMBINED, MAX_GROWN = 3, 10  # columns in a combination; how many of a size are tried with one column more
STRENGTH = 2.0  # a combination's mean is drawn to nothing as if so many more rows had been there; trees draw it too
MIN_FRACTION = 5e-4  # that a combination must explain of the squares of what is left
CHANCE = 25.0  # over the number of rows: a share that the best of hundreds explains by chance is below this
DENSE_KEYS, MAX_KEYS = 1 << 20, 1 << 62  # up to so many are counted in a table of all; more have no number


@dataclass(frozen=True)
class Explanation:
    """How much of the sum of squares a multiple of the columns' ordered means explains, and what it leaves."""

    columns: tuple[int, ...]
    explained: float
    left: np.ndarray


def telling_combinations(
    codes: np.ndarray, pairs: list[tuple[int, int]], left: np.ndarray, weights: np.ndarray
) -> list[tuple[int, ...]]:
    """Combinations of columns whose ordered means explain enough of what is left, the best one first.

    They grow from the best pairs, a column at a time; what the best explains is taken away before the next is looked
    for.

    Parameters
    ----------
    codes : int32 array of shape (n_columns, n_rows)
        Rows are in the order in which they see one another.
    pairs : pairs of columns to begin with
    left : array of shape (n_targets, n_rows)
        Targets less what models trained on earlier rows say.
    weights : array of shape (n_rows,)
    """
    found: list[tuple[int, ...]] = []
    least = max(MIN_FRACTION, CHANCE / max(len(weights), 1)) * float((left**2 * weights).sum())
    while pairs:
        best = _best_combination(codes, pairs, left, weights)
        if best.explained <= least or best.columns in found:
            break
        found.append(best.columns)
        left = best.left
    return found


def _best_combination(
    codes: np.ndarray, pairs: list[tuple[int, int]], left: np.ndarray, weights: np.ndarray
) -> Explanation:
    singles = sorted({j for pair in pairs for j in pair})
    tried: list[tuple[int, ...]] = list(pairs)
    results: list[Explanation] = []
    for _ in range(1, MAX_COMBINED):
        grown = sorted((_explain(columns, codes, left, weights) for columns in tried), key=lambda one: one.explained)
        results += grown[-MAX_GROWN:]
        best = [one.columns for one in grown[-MAX_GROWN:]]
        tried = sorted({tuple(sorted((*columns, j))) for columns in best for j in singles if j not in columns})
    return max(results, key=lambda one: one.explained)


def _explain(columns: tuple[int, ...], codes: np.ndarray, left: np.ndarray, weights: np.ndarray) -> Explanation:
    factors = key_factors(columns, codes)
    if prod(factors) >= MAX_KEYS:
        return Explanation(columns, 0.0, left)
    kinds = keys_of(columns, factors, codes)
    if prod(factors) > DENSE_KEYS:
        kinds = np.unique(kinds, return_inverse=True)[1]
    n_kinds = int(kinds.max(initial=0)) + 1
    ordered, none = np.empty_like(left), np.zeros_like(left)
    order_statistics(kinds, left, weights, none, STRENGTH, np.zeros((len(left), n_kinds)), np.zeros(n_kinds), ordered)
    common, square = float((left * ordered * weights).sum()), float((ordered**2 * weights).sum())
    if common <= 0:
        return Explanation(columns, 0.0, left)
    return Explanation(columns, common**2 / square, left - common / square * ordered)
