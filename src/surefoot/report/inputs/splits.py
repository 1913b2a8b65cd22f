"""Which rows train and which are judged: every row is held out once, together with what belongs to it."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from surefoot._exceptions import DataError
from surefoot.report.inputs.target import Target

LATER = 0.2  # fraction of the rows that is deployment data when they are ordered by time
MIN_GROUPS = 4
FEW_ROWS, MANY_ROWS = 150, 20_000
TIME_BLOCKS = 30  # runs of neighbouring rows that intervals count as what was drawn
FIRST_TRAINED = 0.5  # by time, the earliest half of the rows only trains
Folds = tuple[tuple[np.ndarray, np.ndarray], ...]


@dataclass(frozen=True)
class Splits:
    """Row numbers of a table.

    Attributes
    ----------
    rows : array
        The rows that questions 1 to 3 are about, in order.
    judged : array
        Those of them that are held out once, in order. By time, the earliest half is not.
    folds : tuple of (train, judge)
        Pairs of row numbers; the judged rows of all folds together are ``judged``.
    later : array
        The last rows by time, which question 4 is about; empty without a time.
    units : array or None
        For every row of the table, what was drawn when it was drawn: a group, or a run of rows by time. None: the row.
    by_time : bool
    """

    rows: np.ndarray
    judged: np.ndarray
    folds: Folds
    later: np.ndarray
    units: np.ndarray | None
    by_time: bool = False

    @classmethod
    def draw(
        cls, target: Target, groups: np.ndarray | None, time: np.ndarray | None, has_new: bool, seed: int
    ) -> "Splits":
        """Folds of rows, of whole groups, or by time.

        By time, every fold is judged by a model of earlier rows. Without new rows, the last fifth is deployment data.
        """
        n_rows = len(target.y)
        now, later = np.arange(n_rows), np.empty(0, dtype=np.int64)
        if time is not None and not has_new:
            now, later = _split_by_time(time, 1 - LATER, 15, 5)
        if groups is not None and len(np.unique(groups[now])) < MIN_GROUPS:
            n_groups = len(np.unique(groups[now]))
            raise DataError(f"groups has {n_groups} different values: holding groups out needs at least {MIN_GROUPS}.")
        if time is not None:
            folds = _folds_by_time(now, time, groups)
            judged = np.sort(np.concatenate([judge for _, judge in folds]))
            few = groups is None or len(np.unique(groups)) > len(groups) / 2  # copies, which are no groups to count
            return cls(now, judged, folds, later, _runs(time, target) if few else groups, by_time=True)
        return cls(now, now, _folds(target, now, groups, seed), later, groups)

    def drawn_again(self, target: Target, seed: int) -> "Splits":
        """The same rows in other folds; not for splits by time, which leave nothing to chance."""
        return replace(self, folds=_folds(target, self.rows, self.units, seed))

    @property
    def judged_units(self) -> np.ndarray | None:
        """The units of the judged rows; None where every row was drawn by itself."""
        return None if self.units is None else self.units[self.judged]


def n_folds_for(n_rows: int, n_units: int) -> int:
    """More folds for small tables, where every training row counts, and fewer for large ones, which are slow."""
    wanted = 10 if n_rows <= FEW_ROWS else 5 if n_rows <= MANY_ROWS else 3
    return min(wanted, n_units)


def smaller_folds(splits: Splits, target: Target, time: np.ndarray | None, fraction: float, seed: int) -> Folds:
    """Pairs (train, judge) like the folds, with a fraction of their training rows; every judged row is judged once.

    By time, the latest of each fold's training rows. Otherwise two disjoint parts of the rows, each of which is judged
    by a model of the other, as are the rows in neither: two fits instead of one for each fold.
    """
    if time is not None:
        return tuple((_latest(train, time, fraction), judge) for train, judge in splits.folds)
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
        here = generator.permutation(np.flatnonzero(kinds == kind))
        places[here] = (np.arange(len(here)) + generator.random()) / len(here)
    return places


def _folds(target: Target, rows: np.ndarray, groups: np.ndarray | None, seed: int) -> Folds:
    """Of each class alike, as far as groups allow."""
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
    return tuple((rows[train], rows[judge]) for train, judge in pairs if len(judge))


def _folds_by_time(rows: np.ndarray, time: np.ndarray, groups: np.ndarray | None) -> Folds:
    """Every part of the later half, with all earlier rows to train on.

    With groups, rows of groups that are judged do not train, unless that leaves less than half of the earlier rows.
    """
    n_folds = n_folds_for(len(rows), len(rows))
    fractions = np.linspace(FIRST_TRAINED, 1, n_folds + 1)
    order = np.sort(time[rows])
    edges = np.unique(order[np.minimum((fractions[:-1] * len(rows)).astype(int), len(rows) - 1)])
    pairs = []
    for k, edge in enumerate(edges):
        after = time[rows] >= edge
        before_next = time[rows] < edges[k + 1] if k + 1 < len(edges) else np.ones(len(rows), dtype=bool)
        train, judge = rows[~after], rows[after & before_next]
        if groups is not None:
            others = ~np.isin(groups[train], groups[judge])
            train = train[others] if others.sum() >= len(train) / 2 else train
        if len(train) >= 10 and len(judge):
            pairs.append((train, judge))
    if not pairs:
        raise DataError("time has too few different values to split the rows into earlier and later ones.")
    return tuple(pairs)


def _split_by_time(time: np.ndarray, fraction: float, min_now: int, min_later: int) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers before and from the time at which a fraction of the rows is over."""
    edge = np.sort(time)[min(int(fraction * len(time)), len(time) - 1)]
    now, later = np.flatnonzero(time < edge), np.flatnonzero(time >= edge)
    if len(now) < min_now or len(later) < min_later:
        raise DataError("time has too few different values to split the rows into earlier and later ones.")
    return now, later


def _runs(time: np.ndarray, target: Target) -> np.ndarray:
    """Runs of rows that are neighbours in time: their errors may be alike, so that runs are what was drawn.

    They are twice as long as the target remembers, if it remembers for long: of a slow target, many rows tell little
    more than a few.
    """
    order = np.argsort(time, kind="stable")
    series = target.y[order] == np.argmax(np.bincount(target.y)) if target.is_classes else target.y[order]
    memory = rows_of_memory(series.astype(np.float64))
    n_runs = min(2 * TIME_BLOCKS, max(MIN_GROUPS, len(time) // 5), max(1, int(len(time) / (2 * memory))))
    places = np.searchsorted(time[order], time)
    return (places * n_runs // len(time)).astype(np.int64)


def rows_of_memory(series: np.ndarray) -> float:
    """How many neighbouring values tell as much as one that is drawn alone: 1 plus twice the autocorrelations.

    These are added up while they are above twice their standard error, were the values drawn alone.
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
    """Codes in which classes with fewer rows than folds are one, so that folds can be made alike."""
    counts = np.bincount(codes)
    common = np.where(counts[codes] >= n_folds, codes, len(counts))
    few = np.sum(common == len(counts))
    return np.where(common == len(counts), np.argmax(counts), common) if 0 < few < n_folds else common
