"""Permutations of whole groups between two tables, because rows of a group are not independent."""

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
    """The groups of two tables, and other ways to divide them between the tables.

    A group that is in both tables counts as two: its rows in each table are then permuted independently. This makes the
    test conservative, because the two parts of such a group are alike.

    Parameters
    ----------
    groups, target_groups : arrays of shape (n_rows,) and (n_target,)
        The group of each row.
    seed : int
        Seed of the permutations.
    """

    def __init__(self, groups: Any, target_groups: Any, seed: int) -> None:
        own, target = _codes(groups), _codes(target_groups)
        self.n_own, self.n_target = int(own.max()) + 1, int(target.max()) + 1
        self.codes = np.concatenate([own, self.n_own + target])
        self.n_groups = self.n_own + self.n_target
        generator = np.random.default_rng(seed)
        in_target = np.tile(np.arange(self.n_groups) >= self.n_own, (N_PERMUTATIONS + 1, 1))
        in_target[1:] = generator.permuted(in_target[1:], axis=1)
        self._in_target = in_target.astype(np.float64)  # the first row is the observed division

    @property
    def enough(self) -> bool:
        """Whether there are enough ways to divide the groups for a difference to be significant."""
        return bool(comb(self.n_groups, self.n_target) >= MIN_ARRANGEMENTS)

    def p_value(self, indicators: np.ndarray, counted: np.ndarray | None = None) -> float:
        """Test the largest difference of fractions, over columns of indicators (rows of X and of the target, columns).

        ``counted`` are the rows that have a value. NaN where there are too few groups.
        """
        if not self.enough:
            return float("nan")
        counted = np.ones(len(self.codes)) if counted is None else counted.astype(np.float64)
        sums = self._sums(np.column_stack([counted, indicators & (counted > 0)[:, np.newaxis]]))
        in_target = self._in_target @ sums
        in_own = sums.sum(axis=0) - in_target
        with np.errstate(invalid="ignore", divide="ignore"):
            differences = in_target[:, 1:] / in_target[:, :1] - in_own[:, 1:] / in_own[:, :1]
        return _fraction_as_large(np.nan_to_num(np.abs(differences)).max(axis=1, initial=0.0))

    def auc_p_value(self, scores: np.ndarray) -> float:
        """Test the AUC of scores that should be larger for the target's rows; one-sided."""
        if not self.enough:
            return float("nan")
        sums = self._sums(np.column_stack([np.ones(len(scores)), rankdata(scores)]))
        n_target, ranks = (self._in_target @ sums).T
        n_own = len(scores) - n_target
        return _fraction_as_large((ranks / n_target - (n_target + 1) / 2) / n_own)

    def of_rows(self, rows: np.ndarray, seed: int) -> "GroupPermutations":
        """Return the permutations for some rows, given by their positions in X followed by the target."""
        own, target = (rows[side] for side in (self.codes[rows] < self.n_own, self.codes[rows] >= self.n_own))
        return GroupPermutations(self.codes[own], self.codes[target], seed)

    def _sums(self, values: np.ndarray) -> np.ndarray:
        """Sum over the rows of each group: (groups, columns)."""
        places = (self.codes, np.arange(len(self.codes)))
        return np.asarray(csr_array((np.ones(len(self.codes)), places), (self.n_groups, len(self.codes))) @ values)


def _codes(groups: Any) -> np.ndarray:
    """Number the groups from 0 on."""
    return np.unique(np.asarray(groups).astype(str), return_inverse=True)[1]


def _fraction_as_large(statistics: np.ndarray) -> float:
    """Return the fraction of statistics that are no smaller than the first, including the first."""
    return float(np.mean(statistics >= statistics[0] * (1 - 1e-12)))


def steps_of(pair: ColumnPair) -> tuple[np.ndarray, np.ndarray]:
    """Return indicators of the rows of X followed by the target, and which rows have a value.

    For numbers: whether the value is at most some quantile; for categories: whether it is one of the most frequent.
    """
    values = np.concatenate([pair.values, pair.target])
    known = ~np.isnan(values)
    if pair.is_category:
        labels, counts = np.unique(values[known], return_counts=True)
        return values[:, np.newaxis] == labels[np.argsort(-counts, kind="stable")[:MAX_BINS]], known
    edges = np.quantile(values[known], np.linspace(0, 1, MAX_BINS + 1)[1:-1], method="higher") if known.any() else []
    return values[:, np.newaxis] <= np.unique(edges), known


def read_groups(groups: Any, groups_target: Any, n_rows: int, n_target: int, seed: int) -> GroupPermutations | None:
    """Check the groups of both tables; None if none are given."""
    if groups is None and groups_target is None:
        return None
    if groups is None or groups_target is None:
        raise DataError("groups and groups_target belong together: pass both, or neither.")
    for name, given, n in (("groups", groups, n_rows), ("groups_target", groups_target, n_target)):
        if np.shape(given) != (n,):
            raise DataError(f"{name} has shape {np.shape(given)}: pass one group for each of the {n} rows.")
    return GroupPermutations(groups, groups_target, seed)
