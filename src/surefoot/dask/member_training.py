"""Members of a vote, each trained on the worker that has the rows of its part; only models and a few votes travel."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from dask.sizeof import sizeof
from distributed import Future

from surefoot._exceptions import DataError
from surefoot._random import bootstrap_counts, stream_key
from surefoot.boosting.calibration import (
    OutOfSampleVotes,
    collect_votes,
    cross_fitted_link,
    ensemble_link,
    member_link,
)
from surefoot.boosting.committee import Committee
from surefoot.boosting.training import (
    MemberRows,
    RowAssignment,
    Settings,
    assign_all_rows,
    assign_draws,
    prepare_training,
    train_members,
)
from surefoot.boosting.vote_link import VoteLink
from surefoot.dask.cluster import send_once
from surefoot.dask.collections import Partition
from surefoot.dask.parts import Part, Piece, home_of
from surefoot.dask.summaries import PartitionSummary, TableSummary, read_weights
from surefoot.dask.worker_table import WorkerTable
from surefoot.data import Columns
from surefoot.data.problem import Problem, check_labels, class_weights
from surefoot.selection.table import take_rows


@sizeof.register(Problem)
def problem_bytes(problem: Problem) -> int:
    """The memory of the rows of a part: Dask moves and spills results by their size."""
    return problem.columns.nbytes + problem.codes.nbytes + (0 if problem.weights is None else problem.weights.nbytes)


Links = tuple[VoteLink, VoteLink]  # for the mean vote of all members, and for the vote of one


@dataclass(frozen=True)
class PieceReader:
    """Reads rows of a partition with the columns, classes and weights of the whole table."""

    table: TableSummary
    classes: np.ndarray
    class_masses: np.ndarray  # the sum of the weights of each class, in numbers of rows
    by_class: np.ndarray | None  # class weights
    seed: int

    @classmethod
    def of(
        cls, table: TableSummary, summaries: Sequence[PartitionSummary], class_weight: Any, seed: int
    ) -> "PieceReader":
        """The classes of all partitions, and their weights."""
        classes, counts, masses = all_classes(summaries)
        by_class = None
        if class_weight == "balanced":
            by_class = class_weights(
                dict(zip(classes.tolist(), _balanced(counts), strict=True)), classes, classes, True
            )
        elif class_weight is not None:
            by_class = class_weights(class_weight, classes, classes, True)
        masses = masses if by_class is None else masses * by_class
        if np.count_nonzero(masses) < 2:
            raise DataError(
                f"y has only one class with weight, {classes[masses > 0].tolist()}: a classifier needs at least two "
                "classes."
            )
        masses = masses * (table.n_weighted / masses.sum())
        return cls(table=table, classes=classes, class_masses=masses, by_class=by_class, seed=seed)

    def read(self, partition: Partition, piece: Piece) -> Problem:
        """The rows of a piece. Rows without weight are not counted, and left out."""
        n_rows = self.table.lengths[piece.partition]
        weights = read_weights(partition.weight, n_rows)
        used = np.arange(n_rows) if weights is None else np.flatnonzero(weights > 0)
        rows = used[piece.rows(len(used), self.seed)]
        is_whole = len(rows) == n_rows
        columns = self.table.read_columns(partition.X if is_whole else take_rows(partition.X, rows))
        labels = check_labels(partition.y)[rows]
        codes = np.searchsorted(self.classes, labels).astype(np.int32)
        if weights is not None:
            weights = np.ldexp(weights[rows], -np.frexp(self.table.max_weight)[1])  # the largest of all is about 1
        if self.by_class is not None:
            weights = self.by_class[codes] * (1.0 if weights is None else weights)
        return Problem(columns, self.classes, codes, weights, self.table.feature_names)

    def empty(self) -> Problem:
        """A problem without rows: what a fitted model stores of its table."""
        columns = Columns([], self.table.schema, 0)
        return Problem(columns, self.classes, np.empty(0, dtype=np.int32), None, self.table.feature_names)


def all_classes(summaries: Sequence[PartitionSummary]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The classes of all partitions, sorted; the number of rows of each, and the sum of their weights."""
    used = [summary for summary in summaries if summary.labels is not None]
    parts = [summary.labels for summary in used if summary.labels is not None]
    if len({labels.dtype.kind in "biuf" for labels in parts}) > 1:
        raise DataError("y has numbers in some partitions and text in others: make them all of one type.", argument="y")
    try:
        classes, codes = np.unique(np.concatenate(parts), return_inverse=True)
    except TypeError as error:
        raise DataError(
            f"y mixes labels that cannot be compared ({error}): make them all of one type.", argument="y"
        ) from error
    counts = np.bincount(codes, np.concatenate([summary.label_counts for summary in used]))
    return classes, counts, np.bincount(codes, np.concatenate([summary.label_masses for summary in used]))


def _balanced(counts: np.ndarray) -> list[float]:
    """The class weights for which all classes have the same total weight."""
    return (counts.sum() / (len(counts) * counts)).tolist()


def join_pieces(*pieces: Problem) -> Problem:
    """The rows of several pieces as one problem."""
    first = pieces[0]
    return replace(
        first,
        columns=Columns.joined([piece.columns for piece in pieces]),
        codes=np.concatenate([piece.codes for piece in pieces]),
        weights=None if first.weights is None else np.concatenate([piece.weights for piece in pieces]),
    )


@dataclass(frozen=True)
class MemberPlan:
    """Which members are trained on which part, and how. Member k is trained on part k modulo the number of parts."""

    n_members: int
    n_parts: int
    settings: Settings
    max_samples: float | None = None  # None: a member has each row of its part once; else, a bag of them

    def members_of(self, part: int) -> list[int]:
        """The numbers of the members that are trained on a part."""
        return list(range(part, self.n_members, self.n_parts))

    def assign(self, problem: Problem, part: int) -> RowAssignment:
        """The rows of the members of a part."""
        rows, members = problem.weighted_rows(), self.members_of(part)
        if self.max_samples is None:
            assignment = assign_all_rows(problem.codes, rows)
        else:
            draws = max(1, round(self.max_samples * len(rows)))
            keys = [stream_key(self.settings.seed, k) for k in members]
            counts = [lambda key=key: bootstrap_counts(key, len(rows), draws) for key in keys]
            assignment = assign_draws(problem.codes, rows, len(members), lambda j: counts[j]())
        own = [replace(member, index=k) for member, k in zip(assignment.members, members, strict=True)]
        return RowAssignment(assignment.order, own)

    def train(self, problem: Problem, part: int) -> list[Committee]:
        """Train the members of a part."""
        assignment = self.assign(problem, part)
        return train_members(prepare_training(problem, assignment, self.settings), assignment.members)

    def votes(self, problem: Problem, part: int, *trained: list[Committee]) -> OutOfSampleVotes | None:
        """The votes of all members on rows of a part that they were not trained on; None if there is no such row."""
        assignment = self.assign(problem, part)
        own = {member.index: member for member in assignment.members}
        members = [own.get(k, MemberRows(k, 0, 0)) for k in range(self.n_members)]
        committees = in_order(trained, self.n_members)
        votes = collect_votes(problem, assignment, members, committees, self.settings.n_jobs, self.n_parts)
        if votes is None or self.n_parts == 1 or problem.n_classes > 2:
            return votes
        return votes._replace(fractions=votes.fractions[:, :, 1:])  # the other class has the rest: half to send

    def links(self, problem: Problem, class_masses: np.ndarray, *votes: OutOfSampleVotes | None) -> Links:
        """The links from votes to probabilities; ``problem`` is the first part."""
        known = [part for part in votes if part is not None]
        if not known:  # there is one part, and every member was trained on all of its rows
            assignment = self.assign(problem, 0)
            link = cross_fitted_link(problem, assignment, prepare_training(problem, assignment, self.settings))
            return link, link
        together = join_votes(known, class_masses)
        return ensemble_link(together, self.n_members), member_link(together)


def in_order(trained: Sequence[list[Committee]], n_members: int) -> list[Committee]:
    """The members of all parts, by their numbers."""
    return [trained[k % len(trained)][k // len(trained)] for k in range(n_members)]


def join_votes(votes: Sequence[OutOfSampleVotes], class_masses: np.ndarray) -> OutOfSampleVotes:
    """The votes on rows of all parts."""
    if len(votes) == 1:
        return votes[0]
    codes = np.concatenate([part.codes for part in votes])
    fractions = np.concatenate([part.fractions for part in votes], axis=1)
    lacks_a_class = not np.isin(np.flatnonzero(class_masses > 0), codes).all()
    return OutOfSampleVotes(
        fractions=fractions if fractions.shape[2] > 1 else np.concatenate([1 - fractions, fractions], axis=2),
        is_new=np.concatenate([part.is_new for part in votes], axis=1),
        codes=codes,
        weights=np.concatenate([part.weights for part in votes]),
        class_totals=class_masses if lacks_a_class else None,
    )


def train_on_parts(
    table: WorkerTable,
    parts: Sequence[Part],
    homes: Sequence[str],
    plan: MemberPlan,
    reader: PieceReader,
    *,
    link: bool,
) -> tuple[list[Committee], Links | None]:
    """Train each member where the rows of its part are; ``homes`` are the workers of the parts."""

    sent = send_once(table.client, reader)

    def read(piece: Piece) -> Future:
        place = piece.partition
        return table.submit(table.homes[place], PieceReader.read, sent, table.partitions[place], piece)

    problems = [table.submit(home, join_pieces, *map(read, part)) for home, part in zip(homes, parts, strict=True)]
    trained = [table.submit(home, plan.train, p, k) for k, (home, p) in enumerate(zip(homes, problems, strict=True))]
    tasks = list(trained)
    if link:
        votes = [
            table.submit(home, plan.votes, problem, k, *trained)
            for k, (home, problem) in enumerate(zip(homes, problems, strict=True))
        ]
        tasks.append(table.submit(homes[0], plan.links, problems[0], reader.class_masses, *votes))
    results = table.gather(tasks)
    return in_order(results[: len(parts)], plan.n_members), results[-1] if link else None


def part_homes(parts: Sequence[Part], homes: Sequence[str], is_shuffled: bool) -> list[str]:
    """The worker of each part: the one that has most of its rows; if rows are shuffled, the workers in turn."""
    workers = sorted(set(homes))
    return [workers[k % len(workers)] if is_shuffled else home_of(part, homes) for k, part in enumerate(parts)]
