"""How far one column of the training data differs from the same column of the deployment data."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import comb
from scipy.stats import chi2_contingency, fisher_exact, ks_2samp

from surefoot.shift.column_counts import chi_square_cells, counts_of, few_cells, stability_index
from surefoot.shift.group_permutations import GroupPermutations, steps_of
from surefoot.shift.shift_report_tables import ColumnPair

LEVEL = 0.05
ROUNDING = 1e-9  # statistics that differ by less are tied
N_SHUFFLES = 9999  # of the permutation test
LARGE_P_VALUE = 0.9  # larger ones need not be exact, and scipy's exact ones may exceed 1 by rounding
MAX_EXACT_ROWS = 10_000  # of a table: the exact Kolmogorov-Smirnov test takes time
NUMBER, CATEGORY = "number", "category"
KOLMOGOROV_SMIRNOV, CHI_SQUARE, FISHER = "Kolmogorov-Smirnov", "chi-square", "Fisher"
PERMUTATION, GROUP_PERMUTATION, NO_TEST = "permutation", "permutation of groups", "none"
NAN = float("nan")
SHIFTED, DIFFERS_SLIGHTLY, NOT_SHIFTED, NOT_TESTED = "shifted", "differs slightly", "not shifted", "not tested"
MIN_DISTANCE = 0.1  # a smaller difference of two distributions seldom matters, even if it is significant
BOUND_95 = 1.3581015157406195  # sqrt(log(2 / 0.05) / 2), of the bounds of Kolmogorov-Smirnov and of McDiarmid


@dataclass(frozen=True)
class ColumnShift:
    """How one column of the training data X differs from that of the deployment data X_target.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"number", "category"}
        Whether its values are numbers or categories.
    distance : float
        For numbers, the largest difference of the two distribution functions (Kolmogorov-Smirnov); for categories, half
        the sum of the differences of their fractions (total variation). 0: the same, 1: nothing in common. Missing
        values are left out; NaN where a table has no others. With many rare categories it is large without any shift.
    test : {"Kolmogorov-Smirnov", "chi-square", "Fisher", "permutation", "permutation of groups", "none"}
        Where ``distance_p_value`` comes from: Kolmogorov-Smirnov for numbers (conservative where many are tied);
        chi-square for categories, where rare ones are pooled with their neighbours by label until 5 rows are expected
        in each table; Fisher's exact test where both tables together have only two values. Where pooling leaves only
        one category, as with few rows or one category that nearly all rows have, the chi-square statistic is compared
        with that of 9,999 shuffles of the rows, always the same ones; for this, more than 10 categories are pooled with
        their neighbours by label into 10 about equally frequent ones. With groups, whole groups are permuted. "none"
        where a table has no value, or both have so few rows that not even the largest difference would be significant.
    distance_p_value : float
        NaN where ``test`` is "none".
    stability_index : float
        The population stability index over 10 bins that are equally full in X (fewer where values are tied; up to 10
        categories have a bin each, with more the rare ones are pooled as for the test), with a bin for missing values
        if there are any. Half a row is added to every bin, so that it is finite. Without shift it is about the number
        of bins times the sum of 1 over both numbers of rows.
    missing, missing_target : float
        Fractions of missing values in X and in X_target.
    missing_p_value : float
        Fisher's exact test of their difference.
    unseen : float
        Fraction of the rows of X_target with a category that X does not have, or a number outside the range of X.
    p_value : float
        The smaller of the two p-values, corrected for taking the smaller one if values are missing, and by Holm's
        method for the number of columns. NaN where there is nothing to test.
    shifted : bool
        Whether ``p_value`` is below 0.05 and the distance, or the difference of the fractions of missing values, is 0.1
        or more. False means little where ``outcome`` is "not tested".
    importance : float
        Decrease of the AUC of the classifier that tells the tables apart when this column is shuffled. Columns can
        replace each other: if the AUC is near 1 because each of several columns tells the tables apart, it is about 0
        for nearly all of them, even if they have shifted far. Use the distances then.
    interval : tuple of two floats
        95% interval of ``distance`` that holds for any distributions (it is wide): that of Kolmogorov and Smirnov for
        numbers, McDiarmid's bound for categories, whose lower end is reduced by the distance that arises by chance. It
        assumes independent rows and is NaN with groups.

    Examples
    --------
    >>> from surefoot import shift_report
    >>> report = shift_report([[value] for value in range(40)], [[value] for value in range(20, 60)])
    >>> age = report.columns[0]
    >>> age.name, age.kind, age.distance, age.unseen, age.shifted
    ('x0', 'number', 0.5, 0.5, True)
    """

    name: str
    kind: str
    distance: float
    test: str
    distance_p_value: float
    stability_index: float
    missing: float
    missing_target: float
    missing_p_value: float
    unseen: float
    p_value: float
    shifted: bool
    importance: float = float("nan")
    interval: tuple[float, float] = (float("nan"), float("nan"))

    @property
    def size(self) -> float:
        """The larger of the distance and the difference of the fractions of missing values."""
        return float(np.nanmax([self.distance, abs(self.missing_target - self.missing)]))

    @property
    def outcome(self) -> str:
        """One of "shifted", "differs slightly" (significantly, but by less than 0.1), "not shifted" and "not tested".

        Columns with no or too few values to compare are not tested.
        """
        if self.shifted:
            return SHIFTED
        if self.p_value < LEVEL:
            return DIFFERS_SLIGHTLY
        return NOT_TESTED if self.test == NO_TEST else NOT_SHIFTED


def compare_columns(pairs: Iterable[ColumnPair], groups: GroupPermutations | None = None) -> list[ColumnShift]:
    """Compare every column on its own, with p-values corrected for the number of columns; by groups if given."""
    columns = [_compare(pair) if groups is None else _compare_by_groups(pair, groups) for pair in pairs]
    corrected = holm(np.array([column.p_value for column in columns]))
    return [
        replace(column, p_value=float(p_value), shifted=bool(p_value < LEVEL and column.size >= MIN_DISTANCE))
        for column, p_value in zip(columns, corrected, strict=True)
    ]


def holm(p_values: np.ndarray) -> np.ndarray:
    """Correct p-values by Holm's method for the number of tests; NaN is no test."""
    corrected = np.full(len(p_values), np.nan)
    order = np.argsort(p_values, kind="stable")[: np.isfinite(p_values).sum()]
    steps = p_values[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected


def _compare(pair: ColumnPair) -> ColumnShift:
    missing, missing_target = np.isnan(pair.values), np.isnan(pair.target)
    values, target = pair.values[~missing], pair.target[~missing_target]
    test, distance, distance_p_value = _distance(pair.is_category, values, target)
    missing_p_value = _fisher(counts_of(missing, missing_target))
    tests = [distance_p_value] if np.isfinite(distance_p_value) else []
    tests += [missing_p_value] if missing.any() or missing_target.any() else []
    return ColumnShift(
        name=pair.name,
        kind=CATEGORY if pair.is_category else NUMBER,
        distance=distance,
        test=test,
        distance_p_value=distance_p_value,
        stability_index=stability_index(pair),
        missing=float(missing.mean()),
        missing_target=float(missing_target.mean()),
        missing_p_value=missing_p_value,
        unseen=float(_is_unseen(pair.is_category, values, target).sum() / len(pair.target)),
        p_value=min(1.0, len(tests) * min(tests)) if tests else float("nan"),
        shifted=False,  # decided once all columns have p-values
        interval=_distance_interval(distance, pair.is_category, values, target),
    )


def _compare_by_groups(pair: ColumnPair, groups: GroupPermutations) -> ColumnShift:
    """Compare by permutations of whole groups: rows of a group are not independent."""
    by_rows = replace(_compare(pair), interval=(NAN, NAN))
    if by_rows.test == NO_TEST or not groups.enough:
        return replace(by_rows, test=NO_TEST, distance_p_value=NAN, p_value=NAN, missing_p_value=NAN)
    indicators, known = steps_of(pair)
    distance_p_value, missing_p_value = groups.p_value(indicators, known), groups.p_value(known[:, np.newaxis])
    tests = [distance_p_value, missing_p_value] if by_rows.missing or by_rows.missing_target else [distance_p_value]
    return replace(
        by_rows,
        test=GROUP_PERMUTATION,
        distance_p_value=distance_p_value,
        missing_p_value=missing_p_value,
        p_value=min(1.0, len(tests) * min(tests)),
    )


def _distance_interval(
    distance: float, is_category: bool, values: np.ndarray, target: np.ndarray
) -> tuple[float, float]:
    """Return the interval for any distributions; a total variation is too large by chance, by at most ``excess``."""
    if np.isnan(distance):
        return NAN, NAN
    rows, excess = 1 / len(values) + 1 / len(target), 0.0
    if is_category:
        fractions = counts_of(values, target).sum(axis=0) / (len(values) + len(target))
        excess = float(np.sqrt(2 / np.pi * rows * fractions * (1 - fractions)).sum() / 2)
    reach = BOUND_95 * float(np.sqrt(rows))
    return max(0.0, distance - excess - reach), min(1.0, distance + reach)


def _distance(is_category: bool, values: np.ndarray, target: np.ndarray) -> tuple[str, float, float]:
    """Return the test that fits a column without missing values, its distance and its p-value."""
    if len(values) == 0 or len(target) == 0:
        return NO_TEST, float("nan"), float("nan")
    counts = counts_of(values, target)
    if not is_category and counts.shape[1] > 2:
        return _kolmogorov_smirnov(values, target)
    fractions = counts / counts.sum(axis=1, keepdims=True)
    # for a column with two numbers, this is also the distance of Kolmogorov and Smirnov
    distance = float(np.abs(fractions[0] - fractions[1]).sum() / 2)
    cells = chi_square_cells(counts)
    if counts.shape[1] > 2 and cells.shape[1] > 1:
        return CHI_SQUARE, distance, float(chi2_contingency(cells, correction=False).pvalue)
    cells = few_cells(counts)
    if _min_p_value(cells) >= LEVEL:
        return NO_TEST, distance, float("nan")
    if counts.shape[1] <= 2:
        return FISHER, distance, _fisher(counts)
    return PERMUTATION, distance, permutation_p_value(cells)


def _n_splits(n_rows: int, n_target: int) -> float:
    """Count the ways to divide all rows between tables of these sizes; infinite if that is too large for a float."""
    return float(comb(n_rows + n_target, min(n_rows, n_target)))


def _min_p_value(counts: np.ndarray) -> float:
    """Return the p-value of the largest difference, from counts (2, categories): one table has only the rarest one.

    For a constant column, this is the p-value of a target that has another value.
    """
    n_rows, n_target = map(int, counts.sum(axis=1))
    rarest = counts.sum(axis=0).min() if counts.shape[1] > 1 else 0
    return max(1.0, float(comb(rarest, min(n_rows, n_target)))) / _n_splits(n_rows, n_target)


def _kolmogorov_smirnov(values: np.ndarray, target: np.ndarray) -> tuple[str, float, float]:
    n_splits = _n_splits(len(values), len(target))
    result = ks_2samp(values, target, method="asymp")
    smallest = 2 / n_splits  # all of the target above, or all of it below
    if smallest >= LEVEL:
        return NO_TEST, float(result.statistic), float("nan")
    if result.pvalue < LARGE_P_VALUE and np.isfinite(n_splits) and max(len(values), len(target)) <= MAX_EXACT_ROWS:
        result = ks_2samp(values, target, method="exact")
    return KOLMOGOROV_SMIRNOV, float(result.statistic), max(float(result.pvalue), smallest)


def permutation_p_value(counts: np.ndarray) -> float:
    """Return the fraction of shuffles with a chi-square statistic that is not smaller, from counts (2, categories)."""
    total, n_target = counts.sum(axis=0), int(counts[1].sum())
    shuffled = np.random.default_rng(0).multivariate_hypergeometric(total, n_target, size=N_SHUFFLES)
    expected = total * (n_target / counts.sum())
    # with fixed margins, the statistic is this sum times a constant
    observed, others = ((side - expected) ** 2 @ (1 / expected) for side in (counts[1], shuffled))
    n_larger = np.count_nonzero(others >= observed * (1 - ROUNDING))
    return (1 + n_larger) / (1 + N_SHUFFLES)


def _fisher(counts: np.ndarray) -> float:
    """Return the p-value of the difference between two fractions, from counts (2, at most 2)."""
    return min(1.0, float(fisher_exact(counts)[1])) if counts.shape[1] == 2 else 1.0


def _is_unseen(is_category: bool, values: np.ndarray, target: np.ndarray) -> np.ndarray:
    if is_category:
        return ~np.isin(target, values)
    if len(values) == 0:
        return np.ones(len(target), dtype=np.bool_)
    return (target < values.min()) | (target > values.max())
