"""Which rows of the table are for what: training, held out, and those that come last in time."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from surefoot._exceptions import DataError
from surefoot.report.target import Target

HELD_OUT = 0.25
LATER = 0.2
FEWEST_GROUPS = 2  # that are held out
MANY_ROWS = 5000  # with more, three folds tell enough


@dataclass(frozen=True)
class RowParts:
    """Row numbers: ``train`` to learn and choose on, ``test`` for numbers that are reported, ``later`` by time."""

    train: np.ndarray
    test: np.ndarray
    later: np.ndarray
    groups: np.ndarray | None

    @classmethod
    def draw(cls, target: Target, groups: Any, time: np.ndarray | None, seed: int) -> "RowParts":
        """A quarter of the rows is held out: of each class, or whole groups; before that, the last fifth by time."""
        n_rows = len(target.y)
        now, later = np.arange(n_rows), np.empty(0, dtype=np.int64)
        if time is not None:
            order = np.argsort(time, kind="stable")
            edge = time[order[int((1 - LATER) * n_rows)]]
            later = np.flatnonzero(time >= edge)
            now = np.flatnonzero(time < edge)
            if len(now) < 15 or len(later) < 5:
                raise DataError("time has too few different values to part the rows into earlier and later ones.")
        generator = np.random.default_rng(seed)
        if groups is not None:
            test = _whole_groups(groups[now], generator)
        else:
            test = _of_each_class(target.y[now] if target.is_classes else np.zeros(len(now), dtype=int), generator)
        return cls(now[~test], now[test], later, groups)

    @property
    def n_folds(self) -> int:
        n_groups = len(np.unique(self.groups[self.train])) if self.groups is not None else len(self.train)
        return min(3 if len(self.train) > MANY_ROWS else 5, n_groups)

    def folds(self, target: Target, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Pairs of rows to train and to judge on, within the training rows."""
        train = self.train
        if self.groups is not None:
            parts = GroupKFold(self.n_folds).split(train, groups=self.groups[train])
        elif target.is_classes:
            y = _frequent(target.y[train], self.n_folds)
            parts = StratifiedKFold(self.n_folds, shuffle=True, random_state=seed).split(train, y)
        else:
            parts = KFold(self.n_folds, shuffle=True, random_state=seed).split(train)
        return [(train[fit], train[judge]) for fit, judge in parts]


def _of_each_class(codes: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """A quarter of each class, rounded at random, so that small classes are not all on one side."""
    chosen = np.zeros(len(codes), dtype=bool)
    for code in np.unique(codes):
        rows = generator.permutation(np.flatnonzero(codes == code))
        n_chosen = int(HELD_OUT * len(rows) + generator.random()) if len(rows) > 1 else 0
        chosen[rows[:n_chosen]] = True
    return chosen


def _whole_groups(groups: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Groups drawn until a quarter of the rows is held out; from a single one, nobody could tell how groups differ."""
    names, codes, counts = np.unique(groups, return_inverse=True, return_counts=True)
    if len(names) < 4:
        raise DataError(f"groups has {len(names)} different values: holding groups out needs at least 4.")
    order = generator.permutation(len(names))
    n_chosen = max(FEWEST_GROUPS, 1 + int(np.searchsorted(np.cumsum(counts[order]), HELD_OUT * len(groups))))
    return np.isin(codes, order[:n_chosen])


def _frequent(codes: np.ndarray, n_folds: int) -> np.ndarray:
    """Codes in which classes with fewer rows than folds are one, so that folds can be made alike."""
    counts = np.bincount(codes)
    common = np.where(counts[codes] >= n_folds, codes, len(counts))
    few = np.sum(common == len(counts))
    return np.where(common == len(counts), np.argmax(counts), common) if 0 < few < n_folds else common
