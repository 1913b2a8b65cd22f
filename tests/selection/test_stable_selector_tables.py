"""Stable selection with tables of all kinds: columns, frames, copies, pipelines."""

import pickle
import tracemalloc
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from reference.models import FRAMES, make_frame
from reference.stable_selection import RowsSelector, make_data, nearest_column, stable_lasso, state_of
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from surefoot import ParameterError, StableSelector
from surefoot.selection import Argmax, FunctionSelector

# Columns


def test_support_is_the_union_or_the_intersection(data, fitted):
    X, _ = data
    union = {name for model in fitted.selected_ for name in model}
    common = set(fitted.selected_[0]).intersection(*fitted.selected_)
    assert common < union
    for how, names in [("union", union), ("intersection", common)]:
        assert fitted.get_support(how=how).tolist() == [f"x{j}" in names for j in range(5)]
        assert fitted.get_support(indices=True, how=how).tolist() == [j for j in range(5) if f"x{j}" in names]
    np.testing.assert_array_equal(fitted.transform(X), X[:, fitted.get_support()])
    assert fitted.get_feature_names_out().tolist() == sorted(union)
    with pytest.raises(ParameterError, match="how must be one of 'union', 'intersection', got 'both'"):
        fitted.get_support(how="both")


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_keep_their_names(data, fitted, kind):
    X, y = data
    names = ["size", "age", "price of it", "Größe", "x0"]
    frame = make_frame(kind, {name: X[:, j] for j, name in enumerate(names)})
    stable = stable_lasso().fit(frame, y)
    to_name = {f"x{j}": name for j, name in enumerate(names)}
    assert stable.selected_ == tuple(tuple(to_name[item] for item in model) for model in fitted.selected_)
    assert stable.feature_names_in_.tolist() == names
    kept = [name for name, support in zip(names, stable.get_support(), strict=True) if support]
    taken = stable.transform(frame)
    assert type(taken) is type(frame)
    assert list(taken.columns) == stable.get_feature_names_out().tolist() == kept
    np.testing.assert_array_equal(np.asarray(taken), X[:, stable.get_support()])
    assert list(stable.get_feature_names_out(names)) == kept
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        stable.get_feature_names_out([*names[:-1], "other"])
    with pytest.raises(ValueError, match="feature names should match"):
        stable.transform(make_frame(kind, {name: X[:, j] for j, name in enumerate(names[::-1])}))


@pytest.mark.parametrize("kind", FRAMES)
def test_a_category_is_one_variable(kind):
    rng = np.random.default_rng(0)
    labels = rng.choice(["red", "green", "blue"], size=60).tolist()
    x = rng.normal(size=60)
    y = x + np.array([{"red": 0.0, "green": 1.5, "blue": 3.0}[label] for label in labels])
    frame = make_frame(kind, {"x": x, "noise": rng.normal(size=60)}, {"colour": labels})
    stable = stable_lasso(alpha=0.1, bag_size=30).fit(frame, y)
    assert stable.selected_ == (("x", "colour"),)
    assert set(stable.weights_) <= {("x", "colour"), ("x", "noise", "colour")}
    assert stable.get_support().tolist() == [True, False, True]
    assert list(stable.transform(frame).columns) == ["x", "colour"]
    assert stable.epsilon_ == 0.3
    by_hand = np.column_stack([x, frame["noise"], *(np.array(labels) == one for one in ("blue", "green", "red"))])
    weights = stable_lasso(alpha=0.1, bag_size=30).fit(by_hand, y).weights_
    merged = Counter()
    for model, weight in weights.items():
        merged[tuple(dict.fromkeys({"x0": "x", "x1": "noise"}.get(name, "colour") for name in model))] += weight
    assert dict(stable.weights_) == pytest.approx(dict(merged))


def test_names_of_the_columns_of_an_array(data, fitted):
    """As in scikit-learn's own selectors; pipelines and column transformers need it."""
    X, y = data
    assert list(fitted.get_feature_names_out(list("abcde"))) == [
        name for name, support in zip("abcde", fitted.get_support(), strict=True) if support
    ]
    columns = ColumnTransformer([("stable", stable_lasso(), [1, 2, 4])]).fit(X, y)
    own = columns.named_transformers_["stable"]
    expected = [f"stable__x{j}" for j, support in zip((1, 2, 4), own.get_support(), strict=True) if support]
    assert columns.get_feature_names_out().tolist() == expected
    products = make_pipeline(PolynomialFeatures(include_bias=False), stable_lasso()).fit(X[:, :2], y)
    names = products[0].get_feature_names_out()
    assert products.get_feature_names_out().tolist() == names[products[1].get_support()].tolist()


def test_in_a_pipeline_before_a_model(data):
    X, y = data
    model = make_pipeline(stable_lasso(), LinearRegression()).fit(pd.DataFrame(X, columns=list("abcde")), y)
    assert model.score(pd.DataFrame(X, columns=list("abcde")), y) > 0.8
    stable = stable_lasso().set_output(transform="pandas").fit(pd.DataFrame(X, columns=list("abcde")), y)
    assert stable.transform(pd.DataFrame(X, columns=list("abcde"))).columns.tolist() == list(
        stable.get_feature_names_out()
    )


def test_a_model_without_variables_leaves_no_column(data):
    X, y = data
    stable = stable_lasso(alpha=100.0).fit(X, y)
    assert stable.selected_ == ((),)
    assert stable.expression_ == "nothing"
    assert not stable.get_support().any()
    assert stable.transform(X).shape == (40, 0)


# Inputs and copies


@pytest.mark.parametrize("order", ["C", "F", "strided", "float32", "list"])
def test_layouts_do_not_matter(data, fitted, order):
    X, y = data
    if order == "float32":
        X = X.astype(np.float32)
        assert state_of(stable_lasso().fit(X, y)) == state_of(stable_lasso().fit(X.astype(np.float64), y))
        return
    wide = np.repeat(X, 2, axis=1)
    other = {"C": X, "F": np.asfortranarray(X), "strided": wide[:, ::2], "list": X.tolist()}[order]
    assert state_of(stable_lasso().fit(other, y)) == state_of(fitted)


def test_inputs_are_untouched(data):
    X, y = (part.copy() for part in data)
    before = X.tobytes(), y.tobytes()
    stable = stable_lasso().fit(X, y)
    stable.leave_one_out()
    stable.leave_one_out("refit")
    stable.transform(X)
    assert (X.tobytes(), y.tobytes()) == before
    frame = make_frame("pandas", {"a": X[:, 0], "b": X[:, 1]}, {"c": ["u", "v"] * 20})
    copy = frame.copy()
    stable_lasso().fit(frame, y).transform(frame)
    pd.testing.assert_frame_equal(frame, copy)


def test_later_changes_of_the_table_do_not_affect_the_selector(data):
    X, y = (part.copy() for part in data)
    stable = stable_lasso().fit(X, y)
    X[:], y[:] = 0.0, 0.0
    expected, found = stable_lasso().fit(*data).leave_one_out("refit"), stable.leave_one_out("refit")
    np.testing.assert_array_equal(found.set_sizes, expected.set_sizes)


@pytest.mark.parametrize("method", ["pool", "refit"])
@pytest.mark.parametrize("kind", ["rows", "function"])
def test_later_changes_of_a_target_of_any_type_do_not_affect_the_selector(data, kind, method):
    selector = RowsSelector(nearest_column) if kind == "rows" else FunctionSelector(nearest_column)
    settings = {"n_bags": 100, "bag_size": 30, "rule": Argmax(), "random_state": 0}
    expected = StableSelector(selector, **settings).fit(*data).leave_one_out(method)
    X, y = (part.copy() for part in data)
    stable = StableSelector(selector, **settings).fit(X, y)
    X[:], y[:] = 0.0, 0.0
    found = stable.leave_one_out(method)
    np.testing.assert_array_equal(found.disjoint_rows, expected.disjoint_rows)


def test_parameters_and_clones(data, fitted):
    stable = stable_lasso(delta=0.1)
    parameters = stable.get_params()
    assert parameters["selector__alpha"] == 0.2
    assert parameters["delta"] == 0.1
    copy = clone(stable).set_params(selector__alpha=0.4, n_bags=10)
    assert (copy.selector.alpha, copy.n_bags) == (0.4, 10)
    assert stable.selector.alpha == 0.2
    again = clone(fitted)
    assert not hasattr(again, "weights_")
    assert state_of(again.fit(*data)) == state_of(fitted)
    assert {name: value for name, value in fitted.get_params().items() if name != "selector"} == {
        name: value for name, value in again.get_params().items() if name != "selector"
    }


def test_a_fitted_selector_can_be_pickled(data):
    X, _ = data
    stable = stable_lasso().fit(*data)
    copy = pickle.loads(pickle.dumps(stable))
    assert state_of(copy) == state_of(stable)
    np.testing.assert_array_equal(copy.transform(X), stable.transform(X))
    ours, theirs = copy.leave_one_out(), stable.leave_one_out()
    np.testing.assert_array_equal(ours.set_sizes, theirs.set_sizes)
    assert state_of(pickle.loads(pickle.dumps(stable))) == state_of(stable)


def test_memory_does_not_grow_with_the_rows_of_the_bags():
    X, y = make_data(n_rows=60)
    n_bags = 200_000
    stable_lasso(bag_size=30).fit(X, y).leave_one_out()  # compiled kernels are not counted
    tracemalloc.start()
    try:
        stable = stable_lasso(bag_size=30, n_bags=n_bags).fit(X, y)
        _, of_fit = tracemalloc.get_traced_memory()
        stable.leave_one_out()
        kept, of_both = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(stable.bag_models_) == n_bags
    budget = n_bags * 500  # bytes; a bag's row numbers alone would be 120
    assert of_fit < budget / 3
    assert of_both < budget
    assert kept < 2 * n_bags * 40
