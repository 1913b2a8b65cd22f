"""Rows that are copies of one another, as opposed to rows that are equal by chance."""

from dataclasses import dataclass
from typing import Any

import numpy as np

MAX_CHANCE = 0.01  # expected number of equal rows by chance, if columns were independent: a copy has less
MAX_NEIGHBOURS = 0.5  # rows that differ in one column, for each row that differs in none: a copy has fewer
MAX_DISAGREEMENT = 0.5
MAX_COLUMNS = 60  # in wider tables, so many random columns are left out in turn
MIN_OF_A_SIZE = 20  # patterns of a size, below which the sizes are not examined
TARGET_EXCESS = 10.0  # pairs equal in columns and target, as a multiple of the number by chance
MIN_PAIRS = 3
SLACK = 5.0  # additional patterns, for the noise in small numbers
EXCESS = 4.0  # patterns of a size, as a multiple of the maximum by chance


def codes_of(column: Any) -> np.ndarray:
    """The values of a column as whole numbers from 0; missing values are one value."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy().astype(np.int64) + 1
    return pd.factorize(column.to_numpy(), use_na_sentinel=False)[0].astype(np.int64)


def pattern_ids(hashes: np.ndarray) -> np.ndarray:
    """Ids from 0 such that rows with equal hashes share one."""
    import pandas as pd

    return np.asarray(pd.factorize(hashes)[0])


class RowHashes:
    """A 64-bit hash of each row: the sum of random numbers, one for each value of each column.

    With a sum, the hash without one column costs only a subtraction.
    """

    def __init__(self, codes: list[np.ndarray], seed: int = 0) -> None:
        generator = np.random.default_rng(seed)
        self.parts = [generator.integers(0, 2**64, int(each.max()) + 1, dtype=np.uint64)[each] for each in codes]
        self.total = np.zeros(len(codes[0]), dtype=np.uint64)
        for part in self.parts:
            self.total += part

    def without(self, j: int) -> np.ndarray:
        """The hashes of all columns except one."""
        return self.total - self.parts[j]


@dataclass(frozen=True)
class Copies:
    """Rows that are copies of one another.

    ``groups`` has one id for each row; copies have the same id and must stay on one side of every split. It is None
    if no row is a copy. ``n_equal_rows`` counts all rows that equal another in every column, by chance or not;
    ``n_rows_in_copies`` those that are considered copies, and ``n_conflicting`` copies with different targets.
    """

    groups: np.ndarray | None
    n_equal_rows: int
    n_rows_in_copies: int
    n_groups: int
    n_conflicting: int
    sentence: str


def find_copies(frame: Any, y: np.ndarray) -> Copies:
    """Copies among the rows of a frame of floats and categoricals; ``y`` has codes of classes, or floats.

    In a table of a few discrete columns, different subjects have equal rows. A copy differs from them in two ways: its
    values are so rare that their combination would not occur twice by chance, column by column; and hardly any row
    differs from it in one column only, which would be far more frequent by chance. If the targets of equal rows differ
    about as much as those of any rows, they are different subjects anyway. The sizes of the groups of equal rows may
    decide too: if every row occurs twice, no group has one row.
    """
    codes = [codes_of(frame[name]) for name in frame.columns]
    hashes = RowHashes(codes)
    ids = pattern_ids(hashes.total)
    sizes = np.bincount(ids)
    equal = sizes[ids] > 1
    n_equal = int(equal.sum())
    if not n_equal:
        return _report(ids, equal, y, 0)
    joint = pattern_ids(RowHashes([ids, pattern_ids(y)]).total)  # columns and target
    if _too_regular(sizes) and _too_regular(np.bincount(joint)):
        return _report(ids, equal, y, n_equal)
    copies = equal & (_expected_equal(codes) < MAX_CHANCE)
    if copies.any():
        copies &= _neighbours(hashes, copies) <= MAX_NEIGHBOURS * (sizes[ids] - 1)
        copies &= _disagreement(ids, copies, y) <= MAX_DISAGREEMENT
    if y.dtype.kind == "f":
        with_target = ~copies & _equal_with_target(sizes, joint, y)
        ids, copies = np.where(with_target, len(sizes) + joint, ids), copies | with_target
    return _report(ids, copies, y, n_equal)


def count_equal_rows(frame: Any, other: Any) -> int:
    """The number of rows of another frame, read in the same way, that are rows of this one."""
    import pandas as pd

    n, codes = len(frame), []
    for name in frame.columns:
        mine, theirs = frame[name], other[name]
        if isinstance(mine.dtype, pd.CategoricalDtype):  # their categories may have another text type
            both = pd.concat([mine.astype(object), theirs.astype(object)], ignore_index=True).astype("category")
        else:
            both = pd.Series(np.r_[mine.to_numpy(), theirs.to_numpy()])
        codes.append(codes_of(both))
    ids = pattern_ids(RowHashes(codes).total)
    return int(np.isin(ids[n:], ids[:n]).sum())


def _equal_with_target(sizes: np.ndarray, joint: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Rows that are equal in the columns and in the target, a number, if there are more than by chance.

    Equal rows of different subjects have equal targets no more often than any two rows.
    """
    joint_sizes, n = np.bincount(joint), len(y)
    repeated = np.bincount(pattern_ids(y)).astype(float)
    chance = (repeated * (repeated - 1)).sum() / (n * (n - 1.0))
    expected = chance * (sizes * (sizes - 1.0)).sum() / 2
    observed = (joint_sizes * (joint_sizes - 1.0)).sum() / 2
    if observed < TARGET_EXCESS * expected + MIN_PAIRS and not _too_regular(joint_sizes):
        return np.zeros(n, dtype=bool)
    return np.asarray(joint_sizes[joint] > 1)


def _expected_equal(codes: list[np.ndarray]) -> np.ndarray:
    """For each row, the expected number of rows equal to it by chance if columns were independent."""
    n = len(codes[0])
    logs = np.full(n, np.log(n))
    for each in codes:
        logs += np.log(np.bincount(each)[each] / n)
    return np.asarray(np.exp(logs))


def _neighbours(hashes: RowHashes, rows: np.ndarray) -> np.ndarray:
    """For each row, the number of rows that differ from it in exactly one column; 0 outside ``rows``."""
    n_columns = len(hashes.parts)
    columns = np.arange(n_columns)
    if n_columns > MAX_COLUMNS:
        columns = np.random.default_rng(0).choice(n_columns, MAX_COLUMNS, replace=False)
    own = pattern_ids(hashes.total)
    own_sizes = np.bincount(own)[own]
    n_neighbours = np.zeros(len(own))
    for j in columns:
        ids = pattern_ids(hashes.without(int(j)))
        n_neighbours += np.bincount(ids)[ids] - own_sizes
    return np.where(rows, n_neighbours * n_columns / len(columns), 0.0)


def _disagreement(ids: np.ndarray, rows: np.ndarray, y: np.ndarray) -> float:
    """How much the targets of equal rows differ, as a fraction of how much the targets of any rows differ.

    Copies have the same target; targets of different subjects with equal columns differ nearly as much as any.
    """
    import pandas as pd

    if not rows.any():
        return 0.0
    groups, n_rows = pattern_ids(ids[rows]), int(rows.sum())
    if y.dtype.kind == "f":
        own = pd.Series(y[rows]).groupby(groups)
        within, overall = float(((y[rows] - own.transform("mean")) ** 2).sum()), float(np.var(y))
    else:  # the same with a column of zeros and ones for each class
        cells = pd.Series(groups).groupby([groups, y[rows]]).agg(["first", "size"])
        within = n_rows - float((cells["size"] ** 2 / np.bincount(groups)[cells["first"]]).sum())
        overall = 1 - float(((np.bincount(y) / len(y)) ** 2).sum())
    return within / (n_rows - int(groups.max()) - 1) / overall if overall > 0 else 0.0


def _too_regular(sizes: np.ndarray) -> bool:
    """Whether groups of equal rows cannot have these sizes by chance.

    If rows are drawn at random, the number of groups of k rows is a mixture of Poisson probabilities, with
    f(k)^2 <= f(k-1) f(k+1) (k+1)/k in expectation. Doubling every row gives many groups of two, and none of one.
    """
    counts = np.bincount(sizes, minlength=8)[:8].astype(float)
    k = np.arange(2, 7)
    smaller, larger = counts[k - 1] + SLACK, counts[k + 1] + SLACK
    return bool(np.any((counts[k] >= MIN_OF_A_SIZE) & (counts[k] ** 2 > EXCESS * smaller * larger * (k + 1) / k)))


def _report(ids: np.ndarray, is_copy: np.ndarray, y: np.ndarray, n_equal: int) -> Copies:
    import pandas as pd

    n_copies = int(is_copy.sum())
    if not n_copies:
        sentence = "No two rows are equal in every column."
        if n_equal:
            sentence = (
                f"{n_equal:,} rows equal another one in every column, which is explained by chance: the columns have "
                "few distinct values. They are treated as different subjects."
            )
        return Copies(
            groups=None, n_equal_rows=n_equal, n_rows_in_copies=0, n_groups=0, n_conflicting=0, sentence=sentence
        )
    alone = ids.max() + 1 + np.arange(len(ids))
    groups = pattern_ids(np.where(is_copy, ids, alone))
    copied = pd.Series(y[is_copy]).groupby(groups[is_copy])
    n_groups, n_conflicting = int(copied.ngroups), int((copied.transform("nunique") > 1).sum())
    differ = f" In {n_conflicting:,} of them the target differs between copies." if n_conflicting else ""
    sentence = (
        f"{n_copies:,} rows are copies of one another ({n_groups:,} distinct rows): equal in every column, and not by "
        f"chance. Copies are kept on one side of every split.{differ}"
    )
    return Copies(
        groups=groups,
        n_equal_rows=max(n_equal, n_copies),
        n_rows_in_copies=n_copies,
        n_groups=n_groups,
        n_conflicting=n_conflicting,
        sentence=sentence,
    )
