"""Find combinations of categorical columns that explain the residuals of a model without them."""

from dataclasses import dataclass
from math import prod

import numpy as np

from surefoot.data.category_statistics import key_factors, keys_of, order_statistics

MAX_COMBINED, MAX_GROWN = 3, 10  # columns in a combination; how many of a size are tried with one column more
STRENGTH = 2.0  # a combination's mean is shrunk to 0 as if it had this many more rows; trees shrink it further
MIN_FRACTION = 5e-4  # of the sum of squared residuals that a combination must explain
CHANCE = 25.0  # divided by the number of rows, it exceeds the fraction that the best of hundreds explains by chance
DENSE_KEYS, MAX_KEYS = 1 << 20, 1 << 62  # fewer keys are counted in a dense array; more do not fit in an integer


@dataclass(frozen=True)
class Explanation:
    """The sum of squares that a multiple of the columns' ordered means explains, and the remaining residuals."""

    columns: tuple[int, ...]
    explained: float
    residuals: np.ndarray


def informative_combinations(
    codes: np.ndarray, pairs: list[tuple[int, int]], residuals: np.ndarray, weights: np.ndarray
) -> list[tuple[int, ...]]:
    """Combinations of columns with ordered means that explain enough of the residuals, the best one first.

    They grow from the best pairs, one column at a time. After each combination, its explained part is subtracted from
    the residuals.

    Parameters
    ----------
    codes : int32 array of shape (n_columns, n_rows)
        The rows are in the order of their ordered statistics.
    pairs : list of tuple
        Pairs of columns to start from.
    residuals : array of shape (n_targets, n_rows)
        Targets minus predictions of models that were trained on earlier rows.
    weights : array of shape (n_rows,)
    """
    combinations: list[tuple[int, ...]] = []
    min_explained = max(MIN_FRACTION, CHANCE / max(len(weights), 1)) * float((residuals**2 * weights).sum())
    while pairs:
        best = _best_combination(codes, pairs, residuals, weights)
        if best.explained <= min_explained or best.columns in combinations:
            break
        combinations.append(best.columns)
        residuals = best.residuals
    return combinations


def _best_combination(
    codes: np.ndarray, pairs: list[tuple[int, int]], residuals: np.ndarray, weights: np.ndarray
) -> Explanation:
    singles = sorted({j for pair in pairs for j in pair})
    tried: list[tuple[int, ...]] = list(pairs)
    results: list[Explanation] = []
    for _ in range(1, MAX_COMBINED):
        explanations = [_explain(columns, codes, residuals, weights) for columns in tried]
        kept = sorted(explanations, key=lambda one: one.explained)[-MAX_GROWN:]
        results += kept
        best = [one.columns for one in kept]
        tried = sorted({tuple(sorted((*columns, j))) for columns in best for j in singles if j not in columns})
    return max(results, key=lambda one: one.explained)


def _explain(columns: tuple[int, ...], codes: np.ndarray, residuals: np.ndarray, weights: np.ndarray) -> Explanation:
    factors = key_factors(columns, codes)
    if prod(factors) >= MAX_KEYS:
        return Explanation(columns, 0.0, residuals)
    kinds = keys_of(columns, factors, codes)
    if prod(factors) > DENSE_KEYS:
        kinds = np.unique(kinds, return_inverse=True)[1]
    n_kinds = int(kinds.max(initial=0)) + 1
    ordered, priors = np.empty_like(residuals), np.zeros_like(residuals)
    sums, counts = np.zeros((len(residuals), n_kinds)), np.zeros(n_kinds)
    order_statistics(kinds, residuals, weights, priors, STRENGTH, sums, counts, ordered)
    common, square = float((residuals * ordered * weights).sum()), float((ordered**2 * weights).sum())
    if common <= 0:
        return Explanation(columns, 0.0, residuals)
    return Explanation(columns, common**2 / square, residuals - common / square * ordered)
