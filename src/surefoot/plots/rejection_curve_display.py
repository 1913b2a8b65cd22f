"""The error that remains as the most uncertain predictions are rejected, as a chart."""

from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._extras import needs
from surefoot.metrics.rejection import RejectionCurve, rejection_curve
from surefoot.plots.curve_display import CurveDisplay
from surefoot.plots.style import (
    ADD_UNCERTAINTY,
    LEGEND_SIZE,
    REFERENCE_COLOUR,
    check_same_axes,
    drawn_before,
    drawn_points,
    legend_above_curves,
    next_colour,
    percent_axes,
    require_method,
    uncertainty_values,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ERROR_NAMES = {"squared_error": "mean squared error", "zero_one": "error rate"}
CURVE, RANDOM, ORACLE = "rejection-curve", "rejection-random", "rejection-oracle"


class RejectionCurveDisplay(CurveDisplay):
    """The error of a model that remains if its most uncertain predictions are replaced by the truth.

    The error is the mean over all rows, and a rejected row has no error. The oracle rejects the worst predictions
    first, and the dashed line rejects rows in random order: an uncertainty that finds the errors has a curve near the
    oracle. The prediction-rejection ratio (PRR) in the legend places the curve between them: 1 is the oracle, 0 is
    random.

    Parameters
    ----------
    curve : RejectionCurve
        The result of `surefoot.metrics.rejection_curve`.
    name : str or None
        Name of the curve in the legend.

    Attributes
    ----------
    ax_, figure_, line_
        The axes, the figure and the curve, after ``plot``.
    random_line_, oracle_line_
        The reference lines; None if another display has already drawn the same line.

    Examples
    --------
    >>> from surefoot.plots import RejectionCurveDisplay
    >>> y, predicted = [1.0, 2.0, 3.0, 4.0], [1.1, 2.0, 2.5, 6.0]
    >>> display = RejectionCurveDisplay.from_predictions(y, predicted, [0.1, 0.3, 0.2, 0.9], name="demo")
    >>> round(display.curve.ratio, 3)
    0.958
    """

    def __init__(self, curve: RejectionCurve, *, name: str | None = None) -> None:
        self.curve = curve
        self.name = name

    @classmethod
    @needs("matplotlib")
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        kind: str | None = None,
        loss: str | None = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: "Axes | None" = None,
        **line_kwargs: Any,
    ) -> "RejectionCurveDisplay":
        """Compute the curve of a fitted model with ``predict_uncertainty``, and draw it.

        Parameters
        ----------
        estimator : fitted model
            A model with ``predict_uncertainty``. The predictions of a `VirtualEnsemble` are those of its ``model``.
        X : array or frame of shape (n_rows, n_columns)
            Rows to predict.
        y : array of shape (n_rows,)
            Their targets.
        kind : str or None, default=None
            ``"total"``, ``"data"`` or ``"knowledge"`` uncertainty. None: total, or knowledge for models that have no
            other.
        loss : str or None, default=None
            ``"squared_error"`` or ``"zero_one"``. None: the zero-one loss if the uncertainty is in nats, as for
            classifiers, else the squared error.
        sample_weight : array of shape (n_rows,) or None, default=None
            Weights of the rows. None: every row counts 1.
        name : str or None, default=None
            Name of the curve in the legend. None: the name of the model's class and the kind.
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes.
        **line_kwargs
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        RejectionCurveDisplay
            The display, drawn.
        """
        require_method(estimator, "predict_uncertainty", ADD_UNCERTAINTY)
        predictor = estimator if hasattr(estimator, "predict") else getattr(estimator, "model", estimator)
        require_method(predictor, "predict", "use from_predictions.")
        uncertainty = estimator.predict_uncertainty(X)
        if kind is None:
            kind = "knowledge" if uncertainty.total is None else "total"
        values = uncertainty_values(uncertainty, kind)
        if loss is None:
            loss = "zero_one" if uncertainty.unit == "nats" else "squared_error"
        curve = rejection_curve(y, predictor.predict(X), values, loss=loss, sample_weight=sample_weight)
        return cls(curve, name=name or f"{type(estimator).__name__}, {kind}").plot(ax=ax, **line_kwargs)

    @classmethod
    @needs("matplotlib")
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        uncertainty: Any,
        *,
        loss: str = "squared_error",
        sample_weight: Any = None,
        name: str | None = None,
        ax: "Axes | None" = None,
        **line_kwargs: Any,
    ) -> "RejectionCurveDisplay":
        """Compute the curve from targets, predictions and their uncertainties, and draw it.

        Parameters
        ----------
        y_true, y_pred : arrays of shape (n_rows,)
            Numbers for the squared error, labels for the zero-one loss.
        uncertainty : array of shape (n_rows,)
            Rows with a higher uncertainty are rejected earlier.
        loss : str, default="squared_error"
            ``"squared_error"`` or ``"zero_one"``.
        sample_weight : array of shape (n_rows,) or None, default=None
            Weights of the rows. None: every row counts 1.
        name : str or None, default=None
            Name of the curve in the legend.
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes.
        **line_kwargs
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        RejectionCurveDisplay
            The display, drawn.
        """
        curve = rejection_curve(y_true, y_pred, uncertainty, loss=loss, sample_weight=sample_weight)
        return cls(curve, name=name).plot(ax=ax, **line_kwargs)

    def _draw(self, ax: "Axes", line_kwargs: dict[str, Any]) -> None:
        error_name = f"remaining {ERROR_NAMES[self.curve.loss]}"
        if not check_same_axes(ax, CURVE, error_name, side="y"):
            percent_axes(ax.xaxis)
            ax.set(xlabel="rows rejected, most uncertain first", ylabel=error_name, xlim=(0, 1))
        shown = drawn_points(len(self.curve.rejected))
        x = self.curve.rejected[shown]
        style = {"color": next_colour(ax, CURVE), "label": self._label(), "gid": CURVE, "linewidth": 2, **line_kwargs}
        (self.line_,) = ax.plot(x, self.curve.error[shown], **style)
        self.random_line_ = _draw_reference(ax, x, self.curve.random[shown], RANDOM, "random order", "--")
        self.oracle_line_ = _draw_reference(ax, x, self.curve.oracle[shown], ORACLE, "oracle: worst first", ":")
        _place_legend(ax)

    def _label(self) -> str:
        ratio = "PRR undefined" if self.curve.ratio is None else f"PRR {self.curve.ratio:.2f}"
        return ratio if self.name is None else f"{self.name} ({ratio})"


def _draw_reference(ax: "Axes", x: np.ndarray, y: np.ndarray, gid: str, label: str, linestyle: str) -> Any:
    """Draw a reference line for the last curve, unless the same line is there already.

    It is grey if all curves share it; models with different errors have their own lines, in the curves' colours.
    """
    curves, before = drawn_before(ax, CURVE), drawn_before(ax, gid)
    for line in before:
        if np.allclose(np.interp(x, *line.get_data()), y, atol=1e-3 * y.max()):
            return None
    if len(before) == 1:
        before[0].set_color(curves[0].get_color())
    colour = curves[-1].get_color() if before else REFERENCE_COLOUR
    style: dict[str, Any] = {"color": colour, "linestyle": linestyle, "linewidth": 1.2, "zorder": 1.5, "gid": gid}
    (line,) = ax.plot(x, y, label=None if before else label, **style)
    return line


def _place_legend(ax: "Axes") -> None:
    """Put the legend in the upper right corner, if the curves leave room for it."""
    curves, randoms, oracles = (drawn_before(ax, gid) for gid in (CURVE, RANDOM, ORACLE))
    top = max(line.get_ydata().max() for line in randoms) or 1.0
    named = [line for line in (*curves, *randoms, *oracles) if not line.get_label().startswith("_")]
    ax.set_ylim(0, 1.05 * top)
    legend = ax.legend(handles=named, loc="upper right", frameon=False, fontsize=LEGEND_SIZE)
    box = legend.get_window_extent().transformed(ax.transData.inverted())
    if any(np.interp(box.x0, *line.get_data()) > box.y0 for line in (*curves, *randoms)):  # they all decrease
        legend_above_curves(ax, 1.02 * top, named)
