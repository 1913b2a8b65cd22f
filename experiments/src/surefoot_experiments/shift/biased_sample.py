"""A biased training sample of one split: rows drawn with unequal probabilities, and the target to predict."""

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from surefoot_experiments.shift.protocol import (
    HELD_OUT_FRACTION,
    MAX_TARGET_ROWS,
    MAX_TRAINING_ROWS,
    ONE_FEATURE,
    SELECTIONS,
    STRENGTH,
    TRAINING_FRACTION,
    TWO_FEATURES,
)
from surefoot_experiments.uncertainty.datasets import LoadedDataset


def generator_for(dataset: str, split: int, selection: str) -> np.random.Generator:
    """Return the random numbers of one sample, the same in every run."""
    return np.random.default_rng([crc32(dataset.encode()), split, SELECTIONS.index(selection)])


def selection_scores(X: np.ndarray, selection: str, rng: np.random.Generator) -> np.ndarray:
    """Return the scores that rows are drawn by: ranks of a random feature, of two, or of the first principal component.

    Either end may be favoured. Scores have mean 0 and, without ties, standard deviation 1.
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
    """Draw the rows of the biased training sample, and further rows to hold out."""
    n_train = min(MAX_TRAINING_ROWS, int(TRAINING_FRACTION * len(scores)))
    n_drawn = n_train + int(np.ceil(HELD_OUT_FRACTION * n_train))
    odds = np.exp(STRENGTH * scores)
    drawn = rng.choice(len(scores), n_drawn, replace=False, p=odds / odds.sum())
    drawn = rng.permutation(drawn)  # those drawn first are the most biased
    return drawn[:n_train], drawn[n_train:]


def _ranks(values: np.ndarray) -> np.ndarray:
    """Rank from 1 on, ties in the middle of their places: halves are exact, so that equal sums of ranks are equal."""
    from scipy.stats import rankdata

    return rankdata(values)


def _first_component(X: np.ndarray) -> np.ndarray:
    """Project on it, with its largest loading above 0; the last digits, which differ between machines, are rounded."""
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    loadings = np.linalg.svd(standard, full_matrices=False)[2][0]
    return np.round(standard @ (loadings * np.sign(loadings[np.argmax(np.abs(loadings))])), 9)


@dataclass(frozen=True)
class Rows:
    """Rows and their targets."""

    X: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class BiasedSample:
    """A biased training sample, and rows to compare with.

    ``source`` are held-out rows drawn like the training rows; ``unbiased`` are as many rows as there are training rows,
    drawn with equal probabilities. ``X_target`` are test rows without their targets, which are only used for scores.
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
    def from_table(cls, table: LoadedDataset, split: int, selection: str) -> "BiasedSample":
        """Draw the sample of this split and selection."""
        from scipy.stats import ks_2samp

        X, (rows, test) = table.X.to_numpy(np.float64), table.splits[split]
        rng = generator_for(table.dataset.name, split, selection)
        scores = selection_scores(X[rows], selection, rng)
        train, held_out = draw_rows(scores, rng)
        unbiased = rng.choice(len(rows), len(train), replace=False)
        target = rng.permutation(test)[:MAX_TARGET_ROWS]
        shift = float(ks_2samp(scores[np.concatenate([train, held_out])], scores).statistic)
        return cls(
            table.dataset.name, split, selection, shift=shift, X_target=X[target],
            train=Rows(X[rows[train]], table.y[rows[train]]), source=Rows(X[rows[held_out]], table.y[rows[held_out]]),
            unbiased=Rows(X[rows[unbiased]], table.y[rows[unbiased]]), test=Rows(X[test], table.y[test]),
        )  # fmt: skip
