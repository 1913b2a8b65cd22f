"""A biased training sample of one split: rows drawn with unequal chances, and the target they are meant for."""

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from surefoot_experiments.shift.protocol import (
    HELD_OUT_SHARE,
    MAX_TARGET,
    MAX_TRAINING,
    ONE_FEATURE,
    SELECTIONS,
    STRENGTH,
    TRAINING_SHARE,
    TWO_FEATURES,
)
from surefoot_experiments.uncertainty.datasets import Table


def generator_for(dataset: str, split: int, selection: str) -> np.random.Generator:
    """Random numbers of one sample, the same in every run."""
    return np.random.default_rng([crc32(dataset.encode()), split, SELECTIONS.index(selection)])


def selection_scores(X: np.ndarray, selection: str, rng: np.random.Generator) -> np.ndarray:
    """What rows are drawn by: ranks of a random feature, of two, or of the first principal component.

    Either end may be the favoured one. Scores have the mean 0 and, without ties, the standard deviation 1.
    """
    varied = np.flatnonzero(np.ptp(X, axis=0) > 0)
    if selection == ONE_FEATURE:
        along = X[:, rng.choice(varied)]
    elif selection == TWO_FEATURES:
        columns = rng.choice(varied, min(2, len(varied)), replace=False)
        along = np.sum([_ranks(X[:, column]) for column in columns], axis=0)
    else:
        along = _first_component(X[:, varied])
    return rng.choice([-1.0, 1.0]) * np.sqrt(12) * ((_ranks(along) - 0.5) / len(X) - 0.5)


def draw_rows(scores: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the biased training sample, and others drawn together with them to be held out."""
    n_train = min(MAX_TRAINING, int(TRAINING_SHARE * len(scores)))
    n_drawn = n_train + int(np.ceil(HELD_OUT_SHARE * n_train))
    odds = np.exp(STRENGTH * scores)
    drawn = rng.choice(len(scores), n_drawn, replace=False, p=odds / odds.sum())
    drawn = rng.permutation(drawn)  # those drawn first are the most biased
    return drawn[:n_train], drawn[n_train:]


def _ranks(values: np.ndarray) -> np.ndarray:
    """From 1 on, ties in the middle of their places: halves are exact, so that sums of ranks tie where they should."""
    from scipy.stats import rankdata

    return rankdata(values)


def _first_component(X: np.ndarray) -> np.ndarray:
    """Along it, with its largest loading above 0, and without the last digits, which differ between machines."""
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    loadings = np.linalg.svd(standard, full_matrices=False)[2][0]
    return np.round(standard @ (loadings * np.sign(loadings[np.argmax(np.abs(loadings))])), 9)


@dataclass(frozen=True)
class Rows:
    """A table with its targets."""

    X: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class Task:
    """A biased sample.

    ``source`` are held-out rows drawn like the training rows; ``unbiased`` are as many rows as there are training rows,
    drawn with equal chances. ``X_target`` are test rows without their targets, which only score.
    """

    dataset: str
    split: int
    selection: str
    train: Rows
    source: Rows
    unbiased: Rows
    test: Rows
    X_target: np.ndarray
    shift: float

    @classmethod
    def from_table(cls, table: Table, split: int, selection: str) -> "Task":
        """The sample that is drawn for this split and selection."""
        from scipy.stats import ks_2samp

        X, (rows, test) = table.X.to_numpy(np.float64), table.splits[split]
        rng = generator_for(table.dataset.name, split, selection)
        scores = selection_scores(X[rows], selection, rng)
        train, held_out = draw_rows(scores, rng)
        unbiased = rng.choice(len(rows), len(train), replace=False)
        target = rng.permutation(test)[:MAX_TARGET]
        shift = float(ks_2samp(scores[np.concatenate([train, held_out])], scores).statistic)
        return cls(
            table.dataset.name, split, selection, shift=shift, X_target=X[target],
            train=Rows(X[rows[train]], table.y[rows[train]]), source=Rows(X[rows[held_out]], table.y[rows[held_out]]),
            unbiased=Rows(X[rows[unbiased]], table.y[rows[unbiased]]), test=Rows(X[test], table.y[test]),
        )  # fmt: skip
