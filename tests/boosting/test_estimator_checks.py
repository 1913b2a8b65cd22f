"""scikit-learn's own checks of an estimator; those that cannot pass are listed, and must fail."""

import functools

import pytest
from reference.models import BOOSTERS, small_booster
from sklearn.utils.estimator_checks import parametrize_with_checks

SAMPLES_ROWS = "rows are drawn or divided at random: k copies of a row fall apart, a row of weight k stays whole"
PURE_LEAVES = (
    "a leaf that holds a single class votes for it however little the class weighs: scikit-learn's own AdaBoost, given "
    "these weights, answers alike (trees pass the check by min_weight_fraction_leaf, which boosting has no use for)"
)
EXPECTED_FAILURES = {
    "AdaBoostClassifier": {"check_class_weight_classifiers": PURE_LEAVES},
    "BaggedBoostClassifier": {
        "check_class_weight_classifiers": PURE_LEAVES,
        "check_sample_weight_equivalence_on_dense_data": SAMPLES_ROWS,
    },
    "BestBoostClassifier": {"check_sample_weight_equivalence_on_dense_data": SAMPLES_ROWS},
    "LarsenRitzertClassifier": {
        "check_class_weight_classifiers": PURE_LEAVES,
        "check_sample_weight_equivalence_on_dense_data": SAMPLES_ROWS,
    },
    "MajorityBoostClassifier": {
        "check_class_weight_classifiers": PURE_LEAVES,
        "check_sample_weight_equivalence_on_dense_data": SAMPLES_ROWS,
    },
}


def name_of(check):
    return check.func.__name__ if isinstance(check, functools.partial) else check.__name__


@parametrize_with_checks([small_booster(booster) for booster in BOOSTERS])
def test_scikit_learn_check(estimator, check):
    if name_of(check) in EXPECTED_FAILURES.get(type(estimator).__name__, {}):
        with pytest.raises(AssertionError):  # a listed check that passes fails here
            check(estimator)
    else:
        check(estimator)
