"""Fitted weighted votes: of native trees, or of scikit-learn classifiers."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from surefoot.trees import StepFunctions, Tree, VotingForest
from surefoot.trees.steps import count_steps

MAX_STUMPS = 100_000  # step functions are made stump by stump
MAX_STEP_NUMBERS, MAX_STEP_SUMS = 1 << 23, 1 << 28  # 64 MB, and some tenths of a second
ROUNDING = 1e-12  # votes this close are a tie
MAX_STEP_OUTPUTS = 64  # step functions hold a value per class and break: too much memory for very many classes


class WeightedVote:
    """A vote of hypotheses with weights."""

    vote_weights: np.ndarray

    def __len__(self) -> int:
        return len(self.vote_weights)

    @property
    def total(self) -> float:
        """Sum of the vote weights; 1 if the sum is 0, so that dividing by it is safe."""
        return float(self.vote_weights.sum()) or 1.0


@dataclass(frozen=True)
class TreeCommittee(WeightedVote):
    """A weighted vote of native trees. The tally is class 1 minus class 0 for two classes, else one row per class."""

    forest: VotingForest
    vote_weights: np.ndarray
    errors: np.ndarray
    n_classes: int

    def hypotheses(self) -> list[Tree]:
        return [self.forest.tree(t) for t in range(len(self))]

    @cached_property
    def _has_steps(self) -> bool:
        """Whether the trees are stumps whose step functions do not take more memory or time than the stumps."""
        forest = self.forest
        if forest.features.shape[1] > 1 or len(forest.features) > MAX_STUMPS or self.n_classes > MAX_STEP_OUTPUTS:
            return False
        n_numbers, n_sums = count_steps(forest, 1 if self.n_classes == 2 else self.n_classes)
        return n_numbers <= MAX_STEP_NUMBERS and n_sums <= MAX_STEP_SUMS

    @cached_property
    def _steps(self) -> StepFunctions:
        weights = (self.vote_weights / self.total)[np.newaxis, :, np.newaxis]
        if self.n_classes == 2:
            leaf_values = (2.0 * self.forest.labels - 1.0)[np.newaxis] * weights
        else:
            leaf_values = (self.forest.labels == np.arange(self.n_classes)[:, np.newaxis, np.newaxis]) * weights
        return StepFunctions.from_stumps(self.forest, leaf_values)

    def tally(self, values: np.ndarray) -> np.ndarray:
        """The vote on a block of columns, as a fraction of the total vote weight: (1 or n_classes, rows)."""
        n_rows = values.shape[1]
        if self._has_steps:
            votes = np.zeros((1 if self.n_classes == 2 else self.n_classes, n_rows))
            self._steps.add_to(values, votes)
            return make_ties_exact(votes)
        by_class = np.zeros((n_rows, self.n_classes))
        self.forest.add_votes(values, self.vote_weights, by_class)
        return to_tally(by_class.T / self.total)

    def add_round(self, t: int, values: np.ndarray, votes: np.ndarray) -> None:
        """Add the vote of round ``t`` to ``votes`` (rows, classes)."""
        one = VotingForest(*(getattr(self.forest, name)[t : t + 1] for name in self.forest.__dataclass_fields__))
        one.add_votes(values, self.vote_weights[t : t + 1], votes)


@dataclass(frozen=True)
class EstimatorCommittee(WeightedVote):
    """A weighted vote of scikit-learn classifiers."""

    estimators: list[Any]
    vote_weights: np.ndarray
    errors: np.ndarray
    classes: np.ndarray

    def hypotheses(self) -> list[Any]:
        return self.estimators

    def tally(self, values: np.ndarray) -> np.ndarray:
        """The vote on a block of columns, as a fraction of the total vote weight: (1 or n_classes, rows)."""
        votes = np.zeros((values.shape[1], len(self.classes)))
        for t in range(len(self)):
            self.add_round(t, values, votes)
        return to_tally(votes.T / self.total)

    def add_round(self, t: int, values: np.ndarray, votes: np.ndarray) -> None:
        """Add the vote of round ``t`` to ``votes`` (rows, classes)."""
        predictions = np.searchsorted(self.classes, self.estimators[t].predict(values.T))
        votes[np.arange(len(predictions)), predictions] += self.vote_weights[t]


Committee = TreeCommittee | EstimatorCommittee


def to_tally(fractions: np.ndarray) -> np.ndarray:
    """Fractions of the vote (classes, rows) as a tally: for two classes their difference; ties are made exact."""
    return make_ties_exact(fractions[1:] - fractions[:1] if len(fractions) == 2 else fractions)


def make_ties_exact(tally: np.ndarray) -> np.ndarray:
    """Undo rounding between tied votes, so that the winner does not depend on the order in which votes are added."""
    if len(tally) == 1:
        return np.where(np.abs(tally) < ROUNDING, 0.0, np.clip(tally, -1.0, 1.0))
    largest = tally.max(axis=0)
    return np.where(tally > largest - ROUNDING, largest, tally)


def chance_error(n_classes: int) -> float:
    """The weighted error from which a hypothesis is no better than guessing."""
    return 1.0 - 1.0 / n_classes - 1e-12
