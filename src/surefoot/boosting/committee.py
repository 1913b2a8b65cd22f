"""A fitted vote: hypotheses with weights, whatever kind they are."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from surefoot.trees import StepFunctions, Tree, VotingForest

ROUNDING = 1e-12  # votes this close are a tie
MAX_STEP_OUTPUTS = 64  # step functions hold a value per class and break: too much memory for very many classes


@dataclass(frozen=True)
class TreeCommittee:
    """A weighted vote of native trees. Two classes have one tally, class 1 less class 0; several have one per class."""

    forest: VotingForest
    vote_weights: np.ndarray
    errors: np.ndarray
    n_classes: int

    def __len__(self) -> int:
        return len(self.vote_weights)

    @property
    def total(self) -> float:
        """Sum of the vote weights; 1 where there is no vote to speak of, so that dividing by it is safe."""
        return float(self.vote_weights.sum()) or 1.0

    def hypotheses(self) -> list[Tree]:
        return [self.forest.tree(t) for t in range(len(self))]

    @cached_property
    def _steps(self) -> StepFunctions:
        shares = self.vote_weights / self.total
        if self.n_classes == 2:
            leaf_values = (2.0 * self.forest.labels - 1.0)[np.newaxis] * shares[np.newaxis, :, np.newaxis]
        else:
            given = self.forest.labels == np.arange(self.n_classes)[:, np.newaxis, np.newaxis]
            leaf_values = given * shares[np.newaxis, :, np.newaxis]
        return StepFunctions.from_stumps(self.forest, leaf_values)

    def tally(self, values: np.ndarray) -> np.ndarray:
        """The vote on a block of columns, as a share of all vote weight: (1 or n_classes, rows)."""
        n_rows = values.shape[1]
        if self.forest.features.shape[1] == 1 and self.n_classes <= MAX_STEP_OUTPUTS:
            votes = np.zeros((1 if self.n_classes == 2 else self.n_classes, n_rows))
            self._steps.add_to(values, votes)
            return settle_ties(votes)
        by_class = np.zeros((n_rows, self.n_classes))
        self.forest.add_votes(values, self.vote_weights, by_class)
        return to_tally(by_class.T / self.total)

    def add_round(self, t: int, values: np.ndarray, votes: np.ndarray) -> None:
        """Add the vote of round ``t`` to ``votes`` (rows, classes)."""
        one = VotingForest(*(getattr(self.forest, name)[t : t + 1] for name in self.forest.__dataclass_fields__))
        one.add_votes(values, self.vote_weights[t : t + 1], votes)


@dataclass(frozen=True)
class EstimatorCommittee:
    """A weighted vote of scikit-learn classifiers."""

    estimators: list[Any]
    vote_weights: np.ndarray
    errors: np.ndarray
    classes: np.ndarray

    def __len__(self) -> int:
        return len(self.vote_weights)

    @property
    def total(self) -> float:
        return float(self.vote_weights.sum()) or 1.0

    def hypotheses(self) -> list[Any]:
        return self.estimators

    def tally(self, values: np.ndarray) -> np.ndarray:
        """The vote on a block of columns, as a share of all vote weight: (1 or n_classes, rows)."""
        votes = np.zeros((values.shape[1], len(self.classes)))
        for t in range(len(self)):
            self.add_round(t, values, votes)
        return to_tally(votes.T / self.total)

    def add_round(self, t: int, values: np.ndarray, votes: np.ndarray) -> None:
        """Add the vote of round ``t`` to ``votes`` (rows, classes)."""
        answers = np.searchsorted(self.classes, self.estimators[t].predict(values.T))
        votes[np.arange(len(answers)), answers] += self.vote_weights[t]


Committee = TreeCommittee | EstimatorCommittee


def to_tally(shares: np.ndarray) -> np.ndarray:
    """Shares of the vote (classes, rows): two classes as one difference, several as they are; ties settled."""
    return settle_ties(shares[1:] - shares[:1] if len(shares) == 2 else shares)


def settle_ties(tally: np.ndarray) -> np.ndarray:
    """Make ties exact that rounding has blurred, so that every way of adding up the votes has the same winner."""
    if len(tally) == 1:
        return np.where(np.abs(tally) < ROUNDING, 0.0, np.clip(tally, -1.0, 1.0))
    most = tally.max(axis=0)
    return np.where(tally > most - ROUNDING, most, tally)
