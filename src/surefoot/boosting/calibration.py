"""Calibrate probabilities on out-of-sample votes: votes of members on rows that they were not trained on."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from surefoot._parallel import ROW_BLOCK, Cancellation, run_tasks
from surefoot.boosting.committee import Committee
from surefoot.boosting.training import MemberRows, RowAssignment, Training, assign_folds, train_members
from surefoot.boosting.vote_link import VoteLink, fit_link, fractions_of
from surefoot.data import Columns
from surefoot.data.problem import Problem

MAX_ROWS_OF_A_CLASS = 10_000  # a link has few parameters: these determine its scale to within 2%
MAX_MEMBERS = 64  # more members would not improve the estimate of what members have in common
MAX_VOTES = 4_000_000  # numbers kept at a time: 32 MB


class OutOfSampleVotes(NamedTuple):
    """Votes of members on rows; only those where ``is_new`` is True are out of sample."""

    fractions: np.ndarray  # (members, rows, classes): of the vote
    is_new: np.ndarray  # (members, rows): whether the member was not trained on the row
    codes: np.ndarray
    weights: np.ndarray
    class_totals: np.ndarray | None = None  # rows of every class in the table, if some class has none of these rows


def cross_fitted_link(problem: Problem, assignment: RowAssignment, training: Training) -> VoteLink:
    """The link for a single AdaBoost, from AdaBoosts that are each trained without a tenth of the rows.

    ``assignment`` has all rows, so that the model itself has no out-of-sample votes.
    """
    members = assign_folds(problem.codes[assignment.order])
    votes = collect_votes(problem, assignment, members, train_members(training, members), training.settings.n_jobs)
    assert votes is not None, "every fold holds out a row"
    return member_link(votes)


def collect_votes(
    problem: Problem,
    assignment: RowAssignment,
    members: Sequence[MemberRows],
    committees: Sequence[Committee],
    n_jobs: int | None,
    n_parts: int = 1,
) -> OutOfSampleVotes | None:
    """Votes on rows that at least one member was not trained on; None if there is no such row.

    If the rows are one of ``n_parts`` parts of a table, there are so many times fewer of them.
    """
    chosen = np.unique(np.linspace(0, len(members) - 1, min(len(members), MAX_MEMBERS)).astype(int)).tolist()
    is_new = np.zeros(len(assignment.order), dtype=np.bool_)
    for k in chosen:
        is_new |= _new_rows(members[k], len(is_new))
    places = np.flatnonzero(is_new)
    if len(places) == 0:
        return None
    max_rows = max(1, MAX_VOTES // (len(chosen) * problem.n_classes * n_parts))
    places, weights = _subsample(places, problem, assignment, max_rows, max(1, MAX_ROWS_OF_A_CLASS // n_parts))
    columns = problem.columns.take(assignment.order[places])

    def vote(k: int, cancellation: Cancellation) -> np.ndarray:
        return _vote_fractions(committees[k], columns, problem.n_classes, cancellation)

    codes = problem.codes[assignment.order[places]]
    return OutOfSampleVotes(
        fractions=np.stack(run_tasks(vote, chosen, n_jobs)),
        is_new=np.stack([_new_rows(members[k], len(assignment.order))[places] for k in chosen]),
        codes=codes,
        weights=weights,
        class_totals=_class_totals(problem, assignment, codes),
    )


def _vote_fractions(committee: Committee, columns: Columns, n_classes: int, cancellation: Cancellation) -> np.ndarray:
    """Each class's fraction of the vote, (rows, classes)."""
    fractions = np.zeros((columns.n_rows, n_classes))
    for start, stop in columns.row_blocks(ROW_BLOCK):
        cancellation.check()
        fractions[start:stop] = fractions_of(committee.tally(columns.block(start, stop)))
    return fractions


def _class_totals(problem: Problem, assignment: RowAssignment, codes: np.ndarray) -> np.ndarray | None:
    """Weighted rows of each class in the table; None if every class that has any is among ``codes``."""
    all_codes = problem.codes[assignment.order]
    if np.isin(all_codes, codes).all():
        return None
    weights = np.ones(len(all_codes)) if problem.weights is None else problem.weights[assignment.order]
    totals = np.bincount(all_codes, weights=weights, minlength=problem.n_classes)
    return totals * (len(all_codes) / totals.sum())


def _new_rows(member: MemberRows, n_rows: int) -> np.ndarray:
    """Whether the member was not trained on each row, in the order of the assignment."""
    is_new = np.ones(n_rows, dtype=np.bool_)
    is_new[member.start : member.stop] = False if member.counts is None else member.counts() == 0
    return is_new


def _subsample(
    places: np.ndarray, problem: Problem, assignment: RowAssignment, max_rows: int, max_rows_of_class: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of each class in about equal numbers, evenly spaced, and weights with which they represent all rows."""
    codes = problem.codes[assignment.order[places]]
    present = np.unique(codes)
    if len(present) > max_rows:  # fewer rows than classes: evenly spaced rows, in the order of the classes
        kept, factors = (
            [_evenly_spaced(places[np.argsort(codes, kind="stable")], max_rows)],
            [np.full(max_rows, len(places) / max_rows)],
        )
    else:
        per_class = min(max_rows_of_class, max(1, max_rows // problem.n_classes))
        by_class = [places[codes == code] for code in present]
        kept = [_evenly_spaced(of_class, per_class) for of_class in by_class]
        factors = [np.full(len(few), len(of_class) / len(few)) for few, of_class in zip(kept, by_class, strict=True)]
    places = np.concatenate(kept)
    weights = 1.0 if problem.weights is None else problem.weights[assignment.order[places]]
    return places, np.concatenate(factors) * weights


def _evenly_spaced(places: np.ndarray, max_places: int) -> np.ndarray:
    n = min(len(places), max_places)
    return places[np.arange(n) * len(places) // n]


def ensemble_link(votes: OutOfSampleVotes, n_members: int) -> VoteLink:
    """The link for the mean vote of all members."""
    counts = votes.is_new.sum(axis=0)
    means = np.einsum("kic,ki->ic", votes.fractions, votes.is_new.astype(float)) / counts[:, np.newaxis]
    centre = np.average(means, axis=0, weights=votes.weights)
    shrunk = centre + shrinkage(votes, centre, n_members)[:, np.newaxis] * (means - centre)
    return fit_link(shrunk, votes.codes, votes.weights, votes.class_totals)


def shrinkage(votes: OutOfSampleVotes, centre: np.ndarray, n_members: int) -> np.ndarray:
    """The factor by which each row's mean vote is drawn to ``centre``.

    Only a few members are not trained on a row, and their mean has a larger variance than the mean of all members. A
    link fitted to it would mistake this variance for uncertainty. So each mean is replaced by the best linear
    prediction of the mean of all members (regression calibration), from the covariances of the members' votes, each
    computed on the rows that are new to both.
    """
    is_new = votes.is_new.astype(float)
    covariances = _covariances(votes, centre)
    own = np.diag(covariances)
    with_others = (covariances.sum(axis=1) - own) / max(len(own) - 1, 1)
    with_all = (own + (n_members - 1) * with_others) / n_members if len(own) > 1 else own
    counts = is_new.sum(axis=0)
    with_mean = with_all @ is_new / counts
    of_mean = (np.einsum("kl,li->ki", covariances, is_new) * is_new).sum(axis=0) / counts**2
    kept = np.divide(with_mean, of_mean, out=np.ones(len(counts)), where=of_mean > 0)
    return np.clip(kept, 0.0, 1.0)


def _covariances(votes: OutOfSampleVotes, centre: np.ndarray) -> np.ndarray:
    """Covariances of the members' votes; pairs without a common new row get the mean of the other pairs."""
    weights = votes.weights / votes.weights.sum()
    centred = (votes.fractions - centre) * votes.is_new[:, :, np.newaxis]
    sums = np.einsum("kic,lic->kl", centred * weights[:, np.newaxis], centred)
    is_new = votes.is_new.astype(float)
    totals = np.einsum("ki,li->kl", is_new * weights, is_new)
    known = totals > 0
    covariances = np.divide(sums, totals, out=np.zeros_like(sums), where=known)
    pairs = known & ~np.eye(len(known), dtype=np.bool_)
    usual = covariances[pairs].mean() if pairs.any() else float(np.diag(covariances)[np.diag(known)].mean())
    covariances[~known] = usual
    return covariances


def member_link(votes: OutOfSampleVotes) -> VoteLink:
    """The link for the vote of a single member, from one out-of-sample vote per row."""
    counts = votes.is_new.sum(axis=0)
    rows = np.arange(len(counts))
    ranks = np.cumsum(votes.is_new, axis=0) - 1
    chosen = ((ranks == rows % counts) & votes.is_new).argmax(axis=0)
    return fit_link(votes.fractions[chosen, rows], votes.codes, votes.weights, votes.class_totals)
