"""A training sample that some rows had a better chance to enter than others."""

from zlib import crc32

import numpy as np

from surefoot_experiments.shift.protocol import (
    HELD_OUT_SHARE,
    MOST_TRAINING,
    ONE_FEATURE,
    SELECTIONS,
    STRENGTH,
    TRAINING_SHARE,
    TWO_FEATURES,
)


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
    n_train = min(MOST_TRAINING, int(TRAINING_SHARE * len(scores)))
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
