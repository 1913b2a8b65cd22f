"""The earlier names of fitted attributes work for one release with a warning, and only code that uses them gets one."""

import inspect
import pickle

import numpy as np
import pytest
from reference.gradient_boosters import SINGLE, problem, small
from sklearn.base import clone
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

RENAMED = {"n_trees_": "n_iter_", "validation_nll_": "validation_loss_"}
each_single = pytest.mark.parametrize("estimator", SINGLE)
each_name = pytest.mark.parametrize("name", RENAMED)


@pytest.fixture(params=SINGLE)
def model(request):
    X, y = problem(request.param)
    return small(request.param, early_stopping=True).fit(X, y)


@each_name
def test_the_earlier_name_has_the_same_value_and_names_the_new_one(model, name):
    with pytest.warns(FutureWarning, match=f"{name} is now {RENAMED[name]}: use that name") as caught:
        value = getattr(model, name)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(value, getattr(model, RENAMED[name]))


@each_single
@each_name
def test_a_model_that_is_not_fitted_has_neither_name(estimator, name):
    assert not hasattr(estimator(), name)  # warnings are errors
    assert not hasattr(estimator(), RENAMED[name])


def test_tools_that_read_all_attributes_give_no_warning(model):
    assert RENAMED.keys().isdisjoint(vars(model))
    assert RENAMED.keys().isdisjoint(dir(model))
    assert set(RENAMED.values()) <= set(vars(model)) & set(dir(model))
    assert all(hasattr(model, name) for name in dir(model))
    assert "n_iter_" in dict(inspect.getmembers(model))
    check_is_fitted(model)
    estimator_html_repr(model)
    assert repr(clone(model)) == repr(model)
    assert vars(pickle.loads(pickle.dumps(model))).keys() == vars(model).keys()
