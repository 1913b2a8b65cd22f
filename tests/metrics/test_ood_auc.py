"""ROC-AUC of an uncertainty, against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from surefoot import DataError
from surefoot.metrics import ood_auc

values = st.lists(st.one_of(st.integers(-3, 3), st.floats(-1e300, 1e300)), min_size=1, max_size=30)


def by_scikit_learn(inside, outside, weights=None):
    return roc_auc_score(np.repeat([0, 1], [len(inside), len(outside)]), [*inside, *outside], sample_weight=weights)


@settings(deadline=None)
@given(inside=values, outside=values)
def test_against_scikit_learn(inside, outside):
    assert ood_auc(inside, outside) == pytest.approx(by_scikit_learn(inside, outside), abs=1e-12)


@settings(deadline=None)
@given(seed=st.integers(0, 10_000))
def test_weights_against_scikit_learn_and_copies(seed):
    generator = np.random.default_rng(seed)
    inside, outside = generator.integers(0, 6, size=(2, 20))
    inner, outer = generator.integers(0, 4, size=(2, 20))
    inner[0] = outer[0] = 1
    auc = ood_auc(inside, outside, in_domain_weight=inner, out_of_domain_weight=outer)
    assert auc == pytest.approx(by_scikit_learn(inside, outside, [*inner, *outer]), abs=1e-12)
    assert auc == pytest.approx(ood_auc(np.repeat(inside, inner), np.repeat(outside, outer)), abs=1e-12)


def test_only_the_order_counts():
    inside, outside = [0.0, 1.0, 2.0], [1.5, np.inf]
    assert ood_auc(inside, outside) == ood_auc(inside, [1.5, 3.0])
    assert ood_auc(inside, outside) == pytest.approx(1 - ood_auc(outside, inside))
    assert ood_auc([1.0, 1.0], [1.0]) == 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [1.0]), "in_domain is empty"),
        (([1.0], []), "out_of_domain is empty"),
        (([1.0, np.nan], [1.0]), "in_domain contains NaN"),
        (([1.0], [np.nan]), "out_of_domain contains NaN"),
        (([[1.0]], [1.0]), "in_domain must be one-dimensional"),
        (([1.0], ["high"]), "out_of_domain must be numbers"),
    ],
)
def test_bad_input_is_refused_by_name(arguments, message):
    with pytest.raises(DataError, match=message):
        ood_auc(*arguments)


def test_bad_weights_are_refused_by_name():
    with pytest.raises(DataError, match="in_domain_weight has 2 values for 1 rows"):
        ood_auc([1.0], [2.0], in_domain_weight=[1.0, 2.0])
    with pytest.raises(DataError, match="out_of_domain_weight is zero"):
        ood_auc([1.0], [2.0], out_of_domain_weight=[0.0])
