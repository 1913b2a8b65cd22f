"""Permutations of whole groups between two tables: rows of a group are not independent, so that groups are dealt."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import comb
from scipy.stats import rankdata

from surefoot._exceptions import DataError
from surefoot.shift.shift_report_tables import ColumnPair

N_PERMUTATIONS = 999
MIN_ARRANGEMENTS = 20  # with fewer, not even the largest difference would be significant at 0.05
MAX_BINS = 50  # of a column


class GroupPermutations:
    """The groups of two tables, and other ways to deal them to both.

    A group that is in both tables counts as two: its rows in either are then dealt independently, which makes the test
    careful, because a table's own groups are more alike than that.

    Parameters
    ----------
    groups, target_groups : arrays of shape (n_rows,) and (n_target,)
    seed : int
    """

    def __init__(self, groups: Any, target_groups: Any, seed: int) -> None:
        own, target = (
            np.unique(np.asarray(each).astype(str), return_inverse=True)[1] for each in (groups, target_groups)
        )
        self.n_own, self.n_target = int(own.max()) + 1, int(target.max()) + 1
        self.codes = np.concatenate([own, self.n_own + target])
        self.n_groups = self.n_own + self.n_target
        generator = np.random.default_rng(seed)
        dealt = np.tile(np.arange(self.n_groups) >= self.n_own, (N_PERMUTATIONS + 1, 1))
        dealt[1:] = generator.permuted(dealt[1:], axis=1)
        self._in_target = dealt.astype(np.float64)  # the first line is what was observed

    @property
    def enough(self) -> bool:
        """Whether the groups can be dealt in so many ways that a difference could be significant."""
        return bool(comb(self.n_groups, self.n_target) >= MIN_ARRANGEMENTS)

    def p_value(self, indicators: np.ndarray, counted: np.ndarray | None = None) -> float:
        """Of the largest difference of fractions, over columns of indicators (rows of X and of the target, columns).

        ``counted`` are the rows that have a value. NaN where there are too few groups.
        """
        if not self.enough:
            return float("nan")
        counted = np.ones(len(self.codes)) if counted is None else counted.astype(np.float64)
        sums = self._sums(np.column_stack([counted, indicators & (counted > 0)[:, np.newaxis]]))
        in_target = self._in_target @ sums
        in_own = sums.sum(axis=0) - in_target
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = in_target[:, 1:] / in_target[:, :1] - in_own[:, 1:] / in_own[:, :1]
        return _fraction_as_large(np.nan_to_num(np.abs(apart)).max(axis=1, initial=0.0))

    def auc_p_value(self, scores: np.ndarray) -> float:
        """Of the AUC with which scores tell the target's rows from the others; one-sided."""
        if not self.enough:
            return float("nan")
        sums = self._sums(np.column_stack([np.ones(len(scores)), rankdata(scores)]))
        n_target, ranks = (self._in_target @ sums).T
        n_own = len(scores) - n_target
        return _fraction_as_large((ranks / n_target - (n_target + 1) / 2) / n_own)

    def of_rows(self, rows: np.ndarray, seed: int) -> "GroupPermutations":
        """The same of some rows of both tables, by their places in X and the target one after the other."""
        own, target = (rows[side] for side in (self.codes[rows] < self.n_own, self.codes[rows] >= self.n_own))
        return GroupPermutations(self.codes[own], self.codes[target], seed)

    def _sums(self, values: np.ndarray) -> np.ndarray:
        """Sums over the rows of each group: (groups, columns)."""
        places = (self.codes, np.arange(len(self.codes)))
        return np.asarray(csr_array((np.ones(len(self.codes)), places), (self.n_groups, len(self.codes))) @ values)


def _codes(groups: Any) -> np.ndarray:
    return np.unique(np.asarray(groups).astype(str), return_inverse=True)[1]


def _fraction_as_large(statistics: np.ndarray) -> float:
    """How many statistics are no smaller than the first, which is one of them."""
    return float(np.mean(statistics >= statistics[0] * (1 - 1e-12)))


def steps_of(pair: ColumnPair) -> tuple[np.ndarray, np.ndarray]:
    """Indicators of the rows of both tables, one after the other, and which rows have a value.

    Of a number: whether it is at most some quantile; of a category: whether it is one of the most frequent.
    """
    values = np.concatenate([pair.values, pair.target])
    known = ~np.isnan(values)
    if pair.is_category:
        labels, counts = np.unique(values[known], return_counts=True)
        return values[:, np.newaxis] == labels[np.argsort(-counts, kind="stable")[:MAX_BINS]], known
    edges = np.quantile(values[known], np.linspace(0, 1, MAX_BINS + 1)[1:-1], method="higher") if known.any() else []
    return values[:, np.newaxis] <= np.unique(edges), known


def read_groups(groups: Any, groups_target: Any, n_rows: int, n_target: int, seed: int) -> GroupPermutations | None:
    """Those of both tables, checked; None if there are none."""
    if groups is None and groups_target is None:
        return None
    if groups is None or groups_target is None:
        raise DataError("groups and groups_target belong together: pass both, or neither.")
    for name, given, n in (("groups", groups, n_rows), ("groups_target", groups_target, n_target)):
        if np.shape(given) != (n,):
            raise DataError(f"{name} has shape {np.shape(given)}: pass one group for each of the {n} rows.")
    return GroupPermutations(groups, groups_target, seed)
