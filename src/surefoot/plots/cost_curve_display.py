"""The cost of errors against the threshold of the predicted probability, as a chart."""

from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot._extras import needs
from surefoot._parameters import check_number
from surefoot.plots.comparison_display import same_lengths
from surefoot.plots.curve_display import CurveDisplay
from surefoot.plots.style import LEGEND_SIZE, REFERENCE_COLOUR, next_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CURVE = "cost-curve"
N_THRESHOLDS = 101


class CostCurveDisplay(CurveDisplay):
    """What the errors of a classifier for two classes cost, by the probability from which a row counts as positive.

    The vertical line marks the threshold that follows from the costs. If the probabilities are calibrated, the curve is
    lowest there.

    Parameters
    ----------
    thresholds : array of shape (n_points,)
        Increasing thresholds between 0 and 1.
    cost : array of shape (n_points,)
        The mean cost of a row at each of them.
    threshold : float or None, default=None
        The threshold that follows from the costs. None: no line is drawn.
    name : str or None, default=None
        Name of the model in the legend.

    Attributes
    ----------
    ax_, figure_, line_
        The axes, the figure and the curve, after ``plot``.

    Examples
    --------
    >>> from surefoot.plots import CostCurveDisplay
    >>> display = CostCurveDisplay.from_predictions([0, 0, 1], [0.1, 0.4, 0.6], false_positive=1, false_negative=4)
    >>> display.threshold
    0.2
    """

    def __init__(self, thresholds: Any, cost: Any, threshold: float | None = None, *, name: str | None = None) -> None:
        self.thresholds = np.asarray(thresholds, dtype=np.float64)
        (self.cost,) = same_lengths(self.thresholds.size, cost=cost)
        if self.thresholds.ndim != 1 or (np.diff(self.thresholds) <= 0).any():
            raise DataError("thresholds must be increasing numbers.")
        self.threshold = threshold
        self.name = name

    @classmethod
    @needs("matplotlib")
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        false_positive: float,
        false_negative: float,
        name: str | None = None,
        ax: "Axes | None" = None,
        **line_kwargs: Any,
    ) -> "CostCurveDisplay":
        """Compute the curve from labels and probabilities, and draw it.

        Parameters
        ----------
        y_true : array of shape (n_rows,)
            Whether each row is positive: booleans, or 0 and 1.
        y_prob : array of shape (n_rows,)
            Predicted probabilities of the positive class.
        false_positive, false_negative : float
            The cost of predicting the positive class for a row of the other, and of the opposite error.
        name : str or None, default=None
            Name of the model in the legend.
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes.
        **line_kwargs
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        CostCurveDisplay
            The display, drawn.
        """
        for argument, value in (("false_positive", false_positive), ("false_negative", false_negative)):
            check_number(argument, value, 0, np.inf, include_boundaries="neither")
        chance = np.asarray(y_prob, dtype=np.float64)
        (truth,) = same_lengths(chance.size, y_true=y_true)
        if not np.isin(truth, (0, 1)).all():
            raise DataError("y_true must be booleans, or 0 and 1.")
        grid = np.linspace(0, 1, N_THRESHOLDS)
        wrong = [(false_positive * ((chance >= at) > truth), false_negative * ((chance < at) * truth)) for at in grid]
        cost = [float(np.mean(positive + negative)) for positive, negative in wrong]
        threshold = false_positive / (false_positive + false_negative)
        return cls(grid, cost, threshold, name=name).plot(ax=ax, **line_kwargs)

    def _draw(self, ax: "Axes", line_kwargs: dict[str, Any]) -> None:
        kwargs = {"color": next_colour(ax, CURVE), "label": self.name, **line_kwargs}
        (self.line_,) = ax.plot(self.thresholds, self.cost, gid=CURVE, **kwargs)
        if self.threshold is not None:
            ax.axvline(self.threshold, color=REFERENCE_COLOUR, linestyle="--", linewidth=1)
        ax.set(xlim=(0, 1), xlabel="threshold of the probability", ylabel="cost of errors per row")
        ax.set_ylim(bottom=0)
        if self.name is not None:
            ax.legend(fontsize=LEGEND_SIZE, frameon=False)
