"""Charts of the calibration of intervals and of probabilities."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import norm
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.naive_bayes import GaussianNB

from surefoot import DataError, ParameterError
from surefoot.metrics import coverage
from surefoot.plots import CalibrationDisplay

Y = np.random.default_rng(0).normal(size=300)


@pytest.fixture
def ax():
    return Figure(figsize=(6, 5)).subplots()


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_intervals_of_a_model(ax):
    model = SimpleNamespace(predict_distribution=lambda X: norm(X[:, 0], 0.5))
    display = CalibrationDisplay.from_estimator(model, np.zeros((300, 1)), Y, name="narrow", ax=ax, linewidth=4)
    levels, observed = display.line_.get_data()
    assert len(levels) == 19
    assert list(observed) == pytest.approx([coverage(Y, norm(0, 0.5), level=level) for level in levels])
    assert (observed < levels).all()
    assert display.line_.get_linewidth() == 4
    assert (display.ax_, display.figure_) == (ax, ax.figure)
    assert legend(ax) == ["calibrated", "narrow"]
    assert ax.get_xlabel() == "level of the central interval"


def test_the_band_is_the_confidence_interval(ax):
    display = CalibrationDisplay.from_predictions(Y, norm(), levels=[0.2, 0.8], ax=ax)
    drawn = display.band_.get_paths()[0].vertices
    for values in (display.curve.low, display.curve.high):
        assert set(values) <= set(drawn[:, 1])


def test_probabilities_of_two_classes(ax):
    X, y = load_breast_cancer(return_X_y=True)
    model = GaussianNB().fit(X, y)
    display = CalibrationDisplay.from_estimator(model, X, y, n_bins=5, ax=ax)
    observed, expected = calibration_curve(y, model.predict_proba(X)[:, 1], n_bins=5)
    np.testing.assert_allclose(display.line_.get_data(), (expected, observed))
    heights = np.array([bar.get_height() for bar in display.bars_])
    np.testing.assert_allclose(heights / heights.sum(), display.curve.counts / len(y))
    assert legend(ax) == ["calibrated", "GaussianNB", f"rows per bin, up to {display.curve.counts.max()}"]
    assert ax.get_xlabel() == "predicted probability of class 1"


def test_a_class_can_be_chosen(ax):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = GaussianNB().fit(X, names)
    options = {"class_label": "virginica", "n_bins": 5, "strategy": "quantile"}
    display = CalibrationDisplay.from_estimator(model, X, names, **options, ax=ax)
    observed, expected = calibration_curve(y == 2, model.predict_proba(X)[:, 2], n_bins=5, strategy="quantile")
    np.testing.assert_allclose(display.line_.get_data(), (expected, observed))
    assert ax.get_ylabel() == "observed fraction of class 'virginica'"


def test_with_several_classes_the_predicted_one_is_used(ax):
    X, y = load_iris(return_X_y=True)
    probabilities = GaussianNB().fit(X, y).predict_proba(X)
    display = CalibrationDisplay.from_predictions(y, probabilities, ax=ax)
    right = probabilities.argmax(axis=1) == y
    observed, expected = calibration_curve(right, probabilities.max(axis=1), n_bins=10)
    np.testing.assert_allclose(display.line_.get_data(), (expected, observed))
    assert ax.get_ylabel() == "fraction of correct predictions"


def test_weights_are_honoured(ax):
    weights = np.arange(300)
    display = CalibrationDisplay.from_predictions(Y, norm(0, 2), levels=[0.5], sample_weight=weights, ax=ax)
    assert display.curve.observed[0] == pytest.approx(coverage(Y, norm(0, 2), level=0.5, sample_weight=weights))
    display = CalibrationDisplay.from_predictions(
        Y > 0, np.full((300, 2), 0.5), sample_weight=weights, ax=Figure().subplots()
    )
    assert display.curve.observed[0] == pytest.approx(np.average(Y > 0, weights=weights))


def test_several_models_share_axes_and_the_legend_covers_none(ax):
    displays = [CalibrationDisplay.from_predictions(Y, norm(0, scale), name=str(scale), ax=ax) for scale in (0.5, 1, 3)]
    assert len({display.line_.get_color() for display in displays}) == 3
    assert legend(ax) == ["calibrated", "0.5", "1", "3"]
    assert len(ax.lines) == 4
    ax.figure.canvas.draw()
    box = ax.get_legend().get_window_extent().transformed(ax.transData.inverted())
    assert box.y0 > 1
    with pytest.raises(ParameterError, match="axes of its own"):
        CalibrationDisplay.from_predictions(Y > 0, np.full((300, 2), 0.5), ax=ax)


def test_invalid_arguments_are_refused(ax):
    half = np.full((300, 2), 0.5)
    with pytest.raises(ParameterError, match="must have predict_distribution or predict_proba"):
        CalibrationDisplay.from_estimator(SimpleNamespace(), Y, Y)
    for argument in ({"n_bins": 5}, {"strategy": "uniform"}, {"class_label": 1}, {"labels": [0, 1]}):
        with pytest.raises(ParameterError, match=f"{next(iter(argument))} is not used with a distribution"):
            CalibrationDisplay.from_predictions(Y, norm(), **argument, ax=ax)
    with pytest.raises(ParameterError, match="levels is not used with probabilities"):
        CalibrationDisplay.from_predictions(Y > 0, half, levels=[0.5], ax=ax)
    with pytest.raises(ParameterError, match="n_bins must be 1 or more"):
        CalibrationDisplay.from_predictions(Y > 0, half, n_bins=0, ax=ax)
    with pytest.raises(ParameterError, match="strategy must be one of"):
        CalibrationDisplay.from_predictions(Y > 0, half, strategy="kmeans", ax=ax)
    with pytest.raises(ParameterError, match="class_label must be one of the classes"):
        CalibrationDisplay.from_predictions(Y > 0, half, class_label="up", ax=ax)
    with pytest.raises(DataError, match="levels is empty"):
        CalibrationDisplay.from_predictions(Y, norm(), levels=[], ax=ax)
