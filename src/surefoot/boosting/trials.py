"""Boosters on trial: what they say of held-out rows, and which of them these rows prefer."""

from collections.abc import Callable, Mapping, Sequence
from math import ceil, sqrt
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import ndtr
from sklearn.model_selection import train_test_split

from surefoot._exceptions import ParameterError
from surefoot.boosting.vote_link import fit_link, fractions_of
from surefoot.data import Columns
from surefoot.data.problem import Problem

MIN_HELD_OUT = 1000  # rows outside the largest class, over all splits
MAX_SPLITS = 10
STANDARD_ERRORS = 2.0  # by which a booster must be better than the one before it
MAX_DOUBT = 0.01  # chance that the splits to come would turn a decision: below it, they are spared
MAX_LINK_VOTES = 4_000_000  # rows x classes that a link is fitted to


class Voter(Protocol):
    """A fitted booster."""

    def _tally(self, columns: Columns) -> np.ndarray: ...
    def _mean_vote(self, columns: Columns) -> np.ndarray: ...
    def _decide(self, tally: np.ndarray) -> np.ndarray: ...
    def _labels(self, decision: np.ndarray) -> np.ndarray: ...


class Rival(NamedTuple):
    """A booster, by its name, with trees of this depth."""

    name: str
    depth: int


class HeldOutSplit(NamedTuple):
    """Rows to train on and rows to choose by."""

    train: np.ndarray
    held_out: np.ndarray


class HeldOutVotes(NamedTuple):
    """What a booster says of the rows that one split holds out."""

    fractions: np.ndarray  # (rows, classes): of its mean vote
    right: np.ndarray  # whether its prediction is


class TrialResult(NamedTuple):
    """A booster's log-loss and accuracy on held-out rows; ``losses`` are those of the rows, split after split."""

    log_loss: float
    accuracy: float
    losses: np.ndarray


class RivalComparison(NamedTuple):
    """By how much a booster's log-loss is lower than another's, the standard error, and the gain in accuracy."""

    other: Rival
    gain: float
    error: float
    accuracy_gain: float

    @property
    def is_better(self) -> bool:
        return self.gain > STANDARD_ERRORS * self.error


def held_out_splits(problem: Problem, fraction: float, seed: int) -> list[HeldOutSplit]:
    """One split of a large table, up to ten of a small one, classes in equal parts where each has enough rows."""
    rows = problem.weighted_rows()
    codes = problem.codes[rows]
    counts = np.bincount(codes)
    n_held_out = ceil(fraction * len(rows))
    if n_held_out >= len(rows):
        raise ParameterError(f"validation_fraction={fraction} holds out all {len(rows)} rows with weight: lower it.")
    outside = n_held_out * (len(rows) - counts.max()) / len(rows)
    n_splits = min(MAX_SPLITS, ceil(MIN_HELD_OUT / outside))
    balanced = counts[counts > 0].min() >= 2 and min(n_held_out, len(rows) - n_held_out) >= np.count_nonzero(counts)
    stratify = codes if balanced else None
    seeds = [(seed + k) % 2**32 for k in range(n_splits)]
    return [
        HeldOutSplit(*train_test_split(rows, test_size=n_held_out, random_state=k, stratify=stratify)) for k in seeds
    ]


class Trials:
    """Boosters, fitted to split after split, as far as it takes to say which is better.

    ``fit(rival, rows)`` fits a booster to these rows of the problem.
    """

    def __init__(self, problem: Problem, splits: list[HeldOutSplit], fit: Callable[[Rival, np.ndarray], Voter]) -> None:
        self.problem, self.splits, self.fit = problem, splits, fit
        self.votes: dict[Rival, list[HeldOutVotes]] = {}

    def trial(self, rival: Rival, n_splits: int | None = None) -> TrialResult:
        """How a booster did on the first splits; on all that it was fitted to, but at least one, if not told."""
        done = self.votes.setdefault(rival, [])
        n_splits = max(1, len(done)) if n_splits is None else n_splits
        for split in self.splits[len(done) : n_splits]:
            done.append(_vote(self.problem, self.fit(rival, split.train), split.held_out))
        return try_out(self.problem, self.splits[:n_splits], done[:n_splits])

    def compare(self, one: Rival, other: Rival) -> RivalComparison:
        """Compare two boosters on as many splits as it takes."""
        for n in range(1, len(self.splits) + 1):
            one_trial, other_trial = self.trial(one, n), self.trial(other, n)
            gain, error = gain_of(self.problem, self.splits[:n], one_trial, other_trial)
            comparison = RivalComparison(other, gain, error, one_trial.accuracy - other_trial.accuracy)
            if is_decided(gain, error, n / len(self.splits)):
                break
        return comparison

    def results(self, start: Rival, comparisons: Mapping[Rival, RivalComparison]) -> dict[Rival, TrialResult]:
        """Log-loss and accuracy of each: of ``start`` on all its splits, of others by their gains on those before."""
        results = {start: self.trial(start)}
        for rival, comparison in comparisons.items():
            before = results[comparison.other]
            loss, accuracy = before.log_loss - comparison.gain, before.accuracy + comparison.accuracy_gain
            results[rival] = TrialResult(loss, accuracy, self.trial(rival).losses)
        return results


def challenge(
    trials: Trials, best: Rival, rivals: Sequence[Rival], climb: bool
) -> tuple[Rival, dict[Rival, RivalComparison]]:
    """The best of all, one challenged by the next; ``climb`` ends at the first that is not better."""
    comparisons = {}
    for rival in rivals:
        comparisons[rival] = trials.compare(rival, best)
        if comparisons[rival].is_better:
            best = rival
        elif climb:
            break
    return best, comparisons


def is_decided(gain: float, error: float, part: float) -> bool:
    """Whether splits yet to come would hardly turn the decision, when ``part`` of them have been tried.

    The decision is by the gain over its standard error after all splits. Given those so far, and nothing else, that is
    normal around ``gain / error / sqrt(part)``, with variance ``(1 - part) / part``.
    """
    left = 1 - part
    if left <= 0 or error == 0:
        return left <= 0
    expected = gain / error / sqrt(part)
    return bool(ndtr(-abs(expected - STANDARD_ERRORS) / sqrt(left / part)) < MAX_DOUBT)


def try_out(problem: Problem, splits: list[HeldOutSplit], votes: list[HeldOutVotes]) -> TrialResult:
    """How good the votes on held-out rows are, once a link from votes to probabilities has been fitted to them."""
    held_out = _held_out(splits)
    fractions = np.concatenate([one.fractions for one in votes])
    right = np.concatenate([one.right for one in votes])
    codes, weights = problem.codes[held_out], _weights(problem, held_out)
    few = slice(None, None, max(1, fractions.size // MAX_LINK_VOTES))
    link = fit_link(fractions[few], codes[few], weights[few])
    found = link.of_fractions(fractions)[np.arange(len(codes)), codes]
    losses = -np.log(np.maximum(found, np.finfo(float).tiny))
    return TrialResult(float(np.average(losses, weights=weights)), float(np.average(right, weights=weights)), losses)


def gain_of(problem: Problem, splits: list[HeldOutSplit], one: TrialResult, other: TrialResult) -> tuple[float, float]:
    """By how much held-out rows show the first booster's log-loss to be lower, and the standard error.

    A row that several splits hold out counts once, by its mean: its losses are not independent.
    """
    held_out = _held_out(splits)
    counts = np.bincount(held_out, minlength=problem.n_rows)
    rows = np.flatnonzero(counts)
    gains = np.bincount(held_out, other.losses - one.losses, minlength=problem.n_rows)[rows] / counts[rows]
    weights = counts[rows] * _weights(problem, rows)
    weights = weights / weights.sum()
    gain = float(weights @ gains)
    return gain, float(np.sqrt(weights**2 @ (gains - gain) ** 2))


def _vote(problem: Problem, booster: Voter, held_out: np.ndarray) -> HeldOutVotes:
    table = problem.columns.take(held_out)
    labels = booster._labels(booster._decide(booster._tally(table)))
    return HeldOutVotes(fractions_of(booster._mean_vote(table)), labels == problem.classes[problem.codes[held_out]])


def _held_out(splits: list[HeldOutSplit]) -> np.ndarray:
    return np.concatenate([split.held_out for split in splits])


def _weights(problem: Problem, rows: np.ndarray) -> np.ndarray:
    return np.ones(len(rows)) if problem.weights is None else problem.weights[rows]
