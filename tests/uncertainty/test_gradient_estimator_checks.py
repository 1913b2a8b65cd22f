"""scikit-learn's own checks of an estimator; those that cannot pass are listed, and must fail."""

import functools

import pytest
from reference.gradient_boosters import ENSEMBLES, GRADIENT_BOOSTERS, small
from sklearn.utils.estimator_checks import parametrize_with_checks

WEIGHTS_AND_COPIES = "check_sample_weight_equivalence_on_dense_data"
DRAWS_ROWS = "rows are drawn for every tree: k copies of a row fall apart, a row of weight k stays whole"


def expected_failures(estimator):
    """The checks that must fail, and why.

    Models learn from all rows once trials have told the number of trees, which here is always the most allowed: so
    weights are copies where rows are held out, too.
    """
    return {WEIGHTS_AND_COPIES: DRAWS_ROWS} if getattr(estimator, "method", None) == "sgb" else {}


def name_of(check):
    return check.func.__name__ if isinstance(check, functools.partial) else check.__name__


@parametrize_with_checks(
    [
        *(small(estimator, learning_rate=0.1) for estimator in GRADIENT_BOOSTERS),
        *(small(estimator, early_stopping=False) for estimator in GRADIENT_BOOSTERS),
        *(small(estimator, early_stopping=False, method="sgb", n_estimators=16) for estimator in ENSEMBLES),
    ]
)
def test_scikit_learn_check(estimator, check):
    if name_of(check) in expected_failures(estimator):
        with pytest.raises(AssertionError):  # a listed check that passes fails here
            check(estimator)
    else:
        check(estimator)
