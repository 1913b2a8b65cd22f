"""What members say of rows that they were not trained on, and the links that are fitted to it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from surefoot._parallel import Cancellation, row_blocks, run_tasks
from surefoot.boosting.committee import Committee
from surefoot.boosting.row_assignment import MemberRows, RowAssignment
from surefoot.boosting.vote_link import VoteLink, fit_link, fractions_of
from surefoot.data.problem import Problem

MAX_ROWS_OF_A_CLASS = 10_000  # a link has few parameters: these give its scale to within 2%
MAX_MEMBERS = 64  # more of them would tell no more of what members have in common
MAX_VOTES = 4_000_000  # numbers kept at a time: 32 MB


class UnseenVotes(NamedTuple):
    """Votes of members on rows; ``unseen`` says where a member was not trained on the row."""

    fractions: np.ndarray  # (members, rows, classes): of the vote
    unseen: np.ndarray  # (members, rows)
    codes: np.ndarray
    weights: np.ndarray
    class_totals: np.ndarray | None = None  # rows of every class in the table, if some class has none of these


def collect_votes(
    problem: Problem,
    assignment: RowAssignment,
    members: Sequence[MemberRows],
    committees: Sequence[Committee],
    n_jobs: int | None,
) -> UnseenVotes | None:
    """Votes on rows that some of the members have not seen; None if there is no such row."""
    chosen = np.unique(np.linspace(0, len(members) - 1, min(len(members), MAX_MEMBERS)).astype(int)).tolist()
    new = np.zeros(len(assignment.order), dtype=np.bool_)
    for k in chosen:
        new |= _unseen(members[k], len(new))
    places = np.flatnonzero(new)
    if len(places) == 0:
        return None
    max_rows = max(1, MAX_VOTES // (len(chosen) * problem.n_classes))
    places, weights = _thin_out(places, problem, assignment, max_rows)
    columns = problem.columns.take(assignment.order[places])

    def vote(k: int, cancellation: Cancellation) -> np.ndarray:
        fractions = np.zeros((len(places), problem.n_classes))
        for start, stop in row_blocks(len(places)):
            cancellation.check()
            fractions[start:stop] = fractions_of(committees[k].tally(columns.block(start, stop)))
        return fractions

    votes = np.stack(run_tasks(vote, chosen, n_jobs))
    unseen = np.stack([_unseen(members[k], len(assignment.order))[places] for k in chosen])
    codes = problem.codes[assignment.order[places]]
    return UnseenVotes(votes, unseen, codes, weights, _class_totals(problem, assignment, codes))


def _class_totals(problem: Problem, assignment: RowAssignment, codes: np.ndarray) -> np.ndarray | None:
    """Weighted rows of each class in the table; None if every class that has any is among ``codes``."""
    all_codes = problem.codes[assignment.order]
    if np.isin(all_codes, codes).all():
        return None
    weights = np.ones(len(all_codes)) if problem.weights is None else problem.weights[assignment.order]
    totals = np.bincount(all_codes, weights=weights, minlength=problem.n_classes)
    return totals * (len(all_codes) / totals.sum())


def _unseen(member: MemberRows, n_rows: int) -> np.ndarray:
    """Places of the assignment's order that the member was not trained on."""
    unseen = np.ones(n_rows, dtype=np.bool_)
    unseen[member.start : member.stop] = False if member.counts is None else member.counts() == 0
    return unseen


def _thin_out(
    places: np.ndarray, problem: Problem, assignment: RowAssignment, max_rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of each class in about equal numbers, evenly spaced, and weights by which they stand for all of them."""
    codes = problem.codes[assignment.order[places]]
    present = np.unique(codes)
    if len(present) > max_rows:  # not a row for every class: rows as they come, in the order of the classes
        kept, factors = (
            [_evenly(places[np.argsort(codes, kind="stable")], max_rows)],
            [np.full(max_rows, len(places) / max_rows)],
        )
    else:
        per_class = min(MAX_ROWS_OF_A_CLASS, max(1, max_rows // problem.n_classes))
        by_class = [places[codes == code] for code in present]
        kept = [_evenly(here, per_class) for here in by_class]
        factors = [np.full(len(few), len(here) / len(few)) for few, here in zip(kept, by_class, strict=True)]
    places = np.concatenate(kept)
    weights = 1.0 if problem.weights is None else problem.weights[assignment.order[places]]
    return places, np.concatenate(factors) * weights


def _evenly(places: np.ndarray, most: int) -> np.ndarray:
    n = min(len(places), most)
    return places[np.arange(n) * len(places) // n]


def ensemble_link(votes: UnseenVotes, n_members: int) -> VoteLink:
    """The link for the mean vote of all members."""
    counts = votes.unseen.sum(axis=0)
    means = np.einsum("kic,ki->ic", votes.fractions, votes.unseen.astype(float)) / counts[:, np.newaxis]
    centre = np.average(means, axis=0, weights=votes.weights)
    shrunk = centre + shrinkage(votes, centre, n_members)[:, np.newaxis] * (means - centre)
    return fit_link(shrunk, votes.codes, votes.weights, votes.class_totals)


def shrinkage(votes: UnseenVotes, centre: np.ndarray, n_members: int) -> np.ndarray:
    """How much of each row's mean vote the mean of all members would keep, were the row new to all of them.

    The few members that have not seen a row scatter more than all members together. A link fitted to their mean would
    take that scatter for doubt. So each mean is replaced by the best linear guess at the mean of all members
    (regression calibration), from the covariances of the members' votes, each taken over the rows new to both.
    """
    unseen = votes.unseen.astype(float)
    covariances = _covariances(votes, centre)
    own = np.diag(covariances)
    with_others = (covariances.sum(axis=1) - own) / max(len(own) - 1, 1)
    with_all = (own + (n_members - 1) * with_others) / n_members if len(own) > 1 else own
    counts = unseen.sum(axis=0)
    with_mean = with_all @ unseen / counts
    of_mean = (np.einsum("kl,li->ki", covariances, unseen) * unseen).sum(axis=0) / counts**2
    kept = np.divide(with_mean, of_mean, out=np.ones(len(counts)), where=of_mean > 0)
    return np.clip(kept, 0.0, 1.0)


def _covariances(votes: UnseenVotes, centre: np.ndarray) -> np.ndarray:
    """Covariances of the members' votes; two that share no new row have the mean of the others'."""
    weights = votes.weights / votes.weights.sum()
    centred = (votes.fractions - centre) * votes.unseen[:, :, np.newaxis]
    sums = np.einsum("kic,lic->kl", centred * weights[:, np.newaxis], centred)
    unseen = votes.unseen.astype(float)
    totals = np.einsum("ki,li->kl", unseen * weights, unseen)
    known = totals > 0
    covariances = np.divide(sums, totals, out=np.zeros_like(sums), where=known)
    pairs = known & ~np.eye(len(known), dtype=np.bool_)
    usual = covariances[pairs].mean() if pairs.any() else float(np.diag(covariances)[np.diag(known)].mean())
    covariances[~known] = usual
    return covariances


def member_link(votes: UnseenVotes) -> VoteLink:
    """The link for the vote of a single member, from one member's vote on each row that it has not seen."""
    counts = votes.unseen.sum(axis=0)
    rows = np.arange(len(counts))
    ranks = np.cumsum(votes.unseen, axis=0) - 1
    chosen = ((ranks == rows % counts) & votes.unseen).argmax(axis=0)
    return fit_link(votes.fractions[chosen, rows], votes.codes, votes.weights, votes.class_totals)
