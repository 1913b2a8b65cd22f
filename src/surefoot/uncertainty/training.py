"""Train the members of an ensemble (or a single model) on one table."""

import time
from dataclasses import dataclass, replace

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._parallel import Cancellation, RowThreads, run_tasks, threads_for
from surefoot._progress import Progress
from surefoot._random import random_permutation, stream_key
from surefoot.data import Columns
from surefoot.trees.row_words import RowWords
from surefoot.uncertainty.encoding import Encoding
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.member import Member
from surefoot.uncertainty.rounds import Recipe, Rounds, TrainingRows

HOLD_OUT = 1_000_003  # label of the stream that decides which rows are held out
FEWEST_TO_PART = 10  # smaller tables are trained on whole: one row would decide when to stop
SLICE_SECONDS = 0.1  # between two looks at Ctrl-C and progress


@dataclass(frozen=True)
class Task:
    """A table with its target and everything that all members share.

    Rows from ``n_own`` on are the validation rows that the user gave.
    """

    columns: Columns
    validation: Columns | None
    y: np.ndarray
    weights: np.ndarray | None
    family: RegressionFamily | ClassificationFamily
    strata: np.ndarray | None  # classes, each of which is held out in proportion
    recipe: Recipe
    max_bins: int
    hold_out: float  # share of the rows, 0 for none
    seed: int
    n_jobs: int | None
    progress: Progress

    @property
    def n_own(self) -> int:
        return self.columns.n_rows


def train_members(task: Task, n_members: int) -> list[Member]:
    """Members with different seeds: different rows held out, drawn, and different noise."""
    encoding, words = prepare(task)

    def train(member: int, cancellation: Cancellation) -> Member:
        with RowThreads(1) as threads:
            rounds = start_rounds(task, words, member, threads)
            return finish_rounds(rounds, encoding, member, task, cancellation)

    return run_tasks(train, range(n_members), task.n_jobs)


@dataclass
class SingleRun:
    """The training of a single model, which may be taken up again."""

    rounds: Rounds
    encoding: Encoding
    whole: bool = True  # not stopped in the middle of a round

    @classmethod
    def begin(cls, task: Task) -> "SingleRun":
        encoding, words = prepare(task)
        with RowThreads(1) as threads:
            return cls(start_rounds(task, words, 0, threads), encoding)

    def run(self, task: Task) -> Member:
        """Rounds up to the recipe's number of trees."""
        with RowThreads(threads_for(task.n_jobs, len(task.y) * task.columns.n_columns)) as threads:
            self.whole = False
            self.rounds.go_on(task.recipe, threads)
            member = finish_rounds(self.rounds, self.encoding, 0, task, Cancellation())
            self.rounds.grower.threads = RowThreads(1)  # a pool of threads cannot be pickled
            self.whole = True
            return member

    def check_same(self, task: Task) -> None:
        """Refuse to go on with another table or other settings."""
        rounds, now = self.rounds, task.recipe
        _, words = prepare(task)
        if not (
            np.array_equal(words.words, rounds.table.words)
            and np.array_equal(words.n_codes, rounds.table.n_codes)
            and np.array_equal(task.y, rounds.rows.y)
            and np.array_equal(_ones_if_none(task.weights, len(task.y)), rounds.weights)
        ):
            raise DataError(
                "X, y or sample_weight is not that of the last fit: with warm_start=True it goes on with them."
            )
        if now.n_estimators < rounds.n_done:
            raise ParameterError(
                f"n_estimators={now.n_estimators} is below the {rounds.n_done} trees there are: with "
                "warm_start=True it can only grow."
            )
        if replace(now, n_estimators=rounds.recipe.n_estimators) != rounds.recipe or task.family != rounds.family:
            raise ParameterError("With warm_start=True only n_estimators may change between calls of fit.")


def _ones_if_none(weights: np.ndarray | None, n_rows: int) -> np.ndarray:
    return np.ones(n_rows) if weights is None else weights


def prepare(task: Task) -> tuple[Encoding, RowWords]:
    """Bins, and the table in them."""
    own = None if task.weights is None else task.weights[: task.n_own]
    with RowThreads(threads_for(task.n_jobs, len(task.y) * task.columns.n_columns)) as threads:
        encoding = Encoding.fit(task.columns, task.max_bins, own, threads)
        return encoding, _pack(encoding, task, threads)


def start_rounds(task: Task, words: RowWords, member: int, threads: RowThreads) -> Rounds:
    """One member before its first tree."""
    train, held_out = part_rows(task, member)
    rows = TrainingRows(task.y, task.weights, train, held_out)
    weights = None if task.weights is None else task.weights[train]
    if isinstance(task.family, RegressionFamily):
        start = task.family.start(task.y[train], weights)
    else:
        start = task.family.start(task.y[train], weights, max(2, task.family.n_outputs))
    return Rounds(words, task.family, rows, task.recipe, (task.seed, member), threads, start)


def finish_rounds(rounds: Rounds, encoding: Encoding, member: int, task: Task, cancellation: Cancellation) -> Member:
    """Train a member to its end."""
    watch = task.progress.watch(member, task.recipe.n_estimators, cancellation)
    more = rounds.n_done < task.recipe.n_estimators
    while more:
        until = time.monotonic() + SLICE_SECONDS
        while more and time.monotonic() < until:
            more = rounds.run(rounds.n_done + 1)
        watch(rounds.n_done, rounds.history[-1] if rounds.history else float("nan"))
    trees = rounds.result()
    watch.finish(trees.forest.n_trees, rounds.history[rounds.best - 1] if rounds.history else float("nan"))
    return Member(encoding, trees)


def part_rows(task: Task, member: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows to hold out; rows without weight are neither."""
    own = np.arange(task.n_own)
    given = np.arange(task.n_own, len(task.y))
    if task.weights is not None:
        own, given = own[task.weights[own] > 0], given[task.weights[given] > 0]
    held_out = given
    if task.validation is None and task.hold_out > 0 and len(own) >= FEWEST_TO_PART:
        shuffled = own[random_permutation(stream_key(task.seed, member, HOLD_OUT), len(own))]
        chosen = _one_in(shuffled, task.strata, task.hold_out)
        held_out, own = np.sort(shuffled[chosen]), np.sort(shuffled[~chosen])
    return own.astype(np.uint32), held_out.astype(np.uint32)


def _one_in(shuffled: np.ndarray, strata: np.ndarray | None, share: float) -> np.ndarray:
    """Which of the shuffled rows are held out: the same share of every class, and never a whole class."""
    chosen = np.zeros(len(shuffled), dtype=np.bool_)
    labels = np.zeros(len(shuffled), dtype=np.int64) if strata is None else strata[shuffled]
    order = np.argsort(labels, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        chosen[group[: int(share * len(group) + 0.5) if len(group) > 1 else 0]] = True
    if not chosen.any():
        chosen[order[-1]] = np.bincount(labels)[labels[order[-1]]] > 1
    return chosen


def _pack(encoding: Encoding, task: Task, threads: RowThreads) -> RowWords:
    """Codes of the training rows, then those of the validation rows."""
    codes = encoding.binner.codes(task.columns, threads)
    if task.validation is not None:
        codes = np.concatenate([codes, encoding.binner.codes(task.validation, threads)], axis=1)
    return RowWords(codes, encoding.binner.missing, encoding.is_categorical)
