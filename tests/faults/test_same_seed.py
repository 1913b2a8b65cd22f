"""The same seed gives the same model; another seed another one, where chance plays a part."""

import numpy as np
import pytest
from reference.models import BOOSTERS, assert_identical_models, model_arrays, small_booster, two_classes
from sklearn.tree import DecisionTreeClassifier

from surefoot import AdaBoostClassifier, BestBoostClassifier

X, y = two_classes(n_rows=200)


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("max_depth", [1, 2])
def test_the_same_seed_twice(booster, max_depth):
    one, other = (small_booster(booster, max_depth=max_depth, random_state=7).fit(X, y) for _ in range(2))
    assert_identical_models(one, other)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_a_generator_in_the_same_state(booster):
    one, other = (small_booster(booster, random_state=np.random.RandomState(7)).fit(X, y) for _ in range(2))
    assert_identical_models(one, other)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_the_global_generator_is_left_alone(booster):
    np.random.seed(3)
    before = np.random.get_state()[1].tobytes()
    small_booster(booster, random_state=7).fit(X, y)
    assert np.random.get_state()[1].tobytes() == before


CHANCE = [booster for booster in BOOSTERS if booster not in (AdaBoostClassifier, BestBoostClassifier)]


@pytest.mark.parametrize("booster", CHANCE)  # the best one may be AdaBoost, which draws nothing
def test_another_seed_draws_other_rows(booster):
    one, other = (model_arrays(small_booster(booster, random_state=seed).fit(X, y)) for seed in (7, 8))
    assert one.keys() != other.keys() or any(one[name].tobytes() != other[name].tobytes() for name in one)


def test_adaboost_leaves_nothing_to_chance():
    assert_identical_models(*(AdaBoostClassifier(n_estimators=5, random_state=seed).fit(X, y) for seed in (7, None)))


@pytest.mark.parametrize("booster", BOOSTERS)
def test_borrowed_learners_follow_the_seed_too(booster):
    learner = DecisionTreeClassifier(max_depth=2, splitter="random")
    votes = [
        small_booster(booster, estimator=learner, random_state=seed).fit(X, y).decision_function(X)
        for seed in (7, 7, 8)
    ]
    np.testing.assert_array_equal(votes[0], votes[1])
    assert not np.array_equal(votes[0], votes[2])
