"""Weak learners for the general rounds: the native tree, or any scikit-learn classifier."""

from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import has_fit_parameter

from surefoot._exceptions import ParameterError
from surefoot.boosting.weights import whole_weights
from surefoot.trees import GrownTree, TreeGrower


class WeakLearner(Protocol):
    """Answers a weighting of its rows with a hypothesis and the classes it gives to those rows."""

    def learn(self, weights: np.ndarray, round_: int) -> tuple[Any, np.ndarray]: ...


class TreeLearner:
    """Native trees."""

    def __init__(self, grower: TreeGrower) -> None:
        self.grower = grower

    def learn(self, weights: np.ndarray, round_: int) -> tuple[GrownTree, np.ndarray]:
        whole, _ = whole_weights(weights)
        first_row = self.grower.first_row
        tree = self.grower.grow((np.flatnonzero(whole) + first_row).astype(np.int32), whole)
        answers = np.zeros(len(weights), dtype=np.int32)
        answers[tree.rows - first_row] = np.repeat(tree.labels, np.diff(tree.leaf_ends, prepend=0))
        return tree._replace(rows=tree.rows[:0].copy()), answers  # the rows of 300 trees would be a table of their own


class EstimatorLearner:
    """A scikit-learn classifier, cloned for every round; its random_state, if it has one, changes with the round."""

    def __init__(self, estimator: BaseEstimator, X: np.ndarray, y: np.ndarray, classes: np.ndarray, seed: int) -> None:
        if not has_fit_parameter(estimator, "sample_weight"):
            raise ParameterError(
                f"estimator={type(estimator).__name__} does not take sample_weight in fit: "
                "boosting cannot reweight its rows."
            )
        self.estimator, self.X, self.y, self.classes, self.seed = estimator, X, y, classes, seed

    def learn(self, weights: np.ndarray, round_: int) -> tuple[Any, np.ndarray]:
        fitted = clone(self.estimator)
        if "random_state" in fitted.get_params():
            fitted.set_params(random_state=(self.seed + round_) % (2**31 - 1))
        counted = weights > 0
        fitted.fit(self.X[counted], self.y[counted], sample_weight=weights[counted] / weights.sum())
        return fitted, np.searchsorted(self.classes, fitted.predict(self.X))
