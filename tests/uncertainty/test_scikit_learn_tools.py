"""scikit-learn's tools for inspection, calibration and selection take all four boosters, on every kind of table."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from reference.gradient_boosters import CLASSIFIERS, GRADIENT_BOOSTERS, REGRESSORS, small
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import PartialDependenceDisplay, partial_dependence, permutation_importance
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_predict
from threadpoolctl import threadpool_limits

ROWS = 150
TABLES = ("array", "missing", "frame", "missing frame")
each_booster = pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
each_table = pytest.mark.parametrize("kind", TABLES)


@pytest.fixture(scope="module")
def columns():
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.normal(size=(ROWS, 3)), columns=["signal", "noise", "curve"])
    frame["kind"] = pd.Categorical(generator.choice(["red", "green", "blue"], ROWS))
    values = 3 * frame["signal"] + frame["curve"] ** 2 + 4 * (frame["kind"] == "green")
    return frame, values.to_numpy() + 0.3 * generator.normal(size=ROWS)


def booster(estimator, **parameters):
    return small(estimator, early_stopping=False, **parameters)


def table_of(kind, frame):
    X = frame.copy()
    if "missing" in kind:
        X.loc[::8, "signal"] = np.nan
        X.loc[::9, "kind"] = np.nan
    return X if "frame" in kind else X.drop(columns="kind").to_numpy()


def target_of(estimator, values, n_classes=3):
    if estimator in REGRESSORS:
        return values
    cuts = np.quantile(values, np.arange(1, n_classes) / n_classes)
    return np.array(["low", "middle", "high"])[np.searchsorted(cuts, values)]


def peer_of(estimator):
    """scikit-learn's own booster for the same target."""
    peer = HistGradientBoostingRegressor if estimator in REGRESSORS else HistGradientBoostingClassifier
    return peer(max_iter=15, learning_rate=0.3, min_samples_leaf=5, categorical_features="from_dtype", random_state=0)


@each_booster
@pytest.mark.parametrize("kind", ["missing", "missing frame"])
def test_permutation_importance_finds_the_columns_that_count(estimator, kind, columns):
    frame, values = columns
    X, y = table_of(kind, frame), target_of(estimator, values)
    settings = {"n_repeats": 2, "random_state": 0}
    model = booster(estimator, n_estimators=20).fit(X, y)
    ours = permutation_importance(model, X, y, **settings).importances_mean
    with threadpool_limits(1):  # its threads wait for each other on small tables
        theirs = permutation_importance(peer_of(estimator).fit(X, y), X, y, **settings).importances_mean
    assert ours.argmax() == theirs.argmax() == 0
    assert ours.argmin() == 1  # noise
    assert np.corrcoef(ours, theirs)[0, 1] > 0.9
    assert model.feature_importances_.argmax() == 0
    assert model.feature_importances_.sum() == pytest.approx(1.0)


@each_booster
@each_table
def test_partial_dependence_is_the_mean_of_predictions(estimator, kind, columns):
    frame, values = columns
    X = table_of(kind, frame)
    model = booster(estimator).fit(X, target_of(estimator, values))
    predict = model.predict if estimator in REGRESSORS else lambda table: model.predict_proba(table)
    result = partial_dependence(model, X, [2], grid_resolution=4, kind="both")
    for k, value in enumerate(result["grid_values"][0]):
        changed = X.copy()
        if "frame" in kind:
            changed["curve"] = value
        else:
            changed[:, 2] = value
        expected = predict(changed).reshape(ROWS, -1)
        np.testing.assert_allclose(result["individual"][:, :, k].T, expected)
        np.testing.assert_allclose(result["average"][:, k], expected.mean(axis=0))


@each_booster
def test_partial_dependence_on_categories(estimator, columns):
    frame, values = columns
    model = booster(estimator).fit(frame, target_of(estimator, values, n_classes=2))
    result = partial_dependence(model, frame, ["kind"], categorical_features=["kind"], kind="average")
    for value, mean in zip(result["grid_values"][0], result["average"][0], strict=True):
        changed = frame.assign(kind=pd.Categorical([value] * ROWS, categories=frame["kind"].cat.categories))
        predicted = model.predict(changed) if estimator in REGRESSORS else model.predict_proba(changed)[:, 1]
        assert mean == pytest.approx(predicted.mean())


@each_booster
@pytest.mark.parametrize("kind", ["missing", "frame"])
def test_the_display_of_partial_dependence_is_drawn(estimator, kind, columns):
    frame, values = columns
    X = table_of(kind, frame)
    model = booster(estimator, n_estimators=20).fit(X, target_of(estimator, values))
    categorical = {} if kind == "missing" else {"categorical_features": ["kind"]}
    target = {} if estimator in REGRESSORS else {"target": "high"}
    features = [1, (1, 2)] if kind == "missing" else ["signal", "kind", ("signal", "curve")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        display = PartialDependenceDisplay.from_estimator(
            model, X, features, grid_resolution=3, **categorical, **target
        )
    assert len(display.axes_.ravel()) == len(features)
    plt.close(display.figure_)


@each_booster
@pytest.mark.parametrize("kind", ["missing", "missing frame"])
def test_cross_validated_predictions_are_those_of_models_of_the_folds(estimator, kind, columns):
    frame, values = columns
    X, y = table_of(kind, frame), target_of(estimator, values)
    predicted = cross_val_predict(booster(estimator), X, y, cv=3)
    folds = KFold(3) if estimator in REGRESSORS else StratifiedKFold(3)
    rows = X.iloc if "frame" in kind else X
    for train, test in folds.split(X, y):
        model = booster(estimator).fit(rows[train], y[train])
        np.testing.assert_array_equal(predicted[test], model.predict(rows[test]))


@each_booster
@pytest.mark.parametrize("kind", ["missing", "missing frame"])
def test_a_grid_search_fits_the_best_model_again(estimator, kind, columns):
    frame, values = columns
    X, y = table_of(kind, frame), target_of(estimator, values)
    search = GridSearchCV(booster(estimator), {"n_estimators": [1, 30]}, cv=2).fit(X, y)
    assert search.best_params_ == {"n_estimators": 30}
    fresh = clone(search.best_estimator_).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), fresh.predict(X))
    assert search.best_score_ == pytest.approx(search.cv_results_["mean_test_score"].max())


@pytest.mark.parametrize("estimator", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibration_takes_classifiers(estimator, n_classes, columns):
    frame, values = columns
    X, y = table_of("missing frame", frame), target_of(estimator, values, n_classes)
    model = booster(estimator, n_estimators=10).fit(X, y)
    frozen = CalibratedClassifierCV(FrozenEstimator(model)).fit(X, y)
    assert log_loss(y, frozen.predict_proba(X)) < log_loss(y, model.predict_proba(X))  # ten short steps are too careful
    for settings in ({}, {"method": "isotonic", "ensemble": False}):
        probabilities = CalibratedClassifierCV(booster(estimator), cv=2, **settings).fit(X, y).predict_proba(X)
        assert probabilities.shape == (ROWS, n_classes)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("estimator", REGRESSORS)
def test_what_partial_dependence_refuses_it_refuses_for_every_model(estimator, columns):
    """Missing categories, for which DependenceDisplay is the alternative."""
    frame, values = columns
    X = table_of("missing frame", frame)
    for model in (booster(estimator), peer_of(estimator)):
        with threadpool_limits(1), pytest.raises((TypeError, ValueError)):
            partial_dependence(model.fit(X, values), X, ["kind"], categorical_features=["kind"], kind="average")
