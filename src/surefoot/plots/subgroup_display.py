"""The error in subgroups of the rows, beside that of all rows, as a chart."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from surefoot._exceptions import DataError
from surefoot._extras import needs
from surefoot._parameters import check_choice
from surefoot.metrics.checks import check_numbers, check_row_labels
from surefoot.metrics.intervals import CONFIDENCE, student_interval, wilson_interval
from surefoot.metrics.rejection import LOSSES
from surefoot.plots.comparison_display import LOSS_LABELS, ComparisonDisplay
from surefoot.plots.style import LEGEND_SIZE, REFERENCE_COLOUR

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SubgroupDisplay:
    """A dot for the error of each subgroup, with its interval, beside a line at the error of all rows.

    Parameters
    ----------
    names : sequence of str
        The names of the subgroups, from top to bottom.
    value, low, high : arrays of shape (n_subgroups,)
        The errors and the ends of their intervals. An end that is not finite is not drawn.
    overall : float
        The error of all rows.
    xlabel : str, default="error"
        Name of the error.
    highlighted : collection of str
        Names of subgroups that are drawn in colour and bold.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure, after ``plot``.
    dots_, whiskers_, line_
        The errors, their intervals, and the line at the error of all rows.

    Examples
    --------
    >>> from surefoot.plots import SubgroupDisplay
    >>> ward = ["north"] * 4 + ["south"] * 4
    >>> display = SubgroupDisplay.from_predictions([0, 1, 0, 1, 0, 1, 0, 1], [0, 1, 0, 1, 1, 1, 0, 0], ward,
    ...                                            loss="zero_one")
    >>> display.names, display.value.tolist(), display.overall
    (['south', 'north'], [0.5, 0.0], 0.25)
    """

    def __init__(
        self,
        names: Sequence[str],
        value: Any,
        low: Any,
        high: Any,
        overall: float,
        *,
        xlabel: str = "error",
        highlighted: Collection[str] = (),
    ) -> None:
        self._dots = ComparisonDisplay(names, value, low, high, xlabel, highlighted=highlighted)
        self.names, self.xlabel, self.highlighted = self._dots.names, xlabel, self._dots.highlighted
        self.value, self.low, self.high = self._dots.value, self._dots.low, self._dots.high
        if not np.isfinite(overall):
            raise DataError("overall must be a finite number.")
        self.overall = float(overall)

    @classmethod
    @needs("matplotlib")
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        groups: Any,
        *,
        loss: str = "squared_error",
        ax: "Axes | None" = None,
    ) -> "SubgroupDisplay":
        """Measure the predictions of the rows of each group, and draw their errors, the largest first.

        The intervals hold together: all of them contain the truth in 95% of samples of independent rows (Bonferroni).

        Parameters
        ----------
        y_true, y_pred : array of shape (n_rows,)
            The targets and their predictions.
        groups : array of shape (n_rows,)
            The subgroup of each row.
        loss : str, default="squared_error"
            ``"zero_one"`` for labels (the error rate, with Wilson's interval) or ``"squared_error"`` for numbers (the
            root of the mean squared error, with the root of Student's interval of the mean square).
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes.

        Returns
        -------
        SubgroupDisplay
            The display, drawn.
        """
        check_choice("loss", loss, LOSSES)
        is_rate = loss == "zero_one"
        check = check_row_labels if is_rate else check_numbers
        truth = check("y_true", y_true)
        predicted = check("y_pred", y_pred, len(truth))
        losses = (truth != predicted).astype(np.float64) if is_rate else np.square(truth - predicted)
        of_rows = np.asarray(groups).astype(str)
        if of_rows.shape != losses.shape:
            raise DataError(f"groups must have one value for each of the {len(losses)} rows.", argument="groups")
        names = np.unique(of_rows)
        confidence = 1 - (1 - CONFIDENCE) / len(names)
        measured = np.array([error_with_interval(losses[of_rows == name], is_rate, confidence) for name in names])
        order = np.argsort(-measured[:, 0], kind="stable")
        overall = error_with_interval(losses, is_rate, CONFIDENCE)[0]
        value, low, high = measured[order].T
        display = cls([str(names[k]) for k in order], value, low, high, overall, xlabel=LOSS_LABELS[loss])
        return display.plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> "SubgroupDisplay":
        """Draw the errors and their intervals.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes of a suitable height.

        Returns
        -------
        SubgroupDisplay
            The display itself, drawn.
        """
        drawn = self._dots.plot(ax=ax)
        self.ax_, self.figure_, self.dots_, self.whiskers_ = drawn.ax_, drawn.figure_, drawn.dots_, drawn.whiskers_
        self.line_ = self.ax_.axvline(self.overall, color=REFERENCE_COLOUR, linestyle="--", linewidth=1, zorder=0)
        self.ax_.set_title("the line is at the error of all rows", fontsize=LEGEND_SIZE, color=REFERENCE_COLOUR)
        return self


def error_with_interval(losses: np.ndarray, is_rate: bool, confidence: float) -> tuple[float, float, float]:
    """The error rate with Wilson's interval, or the root of the mean with that of Student's interval."""
    mean = float(losses.mean())
    if is_rate:
        low, high = wilson_interval(mean, len(losses), float(ndtri((1 + confidence) / 2)))
        return mean, float(low), float(high)
    low, high = student_interval(losses, confidence)
    return mean**0.5, max(low, 0.0) ** 0.5, high**0.5
