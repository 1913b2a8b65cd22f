"""The adversarial instance: a small universe and a weak learner that is as bad for AdaBoost as allowed.

It comes from the proof that AdaBoost needs more rows than necessary (Høgsgaard, Larsen & Ritzert 2023), in the sizes of
Høgsgaard, Larsen & Mathiasen (2024, section 4): 350 points, 1,024 uniform draws, and a weak learner that chooses among
random hypotheses. Among those with the guaranteed advantage on the given weights, it returns the one that is worst on
points without weight.

The paper gives neither the guaranteed advantage ``gamma`` nor the number of hypotheses, so both are parameters. The
defaults were chosen by experiment, on seeds that the reproduction does not use, so that the effect is visible: AdaBoost
classifies every training row correctly within 300 rounds, rarely gets the fallback, and is clearly behind Bagged
AdaBoost. With a much smaller ``gamma``, 300 rounds do not fit the training rows. With a much larger ``gamma``, most
answers are the fallback, boosting stops early, and all learners are equal.
"""

from functools import lru_cache
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

UNIVERSE = 350
N_SAMPLES = 1024
N_TARGETS = 20  # points without weight on which the weak learner is as bad as possible
N_WRONG = 20  # points, the last of the universe, that the fallback hypothesis misclassifies
FALLBACK = -1
DEFAULT_GAMMA = 0.05
DEFAULT_HYPOTHESES = 1000


def label_pattern() -> np.ndarray:
    """The label of every point, alternating between -1 and +1.

    The paper labels every point +1, but a classifier needs two classes. Multiplying the labels and all hypotheses by
    the same signs changes no error and no margin, so the instance is equivalent.
    """
    return np.where(np.arange(UNIVERSE) % 2 == 0, -1, 1)


def draw_sample(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """1,024 uniform draws from the universe, as a table of one column (points 1 to 350), and their labels."""
    points = np.random.default_rng([seed, N_SAMPLES]).integers(UNIVERSE, size=N_SAMPLES)
    return to_table(points), label_pattern()[points]


def whole_universe() -> tuple[np.ndarray, np.ndarray]:
    """Every point once, and its label: the test set."""
    return to_table(np.arange(UNIVERSE)), label_pattern()


def to_table(points: np.ndarray) -> np.ndarray:
    """Convert points counted from 0 to a table of one column counted from 1."""
    return (points + 1.0)[:, np.newaxis]


@lru_cache(maxsize=4)
def wrong_answers(seed: int, n_hypotheses: int) -> np.ndarray:
    """Where each random hypothesis is wrong: (points, hypotheses), 1.0 or 0.0, each with probability one half.

    The result is cached because all rounds and members choose from the same hypotheses.
    """
    coins = np.random.default_rng([seed, n_hypotheses]).integers(2, size=(UNIVERSE, n_hypotheses))
    wrong = coins.astype(np.float64)
    wrong.flags.writeable = False
    return wrong


class AdversarialLearner(ClassifierMixin, BaseEstimator):
    """A weak learner with the guaranteed advantage that generalizes as badly as possible.

    Its targets are the first 20 points without weight (all of them, if there are fewer). Among its random hypotheses
    with weighted error at most ``1/2 - gamma`` and error at least ``1/2 + gamma`` on the targets, it returns the one
    with the largest error on the targets; ties go to the first. If there is none, or if every point has weight, it
    returns the fallback, which is wrong only on the last 20 points.

    Parameters
    ----------
    gamma : float, default=0.05
        The guaranteed advantage over chance. The paper does not give its value.
    n_hypotheses : int, default=1000
        Number of random hypotheses. The paper does not give its value.
    hypothesis_seed : int, default=0
        Seed of the hypotheses. It is not called ``random_state`` because boosters change that parameter in every
        round, and the hypotheses must be the same in all rounds and members.

    Attributes
    ----------
    hypothesis_ : int
        Index of the chosen hypothesis; -1 is the fallback.
    answers_ : array
        The predicted label of each point of the universe.

    Examples
    --------
    >>> from surefoot_experiments.weak_to_strong.adversarial import AdversarialLearner, draw_sample
    >>> X, y = draw_sample(seed=0)
    >>> bool(AdversarialLearner().fit(X, y).score(X, y) > 0.5)
    True
    """

    def __init__(
        self, *, gamma: float = DEFAULT_GAMMA, n_hypotheses: int = DEFAULT_HYPOTHESES, hypothesis_seed: int = 0
    ) -> None:
        self.gamma = gamma
        self.n_hypotheses = n_hypotheses
        self.hypothesis_seed = hypothesis_seed

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose a hypothesis for the weights of the points in ``X``; the labels ``y`` are known already."""
        mass = np.bincount(_points(X), weights=sample_weight, minlength=UNIVERSE)
        self.classes_ = np.array([-1, 1])
        self.hypothesis_ = self._choose(mass / mass.sum())
        self.answers_ = np.where(self._is_wrong(), -label_pattern(), label_pattern())
        return self

    def _choose(self, mass: np.ndarray) -> int:
        targets = np.flatnonzero(mass == 0)[:N_TARGETS]
        if not len(targets):
            return FALLBACK
        wrong = wrong_answers(self.hypothesis_seed, self.n_hypotheses)
        on_targets = wrong[targets].mean(axis=0)
        allowed = (mass @ wrong <= 0.5 - self.gamma) & (on_targets >= 0.5 + self.gamma)
        if not allowed.any():
            return FALLBACK
        return int(np.argmax(np.where(allowed, on_targets, -1.0)))

    def _is_wrong(self) -> np.ndarray:
        if self.hypothesis_ == FALLBACK:
            return np.arange(UNIVERSE) >= UNIVERSE - N_WRONG
        return wrong_answers(self.hypothesis_seed, self.n_hypotheses)[:, self.hypothesis_] == 1.0

    def predict(self, X: Any) -> np.ndarray:
        """Predict the labels of the points in ``X`` with the chosen hypothesis."""
        return self.answers_[_points(X)]


def _points(X: Any) -> np.ndarray:
    """The points of a table, counted from 0."""
    return np.asarray(X)[:, 0].astype(np.int64) - 1
