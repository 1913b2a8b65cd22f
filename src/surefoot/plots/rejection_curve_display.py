"""The error that remains as the most uncertain predictions are rejected."""

from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot._extras import needs
from surefoot._parameters import check_choice
from surefoot.metrics.rejection import RejectionCurve, rejection_curve
from surefoot.plots.style import (
    LEGEND_SIZE,
    MAKE_UNCERTAIN,
    MAX_POINTS,
    REFERENCE_COLOUR,
    axes_or_new,
    drawn_before,
    legend_above_curves,
    next_colour,
    percent_axes,
    require_method,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("total", "data", "knowledge")
ERROR_NAMES = {"squared_error": "mean squared error", "zero_one": "error rate"}
CURVE, RANDOM, ORACLE = "rejection-curve", "rejection-random", "rejection-oracle"


class RejectionCurveDisplay:
    """What is left of a model's error when its most uncertain predictions are replaced by the truth.

    The error is the mean over all rows, and a rejected row counts as right. The closer the curve comes to the oracle,
    which knows which predictions are worst, the better the uncertainty finds the errors; the dashed line is what
    rejecting rows at random would leave. The prediction-rejection ratio (PRR) in the legend puts the curve between
    them: 1 is the oracle, 0 is random.

    Parameters
    ----------
    curve : RejectionCurve
        From `surefoot.metrics.rejection_curve`.
    name : str or None
        What the legend calls it.

    Attributes
    ----------
    ax_, figure_, line_
        What has been drawn on, after ``plot``.
    random_line_, oracle_line_
        The lines to compare with; None where another display has already drawn the same.

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
            One with ``predict_uncertainty``. The predictions of a `VirtualEnsemble` are those of its ``model``.
        X : array or frame of shape (n_rows, n_columns)
            Rows to predict.
        y : array of shape (n_rows,)
            Their targets.
        kind : str or None, default=None
            ``"total"``, ``"data"`` or ``"knowledge"`` uncertainty. None: total, or knowledge for models that
            have no other.
        loss : str or None, default=None
            ``"squared_error"`` or ``"zero_one"``. None: the zero-one loss if the uncertainty is in nats, as that of
            classifiers, else the squared error.
        sample_weight : array of shape (n_rows,) or None, default=None
            Weights of the rows. None: every row counts 1.
        name : str or None, default=None
            What the legend calls the curve. None: the name of the model's class and the kind.
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes.
        **line_kwargs
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        RejectionCurveDisplay
            The display, drawn.
        """
        require_method(estimator, "predict_uncertainty", MAKE_UNCERTAIN)
        predictor = estimator if hasattr(estimator, "predict") else getattr(estimator, "model", estimator)
        require_method(predictor, "predict", "use from_predictions.")
        uncertainty = estimator.predict_uncertainty(X)
        if kind is None:
            kind = "knowledge" if uncertainty.total is None else "total"
        values = getattr(uncertainty, check_choice("kind", kind, KINDS))
        if values is None:
            raise ParameterError(f"kind={kind!r}: {type(estimator).__name__} predicts points; use 'knowledge'.")
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
            The higher, the earlier a row is rejected.
        loss : str, default="squared_error"
            ``"squared_error"`` or ``"zero_one"``.
        sample_weight : array of shape (n_rows,) or None, default=None
            Weights of the rows. None: every row counts 1.
        name : str or None, default=None
            What the legend calls the curve.
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

    def plot(self, ax: "Axes | None" = None, **line_kwargs: Any) -> "RejectionCurveDisplay":
        """Draw the curve, with those of a random order and of the oracle.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw. None: new axes.
        **line_kwargs
            Passed on to matplotlib's ``plot``.

        Returns
        -------
        RejectionCurveDisplay
            The display itself, drawn.
        """
        ax = axes_or_new(ax)
        error_name = f"remaining {ERROR_NAMES[self.curve.loss]}"
        if not drawn_before(ax, CURVE):
            self._prepare(ax, error_name)
        elif ax.get_ylabel() != error_name:
            raise ParameterError(f"ax already shows the {ax.get_ylabel()!r}; draw {error_name!r} on axes of its own.")
        shown = _thinned(len(self.curve.rejected))
        x = self.curve.rejected[shown]
        style = {"color": next_colour(ax, CURVE), "label": self._label(), "gid": CURVE, "linewidth": 2, **line_kwargs}
        (self.line_,) = ax.plot(x, self.curve.error[shown], **style)
        self.random_line_ = _draw_reference(ax, x, self.curve.random[shown], RANDOM, "random order", "--")
        self.oracle_line_ = _draw_reference(ax, x, self.curve.oracle[shown], ORACLE, "oracle: worst first", ":")
        _place_legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _label(self) -> str:
        ratio = "PRR undefined" if self.curve.ratio is None else f"PRR {self.curve.ratio:.2f}"
        return ratio if self.name is None else f"{self.name} ({ratio})"

    @staticmethod
    def _prepare(ax: "Axes", error_name: str) -> None:
        percent_axes(ax.xaxis)
        ax.set(xlabel="rows rejected, most uncertain first", ylabel=error_name, xlim=(0, 1))


def _draw_reference(ax: "Axes", x: np.ndarray, y: np.ndarray, gid: str, label: str, linestyle: str) -> Any:
    """Draw a line to compare the last curve with, unless it is there already.

    It is grey while all curves share it; models that err differently have their own, in the colours of their curves.
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
    """In the upper right corner, if the curves leave room for it there."""
    curves, randoms, oracles = (drawn_before(ax, gid) for gid in (CURVE, RANDOM, ORACLE))
    top = max(line.get_ydata().max() for line in randoms) or 1.0
    named = [line for line in (*curves, *randoms, *oracles) if not line.get_label().startswith("_")]
    ax.set_ylim(0, 1.05 * top)
    legend = ax.legend(handles=named, loc="upper right", frameon=False, fontsize=LEGEND_SIZE)
    box = legend.get_window_extent().transformed(ax.transData.inverted())
    if any(np.interp(box.x0, *line.get_data()) > box.y0 for line in (*curves, *randoms)):  # none of them ever rises
        legend_above_curves(ax, 1.02 * top, named)


def _thinned(n_points: int) -> np.ndarray:
    """The points of a long curve that are drawn."""
    return np.unique(np.linspace(0, n_points - 1, min(n_points, MAX_POINTS)).astype(np.int64))
