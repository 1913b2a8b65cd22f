"""One biased sample of one split: rows to train on, the target they are meant for, and rows to score on."""

from dataclasses import dataclass

import numpy as np

from surefoot_experiments.shift.biased_sample import draw_rows, generator_for, selection_scores
from surefoot_experiments.shift.protocol import MOST_TARGET
from surefoot_experiments.uncertainty.datasets import Table


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
        target = rng.permutation(test)[:MOST_TARGET]
        shift = float(ks_2samp(scores[np.concatenate([train, held_out])], scores).statistic)
        return cls(
            table.dataset.name, split, selection, shift=shift, X_target=X[target],
            train=Rows(X[rows[train]], table.y[rows[train]]), source=Rows(X[rows[held_out]], table.y[rows[held_out]]),
            unbiased=Rows(X[rows[unbiased]], table.y[rows[unbiased]]), test=Rows(X[test], table.y[test]),
        )  # fmt: skip
