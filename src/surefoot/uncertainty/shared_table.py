"""The table as trees read it, shared by all members as far as they read the same."""

from dataclasses import dataclass, replace

import numpy as np

from surefoot._parallel import RowThreads, threads_for
from surefoot._random import random_permutation, stream_key
from surefoot.data.category_statistics import telling_pairs
from surefoot.trees.packed_codes import PackedCodes
from surefoot.uncertainty.encoding import Encoding
from surefoot.uncertainty.task import Task

# Labels of streams: the order of the rows in a member's statistics (further orders follow), and in the choice of pairs;
# the pairs of small columns that a member reads.
STATISTICS, PAIRS, DRAWN_PAIRS = 1_000_033, 1_000_039, 1_000_081


@dataclass(frozen=True)
class Reading:
    """How a model reads its statistics of categories."""

    bins: int
    orders: int  # of the rows, read in turn, tree by tree
    strength: float  # a category's mean is drawn to that of all rows as if so many more rows had been there
    drawn_pairs: int  # pairs of columns with few categories, drawn at random, that have statistics too


# A model that is alone gains by all that statistics tell. Members of an ensemble shall differ by what is unknown. Fine
# bins and a single order show them what chance made of the order, about which they would disagree near the training
# rows. Rare categories that are hardly drawn to the mean, and pairs that training has not seen together, tell them of
# rows that are like none of these.
ONE_MODEL, MEMBER = Reading(255, 1, 5.0, 0), Reading(15, 2, 2.0, 10)


@dataclass(frozen=True)
class SharedTable:
    """What all members read: codes of the plain columns (and of combinations, if any), and all categories.

    Categories are kept only if a column has many, and so needs statistics. The rows are the training rows, then the
    validation rows that the user gave.
    """

    encoding: Encoding
    codes: np.ndarray
    categories: np.ndarray | None
    words: PackedCodes | None  # None: each member has columns of its own besides
    pairs: tuple[tuple[int, int], ...] = ()  # that have statistics, as places among the categories

    @classmethod
    def of(cls, task: Task) -> "SharedTable":
        own = None if task.weights is None else task.weights[: task.n_own]
        with RowThreads(threads_for(task.n_jobs, len(task.y) * task.columns.n_columns)) as threads:
            encoding = Encoding.fit(task.columns, task.max_bins, own, threads)
            parts = [task.columns] if task.validation is None else [task.columns, task.validation]
            codes = np.concatenate([encoding.plain_codes(part, threads) for part in parts], axis=1)
        if encoding.many:
            return cls(encoding, codes, np.concatenate([encoding.category_codes(part) for part in parts], axis=1), None)
        return cls(encoding, codes, None, PackedCodes(codes, encoding.missing, encoding.is_categorical))

    def with_pairs(self, task: Task, train: np.ndarray) -> "SharedTable":
        """The table with those pairs of large columns that tell enough of the rows ``train``, for all members alike."""
        if self.categories is None:
            return self
        large, key = self.categories[: len(self.encoding.many)], stream_key(task.seed, PAIRS)
        return replace(self, pairs=tuple(telling_pairs(large, task.targets(), _weights(task), train, key)))

    def _pairs_of(self, task: Task, member: int, reading: Reading) -> list[tuple[int, int]]:
        """Those of all members, and a member's own."""
        first, n_few = len(self.encoding.many), len(self.encoding.few)
        if n_few < 2:
            return list(self.pairs)
        keys = (stream_key(task.seed, member, DRAWN_PAIRS + k) for k in range(reading.drawn_pairs))
        drawn = {tuple(sorted(first + random_permutation(key, n_few)[:2].astype(int))) for key in keys}
        return [*self.pairs, *sorted((int(a), int(b)) for a, b in drawn)]

    def for_member(self, task: Task, member: int, train: np.ndarray) -> tuple[tuple[PackedCodes, ...], Encoding]:
        """The table as one member reads it, as often as it has orders of the rows for statistics."""
        if self.words is not None or self.categories is None:
            assert self.words is not None
            return (self.words,), self.encoding
        reading = reading_of(task)
        keys = [stream_key(task.seed, member, STATISTICS + k) for k in range(reading.orders)]
        encoding, all_codes = self.encoding.with_statistics(
            self.categories, self._pairs_of(task, member, reading), task.targets(), _weights(task), train, keys,
            reading.bins, reading.strength,
        )  # fmt: skip
        return tuple(
            PackedCodes(np.concatenate([self.codes, codes]), encoding.missing, encoding.is_categorical)
            for codes in all_codes
        ), encoding


def reading_of(task: Task) -> Reading:
    """That of a model alone, or of one of several that shall differ."""
    return MEMBER if task.recipe.differs_by_seed else ONE_MODEL


def _weights(task: Task) -> np.ndarray:
    return np.ones(len(task.y)) if task.weights is None else task.weights
