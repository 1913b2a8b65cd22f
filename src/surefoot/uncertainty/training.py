"""Train the members of an ensemble (or a single model) on one table."""

import time
from dataclasses import dataclass, replace

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._parallel import Cancellation, RowThreads, run_tasks, threads_for
from surefoot._random import random_permutation, stream_key
from surefoot.trees.gradient_grower import GradientTreeGrower
from surefoot.uncertainty.encoding import Encoding
from surefoot.uncertainty.first_models import with_combinations
from surefoot.uncertainty.member import Member
from surefoot.uncertainty.rounds import Rounds
from surefoot.uncertainty.shared_table import SharedTable
from surefoot.uncertainty.task import Task
from surefoot.uncertainty.training_rows import TrainingRows

HOLD_OUT = 1_000_003  # label of a stream: which rows are held out
TRIAL = -1  # in place of a member's number; further trials count down from FURTHER_TRIALS
FURTHER_TRIALS = -1001
ENOUGH_HELD_OUT, MOST_TRIALS = 500, 10  # fewer held-out rows cannot tell when to stop: other trials hold out others
FEWEST_TO_PART = 10  # smaller tables are trained on whole: one row would decide when to stop
SLICE_SECONDS = 0.1  # between two looks at Ctrl-C and progress


def train_members(task: Task, n_members: int) -> list[Member]:
    """Members with different seeds: different rows drawn, and different noise."""
    table = SharedTable.of(task)
    task = guided(task, table)
    table = with_combinations(task, table, part_rows(task, 0)[0])  # all members train on the same rows

    def train(member: int, cancellation: Cancellation) -> Member:
        with RowThreads(1) as threads:
            rounds, encoding = start_rounds(task, table, member, threads)
            return finish_rounds(rounds, encoding, member, task, cancellation)

    return run_tasks(train, range(n_members), task.n_jobs)


def guided(task: Task, table: SharedTable) -> Task:
    """The same task with no rows held out: a model on trial has told how many trees it takes, and the honesty.

    If each member held out rows of its own, members would differ by the rows that they know, most of all near the
    training rows, where they should agree.
    """
    train, held_out = part_rows(task, TRIAL)
    if task.validation is not None or not len(held_out):
        return task
    n_trials = min(-(-ENOUGH_HELD_OUT // len(held_out)), MOST_TRIALS)
    with RowThreads(threads_for(task.n_jobs, len(task.y) * task.columns.n_columns)) as threads:
        if n_trials > 1 and not task.family.has_scale:
            return _known_to_take(task, _trees_of_trials(task, table, n_trials, threads))
        rounds, encoding = start_rounds(task, with_combinations(task, table, train), TRIAL, threads)
        trees = finish_rounds(rounds, encoding, TRIAL, task, Cancellation()).trees
    return replace(_known_to_take(task, trees.forest.n_trees), guide=np.array(rounds.honesties))


def _known_to_take(task: Task, n_trees: int) -> Task:
    return replace(task, hold_out=0.0, recipe=replace(task.recipe, n_estimators=n_trees, patience=None))


def _trees_of_trials(task: Task, table: SharedTable, n_trials: int, threads: RowThreads) -> int:
    """The number of trees at which several models, each with other rows held out, are best on average."""
    trials = []
    for member in [TRIAL, *range(FURTHER_TRIALS, FURTHER_TRIALS - n_trials + 1, -1)]:
        table_of_trial = with_combinations(task, table, part_rows(task, member)[0])
        trials.append(start_rounds(task, table_of_trial, member, threads)[0])
    watch, best, least = task.progress.watch(TRIAL, task.recipe.n_estimators, Cancellation()), 0, 0.0
    for done in range(1, task.recipe.n_estimators + 1):
        for rounds in trials:
            rounds.step()
        mean = float(np.mean([rounds.history[-1] for rounds in trials]))
        watch(done, mean)
        if best == 0 or mean < least:
            best, least = done, mean
        if done - best >= (task.recipe.patience or 0):
            break
    watch.finish(best, least)
    return best


@dataclass
class SingleRun:
    """The training of a single model, which may be taken up again."""

    rounds: Rounds
    encoding: Encoding
    whole: bool = True  # not stopped in the middle of a round

    @classmethod
    def begin(cls, task: Task) -> "SingleRun":
        table = with_combinations(task, SharedTable.of(task), part_rows(task, 0)[0])
        with RowThreads(1) as threads:
            return cls(*start_rounds(task, table, 0, threads))

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
        begun = SingleRun.begin(replace(task, seed=mine.seed[0]))
        other = begun.rounds
        if not (
            begun.encoding.reads_like(self.encoding)
            and np.array_equal(other.tables[0].words, mine.tables[0].words)
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


def start_rounds(task: Task, table: SharedTable, member: int, threads: RowThreads) -> tuple[Rounds, Encoding]:
    """One member before its first tree."""
    train, held_out = part_rows(task, member)
    rows = TrainingRows(task.y, task.weights, train, held_out)
    tables, encoding = table.for_member(task, member, train)
    rules = replace(task.recipe.rules, constraints=encoding.constraints(task.recipe.rules.constraints))
    grower = GradientTreeGrower(tables[0], task.family.n_outputs, rules, task.weights, threads)
    seed, start = (task.seed, member), task.start(train)
    return Rounds(grower, task.family, rows, task.recipe, seed, start, task.guide, tables), encoding


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
