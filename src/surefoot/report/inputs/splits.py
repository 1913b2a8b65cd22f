"""Training and test rows of every fold: every row is held out once, together with its group."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from surefoot._exceptions import DataError
from surefoot.report.inputs.target import Target

LATER = 0.2  # fraction of the rows that are deployment data when the rows are ordered by time
MIN_GROUPS = 4
FEW_ROWS, MANY_ROWS = 150, 20_000
TIME_BLOCKS = 30  # runs of neighbouring rows, which intervals count instead of rows
N_PARTS = 5  # of the rows of a single fold
FIRST_TRAINED = 0.5  # by time, the earliest half of the rows is never held out
TOO_FEW_TIMES = "time has too few distinct values to split the rows into earlier and later ones."
Folds = tuple[tuple[np.ndarray, np.ndarray], ...]


@dataclass(frozen=True)
class Splits:
    """Row numbers of a table.

    Attributes
    ----------
    rows : array
        The rows of questions 1 to 3, in order.
    held_out : array
        Those of them that are held out once, in order. By time, the earliest half is never held out.
    folds : tuple of (train, test)
        Pairs of row numbers; the test rows of all folds together are ``held_out``.
    later : array
        The last rows by time, for question 4; empty without a time.
    units : array or None
        For every row of the table, what was drawn when it was drawn: a group, or a run of rows in time. None: the row.
    by_time : bool
        Whether every fold is tested on later rows than it was trained on.
    is_fixed : bool
        Whether the rows of the only fold were named, and not drawn.
    """

    rows: np.ndarray
    held_out: np.ndarray
    folds: Folds
    later: np.ndarray
    units: np.ndarray | None
    by_time: bool = False
    is_fixed: bool = False

    @classmethod
    def draw(
        cls, target: Target, groups: np.ndarray | None, time: np.ndarray | None, has_new: bool, seed: int
    ) -> "Splits":
        """Folds of rows, of whole groups, or by time.

        By time, every fold is predicted by a model of earlier rows. Without new rows, the last fifth is deployment
        data.
        """
        n_rows = len(target.y)
        now, later = np.arange(n_rows), np.empty(0, dtype=np.int64)
        if time is not None and not has_new:
            now, later = _split_by_time(time, 1 - LATER, 15, 5)
        if groups is not None and len(np.unique(groups[now])) < MIN_GROUPS:
            n_groups = len(np.unique(groups[now]))
            message = f"groups has {n_groups} distinct values: holding groups out needs at least {MIN_GROUPS}."
            raise DataError(message, argument="groups")
        if time is None:
            return cls(now, now, _folds(target, now, groups, seed), later, groups)
        folds = _folds_by_time(now, time, groups)
        held_out = np.sort(np.concatenate([test for _, test in folds]))
        small = groups is None or len(np.unique(groups)) > len(groups) / 2  # copies of rows: too small to count
        return cls(now, held_out, folds, later, _runs(time, target) if small else groups, by_time=True)

    @classmethod
    def of_trained(cls, is_trained: np.ndarray, units: np.ndarray | None) -> "Splits":
        """One fold: models are trained on the rows that the user's model was trained on, and tested on the others."""
        rows, train, test = np.arange(len(is_trained)), np.flatnonzero(is_trained), np.flatnonzero(~is_trained)
        return cls(rows, test, ((train, test),), np.empty(0, dtype=np.int64), units, is_fixed=True)

    @property
    def sides(self) -> np.ndarray:
        """The fold that each row is tested in, or -1; of a single fold, 0 for test rows and 1 for training rows."""
        sides = np.full(int(self.rows.max()) + 1 if self.units is None else len(self.units), -1)
        for k, (train, test) in enumerate(self.folds):
            if self.is_fixed:
                sides[train] = 1
            sides[test] = k
        return sides

    @property
    def parts(self) -> tuple[np.ndarray, ...]:
        """The held-out rows in parts, for what is fitted to the predictions of the other parts: one for each fold.

        The rows of a single fold are divided into random parts.
        """
        if len(self.folds) > 1:
            return tuple(test for _, test in self.folds)
        codes = np.arange(len(self.held_out))
        if self.held_out_units is not None:
            codes = np.unique(self.held_out_units, return_inverse=True)[1].ravel()
        n_units = int(codes.max()) + 1
        parts = (np.random.default_rng(0).permutation(n_units) % min(N_PARTS, n_units))[codes]
        return tuple(self.held_out[parts == part] for part in range(parts.max() + 1))

    def drawn_again(self, target: Target, seed: int) -> "Splits":
        """The same rows in other folds; not for splits by time, which are not random."""
        return replace(self, folds=_folds(target, self.rows, self.units, seed))

    @property
    def held_out_units(self) -> np.ndarray | None:
        """The units of the held-out rows; None where every row was drawn by itself."""
        return None if self.units is None else self.units[self.held_out]


def n_folds_for(n_rows: int, n_units: int) -> int:
    """More folds for small tables, where every training row counts, and fewer for large tables, which are slow."""
    wanted = 10 if n_rows <= FEW_ROWS else 5 if n_rows <= MANY_ROWS else 3
    return min(wanted, n_units)


def smaller_folds(splits: Splits, target: Target, time: np.ndarray | None, fraction: float, seed: int) -> Folds:
    """Pairs (train, test) like the folds, with a fraction of their training rows; every held-out row is in one test.

    By time, they are the latest of each fold's training rows. Otherwise there are two disjoint training sets; a row is
    predicted by a model that was not trained on it, so that two fits suffice instead of one for each fold.
    """
    if time is not None:
        return tuple((_latest(train, time, fraction), test) for train, test in splits.folds)
    size = fraction * (1 - 1 / len(splits.folds))
    places, rows = _even_places(splits, target, seed), splits.rows
    first, second = places < size, (places >= size) & (places < 2 * size)
    by_first = second | (~first & (places < (1 + 2 * size) / 2))
    return (rows[first], rows[by_first]), (rows[second], rows[~by_first])


def _latest(train: np.ndarray, time: np.ndarray, fraction: float) -> np.ndarray:
    order = train[np.argsort(time[train], kind="stable")]
    return np.sort(order[len(order) - max(1, round(fraction * len(order))) :])


def _even_places(splits: Splits, target: Target, seed: int) -> np.ndarray:
    """Random numbers in [0, 1) for the rows, evenly spaced within each class, or the same for all rows of a group."""
    generator = np.random.default_rng(seed)
    if splits.units is not None:
        codes = np.unique(splits.units[splits.rows], return_inverse=True)[1].ravel()
        return (generator.permutation(codes.max() + 1) / (codes.max() + 1))[codes]
    kinds = target.y[splits.rows] if target.is_classes else np.zeros(len(splits.rows), dtype=np.int64)
    places = np.empty(len(kinds))
    for kind in np.unique(kinds):
        of_kind = generator.permutation(np.flatnonzero(kinds == kind))
        places[of_kind] = (np.arange(len(of_kind)) + generator.random()) / len(of_kind)
    return places


def _folds(target: Target, rows: np.ndarray, groups: np.ndarray | None, seed: int) -> Folds:
    """Random folds with equal fractions of each class, as far as groups allow."""
    n_folds = n_folds_for(len(rows), len(rows) if groups is None else len(np.unique(groups[rows])))
    shared = {"shuffle": True, "random_state": seed}
    y = _frequent(target.y[rows], n_folds) if target.is_classes else np.zeros(len(rows), dtype=int)
    if groups is not None:
        kind = StratifiedGroupKFold(n_folds, **shared) if target.is_classes else GroupKFold(n_folds, **shared)
        pairs = kind.split(rows, y, groups[rows])
    elif target.is_classes:
        pairs = StratifiedKFold(n_folds, **shared).split(rows, y)
    else:
        pairs = KFold(n_folds, **shared).split(rows)
    return tuple((rows[train], rows[test]) for train, test in pairs if len(test))


def _folds_by_time(rows: np.ndarray, time: np.ndarray, groups: np.ndarray | None) -> Folds:
    """Every part of the later half of the rows is a test set, and all earlier rows are its training set.

    With groups, the training set excludes groups of the test set, unless that leaves less than half of it.
    """
    n_folds = n_folds_for(len(rows), len(rows))
    fractions = np.linspace(FIRST_TRAINED, 1, n_folds + 1)
    order = np.sort(time[rows])
    edges = np.unique(order[np.minimum((fractions[:-1] * len(rows)).astype(int), len(rows) - 1)])
    pairs = []
    for k, edge in enumerate(edges):
        after = time[rows] >= edge
        before_next = time[rows] < edges[k + 1] if k + 1 < len(edges) else np.ones(len(rows), dtype=bool)
        train, test = rows[~after], rows[after & before_next]
        if groups is not None:
            others = ~np.isin(groups[train], groups[test])
            train = train[others] if others.sum() >= len(train) / 2 else train
        if len(train) >= 10 and len(test):
            pairs.append((train, test))
    if not pairs:
        raise DataError(TOO_FEW_TIMES, argument="time")
    return tuple(pairs)


def _split_by_time(time: np.ndarray, fraction: float, min_now: int, min_later: int) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers before, and from, the time that a fraction of the rows precedes."""
    edge = np.sort(time)[min(int(fraction * len(time)), len(time) - 1)]
    now, later = np.flatnonzero(time < edge), np.flatnonzero(time >= edge)
    if len(now) < min_now or len(later) < min_later:
        raise DataError(TOO_FEW_TIMES, argument="time")
    return now, later


def _runs(time: np.ndarray, target: Target) -> np.ndarray:
    """Runs of rows that are neighbours in time; their errors may be alike, so intervals count runs, not rows.

    If the target is autocorrelated, a run is twice as long as its memory.
    """
    order = np.argsort(time, kind="stable")
    series = target.y[order] == np.argmax(np.bincount(target.y)) if target.is_classes else target.y[order]
    memory = rows_of_memory(series.astype(np.float64))
    n_runs = min(2 * TIME_BLOCKS, max(MIN_GROUPS, len(time) // 5), max(1, int(len(time) / (2 * memory))))
    places = np.searchsorted(time[order], time)
    return (places * n_runs // len(time)).astype(np.int64)


def rows_of_memory(series: np.ndarray) -> float:
    """The number of neighbouring values worth one independent value: 1 plus twice the sum of the autocorrelations.

    The sum ends at the first autocorrelation below twice the standard error of independent values.
    """
    centred, n = series - series.mean(), len(series)
    variance = float(centred @ centred)
    memory = 1.0
    for lag in range(1, n // 2 if variance > 0 else 1):
        correlation = float(centred[lag:] @ centred[:-lag]) / variance
        if correlation < 2 / n**0.5:
            break
        memory += 2 * correlation
    return memory


def _frequent(codes: np.ndarray, n_folds: int) -> np.ndarray:
    """Codes in which classes with fewer rows than folds are combined, so that folds can be stratified."""
    counts = np.bincount(codes)
    common = np.where(counts[codes] >= n_folds, codes, len(counts))
    few = np.sum(common == len(counts))
    return np.where(common == len(counts), np.argmax(counts), common) if 0 < few < n_folds else common
