"""Boosters on trial: what they say of held-out rows, and which of them these rows prefer."""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple, Protocol

import numpy as np
from sklearn.model_selection import train_test_split

from surefoot._exceptions import ParameterError
from surefoot.boosting.vote_link import fit_link, fractions_of
from surefoot.data import Columns
from surefoot.data.problem import Problem

MIN_HELD_OUT = 1000  # rows outside the largest class, over all splits
MAX_SPLITS = 10
STANDARD_ERRORS = 2.0  # by which a booster must be better than the one before it


class Voter(Protocol):
    """A fitted booster."""

    def _tally(self, columns: Columns) -> np.ndarray: ...
    def _mean_vote(self, columns: Columns) -> np.ndarray: ...
    def _decide(self, tally: np.ndarray) -> np.ndarray: ...
    def _labels(self, decision: np.ndarray) -> np.ndarray: ...


class Split(NamedTuple):
    """Rows to train on and rows to choose by."""

    train: np.ndarray
    held_out: np.ndarray


class Trial(NamedTuple):
    """A booster's log-loss and accuracy on held-out rows; ``losses`` are those of the rows, over all splits."""

    log_loss: float
    accuracy: float
    losses: np.ndarray


def held_out_splits(problem: Problem, fraction: float, seed: int) -> list[Split]:
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
    return [Split(*train_test_split(rows, test_size=n_held_out, random_state=k, stratify=stratify)) for k in seeds]


def try_out(problem: Problem, splits: list[Split], boosters: Sequence[Voter]) -> Trial:
    """What boosters, one fitted to each split, say of the rows that it holds out."""
    held_out = np.concatenate([split.held_out for split in splits])
    tables = [problem.columns.take(split.held_out) for split in splits]
    pairs = list(zip(boosters, tables, strict=True))
    votes = np.concatenate([fractions_of(booster._mean_vote(table)) for booster, table in pairs])
    labels = np.concatenate([booster._labels(booster._decide(booster._tally(table))) for booster, table in pairs])
    codes = problem.codes[held_out]
    weights = np.ones(len(held_out)) if problem.weights is None else problem.weights[held_out]
    found = fit_link(votes, codes, weights).of_fractions(votes)[np.arange(len(codes)), codes]
    losses = -np.log(np.maximum(found, np.finfo(float).tiny))
    right = labels == problem.classes[codes]
    return Trial(float(np.average(losses, weights=weights)), float(np.average(right, weights=weights)), losses)


def is_better(problem: Problem, splits: list[Split], one: Trial, other: Trial) -> bool:
    """Whether held-out rows show that the first booster's log-loss is lower: by more than two standard errors.

    A row that several splits hold out counts once, by its mean: its losses are not independent.
    """
    held_out = np.concatenate([split.held_out for split in splits])
    counts = np.bincount(held_out, minlength=problem.n_rows)
    rows = np.flatnonzero(counts)
    gains = np.bincount(held_out, other.losses - one.losses, minlength=problem.n_rows)[rows] / counts[rows]
    weights = counts[rows] * (1.0 if problem.weights is None else problem.weights[rows])
    weights = weights / weights.sum()
    gain = float(weights @ gains)
    return gain > STANDARD_ERRORS * float(np.sqrt(weights**2 @ (gains - gain) ** 2))
