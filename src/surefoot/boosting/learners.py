"""Weak learners for the general rounds: the native tree, or any scikit-learn classifier."""

from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.utils.validation import has_fit_parameter

from surefoot._exceptions import ParameterError
from surefoot._random import stream_key
from surefoot.boosting.stump_state import whole_weights
from surefoot.trees import GrownTree, TreeGrower
from surefoot.trees.split_kernels import predict_rows


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
        predict_rows(tree, first_row, answers)
        return tree._replace(rows=tree.rows[:0].copy()), answers  # the rows of 300 trees would be a table of their own


def check_weak_learner(estimator: Any) -> None:
    """Refuse what is not a classifier whose rows can be weighted."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit") or not is_classifier(estimator):
        raise ParameterError(f"estimator must be a scikit-learn classifier (an instance) or None, got {estimator!r}.")
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ParameterError(
            f"estimator={type(estimator).__name__} does not take sample_weight in fit, so boosting cannot reweight its "
            "rows: choose one that does (a pipeline does not)."
        )


class EstimatorLearner:
    """A scikit-learn classifier, cloned for every round; every ``random_state`` in it changes with the round."""

    def __init__(
        self, estimator: BaseEstimator, X: np.ndarray, codes: np.ndarray, classes: np.ndarray, seed: int
    ) -> None:
        self.estimator, self.X, self.y, self.classes, self.seed = estimator, X, classes[codes], classes, seed

    def learn(self, weights: np.ndarray, round_: int) -> tuple[Any, np.ndarray]:
        counted = weights > 0
        X, y = self.X[counted], self.y[counted]
        fitted = self._clone(round_)
        if (y == y[0]).all():  # many classifiers refuse a single class, which a part of the rows may have
            fitted = DummyClassifier(strategy="most_frequent")
        fitted.fit(X, y, sample_weight=weights[counted] / weights.sum())
        return fitted, np.searchsorted(self.classes, fitted.predict(self.X))

    def _clone(self, round_: int) -> BaseEstimator:
        copy = clone(self.estimator)
        random = [name for name in copy.get_params() if name == "random_state" or name.endswith("__random_state")]
        for place, name in enumerate(sorted(random)):
            copy.set_params(**{name: int(stream_key(self.seed, round_, place)) % (2**31 - 1)})
        return copy
