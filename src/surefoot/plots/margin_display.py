"""The margins of a vote, as a cumulative distribution."""

from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._extras import needs
from surefoot.plots.curve_display import CurveDisplay
from surefoot.plots.style import require_method

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class MarginDisplay(CurveDisplay):
    """The fraction of rows with at most a given margin.

    A margin is the vote for a row's true class minus the largest vote for another class, from -1 to 1: rows below 0 are
    misclassified, and a curve further to the right shows clearer votes.

    Parameters
    ----------
    margins : array of shape (n_rows,)
        The margin of each row.
    name : str or None
        Name of the model in the legend.

    Attributes
    ----------
    ax_, figure_, line_
        The axes, the figure and the curve, after ``plot``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from surefoot import AdaBoostClassifier
    >>> from surefoot.plots import MarginDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = MarginDisplay.from_estimator(AdaBoostClassifier(n_estimators=20).fit(X, y), X, y)
    >>> display.name
    'AdaBoostClassifier'
    """

    def __init__(self, margins: np.ndarray, *, name: str | None = None) -> None:
        self.margins = np.sort(np.asarray(margins, dtype=np.float64))
        self.name = name

    @classmethod
    @needs("matplotlib")
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, name: str | None = None, ax: "Axes | None" = None, **line_kwargs: Any
    ) -> "MarginDisplay":
        """Compute the margins of a fitted booster, and draw them.

        Parameters
        ----------
        estimator : fitted booster
            A booster of surefoot, with the method ``margins``.
        X : array or frame of shape (n_rows, n_columns)
            The rows.
        y : array of shape (n_rows,)
            Their classes.
        name : str or None, default=None
            Name of the model in the legend. None: the name of its class.
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes.
        **line_kwargs
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        MarginDisplay
            The display, drawn.
        """
        advice = "pass a surefoot booster; for a pipeline or a search, the fitted booster inside, and X as its input."
        require_method(estimator, "margins", advice)
        display = cls(estimator.margins(X, y), name=name or type(estimator).__name__)
        return display.plot(ax=ax, **line_kwargs)

    def _draw(self, ax: "Axes", line_kwargs: dict[str, Any]) -> None:
        at_most = np.arange(1, len(self.margins) + 1) / len(self.margins)
        x = np.concatenate([[-1.02], self.margins, [1.05]])  # up to the limits, so that a jump at 1 is visible
        y = np.concatenate([[0.0], at_most, [1.0]])
        (self.line_,) = ax.plot(x, y, **{"drawstyle": "steps-post", "label": self.name, **line_kwargs})
        if not any(line.get_gid() == "margin-zero" for line in ax.lines):
            ax.axvline(0, color="0.6", linewidth=0.8, linestyle=":", gid="margin-zero")
            ax.set(
                xlabel="margin", ylabel="fraction of rows with at most this margin", xlim=(-1.02, 1.05), ylim=(0, 1.02)
            )
        if self.name is not None:
            ax.legend(loc="upper left", frameon=False)
