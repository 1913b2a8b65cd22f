"""The models that one call of ``fit`` trains: first models, trial models, and the members.

*First models* are short. What they leave of the target decides which combinations of categorical columns get
statistics. Trees combine columns of few categories themselves, and pairs of columns with many categories have
statistics anyway; a column with many and others with few (a place and a date, say) may be informative only together.

*Trial models* hold rows out. These rows choose the number of trees and the scale.

*Members* are trained on all rows, each with its own seed: other rows drawn, and other noise.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from surefoot._parallel import Cancellation, RowThreads, count_jobs, run_tasks
from surefoot._random import random_permutation, stream_key
from surefoot.data.held_out import count_trials, split_held_out
from surefoot.uncertainty.boosting_loop import BoostingLoop
from surefoot.uncertainty.early_stopping import MonitoredTraining
from surefoot.uncertainty.families import RegressionFamily
from surefoot.uncertainty.fit_log import log_of_fit
from surefoot.uncertainty.fit_spec import FitSpec, InflationSchedule
from surefoot.uncertainty.member import Member
from surefoot.uncertainty.round_reporter import round_reporter
from surefoot.uncertainty.sharded_table import TableInShards, shared_table
from surefoot.uncertainty.snapshot import log_of_snapshot
from surefoot.uncertainty.training_table import Encoding, SharedTable, statistics_config

# Labels of streams of random numbers: the order in which rows are held out; the order of the rows in first models.
HOLD_OUT, COMBINATIONS = 1_000_003, 1_000_037
TRIAL, FIRST_MODEL = -1, -2  # in place of the number of a member
FIRST_TRIAL, FIRST_TWIN, NEXT_KIND = -1001, -2001, 1000  # numbers of trials and of their twins count down from these
SLICE_SECONDS = 0.1  # between two checks for Ctrl-C and reports of progress
MIN_ROWS = 2000  # in smaller tables, combinations of categories cannot be distinguished from chance
FIRST_PART, FIRST_TREES, FIRST_RATE = 8, 100, 0.1  # one of FIRST_PART rows trains the first model of all


@contextmanager
def open_table(spec: FitSpec, n_members: int) -> Iterator[SharedTable]:
    """What all members share of the table; trees on a table in a folder that is kept are recorded there."""
    if not isinstance(spec.columns, TableInShards):
        with log_of_snapshot(spec) as log:
            table = SharedTable.of(spec)
            yield table if log is None else replace(table, log=log)
        return
    with log_of_fit(spec, n_members) as log:
        yield shared_table(spec, log)


def train_members(spec: FitSpec, n_members: int) -> list[Member]:
    """Choose the number of trees and the scale with trial models, then train the members on all rows."""
    with open_table(spec, n_members) as table:
        return _train_members(spec, n_members, table)


def _train_members(spec: FitSpec, n_members: int, table: SharedTable) -> list[Member]:
    spec = with_trial_results(spec, table, n_members)
    table = with_combinations(spec, table, split_rows(spec, 0)[0])  # all members train on the same rows
    n_threads = spec.n_threads if n_members == 1 else 1

    def train(member: int, cancellation: Cancellation) -> Member:
        with RowThreads(n_threads) as threads:
            loop, encoding = start_loop(spec, table, member, threads)
            monitored = MonitoredTraining([loop], spec.config)
            run_loop(monitored, member, spec, cancellation, encoding)
        schedule, trees = spec.inflation_schedule, monitored.result()
        recalibration = schedule.recalibration if schedule else monitored.recalibration()
        loop.model_rows.drop()
        trees = replace(trees, held_out_nll=np.array(spec.history)) if spec.history else trees
        all_trees = monitored.all_trees() if spec.options.eval_sets else None
        return Member(encoding, trees, recalibration.dispersion, all_trees=all_trees)

    at_once = spec.n_models_at_once or spec.options.n_models_at_once(spec.n_jobs)
    return run_tasks(train, range(n_members), spec.n_jobs, at_once)


def with_trial_results(spec: FitSpec, table: SharedTable, n_members: int) -> FitSpec:
    """The same spec with no rows held out, and with the number of trees and the scale from trial models.

    If each member held out rows of its own, members would differ by the rows that they are trained on, most of all near
    the training rows, where they should agree.
    """
    held_out = split_rows(spec, FIRST_TRIAL)[1]
    if spec.validation is not None or not len(held_out):
        return spec
    n_trials = count_trials(len(held_out), spec.hold_out)
    n_twins = n_trials if n_members > 1 and isinstance(spec.family, RegressionFamily) else 0
    n_threads = spec.n_threads
    at_once = spec.n_models_at_once or (count_jobs(spec.n_jobs) if n_threads == 1 else 1)
    n_side_by_side = min(at_once, n_trials + n_twins)
    with RowThreads(n_threads) as threads, RowThreads(n_side_by_side) as side_by_side:
        tables = [with_combinations(spec, table, split_rows(spec, FIRST_TRIAL - k)[0]) for k in range(n_trials)]
        numbers = [FIRST_TRIAL - k for k in range(n_trials)] + [FIRST_TWIN - k for k in range(n_twins)]
        trials = [start_loop(spec, tables[k % n_trials], n, threads)[0] for k, n in enumerate(numbers)]
        monitored = MonitoredTraining(trials, spec.config, n_twins, side_by_side)
        run_loop(monitored, TRIAL, spec, Cancellation())
        schedule = monitored.inflation_schedule()
        for trial in trials:
            trial.model_rows.drop()
    return replace(
        spec,
        hold_out=0.0,
        config=replace(spec.config, n_estimators=monitored.n_trees, patience=None),
        inflation_schedule=schedule,
        history=tuple(monitored.stopping.nll) if spec.config.patience is not None else (),
    )


def start_loop(spec: FitSpec, table: SharedTable, member: int, threads: RowThreads) -> tuple[BoostingLoop, Encoding]:
    """One member before its first tree."""
    train, held_out = split_rows(spec, member)
    rows = spec.rows(train, held_out)
    seed, start = (spec.seed, member), spec.start(train)
    model_rows, encoding = table.begin(spec, member, rows, start, threads)
    return BoostingLoop(model_rows, spec.family, rows, spec.config, seed, start, spec.inflation_schedule), encoding


def run_loop(
    monitored: MonitoredTraining,
    member: int,
    spec: FitSpec,
    cancellation: Cancellation,
    encoding: Encoding | None = None,
) -> None:
    """Train a member, or all trial models, to the end, or until a callback stops it."""
    progress = spec.progress.of_member(member, spec.config.n_estimators, cancellation)
    report, is_stopped = round_reporter(spec, member, monitored, encoding), False

    def goes_on() -> bool:
        return not is_stopped and monitored.n_done < spec.config.n_estimators and not monitored.is_at_end

    while goes_on():
        until = time.monotonic() + SLICE_SECONDS
        while True:
            monitored.step()
            is_stopped = report is not None and report(monitored)
            if not goes_on() or time.monotonic() >= until:
                break
        progress(monitored.n_done, monitored.last_loss)
    progress.finish(monitored.n_trees, monitored.last_loss)


def split_rows(spec: FitSpec, member: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows to hold out; rows without weight are neither."""
    train = np.arange(spec.n_training_rows, dtype=np.uint32)
    held_out = np.arange(spec.n_training_rows, len(spec.y), dtype=np.uint32)
    if spec.weights is not None:
        train, held_out = train[spec.weights[train] > 0], held_out[spec.weights[held_out] > 0]
    if spec.validation is None:
        part = (FIRST_TRIAL - member) % NEXT_KIND if member <= FIRST_TRIAL else 0
        key = stream_key(spec.seed, TRIAL, HOLD_OUT)
        train, held_out = split_held_out(train, key, spec.hold_out, strata=spec.strata, part=part)
    return train, held_out


def with_combinations(spec: FitSpec, table: SharedTable, train: np.ndarray) -> SharedTable:
    """The table with statistics of those pairs and combinations of columns that are informative for ``train``."""
    table = table.with_pairs(spec, train)
    if table.categories is None or not table.encoding.few or len(train) < MIN_ROWS:
        return table
    order = train[random_permutation(stream_key(spec.seed, COMBINATIONS), len(train))]
    search = CombinationSearch.train(spec, table, order)
    pairs = table.encoding.pairs(search.importances)
    encoding, more = table.encoding.with_combinations(
        table.categories, pairs, search.residuals, search.weights, order, statistics_config(spec).max_bins
    )
    return replace(table, encoding=encoding, codes=np.concatenate([table.codes, more]))


@dataclass(frozen=True)
class CombinationSearch:
    """What first models, trained on more and more rows, leave of the targets of the rows after them.

    The first rows train a model for as many rows after them, both together train a model for as many again, and so on:
    the residuals of a row depend on the row itself and on rows before it. The first rows have no residuals: their
    weight is 0.
    """

    residuals: np.ndarray  # (targets, rows)
    weights: np.ndarray
    importances: np.ndarray  # of the columns of the table, in the last model

    @classmethod
    def train(cls, spec: FitSpec, table: SharedTable, order: np.ndarray) -> "CombinationSearch":
        n_seen, importances = -(-len(order) // FIRST_PART), np.zeros(spec.columns.n_columns)
        residuals = np.zeros((len(spec.informative_outputs), len(spec.y)))
        weights = np.ones(len(spec.y)) if spec.weights is None else spec.weights.copy()
        weights[order[:n_seen]] = 0.0
        while n_seen < len(order):
            later = np.sort(order[n_seen : 2 * n_seen])
            loop, encoding = train_first_model(spec, table, np.sort(order[:n_seen]), later)
            residuals[:, later] = loop.held_out_residuals()[spec.informative_outputs]
            loop.model_rows.drop()
            importances = loop.result().forest.feature_importances(len(encoding.sources))
            importances = encoding.split_importances(importances, spec.columns.n_columns)
            n_seen *= 2
        return cls(residuals, weights, importances)


def train_first_model(
    spec: FitSpec, table: SharedTable, train: np.ndarray, later: np.ndarray
) -> tuple[BoostingLoop, Encoding]:
    """Train a few trees; the number of trees and the learning rate of the user are not used."""
    config = replace(
        spec.config,
        n_estimators=FIRST_TREES,
        learning_rate=FIRST_RATE,
        rules=replace(spec.config.rules, max_features=1.0),
        subsample=1.0,
        langevin=False,
        temperature=None,
        patience=None,
    )
    rows = spec.rows(train.astype(np.uint32), later.astype(np.uint32))
    # The scale must not be learned from the later rows: their residuals would then depend on them.
    schedule = InflationSchedule(np.ones(FIRST_TREES))
    with RowThreads(spec.n_threads) as threads:
        seed, start = (spec.seed, FIRST_MODEL), spec.start(train)
        model_rows, encoding = table.begin(replace(spec, config=config), FIRST_MODEL, rows, start, threads)
        loop = BoostingLoop(model_rows, spec.family, rows, config, seed, start, schedule)
        for _ in range(FIRST_TREES):
            loop.step()
    return loop, encoding
