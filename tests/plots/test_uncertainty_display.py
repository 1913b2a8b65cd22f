"""Distributions and maps of uncertainty."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.figure import Figure
from sklearn.metrics import roc_auc_score

from surefoot import DataError, ParameterError
from surefoot.plots import UncertaintyDisplay
from surefoot.plots.feature_map import FeatureMap

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(80, 3))
FAR = GENERATOR.normal(size=(50, 3)) + 2


def numbers(X):
    return np.asarray(X)[:, 0] ** 2


def model(unit="nats"):
    def predict_uncertainty(X):
        knowledge = numbers(X)
        return SimpleNamespace(total=knowledge + 0.5, data=np.full(len(X), 0.5), knowledge=knowledge, unit=unit)

    return SimpleNamespace(predict_uncertainty=predict_uncertainty)


def point_model():
    return SimpleNamespace(
        predict_uncertainty=lambda X: SimpleNamespace(
            total=None, data=None, knowledge=numbers(X), unit="target squared"
        )
    )


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.fixture
def ax():
    return Figure(figsize=(6, 5)).subplots()


def test_the_curves_are_the_fractions_of_rows_up_to_an_uncertainty(ax):
    display = UncertaintyDisplay.from_estimator(model(), X, FAR, name="it", ax=ax)
    for line, table in zip(display.lines_, (X, FAR), strict=True):
        x, y = line.get_data()
        for value in (1.0, 4.0, 30.0):
            assert y[np.searchsorted(x, value, side="right") - 1] == pytest.approx((numbers(table) <= value).mean())
    auc = roc_auc_score(np.repeat([0, 1], [80, 50]), [*numbers(X), *numbers(FAR)])
    assert legend(ax) == ["it, knowledge", f"the same for out-of-domain rows (ROC-AUC {auc:.2f})"]
    assert ax.get_xlabel() == "uncertainty (nats)"
    assert (display.ax_, display.figure_) == (ax, ax.figure)


def test_kinds_and_models_share_axes(ax):
    display = UncertaintyDisplay(model().predict_uncertainty(X), name="it")
    colours = [display.plot(ax=ax, kind=kind).lines_[0].get_color() for kind in ("total", "data", "knowledge")]
    assert legend(ax) == ["it, total", "it, data", "it, knowledge"]
    assert len(set(colours)) == 3
    np.testing.assert_allclose(np.unique(ax.lines[0].get_xdata()), np.unique(numbers(X) + 0.5))
    red = UncertaintyDisplay.from_estimator(point_model_in_nats(), X, ax=ax, color="red", style="distribution")
    assert red.lines_[0].get_color() == "red"
    with pytest.raises(ParameterError, match="axes of its own"):
        UncertaintyDisplay.from_estimator(model("target squared"), X, ax=ax)


def point_model_in_nats():
    return SimpleNamespace(
        predict_uncertainty=lambda X: SimpleNamespace(total=None, data=None, knowledge=numbers(X), unit="nats")
    )


def test_the_legend_does_not_cover_the_curves(ax):
    for _ in range(3):
        UncertaintyDisplay.from_estimator(model(), X, FAR, ax=ax)
    ax.figure.canvas.draw()
    box = ax.get_legend().get_window_extent().transformed(ax.transData.inverted())
    assert box.y0 > 1


def test_the_scale_is_logarithmic_if_values_have_a_wide_range(ax):
    for values, scale in ((np.linspace(1, 2, 50), "linear"), (np.r_[0.0, np.logspace(-6, 0, 50)], "log")):
        ax.clear()
        uncertainty = SimpleNamespace(total=None, data=None, knowledge=values, unit="nats")
        UncertaintyDisplay(uncertainty).plot(ax=ax)
        assert ax.get_xscale() == scale
        ax.figure.canvas.draw()
    UncertaintyDisplay(SimpleNamespace(total=None, data=None, knowledge=np.zeros(5), unit="nats")).plot(ax=ax)
    ax.figure.canvas.draw()


def test_many_rows_are_thinned_but_keep_their_ends(ax):
    values = np.random.default_rng(0).normal(size=30_000) ** 2
    display = UncertaintyDisplay(SimpleNamespace(total=None, data=None, knowledge=values, unit="nats")).plot(ax=ax)
    x, y = display.lines_[0].get_data()
    assert len(x) <= 1001
    assert (x[0], x[-1], y[0], y[-1]) == (values.min(), values.max(), 0, 1)


def test_a_grid_of_two_columns_becomes_cells(ax):
    across, up = np.meshgrid([0.0, 1.0, 3.0], [10.0, 20.0])
    grid = np.stack([across.ravel(), up.ravel()], axis=1)
    display = UncertaintyDisplay.from_estimator(model("target squared"), grid[[3, 1, 0, 2, 4, 5]], name="it", ax=ax)
    assert isinstance(display.image_, QuadMesh)
    np.testing.assert_array_equal(display.image_.get_array(), [[0, 1, 9], [0, 1, 9]])
    assert display.colorbar_.ax.get_ylabel() == "knowledge uncertainty (target²)"
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("feature 0", "feature 1", "it")


def test_cells_show_means_and_missing_rows(ax):
    plane = FeatureMap.from_table(np.array([[0, 0], [0, 0], [0, 1], [1, 0]]))
    image = plane.draw(ax, np.array([1.0, 3.0, 5.0, 7.0]))
    np.testing.assert_array_equal(np.ma.filled(image.get_array(), np.nan), [[2, 7], [5, np.nan]])


def test_scattered_rows_become_points_with_the_highest_on_top(ax):
    display = UncertaintyDisplay.from_estimator(model(), X, features=(0, 2), kind="total", ax=ax, cmap="cividis")
    assert isinstance(display.image_, PathCollection)
    order = np.argsort(numbers(X))
    np.testing.assert_array_equal(display.image_.get_offsets(), X[order][:, [0, 2]])
    np.testing.assert_array_equal(display.image_.get_array(), (numbers(X) + 0.5)[order])
    assert display.image_.get_cmap().name == "cividis"


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_named_columns_and_categories(ax, frame):
    names = {"kind": ["b", "a", "b", "a"], "size": [1.0, 1.0, 2.0, 2.0], "rest": [0, 0, 0, 0]}
    plane = FeatureMap.from_table(frame(names), ("kind", "size"))
    image = plane.draw(ax, np.array([1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_array_equal(image.get_array(), [[2, 1], [4, 3]])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("kind", "size")
    assert FeatureMap.from_table(frame(names), (1, -1)).across.name == "size"


def test_categories_keep_their_order(ax):
    sizes = pd.Categorical(["small", "large", "small", "large"], categories=["small", "medium", "large"])
    plane = FeatureMap.from_table(pd.DataFrame({"size": sizes, "other": [0, 0, 1, 1]}))
    assert plane.across.categories == ("small", "large")
    assert plane.across.positions.tolist() == [0, 1, 0, 1]


def test_two_columns_can_also_be_a_distribution(ax):
    display = UncertaintyDisplay.from_estimator(model(), X[:, :2], ax=ax, style="distribution")
    assert len(display.lines_) == 1
    assert not ax.collections


def test_invalid_arguments_are_refused(ax):
    with pytest.raises(ParameterError, match=r"must have predict_uncertainty.*VirtualEnsemble"):
        UncertaintyDisplay.from_estimator(SimpleNamespace(), X)
    with pytest.raises(ParameterError, match="kind must be one of"):
        UncertaintyDisplay.from_estimator(model(), X, kind="epistemic", ax=ax)
    with pytest.raises(ParameterError, match="style must be one of"):
        UncertaintyDisplay.from_estimator(model(), X, style="violin", ax=ax)
    with pytest.raises(ParameterError, match="kind='total': the model predicts points"):
        UncertaintyDisplay.from_estimator(point_model(), X, kind="total", ax=ax)
    with pytest.raises(ParameterError, match="leave out X_ood"):
        UncertaintyDisplay.from_estimator(model(), X, FAR, features=(0, 1), ax=ax)
    with pytest.raises(ParameterError, match='style="map" needs'):
        UncertaintyDisplay(model().predict_uncertainty(X)).plot(ax=ax, style="map")
    for features in ("age", (0,), (0, 1, 2)):
        with pytest.raises(ParameterError, match="features must be a pair"):
            UncertaintyDisplay.from_estimator(model(), X, features=features, ax=ax)
    with pytest.raises(ParameterError, match="features must be a pair"):
        UncertaintyDisplay.from_estimator(model(), X, style="map", ax=ax)
    for features in ((0, 7), (0, "age")):
        with pytest.raises(ParameterError, match="is not a column of X"):
            UncertaintyDisplay.from_estimator(model(), X, features=features, ax=ax)
    holes = np.where(X > 1, np.nan, X)
    with pytest.raises(DataError, match="feature 1 contains NaN"):
        FeatureMap.from_table(holes, (1, 2))
