"""Charts of numbers of models with their intervals."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy.stats import binomtest, t
from sklearn.metrics import root_mean_squared_error, zero_one_loss

from surefoot import DataError, ParameterError
from surefoot.plots.comparison_display import ComparisonDisplay
from surefoot.plots.style import COLOURS

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 80)
GUESSES = {"constant": np.ones(80, int), "half right": np.where(RNG.random(80) < 0.5, Y, 1), "right": Y}


@pytest.fixture
def ax():
    return Figure(figsize=(6, 4)).subplots()


def test_error_rates_have_wilsons_interval(ax):
    display = ComparisonDisplay.from_predictions(Y, GUESSES, loss="zero_one", ax=ax)
    for place, guess in enumerate(GUESSES.values()):
        wrong = int((guess != Y).sum())
        interval = binomtest(wrong, 80).proportion_ci(method="wilson")
        assert display.value[place] == pytest.approx(zero_one_loss(Y, guess))
        assert display.low[place] == pytest.approx(interval.low, abs=1e-12)
        assert display.high[place] == pytest.approx(interval.high)
    assert ax.get_xlabel() == "error rate"
    assert (display.ax_, display.figure_) == (ax, ax.figure)


def test_rmse_has_the_root_of_students_interval(ax):
    truth = RNG.normal(size=50)
    predictions = {"near": truth + RNG.normal(scale=0.3, size=50), "far": truth + RNG.normal(scale=2, size=50)}
    display = ComparisonDisplay.from_predictions(truth, predictions, ax=ax)
    for place, predicted in enumerate(predictions.values()):
        squares = (truth - predicted) ** 2
        interval = t.interval(0.95, 49, squares.mean(), squares.std(ddof=1) / np.sqrt(50))
        assert display.value[place] == pytest.approx(root_mean_squared_error(truth, predicted))
        assert [display.low[place], display.high[place]] == pytest.approx(np.sqrt(interval))
    assert ax.get_xlabel() == "RMSE"


def test_dots_and_whiskers_show_the_numbers(ax):
    display = ComparisonDisplay(["a", "b"], [0.2, 0.4], [0.1, 0.3], [0.3, 0.6], "loss", highlighted=["b"]).plot(ax=ax)
    assert [dot.get_xydata().ravel().tolist() for dot in display.dots_] == [[0.2, 0.0], [0.4, 1.0]]
    ends = [segment[:, 0].tolist() for segment in display.whiskers_.get_segments()]
    assert ends == [[0.1, 0.3], [0.3, 0.6]]
    assert ax.get_ylim() == (1.5, -0.5)  # from top to bottom
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert [label.get_fontweight() for label in ax.get_yticklabels()] == ["normal", "bold"]
    assert to_hex(display.dots_[1].get_color()).upper() == COLOURS[0]
    assert to_hex(display.dots_[0].get_color()).upper() != COLOURS[0]


def test_an_unknown_end_is_not_drawn(ax):
    display = ComparisonDisplay(["a"], [0.2], [-np.inf], [np.nan], "loss").plot(ax=ax)
    assert display.whiskers_.get_segments()[0][:, 0].tolist() == [0.2, 0.2]
    ax.figure.canvas.draw()


def test_names_are_shortened_and_not_read_as_formulas(ax):
    names = ["$\\frac{1}{$", "long name " * 20, "two\nlines"]
    display = ComparisonDisplay(names, [1.0, 2.0, 3.0], [0.5] * 3, [3.5] * 3, "$loss{").plot(ax=ax)
    ax.figure.canvas.draw()
    shown = [label.get_text() for label in ax.get_yticklabels()]
    assert shown[0] == names[0]
    assert len(shown[1]) == 24
    assert shown[2] == "two lines"
    assert display.names == names


def test_new_axes_grow_with_the_number_of_models():
    heights = [
        ComparisonDisplay(["x"] * n, [1.0] * n, [0.5] * n, [1.5] * n, "loss").plot().figure_.get_figheight()
        for n in (2, 12)
    ]
    assert heights[1] > 2 * heights[0]


def test_invalid_arguments_are_refused(ax):
    with pytest.raises(DataError, match="low must have 2 values"):
        ComparisonDisplay(["a", "b"], [0.2, 0.4], [0.1], [0.3, 0.6], "loss")
    with pytest.raises(DataError, match="value must be finite"):
        ComparisonDisplay(["a"], [np.nan], [0.1], [0.3], "loss")
    with pytest.raises(DataError, match="at least one value"):
        ComparisonDisplay([], [], [], [], "loss")
    with pytest.raises(DataError, match="predictions is empty"):
        ComparisonDisplay.from_predictions(Y, {}, ax=ax)
    with pytest.raises(DataError, match="one value per row"):
        ComparisonDisplay.from_predictions(Y, {"short": Y[:3]}, loss="zero_one", ax=ax)
    with pytest.raises(ParameterError, match="loss must be one of"):
        ComparisonDisplay.from_predictions(Y, GUESSES, loss="hinge", ax=ax)
