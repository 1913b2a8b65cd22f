"""Weak learners for the general rounds: the native tree, or any scikit-learn classifier."""

from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import has_fit_parameter

from surefoot._exceptions import ParameterError
from surefoot._parallel import RowThreads
from surefoot.boosting.weights import whole_weights
from surefoot.data import BinnedTable
from surefoot.trees import grow_tree


class WeakLearner(Protocol):
    """Answers a weighting of its rows with a hypothesis and the classes it gives to those rows."""

    def learn(self, weights: np.ndarray, round_: int) -> tuple[Any, np.ndarray]: ...


class TreeLearner:
    """Native trees on rows ``start:stop`` of the table; ``classes`` are those of all rows of the table."""

    def __init__(
        self, table: BinnedTable, classes: np.ndarray, start: int, n_classes: int, depth: int, criterion: int, threads: RowThreads
    ) -> None:
        self.table, self.classes, self.start = table, classes, start
        self.n_classes, self.depth, self.criterion, self.threads = n_classes, depth, criterion, threads

    def learn(self, weights: np.ndarray, round_: int) -> tuple[Any, np.ndarray]:
        whole, _ = whole_weights(weights)
        rows = (np.flatnonzero(whole) + self.start).astype(np.int32)
        tree = grow_tree(
            self.table, rows, self.classes, whole, self.start, self.n_classes, self.depth, self.criterion, self.threads
        )
        answers = np.zeros(len(weights), dtype=np.int32)
        sizes = np.diff(tree.leaf_ends, prepend=0)
        answers[tree.rows - self.start] = np.repeat(tree.labels, sizes)
        return tree._replace(rows=np.empty(0, dtype=np.int32)), answers


class EstimatorLearner:
    """A scikit-learn classifier, cloned for every round; its random_state, if it has one, changes with the round."""

    def __init__(self, estimator: BaseEstimator, X: np.ndarray, y: np.ndarray, classes: np.ndarray, seed: int) -> None:
        if not has_fit_parameter(estimator, "sample_weight"):
            raise ParameterError(
                f"estimator={type(estimator).__name__} does not take sample_weight in fit: boosting cannot reweight its rows."
            )
        self.estimator, self.X, self.y, self.classes, self.seed = estimator, X, y, classes, seed

    def learn(self, weights: np.ndarray, round_: int) -> tuple[Any, np.ndarray]:
        fitted = clone(self.estimator)
        if "random_state" in fitted.get_params():
            fitted.set_params(random_state=(self.seed + round_) % (2**31 - 1))
        counted = weights > 0
        fitted.fit(self.X[counted], self.y[counted], sample_weight=weights[counted])
        return fitted, np.searchsorted(self.classes, fitted.predict(self.X))
