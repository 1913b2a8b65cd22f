"""Errors of stable selection for bad input."""

import numpy as np
import pytest
from reference.models import FRAMES, make_frame
from reference.stable_selection import SIZE, RowsSelector, stable_lasso, state_of
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from surefoot import DataError, ParameterError, StableSelector
from surefoot.selection import InclusionProbability, LassoSelector, TopK


@pytest.mark.parametrize("n_rows", [1, 2])
def test_fewer_than_three_rows(data, n_rows):
    X, y = data
    with pytest.raises(DataError, match=f"n_samples={n_rows}, but at least 3 rows"):
        stable_lasso(bag_size=1).fit(X[:n_rows], y[:n_rows])


@pytest.mark.parametrize("bag_size", [40, 41, 0.99])
def test_bags_of_all_rows(data, bag_size):
    with pytest.raises(ParameterError, match=r"bag_size=.* must leave a row out: use smaller bags"):
        stable_lasso(bag_size=bag_size).fit(*data)
    if bag_size != 0.99:
        assert stable_lasso(bag_size=bag_size, replace=True).fit(*data)._bagging.pool.size == bag_size


def test_a_refit_needs_bags_that_can_leave_a_row_out(data):
    stable = stable_lasso(bag_size=39).fit(*data)
    with pytest.raises(ParameterError, match="bag_size is 39 of 40 rows"):
        stable.leave_one_out("refit")


BAD_PARAMETERS = {
    "selector must be a selector": {"selector": LinearRegression()},
    "selector must be a selector such": {"selector": LassoSelector},
    "n_bags must be 1 or more": {"n_bags": 0},
    "n_bags must be a whole number": {"n_bags": 10.0},
    "replace must be True or False": {"replace": "no"},
    "monte_carlo must be True or False": {"monte_carlo": 1},
    "rule must be 'inflated_argmax' or a rule": {"rule": "argmax"},
    "rule must be 'inflated_argmax' or a rule such": {"rule": TopK},
    "delta and epsilon are both given": {"delta": 0.05},
    "epsilon is for rule='inflated_argmax'": {"rule": TopK(2)},
    "epsilon must be at most the square root of 2": {"epsilon": 1.5},
    "epsilon must be above 0": {"epsilon": 0.0},
    "epsilon must be a finite number": {"epsilon": "small"},
    "delta must be above 0 and below 1": {"delta": 1.0, "epsilon": None},
    "delta must be a finite number": {"delta": np.nan, "epsilon": None},
    "bag_size must be a fraction": {"bag_size": 1.5},
    "bag_size must be 1 or more": {"bag_size": 0},
    "bag_size must be a whole number": {"bag_size": "half"},
}


@pytest.mark.parametrize(("message", "parameters"), BAD_PARAMETERS.items(), ids=BAD_PARAMETERS)
def test_parameters_that_are_refused(data, message, parameters):
    with pytest.raises(ParameterError, match=message):
        stable_lasso().set_params(**parameters).fit(*data)


def test_unknown_arguments_of_fit_are_refused(data):
    X, y = data
    with pytest.raises((DataError, ParameterError, TypeError), match="sample_weight"):
        stable_lasso().fit(X, y, sample_weight=np.ones(40))


def test_missing_items_are_an_error_before_bags_are_drawn(data):
    def choose(X, y):
        raise AssertionError("a bag was drawn")

    stable = StableSelector(RowsSelector(choose), n_bags=20, bag_size=SIZE, rule=InclusionProbability(0.5))
    with pytest.raises(ParameterError, match="InclusionProbability"):
        stable.fit(*data)


@pytest.mark.parametrize("kind", ["array", *FRAMES])
def test_bad_columns_are_named(data, kind):
    X, y = data
    columns = {f"c{j}": X[:, j].copy() for j in range(5)}
    constant, gaps = columns | {"c3": np.full(40, 0.1)}, dict(columns)
    gaps["c1"], gaps["c4"] = (np.where(np.arange(40) == 7, np.nan, columns[name]) for name in ("c1", "c4"))

    def table(some):
        return np.column_stack(list(some.values())) if kind == "array" else make_frame(kind, some)

    letter = "x" if kind == "array" else "c"
    with pytest.raises(DataError, match=f"same value in every row of column '{letter}3'"):
        stable_lasso().fit(table(constant), y)
    with pytest.raises(DataError, match=f"NaN in columns '{letter}1', '{letter}4'"):
        stable_lasso().fit(table(gaps), y)


def test_a_category_with_missing_values_or_one_value_is_named(data):
    X, y = data
    labels = ["a", "b"] * 20
    with pytest.raises(DataError, match="'kind' of X has missing categories"):
        stable_lasso().fit(make_frame("pandas", {"n": X[:, 0]}, {"kind": [None, *labels[1:]]}), y)
    with pytest.raises(DataError, match="same value in every row of column 'kind'"):
        stable_lasso().fit(make_frame("pandas", {"n": X[:, 0]}, {"kind": ["a"] * 40}), y)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (None, "requires y to be passed"),
        (np.full(40, np.nan), "y contains NaN"),
        (np.full(40, np.inf), "y contains infinity"),
        (["a"] * 40, "y must be numbers"),
        (np.zeros(39), "inconsistent numbers of samples"),
    ],
)
def test_targets_that_are_refused(data, target, message):
    with pytest.raises(ValueError, match=message):
        stable_lasso().fit(data[0], target)


BAD_FITS = {
    "a delta out of reach": lambda stable, X, y: stable.set_params(delta=1e-4, epsilon=None).fit(X, y),
    "a bad parameter": lambda stable, X, y: stable.set_params(n_bags=0).fit(X, y),
    "a bad selector": lambda stable, X, y: stable.set_params(selector=LassoSelector(-1.0)).fit(X, y),
    "a constant column": lambda stable, X, y: stable.fit(np.ones_like(X), y),
    "no target": lambda stable, X, y: stable.fit(X),
    "too few rows": lambda stable, X, y: stable.fit(X[:2], y[:2]),
}


@pytest.mark.parametrize("name", BAD_FITS)
def test_a_failing_fit_does_not_change_the_selector(data, name):
    X, y = data
    wider = np.hstack([X, X[:, ::-1] ** 2])
    unfitted = stable_lasso()
    before = set(vars(unfitted))
    with pytest.raises(ValueError):  # noqa: PT011 - the message is tested elsewhere
        BAD_FITS[name](unfitted, wider, y)
    assert set(vars(unfitted)) == before
    with pytest.raises(NotFittedError):
        unfitted.get_support()
    stable = stable_lasso().fit(X, y)
    state = state_of(stable)
    with pytest.raises(ValueError):  # noqa: PT011
        BAD_FITS[name](stable, wider, y)
    assert state_of(stable) == state
    assert stable.n_features_in_ == 5
    np.testing.assert_array_equal(stable.transform(X), X[:, stable.get_support()])


@pytest.mark.parametrize("call", ["get_support", "leave_one_out", "get_feature_names_out"])
def test_unfitted_selectors_raise(call):
    with pytest.raises(NotFittedError):
        getattr(stable_lasso(), call)()
