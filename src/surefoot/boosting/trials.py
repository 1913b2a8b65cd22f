"""Trials of candidate boosters: fit them to random splits and compare their log-loss on held-out rows."""

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import ndtr

from surefoot.boosting.vote_link import fit_link, fractions_of
from surefoot.data import Columns
from surefoot.data.held_out import HeldOutSplit
from surefoot.data.problem import Problem

STANDARD_ERRORS = 2.0  # a booster must be better by more than this
MAX_REVERSAL = 0.01  # remaining splits are skipped if the probability that they reverse a decision is below this
MAX_LINK_VOTES = 4_000_000  # rows x classes that a link is fitted to


class FittedBooster(Protocol):
    """The methods of a fitted booster that trials need."""

    def _tally(self, columns: Columns) -> np.ndarray: ...
    def _mean_vote(self, columns: Columns) -> np.ndarray: ...
    def _decide(self, tally: np.ndarray) -> np.ndarray: ...
    def _labels(self, decision: np.ndarray) -> np.ndarray: ...


class Candidate(NamedTuple):
    """A booster by its name, with trees of this depth."""

    name: str
    depth: int


class HeldOutVotes(NamedTuple):
    """A booster's votes on the held-out rows of one split."""

    fractions: np.ndarray  # (rows, classes): of its mean vote
    is_correct: np.ndarray  # whether its prediction is


class CandidateResult(NamedTuple):
    """A booster's log-loss and accuracy on held-out rows; ``losses`` are those of the rows, split after split."""

    log_loss: float
    accuracy: float
    losses: np.ndarray


class CandidateComparison(NamedTuple):
    """The reduction of the log-loss compared to another booster, its standard error, and the gain in accuracy."""

    other: Candidate
    gain: float
    error: float
    accuracy_gain: float

    @property
    def is_better(self) -> bool:
        return self.gain > STANDARD_ERRORS * self.error


class Trials:
    """Fits boosters to one split after the other, and compares them on as many splits as needed.

    ``fit(candidate, rows)`` fits a booster to these rows of the problem.
    """

    def __init__(
        self, problem: Problem, splits: list[HeldOutSplit], fit: Callable[[Candidate, np.ndarray], FittedBooster]
    ) -> None:
        self.problem, self.splits, self.fit = problem, splits, fit
        self.votes: dict[Candidate, list[HeldOutVotes]] = {}

    def result(self, candidate: Candidate, n_splits: int | None = None) -> CandidateResult:
        """The result on the first ``n_splits`` splits; None: on all splits it was fitted to, and at least on one."""
        done = self.votes.setdefault(candidate, [])
        n_splits = max(1, len(done)) if n_splits is None else n_splits
        for split in self.splits[len(done) : n_splits]:
            done.append(_held_out_votes(self.problem, self.fit(candidate, split.train), split.held_out))
        return evaluate(self.problem, self.splits[:n_splits], done[:n_splits])

    def compare(self, one: Candidate, other: Candidate) -> CandidateComparison:
        """Compare two boosters on as many splits as the decision needs."""
        for n in range(1, len(self.splits) + 1):
            one_result, other_result = self.result(one, n), self.result(other, n)
            gain, error = log_loss_gain(self.problem, self.splits[:n], one_result, other_result)
            comparison = CandidateComparison(other, gain, error, one_result.accuracy - other_result.accuracy)
            if is_decided(gain, error, n / len(self.splits)):
                break
        return comparison

    def results(
        self, start: Candidate, comparisons: Mapping[Candidate, CandidateComparison]
    ) -> dict[Candidate, CandidateResult]:
        """Log-loss and accuracy of ``start`` on all its splits; for others, that of the compared one plus the gain."""
        results = {start: self.result(start)}
        for candidate, comparison in comparisons.items():
            other = results[comparison.other]
            loss, accuracy = other.log_loss - comparison.gain, other.accuracy + comparison.accuracy_gain
            results[candidate] = CandidateResult(loss, accuracy, self.result(candidate).losses)
        return results


def choose_best(
    trials: Trials, best: Candidate, candidates: Sequence[Candidate], stop_at_first_failure: bool
) -> tuple[Candidate, dict[Candidate, CandidateComparison]]:
    """Compare each candidate with the best one so far; return the best, and the comparisons."""
    comparisons = {}
    for candidate in candidates:
        comparisons[candidate] = trials.compare(candidate, best)
        if comparisons[candidate].is_better:
            best = candidate
        elif stop_at_first_failure:
            break
    return best, comparisons


def is_decided(gain: float, error: float, fraction: float) -> bool:
    """Whether the remaining splits are unlikely to reverse the decision, after this fraction of them.

    The decision depends on the gain over its standard error after all splits. Given only the splits so far, this ratio
    is normal around ``gain / error / sqrt(fraction)``, with variance ``(1 - fraction) / fraction``.
    """
    remaining = 1 - fraction
    if remaining <= 0 or error == 0:
        return remaining <= 0
    expected = gain / error / sqrt(fraction)
    return bool(ndtr(-abs(expected - STANDARD_ERRORS) / sqrt(remaining / fraction)) < MAX_REVERSAL)


def evaluate(problem: Problem, splits: list[HeldOutSplit], votes: list[HeldOutVotes]) -> CandidateResult:
    """Log-loss and accuracy on held-out rows; a link from votes to probabilities is fitted to these rows first."""
    held_out = _held_out_rows(splits)
    fractions = np.concatenate([one.fractions for one in votes])
    is_correct = np.concatenate([one.is_correct for one in votes])
    codes, weights = problem.codes[held_out], _weights(problem, held_out)
    some = slice(None, None, max(1, fractions.size // MAX_LINK_VOTES))
    link = fit_link(fractions[some], codes[some], weights[some])
    probabilities = link.of_fractions(fractions)[np.arange(len(codes)), codes]
    losses = -np.log(np.maximum(probabilities, np.finfo(float).tiny))
    return CandidateResult(
        log_loss=float(np.average(losses, weights=weights)),
        accuracy=float(np.average(is_correct, weights=weights)),
        losses=losses,
    )


def log_loss_gain(
    problem: Problem, splits: list[HeldOutSplit], one: CandidateResult, other: CandidateResult
) -> tuple[float, float]:
    """By how much the first booster's log-loss is lower on held-out rows, and the standard error.

    A row that several splits hold out counts once, with its mean, because its losses are not independent.
    """
    held_out = _held_out_rows(splits)
    counts = np.bincount(held_out, minlength=problem.n_rows)
    rows = np.flatnonzero(counts)
    gains = np.bincount(held_out, other.losses - one.losses, minlength=problem.n_rows)[rows] / counts[rows]
    weights = counts[rows] * _weights(problem, rows)
    weights = weights / weights.sum()
    gain = float(weights @ gains)
    return gain, float(np.sqrt(weights**2 @ (gains - gain) ** 2))


def _held_out_votes(problem: Problem, booster: FittedBooster, held_out: np.ndarray) -> HeldOutVotes:
    fractions = np.empty((len(held_out), problem.n_classes))
    is_correct = np.empty(len(held_out), dtype=np.bool_)
    for places, table in problem.columns.parts(held_out):
        labels = booster._labels(booster._decide(booster._tally(table)))
        fractions[places] = fractions_of(booster._mean_vote(table))
        is_correct[places] = labels == problem.classes[problem.codes[held_out[places]]]
    return HeldOutVotes(fractions, is_correct)


def _held_out_rows(splits: list[HeldOutSplit]) -> np.ndarray:
    return np.concatenate([split.held_out for split in splits])


def _weights(problem: Problem, rows: np.ndarray) -> np.ndarray:
    return np.ones(len(rows)) if problem.weights is None else problem.weights[rows]
