"""Train the members of an ensemble (or a single model) on one table."""

import time
from dataclasses import dataclass, replace

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._parallel import Cancellation, RowThreads, count_jobs, run_tasks, threads_for
from surefoot._random import stream_key
from surefoot.data.held_out import split_held_out
from surefoot.trees.gradient_grower import GradientTreeGrower
from surefoot.uncertainty.boosting_loop import BoostingLoop
from surefoot.uncertainty.combination_search import with_combinations
from surefoot.uncertainty.early_stopping import MonitoredTraining
from surefoot.uncertainty.families import RegressionFamily
from surefoot.uncertainty.fit_spec import FitSpec, TrainingRows
from surefoot.uncertainty.member import Member
from surefoot.uncertainty.training_table import Encoding, SharedTable

HOLD_OUT = 1_000_003  # label of a stream: the order in which rows are held out
TRIAL = -1  # in place of a member's number
FIRST_TRIAL, FIRST_TWIN, NEXT_KIND = -1001, -2001, 1000  # trials count down from here, and so do their twins
MIN_HELD_OUT, MAX_TRIALS = 400, 5  # fewer held-out rows cannot tell when to stop: other trials hold out others
SLICE_SECONDS = 0.1  # between two looks at Ctrl-C and progress


def train_members(spec: FitSpec, n_members: int) -> list[Member]:
    """Members with different seeds: different rows drawn, and different noise."""
    table = SharedTable.of(spec)
    spec = with_trial_results(spec, table, n_members)
    table = with_combinations(spec, table, split_rows(spec, 0)[0])  # all members train on the same rows
    n_threads = threads_for(spec.n_jobs, len(spec.y) * spec.columns.n_columns) if n_members == 1 else 1

    def train(member: int, cancellation: Cancellation) -> Member:
        with RowThreads(n_threads) as threads:
            loop, encoding = start_loop(spec, table, member, threads)
            monitored = MonitoredTraining([loop], spec.config)
            run_loop(monitored, member, spec, cancellation)
            trees, line = (
                monitored.result(),
                spec.inflation_schedule.recalibration if spec.inflation_schedule else monitored.recalibration(),
            )
            trees = replace(trees, held_out_nll=np.array(spec.history)) if spec.history else trees
            return Member(encoding, trees, line.dispersion)

    return run_tasks(train, range(n_members), spec.n_jobs)


def with_trial_results(spec: FitSpec, table: SharedTable, n_members: int) -> FitSpec:
    """The same spec with no rows held out: trial models have found the number of trees and the scale.

    If each member held out rows of its own, members would differ by the rows that they know, most of all near the
    training rows, where they should agree.
    """
    held_out = split_rows(spec, FIRST_TRIAL)[1]
    if spec.validation is not None or not len(held_out):
        return spec
    n_trials = min(-(-MIN_HELD_OUT // len(held_out)), MAX_TRIALS, int(1.0 / spec.hold_out))
    n_twins = n_trials if n_members > 1 and isinstance(spec.family, RegressionFamily) else 0
    n_threads = threads_for(spec.n_jobs, len(spec.y) * spec.columns.n_columns)
    n_side_by_side = min(count_jobs(spec.n_jobs), n_trials + n_twins) if n_threads == 1 else 1
    with RowThreads(n_threads) as threads, RowThreads(n_side_by_side) as side_by_side:
        tables = [with_combinations(spec, table, split_rows(spec, FIRST_TRIAL - k)[0]) for k in range(n_trials)]
        numbers = [FIRST_TRIAL - k for k in range(n_trials)] + [FIRST_TWIN - k for k in range(n_twins)]
        trials = [start_loop(spec, tables[k % n_trials], n, threads)[0] for k, n in enumerate(numbers)]
        monitored = MonitoredTraining(trials, spec.config, n_twins, side_by_side)
        run_loop(monitored, TRIAL, spec, Cancellation())
    config = replace(spec.config, n_estimators=monitored.n_trees, patience=None)
    history = tuple(monitored.stopping.nll) if spec.config.patience is not None else ()
    return replace(
        spec, hold_out=0.0, config=config, inflation_schedule=monitored.inflation_schedule(), history=history
    )


@dataclass
class SingleRun:
    """The training of a single model, which may be taken up again."""

    monitored: MonitoredTraining
    encoding: Encoding
    whole: bool = True  # not stopped in the middle of a round

    @classmethod
    def begin(cls, spec: FitSpec, table: SharedTable, member: int) -> "SingleRun":
        """One member before its first tree."""
        with RowThreads(1) as threads:
            loop, encoding = start_loop(spec, table, member, threads)
            return cls(MonitoredTraining([loop], spec.config), encoding)

    def run(self, spec: FitSpec, member: int, n_threads: int, cancellation: Cancellation) -> Member:
        """Train up to the number of trees in the configuration."""
        loop = self.monitored.models[0]
        with RowThreads(n_threads) as threads:
            self.whole = False
            loop.resume(spec.config, threads)
            run_loop(self.monitored, member, spec, cancellation)
            loop.grower.threads = RowThreads(1)  # a pool of threads cannot be pickled
            self.whole = True
            return Member(self.encoding, self.monitored.result(), self.monitored.recalibration().dispersion)

    def check_trees(self, spec: FitSpec) -> None:
        """Refuse fewer trees than there are."""
        n_done, wanted = self.monitored.n_done, spec.config.n_estimators
        if wanted < n_done:
            raise ParameterError(
                f"n_estimators={wanted} is below the {n_done} trees there are: with warm_start=True it can only grow."
            )

    def check_same(self, spec: FitSpec) -> None:
        """Refuse to go on with another table or other settings."""
        mine, now = self.monitored.models[0], spec.config
        begun = begin_runs(replace(spec, seed=mine.seed[0]), 1)[0]
        other = begun.monitored.models[0]
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
        if replace(now, n_estimators=mine.config.n_estimators) != mine.config or spec.family != mine.family:
            raise ParameterError("With warm_start=True only n_estimators may change between calls of fit.")


def begin_runs(spec: FitSpec, n_members: int) -> list[SingleRun]:
    """Members before their first tree. There are no trial models: all members hold out the same rows to the end."""
    table = with_combinations(spec, SharedTable.of(spec), split_rows(spec, 0)[0])
    return [SingleRun.begin(spec, table, member) for member in range(n_members)]


def resume_runs(runs: list[SingleRun], spec: FitSpec) -> list[Member]:
    """Train members up to the number of trees in the configuration, from the trees that they have."""
    n_threads = threads_for(spec.n_jobs, len(spec.y) * spec.columns.n_columns) if len(runs) == 1 else 1

    def resume(member: int, cancellation: Cancellation) -> Member:
        return runs[member].run(spec, member, n_threads, cancellation)

    return run_tasks(resume, range(len(runs)), spec.n_jobs)


def check_runs(runs: list[SingleRun], spec: FitSpec, n_members: int) -> None:
    """Refuse to resume with another table, other settings or another number of members."""
    if len(runs) != n_members:
        raise ParameterError(
            f"n_members={n_members}, but the last fit trained {len(runs)}: with warm_start=True only n_estimators may "
            "change between calls of fit."
        )
    for run in runs:
        run.check_trees(spec)
    runs[0].check_same(spec)


def start_loop(spec: FitSpec, table: SharedTable, member: int, threads: RowThreads) -> tuple[BoostingLoop, Encoding]:
    """One member before its first tree."""
    train, held_out = split_rows(spec, member)
    rows = TrainingRows(spec.y, spec.weights, train, held_out)
    tables, encoding = table.for_member(spec, member, train)
    rules = replace(spec.config.rules, constraints=encoding.constraints(spec.config.rules.constraints))
    grower = GradientTreeGrower(tables[0], spec.family.n_outputs, rules, spec.weights, threads)
    seed, start = (spec.seed, member), spec.start(train)
    return BoostingLoop(grower, spec.family, rows, spec.config, seed, start, spec.inflation_schedule, tables), encoding


def run_loop(monitored: MonitoredTraining, member: int, spec: FitSpec, cancellation: Cancellation) -> None:
    """Train a member, or models on trial, to the end."""
    progress = spec.progress.of_member(member, spec.config.n_estimators, cancellation)
    while monitored.n_done < spec.config.n_estimators and not monitored.is_at_end:
        until = time.monotonic() + SLICE_SECONDS
        monitored.step()
        while monitored.n_done < spec.config.n_estimators and not monitored.is_at_end and time.monotonic() < until:
            monitored.step()
        progress(monitored.n_done, monitored.last_loss)
    progress.finish(monitored.n_trees, monitored.last_loss)


def split_rows(spec: FitSpec, member: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows to hold out; rows without weight are neither."""
    own = np.arange(spec.n_training_rows)
    given = np.arange(spec.n_training_rows, len(spec.y))
    if spec.weights is not None:
        own, given = own[spec.weights[own] > 0], given[spec.weights[given] > 0]
    if spec.validation is None:
        part = (FIRST_TRIAL - member) % NEXT_KIND if member <= FIRST_TRIAL else 0
        key = stream_key(spec.seed, TRIAL, HOLD_OUT)
        own, given = split_held_out(own, key, spec.hold_out, strata=spec.strata, part=part)
    return own.astype(np.uint32), given.astype(np.uint32)
