"""AdaBoost with any weak learner and any number of classes (SAMME); weak learners are trees or classifiers."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.utils.validation import has_fit_parameter

from surefoot._exceptions import ParameterError
from surefoot._random import stream_key
from surefoot.boosting.committee import chance_error
from surefoot.boosting.stump_boosting import whole_weights
from surefoot.boosting.stump_kernels import MAX_GROWTH, Rule, weigh_vote
from surefoot.trees import GrownTree, TreeGrower
from surefoot.trees.split_kernels import predict_rows

MIN_WEIGHT = np.finfo(np.float64).eps  # as in scikit-learn, weights above zero do not vanish


class WeakLearner(Protocol):
    """Learns from weighted rows: returns a hypothesis, and the classes that it predicts for these rows."""

    def learn(self, weights: np.ndarray, round_: int) -> tuple[Any, np.ndarray]: ...


class BoostedVotes(NamedTuple):
    """Hypotheses, the weights of their votes, and their weighted errors."""

    hypotheses: list[Any]
    vote_weights: np.ndarray
    errors: np.ndarray

    @classmethod
    def from_rounds(cls, rounds: list[tuple[Any, float, float]]) -> "BoostedVotes":
        """Votes from (hypothesis, vote weight, error) of each round."""
        hypotheses, vote_weights, errors = zip(*rounds, strict=True)
        return cls(list(hypotheses), np.array(vote_weights), np.array(errors))


def boost_learner(
    learner: WeakLearner,
    classes: np.ndarray,
    weights: np.ndarray,
    n_classes: int,
    rule: Rule,
    n_rounds: int,
    callback: Callable[[int, float], None] = lambda done, error: None,
) -> BoostedVotes:
    """Reweight and learn until the rounds are used up, a hypothesis is perfect, or one is no better than chance.

    A perfect hypothesis votes with weight 1 (with AdaBoost*, it is the only one kept). A hypothesis that is no better
    than chance is dropped, unless it is the first: then it is kept alone, and its error shows the failure.
    ``callback(rounds done, last error)`` is called after each round.
    """
    weights = weights.copy()  # not normalised at first: a row of weight 3 equals three rows of weight 1
    has_weight = weights > 0
    edge = np.ones(1)
    rounds: list[tuple[Any, float, float]] = []
    for t in range(n_rounds):
        hypothesis, predictions = learner.learn(weights, t)
        wrong = predictions != classes
        error = float(weights[wrong].sum() / weights.sum())
        if error <= 0:
            return BoostedVotes.from_rounds([*([] if rule.star else rounds), (hypothesis, 1.0, 0.0)])
        if error >= chance_error(n_classes):
            return BoostedVotes.from_rounds(rounds or [(hypothesis, 1.0, error)])
        vote, factor = weigh_vote(error, rule, edge)
        if n_classes > 2:
            vote += rule.learning_rate * np.log(n_classes - 1.0)
            factor = np.exp(min(vote, MAX_GROWTH))
        rounds.append((hypothesis, vote, error))
        weights[wrong] *= factor
        weights /= weights.sum()
        weights[has_weight] = np.maximum(weights[has_weight], MIN_WEIGHT)
        callback(t + 1, error)
    return BoostedVotes.from_rounds(rounds)


class TreeLearner:
    """Native trees."""

    def __init__(self, grower: TreeGrower) -> None:
        self.grower = grower

    def learn(self, weights: np.ndarray, round_: int) -> tuple[GrownTree, np.ndarray]:
        whole, _ = whole_weights(weights)
        first_row = self.grower.first_row
        tree = self.grower.grow((np.flatnonzero(whole) + first_row).astype(np.int32), whole)
        predictions = np.zeros(len(weights), dtype=np.int32)
        predict_rows(tree, first_row, predictions)
        return tree._replace(rows=tree.rows[:0].copy()), predictions  # the rows of 300 trees would fill another table


class EstimatorLearner:
    """A scikit-learn classifier, cloned for every round; every ``random_state`` in it changes with the round."""

    def __init__(
        self, estimator: BaseEstimator, X: np.ndarray, codes: np.ndarray, classes: np.ndarray, seed: int
    ) -> None:
        self.estimator, self.X, self.y, self.classes, self.seed = estimator, X, classes[codes], classes, seed

    def learn(self, weights: np.ndarray, round_: int) -> tuple[Any, np.ndarray]:
        has_weight = weights > 0
        X, y = self.X[has_weight], self.y[has_weight]
        fitted = self._clone(round_)
        if (y == y[0]).all():  # many classifiers refuse a single class, which a part of the rows may have
            fitted = DummyClassifier(strategy="most_frequent")
        fitted.fit(X, y, sample_weight=weights[has_weight] / weights.sum())
        return fitted, np.searchsorted(self.classes, fitted.predict(self.X))

    def _clone(self, round_: int) -> BaseEstimator:
        copy = clone(self.estimator)
        random = [name for name in copy.get_params() if name == "random_state" or name.endswith("__random_state")]
        for place, name in enumerate(sorted(random)):
            copy.set_params(**{name: int(stream_key(self.seed, round_, place)) % (2**31 - 1)})
        return copy


def check_weak_learner(estimator: Any) -> None:
    """Refuse an estimator that is not a classifier, or that takes no ``sample_weight``."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit") or not is_classifier(estimator):
        raise ParameterError(f"estimator must be a scikit-learn classifier (an instance) or None, got {estimator!r}.")
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ParameterError(
            f"estimator={type(estimator).__name__} does not take sample_weight in fit, so boosting cannot reweight its "
            "rows: choose one that does (a pipeline does not)."
        )
