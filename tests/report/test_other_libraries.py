"""Candidates of other libraries: equal to the libraries themselves, for tables with text and missing values."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from reference.audit_tables import numbers, two_classes
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import HistGradientBoostingRegressor
from xgboost import XGBClassifier

from surefoot import ParameterError, audit
from surefoot.report.models.other_libraries import (
    LIBRARIES,
    PlainColumns,
    check_libraries,
    is_installed,
    library_models,
)
from surefoot.report.run import AuditRun

NAMES = [name for name in LIBRARIES if is_installed(name)]
N_TREES = {"hist_gradient_boosting": "max_iter"}  # the parameter, where it is not n_estimators


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    """Models with ten trees."""

    def with_few(name, build):
        def built(*given):
            model = build(*given)
            last = model.steps[-1][1]
            getattr(last, "estimator", last).set_params(**{N_TREES.get(name, "n_estimators"): 10})
            return model

        return built

    for name, (label, module, build) in list(LIBRARIES.items()):
        monkeypatch.setitem(LIBRARIES, name, (label, module, with_few(name, build)))


def test_all_installed_libraries_take_part(quick_audit):
    X, y = two_classes(200)
    X["a [b] <c>"] = X.pop("noise")  # a name that some libraries refuse
    run, result = quick_audit(X, y, models="installed")
    labels = {LIBRARIES[name][0] for name in NAMES}
    assert labels >= {"HistGradientBoosting", "LightGBM", "XGBoost", "CatBoost"}
    assert labels <= {model.name for model in result.accuracy.models}
    assert not result.accuracy.left_out
    for each in run.fitted:
        if each.name in labels:
            assert each.predictions.probabilities.shape == (200, 2)
            assert each.outcome.losses.mean() < 0.35
    assert "Of other libraries," in result.to_html()


def test_predictions_are_those_of_the_library(quick_audit):
    X, y = two_classes(200)
    run, _ = quick_audit(X, y, models=["lightgbm", "xgboost"])
    train, test = run.splits.folds[0]
    frame = X.assign(colour=X["colour"].astype("category"))
    held_out = np.searchsorted(run.splits.held_out, test)
    lightgbm = LGBMClassifier(n_estimators=10, random_state=0, n_jobs=1, verbose=-1).fit(
        frame.iloc[train], y.iloc[train]
    )
    xgboost = XGBClassifier(n_estimators=10, enable_categorical=True, random_state=0, n_jobs=1)
    xgboost.fit(frame.iloc[train], (y.iloc[train] == "well").astype(int))
    for name, model in (("LightGBM", lightgbm), ("XGBoost", xgboost)):
        audited = next(each for each in run.fitted if each.name == name)
        assert np.allclose(audited.predictions.probabilities[held_out], model.predict_proba(frame.iloc[test]))


def test_numbers(quick_audit):
    X, y = numbers(200)
    run, result = quick_audit(X, y, models="installed")
    train, test = run.splits.folds[0]
    model = HistGradientBoostingRegressor(max_iter=10, random_state=0).fit(X.iloc[train], y.iloc[train])
    audited = next(each for each in run.fitted if each.name == "HistGradientBoosting")
    held_out = np.searchsorted(run.splits.held_out, test)
    assert np.allclose(audited.predictions.values[held_out], model.predict(X.iloc[test]))
    assert {LIBRARIES[name][0] for name in NAMES} <= {model.name for model in result.accuracy.models}


@pytest.mark.parametrize("name", NAMES)
def test_new_rows_with_unknown_categories_and_three_classes(name):
    X, _ = two_classes(240)
    label = np.array(["a", "b", "c"])[np.digitize(X["size"], [-0.5, 0.5])]
    new = X.assign(colour=np.where(np.arange(240) % 2, "violet", X["colour"]))
    run = AuditRun.begin(X, label, X_new=new)
    (candidate,) = library_models([name], run.table, 0, None)
    model = candidate.fit(run.table, np.arange(200))
    predicted = candidate.predict_table(model, run.deployment.frame, run.table.target)
    assert predicted.probabilities.shape == (240, 3)
    assert np.mean(predicted.values == label) > 0.9


def test_rare_categories_beyond_the_maximum_are_missing():
    X = pd.DataFrame({"kind": pd.Categorical(["a"] * 5 + ["b"] * 3 + ["c"])})
    plain = PlainColumns(max_categories=2).fit_transform(X)
    assert plain["c0"].cat.categories.tolist() == ["a", "b"]
    assert plain["c0"].isna().sum() == 1
    assert PlainColumns(as_text=True).fit(X[:8]).transform(X)["c0"].tolist() == ["a"] * 5 + ["b"] * 3 + ["missing"]


def test_unknown_libraries_are_refused_at_once():
    with pytest.raises(ParameterError, match=r"models has the unknown entry 'ngboost': choose from"):
        audit(*numbers(), models=["lightgbm", "ngboost"])


class InContext(RegressorMixin, BaseEstimator):
    """Has the methods and the parameters of TabICLRegressor, and keeps what it is given."""

    def __init__(self, n_estimators=8, random_state=42, n_jobs=None):
        self.n_estimators, self.random_state, self.n_jobs = n_estimators, random_state, n_jobs

    def fit(self, X, y):
        self.X_, self.mean_ = X, float(np.mean(y))
        return self

    def predict(self, X):
        assert list(X.columns) == list(self.X_.columns)
        return np.full(len(X), self.mean_)


def test_a_network_takes_part_only_by_its_name(quick_audit, monkeypatch):
    module = ModuleType("tabicl")
    module.__spec__ = ModuleSpec("tabicl", None)
    module.TabICLRegressor = InContext
    monkeypatch.setitem(sys.modules, "tabicl", module)
    assert "tabicl" not in check_libraries("installed")
    X, y = numbers(200)
    X["colour"] = np.where(X["x"] > 0, "red", "blue")
    run, result = quick_audit(X, y, models=["tabicl"])
    fitted = next(each for each in run.fitted if each.name == "TabICL")
    last = fitted.fold_models[0].steps[-1][1]
    assert (last.random_state, last.n_jobs) == (0, None)
    assert last.X_.dtypes.astype(str).tolist() == ["float64", "float64", "category"]
    assert "TabICL" in {model.name for model in result.accuracy.models}
    remarks = quick_audit(X, y, models=["tabicl"], sample_weight=np.arange(1.0, 201.0))[1].subject.remarks
    assert any(remark.startswith("TabICL could not be fitted") for remark in remarks)
