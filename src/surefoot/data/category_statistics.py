"""Columns with many categories, as numbers: what the target was like for rows of the same category.

For training rows the statistic is *ordered*: rows are put in a random order, and each sees only the rows before it, so
that no row's statistic knows its own target (Prokhorenkova et al. 2018). New rows see all training rows. Two columns
whose pair says more than either of them get a statistic of their pair as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from surefoot._jit import kernel
from surefoot._random import random_permutation

STRENGTH = 5.0  # a category's mean is drawn to that of all rows as if so many more rows had been there
MAX_PAIRED = 12  # of more columns than this, those that say most are tried in pairs
PAIR_GAIN = 2e-3  # least share of the target's variance that a pair must explain more than its better column


@dataclass(frozen=True)
class Statistic:
    """Means of the targets by category, or by combination; ``keys`` are those seen in training, sorted."""

    columns: tuple[int, ...]
    factors: tuple[int, ...]
    keys: np.ndarray  # int64
    means: np.ndarray  # (targets, keys)
    counts: np.ndarray  # rows by weight

    def lookup(self, codes: np.ndarray, prior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means (targets, rows) and counts of rows; what training has not seen gets the ``prior`` and the count 0."""
        wanted = keys_of(self.columns, self.factors, codes)
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        known = self.keys[place] == wanted
        return np.where(known, self.means[:, place], prior[:, np.newaxis]), np.where(known, self.counts[place], 0.0)


@dataclass(frozen=True)
class CategoryStatistics:
    """Statistics of columns and of combinations: one number per target for each, and counts of rows for some.

    Columns have counts; beside them, so do combinations of columns that have no statistic of their own.
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
        """Statistics of columns or of several together, from the rows ``train``; and their values for all rows.

        Parameters
        ----------
        combinations : the columns of each statistic
        codes : int32 array of shape (n_columns, n_rows)
            -1 where the category is missing.
        targets : array of shape (n_targets, n_rows)
        weights : array of shape (n_rows,)
        train : array of row numbers
        key : stream of random numbers that decides the order of the rows
        strength : float
            A category's mean is drawn to that of all rows as if so many more rows had been there.

        Returns
        -------
        statistics : CategoryStatistics
        values : array of shape (n_values, n_rows)
        """
        order, prior = train[random_permutation(key, len(train))], _mean(targets, weights, train)
        return cls._in_order(combinations, codes, targets, weights, order, prior, strength)

    def in_another_order(
        self,
        codes: np.ndarray,
        targets: np.ndarray,
        weights: np.ndarray,
        train: np.ndarray,
        key: np.uint64,
        strength: float = STRENGTH,
    ) -> np.ndarray:
        """Values (values, rows) as ``fit`` returns them, had its rows been put in the order of another stream."""
        combinations = [statistic.columns for statistic in self.statistics]
        order = train[random_permutation(key, len(train))]
        return self._in_order(combinations, codes, targets, weights, order, self.prior, strength)[1]

    @classmethod
    def _in_order(
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
        found = [_fit_one(each, codes, targets, weights, order, early, prior, strength) for each in combinations]
        return cls._of(found, prior, codes, order)

    @classmethod
    def of_combinations(
        cls,
        combinations: Sequence[tuple[int, ...]],
        codes: np.ndarray,
        left: np.ndarray,
        weights: np.ndarray,
        order: np.ndarray,
        strength: float,
    ) -> tuple["CategoryStatistics", np.ndarray]:
        """Statistics of given combinations of columns; ``left`` are targets whose prior is 0."""
        none = np.zeros((len(left), len(order)))
        found = [_fit_one(columns, codes, left, weights, order, none, none[:, 0], strength) for columns in combinations]
        return cls._of(found, none[:, 0], codes, order)

    @classmethod
    def _of(
        cls, found: list[tuple[Statistic, np.ndarray]], prior: np.ndarray, codes: np.ndarray, order: np.ndarray
    ) -> tuple["CategoryStatistics", np.ndarray]:
        """All statistics, and their values for all rows: the ordered ones for the rows of ``order``."""
        fitted = cls(tuple(statistic for statistic, _ in found), prior)
        values = fitted.transform(codes)
        for place, (_, ordered) in enumerate(found):
            values[place * len(prior) : (place + 1) * len(prior), order] = ordered
        return fitted, values

    @property
    def sources(self) -> tuple[tuple[int, ...], ...]:
        """The columns that each value comes from."""
        means = tuple(statistic.columns for statistic in self.statistics for _ in self.prior)
        return means + tuple(
            statistic.columns for statistic, counted in zip(self.statistics, self._counted, strict=True) if counted
        )

    @property
    def _counted(self) -> list[bool]:
        """Which of the statistics have a count."""
        alone = {statistic.columns[0] for statistic in self.statistics if len(statistic.columns) == 1}
        return [len(each.columns) == 1 or (bool(alone) and alone.isdisjoint(each.columns)) for each in self.statistics]

    def transform(self, codes: np.ndarray) -> np.ndarray:
        """Values (values, rows) of new rows, from the codes of all columns; one that training did not have is -2."""
        found = [statistic.lookup(codes, self.prior) for statistic in self.statistics]
        counts = [count for counted, (_, count) in zip(self._counted, found, strict=True) if counted]
        return np.concatenate([*(means for means, _ in found), np.array(counts).reshape(len(counts), codes.shape[1])])


def telling_pairs(
    codes: np.ndarray, targets: np.ndarray, weights: np.ndarray, train: np.ndarray, key: np.uint64
) -> list[tuple[int, int]]:
    """Pairs of columns that say more of the rows ``train`` than either of their columns; arguments as for ``fit``."""
    order, prior = train[random_permutation(key, len(train))], _mean(targets, weights, train)
    early = running_priors(targets[:, order], weights[order])
    spread = max(_miss(prior[:, np.newaxis], targets, weights, order), 1e-300)

    def missed(columns: tuple[int, ...]) -> float:
        ordered = _fit_one(columns, codes, targets, weights, order, early, prior, STRENGTH)[1]
        return _miss(ordered, targets, weights, order) / spread

    misses = [missed((j,)) for j in range(len(codes))]
    paired = sorted(np.argsort(misses, kind="stable")[:MAX_PAIRED].tolist())
    return _telling({pair: min(misses[j] for j in pair) - missed(pair) for pair in combinations(paired, 2)})


def _telling(gains: dict[tuple[int, int], float]) -> list[tuple[int, int]]:
    """The pairs that say more than their columns; all of them, if most do."""
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
    """The statistic of one or several columns, and its ordered values (targets, rows in their order)."""
    factors = key_factors(columns, codes)
    keys, kinds = np.unique(keys_of(columns, factors, codes[:, order]), return_inverse=True)
    sums, counts = np.zeros((len(targets), len(keys))), np.zeros(len(keys))
    ordered = np.empty((len(targets), len(order)))
    order_statistics(kinds, targets[:, order], weights[order], early, strength, sums, counts, ordered)
    means = (sums + strength * prior[:, np.newaxis]) / (counts + strength)
    return Statistic(columns, factors, keys, means, counts), ordered


def key_factors(columns: tuple[int, ...], codes: np.ndarray) -> tuple[int, ...]:
    """For each column, one more than its largest code as ``keys_of`` counts."""
    return tuple(int(codes[j].max(initial=-1)) + 3 for j in columns)


def keys_of(columns: tuple[int, ...], factors: tuple[int, ...], codes: np.ndarray) -> np.ndarray:
    """One number for what a row has in the columns; the code -1 is a missing category, -2 an unknown one."""
    keys = codes[columns[0]].astype(np.int64) + 2
    for j, factor in zip(columns[1:], factors[1:], strict=True):
        keys = keys * factor + codes[j] + 2
    return keys


def _mean(targets: np.ndarray, weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """That of each target over some rows."""
    shares = weights[rows] / weights[rows].sum()
    return np.asarray((targets[:, rows] * shares).sum(axis=1))  # no BLAS: its sums depend on its threads


def _miss(ordered: np.ndarray, targets: np.ndarray, weights: np.ndarray, order: np.ndarray) -> float:
    """Mean squared distance of the ordered statistic from the target that it has not seen."""
    return float(np.average(((targets[:, order] - ordered) ** 2).sum(axis=0), weights=weights[order]))


def running_priors(targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """For rows in their order, the targets' mean over earlier rows: over the first 2**k for rows 2**k to 2**(k + 1).

    The mean of all rows would know each row's own target; the mean of all earlier ones would tell how early a row is.
    """
    n_rows = targets.shape[1]
    level = np.floor(np.log2(np.maximum(np.arange(n_rows), 1))).astype(np.int64)
    last = np.minimum((1 << level) - 1, n_rows - 1)
    mass = np.cumsum(weights)
    means = np.cumsum(targets * weights, axis=1) / np.maximum(mass, 1e-300)
    priors = means[:, last]
    priors[:, 0] = 0.0  # nothing is known before the first row
    return priors


@kernel
def order_statistics(kinds, targets, weights, priors, strength, sums, counts, ordered):
    """Read rows in their order; write what each row's kind has said of the targets so far, then count the row in."""
    for i in range(kinds.shape[0]):
        kind = kinds[i]
        for k in range(targets.shape[0]):
            ordered[k, i] = (sums[k, kind] + strength * priors[k, i]) / (counts[kind] + strength)
            sums[k, kind] += weights[i] * targets[k, i]
        counts[kind] += weights[i]
