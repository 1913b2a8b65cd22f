"""Train the members of a plan on one shared table."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._parallel import Cancellation, RowThreads, run_tasks, threads_for
from surefoot.boosting.committee import Committee, EstimatorCommittee, TreeCommittee
from surefoot.boosting.general_rounds import boost_learner
from surefoot.boosting.learners import EstimatorLearner, TreeLearner
from surefoot.boosting.plan import MemberRows, Plan
from surefoot.boosting.problem import Problem
from surefoot.boosting.progress import Progress
from surefoot.boosting.stump_fit import boost_stumps
from surefoot.boosting.stump_state import Rule
from surefoot.data import BinnedTable
from surefoot.trees import Forest, TreeGrower


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


def train_members(problem: Problem, plan: Plan, settings: Settings) -> list[Committee]:
    """One committee per member, in the order of the plan; the same for any number of jobs."""
    order = plan.order
    weights = None if problem.weights is None else problem.weights[order]
    if settings.estimator is not None:
        X, y = problem.columns.matrix(order), problem.classes[problem.codes[order]]

        def train(member: MemberRows, cancellation: Cancellation) -> Committee:
            return _train_estimators(problem, X, y, weights, member, settings, cancellation)

        return run_tasks(train, plan.members, settings.n_jobs)

    table = BinnedTable.from_columns(
        problem.columns, max_bins=settings.max_bins, weights=problem.weights, n_jobs=settings.n_jobs
    )
    table.reorder(order)
    classes = problem.codes[order]
    n_threads = threads_for(settings.n_jobs, table.codes.size) if len(plan.members) == 1 else 1

    def train_native(member: MemberRows, cancellation: Cancellation) -> Committee:
        return _train_trees(problem.n_classes, table, classes, weights, member, settings, n_threads, cancellation)

    return run_tasks(train_native, plan.members, settings.n_jobs)


def _member_weights(weights: np.ndarray | None, member: MemberRows) -> np.ndarray:
    here = np.ones(member.stop - member.start) if weights is None else weights[member.start : member.stop]
    if member.counts is None:
        return here
    return member.counts() * here


def _train_trees(
    n_classes: int,
    table: BinnedTable,
    classes: np.ndarray,
    weights: np.ndarray | None,
    member: MemberRows,
    settings: Settings,
    n_threads: int,
    cancellation: Cancellation,
) -> TreeCommittee:
    here = _member_weights(weights, member)
    between = settings.progress.watch(member.index, settings.n_estimators, cancellation)
    if n_classes == 2 and settings.max_depth == 1:
        middle = member.start + int(np.searchsorted(classes[member.start : member.stop], 1))
        bounds = (member.start, middle, member.stop)
        rounds = boost_stumps(
            table, bounds, here, settings.rule, settings.n_estimators, n_threads=n_threads, between=between
        )
        nodes = (field[:, np.newaxis] for field in rounds[:5])
        features, below, above, missing_right, sets = nodes
        forest = Forest.from_nodes(
            table, features, below, above, missing_right, sets, rounds.gains[:, np.newaxis], rounds.labels
        )
        return TreeCommittee(forest, rounds.vote_weights, rounds.errors, n_classes)
    with RowThreads(n_threads) as threads:
        grower = TreeGrower(
            table, classes, n_classes, member.start, settings.max_depth, settings.rule.criterion, threads
        )
        votes = boost_learner(
            TreeLearner(grower),
            classes[member.start : member.stop],
            here,
            n_classes,
            settings.rule,
            settings.n_estimators,
            between,
        )
    forest = Forest.from_nodes(table, *(np.stack(field) for field in list(zip(*votes.hypotheses, strict=True))[:7]))
    return TreeCommittee(forest, votes.vote_weights, votes.errors, n_classes)


def _train_estimators(
    problem: Problem,
    X: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None,
    member: MemberRows,
    settings: Settings,
    cancellation: Cancellation,
) -> EstimatorCommittee:
    rows = slice(member.start, member.stop)
    learner = EstimatorLearner(settings.estimator, X[rows], y[rows], problem.classes, settings.seed + member.index)
    codes = np.searchsorted(problem.classes, y[rows])
    between = settings.progress.watch(member.index, settings.n_estimators, cancellation)
    here = _member_weights(weights, member)
    votes = boost_learner(learner, codes, here, problem.n_classes, settings.rule, settings.n_estimators, between)
    return EstimatorCommittee(votes.hypotheses, votes.vote_weights, votes.errors, problem.classes)
