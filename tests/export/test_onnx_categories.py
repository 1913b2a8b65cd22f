"""``to_onnx`` of models with categorical columns: an input for each column, or one matrix if all are numbers."""

import numpy as np
import onnx
import pandas as pd
import pytest
from export.exported import categories, run_onnx
from numpy.testing import assert_allclose, assert_array_equal

from surefoot import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ParameterError,
    to_onnx,
)

CLOSE = 1e-11
PARAMETERS = {"n_estimators": 15, "early_stopping": False, "random_state": 0}


def unseen_rows():
    """Rows with missing values and categories that are not in the training data."""
    return categories(300, seed=1, unseen=True)[0]


@pytest.mark.parametrize("grow_policy", ["symmetric", "depthwise"])
def test_statistics_of_categories_and_of_their_combinations(grow_policy):
    X, y = categories(2500)
    model = GradientBoostingRegressor(n_estimators=30, grow_policy=grow_policy, random_state=0).fit(X, y)
    encoding = model._members[0].encoding
    assert encoding.many  # columns with so many categories that trees read statistics
    assert encoding.combinations is not None
    assert len(model._members[0].trees.forest.tables)  # and splits by sets of categories
    file = to_onnx(model)
    onnx.checker.check_model(file, full_check=True)
    assert [each.name for each in file.graph.input] == X.columns.tolist()
    for rows in (X, unseen_rows()):
        assert_allclose(run_onnx(file, rows)["prediction"], model.predict(rows), rtol=CLOSE, atol=CLOSE)


def test_ensembles_whose_members_have_statistics_of_their_own():
    X, y = categories()
    regressor = BoostingEnsembleRegressor(n_members=2, **PARAMETERS).fit(X, y)
    classifier = BoostingEnsembleClassifier(n_members=2, **PARAMETERS).fit(X, np.digitize(y, [-1, 0, 1]))
    for rows in (X, unseen_rows()):
        numbers, classes = run_onnx(to_onnx(regressor), rows), run_onnx(to_onnx(classifier), rows)
        assert_allclose(numbers["prediction"], regressor.predict(rows), rtol=CLOSE, atol=CLOSE)
        assert_allclose(numbers["knowledge"], regressor.predict_uncertainty(rows).knowledge, rtol=1e-9)
        assert_array_equal(classes["label"], classifier.predict(rows))
        assert_allclose(classes["knowledge"], classifier.predict_uncertainty(rows).knowledge, rtol=1e-9)


@pytest.mark.parametrize("n_categories", [2, 40, 60, 300])
def test_categories_that_are_numbers_are_in_the_matrix(n_categories):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=900), rng.integers(0, n_categories, 900) - 3, rng.integers(0, 3, 900) / 2])
    y = np.sin(X[:, 1] * 5) + X[:, 2] * X[:, 0]
    X[rng.random(X.shape) < 0.1] = np.nan
    model = GradientBoostingClassifier(categorical_features=[1, 2], grow_policy="depthwise", **PARAMETERS)
    model.fit(X, y > 0)
    X[::9, 1] = 5000.0  # not in the training data
    for dtype in ("float64", "float32"):
        rows = X.astype(dtype)
        result = run_onnx(to_onnx(model, dtype=dtype), rows)["probabilities"]
        expected = model.predict_proba(rows.astype(np.float64))
        assert_allclose(result, expected, rtol=CLOSE if dtype == "float64" else 1e-6)


def test_text_for_missing_values_and_other_spellings():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 300)
    X = pd.DataFrame({"kind": pd.Categorical(np.array([7, "two", True], dtype=object)[codes]), "size": rng.random(300)})
    X.loc[::10, "kind"] = None
    model = GradientBoostingRegressor(**PARAMETERS).fit(X, codes + X["kind"].isna() * 5.0 + X["size"])
    texts = ["7", "7.0", "two", "True", "true", "", "nan", "None", "never seen", "Two"]
    rows = pd.DataFrame({"kind": texts, "size": 0.5})
    known = pd.Categorical([7, 7, "two", True, True, None, None, None, None, None], categories=[7, "two", True])
    expected = model.predict(rows.assign(kind=known))
    assert len(set(expected.round(6))) == 4
    assert_allclose(run_onnx(to_onnx(model), rows)["prediction"], expected, rtol=CLOSE)


def test_a_column_may_have_the_name_of_an_output():
    X, y = categories(300)
    X = X.rename(columns={"size": "label", "colour": "value_1", "floor": "data"})
    model = BoostingEnsembleClassifier(n_members=2, **PARAMETERS).fit(X, y > 0)
    result = run_onnx(to_onnx(model), X)
    assert list(result) == ["label_output", "probabilities", "total", "data_output", "knowledge"]
    assert_array_equal(result["label_output"], model.predict(X))
    assert_allclose(result["data_output"], model.predict_uncertainty(X).data, rtol=CLOSE)


def test_splits_on_one_column_of_statistics_only():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 80, 800)
    X = pd.DataFrame({"city": pd.Categorical([f"city {code}" for code in codes])})
    model = GradientBoostingRegressor(**PARAMETERS).fit(X, np.sin(codes))
    assert_allclose(run_onnx(to_onnx(model), X)["prediction"], model.predict(X), rtol=CLOSE)


def test_categories_that_are_no_float32_are_refused():
    X = np.column_stack([np.arange(60) % 3 + 2.0**24, np.arange(60.0)])
    model = GradientBoostingRegressor(categorical_features=[0], **PARAMETERS).fit(X, X[:, 0] % 3)
    assert_allclose(run_onnx(to_onnx(model), X)["prediction"], model.predict(X), rtol=CLOSE)
    with pytest.raises(ParameterError, match="are not different numbers in float32: pass dtype='float64'"):
        to_onnx(model, dtype="float32")


def test_categories_that_are_neither_text_nor_numbers_are_refused():
    X, y = categories(200)
    X["floor"] = pd.Categorical(pd.Timestamp("2024-01-01") + pd.to_timedelta(X["floor"].astype(int), unit="D"))
    with pytest.raises(ParameterError, match="of column 'floor': make it text before fit"):
        to_onnx(GradientBoostingRegressor(**PARAMETERS).fit(X, y))
