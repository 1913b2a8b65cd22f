"""What is to be learned: a table, its target, and everything that all members of an ensemble share."""

from dataclasses import dataclass

import numpy as np

from surefoot._progress import Progress
from surefoot.data import Columns
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.guide import Guide
from surefoot.uncertainty.recipe import Recipe

MOST_TARGETS = 8  # of many classes, the most frequent


@dataclass(frozen=True)
class Task:
    """A table with its target and everything that all members share.

    Rows from ``n_own`` on are the validation rows that the user gave.
    """

    columns: Columns
    validation: Columns | None
    y: np.ndarray
    weights: np.ndarray | None
    family: RegressionFamily | ClassificationFamily
    strata: np.ndarray | None  # classes, each of which is held out in proportion
    recipe: Recipe
    max_bins: int
    hold_out: float  # share of the rows, 0 for none
    seed: int
    n_jobs: int | None
    progress: Progress
    guide: Guide | None = None  # what held-out rows of models on trial have told
    history: tuple[float, ...] = ()  # and their losses, round by round

    @property
    def n_own(self) -> int:
        return self.columns.n_rows

    def targets(self) -> np.ndarray:
        """What categories are told apart by, (targets, rows): the target, or for several classes whether it is each."""
        if self.family.n_outputs == 1 or self.family.natural:
            return self.y[np.newaxis].astype(np.float64)
        return (self.y == self.told[:, np.newaxis]).astype(np.float64)

    @property
    def told(self) -> np.ndarray:
        """The outputs that categories tell something of: the first parameter, or the most frequent classes."""
        if self.family.n_outputs == 1 or self.family.natural:
            return np.array([0])
        return np.argsort(-np.bincount(self.y[: self.n_own]), kind="stable")[:MOST_TARGETS]

    def start(self, rows: np.ndarray) -> np.ndarray:
        """The constant outputs that suit some rows best."""
        weights = None if self.weights is None else self.weights[rows]
        if isinstance(self.family, RegressionFamily):
            return self.family.start(self.y[rows], weights)
        return self.family.start(self.y[rows], weights, max(2, self.family.n_outputs))
