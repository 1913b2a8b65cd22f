"""How far one column of a table differs from the same column of the target."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import comb
from scipy.stats import chi2_contingency, fisher_exact, ks_2samp

from surefoot.data import BinEdges
from surefoot.shift.shift_report_tables import ColumnPair

LEVEL = 0.05
N_BINS = 10  # of the stability index, and of the permutation test
LEAST_EXPECTED = 5.0  # rows of a cell of the chi-square test, in the smaller table, if nothing differs
ROUNDING = 1e-9  # statistics that differ by less are tied
HALF_A_ROW = 0.5  # is added to every bin of the stability index, so that none is empty
N_SHUFFLES = 9999  # of the permutation test
LARGE_P_VALUE = 0.9  # above it nobody needs an exact one, and scipy's may, by rounding, exceed 1
MOST_EXACT = 10_000  # rows of a table, for the exact Kolmogorov-Smirnov test: it takes time
NUMBER, CATEGORY = "number", "category"
KOLMOGOROV_SMIRNOV, CHI_SQUARE, FISHER = "Kolmogorov-Smirnov", "chi-square", "Fisher"
PERMUTATION, NO_TEST = "permutation", "none"
SHIFTED, NOT_SHIFTED, NOT_TESTED = "shifted", "not shifted", "not tested"


@dataclass(frozen=True)
class ColumnShift:
    """How one column of a table differs from that of the target.

    Attributes
    ----------
    name : str
    kind : {"number", "category"}
    distance : float
        The largest difference of the two distribution functions (Kolmogorov-Smirnov) of numbers, half the sum of the
        differences of shares (total variation) of categories: 0 is the same, 1 is nothing in common. Missing values
        are left out; NaN where a side has no other. Of many rare categories it is large without any shift.
    test : {"Kolmogorov-Smirnov", "chi-square", "Fisher", "permutation", "none"}
        Where ``distance_p_value`` comes from: Kolmogorov-Smirnov for numbers (careful where many are tied), chi-square
        for categories, of which rare ones are pooled with their neighbours by label until 5 rows are expected in each
        table, and Fisher's exact test where both tables together have only two values. Where pooling leaves one
        category only, as with few rows or one category that nearly all rows have, the chi-square statistic is compared
        with that of 9,999 shuffles of the rows, always the same ones; more than 10 categories are pooled with their
        neighbours by label into 10 about equally frequent ones for it. "none" where a table has no value, or both have
        so few rows that not even the largest difference would be significant.
    distance_p_value : float
        NaN where ``test`` is "none".
    stability_index : float
        The population stability index over 10 bins that are equally full in X (fewer where values are tied; up to 10
        categories one bin each, of more the rare ones pooled as for the test), with a bin for missing values if there
        are any. Half a row is added to every bin, so that it is finite. Without shift it is about the number
        of bins times the sum of 1 over both numbers of rows.
    missing, missing_target : float
        Shares of missing values.
    missing_p_value : float
        Fisher's exact test of their difference.
    unseen : float
        Share of the target's rows with a category that X does not have, or a number outside the range of X.
    p_value : float
        The smaller of both p-values, corrected for there being two of them if values are missing, and by Holm's method
        for the number of columns. NaN where there is nothing to test.
    shifted : bool
        Whether ``p_value`` is below 0.05. False says little where ``outcome`` is "not tested".
    importance : float
        By how much the AUC of the classifier that tells the tables apart falls when this column is shuffled. Columns
        stand in for each other: once the AUC is near 1, because several columns tell the tables apart by themselves, it
        is about 0 for nearly all of them, however far they have shifted. Look at the distances then.

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

    @property
    def size(self) -> float:
        """The larger of the distance and the difference of the shares of missing values."""
        return float(np.nanmax([self.distance, abs(self.missing_target - self.missing)]))

    @property
    def outcome(self) -> str:
        """One of "shifted", "not shifted" and "not tested": there were no values to compare, or too few."""
        if self.shifted:
            return SHIFTED
        return NOT_TESTED if self.test == NO_TEST else NOT_SHIFTED


def compare_columns(pairs: Iterable[ColumnPair]) -> list[ColumnShift]:
    """Every column on its own, with p-values that are corrected for their number."""
    columns = [_compare(pair) for pair in pairs]
    corrected = holm(np.array([column.p_value for column in columns]))
    return [
        replace(column, p_value=float(p_value), shifted=bool(p_value < LEVEL))
        for column, p_value in zip(columns, corrected, strict=True)
    ]


def holm(p_values: np.ndarray) -> np.ndarray:
    """P-values that hold for all tests together; those that are NaN are no tests."""
    corrected = np.full(len(p_values), np.nan)
    order = np.argsort(p_values, kind="stable")[: np.isfinite(p_values).sum()]
    steps = p_values[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected


def _compare(pair: ColumnPair) -> ColumnShift:
    missing, missing_target = np.isnan(pair.values), np.isnan(pair.target)
    values, target = pair.values[~missing], pair.target[~missing_target]
    test, distance, distance_p_value = _distance(pair.is_category, values, target)
    missing_p_value = _fisher(_counts(missing, missing_target))
    tests = [distance_p_value] if np.isfinite(distance_p_value) else []
    tests += [missing_p_value] if missing.any() or missing_target.any() else []
    return ColumnShift(
        name=pair.name,
        kind=CATEGORY if pair.is_category else NUMBER,
        distance=distance,
        test=test,
        distance_p_value=distance_p_value,
        stability_index=_stability_index(pair),
        missing=float(missing.mean()),
        missing_target=float(missing_target.mean()),
        missing_p_value=missing_p_value,
        unseen=float(_is_unseen(pair.is_category, values, target).sum() / len(pair.target)),
        p_value=min(1.0, len(tests) * min(tests)) if tests else float("nan"),
        shifted=False,  # known once there are p-values of all columns
    )


def _distance(is_category: bool, values: np.ndarray, target: np.ndarray) -> tuple[str, float, float]:
    """The test that fits a column without missing values, its distance and its p-value."""
    if len(values) == 0 or len(target) == 0:
        return NO_TEST, float("nan"), float("nan")
    counts = _counts(values, target)
    if not is_category and counts.shape[1] > 2:
        return _kolmogorov_smirnov(values, target)
    shares = counts / counts.sum(axis=1, keepdims=True)
    distance = float(np.abs(shares[0] - shares[1]).sum() / 2)  # of two numbers also that of Kolmogorov and Smirnov
    cells = chi_square_cells(counts)
    if counts.shape[1] > 2 and cells.shape[1] > 1:
        return CHI_SQUARE, distance, float(chi2_contingency(cells, correction=False).pvalue)
    cells = few_cells(counts)
    if _least_p_value(cells) >= LEVEL:
        return NO_TEST, distance, float("nan")
    if counts.shape[1] <= 2:
        return FISHER, distance, _fisher(counts)
    return PERMUTATION, distance, permutation_p_value(cells)


def _n_splits(n_rows: int, n_target: int) -> float:
    """In how many ways all rows can be dealt to two tables of these sizes; infinite if that is no float."""
    return float(comb(n_rows + n_target, min(n_rows, n_target)))


def _least_p_value(counts: np.ndarray) -> float:
    """The p-value of the largest difference, from counts (2, categories): all of a table is of the rarest category.

    A constant column has it of a target that has another value.
    """
    n_rows, n_target = map(int, counts.sum(axis=1))
    rarest = counts.sum(axis=0).min() if counts.shape[1] > 1 else 0
    return max(1.0, float(comb(rarest, min(n_rows, n_target)))) / _n_splits(n_rows, n_target)


def _kolmogorov_smirnov(values: np.ndarray, target: np.ndarray) -> tuple[str, float, float]:
    n_splits = _n_splits(len(values), len(target))
    result = ks_2samp(values, target, method="asymp")
    least = 2 / n_splits  # all of the target above, or all of it below
    if least >= LEVEL:
        return NO_TEST, float(result.statistic), float("nan")
    if result.pvalue < LARGE_P_VALUE and np.isfinite(n_splits) and max(len(values), len(target)) <= MOST_EXACT:
        result = ks_2samp(values, target, method="exact")
    return KOLMOGOROV_SMIRNOV, float(result.statistic), max(float(result.pvalue), least)


def permutation_p_value(counts: np.ndarray) -> float:
    """The share of shuffles of the rows whose chi-square statistic is not smaller, from counts (2, categories)."""
    total, n_target = counts.sum(axis=0), int(counts[1].sum())
    shuffled = np.random.default_rng(0).multivariate_hypergeometric(total, n_target, size=N_SHUFFLES)
    expected = total * (n_target / counts.sum())
    # With margins that stay as they are, the statistic is this sum times a constant.
    observed, others = ((side - expected) ** 2 @ (1 / expected) for side in (counts[1], shuffled))
    n_larger = np.count_nonzero(others >= observed * (1 - ROUNDING))
    return (1 + n_larger) / (1 + N_SHUFFLES)


def _fisher(counts: np.ndarray) -> float:
    """The p-value of the difference between two shares, from counts (2, at most 2)."""
    return min(1.0, float(fisher_exact(counts)[1])) if counts.shape[1] == 2 else 1.0


def chi_square_cells(counts: np.ndarray) -> np.ndarray:
    """Counts (2, categories) with rare categories pooled, each with the next rare ones in the order of the labels.

    Rare is judged by both tables together: a rule that looked at one of them alone would find shift where there is
    none.
    """
    total = counts.sum(axis=0)
    expected = total * (counts.sum(axis=1).min() / counts.sum())
    cell = np.full(len(total), -1)
    frequent = np.flatnonzero(expected >= LEAST_EXPECTED)
    cell[frequent] = np.arange(len(frequent))
    n_cells, held = len(frequent), 0.0
    for category in np.flatnonzero(expected < LEAST_EXPECTED):
        cell[category] = n_cells
        held += expected[category]
        if held >= LEAST_EXPECTED:
            n_cells, held = n_cells + 1, 0.0
    if held > 0 and n_cells > 0:  # a rest too small for a cell joins the pooled one before it, or the rarest category
        cell[cell == n_cells] = n_cells - 1 if n_cells > len(frequent) else np.argmin(total[frequent])
    return np.stack([np.bincount(cell, row, minlength=cell.max() + 1) for row in counts])


def few_cells(counts: np.ndarray) -> np.ndarray:
    """Counts (2, categories) with more than 10 categories pooled, in the order of their labels, into about tenths.

    There are always two cells or more, however few rows there are, and however many of them one category has.
    """
    total = counts.sum(axis=0)
    if len(total) <= N_BINS:
        return counts
    middle = (np.cumsum(total) - total / 2) / total.sum()
    cell = np.unique((N_BINS * middle).astype(np.int64), return_inverse=True)[1]
    return np.stack([np.bincount(cell, row).astype(np.int64) for row in counts])


def _is_unseen(is_category: bool, values: np.ndarray, target: np.ndarray) -> np.ndarray:
    if is_category:
        return ~np.isin(target, values)
    if len(values) == 0:
        return np.ones(len(target), dtype=np.bool_)
    return (target < values.min()) | (target > values.max())


def _stability_index(pair: ColumnPair) -> float:
    """The sum over bins of the difference of shares times the logarithm of their ratio."""
    missing = [np.isnan(pair.values), np.isnan(pair.target)]
    sides = [pair.values[~missing[0]], pair.target[~missing[1]]]
    counts = _counts_of_categories(*sides) if pair.is_category else _counts_of_numbers(*sides)
    counts = np.column_stack([counts, [flags.sum() for flags in missing]])
    counts = counts[:, counts.any(axis=0)] + HALF_A_ROW
    shares = counts / counts.sum(axis=1, keepdims=True)
    return float(((shares[1] - shares[0]) * np.log(shares[1] / shares[0])).sum())


def _counts_of_numbers(values: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Rows of each table in bins that are equally full in the first: (2, bins)."""
    edges = BinEdges.from_values(values, N_BINS)
    thresholds = edges.thresholds
    if len(edges) == 1:  # a constant: below, equal, above
        thresholds = np.array([np.nextafter(edges.low[0], -np.inf), edges.high[0]])
    bins = [np.searchsorted(thresholds, side) for side in (values, target)]
    return np.stack([np.bincount(side, minlength=len(thresholds) + 1) for side in bins])


def _counts_of_categories(values: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Rows of each table in every category, or, of many categories, in the cells of the test."""
    counts = _counts(values, target)
    cells = chi_square_cells(counts) if counts.shape[1] > N_BINS else counts
    return cells if cells.shape[1] > 1 else few_cells(counts)


def _counts(values: np.ndarray, target: np.ndarray) -> np.ndarray:
    """How often each distinct value occurs on either side: (2, values)."""
    distinct, places = np.unique(np.concatenate([values, target]), return_inverse=True)
    return np.stack([np.bincount(side, minlength=len(distinct)) for side in np.split(places, [len(values)])])
