"""The adversarial instance: a small universe and a weak learner that answers AdaBoost as badly as it may.

It comes from the proof that AdaBoost needs more rows than necessary (Høgsgaard, Larsen & Ritzert 2023), in the sizes of
Høgsgaard, Larsen & Mathiasen (2024, section 4): 350 points, 1,024 uniform draws, and a weak learner that, among the
random hypotheses that keep its promise on the weights it is shown, returns the one that is worst where it is shown
nothing.

The paper gives neither the promised advantage ``gamma`` nor the number of hypotheses. Both are parameters here. The
defaults were chosen by experiment, on seeds that the reproduction does not use, so that the effect shows: AdaBoost gets
every training row right within 300 rounds, rarely meets the fallback, and falls clearly behind Bagged AdaBoost. With a
much smaller ``gamma`` 300 rounds do not fit the training rows; with a much larger one most answers are the fallback,
boosting stops early, and all learners come out alike.
"""

from functools import lru_cache
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

UNIVERSE = 350
N_SAMPLES = 1024
N_TARGETS = 20  # how many points without weight the weak learner aims at
N_SPOILED = 20  # how many points, the last of the universe, the fallback hypothesis gets wrong
FALLBACK = -1
DEFAULT_GAMMA = 0.05
DEFAULT_HYPOTHESES = 1000


def label_pattern() -> np.ndarray:
    """The label of every point, by turns -1 and +1.

    The paper labels every point +1, but a classifier needs two classes. Multiplying the labels and all hypotheses by
    the same signs changes neither an error nor a margin: it is the same instance, seen through a mirror.
    """
    return np.where(np.arange(UNIVERSE) % 2 == 0, -1, 1)


def draw_sample(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """1,024 uniform draws from the universe, as a table of one column (points 1 to 350), and their labels."""
    points = np.random.default_rng([seed, N_SAMPLES]).integers(UNIVERSE, size=N_SAMPLES)
    return to_table(points), label_pattern()[points]


def whole_universe() -> tuple[np.ndarray, np.ndarray]:
    """Every point once, and its label: what accuracy is measured on."""
    return to_table(np.arange(UNIVERSE)), label_pattern()


def to_table(points: np.ndarray) -> np.ndarray:
    """Points counted from 0 as a table of one column counted from 1."""
    return (points + 1.0)[:, np.newaxis]


@lru_cache(maxsize=4)
def wrong_answers(seed: int, n_hypotheses: int) -> np.ndarray:
    """Where each random hypothesis is wrong: (points, hypotheses), 1.0 or 0.0, each with probability one half.

    Kept for the next rounds and members: they all choose from the same hypotheses.
    """
    coins = np.random.default_rng([seed, n_hypotheses]).integers(2, size=(UNIVERSE, n_hypotheses))
    wrong = coins.astype(np.float64)
    wrong.flags.writeable = False
    return wrong


class AdversarialLearner(ClassifierMixin, BaseEstimator):
    """A weak learner that keeps its promise and means no good.

    Shown weights on the universe, it takes the first 20 points without weight (all, if there are fewer) as targets.
    Among its random hypotheses with weighted error at most ``1/2 - gamma`` and error at least ``1/2 + gamma`` on the
    targets it returns the one with the largest error on the targets; of several, the first. If there is none, and where
    every point has weight, it returns the fallback: right everywhere but on the last 20 points.

    Parameters
    ----------
    gamma : float, default=0.05
        The promised advantage over chance. The paper does not give its value.
    n_hypotheses : int, default=1000
        Number of random hypotheses. The paper does not give its value.
    hypothesis_seed : int, default=0
        Seed of the hypotheses. Not called ``random_state``: boosters change that one every round, and the hypotheses
        must stay the same in all rounds and members.

    Attributes
    ----------
    hypothesis_ : int
        Number of the hypothesis chosen; -1 is the fallback.
    answers_ : array
        The label it gives to each point of the universe.

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
        """Answer the weights on the points in ``X``; the labels ``y`` are known beforehand."""
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
            return np.arange(UNIVERSE) >= UNIVERSE - N_SPOILED
        return wrong_answers(self.hypothesis_seed, self.n_hypotheses)[:, self.hypothesis_] == 1.0

    def predict(self, X: Any) -> np.ndarray:
        """The chosen hypothesis's labels of the points in ``X``."""
        return self.answers_[_points(X)]


def _points(X: Any) -> np.ndarray:
    """Points counted from 0."""
    return np.asarray(X)[:, 0].astype(np.int64) - 1
