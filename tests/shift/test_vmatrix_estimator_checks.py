"""scikit-learn's own checks of an estimator; those that cannot pass are listed, and must fail."""

import functools

import pytest
from reference.vmatrix_boosters import VMATRIX_BOOSTERS, small
from sklearn.utils.estimator_checks import parametrize_with_checks

WEIGHTS_AND_COPIES = "check_sample_weight_equivalence_on_dense_data"
HOLDS_OUT_ROWS = "rows are held out to stop by: k copies of a row fall apart, a row of weight k stays whole"
COUNTS_ROWS = "min_samples_leaf counts rows: k copies of a row are k, a row of weight k is one"


def expected_failures(estimator):
    """The checks that must fail, and why."""
    if estimator.early_stopping is True:
        return {WEIGHTS_AND_COPIES: HOLDS_OUT_ROWS}
    return {WEIGHTS_AND_COPIES: COUNTS_ROWS} if estimator.min_samples_leaf > 1 else {}


def name_of(check):
    return check.func.__name__ if isinstance(check, functools.partial) else check.__name__


@parametrize_with_checks(
    [
        *(small(estimator) for estimator in VMATRIX_BOOSTERS),
        *(small(estimator, min_samples_leaf=1) for estimator in VMATRIX_BOOSTERS),
        *(small(estimator, min_samples_leaf=1, early_stopping=True) for estimator in VMATRIX_BOOSTERS),
    ]
)
def test_scikit_learn_check(estimator, check):
    if name_of(check) in expected_failures(estimator):
        with pytest.raises(AssertionError):  # a listed check that passes fails here
            check(estimator)
    else:
        check(estimator)
