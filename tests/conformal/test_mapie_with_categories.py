"""MAPIE around models that were fitted on frames with categorical columns."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

import surefoot
from surefoot import DataError

LEVEL = 0.8
regression = pytest.importorskip("mapie.regression")
classification = pytest.importorskip("mapie.classification")
REGRESSORS = {
    "gradient": surefoot.GradientBoostingRegressor(n_estimators=8, random_state=0),
    "ensemble": surefoot.BoostingEnsembleRegressor(n_estimators=5, n_members=2, random_state=0),
    "vmatrix": surefoot.VMatrixBoostingRegressor(n_estimators=5, random_state=0),
}
CLASSIFIERS = {
    "gradient": surefoot.GradientBoostingClassifier(n_estimators=8, random_state=0),
    "ensemble": surefoot.BoostingEnsembleClassifier(n_estimators=5, n_members=2, random_state=0),
    "adaboost": surefoot.AdaBoostClassifier(n_estimators=8),
    "majority": surefoot.MajorityBoostClassifier(n_estimators=8, n_members=3, random_state=0),
}


@pytest.fixture(scope="module")
def rows():
    """A frame with a categorical column of text, and a target that depends on it."""
    generator = np.random.default_rng(0)
    place = generator.choice(["north", "south", "west"], 260)
    X = pd.DataFrame({"size": generator.normal(size=260), "place": pd.Categorical(place)})
    X.loc[::17, "place"] = None
    return X, X["size"].to_numpy() + 2.0 * (place == "north") + generator.normal(scale=0.3, size=260)


def quantile(scores):
    """The smallest score that enough of the others do not exceed: the finite-sample quantile of split conformal."""
    return np.sort(scores)[int(np.ceil((len(scores) + 1) * LEVEL)) - 1]


@pytest.mark.parametrize("name", REGRESSORS)
def test_intervals_of_a_fitted_regressor(rows, name):
    X, y = rows
    model = REGRESSORS[name].fit(X[:100], y[:100])
    mapie = regression.SplitConformalRegressor(model, confidence_level=LEVEL, prefit=True)
    predicted, ends = mapie.conformalize(X[100:200], y[100:200]).predict_interval(X[200:])
    width = quantile(np.abs(y[100:200] - model.predict(X[100:200])))
    np.testing.assert_array_equal(predicted, model.predict(X[200:]))
    np.testing.assert_allclose(ends[:, :, 0], np.stack([predicted - width, predicted + width], axis=1))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_label_sets_of_a_fitted_classifier(rows, name):
    X, y = rows
    labels = np.where(y > 1.0, "high", "low")
    model = CLASSIFIERS[name].fit(X[:100], labels[:100])
    mapie = classification.SplitConformalClassifier(model, confidence_level=LEVEL, prefit=True, conformity_score="lac")
    sets = mapie.conformalize(X[100:200], labels[100:200]).predict_set(X[200:])[1][:, :, 0]
    codes = np.searchsorted(model.classes_, labels[100:200])
    most = quantile(1.0 - model.predict_proba(X[100:200])[np.arange(100), codes])
    np.testing.assert_array_equal(sets, model.predict_proba(X[200:]) >= 1.0 - most - 1e-12)


def test_cross_fitted_models(rows):
    X, y = rows
    model, folds = REGRESSORS["gradient"], KFold(3)
    mapie = regression.CrossConformalRegressor(model, confidence_level=LEVEL, cv=folds, method="base")
    predicted, ends = mapie.fit_conformalize(X[:200], y[:200]).predict_interval(X[200:])
    residuals = np.concatenate(
        [
            np.abs(y[held_out] - model.fit(X.iloc[train], y[train]).predict(X.iloc[held_out]))
            for train, held_out in folds.split(X[:200])
        ]
    )
    np.testing.assert_array_equal(predicted, model.fit(X[:200], y[:200]).predict(X[200:]))
    np.testing.assert_allclose(ends[:, 1, 0] - predicted, quantile(residuals))
    labels = np.where(y > 1.0, "high", "low")
    sets = classification.CrossConformalClassifier(CLASSIFIERS["gradient"], confidence_level=LEVEL, cv=3)
    assert sets.fit_conformalize(X[:200], labels[:200]).predict_set(X[200:])[1].shape == (60, 2, 1)


@pytest.mark.parametrize("categories", [[], ["ward"]])
def test_a_frame_of_numbers(rows, categories):
    X, y = rows
    X = pd.DataFrame({"size": X["size"], "ward": np.arange(260.0) % 3})
    model = surefoot.GradientBoostingRegressor(n_estimators=8, categorical_features=categories, random_state=0)
    mapie = regression.SplitConformalRegressor(model.fit(X[:100], y[:100]), confidence_level=LEVEL, prefit=True)
    predicted, _ = mapie.conformalize(X[100:200], y[100:200]).predict_interval(X[200:])  # without a warning about names
    np.testing.assert_array_equal(predicted, model.predict(X[200:]))
    zeros = pd.DataFrame(np.zeros((1, 2)), columns=["size", "ward"])
    np.testing.assert_array_equal(model.predict(np.zeros((1, 2))), model.predict(zeros))


@pytest.mark.parametrize("model", [*REGRESSORS.values(), *CLASSIFIERS.values()], ids=[*REGRESSORS, *CLASSIFIERS])
def test_one_row_of_zeros_has_no_category(rows, model):
    X, y = rows
    model.fit(X, y > 1.0 if hasattr(model, "predict_proba") else y)
    no_category = pd.DataFrame({"size": [0.0], "place": pd.Categorical([None], categories=["north"])})
    np.testing.assert_array_equal(model.predict(np.zeros((1, 2))), model.predict(no_category))
    for array in (np.zeros((2, 2)), np.ones((1, 2)), np.array([[0.0, 1.0]]), [[0.0, 0.0]]):
        with pytest.raises(DataError, match="X is an array, but the model was fitted on a frame with categorical"):
            model.predict(array)
