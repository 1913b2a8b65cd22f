"""Assign rows to the members of an ensemble, and train the members on one shared table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot._parallel import Cancellation, RowThreads, run_tasks, threads_for
from surefoot._progress import MemberProgress, Progress
from surefoot._random import stream_key
from surefoot.boosting.committee import Committee, EstimatorCommittee, TreeCommittee, chance_error
from surefoot.boosting.samme import EstimatorLearner, TreeLearner, boost_learner
from surefoot.boosting.stump_boosting import boost_stumps
from surefoot.boosting.stump_kernels import Rule
from surefoot.data import BinnedTable
from surefoot.data.held_out import stable_order, stratified_folds
from surefoot.data.problem import Problem
from surefoot.data.stored_columns import StoredColumns
from surefoot.trees import TreeGrower, VotingForest

MAX_SUMS = 1 << 26  # weights by bin and class: 512 MiB for each thread


@dataclass(frozen=True)
class MemberRows:
    """Rows ``start:stop`` of the reordered table; ``counts()``, if given, returns how often each of them is drawn."""

    index: int
    start: int
    stop: int
    counts: Callable[[], np.ndarray] | None = None


@dataclass(frozen=True)
class RowAssignment:
    """The members, and the order of the rows: each member's rows are together and sorted by class."""

    order: np.ndarray
    members: list[MemberRows]


def assign_all_rows(codes: np.ndarray, rows: np.ndarray) -> RowAssignment:
    """One member with all rows."""
    return RowAssignment(_as_int32(rows[stable_order(codes[rows])]), [MemberRows(0, 0, len(rows))])


def assign_parts(codes: np.ndarray, rows: np.ndarray, n_members: int, shuffled: np.ndarray) -> RowAssignment:
    """Disjoint parts of equal size: ``shuffled`` is a permutation of ``arange(len(rows))``."""
    ends = np.arange(1, n_members + 1) * len(rows) // n_members
    part = np.empty(len(rows), dtype=np.int32)
    part[shuffled] = np.repeat(np.arange(n_members, dtype=np.int32), np.diff(ends, prepend=0))
    order = rows[stable_order(part * (int(codes.max()) + 1) + codes[rows])]
    starts = np.append(0, ends[:-1])
    members = [MemberRows(k, int(a), int(b)) for k, (a, b) in enumerate(zip(starts, ends, strict=True))]
    return RowAssignment(_as_int32(order), members)


def assign_draws(
    codes: np.ndarray, rows: np.ndarray, n_members: int, draw: Callable[[int], np.ndarray]
) -> RowAssignment:
    """Overlapping members: ``draw(k)`` returns how often member ``k`` has each of ``rows``."""
    order = stable_order(codes[rows])

    def counts_of(k: int) -> Callable[[], np.ndarray]:
        return lambda: draw(k)[order]  # drawn when the member is trained: the counts of all members need much memory

    members = [MemberRows(k, 0, len(rows), counts_of(k)) for k in range(n_members)]
    return RowAssignment(_as_int32(rows[order]), members)


def assign_folds(codes: np.ndarray) -> list[MemberRows]:
    """Members that each leave out another fold; ``codes`` are in the order of an assignment that has all rows."""
    folds = stratified_folds(codes)

    def counts_of(k: int) -> Callable[[], np.ndarray]:
        return lambda: (folds != k).astype(np.int64)

    return [MemberRows(-1 - k, 0, len(codes), counts_of(k)) for k in range(int(folds.max()) + 1)]


def _as_int32(order: np.ndarray) -> np.ndarray:
    return order.astype(np.int32)  # tables have fewer than 2**31 rows


@dataclass(frozen=True)
class Settings:
    """How members are trained: the parameters that all boosters share."""

    estimator: Any
    max_depth: int
    n_estimators: int
    rule: Rule
    max_bins: int | None
    seed: int
    n_jobs: int | None
    progress: Progress


def prepare_training(problem: Problem, assignment: RowAssignment, settings: Settings) -> "Training":
    """Bring the table into the order of the assignment."""
    training = TreeTraining if settings.estimator is None else EstimatorTraining
    return training(problem, assignment, settings)


def train_members(training: "Training", members: Sequence[MemberRows]) -> list[Committee]:
    """Train one committee per member; the result does not depend on the number of jobs."""
    settings = training.settings
    training.has_one_member = len(members) == 1  # several members share the threads: each is trained on one

    def train(member: MemberRows, cancellation: Cancellation) -> Committee:
        progress = settings.progress.of_member(member.index, settings.n_estimators, cancellation)
        committee = training.train(member, progress)
        progress.finish(len(committee), float(committee.errors[-1]))
        return committee

    return run_tasks(train, members, settings.n_jobs)


def check_better_than_chance(committees: Sequence[Committee], n_classes: int) -> None:
    """Raise an error if the first weak learner of every committee is no better than chance."""
    if all(committee.errors[0] >= chance_error(n_classes) for committee in committees):
        raise DataError(
            f"The first weak learner{' of every member' * (len(committees) > 1)} is no better than chance on X and y: "
            "there is nothing to boost. Check that X has columns that vary, or raise max_depth."
        )


def _binned_table(problem: Problem, order: np.ndarray, settings: Settings) -> BinnedTable:
    """The bins of a table, its rows in this order."""
    columns, weights, n_jobs = problem.columns, problem.weights, settings.n_jobs
    if isinstance(columns, StoredColumns):
        return columns.binned(order, weights, n_jobs)
    table = BinnedTable.from_columns(columns, max_bins=settings.max_bins, weights=weights, n_jobs=n_jobs)
    table.reorder(order)
    return table


def _check_bins(n_bins: int, n_classes: int) -> None:
    """Refuse sums of weights by bin and class that take too much memory."""
    if n_bins * n_classes > MAX_SUMS:
        raise DataError(
            f"y has {n_classes:,} classes and a column of X has {n_bins:,} bins: the sums of each class in each bin "
            f"take {n_bins * n_classes * 8 / 2**30:.1f} GiB. Merge rare classes, or set max_bins to 255 or fewer.",
            argument="y",
        )


class TreeTraining:
    """Native trees on one binned table, its rows in the order of the assignment."""

    def __init__(self, problem: Problem, assignment: RowAssignment, settings: Settings) -> None:
        self.settings, self.n_classes = settings, problem.n_classes
        self.weights = None if problem.weights is None else problem.weights[assignment.order]
        self.classes = problem.codes[assignment.order]
        self.table = _binned_table(problem, assignment.order, settings)
        _check_bins(int(self.table.missing.max()) + 1, self.n_classes)
        self.has_one_member = True

    @property
    def n_threads(self) -> int:
        return threads_for(self.settings.n_jobs, self.table.codes.size) if self.has_one_member else 1

    def train(self, member: MemberRows, progress: MemberProgress) -> TreeCommittee:
        weights = _member_weights(self.weights, member)
        if self.n_classes == 2 and self.settings.max_depth == 1:
            return self._boost_stumps(member, weights, progress)
        return self._boost_trees(member, weights, progress)

    def _boost_stumps(self, member: MemberRows, weights: np.ndarray, progress: MemberProgress) -> TreeCommittee:
        middle = member.start + int(np.searchsorted(self.classes[member.start : member.stop], 1))
        rounds = boost_stumps(
            self.table,
            (member.start, middle, member.stop),
            weights,
            self.settings.rule,
            self.settings.n_estimators,
            n_threads=self.n_threads,
            callback=progress,
        )
        features, below, above, missing_right, sets, gains = (field[:, np.newaxis] for field in rounds[:6])
        forest = VotingForest.from_nodes(self.table, features, below, above, missing_right, sets, gains, rounds.labels)
        return TreeCommittee(forest, rounds.vote_weights, rounds.errors, self.n_classes)

    def _boost_trees(self, member: MemberRows, weights: np.ndarray, progress: MemberProgress) -> TreeCommittee:
        depth, criterion = self.settings.max_depth, self.settings.rule.criterion
        with RowThreads(self.n_threads) as threads:
            grower = TreeGrower(self.table, self.classes, self.n_classes, member.start, depth, criterion, threads)
            votes = boost_learner(
                TreeLearner(grower),
                self.classes[member.start : member.stop],
                weights,
                self.n_classes,
                self.settings.rule,
                self.settings.n_estimators,
                progress,
            )
        nodes = list(zip(*votes.hypotheses, strict=True))[:7]
        forest = VotingForest.from_nodes(self.table, *(np.stack(field) for field in nodes))
        return TreeCommittee(forest, votes.vote_weights, votes.errors, self.n_classes)


class EstimatorTraining:
    """Clones of a scikit-learn classifier on the table as an array, its rows in the order of the assignment."""

    def __init__(self, problem: Problem, assignment: RowAssignment, settings: Settings) -> None:
        self.settings, self.classes = settings, problem.classes
        self.weights = None if problem.weights is None else problem.weights[assignment.order]
        self.X, self.codes = problem.columns.matrix(assignment.order), problem.codes[assignment.order]
        self.has_one_member = True

    def train(self, member: MemberRows, progress: MemberProgress) -> EstimatorCommittee:
        rows = slice(member.start, member.stop)
        key = int(stream_key(self.settings.seed, member.index))
        learner = EstimatorLearner(self.settings.estimator, self.X[rows], self.codes[rows], self.classes, key)
        votes = boost_learner(
            learner,
            self.codes[rows],
            _member_weights(self.weights, member),
            len(self.classes),
            self.settings.rule,
            self.settings.n_estimators,
            progress,
        )
        return EstimatorCommittee(votes.hypotheses, votes.vote_weights, votes.errors, self.classes)


Training = TreeTraining | EstimatorTraining


def _member_weights(weights: np.ndarray | None, member: MemberRows) -> np.ndarray:
    member_weights = np.ones(member.stop - member.start) if weights is None else weights[member.start : member.stop]
    return member_weights if member.counts is None else member.counts() * member_weights
