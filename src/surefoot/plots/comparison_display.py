"""A number of each of several models, with its interval, as a chart."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot._extras import needs
from surefoot._formatting import shortened
from surefoot._parameters import check_choice
from surefoot.metrics.checks import check_numbers, check_row_labels
from surefoot.metrics.intervals import student_interval, wilson_interval
from surefoot.metrics.rejection import LOSSES
from surefoot.plots.style import COLOURS, LEGEND_SIZE, REFERENCE_COLOUR, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_LETTERS = 24  # of a name
ROW_HEIGHT = 0.34  # inches
LOSS_LABELS = {"zero_one": "error rate", "squared_error": "RMSE"}


class ComparisonDisplay:
    """A dot for each model, with its interval, from top to bottom in the given order.

    If the intervals of two models overlap, this shows neither that they differ nor that they are equal: models that are
    measured on the same rows are better compared by the interval of their difference.

    Parameters
    ----------
    names : sequence of str
        The names of the models.
    value, low, high : arrays of shape (n_models,)
        The numbers and the ends of their intervals. An end that is not finite is not drawn.
    xlabel : str
        Name of the numbers.
    highlighted : collection of str
        Names of models that are drawn in colour and bold.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure, after ``plot``.
    dots_, whiskers_
        A line with a single point for each model, and the intervals.

    Examples
    --------
    >>> from surefoot.plots.comparison_display import ComparisonDisplay
    >>> y, guesses = [0, 1, 1, 0, 1], {"one": [1, 1, 1, 1, 1], "other": [0, 1, 1, 0, 0]}
    >>> display = ComparisonDisplay.from_predictions(y, guesses, loss="zero_one", highlighted=["other"])
    >>> display.value.tolist(), display.low.round(2).tolist(), display.high.round(2).tolist()
    ([0.4, 0.2], [0.12, 0.04], [0.77, 0.62])
    """

    def __init__(
        self,
        names: Sequence[str],
        value: Any,
        low: Any,
        high: Any,
        xlabel: str,
        *,
        highlighted: Collection[str] = (),
    ) -> None:
        self.names = [str(name) for name in names]
        self.value, self.low, self.high = same_lengths(len(self.names), value=value, low=low, high=high)
        self.xlabel = xlabel
        self.highlighted = frozenset(highlighted)

    @classmethod
    @needs("matplotlib")
    def from_predictions(
        cls,
        y_true: Any,
        predictions: Mapping[str, Any],
        *,
        loss: str = "squared_error",
        highlighted: Collection[str] = (),
        ax: "Axes | None" = None,
    ) -> "ComparisonDisplay":
        """Measure the predictions of several models on the same rows, and draw their losses.

        Parameters
        ----------
        y_true : array of shape (n_rows,)
            The targets.
        predictions : mapping of str to array of shape (n_rows,)
            The predictions of each model, by its name.
        loss : str, default="squared_error"
            ``"zero_one"`` for labels (the error rate, with Wilson's 95% interval) or ``"squared_error"`` for numbers
            (the root of the mean squared error, with the root of Student's 95% interval).
        highlighted : collection of str, default=()
            Names of models that are drawn in colour and bold.
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes.

        Returns
        -------
        ComparisonDisplay
            The display, drawn.
        """
        check_choice("loss", loss, LOSSES)
        if len(predictions) == 0:
            raise DataError("predictions is empty: at least one model is needed.")
        measured = [loss_with_interval(y_true, predicted, loss) for predicted in predictions.values()]
        value, low, high = np.array(measured).T
        display = cls(list(predictions), value, low, high, LOSS_LABELS[loss], highlighted=highlighted)
        return display.plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> "ComparisonDisplay":
        """Draw the dots and their intervals.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes of a suitable height.

        Returns
        -------
        ComparisonDisplay
            The display itself, drawn.
        """
        ax = axes_or_new(ax, figsize=(6.4, 1.0 + ROW_HEIGHT * len(self.names)))
        places = np.arange(len(self.names))
        marked = np.array([name in self.highlighted for name in self.names], dtype=np.bool_)
        colours = [COLOURS[0] if is_marked else REFERENCE_COLOUR for is_marked in marked]
        low, high = drawn_ends(self.value, self.low, self.high)
        self.whiskers_ = ax.hlines(places, low, high, colors=colours, linewidth=2)
        self.dots_ = [
            ax.plot(x, y, marker="o", markersize=7, color=colour, linestyle="none")[0]
            for x, y, colour in zip(self.value, places, colours, strict=True)
        ]
        labels = [shortened(" ".join(name.split()), MAX_LETTERS) for name in self.names]
        ax.set_yticks(places, labels, parse_math=False)
        for label, is_marked in zip(ax.get_yticklabels(), marked, strict=True):
            label.set_fontweight("bold" if is_marked else "normal")
        ax.set_ylim(len(places) - 0.5, -0.5)
        ax.set_xlabel(self.xlabel, parse_math=False)
        ax.tick_params(axis="y", length=0)
        ax.tick_params(axis="x", labelsize=LEGEND_SIZE)
        ax.grid(axis="x", color="0.9", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.spines[["top", "right", "left"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def same_lengths(n_values: int, **arrays: Any) -> list[np.ndarray]:
    """The arrays as float64, if each has ``n_values`` values, and those of the first are finite."""
    if n_values == 0:
        raise DataError("There is nothing to draw: at least one value is needed.")
    checked = []
    for name, values in arrays.items():
        array = np.asarray(values, dtype=np.float64)
        if array.shape != (n_values,):
            raise DataError(f"{name} must have {n_values} values, as many as the others; got shape {array.shape}.")
        checked.append(array)
    if not np.isfinite(checked[0]).all():
        raise DataError(f"{next(iter(arrays))} must be finite numbers: leave out values that are not known.")
    return checked


def drawn_ends(value: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends of intervals; ends that are not finite are at the value itself."""
    return np.where(np.isfinite(low), low, value), np.where(np.isfinite(high), high, value)


def loss_with_interval(y_true: Any, y_pred: Any, loss: str) -> tuple[float, float, float]:
    """The error rate with Wilson's 95% interval, or the RMSE with the root of Student's interval of the mean square."""
    if loss == "zero_one":
        truth = check_row_labels("y_true", y_true)
        n_rows = len(truth)
        error_rate = np.mean(truth != check_row_labels("y_pred", y_pred, n_rows))
        low, high = wilson_interval(error_rate, n_rows)
        return float(error_rate), float(low), float(high)
    truth = check_numbers("y_true", y_true)
    squares = np.square(truth - check_numbers("y_pred", y_pred, len(truth)))
    low, high = student_interval(squares)
    return float(np.sqrt(squares.mean())), float(np.sqrt(max(low, 0.0))), float(np.sqrt(high))
