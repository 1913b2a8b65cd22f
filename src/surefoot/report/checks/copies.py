"""Rows that are copies of one another, as against rows that are equal by chance."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.report.checks.column_codes import RowHashes, codes_of, pattern_ids

MAX_CHANCE = 0.01  # expected number of equal rows by chance, were columns independent: a copy has less
MAX_NEIGHBOURS = 0.5  # rows that differ in one column, for each row that differs in none: a copy has fewer
MAX_DISAGREEMENT = 0.5
MAX_COLUMNS = 60  # of wider tables, so many columns are left out in turn
MIN_OF_A_SIZE = 20  # patterns of a size before the sizes are judged
TARGET_EXCESS = 10.0  # pairs equal in columns and target, as a multiple of what chance gives
MIN_PAIRS = 3
SLACK = 5.0  # patterns more, for the noise in small numbers
EXCESS = 4.0  # patterns of a size, as a multiple of the most that chance allows


@dataclass(frozen=True)
class Copies:
    """Rows that are copies of one another.

    ``groups`` has one id for each row; copies share theirs and have to stay on one side of every split. It is None
    where no row is a copy. ``n_equal_rows`` counts all rows that equal another in every column, by chance or not;
    ``n_rows_in_copies`` those that are taken for copies, ``n_conflicting`` those of them whose targets differ.
    """

    groups: np.ndarray | None
    n_equal_rows: int
    n_rows_in_copies: int
    n_groups: int
    n_conflicting: int
    sentence: str


def find_copies(frame: Any, y: np.ndarray) -> Copies:
    """Copies among the rows of a frame of floats and categoricals; ``y`` has codes of classes, or floats.

    In a table of a few discrete columns different subjects have equal rows. Two things tell a copy from them: its
    values are so rare that chance, column by column, would not bring them together twice; and there are hardly any
    rows that differ from it in one column only, which chance would bring about far more often than none. If the
    targets of equal rows differ about as much as any, they are different subjects all the same. Where that does not
    decide, the sizes of the groups of equal rows may: if every row is there twice, no group has one row.
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
    """How many rows of another frame, read in the same way, are rows of this one."""
    import pandas as pd

    n, codes = len(frame), []
    for name in frame.columns:
        mine, theirs = frame[name], other[name]
        if isinstance(mine.dtype, pd.CategoricalDtype):  # their categories may be of another kind of text
            both = pd.concat([mine.astype(object), theirs.astype(object)], ignore_index=True).astype("category")
        else:
            both = pd.Series(np.r_[mine.to_numpy(), theirs.to_numpy()])
        codes.append(codes_of(both))
    ids = pattern_ids(RowHashes(codes).total)
    return int(np.isin(ids[n:], ids[:n]).sum())


def _equal_with_target(sizes: np.ndarray, joint: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Rows that are equal in the columns and in the target, a number, if that is more than chance would bring about.

    Equal rows of different subjects would have equal targets no more often than any two rows have.
    """
    joint_sizes, n = np.bincount(joint), len(y)
    repeated = np.bincount(pattern_ids(y)).astype(float)
    chance = (repeated * (repeated - 1)).sum() / (n * (n - 1.0))
    expected = chance * (sizes * (sizes - 1.0)).sum() / 2
    found = (joint_sizes * (joint_sizes - 1.0)).sum() / 2
    if found < TARGET_EXCESS * expected + MIN_PAIRS and not _too_regular(joint_sizes):
        return np.zeros(n, dtype=bool)
    return np.asarray(joint_sizes[joint] > 1)


def _expected_equal(codes: list[np.ndarray]) -> np.ndarray:
    """For each row, how many others chance would make equal to it if columns were independent of each other."""
    n = len(codes[0])
    logs = np.full(n, np.log(n))
    for each in codes:
        logs += np.log(np.bincount(each)[each] / n)
    return np.asarray(np.exp(logs))


def _neighbours(hashes: RowHashes, rows: np.ndarray) -> np.ndarray:
    """For each row, the number of rows that differ from it in exactly one column; 0 outside of ``rows``."""
    n_columns = len(hashes.parts)
    columns = np.arange(n_columns)
    if n_columns > MAX_COLUMNS:
        columns = np.random.default_rng(0).choice(n_columns, MAX_COLUMNS, replace=False)
    own = pattern_ids(hashes.total)
    own_sizes = np.bincount(own)[own]
    found = np.zeros(len(own))
    for j in columns:
        ids = pattern_ids(hashes.without(int(j)))
        found += np.bincount(ids)[ids] - own_sizes
    return np.where(rows, found * n_columns / len(columns), 0.0)


def _disagreement(ids: np.ndarray, rows: np.ndarray, y: np.ndarray) -> float:
    """How much targets differ between equal rows, as a fraction of how much they differ between any two rows.

    Copies have the same target; the targets of different subjects with the same columns differ nearly as much as any.
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
    """Whether chance cannot have made groups of equal rows of these sizes.

    If rows are drawn at random, the number of groups of k rows is a mixture of Poisson probabilities, for which
    f(k)^2 <= f(k-1) f(k+1) (k+1)/k in expectation. Doubling every row makes many groups of two, and none of one.
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
                f"{n_equal:,} rows equal another one in every column, which chance explains: the columns have few "
                "values. They are taken for different subjects."
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
        f"{n_copies:,} rows are copies of one another ({n_groups:,} different ones): equal in every column, and not by "
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
