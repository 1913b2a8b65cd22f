"""AdaBoost rounds over any weak learner and any number of classes (SAMME)."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from surefoot.boosting.learners import WeakLearner
from surefoot.boosting.stump_kernels import MAX_GROWTH, Rule, weigh_vote

MIN_WEIGHT = np.finfo(np.float64).eps  # scikit-learn keeps weights that were above zero from vanishing


class BoostedVotes(NamedTuple):
    """Hypotheses, what their votes weigh, and their weighted errors."""

    hypotheses: list[Any]
    vote_weights: np.ndarray
    errors: np.ndarray


def chance_error(n_classes: int) -> float:
    """From this weighted error on, a hypothesis is no better than guessing."""
    return 1.0 - 1.0 / n_classes - 1e-12


def boost_learner(
    learner: WeakLearner,
    classes: np.ndarray,
    weights: np.ndarray,
    n_classes: int,
    rule: Rule,
    n_rounds: int,
    between: Callable[[int, float], None] = lambda done, error: None,
) -> BoostedVotes:
    """Reweight and learn until the rounds are used up, a hypothesis is perfect, or one is no better than chance.

    A perfect hypothesis votes with weight 1 (alone, with AdaBoost*); one no better than chance is dropped, unless it is
    the first: then it stays, alone, and its error tells.
    """
    weights = weights.copy()  # at first not normalised: a row of weight 3 stays exactly three of weight 1
    counted = weights > 0
    edge = np.ones(1)
    hypotheses: list[Any] = []
    votes: list[float] = []
    errors: list[float] = []
    for t in range(n_rounds):
        hypothesis, answers = learner.learn(weights, t)
        wrong = answers != classes
        error = float(weights[wrong].sum() / weights.sum())
        if error <= 0:
            kept = 0 if rule.star else t
            return BoostedVotes(
                [*hypotheses[:kept], hypothesis], np.array([*votes[:kept], 1.0]), np.array([*errors[:kept], 0.0])
            )
        if error >= chance_error(n_classes):
            if t == 0:
                return BoostedVotes([hypothesis], np.ones(1), np.array([error]))
            break
        vote, factor = weigh_vote(error, rule, edge)
        if n_classes > 2:
            vote += rule.learning_rate * np.log(n_classes - 1.0)
            factor = np.exp(min(vote, MAX_GROWTH))
        hypotheses.append(hypothesis)
        votes.append(vote)
        errors.append(error)
        weights[wrong] *= factor
        weights /= weights.sum()
        weights[counted] = np.maximum(weights[counted], MIN_WEIGHT)
        between(t + 1, error)
    return BoostedVotes(hypotheses, np.array(votes), np.array(errors))
