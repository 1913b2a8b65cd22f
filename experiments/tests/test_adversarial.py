"""The adversarial weak learner against a reference implementation in plain loops."""

import numpy as np
import pytest
from sklearn.base import clone

from surefoot import AdaBoostClassifier, BaggedBoostClassifier
from surefoot_experiments.weak_to_strong.adversarial import (
    FALLBACK,
    N_SAMPLES,
    UNIVERSE,
    AdversarialLearner,
    draw_sample,
    label_pattern,
    to_table,
    whole_universe,
    wrong_answers,
)


def choose_slowly(points: np.ndarray, weights: np.ndarray, gamma: float, seed: int, n_hypotheses: int) -> int:
    """The paper's rule, one point and one hypothesis at a time."""
    mass = [0.0] * UNIVERSE
    for point, weight in zip(points, weights, strict=True):
        mass[point] += float(weight)
    targets = [x for x in range(UNIVERSE) if mass[x] == 0.0][:20]
    wrong = wrong_answers(seed, n_hypotheses)
    best, worst_error = FALLBACK, -1.0
    for h in range(n_hypotheses):
        error = sum(mass[x] for x in range(UNIVERSE) if wrong[x, h]) / sum(mass)
        on_targets = sum(1 for x in targets if wrong[x, h]) / len(targets) if targets else 0.0
        if error <= 0.5 - gamma and on_targets >= 0.5 + gamma and on_targets > worst_error:
            best, worst_error = h, on_targets
    return best


@pytest.mark.parametrize("gamma", [0.01, 0.05, 0.15])
@pytest.mark.parametrize("n_rows", [30, 400, 3000, 6000])
def test_it_chooses_like_the_slow_reference(gamma: float, n_rows: int) -> None:
    rng = np.random.default_rng(n_rows)
    seen = set()
    for trial in range(4):
        points = rng.integers(UNIVERSE, size=n_rows)
        weights = rng.exponential(size=n_rows) ** (1 + trial)
        learner = AdversarialLearner(gamma=gamma, n_hypotheses=60, hypothesis_seed=trial)
        learner.fit(to_table(points), label_pattern()[points], sample_weight=weights)
        assert learner.hypothesis_ == choose_slowly(points, weights, gamma, trial, 60)
        seen.add(learner.hypothesis_)
    assert gamma > 0.01 or n_rows > 400 or seen != {FALLBACK}, "the cases must include more than the fallback"


def test_its_predictions_are_those_of_the_chosen_hypothesis() -> None:
    X, y = draw_sample(0)
    learner = AdversarialLearner(gamma=0.02, n_hypotheses=500).fit(X, y)
    assert learner.hypothesis_ != FALLBACK
    everything, labels = whole_universe()
    wrong = wrong_answers(0, 500)[:, learner.hypothesis_]
    np.testing.assert_array_equal(learner.predict(everything) != labels, wrong == 1)


def test_the_fallback_is_wrong_on_the_last_points() -> None:
    everything, labels = whole_universe()
    for learner in (AdversarialLearner(), AdversarialLearner(gamma=0.49)):
        answers = learner.fit(everything[: UNIVERSE - (learner.gamma > 0.4)], labels).predict(everything)
        assert learner.hypothesis_ == FALLBACK
        assert np.flatnonzero(answers != labels).tolist() == list(range(UNIVERSE - 20, UNIVERSE))


def test_hypotheses_depend_only_on_their_seed() -> None:
    X, y = draw_sample(0)
    first = AdversarialLearner(hypothesis_seed=3)
    np.testing.assert_array_equal(first.fit(X, y).answers_, clone(first).fit(X, y).answers_)
    assert (wrong_answers(3, 50) != wrong_answers(4, 50)).any()
    assert "random_state" not in first.get_params(), "boosters would change it in every round"


def test_samples_are_uniform_draws_with_both_classes() -> None:
    X, y = draw_sample(7)
    assert X.shape == (N_SAMPLES, 1)
    assert X.min() >= 1
    assert X.max() <= UNIVERSE
    assert set(y) == {-1, 1}
    unseen = [UNIVERSE - len(np.unique(draw_sample(seed)[0])) for seed in range(40)]
    assert abs(np.mean(unseen) - 18.7) < 2.5


def test_adaboost_fits_its_rows_and_bagging_generalizes_better() -> None:
    everything, labels = whole_universe()
    ahead = []
    for seed in (0, 1):
        X, y = draw_sample(seed)
        learner = AdversarialLearner(hypothesis_seed=seed)
        adaboost = AdaBoostClassifier(estimator=learner).fit(X, y)
        bagged = BaggedBoostClassifier(estimator=learner, n_members=9, max_samples=0.95, random_state=seed).fit(X, y)
        assert adaboost.score(X, y) > 0.99
        ahead.append(bagged.score(everything, labels) - adaboost.score(everything, labels))
    assert min(ahead) > 0
