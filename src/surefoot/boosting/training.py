"""Train the members of an ensemble on one shared table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._parallel import Cancellation, RowThreads, run_tasks, threads_for
from surefoot._progress import MemberProgress, Progress
from surefoot._random import stream_key
from surefoot.boosting.committee import Committee, EstimatorCommittee, TreeCommittee
from surefoot.boosting.learners import EstimatorLearner, TreeLearner
from surefoot.boosting.row_assignment import MemberRows, RowAssignment
from surefoot.boosting.samme import boost_learner
from surefoot.boosting.stump_fit import boost_stumps
from surefoot.boosting.stump_kernels import Rule
from surefoot.data import BinnedTable
from surefoot.data.problem import Problem
from surefoot.trees import TreeGrower, VotingForest


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
    """The table in the order of the assignment, for members to be trained on."""
    kind = TreeTraining if settings.estimator is None else EstimatorTraining
    return kind(problem, assignment, settings)


def train_members(training: "Training", members: Sequence[MemberRows]) -> list[Committee]:
    """One committee per member, in their order; the same for any number of jobs."""
    settings = training.settings
    training.alone = len(members) == 1  # several members are trained side by side instead of on several threads each

    def train(member: MemberRows, cancellation: Cancellation) -> Committee:
        progress = settings.progress.of_member(member.index, settings.n_estimators, cancellation)
        committee = training.train(member, progress)
        progress.finish(len(committee), float(committee.errors[-1]))
        return committee

    return run_tasks(train, members, settings.n_jobs)


class TreeTraining:
    """Native trees on one binned table, its rows in the order of the assignment."""

    def __init__(self, problem: Problem, assignment: RowAssignment, settings: Settings) -> None:
        self.settings, self.n_classes = settings, problem.n_classes
        self.weights = None if problem.weights is None else problem.weights[assignment.order]
        self.classes = problem.codes[assignment.order]
        self.table = BinnedTable.from_columns(
            problem.columns, max_bins=settings.max_bins, weights=problem.weights, n_jobs=settings.n_jobs
        )
        self.table.reorder(assignment.order)
        self.alone = True

    @property
    def n_threads(self) -> int:
        return threads_for(self.settings.n_jobs, self.table.codes.size) if self.alone else 1

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
            between=progress,
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
        self.alone = True

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
    here = np.ones(member.stop - member.start) if weights is None else weights[member.start : member.stop]
    return here if member.counts is None else member.counts() * here
