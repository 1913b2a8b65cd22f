"""The loss on test data against the number of training rows, as a chart."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state

from surefoot._exceptions import DataError
from surefoot._extras import needs
from surefoot._parameters import check_number
from surefoot.plots.comparison_display import LOSS_LABELS, drawn_ends, loss_with_interval, same_lengths
from surefoot.plots.curve_display import CurveDisplay
from surefoot.plots.style import LEGEND_SIZE, check_same_axes, drawn_before, next_colour, require_method
from surefoot.selection.table import take_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZES = (0.125, 0.25, 0.5, 1.0)
CURVE = "learning-curve"
XLABEL = "training rows"
MARGIN = 0.08  # above and below the intervals, as a fraction of their range


class LearningCurveDisplay(CurveDisplay):
    """The loss on test data of a model that is trained on more and more rows.

    Every step to the right doubles the rows. If the curve still falls at its right end, more rows would reduce the loss
    further; if it is flat, they would not. The band is the 95% interval of each point. It shows the randomness of the
    test data, which is the same for all points: the shape of the curve is more certain than the band is wide.

    Parameters
    ----------
    n_rows : array of shape (n_points,)
        Numbers of training rows, increasing.
    value, low, high : arrays of shape (n_points,)
        The loss and the ends of its interval. An end that is not finite is not drawn.
    ylabel : str
        Name of the loss, such as ``"error rate"``, which is shown in percent.
    name : str or None
        Name of the model in the legend.

    Attributes
    ----------
    ax_, figure_, line_, band_
        The axes, the figure, the curve and its band, after ``plot``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefoot.plots.learning_curve_display import LearningCurveDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = LearningCurveDisplay.from_estimator(
    ...     GaussianNB(), X[::2], y[::2], X_test=X[1::2], y_test=y[1::2], random_state=0
    ... )
    >>> display.n_rows.tolist()
    [9, 18, 37, 75]
    """

    def __init__(
        self, n_rows: Any, value: Any, low: Any, high: Any, ylabel: str = "error rate", *, name: str | None = None
    ) -> None:
        self.n_rows = np.asarray(n_rows, dtype=np.int64)
        self.value, self.low, self.high = same_lengths(self.n_rows.size, value=value, low=low, high=high)
        if self.n_rows.ndim != 1 or self.n_rows[0] < 1 or (np.diff(self.n_rows) <= 0).any():
            raise DataError("n_rows must be increasing numbers of rows, 1 or more.")
        self.ylabel = ylabel
        self.name = name

    @classmethod
    @needs("matplotlib")
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        X_test: Any,
        y_test: Any,
        sizes: Sequence[float] = SIZES,
        random_state: Any = None,
        name: str | None = None,
        ax: "Axes | None" = None,
        **line_kwargs: Any,
    ) -> "LearningCurveDisplay":
        """Fit clones of a model to growing parts of the training data, and draw their loss on test data.

        The loss is the error rate of classifiers, and the root of the mean squared error of regressors.

        Parameters
        ----------
        estimator : estimator
            A scikit-learn estimator, fitted or not.
        X : array, sparse matrix or frame of shape (n_rows, n_columns)
            Training data.
        y : array of shape (n_rows,)
            Targets of the training data.
        X_test : array, sparse matrix or frame of shape (n_test_rows, n_columns)
            Test data, on which the loss is measured.
        y_test : array of shape (n_test_rows,)
            Targets of the test data.
        sizes : sequence of float, default=(1/8, 1/4, 1/2, 1)
            Fractions of the training rows. Each part contains the smaller ones, and for a classifier the classes in
            about the same proportions.
        random_state : int, RandomState or None, default=None
            Decides which rows are in the smaller parts.
        name : str or None, default=None
            Name of the model in the legend. None: the name of its class.
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes.
        **line_kwargs
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        LearningCurveDisplay
            The display, drawn.
        """
        require_method(estimator, "fit", "pass a scikit-learn estimator, fitted or not.")
        fractions = sorted({check_number("sizes", size, 0.0, 1.0, include_boundaries="right") for size in sizes})
        if not fractions:
            raise DataError("sizes is empty: give at least one fraction of the rows.")
        target, has_classes = np.asarray(y), is_classifier(estimator)
        order = _random_order(target, has_classes, random_state)
        counts = sorted({max(1, int(fraction * len(target))) for fraction in fractions})
        loss = "zero_one" if has_classes else "squared_error"
        measured = []
        for count in counts:
            rows = np.sort(order[:count])
            if has_classes and len(np.unique(target[rows])) < 2:
                raise DataError(f"sizes makes a part of {count} rows with a single class: begin with a larger size.")
            model = clone(estimator).fit(X.tocsr()[rows] if issparse(X) else take_rows(X, rows), target[rows])
            measured.append(loss_with_interval(y_test, model.predict(X_test), loss))
        value, low, high = np.array(measured).T
        display = cls(counts, value, low, high, LOSS_LABELS[loss], name=name or type(estimator).__name__)
        return display.plot(ax=ax, **line_kwargs)

    def _draw(self, ax: "Axes", line_kwargs: dict[str, Any]) -> None:
        is_first = not check_same_axes(ax, CURVE, XLABEL)
        colour = next_colour(ax, CURVE)
        style = {"color": colour, "marker": "o", "label": self.name, "gid": CURVE, "linewidth": 2, **line_kwargs}
        low, high = drawn_ends(self.value, self.low, self.high)
        before = None if is_first else ax.get_ylim()
        (self.line_,) = ax.plot(self.n_rows, self.value, **style)
        self.band_ = ax.fill_between(self.n_rows, low, high, color=self.line_.get_color(), alpha=0.2, linewidth=0)
        self._scale(ax, low.min(), high.max(), before)
        if self.name is not None:
            ax.legend(frameon=False, fontsize=LEGEND_SIZE)

    def _scale(self, ax: "Axes", lowest: float, highest: float, before: tuple[float, float] | None) -> None:
        """Make the x axis logarithmic, with ticks at the drawn numbers of rows, and the y axis fit all intervals."""
        from matplotlib.ticker import NullLocator, PercentFormatter, StrMethodFormatter

        ax.set_xscale("log", base=2)
        drawn = {int(count) for line in drawn_before(ax, CURVE) for count in line.get_xdata()}
        ax.set_xticks(_spread_out(sorted(drawn)))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        margin = MARGIN * ((highest - lowest) or abs(highest) or 1.0)
        bottom = max(0.0, lowest - margin) if lowest >= 0 else lowest - margin
        lower, upper = (bottom, highest + margin) if before is None else before
        ax.set_ylim(min(bottom, lower), max(highest + margin, upper))
        ax.set_xlabel(XLABEL)
        ax.set_ylabel(self.ylabel, parse_math=False)
        if self.ylabel == LOSS_LABELS["zero_one"]:
            ax.yaxis.set_major_formatter(PercentFormatter(1.0))


def _spread_out(counts: list[int]) -> list[int]:
    """The largest count, and the others that are smaller than the next larger one by more than a quarter."""
    kept = [counts[-1]]
    for count in reversed(counts[:-1]):
        if 1.35 * count < kept[-1]:
            kept.append(count)
    return kept[::-1]


def _random_order(target: np.ndarray, has_classes: bool, random_state: Any) -> np.ndarray:
    """All rows, shuffled; with classes, the first rows have about the same fraction of each class as all rows."""
    if target.ndim != 1 or len(target) == 0:
        raise DataError(f"y must be one value per row, got shape {target.shape}.")
    order = check_random_state(random_state).permutation(len(target))
    if not has_classes:
        return order
    codes = np.unique(target, return_inverse=True)[1]
    place = np.empty(len(target))
    for code in range(codes.max() + 1):
        members = order[codes[order] == code]
        place[members] = (np.arange(len(members)) + 0.5) / len(members)
    return order[np.argsort(place[order], kind="stable")]
