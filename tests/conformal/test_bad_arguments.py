"""Arguments that cannot be used are refused by name, before anything is fitted."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot import ConformalClassifier, ConformalRegressor, DataError, GradientBoostingRegressor, ParameterError
from surefoot.conformal.row_scales import resolved_score

X, Y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40.0)
LABELS = np.arange(40) % 2


@pytest.mark.parametrize(
    ("argument", "value", "message"),
    [
        ("model", LogisticRegression(), "use ConformalClassifier"),
        ("model", LinearRegression, "must be an estimator with a method fit"),
        ("model", "ridge", "must be an estimator with a method fit"),
        ("confidence_level", 1.0, "below 1.0"),
        ("confidence_level", 90, "below 1.0"),
        ("calibration_fraction", 0.0, "above 0.0"),
        ("cv", 1, "2 or more"),
        ("cv", "folds", "'split', 'prefit' or a number of folds"),
        ("cv", 2.5, "'split', 'prefit' or a number of folds"),
        ("conformity_score", "lac", "must be one of 'auto'"),
        ("conformity_score", "normalized", r"needs predict\(X, return_std=True\)"),
        ("conformity_score", "quantile", "needs predict_distribution"),
        ("n_jobs", 0, "n_jobs must not be 0"),
    ],
)
def test_parameters(argument, value, message):
    model = ConformalRegressor(**{"model": LinearRegression(), "cv": 3, argument: value})
    with pytest.raises(ParameterError, match=message) as caught:
        model.fit(X, Y)
    assert argument == "n_jobs" or caught.value.argument == argument
    assert not hasattr(model, "models_")


def test_a_regressor_is_no_model_of_classes():
    with pytest.raises(ParameterError, match="use ConformalRegressor"):
        ConformalClassifier(LinearRegression()).fit(X, LABELS)
    with pytest.raises(ParameterError, match="conformity_score must be one of 'lac', 'aps'"):
        ConformalClassifier(LogisticRegression(), conformity_score="absolute").fit(X, LABELS)


def test_groups():
    model = ConformalRegressor(LinearRegression(), cv=3, random_state=0)
    with pytest.raises(DataError, match="groups has the shape") as caught:
        model.fit(X, Y, groups=["a"])
    assert caught.value.argument == "groups"
    for missing in (None, float("nan")):
        with pytest.raises(DataError, match="groups has missing values"):
            model.fit(X, Y, groups=["a"] * 39 + [missing])
    numbers = model.fit(X, Y, groups=np.repeat([1, 2], 20)).predict_interval(X, np.repeat([1.0, 2.0], 20))
    assert np.isfinite(numbers).all()
    with pytest.raises(ParameterError, match="groups and X_target cannot be combined"):
        model.fit(X, Y, groups=["a"] * 40, X_target=X)
    with pytest.raises(NotFittedError):
        ConformalRegressor(LinearRegression()).predict_interval(X)
    with pytest.raises(ParameterError, match="groups were not passed to fit"):
        model.fit(X, Y).predict_interval(X, ["a"] * 40)
    with pytest.raises(ParameterError, match="groups were passed to fit"):
        model.fit(X, Y, groups=["a"] * 40).predict_interval(X)
    with pytest.raises(ParameterError, match="confidence_level must be"):
        model.predict_interval(X, ["a"] * 40, confidence_level=0)


def test_too_few_rows():
    with pytest.raises(DataError, match="n_samples = 9 rows are too few"):
        ConformalRegressor(LinearRegression()).fit(X[:9], Y[:9])
    with pytest.raises(DataError, match="cv=10 needs at least as many rows"):
        ConformalRegressor(LinearRegression(), cv=10).fit(X[:9], Y[:9])


def test_a_target_table_with_other_columns():
    with pytest.raises(DataError, match="X has 2 columns and X_target 1"):
        ConformalRegressor(LinearRegression()).fit(X, Y, X_target=X[:, :1])


def test_what_auto_stands_for():
    assert resolved_score("auto", GradientBoostingRegressor()) == "quantile"
    assert resolved_score("auto", LinearRegression()) == "absolute"
    pipeline = make_pipeline(StandardScaler(), BayesianRidge())
    assert resolved_score("auto", pipeline) == "normalized"
    model = ConformalRegressor(pipeline, random_state=0)
    assert model.fit(X, Y).conformity_score_ == "normalized"
    assert np.ptp(np.subtract(*model.predict_interval(X))) > 0
