"""The table as trees read it, shared by all members as far as they read the same."""

from dataclasses import dataclass

import numpy as np

from surefoot._parallel import RowThreads, threads_for
from surefoot._random import stream_key
from surefoot.trees.row_words import RowWords
from surefoot.uncertainty.encoding import MEMBER_BINS, ONE_MODEL_BINS, Encoding
from surefoot.uncertainty.task import Task

STATISTICS = 1_000_033  # label of a stream: the order of the rows in a member's statistics; further orders follow
MEMBER_ORDERS = 2  # in turn, tree by tree: what chance made of one order, members of an ensemble would disagree about


@dataclass(frozen=True)
class SharedTable:
    """What all members read: codes of the plain columns (and of combinations, if any), and all categories.

    Categories are kept only if a column has many, and so needs statistics. The rows are the training rows, then the
    validation rows that the user gave.
    """

    encoding: Encoding
    codes: np.ndarray
    categories: np.ndarray | None
    words: RowWords | None  # None: each member has columns of its own besides

    @classmethod
    def of(cls, task: Task) -> "SharedTable":
        own = None if task.weights is None else task.weights[: task.n_own]
        with RowThreads(threads_for(task.n_jobs, len(task.y) * task.columns.n_columns)) as threads:
            encoding = Encoding.fit(task.columns, task.max_bins, own, threads)
            parts = [task.columns] if task.validation is None else [task.columns, task.validation]
            codes = np.concatenate([encoding.plain_codes(part, threads) for part in parts], axis=1)
        if encoding.many:
            return cls(encoding, codes, np.concatenate([encoding.category_codes(part) for part in parts], axis=1), None)
        return cls(encoding, codes, None, RowWords(codes, encoding.missing, encoding.is_categorical))

    def for_member(self, task: Task, member: int, train: np.ndarray) -> tuple[tuple[RowWords, ...], Encoding]:
        """The table as one member reads it, as often as it has orders of the rows for statistics."""
        if self.words is not None or self.categories is None:
            assert self.words is not None
            return (self.words,), self.encoding
        weights = np.ones(len(task.y)) if task.weights is None else task.weights
        n_orders = MEMBER_ORDERS if task.recipe.differs_by_seed else 1
        keys = [stream_key(task.seed, member, STATISTICS + k) for k in range(n_orders)]
        encoding, all_codes = self.encoding.with_statistics(
            self.categories, task.targets(), weights, train, keys, statistics_bins(task)
        )
        return tuple(
            RowWords(np.concatenate([self.codes, codes]), encoding.missing, encoding.is_categorical)
            for codes in all_codes
        ), encoding


def statistics_bins(task: Task) -> int:
    """Bins for statistics of categories: fewer where models shall differ by what is unknown, not by chance."""
    return MEMBER_BINS if task.recipe.differs_by_seed else ONE_MODEL_BINS
