"""Sums and differences of two columns of numbers that predict the target far better than either column."""

from typing import Any

import numpy as np
from scipy.stats import rankdata

from surefoot.metrics.auc import auc_of_ranks
from surefoot.report.checks.single_leaks import (
    MIN_AUC,
    MIN_R2,
    auc_beyond_chance,
    aucs_of_column,
    frequent_classes,
    r2_of_column,
)

COLUMNS_AT_ONCE = 128  # that are paired with all others
MAX_TRIED = 30  # pairs for which the AUC is computed, those with the largest difference of means first
MIN_AUC_OF_MANY = 0.99  # one of many classes is easily separated from the others by some pair
MAX_NAMED = 3
MUCH_BETTER = 0.5  # unexplained by the pair, as a fraction of what is unexplained by the better column

Pair = tuple[str, str, int, float, int | None]


def pair_leaks(frame: Any, y: np.ndarray, is_classes: bool, skip: set[str]) -> list[Pair]:
    """Pairs (first, second, +1 or -1, AUC or R2, class), each column in at most one; not of columns in ``skip``."""
    names = [name for name in frame.columns if frame[name].dtype.kind == "f" and str(name) not in skip]
    names = [name for name in names if frame[name].nunique() > 2 and not frame[name].isna().all()]
    if len(names) < 2:
        return []
    values = frame[names].to_numpy()
    values = np.where(np.isnan(values), np.nanmedian(values, axis=0), values)
    values = values - values.mean(axis=0)
    if np.abs(values).max() > 1e100:
        return []
    pairs: list[Pair] = []
    minimum = MIN_R2 if not is_classes else MIN_AUC if y.max() < 2 else MIN_AUC_OF_MANY
    for k in frequent_classes(y) if is_classes else [None]:
        for value, i, j, sign in _for_one_target(frame[names], values, y, k, minimum):
            pairs.append((str(names[i]), str(names[j]), sign, value, k))
    return _each_column_once(sorted(pairs, key=lambda each: -each[3]))


def _for_one_target(
    frame: Any, values: np.ndarray, y: np.ndarray, k: int | None, minimum: float
) -> list[tuple[float, int, int, int]]:
    """Pairs that predict the target, or one of its classes, far better than either column."""
    target = y if k is None else (y == k)
    numbers = target.astype(float)
    single: dict[int, float] = {}
    pairs = []
    for i, j, sign in most_correlated(values, numbers):
        both = values[:, i] + sign * values[:, j]
        if not both.std() > 0:
            continue
        if k is None:
            value = float(np.corrcoef(both, numbers)[0, 1]) ** 2
        else:
            value = auc_of_ranks(rankdata(both), target)
            value = max(value, 1 - value)
        if value < minimum:
            continue
        if k is not None and not auc_beyond_chance(value, target, values.shape[1] ** 2):
            continue
        for one in (i, j):
            if one not in single:
                column = frame[frame.columns[one]]
                single[one] = r2_of_column(column, y) if k is None else aucs_of_column(column, [target])[0]
        if 1 - value <= MUCH_BETTER * (1 - max(single[i], single[j])):
            pairs.append((value, i, j, sign))
    return pairs


def most_correlated(values: np.ndarray, y: np.ndarray) -> list[tuple[int, int, int]]:
    """The sums and differences with the largest squared correlation with y, of all pairs.

    Some columns at a time are paired with all later ones: all pairs of a wide table do not fit in memory.
    """
    n_columns = values.shape[1]
    with_y, variances = values.T @ (y - y.mean()) / len(y), (values**2).mean(axis=0)
    best: list[tuple[float, int, int, int]] = []  # minus the score, minus the sign, and both columns
    for start in range(0, n_columns, COLUMNS_AT_ONCE):
        one = slice(start, start + COLUMNS_AT_ONCE)
        covariance = values[:, one].T @ values[:, start:] / len(y)
        i, j = np.triu_indices(len(covariance), 1, covariance.shape[1])
        between = covariance[i, j]
        i, j = i + start, j + start
        for sign in (1, -1):
            below = variances[i] + variances[j] + 2 * sign * between
            usable = below > 1e-9 * (variances[i] + variances[j])
            score = np.zeros(len(i))
            score[usable] = (with_y[i] + sign * with_y[j])[usable] ** 2 / below[usable]
            places = np.argsort(-score, kind="stable")[:MAX_TRIED]
            best += [(-float(score[place]), -sign, int(i[place]), int(j[place])) for place in places]
        best = sorted(best)[:MAX_TRIED]
    return [(i, j, -sign) for _, sign, i, j in best]


def _each_column_once(pairs: list[Pair]) -> list[Pair]:
    chosen: list[Pair] = []
    for pair in pairs:
        used = {name for each in chosen for name in each[:2]}
        if not used & {pair[0], pair[1]} and len(chosen) < MAX_NAMED:
            chosen.append(pair)
    return chosen
