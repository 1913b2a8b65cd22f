"""Train the members of an ensemble (or a single model) on one table."""

import time
from dataclasses import dataclass, replace

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._parallel import Cancellation, RowThreads, count_jobs, run_tasks, threads_for
from surefoot._random import random_permutation, stream_key
from surefoot.trees.gradient_grower import GradientTreeGrower
from surefoot.uncertainty.encoding import Encoding
from surefoot.uncertainty.families import RegressionFamily
from surefoot.uncertainty.first_models import with_combinations
from surefoot.uncertainty.member import Member
from surefoot.uncertainty.rounds import Rounds
from surefoot.uncertainty.shared_table import SharedTable
from surefoot.uncertainty.task import Task
from surefoot.uncertainty.training_rows import TrainingRows
from surefoot.uncertainty.watched_rounds import WatchedRounds

HOLD_OUT = 1_000_003  # label of a stream: the order in which rows are held out
TRIAL = -1  # in place of a member's number
FIRST_TRIAL, FIRST_TWIN, NEXT_KIND = -1001, -2001, 1000  # trials count down from here, and so do their twins
ENOUGH_HELD_OUT, MAX_TRIALS = 400, 5  # fewer held-out rows cannot tell when to stop: other trials hold out others
FEWEST_TO_PART = 10  # smaller tables are trained on whole: one row would decide when to stop
SLICE_SECONDS = 0.1  # between two looks at Ctrl-C and progress


def train_members(task: Task, n_members: int) -> list[Member]:
    """Members with different seeds: different rows drawn, and different noise."""
    table = SharedTable.of(task)
    task = guided(task, table, n_members)
    table = with_combinations(task, table, part_rows(task, 0)[0])  # all members train on the same rows
    n_threads = threads_for(task.n_jobs, len(task.y) * task.columns.n_columns) if n_members == 1 else 1

    def train(member: int, cancellation: Cancellation) -> Member:
        with RowThreads(n_threads) as threads:
            rounds, encoding = start_rounds(task, table, member, threads)
            watched = WatchedRounds([rounds], task.recipe)
            finish_rounds(watched, member, task, cancellation)
            trees, line = watched.result(), task.guide.recalibration if task.guide else watched.recalibration()
            trees = replace(trees, held_out_nll=np.array(task.history)) if task.history else trees
            return Member(encoding, trees, line.dispersion)

    return run_tasks(train, range(n_members), task.n_jobs)


def guided(task: Task, table: SharedTable, n_members: int) -> Task:
    """The same task with no rows held out: models on trial have told how many trees it takes, and about the scale.

    If each member held out rows of its own, members would differ by the rows that they know, most of all near the
    training rows, where they should agree.
    """
    held_out = part_rows(task, FIRST_TRIAL)[1]
    if task.validation is not None or not len(held_out):
        return task
    n_trials = min(-(-ENOUGH_HELD_OUT // len(held_out)), MAX_TRIALS, int(1.0 / task.hold_out))
    n_twins = n_trials if n_members > 1 and isinstance(task.family, RegressionFamily) else 0
    n_threads = threads_for(task.n_jobs, len(task.y) * task.columns.n_columns)
    n_side_by_side = min(count_jobs(task.n_jobs), n_trials + n_twins) if n_threads == 1 else 1
    with RowThreads(n_threads) as threads, RowThreads(n_side_by_side) as side_by_side:
        tables = [with_combinations(task, table, part_rows(task, FIRST_TRIAL - k)[0]) for k in range(n_trials)]
        numbers = [FIRST_TRIAL - k for k in range(n_trials)] + [FIRST_TWIN - k for k in range(n_twins)]
        trials = [start_rounds(task, tables[k % n_trials], n, threads)[0] for k, n in enumerate(numbers)]
        watched = WatchedRounds(trials, task.recipe, n_twins, side_by_side)
        finish_rounds(watched, TRIAL, task, Cancellation())
    recipe = replace(task.recipe, n_estimators=watched.n_trees, patience=None)
    history = tuple(watched.stopping.nll) if task.recipe.patience is not None else ()
    return replace(task, hold_out=0.0, recipe=recipe, guide=watched.guide(), history=history)


@dataclass
class SingleRun:
    """The training of a single model, which may be taken up again."""

    watched: WatchedRounds
    encoding: Encoding
    whole: bool = True  # not stopped in the middle of a round

    @classmethod
    def begin(cls, task: Task) -> "SingleRun":
        table = with_combinations(task, SharedTable.of(task), part_rows(task, 0)[0])
        with RowThreads(1) as threads:
            rounds, encoding = start_rounds(task, table, 0, threads)
            return cls(WatchedRounds([rounds], task.recipe), encoding)

    def run(self, task: Task) -> Member:
        """Rounds up to the recipe's number of trees."""
        rounds = self.watched.models[0]
        with RowThreads(threads_for(task.n_jobs, len(task.y) * task.columns.n_columns)) as threads:
            self.whole = False
            rounds.go_on(task.recipe, threads)
            finish_rounds(self.watched, 0, task, Cancellation())
            rounds.grower.threads = RowThreads(1)  # a pool of threads cannot be pickled
            self.whole = True
            return Member(self.encoding, self.watched.result(), self.watched.recalibration().dispersion)

    def check_same(self, task: Task) -> None:
        """Refuse to go on with another table or other settings."""
        mine, now = self.watched.models[0], task.recipe
        begun = SingleRun.begin(replace(task, seed=mine.seed[0]))
        other = begun.watched.models[0]
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


def finish_rounds(watched: WatchedRounds, member: int, task: Task, cancellation: Cancellation) -> None:
    """Train a member, or models on trial, to the end."""
    watch = task.progress.watch(member, task.recipe.n_estimators, cancellation)
    while watched.n_done < task.recipe.n_estimators and not watched.is_at_end:
        until = time.monotonic() + SLICE_SECONDS
        watched.step()
        while watched.n_done < task.recipe.n_estimators and not watched.is_at_end and time.monotonic() < until:
            watched.step()
        watch(watched.n_done, watched.last_loss)
    watch.finish(watched.n_trees, watched.last_loss)


def part_rows(task: Task, member: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows to hold out; rows without weight are neither."""
    own = np.arange(task.n_own)
    given = np.arange(task.n_own, len(task.y))
    if task.weights is not None:
        own, given = own[task.weights[own] > 0], given[task.weights[given] > 0]
    held_out = given
    if task.validation is None and task.hold_out > 0 and len(own) >= FEWEST_TO_PART:
        trial = (FIRST_TRIAL - member) % NEXT_KIND if member <= FIRST_TRIAL else 0
        shuffled = own[random_permutation(stream_key(task.seed, TRIAL, HOLD_OUT), len(own))]
        chosen = _held_out_in(shuffled, task.strata, task.hold_out, trial)
        held_out, own = np.sort(shuffled[chosen]), np.sort(shuffled[~chosen])
    return own.astype(np.uint32), held_out.astype(np.uint32)


def _held_out_in(shuffled: np.ndarray, strata: np.ndarray | None, fraction: float, trial: int) -> np.ndarray:
    """Which of the shuffled rows a trial holds out: the same fraction of every class, and never a whole class.

    Every trial holds out other rows, as far as there are enough.
    """
    chosen = np.zeros(len(shuffled), dtype=np.bool_)
    labels = np.zeros(len(shuffled), dtype=np.int64) if strata is None else strata[shuffled]
    order = np.argsort(labels, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        n_held_out = min(int(fraction * len(group) + 0.5), len(group) - 1)
        chosen[group[(trial * n_held_out + np.arange(n_held_out)) % len(group)]] = True
    if not chosen.any():
        chosen[order[-1]] = np.bincount(labels)[labels[order[-1]]] > 1
    return chosen
