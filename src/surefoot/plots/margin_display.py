"""The margins of a vote, as a cumulative distribution."""

from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot._extras import needs

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class MarginDisplay:
    """Fraction of rows whose margin is at most a given value.

    A margin is the vote for a row's own class less the strongest vote for another, from -1 to 1: rows below 0 are
    misclassified, and the further right the curve rises, the clearer the votes.

    Parameters
    ----------
    margins : array of shape (n_rows,)
        The margin of each row.
    name : str or None
        What the legend calls the model.

    Attributes
    ----------
    ax_, figure_, line_
        What has been drawn on, after ``plot``.

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
            One of surefoot's boosters, which have ``margins``.
        X : array or frame of shape (n_rows, n_columns)
            The rows.
        y : array of shape (n_rows,)
            Their classes.
        name : str or None, default=None
            What the legend calls the model. None: the name of its class.
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes.
        **line_kwargs
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        MarginDisplay
            The display, drawn.
        """
        if not hasattr(estimator, "margins"):
            raise ParameterError(
                f"estimator must be a surefoot booster, got {type(estimator).__name__}: of a pipeline or a search, "
                "pass the fitted booster inside, and X as that booster sees it."
            )
        display = cls(estimator.margins(X, y), name=name or type(estimator).__name__)
        return display.plot(ax=ax, **line_kwargs)

    def plot(self, ax: "Axes | None" = None, **line_kwargs: Any) -> "MarginDisplay":
        """Draw the distribution of the margins.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes.
        **line_kwargs
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        MarginDisplay
            The display itself, drawn.
        """
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots()
        at_most = np.arange(1, len(self.margins) + 1) / len(self.margins)
        x = np.concatenate([[-1.02], self.margins, [1.05]])  # as far as the axes: a jump at 1 shows
        y = np.concatenate([[0.0], at_most, [1.0]])
        (self.line_,) = ax.plot(x, y, **{"drawstyle": "steps-post", "label": self.name, **line_kwargs})
        if not any(line.get_gid() == "margin-zero" for line in ax.lines):
            ax.axvline(0, color="0.6", linewidth=0.8, linestyle=":", gid="margin-zero")
            ax.set(xlabel="margin", ylabel="share of rows with at most this margin", xlim=(-1.02, 1.05), ylim=(0, 1.02))
        if self.name is not None:
            ax.legend(loc="upper left", frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
