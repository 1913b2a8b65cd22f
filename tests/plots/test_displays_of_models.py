"""Displays of fitted models."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes, load_iris

from surefoot import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    GradientBoostingRegressor,
    ParameterError,
    VirtualEnsemble,
)
from surefoot.metrics import coverage, ood_auc, prediction_rejection_ratio
from surefoot.plots import CalibrationDisplay, RejectionCurveDisplay, UncertaintyDisplay

SMALL = {"n_estimators": 30, "max_depth": 3, "random_state": 0}


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture(scope="module")
def regression():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return BoostingEnsembleRegressor(n_members=3, **SMALL).fit(X, y), X, y


@pytest.fixture(scope="module")
def classification():
    X, y = load_iris(return_X_y=True)
    return BoostingEnsembleClassifier(n_members=3, **SMALL).fit(X, y), X, y


def test_rejection(regression, classification, ax):
    for (model, X, y), loss in ((regression, "squared_error"), (classification, "zero_one")):
        display = RejectionCurveDisplay.from_estimator(model, X, y, ax=Figure().subplots())
        uncertainty = model.predict_uncertainty(X)
        assert display.curve.loss == loss
        assert display.curve.ratio == prediction_rejection_ratio(y, model.predict(X), uncertainty.total, loss=loss)
    _, X, y = regression
    model = GradientBoostingRegressor(subsample=0.5, **SMALL).fit(X, y)
    ensemble = VirtualEnsemble(model, n_members=3)
    display = RejectionCurveDisplay.from_estimator(ensemble, X, y, kind="knowledge", ax=ax)
    knowledge = ensemble.predict_uncertainty(X).knowledge
    assert display.curve.ratio == prediction_rejection_ratio(y, model.predict(X), knowledge)
    with pytest.raises(ParameterError, match="wrap it in VirtualEnsemble"):
        RejectionCurveDisplay.from_estimator(model, X, y)


def test_calibration(regression, classification, ax):
    model, X, y = regression
    display = CalibrationDisplay.from_estimator(model, X, y, levels=[0.5, 0.9], ax=ax)
    expected = [coverage(y, model.predict_distribution(X), level=level) for level in (0.5, 0.9)]
    assert display.curve.observed.tolist() == pytest.approx(expected)
    display = CalibrationDisplay.from_estimator(*classification, class_label=2, ax=Figure().subplots())
    assert display.curve.counts.sum() == 150


def test_uncertainty(regression, ax):
    model, X, _ = regression
    X_ood = X + 0.1
    display = UncertaintyDisplay.from_estimator(model, X, X_ood, ax=ax)
    auc = ood_auc(model.predict_uncertainty(X).knowledge, model.predict_uncertainty(X_ood).knowledge)
    assert ax.get_legend().get_texts()[1].get_text().endswith(f"(ROC-AUC {auc:.2f})")
    plane = UncertaintyDisplay.from_estimator(model, X, features=("bmi", "bp"), kind="data", ax=Figure().subplots())
    np.testing.assert_array_equal(np.sort(plane.image_.get_array()), np.sort(display.uncertainty.data))
    assert plane.ax_.get_xlabel() == "bmi"


def test_without_axes_a_figure_is_created(regression):
    model, X, y = regression
    for draw in (
        lambda: RejectionCurveDisplay.from_estimator(model, X, y),
        lambda: CalibrationDisplay.from_estimator(model, X, y),
        lambda: UncertaintyDisplay.from_estimator(model, X),
    ):
        display = draw()
        assert display.figure_ is plt.gcf()
        display.figure_.canvas.draw()
        plt.close(display.figure_)
