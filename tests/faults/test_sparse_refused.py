"""Sparse tables are refused by name, when fitting and when predicting."""

import pytest
import scipy.sparse
from reference.models import BOOSTERS, small_booster, two_classes

FORMATS = (scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array)


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("sparse", FORMATS)
def test_sparse_input_is_refused(booster, sparse):
    X, y = two_classes()
    with pytest.raises(TypeError, match=r"[Ss]parse.*\bX\b"):
        small_booster(booster).fit(sparse(X), y)
    model = small_booster(booster).fit(X, y)
    with pytest.raises(TypeError, match=r"[Ss]parse.*\bX\b"):
        model.predict(sparse(X))
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        model.margins(sparse(X), y)
