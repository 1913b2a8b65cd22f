"""Predicted against observed fractions, as a chart."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot._extras import needs
from surefoot._parameters import check_choice, check_integer
from surefoot.metrics.calibration import CalibrationCurve, interval_calibration, probability_calibration
from surefoot.metrics.checks import check_probabilities
from surefoot.metrics.predicted import is_distribution
from surefoot.plots.curve_display import CurveDisplay
from surefoot.plots.style import REFERENCE_COLOUR, check_same_axes, legend_above_curves, next_colour, percent_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVELS = tuple(k / 20 for k in range(1, 20))
STRATEGIES = ("uniform", "quantile")
CURVE = "calibration-curve"
MAX_BAR = 0.14  # of the axes, for the bin with the most rows
INTERVAL_LABELS = ("level of the central interval", "fraction of targets inside it")
CONFIDENCE_LABELS = ("predicted probability of the predicted class", "fraction of correct predictions")


class CalibrationDisplay(CurveDisplay):
    """Nominal against observed fractions; a calibrated model is on the diagonal.

    For a regression model: the level of the central intervals of its predictive distributions, against the fraction
    of targets inside them. Below the diagonal the intervals are too narrow; intervals of counts always hold more than
    their level. For a classifier: the predicted probability, in bins, against the observed frequency, above bars for
    the number of rows in each bin. Bands and whiskers are 95% confidence intervals for the observed fraction.

    Parameters
    ----------
    curve : CalibrationCurve
        The points to draw.
    xlabel, ylabel : str
        Labels of the axes, for the prediction and the observation.
    name : str or None
        Name of the model in the legend.

    Attributes
    ----------
    ax_, figure_, line_
        The axes, the figure and the curve, after ``plot``.
    band_, whiskers_, bars_
        The confidence band of intervals; whiskers and bars of bins.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import norm
    >>> from surefoot.plots import CalibrationDisplay
    >>> y = np.random.default_rng(0).normal(size=200)
    >>> display = CalibrationDisplay.from_predictions(y, norm(0.0, 0.5), levels=[0.5, 0.9], name="too narrow")
    >>> display.curve.observed < [0.5, 0.9]
    array([ True,  True])
    """

    _figsize = (5.2, 5.8)

    def __init__(self, curve: CalibrationCurve, xlabel: str, ylabel: str, *, name: str | None = None) -> None:
        self.curve = curve
        self.xlabel = xlabel
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
        levels: Sequence[float] | None = None,
        class_label: Any = None,
        n_bins: int | None = None,
        strategy: str | None = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: "Axes | None" = None,
        **line_kwargs: Any,
    ) -> "CalibrationDisplay":
        """Compare the predictions of a fitted model for ``X`` with ``y``, and draw the curve.

        Parameters
        ----------
        estimator : fitted model
            A model with ``predict_proba`` (a classifier) or ``predict_distribution``.
        X : array or frame of shape (n_rows, n_columns)
            Rows to predict, preferably not from the training data.
        y : array of shape (n_rows,)
            Their targets.
        levels : sequence of float or None, default=None
            Levels of the central intervals of a distribution, each above 0 and below 1. None: 0.05 to 0.95.
        class_label : object or None, default=None
            The probability of this class is compared with its frequency. None: the second of two classes; if there are
            more, the predicted class of each row.
        n_bins : int or None, default=None
            Number of bins of the predicted probability. None: 10.
        strategy : str or None, default=None
            ``"uniform"`` for bins of equal width, ``"quantile"`` for bins of equal weight. None: uniform.
        sample_weight : array of shape (n_rows,) or None, default=None
            Weights of the rows. None: every row counts 1.
        name : str or None, default=None
            Name of the model in the legend. None: the name of its class.
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes.
        **line_kwargs
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        CalibrationDisplay
            The display, drawn.
        """
        if hasattr(estimator, "predict_proba"):
            prediction, labels = estimator.predict_proba(X), estimator.classes_
        elif hasattr(estimator, "predict_distribution"):
            prediction, labels = estimator.predict_distribution(X), None
        else:
            raise ParameterError(
                f"estimator must have predict_distribution or predict_proba; {type(estimator).__name__} has neither."
            )
        return cls.from_predictions(
            y,
            prediction,
            labels=labels,
            levels=levels,
            class_label=class_label,
            n_bins=n_bins,
            strategy=strategy,
            sample_weight=sample_weight,
            name=name or type(estimator).__name__,
            ax=ax,
            **line_kwargs,
        )

    @classmethod
    @needs("matplotlib")
    def from_predictions(
        cls,
        y_true: Any,
        prediction: Any,
        *,
        labels: Any = None,
        levels: Sequence[float] | None = None,
        class_label: Any = None,
        n_bins: int | None = None,
        strategy: str | None = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: "Axes | None" = None,
        **line_kwargs: Any,
    ) -> "CalibrationDisplay":
        """Compare predictions with the targets, and draw the curve.

        Parameters
        ----------
        y_true : array of shape (n_rows,)
            The targets.
        prediction : distribution, or array of shape (n_rows, n_classes)
            What ``predict_distribution`` returns (or a frozen distribution of scipy.stats), or what ``predict_proba``
            returns.
        labels : array of shape (n_classes,) or None, default=None
            The classes of the columns, ``classes_`` of the model. None: the classes of ``y_true`` in sorted order.
        levels : sequence of float or None, default=None
            Levels of the central intervals of a distribution, each above 0 and below 1. None: 0.05 to 0.95.
        class_label : object or None, default=None
            The probability of this class is compared with its frequency. None: the second of two classes; if there are
            more, the predicted class of each row.
        n_bins : int or None, default=None
            Number of bins of the predicted probability. None: 10.
        strategy : str or None, default=None
            ``"uniform"`` for bins of equal width, ``"quantile"`` for bins of equal weight. None: uniform.
        sample_weight : array of shape (n_rows,) or None, default=None
            Weights of the rows. None: every row counts 1.
        name : str or None, default=None
            Name of the model in the legend.
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes.
        **line_kwargs
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        CalibrationDisplay
            The display, drawn.
        """
        if is_distribution(prediction):
            _refuse("a distribution", labels=labels, class_label=class_label, n_bins=n_bins, strategy=strategy)
            curve = interval_calibration(
                y_true, prediction, LEVELS if levels is None else levels, sample_weight=sample_weight
            )
            xlabel, ylabel = INTERVAL_LABELS
        else:
            _refuse("probabilities", levels=levels)
            happened, probability, (xlabel, ylabel) = _event(y_true, prediction, labels, class_label)
            n_bins = check_integer("n_bins", 10 if n_bins is None else n_bins, 1)
            strategy = check_choice("strategy", strategy or "uniform", STRATEGIES)
            curve = probability_calibration(happened, probability, n_bins, strategy, sample_weight=sample_weight)
        return cls(curve, xlabel, ylabel, name=name).plot(ax=ax, **line_kwargs)

    def _draw(self, ax: "Axes", line_kwargs: dict[str, Any]) -> None:
        if not check_same_axes(ax, CURVE, self.xlabel):
            self._prepare(ax)
        style = {"color": next_colour(ax, CURVE), "label": self.name, "gid": CURVE, "linewidth": 2, **line_kwargs}
        if self.curve.edges is not None:
            style = {"marker": "o", "markersize": 5, "clip_on": False, "zorder": 3, **style}
        (self.line_,) = ax.plot(self.curve.expected, self.curve.observed, **style)
        colour = self.line_.get_color()
        if self.curve.edges is None:
            self._draw_band(ax, colour)
        else:
            self._draw_bins(ax, colour)
        legend_above_curves(ax, top=1.02)

    def _draw_band(self, ax: "Axes", colour: Any) -> None:
        curve = self.curve
        self.band_ = ax.fill_between(curve.expected, curve.low, curve.high, color=colour, alpha=0.2, linewidth=0)

    def _draw_bins(self, ax: "Axes", colour: Any) -> None:
        curve = self.curve
        self.whiskers_ = ax.vlines(curve.expected, curve.low, curve.high, color=colour, linewidth=1)
        edges = np.asarray(curve.edges)
        max_count = curve.counts.max()
        self.bars_ = ax.bar(
            edges[:, 0],
            MAX_BAR * curve.counts / max_count,
            np.diff(edges)[:, 0],
            align="edge",
            color=(colour, 0.2),
            edgecolor=(colour, 0.5),
            linewidth=0.8,
            label=f"rows per bin, up to {max_count:,}",
        )

    def _prepare(self, ax: "Axes") -> None:
        ax.plot([0, 1], [0, 1], color=REFERENCE_COLOUR, linestyle="--", linewidth=1.2, label="calibrated", zorder=1.5)
        ax.set(xlabel=self.xlabel, ylabel=self.ylabel, xlim=(0, 1))
        percent_axes(ax.xaxis, ax.yaxis)


def _refuse(prediction: str, **arguments: Any) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ParameterError(f"{name} is not used with {prediction}: leave it out.")


def _event(
    y_true: Any, prediction: Any, labels: Any, class_label: Any
) -> tuple[np.ndarray, np.ndarray, tuple[str, str]]:
    """Whether the event happened in each row, its predicted probability, and labels for both."""
    codes, probabilities, classes = check_probabilities(y_true, prediction, labels)
    if class_label is None and len(classes) > 2:
        chosen = probabilities.argmax(axis=1)
        return codes == chosen, probabilities.max(axis=1), CONFIDENCE_LABELS
    if class_label is None:
        column = len(classes) - 1
    elif class_label in classes:
        column = classes.index(class_label)
    else:
        raise ParameterError(f"class_label must be one of the classes {classes}, got {class_label!r}.")
    event = f"class {classes[column]!r}"
    names = (f"predicted probability of {event}", f"observed fraction of {event}")
    return codes == column, probabilities[:, column], names
