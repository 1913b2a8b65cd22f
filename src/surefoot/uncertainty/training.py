"""Train the members of an ensemble (or a single model) on one table."""

import time
from dataclasses import dataclass, replace

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._parallel import Cancellation, RowThreads, run_tasks, threads_for
from surefoot._progress import Progress
from surefoot._random import random_permutation, stream_key
from surefoot.data import Columns
from surefoot.trees.gradient_grower import GradientTreeGrower
from surefoot.trees.row_words import RowWords
from surefoot.uncertainty.encoding import Encoding
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.member import Member
from surefoot.uncertainty.rounds import Recipe, Rounds, TrainingRows

HOLD_OUT, STATISTICS = 1_000_003, 1_000_033  # labels of streams: which rows are held out, their order in statistics
MOST_TARGETS = 8  # of many classes, the most frequent
TRIAL = -1  # in place of a member's number
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
    guide: np.ndarray | None = None  # the honesty of every round, if held-out rows of another model have told it

    @property
    def n_own(self) -> int:
        return self.columns.n_rows

    def targets(self) -> np.ndarray:
        """What categories are told apart by, (targets, rows): the target, or for several classes whether it is each."""
        if self.family.n_outputs == 1 or self.family.natural:
            return self.y[np.newaxis].astype(np.float64)
        common = np.argsort(-np.bincount(self.y[: self.n_own]), kind="stable")[:MOST_TARGETS]
        return (self.y == common[:, np.newaxis]).astype(np.float64)


def train_members(task: Task, n_members: int) -> list[Member]:
    """Members with different seeds: different rows drawn, and different noise."""
    table = SharedTable.of(task)
    task = guided(task, table)

    def train(member: int, cancellation: Cancellation) -> Member:
        with RowThreads(1) as threads:
            rounds, encoding = start_rounds(task, table, member, threads)
            return finish_rounds(rounds, encoding, member, task, cancellation)

    return run_tasks(train, range(n_members), task.n_jobs)


def guided(task: Task, table: "SharedTable") -> Task:
    """The same task with no rows held out: a model on trial has told how many trees it takes, and the honesty.

    If each member held out rows of its own, members would differ by the rows that they know, most of all near the
    training rows, where they should agree.
    """
    if task.validation is not None or not len(part_rows(task, TRIAL)[1]):
        return task
    with RowThreads(threads_for(task.n_jobs, len(task.y) * task.columns.n_columns)) as threads:
        rounds, encoding = start_rounds(task, table, TRIAL, threads)
        trees = finish_rounds(rounds, encoding, TRIAL, task, Cancellation()).trees
    recipe = replace(task.recipe, n_estimators=trees.forest.n_trees, patience=None)
    return replace(task, hold_out=0.0, recipe=recipe, guide=np.array(rounds.honesties))


@dataclass
class SingleRun:
    """The training of a single model, which may be taken up again."""

    rounds: Rounds
    encoding: Encoding
    whole: bool = True  # not stopped in the middle of a round

    @classmethod
    def begin(cls, task: Task) -> "SingleRun":
        with RowThreads(1) as threads:
            return cls(*start_rounds(task, SharedTable.of(task), 0, threads))

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
        mine, now = self.rounds, task.recipe
        with RowThreads(1) as threads:
            other, encoding = start_rounds(replace(task, seed=mine.seed[0]), SharedTable.of(task), 0, threads)
        if not (
            encoding.reads_like(self.encoding)
            and np.array_equal(other.table.words, mine.table.words)
            and np.array_equal(other.table.n_codes, mine.table.n_codes)
            and np.array_equal(other.rows.y, mine.rows.y)
            and np.array_equal(other.weights, mine.weights)
            and np.array_equal(other.rows.train, mine.rows.train)
        ):
            raise DataError(
                "X, y or sample_weight is not that of the last fit: with warm_start=True, fit goes on with it."
            )
        if now.n_estimators < mine.n_done:
            raise ParameterError(
                f"n_estimators={now.n_estimators} is below the {mine.n_done} trees there are: with warm_start=True it "
                "can only grow."
            )
        if replace(now, n_estimators=mine.recipe.n_estimators) != mine.recipe or task.family != mine.family:
            raise ParameterError("With warm_start=True only n_estimators may change between calls of fit.")


@dataclass(frozen=True)
class SharedTable:
    """What all members read: codes of the plain columns, and the categories of those that have many.

    The rows are the training rows, then the validation rows that the user gave.
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

    def for_member(self, task: Task, member: int, train: np.ndarray) -> tuple[RowWords, Encoding]:
        """The table as one member reads it."""
        if self.words is not None or self.categories is None:
            assert self.words is not None
            return self.words, self.encoding
        weights = np.ones(len(task.y)) if task.weights is None else task.weights
        key = stream_key(task.seed, member, STATISTICS)
        encoding, more = self.encoding.with_statistics(self.categories, task.targets(), weights, train, key)
        return RowWords(np.concatenate([self.codes, more]), encoding.missing, encoding.is_categorical), encoding


def start_rounds(task: Task, table: SharedTable, member: int, threads: RowThreads) -> tuple[Rounds, Encoding]:
    """One member before its first tree."""
    train, held_out = part_rows(task, member)
    rows = TrainingRows(task.y, task.weights, train, held_out)
    weights = None if task.weights is None else task.weights[train]
    if isinstance(task.family, RegressionFamily):
        start = task.family.start(task.y[train], weights)
    else:
        start = task.family.start(task.y[train], weights, max(2, task.family.n_outputs))
    words, encoding = table.for_member(task, member, train)
    rules = replace(task.recipe.rules, constraints=encoding.constraints(task.recipe.rules.constraints))
    grower = GradientTreeGrower(words, task.family.n_outputs, rules, task.weights, threads)
    return Rounds(grower, task.family, rows, task.recipe, (task.seed, member), start, task.guide), encoding


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
