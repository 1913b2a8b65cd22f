"""Missing values: filled in each bag with the medians of the bag's own rows, so that no other row has a say."""

from typing import Any, NamedTuple

import numpy as np

from surefoot._jit import kernel


class Gaps(NamedTuple):
    """The columns of a table that have missing values, and the rows of each in the order of the values it knows."""

    columns: Any  # int64
    n_known: Any  # int64: how many values each column knows
    order: Any  # int32 (columns, rows): the rows whose value is known, ascending by value; the rest of a line is unused

    @classmethod
    def find(cls, X: np.ndarray) -> "Gaps":
        """Those of a table."""
        columns = np.flatnonzero(np.isnan(X).any(axis=0))
        order = np.argsort(X[:, columns], axis=0).T.astype(np.int32)  # missing values come last
        return cls(columns, np.sum(~np.isnan(X[:, columns]), axis=0), np.ascontiguousarray(order))

    def __bool__(self) -> bool:
        return len(self.columns) > 0


def known_medians(X: np.ndarray) -> np.ndarray:
    """The median of each column's known values; 0 where none is known."""
    known = [column[~np.isnan(column)] for column in X.T]
    return np.array([np.median(values) if len(values) else 0.0 for values in known])


def filled_bags(X: np.ndarray, gaps: Gaps, bags: np.ndarray) -> np.ndarray:
    """The rows of all bags, one bag below the other, without gaps."""
    out = np.empty((bags.size, X.shape[1]), dtype=X.dtype)
    fill_bags(X, gaps, np.require(bags, np.int32, ["C", "W"]), out)
    return out


@kernel
def bag_median(X, column, order, counts):
    """Read how often each row is in a bag; return the median of a column's known values there, 0 if there is none."""
    n_known, seen, below = 0, 0, 0.0
    for row in order:
        n_known += counts[row]
    for row in order:
        if counts[row]:
            if seen < n_known // 2:
                below = X[row, column]
            seen += counts[row]
            if seen > n_known // 2:
                return 0.5 * (below + X[row, column]) if n_known % 2 == 0 else 1.0 * X[row, column]
    return 0.0


@kernel
def fill_bags(X, gaps, bags, out):
    """Read bags of rows; write their rows, with the bag's median (0: none is known) where a column has a gap."""
    size = bags.shape[1]
    counts = np.zeros(X.shape[0], np.int64)
    for b in range(bags.shape[0]):
        rows = out[b * size : (b + 1) * size]
        for i in range(size):
            counts[bags[b, i]] += 1
            rows[i] = X[bags[b, i]]
        for g in range(gaps.columns.shape[0]):
            j = gaps.columns[g]
            middle = bag_median(X, j, gaps.order[g, : gaps.n_known[g]], counts)
            for i in range(size):
                if np.isnan(rows[i, j]):
                    rows[i, j] = middle
        for i in range(size):
            counts[bags[b, i]] = 0
