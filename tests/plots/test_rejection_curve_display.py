"""Charts of rejection curves."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from surefoot import ParameterError
from surefoot.metrics import prediction_rejection_ratio, rejection_curve
from surefoot.plots import RejectionCurveDisplay

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(200, 3))
SPREAD = np.abs(X[:, 1]) + 0.1
Y = X[:, 0] + SPREAD * GENERATOR.normal(size=200)
LABELS = np.where(Y > 0, "up", "down")


def model(unit="target squared", total=True):
    """A model that knows the true spread, and has a useless knowledge uncertainty."""

    def predict_uncertainty(X):
        data, knowledge = (np.abs(X[:, 1]) + 0.1) ** 2, X[:, 2] ** 2
        known = {"total": data + knowledge, "data": data} if total else {"total": None, "data": None}
        return SimpleNamespace(**known, knowledge=knowledge, unit=unit)

    def predict(X):
        return X[:, 0] if unit != "nats" else np.where(X[:, 0] > 0, "up", "down")

    return SimpleNamespace(predict=predict, predict_uncertainty=predict_uncertainty)


@pytest.fixture
def ax():
    return Figure().subplots()


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_lines_are_the_curves_of_the_metric(ax):
    display = RejectionCurveDisplay.from_predictions(Y, X[:, 0], SPREAD, name="spread", ax=ax, linewidth=5)
    curve = rejection_curve(Y, X[:, 0], SPREAD)
    for line, expected in (
        (display.line_, curve.error),
        (display.random_line_, curve.random),
        (display.oracle_line_, curve.oracle),
    ):
        np.testing.assert_array_equal(line.get_xdata(), curve.rejected)
        np.testing.assert_array_equal(line.get_ydata(), expected)
    assert display.line_.get_linewidth() == 5
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert legend(ax) == [f"spread (PRR {curve.ratio:.2f})", "random order", "oracle: worst first"]
    assert ax.get_ylabel() == "remaining mean squared error"
    assert ax.get_ylim()[1] > curve.error[0]


def test_the_kind_of_uncertainty_is_used(ax):
    for kind, values in (("data", SPREAD**2), ("knowledge", X[:, 2] ** 2), ("total", SPREAD**2 + X[:, 2] ** 2)):
        display = RejectionCurveDisplay.from_estimator(model(), X, Y, kind=kind, ax=ax)
        assert display.curve.ratio == prediction_rejection_ratio(Y, X[:, 0], values)
    default = RejectionCurveDisplay.from_estimator(model(), X, Y, ax=ax)
    assert default.curve.ratio == display.curve.ratio
    points = RejectionCurveDisplay.from_estimator(model(total=False), X, Y, ax=ax)
    assert points.curve.ratio == prediction_rejection_ratio(Y, X[:, 0], X[:, 2] ** 2)
    assert points.name == "SimpleNamespace, knowledge"


def test_nats_imply_the_zero_one_loss(ax):
    display = RejectionCurveDisplay.from_estimator(model("nats"), X, LABELS, sample_weight=SPREAD, ax=ax)
    guess = np.where(X[:, 0] > 0, "up", "down")
    uncertainty = SPREAD**2 + X[:, 2] ** 2
    ratio = prediction_rejection_ratio(LABELS, guess, uncertainty, loss="zero_one", sample_weight=SPREAD)
    assert display.curve.ratio == ratio
    assert ax.get_ylabel() == "remaining error rate"


def test_curves_of_one_model_share_reference_lines_and_others_have_their_own(ax):
    first = RejectionCurveDisplay.from_estimator(model(), X, Y, kind="data", ax=ax)
    second = RejectionCurveDisplay.from_estimator(model(), X, Y, kind="knowledge", ax=ax)
    assert second.random_line_ is None
    assert second.oracle_line_ is None
    assert len(ax.lines) == 4
    assert first.line_.get_color() != second.line_.get_color()
    worse = RejectionCurveDisplay.from_predictions(2 * Y, 0 * Y, SPREAD, name="worse", ax=ax)
    assert worse.oracle_line_.get_color() == worse.line_.get_color()
    assert first.oracle_line_.get_color() == first.line_.get_color()
    assert len(legend(ax)) == 5
    assert ax.get_ylim()[1] > worse.curve.error[0]


def test_the_legend_does_not_cover_curves_worse_than_random(ax):
    display = RejectionCurveDisplay.from_predictions(Y, X[:, 0], -np.abs(Y - X[:, 0]), ax=ax)
    ax.figure.canvas.draw()
    box = ax.get_legend().get_window_extent().transformed(ax.transData.inverted())
    assert box.y0 > display.curve.error.max()
    assert legend(ax)[0] == "PRR -1.00"


def test_long_curves_are_thinned_but_keep_their_ends(ax):
    y = np.random.default_rng(0).normal(size=20_000)
    display = RejectionCurveDisplay.from_predictions(y, 0 * y, np.abs(y), ax=ax)
    x = display.line_.get_xdata()
    assert len(x) <= 1000
    assert (x[0], x[-1]) == (0, 1)


def test_a_model_without_errors_can_be_drawn(ax):
    RejectionCurveDisplay.from_predictions(Y, Y, SPREAD, name="perfect", ax=ax)
    assert legend(ax)[0] == "perfect (PRR undefined)"
    ax.figure.canvas.draw()


def test_invalid_arguments_are_refused(ax):
    with pytest.raises(ParameterError, match=r"must have predict_uncertainty.*VirtualEnsemble"):
        RejectionCurveDisplay.from_estimator(SimpleNamespace(predict=None), X, Y)
    with pytest.raises(ParameterError, match=r"must have predict,.*from_predictions"):
        RejectionCurveDisplay.from_estimator(SimpleNamespace(predict_uncertainty=None), X, Y)
    with pytest.raises(ParameterError, match="kind must be one of"):
        RejectionCurveDisplay.from_estimator(model(), X, Y, kind="epistemic")
    with pytest.raises(ParameterError, match="predicts points"):
        RejectionCurveDisplay.from_estimator(model(total=False), X, Y, kind="total")
    RejectionCurveDisplay.from_estimator(model(), X, Y, ax=ax)
    with pytest.raises(ParameterError, match="axes of its own"):
        RejectionCurveDisplay.from_estimator(model("nats"), X, LABELS, ax=ax)
