"""Categories of single columns and of pairs of columns, numbered densely."""

from dataclasses import dataclass

import numpy as np

from surefoot._exceptions import DataError

ALONE = -1  # stands for the second column of a group that has only one
UNSEEN = -1


@dataclass(frozen=True)
class CategoryGroups:
    """The categories that occur in each group: a group is one column of codes, or a pair of columns read together.

    Plain arrays, so that a model file can hold them. A missing value (code -1) is a category like any other.

    Attributes
    ----------
    members : int32 array of shape (n_groups, 2)
        The columns of each group; the second is -1 for a column alone.
    spans : int64 array of shape (n_columns,)
        Every code of a column, plus one, was below its span when the groups were fitted.
    keys : int64 array
        The categories of all groups, end to end, in increasing order within a group. A column's code c has the key
        ``c + 1``, a pair's codes (c, d) the key ``(c + 1) * span of the second + d + 1``.
    starts : int64 array of shape (n_groups + 1,)
        Where each group's keys begin.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.data.category_groups import CategoryGroups
    >>> codes = np.array([[0, 1, 1, -1], [2, 2, 0, 2]], dtype=np.int32)
    >>> groups = CategoryGroups.fit(codes, np.array([[0, 1]]))
    >>> groups.places(codes, 2)
    array([1, 3, 2, 0])
    >>> groups.places(np.array([[0], [0]], dtype=np.int32), 2)  # this pair did not occur
    array([-1])
    """

    members: np.ndarray
    spans: np.ndarray
    keys: np.ndarray
    starts: np.ndarray

    @classmethod
    def fit(cls, codes: np.ndarray, pairs: np.ndarray, rows: np.ndarray | None = None) -> "CategoryGroups":
        """Every column alone, then the given pairs of columns (n_pairs, 2); only ``rows`` count (None: all)."""
        check_codes(codes)
        used = codes if rows is None else codes[:, rows]
        n_columns = codes.shape[0]
        alone = np.stack([np.arange(n_columns), np.full(n_columns, ALONE)], axis=1)
        members = np.concatenate([alone, np.asarray(pairs).reshape(-1, 2)]).astype(np.int32)
        spans = used.max(axis=1, initial=-1).astype(np.int64) + 2
        found = [np.unique(_keys(used, pair, spans)) for pair in members]
        starts = np.concatenate([[0], np.cumsum([len(keys) for keys in found], dtype=np.int64)]).astype(np.int64)
        return cls(members, spans, np.concatenate([np.empty(0, dtype=np.int64), *found]), starts)

    def __len__(self) -> int:
        return len(self.members)

    @property
    def sources(self) -> tuple[tuple[int, ...], ...]:
        """The columns of each group."""
        return tuple(tuple(int(j) for j in pair if j != ALONE) for pair in self.members)

    def places(self, codes: np.ndarray, group: int) -> np.ndarray:
        """For every row, which of the group's categories it has; -1 for one that did not occur."""
        keys = self.keys[self.starts[group] : self.starts[group + 1]]
        wanted = _keys(codes, self.members[group], self.spans)
        if len(keys) == 0:
            return np.full(len(wanted), UNSEEN)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, place, UNSEEN)

    def check(self, codes: np.ndarray) -> None:
        """Refuse codes that are not of the table that the groups were fitted on."""
        check_codes(codes)
        if codes.shape[0] != len(self.spans):
            raise DataError(f"codes has {codes.shape[0]} columns; fit had {len(self.spans)}: pass the same columns.")


def check_codes(codes: np.ndarray) -> None:
    """Refuse what is not a table of codes, column after column."""
    if codes.ndim != 2 or codes.dtype.kind not in "iu":
        raise DataError("codes must be an array of whole numbers of shape (n_columns, n_rows).")
    if codes.size and codes.min() < -1:
        raise DataError("codes has numbers below -1: number the categories from 0 on, and missing values -1.")


def _keys(codes: np.ndarray, pair: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """One whole number for each row's category; -1 where a code is beyond those that the spans allow."""
    first, second = int(pair[0]), int(pair[1])
    keys = codes[first].astype(np.int64) + 1
    known = keys < spans[first]
    if second != ALONE:
        other = codes[second].astype(np.int64) + 1
        known &= other < spans[second]
        keys = keys * spans[second] + other
    return np.where(known, keys, UNSEEN)
