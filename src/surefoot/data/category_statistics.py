"""Target statistics of columns with many categories: the mean target of rows with the same category.

For training rows the statistic is *ordered*: rows are put in a random order, and the statistic of a row uses the
earlier rows only, and so not its own target (Prokhorenkova et al. 2018). For new rows it uses all training rows. Two
columns also have a statistic of their pair if the pair is more informative than either of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from surefoot._jit import kernel
from surefoot._random import random_permutation

STRENGTH = 5.0  # a category's mean is shrunk to the mean of all rows as if it had this many more rows
MAX_PAIRED = 12  # of more columns than this, only the most informative ones are tried in pairs
PAIR_GAIN = 2e-3  # a pair must explain more than its better column, by this fraction of the target's variance


@dataclass(frozen=True)
class Statistic:
    """Means of the targets by category, or by combination; ``keys`` are those of the training data, sorted."""

    columns: tuple[int, ...]
    factors: tuple[int, ...]
    keys: np.ndarray  # int64
    means: np.ndarray  # (targets, keys)
    counts: np.ndarray  # rows by weight

    def lookup(self, codes: np.ndarray, prior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means (targets, rows) and counts of rows; unknown keys have the ``prior`` and the count 0."""
        keys = keys_of(self.columns, self.factors, codes)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known = self.keys[place] == keys
        return np.where(known, self.means[:, place], prior[:, np.newaxis]), np.where(known, self.counts[place], 0.0)


@dataclass(frozen=True)
class CategoryStatistics:
    """Statistics of columns and of combinations: one number per target for each, and counts of rows for some.

    Single columns have counts, and so do combinations of columns that have no statistic of their own.
    """

    statistics: tuple[Statistic, ...]
    prior: np.ndarray  # mean of each target

    @classmethod
    def fit(
        cls,
        combinations: Sequence[tuple[int, ...]],
        codes: np.ndarray,
        targets: np.ndarray,
        weights: np.ndarray,
        train: np.ndarray,
        key: np.uint64,
        strength: float = STRENGTH,
    ) -> tuple["CategoryStatistics", np.ndarray]:
        """Fit statistics of columns and combinations to the rows ``train``; compute their values for all rows.

        Parameters
        ----------
        combinations : list of tuple
            The columns of each statistic.
        codes : int32 array of shape (n_columns, n_rows)
            -1 where the category is missing.
        targets : array of shape (n_targets, n_rows)
        weights : array of shape (n_rows,)
        train : array of row numbers
        key : int
            Stream of random numbers for the order of the rows.
        strength : float
            A category's mean is shrunk to the mean of all rows as if it had this many more rows.

        Returns
        -------
        statistics : CategoryStatistics
        values : array of shape (n_values, n_rows)
        """
        order, prior = train[random_permutation(key, len(train))], _mean(targets, weights, train)
        return cls._fit_in_order(combinations, codes, targets, weights, order, prior, strength)

    def in_another_order(
        self,
        codes: np.ndarray,
        targets: np.ndarray,
        weights: np.ndarray,
        train: np.ndarray,
        key: np.uint64,
        strength: float = STRENGTH,
    ) -> np.ndarray:
        """The values (values, rows) that ``fit`` returns if the order of the rows comes from another stream."""
        combinations = [statistic.columns for statistic in self.statistics]
        order = train[random_permutation(key, len(train))]
        return self._fit_in_order(combinations, codes, targets, weights, order, self.prior, strength)[1]

    @classmethod
    def _fit_in_order(
        cls,
        combinations: Sequence[tuple[int, ...]],
        codes: np.ndarray,
        targets: np.ndarray,
        weights: np.ndarray,
        order: np.ndarray,
        prior: np.ndarray,
        strength: float,
    ) -> tuple["CategoryStatistics", np.ndarray]:
        early = running_priors(targets[:, order], weights[order])
        fits = [_fit_one(columns, codes, targets, weights, order, early, prior, strength) for columns in combinations]
        return cls._from_fits(fits, prior, codes, order)

    @classmethod
    def of_combinations(
        cls,
        combinations: Sequence[tuple[int, ...]],
        codes: np.ndarray,
        residuals: np.ndarray,
        weights: np.ndarray,
        order: np.ndarray,
        strength: float,
    ) -> tuple["CategoryStatistics", np.ndarray]:
        """Fit statistics of combinations of columns to residuals, which have the prior 0."""
        early = np.zeros((len(residuals), len(order)))
        prior = early[:, 0]
        fits = [_fit_one(columns, codes, residuals, weights, order, early, prior, strength) for columns in combinations]
        return cls._from_fits(fits, prior, codes, order)

    @classmethod
    def _from_fits(
        cls, fits: list[tuple[Statistic, np.ndarray]], prior: np.ndarray, codes: np.ndarray, order: np.ndarray
    ) -> tuple["CategoryStatistics", np.ndarray]:
        """All statistics, and their values for all rows; they are ordered for the rows of ``order``."""
        fitted = cls(tuple(statistic for statistic, _ in fits), prior)
        values = fitted.transform(codes)
        for place, (_, ordered) in enumerate(fits):
            values[place * len(prior) : (place + 1) * len(prior), order] = ordered
        return fitted, values

    @property
    def layout(self) -> list[tuple[Statistic, int | None]]:
        """The statistic that each value is of, and the target that it is the mean of; None for a count."""
        means = [(statistic, k) for statistic in self.statistics for k in range(len(self.prior))]
        counted = zip(self.statistics, self._counted, strict=True)
        return [*means, *((statistic, None) for statistic, is_counted in counted if is_counted)]

    @property
    def sources(self) -> tuple[tuple[int, ...], ...]:
        """The columns of each value."""
        return tuple(statistic.columns for statistic, _ in self.layout)

    @property
    def _counted(self) -> list[bool]:
        """Whether each statistic has a count."""
        alone = {statistic.columns[0] for statistic in self.statistics if len(statistic.columns) == 1}
        return [len(each.columns) == 1 or (bool(alone) and alone.isdisjoint(each.columns)) for each in self.statistics]

    def transform(self, codes: np.ndarray) -> np.ndarray:
        """The values (values, rows) of new rows, from the codes of all columns; the code -2 is an unknown category."""
        return self._values([statistic.lookup(codes, self.prior) for statistic in self.statistics], codes.shape[1])

    def transform_mixed(self, codes: np.ndarray, others: np.ndarray, mixture: int) -> np.ndarray:
        """The values of rows that have the code of ``codes`` in column s of a statistic if bit s of ``mixture`` is 1.

        In the other columns, they have that of ``others``.
        """
        results = []
        for statistic in self.statistics:
            mixed = codes.copy()
            for s, column in enumerate(statistic.columns):
                mixed[column] = (codes if mixture >> s & 1 else others)[column]
            results.append(statistic.lookup(mixed, self.prior))
        return self._values(results, codes.shape[1])

    def _values(self, results: list[tuple[np.ndarray, np.ndarray]], n_rows: int) -> np.ndarray:
        """The means of all statistics, then the counts of those that have one."""
        counts = [count for counted, (_, count) in zip(self._counted, results, strict=True) if counted]
        return np.concatenate([*(means for means, _ in results), np.array(counts).reshape(len(counts), n_rows)])


def informative_pairs(
    codes: np.ndarray, targets: np.ndarray, weights: np.ndarray, train: np.ndarray, key: np.uint64
) -> list[tuple[int, int]]:
    """Pairs of columns that explain more of the targets than either of their columns; arguments as for ``fit``."""
    order, prior = train[random_permutation(key, len(train))], _mean(targets, weights, train)
    early = running_priors(targets[:, order], weights[order])
    variance = max(_squared_error(prior[:, np.newaxis], targets, weights, order), 1e-300)

    def error(columns: tuple[int, ...]) -> float:
        ordered = _fit_one(columns, codes, targets, weights, order, early, prior, STRENGTH)[1]
        return _squared_error(ordered, targets, weights, order) / variance

    errors = [error((j,)) for j in range(len(codes))]
    paired = sorted(np.argsort(errors, kind="stable")[:MAX_PAIRED].tolist())
    return _select_pairs({pair: min(errors[j] for j in pair) - error(pair) for pair in combinations(paired, 2)})


def _select_pairs(gains: dict[tuple[int, int], float]) -> list[tuple[int, int]]:
    """The pairs with enough gain; all pairs, if most have enough."""
    if gains and np.median(list(gains.values())) > PAIR_GAIN:
        return list(gains)
    return [pair for pair, gain in gains.items() if gain > PAIR_GAIN]


def _fit_one(
    columns: tuple[int, ...],
    codes: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    order: np.ndarray,
    early: np.ndarray,
    prior: np.ndarray,
    strength: float,
) -> tuple[Statistic, np.ndarray]:
    """The statistic of one or several columns, and its ordered values (targets, rows in ``order``)."""
    factors = key_factors(columns, codes)
    keys, kinds = np.unique(keys_of(columns, factors, codes[:, order]), return_inverse=True)
    sums, counts = np.zeros((len(targets), len(keys))), np.zeros(len(keys))
    ordered = np.empty((len(targets), len(order)))
    order_statistics(kinds, targets[:, order], weights[order], early, strength, sums, counts, ordered)
    means = (sums + strength * prior[:, np.newaxis]) / (counts + strength)
    return Statistic(columns, factors, keys, means, counts), ordered


def key_factors(columns: tuple[int, ...], codes: np.ndarray) -> tuple[int, ...]:
    """For each column, the number of codes that ``keys_of`` distinguishes."""
    return tuple(int(codes[j].max(initial=-1)) + 3 for j in columns)


def keys_of(columns: tuple[int, ...], factors: tuple[int, ...], codes: np.ndarray) -> np.ndarray:
    """One number for each combination of codes; the code -1 is a missing category, -2 an unknown one."""
    keys = codes[columns[0]].astype(np.int64) + 2
    for j, factor in zip(columns[1:], factors[1:], strict=True):
        keys = keys * factor + codes[j] + 2
    return keys


def _mean(targets: np.ndarray, weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The weighted mean of each target over some rows."""
    fractions = weights[rows] / weights[rows].sum()
    return np.asarray((targets[:, rows] * fractions).sum(axis=1))  # no BLAS: its sums depend on its threads


def _squared_error(ordered: np.ndarray, targets: np.ndarray, weights: np.ndarray, order: np.ndarray) -> float:
    """The mean squared error of the ordered statistic as a prediction of the targets."""
    return float(np.average(((targets[:, order] - ordered) ** 2).sum(axis=0), weights=weights[order]))


def running_priors(targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """For rows in their order, the mean target of earlier rows: of the first 2**k for rows 2**k to 2**(k + 1) - 1.

    The mean of all rows would use each row's own target; the mean of all earlier rows would show how early a row is.
    """
    n_rows = targets.shape[1]
    level = np.floor(np.log2(np.maximum(np.arange(n_rows), 1))).astype(np.int64)
    last = np.minimum((1 << level) - 1, n_rows - 1)
    mass = np.cumsum(weights)
    means = np.cumsum(targets * weights, axis=1) / np.maximum(mass, 1e-300)
    priors = means[:, last]
    priors[:, 0] = 0.0  # there is no row before the first
    return priors


@kernel
def order_statistics(kinds, targets, weights, priors, strength, sums, counts, ordered):
    """Read rows in their order; write the shrunk mean target of earlier rows of the same kind, then add the row."""
    for i in range(kinds.shape[0]):
        kind = kinds[i]
        for k in range(targets.shape[0]):
            ordered[k, i] = (sums[k, kind] + strength * priors[k, i]) / (counts[kind] + strength)
            sums[k, kind] += weights[i] * targets[k, i]
        counts[kind] += weights[i]
