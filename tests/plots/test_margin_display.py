"""The cumulative margin distribution."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer

from surefoot import AdaBoostClassifier, MajorityBoostClassifier
from surefoot.plots import MarginDisplay


@pytest.fixture
def ax():
    return Figure().subplots()


def test_the_curve_is_the_fraction_of_rows_up_to_a_margin(ax):
    display = MarginDisplay(np.array([0.5, -0.5, 0.5, 1.0]), name="votes").plot(ax=ax)
    x, y = display.line_.get_data()
    for margin, fraction in ((-0.75, 0.0), (-0.5, 0.25), (0.0, 0.25), (0.5, 0.75), (1.0, 1.0)):
        assert y[np.searchsorted(x, margin, side="right") - 1] == fraction
    assert ax.get_xlabel() == "margin"


def test_several_models_share_axes(ax):
    X, y = load_breast_cancer(return_X_y=True)
    for booster in (AdaBoostClassifier(n_estimators=10), MajorityBoostClassifier(n_estimators=10)):
        display = MarginDisplay.from_estimator(booster.fit(X, y), X, y, ax=ax, linewidth=3)
        assert display.line_.get_linewidth() == 3
        assert display.ax_ is ax
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "AdaBoostClassifier",
        "MajorityBoostClassifier",
    ]
